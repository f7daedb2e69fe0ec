package vidsch

import (
	"testing"

	"github.com/dxgsync/dxgsync/ddi"
)

// Packets of one queue, and what each waits for (gpu.md §3).
func TestOrderInAQueue(t *testing.T) {
	w := newWorld(t, ddi.ReportsRead, TDR{})
	q := w.context("d", 0)
	g := &gate{w: w, name: "g", q: q}
	q.mark(w, "first", AtCompletion)
	q.buf(0xa)
	q.mark(w, "submitted", AtSubmission)
	q.mark(w, "read", AtRead)
	q.mark(w, "complete", AtCompletion)
	q.Wait(g, 1)
	q.buf(0xb)
	q.mark(w, "last", AtCompletion)
	w.want("signal first", "signal submitted", "submit 0.a#1")
	w.s.Read(ddi.DmaRead{SubmissionFenceID: 1})
	w.want("signal read")
	w.completed(0, 1)
	w.want("signal complete", "look at g")
	q.Open()
	w.want("submit 0.b#2")
	w.completed(0, 2)
	w.want("signal last", "idle d")
}

func TestOpenGatesHoldNobodyUp(t *testing.T) {
	w := newWorld(t, 0, TDR{})
	q := w.context("d", 0)
	for range 3 {
		q.Wait(&gate{w: w, name: "g", open: true}, 1)
		q.mark(w, "s", AtCompletion)
	}
	w.want("look at g", "signal s", "look at g", "signal s", "look at g", "signal s", "idle d")
}

// An engine takes two packets at once, by priority and then by age.
func TestEnginesChoose(t *testing.T) {
	w := newWorld(t, 0, TDR{})
	a, b, c := w.context("a", 0), w.context("b", 0), w.context("c", 0)
	other := w.context("other", 1)
	c.Priority = 1
	a.buf(0xa1)
	a.buf(0xa2)
	a.buf(0xa3)
	w.want("submit 0.a1#1", "submit 0.a2#2")
	b.buf(0xb1)
	c.buf(0xc1)
	other.buf(0xd1)
	w.want("submit 1.d1#1")
	w.completed(0, 1)
	w.want("submit 0.c1#3")
	w.completed(0, 2)
	w.want("submit 0.a3#4")
	w.completed(0, 4)
	w.want("idle c", "idle a", "submit 0.b1#5")
}

// What is preempted goes back to the front of its queue, with new ids, and behind others
// of its priority.
func TestPreemption(t *testing.T) {
	w := newWorld(t, 0, TDR{})
	a, b := w.context("a", 0), w.context("b", 0)
	a.buf(0xa1)
	a.buf(0xa2)
	a.buf(0xa3)
	a.mark(w, "done", AtCompletion)
	w.want("submit 0.a1#1", "submit 0.a2#2")
	b.buf(0xb1)
	w.pass(20 * ms)
	w.want("preempt 0.0#1")
	w.preempted(0, 1, 1)
	w.want("submit 0.b1#3", "submit 0.a2#4 again")
	w.completed(0, 3)
	w.want("idle b", "submit 0.a3#5")
	w.completed(0, 5)
	w.want("signal done", "idle a")
	if got := w.s.Next(); got < 1<<62 {
		t.Errorf("due at %d with nothing to do", got)
	}
}

// A packet of higher priority waits for the grace period only.
func TestHigherPriorityPreempts(t *testing.T) {
	w := newWorld(t, 0, TDR{})
	a, b := w.context("a", 0), w.context("b", 0)
	b.Priority = 5
	a.buf(0xa1)
	a.buf(0xa2)
	w.want("submit 0.a1#1", "submit 0.a2#2")
	b.buf(0xb1)
	w.pass(1 * ms)
	w.want("preempt 0.0#1")
	w.preempted(0, 1, 0)
	w.want("submit 0.b1#3", "submit 0.a1#4 again")
}

