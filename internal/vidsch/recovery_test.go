package vidsch

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// An engine that does not answer is reset; the device whose packet was aborted is lost,
// what others had there runs again (gpu.md §8.3).
func TestEngineReset(t *testing.T) {
	w := newWorld(t, ddi.PerEngineReset, TDR{})
	a, b := w.context("a", 0), w.context("b", 0)
	a.buf(0xa1)
	a.mark(w, "s", AtCompletion)
	b.buf(0xb1)
	w.want("submit 0.a1#1", "submit 0.b1#2")
	w.aborts = 1
	w.pass(20 * ms)
	w.want("preempt 0.0#1")
	w.pass(1999 * ms)
	w.want()
	w.pass(1 * ms)
	w.want("query 0.0", "reset 0.0", "hung a", "drop s 1", "report 0x141 promoted=false", "idle a", "submit 0.b1#3 again")
	w.completed(0, 3)
	w.want("idle b")
}

// The last question before a timeout may bring the answer.
func TestLateAnswer(t *testing.T) {
	w := newWorld(t, ddi.PerEngineReset, TDR{})
	a := w.context("a", 0)
	a.buf(0xa1)
	w.pass(2019 * ms)
	w.want("submit 0.a1#1", "preempt 0.0#1")
	w.preempted(0, 1, 1)
	w.pass(ms)
	w.want("idle a")
}

// Interrupts of an engine that is being reset are ignored: a packet that finished late
// still counts as aborted.
func TestInterruptsDuringAReset(t *testing.T) {
	w := newWorld(t, ddi.PerEngineReset, TDR{})
	a := w.context("a", 0)
	a.buf(0xa1)
	w.pass(2019 * ms)
	w.want("submit 0.a1#1", "preempt 0.0#1")
	e := w.s.engine(ddi.Engine{})
	w.aborts = 1
	e.hung(false)
	w.completed(0, 1)
	w.want("reset 0.0", "hung a", "report 0x141 promoted=false", "idle a")
}

// Dependent engines are asked off first, and reset too if they do not go in 500 ms.
func TestDependentEngines(t *testing.T) {
	for _, answers := range []bool{true, false} {
		w := newWorld(t, ddi.PerEngineReset, TDR{})
		a, b := w.context("a", 0), w.context("b", 1)
		a.buf(0xa1)
		w.pass(2000 * ms)
		b.buf(0xb1)
		w.want("submit 0.a1#1", "preempt 0.0#1", "submit 1.b1#1")
		w.dependents, w.aborts = 0b11, 1
		w.pass(20 * ms)
		w.want("query 0.0", "preempt 1.0#1")
		if answers {
			w.preempted(1, 1, 0)
			w.want("reset 0.0", "hung a", "report 0x141 promoted=false", "idle a", "submit 1.b1#2 again")
			continue
		}
		w.pass(499 * ms)
		w.want()
		w.pass(ms)
		w.want("reset 1.0", "hung b", "report 0x141 promoted=false", "reset 0.0", "hung a", "report 0x141 promoted=false", "idle b", "idle a")
	}
}

// Without resets of engines, and when one fails, everything is reset.
func TestAdapterReset(t *testing.T) {
	for _, fails := range []bool{false, true} {
		caps := ddi.Caps(0)
		want := []string{"query 0.0", "reset all", "adapter reset by a", "idle a", "restart", "report 0x117 promoted=false"}
		if fails {
			caps = ddi.PerEngineReset
			want = []string{"query 0.0", "reset 0.0", "reset all", "adapter reset by a", "idle a", "restart", "report 0x117 promoted=true"}
		}
		w := newWorld(t, caps, TDR{})
		w.resetFails = fails
		a := w.context("a", 0)
		a.buf(0xa1)
		w.pass(2020 * ms)
		w.want(append([]string{"submit 0.a1#1", "preempt 0.0#1"}, want...)...)
	}
}

// Five recoveries in a minute, not six.
func TestLimitOfRecoveries(t *testing.T) {
	w := newWorld(t, 0, TDR{})
	for range 5 {
		w.s.resetAdapter(nil)
		w.want("reset all", "adapter reset by nobody", "restart", "report 0x117 promoted=false")
		w.pass(second)
	}
	w.pass(55 * second)
	w.s.resetAdapter(nil) // the first was 60 s ago
	w.want("reset all", "adapter reset by nobody", "restart", "report 0x117 promoted=false")
	w.s.resetAdapter(nil)
	w.want("bug check 0x116")
	w.context("late", 0).buf(1)
	w.want()
}

