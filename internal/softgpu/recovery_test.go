package softgpu

import (
	"fmt"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// states are what an engine can be in when it is reset, with what the reset then says.
// Context a has packet 1 and is the guilty one, b packet 2.
var states = []struct {
	name    string
	first   *cmdbuf.Buffer
	hang    bool // from outside
	aborted uint32
	ended   bool // nothing is left to be dropped
}{
	{name: "idle", first: cmdbuf.New(), aborted: 2, ended: true},
	{name: "in a hang", first: cmdbuf.New().Nop().Hang(), aborted: 1},
	{name: "in a delay", first: cmdbuf.New().Delay(1e12, 0), aborted: 1},
	{name: "in a delay that does not stop", first: cmdbuf.New().Delay(1e12, cmdbuf.NotPreemptible), aborted: 1},
	{name: "hung, nothing begun", first: cmdbuf.New(), hang: true, aborted: 1},
}

func TestResetEngineInEveryState(t *testing.T) {
	for _, s := range states {
		for _, preempted := range []bool{false, true} {
			t.Run(fmt.Sprint(s.name, preempted), func(t *testing.T) {
				b := newBench(t, nil)
				a, other := b.context(node0), b.context(node0)
				if s.hang {
					must(t, b.g.Hang(node0))
				}
				b.submit(a, s.first, 0)
				b.submit(other, cmdbuf.New().Write32(base, 2), 0)
				b.advance(2000)
				if preempted && !s.ended {
					b.g.PreemptCommand(node0, 9)
				}
				b.trace = nil
				last, st := b.g.ResetEngine(node0)
				if st != abi.StatusSuccess || last != s.aborted {
					t.Fatalf("aborted %d, %v", last, st)
				}
				b.advance(3000)
				b.saw() // nothing of it runs, nothing is answered
				b.submit(other, cmdbuf.New().Write32(base, 3), ddi.SubmitResubmission)
				b.advance(4000)
				b.saw("DMA_READ 0.0 fence=3", "store32 0x100000=3", "DMA_COMPLETED 0.0 fence=3")
			})
		}
	}
}

// Hardware queues of others keep what they have, and it runs after the resume.
func TestResetHwEngine(t *testing.T) {
	for _, c := range []struct {
		name  string
		first *cmdbuf.Buffer // on queue 1 of the guilty context
		hang  bool
		abort bool // queue 1's packet
	}{
		{"in a hang", cmdbuf.New().Hang(), false, true},
		{"hung", cmdbuf.New().Signal(base, 1), true, true},
		{"idle", nil, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			guilty, other := b.context(node0), b.context(node0)
			q1, q2, q3 := b.queue(guilty, base), b.queue(guilty, base+8), b.queue(other, base+16)
			if c.hang {
				must(t, b.g.Hang(node0))
			}
			if c.first != nil {
				b.submitHw(q1, 10, c.first, 0)
				b.submitHw(q2, 20, cmdbuf.New().Signal(base+8, 20), 0)
				b.submit(other, cmdbuf.New(), 0)
				b.submitHw(q3, 30, cmdbuf.New().Delay(100, 0).Signal(base+16, 30), 0)
				b.advance(2000)
				if s := b.g.SuspendContext(guilty, 1); s != abi.StatusPending {
					t.Fatal(s)
				}
			}
			b.advance(5000)
			b.trace = nil
			q, last, st := b.g.ResetHwEngine(node0)
			if st != abi.StatusSuccess || c.abort && (q != q1 || last != 10) || !c.abort && (q != 0 || last != 0) {
				t.Fatalf("aborted %d of queue %d, %v", last, q, st)
			}
			b.submitHw(q3, 31, cmdbuf.New().Signal(base+16, 31), 0)
			b.advance(6000)
			if c.first != nil {
				b.saw(fmt.Sprintf("SUSPEND_CONTEXT_COMPLETED context=%d fence=1", guilty))
			}
			if !b.g.Engines()[0].Held {
				t.Error("not held")
			}
			must(t, b.g.ResumeHwEngine(node0))
			if c.first != nil {
				b.advance(6099)
				b.saw()
				b.advance(6100)
				b.saw("store 0x100010=30", "MONITORED_FENCE_SIGNALED 0.0", "store 0x100010=31", "MONITORED_FENCE_SIGNALED 0.0")
			} else {
				b.advance(6000)
				b.saw("store 0x100010=31", "MONITORED_FENCE_SIGNALED 0.0")
			}
		})
	}
}