// The packet behind the one that runs was given to the GPU too: after a preemption its
// queue has its turn, or goes first because of its priority.
func TestPreemptionForTheNextPacket(t *testing.T) {
	w := newWorld(t, 0, TDR{})
	a, b := w.context("a", 0), w.context("b", 0)
	a.buf(0xa1)
	b.buf(0xb1)
	w.want("submit 0.a1#1", "submit 0.b1#2")
	w.pass(20 * ms)
	w.want("preempt 0.0#1")
	w.preempted(0, 1, 0)
	w.want("submit 0.b1#3 again", "submit 0.a1#4 again")
	b.Priority = 1
	w.completed(0, 3)
	b.buf(0xb2)
	w.want("submit 0.b2#5")
	w.pass(1 * ms)
	w.want("preempt 0.0#2")
	w.preempted(0, 2, 3)
	w.want("submit 0.b2#6 again", "submit 0.a1#7 again")
}

// Old answers do not count.
func TestStaleAnswers(t *testing.T) {
	w := newWorld(t, 0, TDR{})
	a := w.context("a", 0)
	a.buf(0xa1)
	w.pass(20 * ms)
	w.want("submit 0.a1#1", "preempt 0.0#1")
	w.preempted(0, 0, 0)
	w.preempted(1, 1, 0)
	w.want()
	w.preempted(0, 1, 1)
	w.want("idle a")
	w.preempted(0, 1, 1)
	w.completed(0, 1)
	w.completed(7, 1)
	w.want()
}

func TestFenceIDsWrap(t *testing.T) {
	w := newWorld(t, 0, TDR{})
	a := w.context("a", 0)
	e := w.s.engine(ddi.Engine{})
	e.submitted, e.completed = 1<<32-2, 1<<32-2
	for i := range uint64(4) {
		a.buf(i)
	}
	w.want("submit 0.0#4294967295", "submit 0.1#0")
	w.completed(0, 1<<32-1)
	w.want("submit 0.2#1")
	w.completed(0, 1)
	w.want("submit 0.3#2")
}

// Dropped packets are withdrawn and dropped in order; the driver's side goes when
// nothing flies.
func TestDestroyContext(t *testing.T) {
	w := newWorld(t, 0, TDR{})
	d := w.s.NewDevice("d", 1, false)
	c := d.NewContext(ddi.Engine{}, 7, false, false, "c")
	q := c.Queue()
	q.buf(0xa)
	q.Wait(&gate{w: w, name: "g"}, 1)
	q.mark(w, "s", AtCompletion)
	w.want("submit 0.a#1")
	c.Destroy(Destroyed)
	w.want("withdraw g", "drop s 0", "idle d", "preempt 0.0#1")
	w.preempted(0, 1, 0)
	w.want("destroy context 7")
	d.Destroy(Destroyed)
	w.want("destroy device 1")
}

func TestDestroyDeviceTakesAll(t *testing.T) {
	w := newWorld(t, ddi.HwScheduling, TDR{})
	d := w.s.NewDevice("d", 1, false)
	d.NewContext(ddi.Engine{}, 7, false, false, "c")
	h := d.NewContext(ddi.Engine{}, 8, false, true, "h")
	freed := false
	q := h.NewHwQueue(9, false, 2, func() uint64 { return 0 }, func() { freed = true }, "q")
	q.Submit(Buffer{Address: 0xa, Progress: 1})
	w.want("submit hw 9.a=1")
	d.Destroy(Died)
	w.want("idle d", "suspend 8#1", "destroy context 7")
	if freed {
		t.Error("the progress fence was given up while the GPU has a buffer")
	}
	w.s.Suspended(ddi.SuspendContextCompleted{Context: 8, ContextSuspendFence: 1})
	w.want("destroy queue 9", "destroy context 8", "destroy device 1")
	if !freed {
		t.Error("the progress fence was not given up")
	}
}

// A submission that the driver refuses counts as faulted.
func TestRefusedSubmission(t *testing.T) {
	w := newWorld(t, 0, TDR{})
	a, b := w.context("a", 0), w.context("b", 0)
	w.refuses = true
	a.buf(0xa)
	a.mark(w, "s", AtCompletion)
	w.want("submit 0.a#1", "faulted a page=false", "drop s 1", "idle a")
	w.refuses = false
	b.buf(0xb)
	w.want("submit 0.b#2")
}