func TestBugChecks(t *testing.T) {
	for _, c := range []struct {
		what  string
		tdr   TDR
		setup func(w *world)
		want  string
	}{
		{"level 1", TDR{Level: 1}, func(*world) {}, "query 0.0; bug check 0x116; idle a"},
		{"an id that was never submitted", TDR{}, func(w *world) { w.aborts = 2 }, "query 0.0; reset 0.0; bug check 0x119; idle a"},
		{"an id that was complete long ago", TDR{}, func(w *world) { w.aborts = 1<<32 - 1 }, "query 0.0; reset 0.0; bug check 0x119; idle a"},
		{"the adapter cannot be reset", TDR{}, func(w *world) { w.resetFails, w.adapterFails = true, true }, "query 0.0; reset 0.0; reset all; bug check 0x116; idle a"},
		{"nor restarted", TDR{}, func(w *world) { w.resetFails, w.restartFails = true, true }, "query 0.0; reset 0.0; reset all; adapter reset by a; idle a; restart; bug check 0x116"},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := newWorld(t, ddi.PerEngineReset, c.tdr)
			a := w.context("a", 0)
			a.buf(0xa1)
			c.setup(w)
			w.pass(20 * ms)
			w.want("submit 0.a1#1", "preempt 0.0#1")
			w.pass(2000 * ms)
			w.want(c.want)
			if w.s.Next() < 1<<62 {
				t.Error("a stopped adapter is due")
			}
		})
	}
}

// Nothing is found hung with level 0, in debug mode 1, or on a device, context or queue
// with DisableGpuTimeout.
func TestNoTimeouts(t *testing.T) {
	for _, c := range []struct {
		what                            string
		tdr                             TDR
		device, context, queue, expects bool
	}{
		{"level 0", TDR{Set: true}, false, false, false, false},
		{"debug mode 1", TDR{DebugMode: 1}, false, false, false, false},
		{"device", TDR{}, true, false, false, false},
		{"context", TDR{}, false, true, false, false},
		{"queue", TDR{}, false, false, true, false},
		{"none", TDR{}, false, false, false, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := newWorld(t, ddi.PerEngineReset, c.tdr)
			w.aborts = 1
			q := w.s.NewDevice("d", 1, c.device).NewContext(ddi.Engine{}, 1, c.context, false, "d").Queue()
			q.Exempt = c.queue
			q.buf(1)
			w.pass(100 * second)
			w.run()
			hung := len(w.log) > 2
			if hung != c.expects {
				t.Errorf("%q", w.log)
			}
		})
	}
}

// A wait that never ends is no hang (gpu.md §8.2).
func TestWaitsDoNotTimeOut(t *testing.T) {
	w := newWorld(t, ddi.PerEngineReset, TDR{})
	q := w.context("d", 0)
	q.Wait(&gate{w: w, name: "g"}, 1)
	q.buf(1)
	w.pass(1000 * second)
	w.want("look at g")
}

// A call for a recovery that does not come back is a bug check after TdrDdiDelay.
func TestDdiDelay(t *testing.T) {
	w := newWorld(t, ddi.PerEngineReset, TDR{})
	a := w.context("a", 0)
	a.buf(1)
	w.run()
	e := w.s.engine(ddi.Engine{})
	w.log = nil
	e.preempt()
	e.askReset()
	w.s.Take() // and nobody makes them
	w.clock += 5*second - 1
	w.s.Tick()
	w.want()
	w.clock++
	w.s.Tick()
	w.want("bug check 0x116", "idle a")
}

// A fault loses the device of the packet, and nobody else's (gpu.md §6).
func TestFaults(t *testing.T) {
	w := newWorld(t, 0, TDR{})
	a, b := w.context("a", 0), w.context("b", 0)
	a.buf(0xa1)
	b.buf(0xb1)
	w.want("submit 0.a1#1", "submit 0.b1#2")
	w.s.PageFaulted(ddi.DmaPageFaulted{FaultedFenceID: 1})
	w.want("faulted a page=true", "idle a")
	w.s.Faulted(ddi.DmaFaulted{FaultedFenceID: 2})
	w.want("faulted b page=false", "idle b")
	w.s.Faulted(ddi.DmaFaulted{FaultedFenceID: 2})
	w.want()
}