// A packet of a context can be what hangs an engine with hardware queues.
func TestResetHwEngineInAPacketOfAContext(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	q := b.queue(b.context(node0), base)
	b.submit(c, cmdbuf.New().Hang(), 0)
	b.submitHw(q, 1, cmdbuf.New().Signal(base, 1), 0)
	b.advance(2000)
	b.trace = nil
	if queue, last, st := b.g.ResetHwEngine(node0); queue != 0 || last != 1 || st != abi.StatusSuccess {
		t.Errorf("aborted %d of queue %d, %v", last, queue, st)
	}
	must(t, b.g.ResumeHwEngine(node0))
	b.advance(2000)
	b.saw("store 0x100000=1", "MONITORED_FENCE_SIGNALED 0.0")
}

// The other way round: what a hardware queue has begins anew, and only ResetHwEngine
// aborts it.
func TestResetEngineInAPacketOfAQueue(t *testing.T) {
	for _, outside := range []bool{false, true} {
		b := newBench(t, nil)
		c := b.context(node0)
		q := b.queue(b.context(node0), base)
		if outside {
			must(t, b.g.Hang(node0))
		}
		b.submitHw(q, 1, cmdbuf.New().Write32(base, 7).Hang(), 0)
		b.submitHw(q, 2, cmdbuf.New(), 0)
		b.submit(c, cmdbuf.New(), 0)
		b.advance(2000)
		b.trace = nil
		if last, st := b.g.ResetEngine(node0); last != 0 || st != abi.StatusSuccess {
			t.Errorf("aborted %d, %v", last, st)
		}
		b.advance(3000)
		b.saw("store32 0x100000=7")
		if e := b.g.Engines()[0]; e.FenceID != 1 || e.Since != 2000 || e.Command != 1 || e.Waiting != 1 {
			t.Errorf("%+v", e)
		}
		if queue, last, st := b.g.ResetHwEngine(node0); queue != q || last != 1 || st != abi.StatusSuccess {
			t.Errorf("aborted %d of queue %d, %v", last, queue, st)
		}
		if e := b.g.Engines()[0]; e.Running || e.Waiting != 0 {
			t.Errorf("%+v", e)
		}
	}
}

func TestAdapterReset(t *testing.T) {
	b := newBench(t, nil)
	second := ddi.Engine{NodeOrdinal: 1}
	c, c1 := b.context(node0), b.context(second)
	q, q1 := b.queue(c, base), b.queue(c1, base+8)
	b.submit(c, cmdbuf.New().Hang(), 0)
	b.submitHw(q, 1, cmdbuf.New(), 0)
	b.g.SuspendContext(c1, 6)
	b.advance(2000)
	b.submitHw(q1, 1, cmdbuf.New(), 0)
	must(t, b.g.Hang(second))
	must(t, b.g.PageFault(ddi.Engine{NodeOrdinal: 2}, 1))
	b.trace = nil
	must(t, b.g.ResetFromTimeout())
	b.submit(c1, cmdbuf.New(), 0, second)
	b.advance(3000)
	b.saw() // not before the restart
	must(t, b.g.RestartFromTimeout())
	must(t, b.g.ResumeContext(c1))
	b.advance(4000)
	b.saw("DMA_READ 1.0 fence=2", "DMA_COMPLETED 1.0 fence=2")
	b.g.PreemptCommand(node0, 3)
	b.advance(4000)
	b.saw("DMA_PREEMPTED 0.0 preemption=3 completed=1") // the last that was submitted
}

