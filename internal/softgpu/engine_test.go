package softgpu

import (
	"fmt"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
)

// Delays take the time of their engine alone; at one moment engines take turns in the
// order of their ordinals.
func TestEnginesInterleave(t *testing.T) {
	b := newBench(t, nil)
	second := ddi.Engine{NodeOrdinal: 1}
	c0, c1 := b.context(node0), b.context(second)
	b.submit(c1, cmdbuf.New().Write32(base, 1).Delay(10, 0).Write32(base, 2).Delay(10, 0).Write32(base, 3), 0, second)
	b.submit(c0, cmdbuf.New().Write32(base, 11).Delay(20, 0).Write32(base, 12), 0)
	b.submit(c0, cmdbuf.New().Write32(base, 13), 0)
	if at, ok := b.g.Next(); !ok || at != 1000 {
		t.Fatalf("next at %d, %v", at, ok)
	}
	b.g.Advance(1000)
	b.saw("DMA_READ 0.0 fence=2", "store32 0x100000=11", "DMA_READ 1.0 fence=1", "store32 0x100000=1")
	if at, ok := b.g.Next(); !ok || at != 1010 {
		t.Fatalf("next at %d, %v", at, ok)
	}
	b.g.Advance(1009)
	b.saw()
	b.k.now = 1500 // late: everything as of its own moment, and in that order
	b.g.Advance(1500)
	b.saw("store32 0x100000=2",
		"store32 0x100000=12", "DMA_COMPLETED 0.0 fence=2", "DMA_READ 0.0 fence=3", "store32 0x100000=13", "DMA_COMPLETED 0.0 fence=3",
		"store32 0x100000=3", "DMA_COMPLETED 1.0 fence=1")
	if at, ok := b.g.Next(); ok {
		t.Fatalf("idle, and next at %d", at)
	}
	b.submit(c0, cmdbuf.New().Delay(5, 0), 0) // from now on, not from then
	b.g.Advance(1500)
	if at, _ := b.g.Next(); at != 1505 {
		t.Errorf("next at %d", at)
	}
	b.g.Advance(1400) // time does not go back
	b.saw("DMA_READ 0.0 fence=4")
}

// A buffer is what it was when it was read.
func TestBufferIsReadOnce(t *testing.T) {
	b := newBench(t, nil)
	va := b.where
	b.submit(b.context(node0), cmdbuf.New().Delay(10, 0).Write32(base, 1), 0)
	b.g.Advance(1000)
	clear(b.m.b[va-base : va-base+64])
	b.advance(2000)
	b.saw("DMA_READ 0.0 fence=1", "store32 0x100000=1", "DMA_COMPLETED 0.0 fence=1")
}

// Long work comes in parts, each in a call of Advance of its own, and others get on.
func TestWorkIsBounded(t *testing.T) {
	b := newBench(t, nil)
	second := ddi.Engine{NodeOrdinal: 1}
	long := cmdbuf.New()
	for i := range uint32(2*maxCommands + 10) {
		long.Write32(base, i)
	}
	b.submit(b.context(node0), long, 0)
	b.submit(b.context(second), cmdbuf.New().Write32(base+4, 7), 0, second)
	for call := 1; ; call++ {
		b.g.Advance(1000)
		if call == 1 && (len(b.trace) != maxCommands-1+4 || b.trace[len(b.trace)-1] != "DMA_COMPLETED 1.0 fence=2") {
			t.Fatalf("%d things happened, the last %s", len(b.trace), b.trace[len(b.trace)-1])
		}
		if at, ok := b.g.Next(); !ok {
			if call != 3 {
				t.Errorf("%d calls", call)
			}
			break
		} else if at != 1000 {
			t.Fatalf("next at %d", at)
		}
	}
	b.trace = nil
	// An address range that never ends but in a fault is left between two parts.
	b.m.b = append(b.m.b, make([]byte, 7*maxBytes)...)
	b.submit(b.context(node0), cmdbuf.New().Fill(base+0xf0000, 0, 1<<62), 0)
	b.g.Advance(1000)
	b.saw("DMA_READ 0.0 fence=3")
	b.g.PreemptCommand(node0, 1)
	b.g.Advance(1000)
	b.saw("DMA_PREEMPTED 0.0 preemption=1 completed=1")
}

