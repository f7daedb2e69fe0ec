package softgpu

import (
	"fmt"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
)

// A stalled context answers a preemption at once, and goes on at its WAIT when it is
// submitted again, also if the fence was signalled or has gone meanwhile.
func TestPreemptionOfAStalledPacket(t *testing.T) {
	for name, meanwhile := range map[string]func(b *bench, f testFence){
		"nothing":   func(*bench, testFence) {},
		"signalled": func(b *bench, f testFence) { b.set(f, 1, 0) },
		"closed":    func(b *bench, f testFence) { must(t, b.g.CloseNativeFence(f.local)) },
		"destroyed": func(b *bench, f testFence) { must(t, b.g.DestroyNativeFence(f.kmd)) },
	} {
		b := newBench(t, nil)
		c := b.context(node0)
		f := b.native(base + 64)
		buf := cmdbuf.New().Write64(base, 1).Add(f.wait(1)).Write64(base, 2)
		b.submit(c, buf, 0)
		b.submit(c, cmdbuf.New(), 0)
		b.advance(2000)
		b.saw("DMA_READ 0.0 fence=1", "store 0x100000=1")
		b.g.PreemptCommand(node0, 7)
		b.advance(2000)
		b.saw("DMA_PREEMPTED 0.0 preemption=7 completed=0")
		if e := b.g.Engines()[0]; e.Waiting != 0 || e.Stalled != 0 {
			t.Errorf("%+v", e)
		}
		meanwhile(b, f)
		b.submit(c, buf, ddi.SubmitResubmission)
		b.submit(c, cmdbuf.New(), ddi.SubmitResubmission)
		b.advance(3000)
		if name == "nothing" {
			b.saw("DMA_READ 0.0 fence=3")
			b.set(f, 1, 0)
			b.advance(3000)
			b.saw("store 0x100000=2", "DMA_COMPLETED 0.0 fence=3", "DMA_READ 0.0 fence=4", "DMA_COMPLETED 0.0 fence=4")
		} else {
			b.saw("DMA_READ 0.0 fence=3", "store 0x100000=2", "DMA_COMPLETED 0.0 fence=3", "DMA_READ 0.0 fence=4", "DMA_COMPLETED 0.0 fence=4")
		}
	}
}

