package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// No CPU, and no packet, uses an INTRA_GPU fence.
func TestIntraGPU(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	d := r.device(p, 0)
	f, st := r.create(p, d, abi.NativeFenceIntraGPU, ntShared, 9)
	r.ok(st)
	h, v := handles(f.HSyncObject), values(0)
	fd, _ := r.event()
	if st := signal(p, d, 0, h, v); st != abi.StatusInvalidParameter {
		t.Error("CPU signal:", st)
	}
	if st := waitEvent(p, d, 0, fd, h, v); st != abi.StatusInvalidParameter {
		t.Error("CPU wait:", st)
	}
	if _, st := createSyncFile(p, d, f.HSyncObject, 0); st != abi.StatusInvalidParameter {
		t.Error("sync file:", st)
	}
	c := r.context(p, d, 0, 0)
	if st := waitOn(p, c, f.HSyncObject, 0); st != abi.StatusInvalidParameter {
		t.Error("packet wait:", st)
	}
	if st := signalOn(p, f.HSyncObject, 1, c); st != abi.StatusInvalidParameter {
		t.Error("packet signal:", st)
	}
	if v, fault := spaceOf(r.rig, p).Load64(0, f.Info.NativeFenceMapping.CurrentValueGpuVa); fault != nil || v != 0 {
		t.Errorf("the GPU reads %d, %v", v, fault)
	}
	nt, st := r.share(p, f.HSyncObject, object.SyncObjectAll)
	r.ok(st)
	if _, st := open(p, d, nt, 0); st != abi.StatusInvalidParameter {
		t.Error("opened as a monitored fence:", st)
	}
	if _, st := r.open(p, d, nt, 0); !st.OK() {
		t.Error("opened:", st)
	}
}

// native-fence.md §7: one value, every signal interrupts, the others are told.
func TestCrossAdapterNative(t *testing.T) {
	r := newNativeRig(t, "native", "native")
	p := r.process()
	d0, d1 := r.device(p, 0), r.device(p, 1)
	f := r.made(p, d0, ntShared|abi.SyncObjectCrossAdapter)
	nt, st := r.share(p, f.HSyncObject, object.SyncObjectAll)
	r.ok(st)
	g, st := r.open(p, d1, nt, 0)
	r.ok(st)
	r.told("made", "A create 1", "A open 2 of 1", "B create 1", "B open 2 of 1")
	if f.Info.NativeFenceMapping != g.NativeFenceMapping {
		t.Errorf("at %+v, and on the other adapter at %+v", f.Info.NativeFenceMapping, g.NativeFenceMapping)
	}
	fd, e := r.event()
	r.ok(waitEvent(p, d0, 0, fd, handles(f.HSyncObject), values(5)))
	r.told("a wait: the monitored value is 0 for good")
	r.ok(signal(p, d1, 0, handles(g.HSyncObject), values(3)))
	r.told("a CPU of B", "A current 1 at 0 flags 2", "B current 1 at 3 flags 0")
	space := p.spaces[r.k.adapters[1]]
	if fault := space.Store64(0, g.NativeFenceMapping.CurrentValueGpuVa, 5); fault != nil {
		t.Fatal(fault)
	}
	r.drivers[1].cb.NotifyInterrupt(ddi.NativeFenceSignaled{Fences: []ddi.DxgNativeFence{r.drivers[1].created.Fence}})
	if e.sets != 1 {
		t.Error("the waiter of A is stuck")
	}
	r.k.Tick()
	r.told("the GPU of B", "A current 1 at 0 flags 2")
}

// OQ-38: what opens as what.
func TestNativeAndMonitored(t *testing.T) {
	r := newNativeRig(t, "native", "amd", "native")
	p := r.process()
	native, plain, other := r.device(p, 0), r.device(p, 1), r.device(p, 2)
	const cross = ntShared | abi.SyncObjectCrossAdapter
	share := func(h abi.Handle) int {
		fd, st := r.share(p, h, object.SyncObjectAll)
		r.ok(st)
		return fd
	}
	f := share(r.made(p, native, cross).HSyncObject)
	m := share(r.fence(p, plain, cross, 0))
	same := share(r.fence(p, native, cross, 0))
	alone := share(r.made(p, native, ntShared).HSyncObject)
	for _, c := range []struct {
		name string
		fd   int
		d    abi.Handle
		as   abi.Status // by OpenNativeFenceFromNtHandle
		mon  abi.Status // by OpenSyncObjectFromNtHandle2
	}{
		{"native on its adapter", f, native, abi.StatusSuccess, abi.StatusSuccess},
		{"native on another", f, other, abi.StatusSuccess, abi.StatusSuccess},
		{"native where there are none", f, plain, abi.StatusNotSupported, abi.StatusSuccess},
		{"native that does not cross", alone, other, abi.StatusInvalidParameter, abi.StatusInvalidParameter},
		{"monitored of an adapter without", m, native, abi.StatusSuccess, abi.StatusSuccess},
		{"monitored where there are none", m, plain, abi.StatusNotSupported, abi.StatusSuccess},
		{"monitored on its adapter", same, native, abi.StatusInvalidParameter, abi.StatusSuccess},
		{"monitored on another", same, other, abi.StatusSuccess, abi.StatusSuccess},
	} {
		if _, st := r.open(p, c.d, c.fd, 0); st != c.as {
			t.Errorf("%s, opened as native: %v, want %v", c.name, st, c.as)
		}
		if _, st := open(p, c.d, c.fd, 0); st != c.mon {
			t.Errorf("%s, opened as monitored: %v, want %v", c.name, st, c.mon)
		}
	}
}