// A preemption between any two commands: nothing further happens, and the packet goes
// on there when it is submitted again. One that was complete begins anew.
func TestPreemptAtEveryCommand(t *testing.T) {
	const n = 6
	for at := range n + 1 {
		b := newBench(t, nil)
		c := b.context(node0)
		buf := cmdbuf.New()
		for i := range uint32(n) {
			buf.Write32(base, i).Delay(10, 0)
		}
		b.submit(c, cmdbuf.New(), 0)
		b.submit(c, buf, 0)
		b.submit(c, cmdbuf.New().Write32(base, 99), 0)
		b.advance(1000 + 10*int64(at))
		b.trace = nil
		b.g.PreemptCommand(node0, 77)
		b.submit(c, cmdbuf.New().Write32(base, 100), 0) // stays
		b.saw()
		last, left := 1, n-1-at
		if at == n {
			last, left = 3, n
		}
		b.advance(b.k.now)
		b.saw(fmt.Sprintf("DMA_PREEMPTED 0.0 preemption=77 completed=%d", last),
			"DMA_READ 0.0 fence=4", "store32 0x100000=100", "DMA_COMPLETED 0.0 fence=4")
		b.submit(c, buf, ddi.SubmitResubmission)
		b.advance(b.k.now + 1000)
		if len(b.trace) != left+2 || b.trace[0] != "DMA_READ 0.0 fence=5" || b.trace[left+1] != "DMA_COMPLETED 0.0 fence=5" {
			t.Errorf("again after %d: %v", at, b.trace)
		}
	}
}

// A packet that is preempted a second time before it runs again has lost nothing.
func TestPreemptTwiceInOneTurn(t *testing.T) {
	b := newBench(t, nil)
	c, other := b.context(node0), b.context(node0)
	buf := cmdbuf.New().Delay(100, 0).Write32(base, 1)
	b.submit(c, buf, 0)
	b.advance(b.k.now + 60)
	b.g.PreemptCommand(node0, 1)
	b.advance(b.k.now)
	b.submit(other, cmdbuf.New().Delay(1000, 0), 0)
	b.submit(c, buf, ddi.SubmitResubmission)
	b.advance(b.k.now + 10)
	b.g.PreemptCommand(node0, 2)
	b.advance(b.k.now)
	b.trace = nil
	b.submit(c, buf, ddi.SubmitResubmission)
	b.advance(b.k.now + 40)
	b.saw("DMA_READ 0.0 fence=4", "store32 0x100000=1", "DMA_COMPLETED 0.0 fence=4")
}

func TestPreemptionOfWhatDoesNotStop(t *testing.T) {
	for _, c := range []struct {
		name string
		buf  *cmdbuf.Buffer
		want []string // when the delay has ended
	}{
		{"more commands", cmdbuf.New().Delay(50, cmdbuf.NotPreemptible).Write32(base, 1), []string{"DMA_PREEMPTED 0.0 preemption=5 completed=0"}},
		{"no more", cmdbuf.New().Delay(50, cmdbuf.NotPreemptible), []string{"DMA_COMPLETED 0.0 fence=1", "DMA_PREEMPTED 0.0 preemption=5 completed=1"}},
		{"ever", cmdbuf.New().Hang(), nil},
		{"for ever", cmdbuf.New().Delay(1<<64-1, cmdbuf.NotPreemptible), nil},
	} {
		b := newBench(t, nil)
		b.submit(b.context(node0), c.buf, 0)
		b.advance(1010)
		b.g.PreemptCommand(node0, 5)
		b.advance(1049)
		b.saw("DMA_READ 0.0 fence=1")
		b.advance(1 << 60)
		b.saw(c.want...)
	}
	b := newBench(t, nil)
	b.submit(b.context(node0), cmdbuf.New().Delay(1<<64-1, 0), 0)
	b.advance(1 << 60)
	b.g.PreemptCommand(node0, 5)
	b.g.PreemptCommand(ddi.Engine{NodeOrdinal: 99}, 5)
	b.advance(1 << 60)
	b.saw("DMA_READ 0.0 fence=1", "DMA_PREEMPTED 0.0 preemption=5 completed=0")
	b.g.PreemptCommand(node0, 6) // of nothing
	b.g.QueryCurrentFence(node0)
	b.saw()
	b.advance(1 << 60)
	b.saw("DMA_PREEMPTED 0.0 preemption=6 completed=0")
}

// Preemptions leave hardware queues alone.
func TestPreemptionAndHardwareQueues(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	b.submitHw(b.queue(c, base), 1, cmdbuf.New().Delay(10, 0).Signal(base, 1), 0)
	b.submit(c, cmdbuf.New(), 0)
	b.advance(1005)
	b.g.PreemptCommand(node0, 5)
	b.advance(2000)
	b.saw("DMA_PREEMPTED 0.0 preemption=5 completed=0", "store 0x100000=1", "MONITORED_FENCE_SIGNALED 0.0")
}

