package vidsch

import (
	"math"
	"testing"

	"github.com/dxgsync/dxgsync/ddi"
)

// user makes a user queue with the handle 7 on the context 1 of node 0, and returns the
// words that its program and the GPU write.
func (w *world) user(device string, exempt bool) (q *Queue, queued, progress *uint64) {
	queued, progress = new(uint64), new(uint64)
	c := w.s.NewDevice(device, 1, false).NewContext(ddi.Engine{}, 1, false, true, device)
	q = c.NewUserQueue(Queue{Owner: device, Kmd: 7, Exempt: exempt, Reached: func() uint64 { return *progress }}, func() uint64 { return *queued })
	return q, queued, progress
}

// used is such a queue whose doorbell was connected.
func (w *world) used(device string) *Queue {
	q, _, _ := w.user(device, false)
	q.Watch(true)
	q.Watch(false)
	return q
}

func (w *world) off(fence uint64) {
	w.s.Suspended(ddi.SuspendContextCompleted{Context: 1, ContextSuspendFence: fence})
}

// Progress is looked at once in TdrDelay; only work that is pending and stands still has
// its context asked off, and it goes on when it answers.
func TestUserQueueIsWatched(t *testing.T) {
	w := newWorld(t, ddi.PerEngineReset|ddi.HwScheduling, TDR{})
	q, queued, progress := w.user("a", false)
	if w.s.Next() != math.MaxInt64 {
		t.Errorf("nothing is connected, and it is due at %d", w.s.Next())
	}
	q.Watch(true)
	w.pass(1000 * second)
	w.want() // idle
	*queued = 5
	for *progress < 5 { // as slow as it may be
		w.pass(2 * second)
		*progress++
	}
	w.want()
	w.pass(2 * second)
	*queued = 6
	w.pass(2 * second)
	w.want() // it may have been rung just now
	w.pass(2 * second)
	w.want("suspend 1#1")
	w.off(1)
	w.want("resume 1")
	w.pass(2 * second)
	w.want("suspend 1#2") // it waits for something: that is no hang
	w.off(2)
	w.want("resume 1")
	*progress = 6
	q.Watch(false)
	w.pass(2 * second)
	w.want()
	if w.s.Next() != math.MaxInt64 {
		t.Errorf("nothing is connected or pending, and it is due at %d", w.s.Next())
	}
	*queued = 1 << 63 // nobody looks at what a program writes without a doorbell
	w.pass(100 * second)
	w.want()
}

func TestUserQueueHangs(t *testing.T) {
	w := newWorld(t, ddi.PerEngineReset|ddi.HwScheduling, TDR{})
	w.abortsHw = 7
	q, queued, _ := w.user("a", false)
	other := w.context("b", 0)
	q.Watch(true)
	*queued = 1
	w.pass(4 * second)
	w.want("suspend 1#1")
	other.buf(0x10)
	w.pass(2 * second)
	w.want("submit 0.10#1", "preempt 0.0#1", "reset hw 0.0", "hung a", "report 0x141 promoted=false", "resume hw 0.0", "submit 0.10#2 again")
	w.completed(0, 2)
	w.want("idle b")
	w.log = nil
	q.context.Destroy(Lost)
	w.want("destroy queue 7", "destroy context 1") // it is off already
}

// What waits for the engine of a user queue that hangs does not wait for the look.
func TestUserQueueIsFoundByOthers(t *testing.T) {
	w := newWorld(t, ddi.PerEngineReset|ddi.HwScheduling, TDR{})
	w.abortsHw = 7
	q, _, _ := w.user("a", false) // nothing is pending, as far as the program says
	q.Watch(true)
	w.context("b", 0).buf(0x10)
	w.pass(20 * ms)
	w.want("submit 0.10#1", "preempt 0.0#1", "suspend 1#1")
	w.pass(2 * second)
	w.want("reset hw 0.0", "hung a", "report 0x141 promoted=false", "resume hw 0.0", "submit 0.10#2 again")
}

func TestUserQueueThatIsExempt(t *testing.T) {
	w := newWorld(t, ddi.PerEngineReset|ddi.HwScheduling, TDR{})
	q, queued, _ := w.user("a", true)
	q.Watch(true)
	*queued = 1
	w.pass(100 * second)
	w.want()
}

// The driver's side goes when the context is off, however little is known of it.
func TestUserQueueEnds(t *testing.T) {
	w := newWorld(t, ddi.HwScheduling, TDR{})
	freed := 0
	make := func() *Queue {
		q := w.used("a")
		q.Freed = func() { freed++ }
		return q
	}
	q := make()
	q.Destroy(Destroyed)
	w.want("suspend 1#1")
	w.off(1)
	w.want("destroy queue 7", "resume 1")
	q.context.Destroy(Destroyed)
	w.want("destroy context 1")

	q = make()
	q.device().Destroy(Destroyed)
	w.want("suspend 1#2")
	w.off(2)
	w.want("destroy queue 7", "destroy context 1", "destroy device 1")

	q = make()
	q.device().Lose(Lost)
	w.want("suspend 1#3")
	w.off(3)
	w.want() // it is not resumed
	q.device().Destroy(Destroyed)
	w.want("destroy queue 7", "destroy context 1", "destroy device 1")

	q = make() // an adapter that is stopped answers nothing
	w.s.Stop()
	q.device().Destroy(Destroyed)
	w.want("destroy queue 7", "destroy context 1", "destroy device 1")
	w = newWorld(t, ddi.HwScheduling, TDR{}) // one that was never connected is not waited for
	q, _, _ = w.user("a", false)
	q.Freed = func() { freed++ }
	q.device().Destroy(Destroyed)
	w.want("destroy queue 7", "destroy context 1", "destroy device 1")
	if freed != 5 || len(w.s.engine(ddi.Engine{}).hw.users) != 0 {
		t.Errorf("%d queues freed, %d are left", freed, len(w.s.engine(ddi.Engine{}).hw.users))
	}
}

func TestUserQueueFaults(t *testing.T) {
	w := newWorld(t, ddi.HwScheduling, TDR{})
	w.used("a")
	w.s.HwPageFaulted(ddi.HwQueuePageFaulted{HwQueue: 7, Faulted: true, Fault: ddi.Fault{Flags: ddi.FaultFenceInvalid}})
	w.want("faulted a page=false", "suspend 1#1")
}