// Each refusal, by profile, by request and for engines that are not there.
func TestRefusedRecovery(t *testing.T) {
	none := ddi.Engine{NodeOrdinal: 3}
	check := func(name string, g *GPU, e ddi.Engine, reset, resetHw, resume, restart abi.Status) {
		t.Helper()
		_, s1 := g.ResetEngine(e)
		_, _, s2 := g.ResetHwEngine(e)
		if s3, s4 := g.ResumeHwEngine(e), g.RestartFromTimeout(); s1 != reset || s2 != resetHw || s3 != resume || s4 != restart {
			t.Errorf("%s: %v, %v, %v, %v", name, s1, s2, s3, s4)
		}
	}
	const ok, fail, unsupported, invalid = abi.StatusSuccess, abi.StatusUnsuccessful, abi.StatusNotSupported, abi.StatusInvalidParameter
	b := newBench(t, nil)
	check("none", b.g, node0, ok, ok, ok, ok)
	check("no such engine", b.g, none, invalid, invalid, invalid, ok)
	b.submit(b.context(node0), cmdbuf.New().Hang(), 0)
	b.advance(2000)
	b.g.RefuseResets(true)
	check("refusing", b.g, node0, fail, fail, ok, ok)
	if !b.g.Engines()[0].Running {
		t.Error("a reset that failed did something")
	}
	b.g.RefuseResets(false)
	check("not refusing any more", b.g, node0, ok, ok, ok, ok)
	for name, c := range map[string]struct {
		change func(p *adapter.Profile)
		want   [4]abi.Status
	}{
		"reset":            {func(p *adapter.Profile) { p.Faults.ResetEngine = adapter.Fail }, [4]abi.Status{fail, fail, ok, ok}},
		"resume":           {func(p *adapter.Profile) { p.Faults.Resume = adapter.Fail }, [4]abi.Status{ok, ok, fail, ok}},
		"restart":          {func(p *adapter.Profile) { p.Faults.Restart = adapter.Fail }, [4]abi.Status{ok, ok, ok, fail}},
		"no engine resets": {func(p *adapter.Profile) { p.Caps &^= adapter.SupportPerEngineTDR }, [4]abi.Status{unsupported, unsupported, ok, ok}},
		"no queues":        {func(p *adapter.Profile) { p.HwScheduling.Enabled = false }, [4]abi.Status{ok, unsupported, unsupported, ok}},
	} {
		check(name, newBench(t, c.change).g, node0, c.want[0], c.want[1], c.want[2], c.want[3])
	}
	b = newBench(t, func(p *adapter.Profile) { p.HwScheduling.Enabled = false })
	if _, s := b.g.CreateHwQueue(ddi.CreateHwQueueArgs{Context: b.context(node0)}); s != unsupported {
		t.Errorf("a queue without hardware scheduling: %v", s)
	}
	if b.g.Hang(none) != invalid || b.g.PageFault(none, 0) != invalid {
		t.Error("faults on an engine that is not there")
	}
}

func TestPageFaultOnRequest(t *testing.T) {
	for name, buf := range map[string]*cmdbuf.Buffer{"next": nil, "hanging": cmdbuf.New().Nop().Hang(), "delayed": cmdbuf.New().Nop().Delay(1e9, cmdbuf.NotPreemptible)} {
		b := newBench(t, nil)
		c := b.context(node0)
		if buf != nil {
			b.submit(c, buf, 0)
			b.advance(1010)
		}
		must(t, b.g.PageFault(node0, 0xdead0000))
		b.advance(1010)
		ran := uint64(1)
		if buf == nil {
			b.submit(c, cmdbuf.New(), 0)
			ran = 0
		}
		b.advance(1020)
		if i, ok := b.k.interrupts[len(b.k.interrupts)-1].(ddi.DmaPageFaulted); !ok || i.Fault.Address != 0xdead0000 || i.PrimitiveAPISequenceNumber != ran || b.k.rearmed != 1 {
			t.Errorf("%s: %v, rearmed %d", name, b.trace, b.k.rearmed)
		}
	}
}

