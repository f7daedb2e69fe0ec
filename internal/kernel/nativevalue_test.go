package kernel

import (
	"math"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// The monitored value is the lowest that CPUs wait for, less 1. native-fence.md §5.1.
func TestMonitoredValue(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	d := r.device(p, 0)
	f := r.made(p, d, 0)
	r.trace = nil
	h := handles(f.HSyncObject)
	wait := func(v uint64) *memEvent {
		fd, e := r.event()
		r.ok(waitEvent(p, d, 0, fd, h, values(v)))
		return e
	}
	wait(0)
	r.told("a wait for 0")
	e43 := wait(43)
	r.told("43", "A monitored 1 at 42")
	e42 := wait(42)
	r.told("42", "A monitored 1 at 41")
	wait(50)
	r.told("50, which is later")
	r.ok(signal(p, d, 0, h, values(42)))
	r.told("42 by a CPU", "A current 1 at 42 flags 0", "A monitored 1 at 42")
	if e42.sets != 1 || e43.sets != 0 {
		t.Errorf("42 has come: %d, %d", e42.sets, e43.sets)
	}
	r.ok(signal(p, d, 0, h, values(60)))
	r.told("60 by a CPU", "A current 1 at 60 flags 0", "A monitored 1 at -1")
	if markAsError(p, d) != abi.StatusSuccess {
		t.Fatal("no loss")
	}
	r.told("loss", "A current 1 at 4294967295 flags 1")
}

// Step 4 of native-fence.md §5.2: the GPU stored the value before the driver knew that
// somebody waits for it, and so interrupts nobody.
func TestMonitoredValueWindow(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	d := r.device(p, 0)
	f := r.made(p, d, 0)
	driver := r.drivers[0]
	va := driver.created.CurrentValueSystemProcessGpuVa
	driver.inside = func(call string) {
		if call != "monitored" {
			return
		}
		driver.inside = nil
		if fault := driver.cb.SystemMemory().Store64(0, va, 7); fault != nil {
			t.Error("the system process cannot store:", fault)
		}
	}
	fd, e := r.event()
	r.trace = nil
	r.ok(waitEvent(p, d, 0, fd, handles(f.HSyncObject), values(7)))
	if e.sets != 1 {
		t.Error("the waiter is stuck")
	}
	r.told("after all", "A monitored 1 at 6", "A monitored 1 at -1")
}

func TestNativeInterrupts(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	d := r.device(p, 0)
	driver := r.drivers[0]
	f := r.made(p, d, 0)
	va, dxg := driver.opened.CurrentValueGpuVa, driver.created.Fence
	g := r.made(p, d, 0)
	vb := driver.opened.CurrentValueGpuVa
	space := spaceOf(r.rig, p)
	store := func(va, v uint64) {
		if fault := space.Store64(0, va, v); fault != nil {
			t.Fatal(fault)
		}
	}
	wait := func(h abi.Handle, v uint64) *memEvent {
		fd, e := r.event()
		r.ok(waitEvent(p, d, 0, fd, handles(h), values(v)))
		return e
	}
	e, o := wait(f.HSyncObject, 1), wait(g.HSyncObject, 1)
	store(va, 1)
	store(vb, 1)
	if e.sets+o.sets != 0 {
		t.Error("released without an interrupt")
	}
	driver.cb.NotifyInterrupt(ddi.NativeFenceSignaled{Fences: []ddi.DxgNativeFence{dxg}})
	if e.sets != 1 || o.sets != 0 {
		t.Errorf("an array of one fence: %d, %d", e.sets, o.sets)
	}
	driver.cb.NotifyInterrupt(ddi.NativeFenceSignaled{})
	if o.sets != 1 {
		t.Error("no array means any")
	}
	e = wait(f.HSyncObject, 2)
	store(va, 2)
	driver.cb.NotifyInterrupt(ddi.NativeFenceSignaled{Fences: []ddi.DxgNativeFence{dxg}})
	if e.sets != 1 {
		t.Error("the second time it was not seen")
	}
	r.ok(destroy(p, f.HSyncObject))
	driver.cb.NotifyInterrupt(ddi.NativeFenceSignaled{Fences: []ddi.DxgNativeFence{dxg}})
	if n := len(r.k.adapters[0].incidents); n != 1 {
		t.Errorf("a fence that is gone was named: %d incidents", n)
	}
}

// The monitored value is not the GPU's to change, for others rely on it.
func TestMonitoredValueIsReadOnly(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	f := r.made(p, r.device(p, 0), 0)
	va := f.Info.NativeFenceMapping.MonitoredValueGpuVa
	if v, fault := spaceOf(r.rig, p).Load64(0, va); fault != nil || v != math.MaxUint64 {
		t.Errorf("read %d, %v", v, fault)
	}
	if fault := spaceOf(r.rig, p).Store64(0, va, 0); fault == nil {
		t.Error("it was written")
	}
	if fault := r.drivers[0].cb.SystemMemory().Store64(0, r.drivers[0].created.MonitoredValueSystemProcessGpuVa, 0); fault != nil {
		t.Error("the system process cannot write:", fault)
	}
}

// Where the MMU has no read-only pages a program's GPU may spoil the monitored value of a
// fence of its own, and of no other (OQ-36).
func TestMonitoredValueWithoutReadOnlyPages(t *testing.T) {
	r := newNativeRig(t, "native")
	r.k.adapters[0].Profile.GpuMmu.Flags &^= adapter.ReadOnlyMemorySupported
	p := r.process()
	d := r.device(p, 0)
	for flags, want := range map[abi.SyncObjectFlags]uint64{0: 5, ntShared: math.MaxUint64} {
		f := r.made(p, d, flags)
		space, va := spaceOf(r.rig, p), f.Info.NativeFenceMapping.MonitoredValueGpuVa
		if fault := space.Store64(0, va, 5); fault != nil {
			t.Fatal(fault)
		}
		if v, fault := space.Load64(0, va); fault != nil || v != want {
			t.Errorf("flags %v: %d, %v; want %d", flags, v, fault, want)
		}
	}
}