// A fault can ask for a reset.
func TestFaultsWithResets(t *testing.T) {
	w := newWorld(t, ddi.PerEngineReset, TDR{})
	a, b := w.context("a", 0), w.context("b", 0)
	a.buf(0xa1)
	b.buf(0xb1)
	w.want("submit 0.a1#1", "submit 0.b1#2")
	w.s.PageFaulted(ddi.DmaPageFaulted{FaultedFenceID: 1, Fault: ddi.Fault{Flags: ddi.FaultAdapterReset}})
	w.want("faulted a page=true", "idle a", "reset all", "adapter reset by nobody", "idle b", "restart", "report 0x117 promoted=false")
}

// A packet that the driver refuses ends, and nothing else: what was given to the engine
// before it is not complete.
func TestRefusalBesideOthers(t *testing.T) {
	w := newWorld(t, 0, TDR{})
	a, b := w.context("a", 0), w.context("b", 0)
	a.buf(0xa0)
	a.mark(w, "s", AtCompletion)
	w.want("submit 0.a0#1")
	w.refuses = true
	b.buf(0xb0)
	w.want("submit 0.b0#2", "faulted b page=false", "idle b")
	w.refuses = false
	a.buf(0xa1)
	w.want()
	w.completed(0, 1)
	w.want("signal s", "submit 0.a1#3")
	w.completed(0, 3)
	w.want("idle a")
}

// hwWorld has a hardware queue for each of two devices.
func hwWorld(t *testing.T) (w *world, a, b *Queue, reached *[2]uint64) {
	w = newWorld(t, ddi.PerEngineReset|ddi.HwScheduling, TDR{})
	reached = new([2]uint64)
	var qs [2]*Queue
	for i, name := range []string{"a", "b"} {
		d := w.s.NewDevice(name, ddi.KmdDevice(i+1), false)
		c := d.NewContext(ddi.Engine{}, ddi.KmdContext(i+1), false, true, name)
		qs[i] = c.NewHwQueue(ddi.KmdHwQueue(i+1), false, 2, func() uint64 { return reached[i] }, nil, name)
	}
	return w, qs[0], qs[1], reached
}

func (q *Queue) hw(at, progress uint64) { q.Submit(Buffer{Address: at, Progress: progress}) }

// Hardware queues complete by progress, and hold back what exceeds their room.
func TestHwQueueOrder(t *testing.T) {
	w, a, b, reached := hwWorld(t)
	for i := range uint64(3) {
		a.hw(0xa0+i, 5*(i+1))
	}
	a.mark(w, "s", AtCompletion)
	b.hw(0xb0, 1)
	w.want("submit hw 1.a0=5", "submit hw 1.a1=10", "submit hw 2.b0=1")
	reached[0] = 7
	w.s.Progress()
	w.want("submit hw 1.a2=15")
	reached[0] = 100
	w.s.Progress()
	w.want("signal s", "idle a")
	reached[1] = 1
	w.s.Progress()
	w.want("idle b")
}

// A context that answers is resumed; one that does not has hung.
func TestHwQueueHangs(t *testing.T) {
	w, a, b, reached := hwWorld(t)
	a.hw(0xa0, 1)
	b.hw(0xb0, 1)
	w.want("submit hw 1.a0=1", "submit hw 2.b0=1")
	w.pass(20 * ms)
	w.want("suspend 1#1", "suspend 2#2")
	w.s.Suspended(ddi.SuspendContextCompleted{Context: 2, ContextSuspendFence: 1}) // an old answer
	w.s.Suspended(ddi.SuspendContextCompleted{Context: 2, ContextSuspendFence: 2})
	w.s.Suspended(ddi.SuspendContextCompleted{Context: 1, ContextSuspendFence: 1})
	w.want("resume 2", "resume 1")
	w.pass(20 * ms)
	w.want("suspend 1#3", "suspend 2#4")
	w.s.Suspended(ddi.SuspendContextCompleted{Context: 2, ContextSuspendFence: 4})
	w.abortsHw = 1
	w.pass(2000 * ms)
	w.want("reset hw 0.0", "hung a", "report 0x141 promoted=false", "idle a", "resume hw 0.0", "resume 2")
	reached[1] = 1
	w.s.Progress()
	w.want("idle b")
}