func TestSuspendAndResume(t *testing.T) {
	b := newBench(t, nil)
	c, other := b.context(node0), b.context(node0)
	q1, q2, q3 := b.queue(c, base), b.queue(c, base+8), b.queue(other, base+16)
	b.submitHw(q1, 1, cmdbuf.New().Write32(base+32, 1).Delay(100, 0).Write32(base+32, 2).Signal(base, 1), 0)
	b.submitHw(q2, 1, cmdbuf.New().Signal(base+8, 1), 0)
	b.submitHw(q3, 1, cmdbuf.New().Signal(base+16, 1), 0)
	b.advance(1030)
	b.saw("store32 0x100020=1")
	if s := b.g.SuspendContext(c, 41); s != abi.StatusPending {
		t.Fatal(s)
	}
	if s := b.g.SuspendContext(c, 42); s != abi.StatusPending {
		t.Fatal(s)
	}
	b.saw()
	b.advance(1030)
	b.saw(fmt.Sprintf("SUSPEND_CONTEXT_COMPLETED context=%d fence=42", c), "store 0x100010=1", "MONITORED_FENCE_SIGNALED 0.0")
	must(t, b.g.SuspendContext(c, 43)) // is already
	b.submitHw(q1, 2, cmdbuf.New().Signal(base, 2), 0)
	b.submitHw(q2, 2, cmdbuf.New().Signal(base+8, 2), 0)
	b.advance(5000)
	b.saw()
	must(t, b.g.ResumeContext(c))
	b.advance(5069)
	b.saw() // 70 of the delay are left
	b.advance(5070)
	b.saw("store32 0x100020=2", "store 0x100000=1", "MONITORED_FENCE_SIGNALED 0.0", "store 0x100008=1", "MONITORED_FENCE_SIGNALED 0.0",
		"store 0x100000=2", "MONITORED_FENCE_SIGNALED 0.0", "store 0x100008=2", "MONITORED_FENCE_SIGNALED 0.0")

	if s := b.g.SuspendContext(c, 44); s != abi.StatusPending {
		t.Fatal(s)
	}
	must(t, b.g.ResumeContext(c)) // before the answer, which then does not come
	must(t, b.g.ResumeContext(c))
	b.advance(5070)
	b.saw()
	if b.g.SuspendContext(99, 1) != abi.StatusInvalidParameter || b.g.ResumeContext(99) != abi.StatusInvalidParameter {
		t.Error("an unknown context was taken")
	}
}

// A command that does not stop keeps its own context from being suspended, others not.
func TestSuspensionOfWhatDoesNotStop(t *testing.T) {
	for _, c := range []struct {
		buf     *cmdbuf.Buffer
		answers bool // once the delay has ended
	}{{cmdbuf.New().Hang(), false}, {cmdbuf.New().Delay(1e9, cmdbuf.NotPreemptible).Hang(), true}} {
		b := newBench(t, nil)
		its, other := b.context(node0), b.context(node0)
		b.submitHw(b.queue(its, base), 1, c.buf, 0)
		b.submitHw(b.queue(other, base+8), 1, cmdbuf.New().Signal(base+8, 1), 0)
		b.advance(1000)
		b.g.SuspendContext(its, 1)
		b.g.SuspendContext(other, 2)
		b.advance(1e6)
		b.saw(fmt.Sprintf("SUSPEND_CONTEXT_COMPLETED context=%d fence=2", other))
		b.advance(3e9)
		if c.answers {
			b.saw(fmt.Sprintf("SUSPEND_CONTEXT_COMPLETED context=%d fence=1", its))
		} else {
			b.saw()
		}
	}
}

func TestEngineStates(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	q := b.queue(c, base)
	b.k.now = 1500
	b.submit(c, cmdbuf.New().Nop().Delay(10, 0), 0)
	b.submitHw(q, 7, cmdbuf.New().Hang(), 0)
	b.submit(c, cmdbuf.New(), 0)
	idle := EngineState{Engine: node0, Waiting: 3}
	if got := b.g.Engines(); len(got) != 3 || got[0] != idle || got[2] != (EngineState{Engine: ddi.Engine{NodeOrdinal: 2}}) {
		t.Errorf("%+v", got)
	}
	b.advance(1500)
	if got, want := b.g.Engines()[0], (EngineState{Engine: node0, Waiting: 2, Running: true, Context: c, FenceID: 1, Command: 1, Doing: "DELAY ns=10 flags=0", Since: 1500}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	b.advance(1600)
	if got, want := b.g.Engines()[0], (EngineState{Engine: node0, Waiting: 1, Running: true, Context: c, HwQueue: q, FenceID: 7, Doing: "HANG", Since: 1510}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
