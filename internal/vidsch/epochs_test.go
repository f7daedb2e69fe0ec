package vidsch

import "testing"

// What packets of a device may use is kept for those that were queued before, and for
// none of those behind, in whatever order they end.
func TestKeep(t *testing.T) {
	w := newWorld(t, 0, TDR{})
	q := w.context("d", 0)
	d := q.context.device
	if d.Keep("nothing") {
		t.Error("kept, though nothing is queued")
	}
	q.Wait(&gate{w: w, name: "g", q: q}, 1)
	if d.Keep("nothing") {
		t.Error("kept for a wait, which uses no address")
	}
	q.buf(0xa)
	d.Keep("a")
	q.buf(0xb)
	d.Keep("b")
	w.want("look at g")
	q.Open()
	w.want("submit 0.a#1", "submit 0.b#2")
	w.completed(0, 1)
	w.want("unused [a]")
	q.buf(0xc)
	w.want("submit 0.c#3")
	d.Keep("c")
	w.completed(0, 2)
	w.want("unused [b]")
	q.buf(0xd)
	w.want("submit 0.d#4")
	w.completed(0, 3)
	w.want("unused [c]")
	d.Keep("d")
	d.Lose(Lost)
	w.want("unused [d]", "idle d", "preempt 0.0#1")
	d.Destroy(Destroyed)
	if d.work != 0 || len(d.epochs) != 0 {
		t.Errorf("%d packets, %d epochs, after all were dropped twice", d.work, len(d.epochs))
	}
}