func TestDependentEngines(t *testing.T) {
	b := newBench(t, func(p *adapter.Profile) { p.Nodes[0].DependentNodes = []int{2} })
	for node, want := range []uint64{0b101, 0b010, 0b100, 0} {
		if got := b.g.QueryDependentEngineGroup(ddi.Engine{NodeOrdinal: uint32(node)}); got != want {
			t.Errorf("node %d: %b, want %b", node, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	for _, c := range []struct {
		clock uint64
		now   int64
		want  ddi.Calibration
	}{
		{0, 5_000_000_001, ddi.Calibration{GpuFrequency: 1e9, GpuClockCounter: 5_000_000_001, CpuClockCounter: 5_000_000_001}},
		{19_200_000, 2_500_000_000, ddi.Calibration{GpuFrequency: 19_200_000, GpuClockCounter: 48_000_000, CpuClockCounter: 2_500_000_000}},
		{1e12, 1<<63 - 1, ddi.Calibration{GpuFrequency: 1e12, GpuClockCounter: 1<<64 - 1000, CpuClockCounter: 1<<63 - 1}},
	} {
		b := newBench(t, func(p *adapter.Profile) { p.GpuClock = c.clock })
		b.k.now = c.now
		if got, s := b.g.CalibrateGpuClock(node0); s != abi.StatusSuccess || got != c.want {
			t.Errorf("%+v, %v; want %+v", got, s, c.want)
		}
	}
	if _, s := newBench(t, nil).g.CalibrateGpuClock(ddi.Engine{EngineOrdinal: 1}); s != abi.StatusInvalidParameter {
		t.Error(s)
	}
}

// Handles that are not there, and limits.
func TestDevicesAndContexts(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	q := b.queue(c, base)
	b.submit(c, cmdbuf.New().Hang(), 0)
	b.submitHw(q, 1, cmdbuf.New(), 0)
	b.advance(2000)
	must(t, b.g.DestroyHwQueue(q))
	b.g.SuspendContext(c, 1)
	must(t, b.g.DestroyContext(c))
	must(t, b.g.DestroyDevice(b.device))
	b.trace = nil
	b.advance(3000)
	b.saw() // of what was destroyed nothing is heard
	_, noDevice := b.g.CreateContext(ddi.CreateContextArgs{Device: b.device})
	_, noContext := b.g.CreateHwQueue(ddi.CreateHwQueueArgs{Context: c})
	for name, s := range map[string]abi.Status{
		"destroy queue": b.g.DestroyHwQueue(q), "destroy context": b.g.DestroyContext(c), "destroy device": b.g.DestroyDevice(b.device),
		"create context": noDevice, "create queue": noContext,
		"submit":          b.g.SubmitCommandVirtual(ddi.SubmitCommandArgs{Context: c}),
		"submit to queue": b.g.SubmitCommandToHwQueue(ddi.SubmitCommandToHwQueueArgs{HwQueue: q}),
	} {
		if s != abi.StatusInvalidParameter {
			t.Errorf("%s: %v", name, s)
		}
	}
	b = newBench(t, nil)
	c = b.context(node0)
	if s := b.g.SubmitCommandVirtual(ddi.SubmitCommandArgs{Context: c, Engine: ddi.Engine{NodeOrdinal: 1}}); s != abi.StatusInvalidParameter {
		t.Errorf("submit to an engine that is not the context's: %v", s)
	}
	fill := func(n int, create func() abi.Status) {
		for range n {
			must(t, create())
		}
		if s := create(); s != abi.StatusNoMemory {
			t.Errorf("one too many: %v", s)
		}
	}
	fill(MaxDevices-1, func() abi.Status { _, s := b.g.CreateDevice(ddi.CreateDeviceArgs{}); return s })
	fill(MaxContexts-1, func() abi.Status { _, s := b.g.CreateContext(ddi.CreateContextArgs{Device: b.device}); return s })
	fill(MaxHwQueues, func() abi.Status { _, s := b.g.CreateHwQueue(ddi.CreateHwQueueArgs{Context: c}); return s })
}
