package vidsch

import (
	"testing"

	"github.com/dxgsync/dxgsync/ddi"
)

// mixedWorld has a context and a hardware queue on one engine, of different devices.
func mixedWorld(t *testing.T, node uint32, exempt bool) (w *world, soft, hard *Queue, reached *uint64) {
	w = newWorld(t, ddi.PerEngineReset|ddi.HwScheduling, TDR{})
	e := ddi.Engine{NodeOrdinal: node}
	reached = new(uint64)
	soft = w.s.NewDevice("soft", 1, exempt).NewContext(e, 1, false, false, "soft").Queue()
	hard = w.s.NewDevice("hard", 2, false).NewContext(e, 2, false, true, "hard").
		NewHwQueue(2, false, 2, func() uint64 { return *reached }, nil, "hard")
	return w, soft, hard, reached
}

// A context's packet that was asked to stop late and is complete is no hang, though
// hardware queues have buffers at the engine: those were not even asked.
func TestNothingHungBesideHwQueues(t *testing.T) {
	w, soft, hard, _ := mixedWorld(t, 0, true)
	w.suspends = 0 // at once
	soft.buf(0xa0)
	hard.hw(0xb0, 1)
	w.want("submit 0.a0#1", "submit hw 2.b0=1")
	w.pass(5000 * ms)
	w.log = nil
	w.completed(0, 1)
	w.want("idle soft")
	w.s.Tick()
	w.want("query 0.0")
	soft.buf(0xa1)
	w.want("submit 0.a1#2")
}

// What is submitted to a hardware queue while its engine is held, or is about to be
// reset, is given to the GPU afterwards.
func TestHwQueuesGoOnAfterResets(t *testing.T) {
	for _, held := range []bool{false, true} {
		node := uint32(0)
		if held {
			node = 1
		}
		w, soft, hard, _ := mixedWorld(t, node, false)
		w.dependents = 0b11
		guilty, other := w.context("guilty", 0), w.context("other", 1)
		guilty.buf(0xe0)
		w.pass(2015 * ms)
		if held {
			other = soft
		}
		other.buf(0xd0)
		w.pass(5 * ms) // the first engine waits for the second to stop
		w.log = nil
		hard.hw(0xb0, 1)
		w.want() // held back: something is being recovered
		w.aborts = 1
		w.preempted(1, 1, 0)
		w.run()
		if _, flying := hard.Len(); flying != 1 {
			t.Errorf("held %v: nothing at the GPU after\n%v", held, w.log)
		}
	}
}

// When a context does not leave the hardware, it is its device's fault, whatever packet
// of another device the engine has.
func TestGuiltBesideHwQueues(t *testing.T) {
	w, soft, hard, _ := mixedWorld(t, 0, false)
	w.s.caps = ddi.HwScheduling
	hard.hw(0xb0, 1)
	w.pass(15 * ms)
	soft.buf(0xa0)
	w.pass(5 * ms)
	w.want("submit hw 2.b0=1", "submit 0.a0#1", "suspend 2#1")
	w.pass(2000 * ms)
	w.want("preempt 0.0#1", "reset all", "adapter reset by hard", "idle soft", "restart", "report 0x117 promoted=false")
}

// A context that is destroyed while it leaves the hardware, with nothing at the GPU any
// more, keeps nobody off it.
func TestDestroyWhileLeaving(t *testing.T) {
	w, a, b, reached := hwWorld(t)
	a.hw(0xa0, 1)
	b.hw(0xb0, 1)
	w.pass(20 * ms)
	w.s.Suspended(ddi.SuspendContextCompleted{Context: 2, ContextSuspendFence: 2})
	w.log = nil
	reached[0] = 1
	w.s.Progress()
	w.want("idle a")
	a.context.Destroy(Destroyed)
	w.want("destroy queue 1", "destroy context 1", "resume 2")
}

// One that has nothing at the GPU any more must answer all the same.
func TestNoAnswerFromAnIdleContext(t *testing.T) {
	w, a, b, reached := hwWorld(t)
	a.hw(0xa0, 1)
	b.hw(0xb0, 1)
	w.pass(20 * ms)
	w.s.Suspended(ddi.SuspendContextCompleted{Context: 2, ContextSuspendFence: 2})
	reached[0] = 1
	w.s.Progress()
	w.run()
	w.log = nil
	w.pass(2000 * ms)
	w.want("reset hw 0.0", "report 0x141 promoted=false", "resume hw 0.0", "resume 2", "resume 1")
}

// A loss raises progress fences: that is no progress. What is at the GPU is there until
// the context has left.
func TestLossIsNoProgress(t *testing.T) {
	w, a, _, reached := hwWorld(t)
	a.hw(0xa0, 1)
	w.run()
	a.device().Lose(Lost)
	w.log = nil
	w.want("idle a", "suspend 1#1")
	reached[0] = 1<<64 - 1
	w.s.Progress()
	a.device().Destroy(Destroyed)
	w.want()
	w.s.Suspended(ddi.SuspendContextCompleted{Context: 1, ContextSuspendFence: 1})
	w.want("destroy queue 1", "destroy context 1", "destroy device 1")
}
