package softgpu

import (
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

func nativeOptions(o adapter.NativeFenceOptions) func(p *adapter.Profile) {
	return func(p *adapter.Profile) { p.NativeFence = o }
}

// What the profile says goes to the kernel.
func TestNativeFenceCaps(t *testing.T) {
	b := newBench(t, nativeOptions(adapter.NativeFenceOptions{MonitoredValueStride: 128, SystemProcess: true, MinimumAddress: 4096, MaximumAddress: 1 << 40}))
	want := ddi.NativeFenceCaps{MonitoredValueStride: 128, MapToGpuSystemProcess: true, MinimumAddress: 4096, MaximumAddress: 1 << 40}
	if got := b.g.NativeFenceCaps(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Where values are stored, and which types there are, by what the system has.
func TestTypesAndStorages(t *testing.T) {
	const system, video = ddi.SystemStorage, ddi.VideoStorage
	const ok, unsupported, invalid = abi.StatusSuccess, abi.StatusNotSupported, abi.StatusInvalidParameter
	for _, c := range []struct {
		name      string
		fenceless bool
		os        ddi.NativeFenceOSCaps
		storages  [4]ddi.Storage // DEFAULT current, monitored, INTRA_GPU current, monitored
		creates   [3]abi.Status  // DEFAULT, INTRA_GPU, no type
	}{
		{"plain", false, ddi.NativeFenceOSCaps{}, [4]ddi.Storage{system, system, video, video}, [3]abi.Status{ok, unsupported, invalid}},
		{"optimized", false, ddi.NativeFenceOSCaps{SupportOptimizedDefaultFenceType: true}, [4]ddi.Storage{system, video, video, video}, [3]abi.Status{ok, unsupported, invalid}},
		{"intra", false, ddi.NativeFenceOSCaps{SupportIntraGpuFenceType: true}, [4]ddi.Storage{system, system, video, video}, [3]abi.Status{ok, ok, invalid}},
		{"none", true, ddi.NativeFenceOSCaps{}, [4]ddi.Storage{system, system, video, video}, [3]abi.Status{unsupported, unsupported, unsupported}},
	} {
		g := New(profile(t, nil))
		must(t, g.StartDevice(&fakeKernel{os: c.os, fenceless: c.fenceless}))
		var storages [4]ddi.Storage
		for i := range storages {
			storages[i] = g.FenceStorage(ddi.FenceStorageArgs{Type: abi.NativeFenceType(i / 2), MonitoredValue: i%2 == 1})
		}
		var creates [3]abi.Status
		for i := range creates {
			h, s := g.CreateNativeFence(ddi.CreateNativeFenceArgs{Type: abi.NativeFenceType(i)})
			if creates[i] = s; (h != 0) != s.OK() {
				t.Errorf("%s: handle %d with %v", c.name, h, s)
			}
		}
		if storages != c.storages || creates != c.creates {
			t.Errorf("%s: %v and %v, want %v and %v", c.name, storages, creates, c.storages, c.creates)
		}
	}
}

// Handles that are not there, and limits.
func TestNativeFenceHandles(t *testing.T) {
	b := newBench(t, nil)
	f := b.native(base + 64)
	_, noFence := b.g.OpenNativeFence(ddi.OpenNativeFenceArgs{Fence: 99, Device: b.device})
	_, noDevice := b.g.OpenNativeFence(ddi.OpenNativeFenceArgs{Fence: f.kmd, Device: 99})
	must(t, b.g.CloseNativeFence(f.local))
	must(t, b.g.DestroyNativeFence(f.kmd))
	for name, s := range map[string]abi.Status{
		"open of none": noFence, "open for none": noDevice, "close twice": b.g.CloseNativeFence(f.local),
		"destroy twice": b.g.DestroyNativeFence(f.kmd), "kick after destroy": b.g.KickNativeFence(ddi.DxgNativeFence(f.va)),
	} {
		if s != abi.StatusInvalidParameter {
			t.Errorf("%s: %v", name, s)
		}
	}
	// Of what is gone nothing is known.
	b.g.UpdateMonitoredValues(nil)
	b.monitor(f, 1)
	b.set(f, 1, ddi.AlwaysSignaled)
	f = b.native(base + 64)
	for len(b.g.locals) < MaxLocalNativeFences-1 { // as if they had been opened
		b.g.locals[ddi.KmdLocalNativeFence(1<<32+len(b.g.locals))] = nil
	}
	b.open(f, b.device)
	if _, s := b.g.OpenNativeFence(ddi.OpenNativeFenceArgs{Fence: f.kmd, Device: b.device}); s != abi.StatusNoMemory {
		t.Errorf("one open too many: %v", s)
	}
	for len(b.g.fences) < MaxNativeFences-1 {
		b.g.fences[ddi.KmdNativeFence(1<<32+len(b.g.fences))] = &nativeFence{}
	}
	_, last := b.g.CreateNativeFence(ddi.CreateNativeFenceArgs{Fence: 9})
	must(t, last)
	if _, s := b.g.CreateNativeFence(ddi.CreateNativeFenceArgs{}); s != abi.StatusNoMemory {
		t.Errorf("one too many: %v", s)
	}
}

// Devices of one process share addresses, several local objects one of them: it goes with
// the last. Another fence can take an address over before the first has left it.
func TestLocalObjects(t *testing.T) {
	b := newBench(t, nil)
	second, s := b.g.CreateDevice(ddi.CreateDeviceArgs{Memory: b.m})
	must(t, s)
	c, s := b.g.CreateContext(ddi.CreateContextArgs{Device: second, Engine: node0})
	must(t, s)
	f := b.native(base + 64)
	again := b.open(f, second)
	b.submit(c, cmdbuf.New().Add(f.wait(1)), 0)
	b.advance(2000)
	must(t, b.g.CloseNativeFence(f.local))
	must(t, b.g.DestroyDevice(b.device)) // the process has another one
	b.advance(2000)
	b.saw("DMA_READ 0.0 fence=1")
	other, s := b.g.CreateNativeFence(ddi.CreateNativeFenceArgs{Fence: 5})
	must(t, s)
	taken := b.open(testFence{va: f.va, kmd: other}, second)
	must(t, b.g.CloseNativeFence(again))
	b.advance(2000)
	b.saw("DMA_COMPLETED 0.0 fence=1")
	must(t, b.g.DestroyNativeFence(f.kmd))
	b.submit(c, cmdbuf.New().Add(f.wait(0)), 0)
	b.advance(2000)
	b.saw("DMA_READ 0.0 fence=2", "DMA_COMPLETED 0.0 fence=2")
	must(t, b.g.CloseNativeFence(taken))
	must(t, b.g.DestroyNativeFence(other))
	must(t, b.g.DestroyContext(c))
	must(t, b.g.DestroyDevice(second))
	if h := b.g.Holdings(); h != (Holdings{}) || len(b.g.spaces) != 0 {
		t.Errorf("left behind: %+v", h)
	}
}

// After AlwaysSignaled waits pass and nothing of the GPU touches the value.
func TestAlwaysSignaled(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	f := b.native(base + 64)
	b.monitor(f, 0)
	b.poke(f.va, any64)
	b.g.UpdateCurrentValuesFromCpu([]ddi.CurrentValueUpdate{{Fence: f.kmd, Value: 0xFFFF_FFFF}}, ddi.AlwaysSignaled)
	b.poke(f.va, 7)
	b.submit(c, cmdbuf.New().Add(f.wait(1<<40), f.signal(9)).Write64(f.va, 10).Write32(f.va, 11).Signal(f.va, 12), 0)
	b.advance(2000)
	b.saw("DMA_READ 0.0 fence=1", "MONITORED_FENCE_SIGNALED 0.0", "DMA_COMPLETED 0.0 fence=1")
	if v, _ := b.m.Load64(0, f.va); v != 7 {
		t.Errorf("%d was stored", v)
	}
}

// A kicker notes kicks, and passes them on to other GPUs.
type kicker struct {
	names []ddi.DxgNativeFence
	to    []*GPU
	value func() // the value when it was kicked
}

func (k *kicker) Kick(f ddi.DxgNativeFence) {
	k.names = append(k.names, f)
	k.value()
	for _, g := range k.to {
		g.KickNativeFence(f)
	}
}

// Each signal of a fence with peers kicks them when it is stored, from whatever command;
// also a GPU that kicks back.
func TestPeers(t *testing.T) {
	a, b := newBench(t, nil), newBench(t, nil)
	b.m.b = a.m.b
	b.where += 0x10000
	var seen []uint64
	k := &kicker{value: func() { v, _ := a.m.Load64(0, base+64); seen = append(seen, v) }, to: []*GPU{a.g, b.g}}
	make := func(b *bench) testFence {
		kmd, s := b.g.CreateNativeFence(ddi.CreateNativeFenceArgs{Fence: 5, Peers: k})
		must(t, s)
		f := testFence{va: base + 64, kmd: kmd}
		b.open(f, b.device)
		return f
	}
	f, g := make(a), make(b)
	b.submit(b.context(node0), cmdbuf.New().Add(g.wait(3)), 0)
	b.advance(1000)
	a.submit(a.context(node0), cmdbuf.New().Write64(f.va, 1).Add(f.signal(2)).Signal(f.va, 3), 0)
	a.advance(1000)
	b.saw("DMA_READ 0.0 fence=1")
	if at, ok := b.g.Next(); !ok || at > 1000 {
		t.Error("the other GPU has nothing to do")
	}
	b.advance(1000)
	b.saw("DMA_COMPLETED 0.0 fence=1")
	if !slices.Equal(seen, []uint64{1, 2, 3}) || !slices.Equal(k.names, []ddi.DxgNativeFence{5, 5, 5}) {
		t.Errorf("kicked %v at %v", k.names, seen)
	}
}

// Where the monitored value has a copy in video memory, the driver looks at the current
// one after a change, wherever it can, and interrupts with the next Advance.
func TestShadowOfTheMonitoredValue(t *testing.T) {
	for _, mapped := range []bool{true, false} {
		b := newBench(t, nil)
		b.g.os.SupportOptimizedDefaultFenceType = true
		system := newMemory()
		b.g.system = system
		args := ddi.CreateNativeFenceArgs{Fence: 5}
		if mapped {
			args.CurrentValueSystemProcessGpuVa = base + 8
		}
		kmd, s := b.g.CreateNativeFence(args)
		must(t, s)
		f := testFence{va: base + 64, kmd: kmd}
		set := func(v uint64) {
			if mapped {
				system.Store64(0, base+8, v)
			} else {
				b.poke(f.va, v)
			}
		}
		b.monitor(f, 0) // nobody has it open; mapped it can be read, and is 0
		b.open(f, b.device)
		set(5)
		b.monitor(f, 5)
		b.monitor(f, any64)
		if at, ok := b.g.Next(); ok {
			t.Errorf("%v: next at %d, though the value is not above", mapped, at)
		}
		b.monitor(f, 4)
		b.monitor(f, 3)
		b.saw() // not from inside the call
		if _, ok := b.g.Next(); !ok {
			t.Error("nothing is due")
		}
		b.advance(b.k.now)
		b.saw("NATIVE_FENCE_SIGNALED 0.0 fences=[5] queue=0 legacy=false")
		// The engine that has signalled it last is named; what was destroyed is not.
		second := ddi.Engine{NodeOrdinal: 1}
		b.poke(f.va+8, any64)
		b.submit(b.context(second), cmdbuf.New().Add(f.signal(6)), 0, second)
		b.advance(b.k.now)
		set(6)
		b.trace = nil
		b.monitor(f, 5)
		b.advance(b.k.now)
		b.saw("NATIVE_FENCE_SIGNALED 1.0 fences=[5] queue=0 legacy=false")
		b.monitor(f, 5)
		must(t, b.g.DestroyNativeFence(f.kmd))
		b.advance(b.k.now)
		b.saw()
	}
}
