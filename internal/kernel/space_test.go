package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// gpuOf returns where the GPU sees a fence.
func gpuOf(p *Process, h abi.Handle) uint64 {
	l, _ := object.Get[*local](&p.table, h)
	return l.gpu
}

func spaceOf(r *rig, p *Process) *vidmm.Space {
	r.k.lock()
	defer r.k.unlock()
	return p.space(r.k.adapters[0])
}

func scan(r *rig) {
	r.k.lock()
	defer r.k.unlock()
	r.k.scan(r.k.adapters[0])
}

// TestGPUWritesReleaseAtTheScan: a store is in memory at once; who waits hears of it
// when the kernel scans. A lower value is stored as is.
func TestGPUWritesReleaseAtTheScan(t *testing.T) {
	r := newRig(t)
	p := r.process()
	d := r.device(p, 0)
	f := r.fence(p, d, 0, 0)
	fd, e := r.event()
	if st := waitEvent(p, d, 0, fd, handles(f), values(5)); !st.OK() {
		t.Fatal(st)
	}
	s, va := spaceOf(r, p), gpuOf(p, f)
	if fault := s.Store64(0, va, 5); fault != nil {
		t.Fatal(fault)
	}
	if r.value(p, f) != 5 || e.sets != 0 {
		t.Errorf("value %d, event set %d times before the scan", r.value(p, f), e.sets)
	}
	scan(r)
	if e.sets != 1 {
		t.Errorf("event set %d times after it", e.sets)
	}
	if fault := s.Store64(0, va, 2); fault != nil || r.value(p, f) != 2 {
		t.Errorf("lower: %v, value %d", fault, r.value(p, f))
	}
	if v, fault := s.Load64(0, va); fault != nil || v != 2 {
		t.Errorf("load: %d, %v", v, fault)
	}
	fd, e = r.event()
	if st := waitEvent(p, d, 0, fd, handles(f), values(4)); !st.OK() || e.sets != 0 {
		t.Errorf("a later wait sees the lower value: %v, %d", st, e.sets)
	}
	_ = s.Store64(0, va, 4)
	if destroy(p, f); e.sets != 1 {
		t.Error("destroy leaves the waiter")
	}
	scan(r) // of what is gone
	if fault := s.Store64(0, va, 9); fault == nil {
		t.Error("a store after destroy is no fault")
	}
}

// TestWhoHeldAValueIsReleased: a GPU raises a fence and lowers it before anybody
// scanned. The lowering is the kernel's, so that the higher value satisfied waiters.
func TestWhoHeldAValueIsReleased(t *testing.T) {
	r := newRig(t)
	p := r.process()
	d := r.device(p, 0)
	f := r.fence(p, d, 0, 0)
	fd, e := r.event()
	waitEvent(p, d, 0, fd, handles(f), values(5))
	s, va := spaceOf(r, p), gpuOf(p, f)
	_ = s.Store64(0, va, 7)
	_ = s.Store64(0, va, 1)
	scan(r)
	if e.sets != 1 || r.value(p, f) != 1 {
		t.Errorf("event set %d times, value %d", e.sets, r.value(p, f))
	}
}

func TestWhatTheGPUMayDoWithAFence(t *testing.T) {
	for _, c := range []struct {
		name     string
		flags    abi.SyncObjectFlags
		profile  func(*adapter.Profile)
		mapped   bool
		writable bool
	}{
		{"plain", 0, nil, true, true},
		{"NoGPUAccess", abi.SyncObjectNoGPUAccess, nil, false, false},
		{"NoSignal", abi.SyncObjectNoSignal, nil, true, false},
		{"NoSignal, an MMU without protection", abi.SyncObjectNoSignal, func(p *adapter.Profile) { p.GpuMmu.Flags = 0 }, true, true},
		{"NoWait", abi.SyncObjectNoWait, nil, true, true},
		{"no MMU", 0, func(p *adapter.Profile) { p.Caps &^= adapter.GpuMmuSupported }, false, false},
	} {
		r := newRig(t)
		if c.profile != nil {
			profile := *r.k.adapters[0].Profile
			c.profile(&profile)
			r.k.adapters[0].Profile = &profile
		}
		p := r.process()
		d := r.device(p, 0)
		f := r.fence(p, d, c.flags, 3)
		va := gpuOf(p, f)
		if (va != 0) != c.mapped {
			t.Errorf("%s: at %#x", c.name, va)
		}
		s := spaceOf(r, p)
		if _, fault := s.Load64(0, va); (fault == nil) != c.mapped {
			t.Errorf("%s: load: %v", c.name, fault)
		}
		if fault := s.Store64(0, va, 4); (fault == nil) != c.writable {
			t.Errorf("%s: store: %v", c.name, fault)
		}
	}
}

func TestEngineAffinity(t *testing.T) {
	r := newRig(t)
	profile := *r.k.adapters[0].Profile
	profile.PhysicalAdapters = 2
	r.k.adapters[0].Profile = &profile
	p := r.process()
	d := r.device(p, 0)
	for _, c := range []struct {
		affinity uint32
		seen     [2]bool
	}{{0, [2]bool{true, true}}, {1, [2]bool{true, false}}, {2, [2]bool{false, true}}, {3, [2]bool{true, true}}, {6, [2]bool{false, true}}, {4, [2]bool{true, true}}} {
		rec := abi.CreateSynchronizationObject2{HDevice: d}
		rec.Info.Type = abi.MonitoredFence
		rec.Info.MonitoredFence().EngineAffinity = c.affinity
		if _, st := do(p, 0x10, &rec, nil); !st.OK() {
			t.Fatal(st)
		}
		s, va := spaceOf(r, p), rec.Info.MonitoredFence().FenceValueGPUVirtualAddress
		for engine := range uint32(2) {
			if _, fault := s.Load64(engine, va); (fault == nil) != c.seen[engine] {
				t.Errorf("affinity %#x, engine %d: %v", c.affinity, engine, fault)
			}
		}
	}
}

// TestSpaceEndsWithItsProcess: what a GPU still does then faults.
func TestSpaceEndsWithItsProcess(t *testing.T) {
	r := newRig(t)
	p := r.process()
	d := r.device(p, 0)
	f := r.fence(p, d, 0, 0)
	s, va := spaceOf(r, p), gpuOf(p, f)
	p.Exit()
	if s.Store64(0, va, 1) == nil {
		t.Error("a store for the dead is no fault")
	}
	if n := len(p.spaces); n != 0 {
		t.Errorf("%d spaces left", n)
	}
}
