package vidsch

import (
	"testing"

	"github.com/dxgsync/dxgsync/ddi"
)

// Nothing of a device that is held goes on, whatever completes; of others everything.
func TestHold(t *testing.T) {
	w := newWorld(t, 0, TDR{})
	d := w.s.NewDevice("d", 1, false)
	a, b := d.NewContext(ddi.Engine{}, 1, false, false, "a").Queue(), d.NewContext(ddi.Engine{}, 2, false, false, "b").Queue()
	other := w.context("other", 0)
	a.buf(0xa1)
	a.mark(w, "a", AtCompletion)
	b.buf(0xb1)
	b.buf(0xb2)
	b.mark(w, "b", AtCompletion)
	w.want("submit 0.a1#1", "submit 0.b1#2")
	d.Hold()
	other.buf(0xc1)
	w.completed(0, 1)
	w.want("submit 0.c1#3")
	w.completed(0, 3)
	w.want("idle other")
	b.mark(w, "later", AtSubmission)
	w.want()
	d.Lose(Lost)
	w.want("drop a 1", "drop b 1", "drop later 1", "idle d")
}