// A stalled hardware queue answers a suspension at once, goes on at its WAIT after the
// resume, and logs when it began to wait.
func TestSuspensionOfAStalledQueue(t *testing.T) {
	for name, meanwhile := range map[string]func(b *bench, f testFence){
		"nothing":   func(*bench, testFence) {},
		"signalled": func(b *bench, f testFence) { b.set(f, 1, 0) },
		"kicked":    func(b *bench, f testFence) { b.poke(f.va, 1); must(t, b.g.KickNativeFence(ddi.DxgNativeFence(f.va))) },
		"closed":    func(b *bench, f testFence) { must(t, b.g.CloseNativeFence(f.local)) },
	} {
		b := newBench(t, nil)
		c := b.context(node0)
		q := b.queue(c, base)
		b.logs(q, 84, 0)
		b.trace = nil
		f := b.native(base + 64)
		b.submitHw(q, 1, cmdbuf.New().Add(f.wait(1)).Signal(base, 1), 0)
		b.submitHw(q, 2, cmdbuf.New().Signal(base, 2), 0)
		b.advance(2000)
		if s := b.g.SuspendContext(c, 3); s != abi.StatusPending {
			t.Fatal(s)
		}
		b.advance(3000)
		b.saw(fmt.Sprintf("SUSPEND_CONTEXT_COMPLETED context=%d fence=3", c))
		meanwhile(b, f)
		b.advance(4000)
		b.saw()
		must(t, b.g.ResumeContext(c))
		b.advance(4000)
		if name == "nothing" {
			b.saw()
			b.set(f, 1, 0)
			b.advance(4000)
		}
		b.saw(fmt.Sprintf("store %#x=1", uint64(waitLog)), "store 0x100000=1", "MONITORED_FENCE_SIGNALED 0.0", "store 0x100000=2", "MONITORED_FENCE_SIGNALED 0.0")
		_, _, got := readLog(b.m, waitLog, 1)
		if got[0].FenceObservedGpuTimestamp != 1000 || got[0].FenceEndGpuTimestamp != 4000 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What is stalled is not what holds an engine up: a reset takes the one that runs, and the
// stalled queue of another context still waits where it was.
func TestResetsBesideAStalledQueue(t *testing.T) {
	for _, outside := range []bool{false, true} {
		b := newBench(t, nil)
		q, guilty := b.queue(b.context(node0), base), b.queue(b.context(node0), base+8)
		f := b.native(base + 64)
		b.submitHw(q, 1, cmdbuf.New().Write64(base+32, 1).Add(f.wait(1)).Signal(base, 1), 0)
		b.advance(2000)
		if outside {
			must(t, b.g.Hang(node0))
		}
		b.submitHw(guilty, 5, cmdbuf.New().Hang(), 0)
		b.advance(3000)
		if victim, id, st := b.g.ResetHwEngine(node0); victim != guilty || id != 5 || st != abi.StatusSuccess {
			t.Errorf("aborted %d of %d, %v", id, victim, st)
		}
		must(t, b.g.ResumeHwEngine(node0))
		b.advance(3000)
		b.saw("store 0x100020=1")
		b.set(f, 1, 0)
		b.advance(3000)
		b.saw("store 0x100000=1", "MONITORED_FENCE_SIGNALED 0.0")
	}
}

// If there is nothing else it is what the reset takes; but hardware queues stay behind a reset
// of contexts.
func TestResetsOfWhatIsStalled(t *testing.T) {
	setup := func() (b *bench, c ddi.KmdContext, q ddi.KmdHwQueue, f testFence) {
		b = newBench(t, nil)
		c = b.context(node0)
		q, f = b.queue(c, base), b.native(base+64)
		return b, c, q, f
	}
	stalled := func(b *bench) int { return b.g.Engines()[0].Stalled }

	b, _, q, f := setup()
	b.submitHw(q, 1, cmdbuf.New().Add(f.wait(1)), 0)
	b.submitHw(q, 2, cmdbuf.New(), 0)
	b.advance(2000)
	if victim, id, st := b.g.ResetHwEngine(node0); victim != q || id != 1 || st != abi.StatusSuccess || stalled(b) != 0 {
		t.Errorf("aborted %d of %d, %v", id, victim, st)
	}

	b, _, q, f = setup()
	b.submitHw(q, 1, cmdbuf.New().Write64(base+32, 1).Add(f.wait(1)).Write64(base+32, 2), 0)
	b.advance(2000)
	b.trace = nil
	if id, st := b.g.ResetEngine(node0); id != 0 || st != abi.StatusSuccess || stalled(b) != 1 {
		t.Errorf("aborted %d, %v", id, st)
	}
	b.set(f, 1, 0)
	b.advance(2000)
	b.saw("store 0x100020=2", "MONITORED_FENCE_SIGNALED 0.0")

	b, c, _, f := setup()
	b.submit(c, cmdbuf.New().Add(f.wait(1)), 0)
	b.advance(2000)
	if id, st := b.g.ResetEngine(node0); id != 1 || st != abi.StatusSuccess || stalled(b) != 0 {
		t.Errorf("aborted %d, %v", id, st)
	}
	b.set(f, 1, 0)

	b, _, q, f = setup()
	b.submitHw(q, 1, cmdbuf.New().Add(f.wait(1)), 0)
	b.advance(2000)
	must(t, b.g.ResetFromTimeout())
	must(t, b.g.RestartFromTimeout())
	b.set(f, 1, 0)
	b.advance(2000)
	if h := b.g.Holdings(); h.Packets != 0 || stalled(b) != 0 || len(b.g.fences[f.kmd].stalls) != 0 {
		t.Errorf("%+v", h)
	}
}

// What waits is dropped with its queue and its context.
func TestDestructionOfWhatIsStalled(t *testing.T) {
	b := newBench(t, nil)
	c, other := b.context(node0), b.context(node0)
	q1, q2 := b.queue(c, base), b.queue(c, base+8)
	f := b.native(base + 64)
	for i, q := range []ddi.KmdHwQueue{q1, q2} {
		b.submitHw(q, 1, cmdbuf.New().Add(f.wait(uint64(i+1))), 0)
		b.submitHw(q, 2, cmdbuf.New(), 0)
	}
	b.submit(other, cmdbuf.New().Add(f.wait(1)), 0)
	b.advance(2000)
	if e := b.g.Engines()[0]; e.Stalled != 3 || e.Waiting != 5 {
		t.Errorf("%+v", e)
	}
	must(t, b.g.DestroyHwQueue(q1))
	must(t, b.g.DestroyContext(other))
	b.trace = nil
	b.set(f, 2, 0)
	b.advance(2000)
	b.saw("MONITORED_FENCE_SIGNALED 0.0", "MONITORED_FENCE_SIGNALED 0.0") // of q2
	must(t, b.g.DestroyHwQueue(q2))
	must(t, b.g.DestroyContext(c))
	must(t, b.g.CloseNativeFence(f.local))
	must(t, b.g.DestroyNativeFence(f.kmd))
	must(t, b.g.DestroyDevice(b.device))
	if h := b.g.Holdings(); h != (Holdings{}) || len(b.g.spaces) != 0 || len(b.g.peers.fences) != 0 {
		t.Errorf("left behind: %+v", h)
	}
}

// A buffer that stalls while another one of its context faults does nothing afterwards.
func TestFaultBesideAStalledQueue(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	q1, q2 := b.queue(c, base), b.queue(c, base+8)
	f := b.native(base + 64)
	b.submitHw(q1, 1, cmdbuf.New().Add(f.wait(1)).Signal(base, 1), 0)
	b.submitHw(q2, 1, cmdbuf.New().Fault(cmdbuf.FaultDMA, 0), 0)
	b.advance(2000)
	b.trace = nil
	b.set(f, 1, 0)
	b.advance(2000)
	b.saw()
}

// With null rendering both commands happen all the same.
func TestNativeFencesWithNullRendering(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	f := b.native(base + 64)
	b.submit(c, cmdbuf.New().Fill(base, 1, 8).Add(f.wait(1), f.signal(2)), ddi.SubmitNullRendering)
	b.advance(2000)
	b.saw("DMA_READ 0.0 fence=1")
	b.set(f, 1, 0)
	b.advance(2000)
	b.saw("store 0x100040=2", "DMA_COMPLETED 0.0 fence=1")
}

// What a signal cannot read or write is a page fault of its buffer.
func TestFaultsOfNativeCommands(t *testing.T) {
	const nowhere = 0xdead000
	for _, c := range []struct {
		buf  func(f testFence) *cmdbuf.Buffer
		want string
	}{
		{func(f testFence) *cmdbuf.Buffer { return cmdbuf.New().SignalNative(f.va, 1, nowhere, 1) }, "DMA_PAGE_FAULTED 0.0 fence=1 address=0xdead000"},
		{func(f testFence) *cmdbuf.Buffer { return cmdbuf.New().SignalNative(f.va, 1, f.va+1, 1) }, "DMA_PAGE_FAULTED 0.0 fence=1 address=0x100041"},
		{func(testFence) *cmdbuf.Buffer { return cmdbuf.New().SignalNative(nowhere, 1, base, 1) }, "DMA_PAGE_FAULTED 0.0 fence=1 address=0xdead000"},
		{func(testFence) *cmdbuf.Buffer { return cmdbuf.New().Wait(nowhere, 1, 1) }, "DMA_PAGE_FAULTED 0.0 fence=1 address=0xdead000"},
	} {
		b := newBench(t, nil)
		f := b.native(base + 64)
		b.open(testFence{va: nowhere, kmd: f.kmd}, b.device) // of another engine of the link, say
		q := b.queue(b.context(node0), base)
		b.submitHw(q, 1, cmdbuf.New().Add(f.wait(1)).Signal(base, 1), 0)
		b.submit(b.context(node0), c.buf(f), 0)
		b.advance(2000)
		found := false
		for _, s := range b.trace {
			found = found || s == c.want
		}
		if v, _ := b.m.Load64(0, f.va); !found || v == 1 && b.trace[len(b.trace)-1] != "MONITORED_FENCE_SIGNALED 0.0" {
			t.Errorf("%q, want %s", b.trace, c.want)
		}
	}
}