// A fault of a hardware queue.
func TestHwQueueFaults(t *testing.T) {
	w, a, b, _ := hwWorld(t)
	a.hw(0xa0, 1)
	a.hw(0xa1, 2)
	b.hw(0xb0, 1)
	w.want("submit hw 1.a0=1", "submit hw 1.a1=2", "submit hw 2.b0=1")
	w.s.HwPageFaulted(ddi.HwQueuePageFaulted{HwQueue: 1, FaultedFenceID: 2})
	w.want("faulted a page=true", "idle a", "suspend 1#1")
	w.s.Suspended(ddi.SuspendContextCompleted{Context: 1, ContextSuspendFence: 1})
	w.want()
	w.s.HwPageFaulted(ddi.HwQueuePageFaulted{HwQueue: 2, FaultedFenceID: 1, Faulted: true})
	w.want("faulted b page=false", "idle b", "suspend 2#2")
}

// An adapter reset forgets hardware queues too.
func TestAdapterResetWithHwQueues(t *testing.T) {
	w, a, _, _ := hwWorld(t)
	a.hw(0xa0, 1)
	w.want("submit hw 1.a0=1")
	w.s.resetAdapter(nil)
	w.want("reset all", "adapter reset by nobody", "restart", "report 0x117 promoted=false")
	if all, flying := a.Len(); flying != 0 {
		t.Errorf("%d packets, %d at the GPU", all, flying)
	}
	_ = abi.StatusSuccess
}

// Nothing that the loss of the devices asks is asked of a GPU that was reset.
func TestAdapterResetSuspendsNobody(t *testing.T) {
	w, a, _, _ := hwWorld(t)
	w.loses = []*Device{a.device()}
	a.hw(0xa0, 1)
	w.want("submit hw 1.a0=1")
	w.s.resetAdapter(nil)
	w.want("reset all", "adapter reset by nobody", "idle a", "restart", "report 0x117 promoted=false")
}

// Destroying a queue alone waits for its context to be off.
func TestDestroyHwQueue(t *testing.T) {
	w, a, _, _ := hwWorld(t)
	a.hw(0xa0, 1)
	w.want("submit hw 1.a0=1")
	a.Destroy(Destroyed)
	w.want("idle a", "suspend 1#1")
	w.s.Suspended(ddi.SuspendContextCompleted{Context: 1, ContextSuspendFence: 1})
	w.want("destroy queue 1", "resume 1")
}

// A context that has nothing left at the GPU when the engine is reset, and has not
// answered that it is off, goes on.
func TestResetWhileAContextLeaves(t *testing.T) {
	w, a, _, reached := hwWorld(t)
	hung := w.context("c", 0)
	a.hw(0xa0, 1)
	hung.buf(0xc0)
	w.want("submit hw 1.a0=1", "submit 0.c0#1")
	w.pass(20 * ms)
	w.want("suspend 1#1", "preempt 0.0#1")
	reached[0] = 1
	w.s.Progress()
	w.want("idle a")
	w.aborts = 1
	w.pass(2000 * ms)
	w.want("reset hw 0.0", "hung c", "report 0x141 promoted=false", "idle c", "resume hw 0.0", "resume 1")
	w.s.Suspended(ddi.SuspendContextCompleted{Context: 1, ContextSuspendFence: 1}) // too late
	a.hw(0xa1, 2)
	w.want("submit hw 1.a1=2")
}

// What is submitted to hardware queues during a reset goes to the GPU afterwards.
func TestHwQueueDuringAReset(t *testing.T) {
	for _, all := range []bool{false, true} {
		w, a, b, _ := hwWorld(t)
		a.hw(0xa0, 1)
		w.want("submit hw 1.a0=1")
		w.abortsHw = 1
		during := func() { b.hw(0xb0, 1) }
		want := []string{"reset hw 0.0", "hung a", "report 0x141 promoted=false", "idle a", "resume hw 0.0", "submit hw 2.b0=1"}
		if all {
			w.s.Reset()
			want = []string{"reset all", "adapter reset by nobody", "restart", "report 0x117 promoted=false", "submit hw 2.b0=1"}
		} else {
			w.pass(20 * ms)
			w.want("suspend 1#1")
			w.s.engine(ddi.Engine{}).hung(true)
		}
		during()
		w.want(want...)
		if got := len(w.s.engine(ddi.Engine{}).hw.refused); got != 0 {
			t.Errorf("%d are left refused", got)
		}
	}
}
