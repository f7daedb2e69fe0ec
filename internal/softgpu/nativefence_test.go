package softgpu

import (
	"sync/atomic"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// A testFence is a native fence with both values in the memory of a bench: the current
// one at va, the monitored one 8 bytes behind.
type testFence struct {
	va    uint64
	kmd   ddi.KmdNativeFence
	local ddi.KmdLocalNativeFence
}

func (f testFence) wait(v uint64) cmdbuf.Wait { return cmdbuf.Wait{VA: f.va, Value: v, Fence: 7} }

func (f testFence) signal(v uint64) cmdbuf.SignalNative {
	return cmdbuf.SignalNative{VA: f.va, Value: v, Monitored: f.va + 8, Fence: 7}
}

// native makes a fence that no CPU waits for. Its name is its address.
func (b *bench) native(va uint64) testFence {
	b.t.Helper()
	kmd, s := b.g.CreateNativeFence(ddi.CreateNativeFenceArgs{Fence: ddi.DxgNativeFence(va)})
	must(b.t, s)
	f := testFence{va, kmd, 0}
	f.local = b.open(f, b.device)
	b.m.Store64(0, va+8, any64)
	b.trace = nil
	return f
}

func (b *bench) open(f testFence, device ddi.KmdDevice) ddi.KmdLocalNativeFence {
	b.t.Helper()
	local, s := b.g.OpenNativeFence(ddi.OpenNativeFenceArgs{Fence: f.kmd, Device: device, CurrentValueGpuVa: f.va, MonitoredValueGpuVa: f.va + 8})
	must(b.t, s)
	return local
}

// monitor has the CPU wait for the values above one.
func (b *bench) monitor(f testFence, v uint64) {
	var word atomic.Uint64
	b.g.UpdateMonitoredValues([]ddi.MonitoredValueUpdate{{Fence: f.kmd, Value: v, MonitoredValue: &word}})
	b.poke(f.va+8, word.Load())
}

// poke stores a word that nobody hears of.
func (b *bench) poke(va, v uint64) {
	log := b.m.log
	b.m.log = nil
	b.m.Store64(0, va, v)
	b.m.log = log
}

// set has the CPU signal.
func (b *bench) set(f testFence, v uint64, flags ddi.CurrentValueFlags) {
	b.poke(f.va, v)
	b.g.UpdateCurrentValuesFromCpu([]ddi.CurrentValueUpdate{{Fence: f.kmd, Value: v}}, flags)
}

// A WAIT that is satisfied passes; another one holds its queue, and the engine goes on with others.
func TestWaitHoldsItsQueue(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	q1, q2 := b.queue(c, base), b.queue(c, base+8)
	f := b.native(base + 64)
	b.poke(f.va, 3)
	b.submitHw(q1, 1, cmdbuf.New().Add(f.wait(3)).Write64(base+32, 1).Add(f.wait(4)).Write64(base+32, 2).Signal(base, 1), 0)
	b.submitHw(q1, 2, cmdbuf.New().Signal(base, 2), 0)
	b.submitHw(q2, 1, cmdbuf.New().Signal(base+8, 1), 0)
	b.submit(c, cmdbuf.New().Write64(base+40, 1), 0)
	b.advance(2000)
	b.saw("store 0x100020=1", "store 0x100008=1", "MONITORED_FENCE_SIGNALED 0.0", "DMA_READ 0.0 fence=1", "store 0x100028=1", "DMA_COMPLETED 0.0 fence=1")
	if e := b.g.Engines()[0]; e.Running || e.Waiting != 2 || e.Stalled != 1 {
		t.Errorf("%+v", e)
	}
	b.submitHw(q2, 2, cmdbuf.New().Add(f.signal(4)).Signal(base+8, 2), 0)
	b.advance(3000)
	b.saw("store 0x100040=4", "store 0x100008=2", "MONITORED_FENCE_SIGNALED 0.0", "store 0x100020=2", "store 0x100000=1", "MONITORED_FENCE_SIGNALED 0.0", "store 0x100000=2", "MONITORED_FENCE_SIGNALED 0.0")
}

// All contexts of an engine are one stream.
func TestWaitHoldsContexts(t *testing.T) {
	b := newBench(t, nil)
	c1, c2 := b.context(node0), b.context(node0)
	f := b.native(base + 64)
	b.submit(c1, cmdbuf.New().Add(f.wait(1)).Write64(base, 1), 0)
	b.submit(c2, cmdbuf.New().Write64(base, 2), 0)
	b.submitHw(b.queue(c2, base+8), 1, cmdbuf.New().Signal(base+8, 1), 0)
	b.advance(2000)
	b.saw("DMA_READ 0.0 fence=1", "store 0x100008=1", "MONITORED_FENCE_SIGNALED 0.0")
	b.set(f, 1, 0)
	b.advance(2000)
	b.saw("store 0x100000=1", "DMA_COMPLETED 0.0 fence=1", "DMA_READ 0.0 fence=2", "store 0x100000=2", "DMA_COMPLETED 0.0 fence=2")
}

// Everything that may have changed a value ends a wait, and nothing else does.
func TestWhatEndsAWait(t *testing.T) {
	second := ddi.Engine{NodeOrdinal: 1}
	for name, end := range map[string]func(b *bench, f testFence){
		"signal of another engine": func(b *bench, f testFence) {
			b.submit(b.context(second), cmdbuf.New().Add(f.signal(5)), 0, second)
		},
		"signal of another process": func(b *bench, f testFence) {
			other, s := b.g.CreateDevice(ddi.CreateDeviceArgs{Memory: &sameMemory{b.m}})
			must(t, s)
			b.open(f, other)
			c, s := b.g.CreateContext(ddi.CreateContextArgs{Device: other, Engine: second})
			must(t, s)
			b.submit(c, cmdbuf.New().Add(f.signal(5)), 0, second)
		},
		"plain write":  func(b *bench, f testFence) { b.submit(b.context(second), cmdbuf.New().Write64(f.va, 5), 0, second) },
		"plain signal": func(b *bench, f testFence) { b.submit(b.context(second), cmdbuf.New().Signal(f.va, 5), 0, second) },
		"half a write": func(b *bench, f testFence) { b.submit(b.context(second), cmdbuf.New().Write32(f.va+4, 1), 0, second) },
		"CPU":          func(b *bench, f testFence) { b.set(f, 5, 0) },
		"notification": func(b *bench, f testFence) {
			b.poke(f.va, 9)
			b.g.UpdateCurrentValuesFromCpu([]ddi.CurrentValueUpdate{{Fence: f.kmd}}, ddi.NotificationOnly)
		},
		"kick": func(b *bench, f testFence) { b.poke(f.va, 9); must(t, b.g.KickNativeFence(ddi.DxgNativeFence(f.va))) },
		"always signaled": func(b *bench, f testFence) {
			b.g.UpdateCurrentValuesFromCpu([]ddi.CurrentValueUpdate{{Fence: f.kmd, Value: 0xFFFF_FFFF}}, ddi.AlwaysSignaled)
		},
		"close":              func(b *bench, f testFence) { must(t, b.g.CloseNativeFence(f.local)) },
		"destroy, left open": func(b *bench, f testFence) { must(t, b.g.DestroyNativeFence(f.kmd)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			c := b.context(node0)
			q := b.queue(c, base)
			f, other := b.native(base+64), b.native(base+128)
			b.submitHw(q, 1, cmdbuf.New().Add(f.wait(5)).Signal(base, 1), 0)
			b.advance(2000)
			// Too little, another fence, a wrong name, and news of nothing.
			b.submitHw(b.queue(c, base+8), 1, cmdbuf.New().Add(f.signal(4), other.signal(5)).Write64(f.va+16, 5).Signal(base+8, 1), 0)
			b.g.UpdateCurrentValuesFromCpu([]ddi.CurrentValueUpdate{{Fence: other.kmd, Value: 6}, {Fence: 999, Value: 6}}, 0)
			must(t, b.g.KickNativeFence(ddi.DxgNativeFence(f.va)))
			if s := b.g.KickNativeFence(9); s != abi.StatusInvalidParameter {
				t.Error(s)
			}
			b.advance(2000)
			if e := b.g.Engines()[0]; e.Stalled != 1 || e.Waiting != 1 || e.Running {
				t.Fatalf("%+v", e)
			}
			if at, ok := b.g.Next(); ok {
				t.Fatalf("next at %d", at)
			}
			end(b, f)
			b.k.now = 2500
			b.advance(2500)
			if v, _ := b.m.Load64(0, base); v != 1 {
				t.Errorf("it stalls: %v", b.trace)
			}
		})
	}
}

// A sameMemory is the memory of another process that has everything where the first has it.
type sameMemory struct{ *memory }

// Where no native fence is the commands are wrong.
func TestNativeCommandsWithoutAFence(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *adapter.Profile)
		buf    func(f testFence) *cmdbuf.Buffer
	}{
		"wait":             {nil, func(f testFence) *cmdbuf.Buffer { return cmdbuf.New().Wait(f.va+64, 0, 1) }},
		"wait beside it":   {nil, func(f testFence) *cmdbuf.Buffer { return cmdbuf.New().Wait(f.va+1, 0, 1) }},
		"signal":           {nil, func(f testFence) *cmdbuf.Buffer { return cmdbuf.New().SignalNative(f.va+64, 1, f.va+8, 1) }},
		"wait, closed":     {nil, func(f testFence) *cmdbuf.Buffer { return cmdbuf.New().Add(f.wait(0)) }},
		"wait, incapable":  {func(p *adapter.Profile) { p.Features &^= adapter.NativeFence }, func(testFence) *cmdbuf.Buffer { return cmdbuf.New().Wait(base, 0, 1) }},
		"other's, unknown": {nil, func(f testFence) *cmdbuf.Buffer { return cmdbuf.New().Add(f.wait(0)) }},
	} {
		b := newBench(t, c.change)
		var f testFence
		if c.change == nil {
			f = b.native(base + 64)
		}
		context := b.context(node0)
		switch name {
		case "wait, closed":
			must(t, b.g.CloseNativeFence(f.local))
			must(t, b.g.DestroyNativeFence(f.kmd))
		case "other's, unknown":
			other, s := b.g.CreateDevice(ddi.CreateDeviceArgs{Memory: &sameMemory{b.m}})
			must(t, s)
			context, s = b.g.CreateContext(ddi.CreateContextArgs{Device: other, Engine: node0})
			must(t, s)
		}
		b.submit(context, c.buf(f), 0)
		b.advance(2000)
		if got := b.k.interrupts[len(b.k.interrupts)-1]; got != (ddi.DmaFaulted{Engine: node0, FaultedFenceID: 1}) {
			t.Errorf("%s: %v", name, b.trace)
		}
	}
}

// A signal interrupts only above the monitored value.
func TestSignalInterrupts(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	f := b.native(base + 64)
	run := func(want ...string) {
		t.Helper()
		b.advance(b.k.now)
		b.saw(want...)
	}
	b.submit(c, cmdbuf.New().Add(f.signal(41)), 0)
	run("DMA_READ 0.0 fence=1", "store 0x100040=41", "DMA_COMPLETED 0.0 fence=1")
	b.monitor(f, 42)
	b.submit(c, cmdbuf.New().Add(f.signal(42)), 0)
	run("DMA_READ 0.0 fence=2", "store 0x100040=42", "DMA_COMPLETED 0.0 fence=2")
	b.submit(c, cmdbuf.New().Add(f.signal(43)).Delay(5, 0), 0)
	run("DMA_READ 0.0 fence=3", "store 0x100040=43", "NATIVE_FENCE_SIGNALED 0.0 fences=[1048640] queue=0 legacy=false")
}
