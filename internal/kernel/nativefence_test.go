package kernel

import (
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// The order of native-fence.md §9.
func TestNativeFenceLife(t *testing.T) {
	r := newNativeRig(t, "native")
	a, b := r.process(), r.process()
	da, db := r.device(a, 0), r.device(b, 0)
	f := r.made(a, da, ntShared)
	r.told("create", "A create 1", "A open 2 of 1")
	if f.PrivateDriverData[0] != 1 {
		t.Error("the driver's private data did not come back")
	}
	fd, st := r.share(a, f.HSyncObject, object.SyncObjectAll)
	r.ok(st)
	g, st := r.open(b, db, fd, 0)
	r.ok(st)
	again := r.device(a, 0)
	h, st := r.open(a, again, fd, 0)
	r.ok(st)
	r.told("open", "A open 3 of 1", "A open 4 of 1")
	if f.Info.NativeFenceMapping != h.NativeFenceMapping {
		t.Errorf("another device of the process sees it at %+v, not %+v", h.NativeFenceMapping, f.Info.NativeFenceMapping)
	}
	if g.NativeFenceMapping.CurrentValueGpuVa == 0 || g.NativeFenceMapping.CurrentValueGpuVa&^4095 == g.NativeFenceMapping.MonitoredValueGpuVa&^4095 {
		t.Errorf("another process sees it at %+v", g.NativeFenceMapping)
	}
	r.ok(destroy(a, f.HSyncObject))
	r.told("the creator destroys", "A close 2")
	r.ok(destroyDevice(a, again))
	r.told("the second device ends", "A close 4")
	r.ok(destroy(b, g.HSyncObject))
	r.told("the last destroys", "A close 3", "A destroy 1")
	if n := len(r.k.adapters[0].natives); n != 0 {
		t.Errorf("%d are left", n)
	}
	if _, n := r.k.adapters[0].system.Size(); n != 0 {
		t.Errorf("the system process sees %d words of nothing", n)
	}
	// The NT handle has the object yet: it can be opened again, and the driver knows nothing.
	g, st = r.open(b, db, fd, 0)
	r.ok(st)
	r.told("open again", "A create 5", "A open 6 of 5")
	b.Exit()
	r.told("death", "A close 6", "A destroy 5")
}

func TestNativeFenceRefusals(t *testing.T) {
	r := newNativeRig(t, "native", "neutral", "amd")
	p := r.process()
	for _, c := range []struct {
		name    string
		adapter int
		typ     abi.NativeFenceType
		flags   abi.SyncObjectFlags
		want    abi.Status
	}{
		{"default", 0, 0, 0, abi.StatusSuccess},
		{"INTRA_GPU", 0, 1, 0, abi.StatusSuccess},
		{"INTRA_GPU that Windows does not have yet", 1, 1, 0, abi.StatusNotSupported},
		{"no such type", 0, 2, 0, abi.StatusInvalidParameter},
		{"INTRA_GPU across adapters", 0, 1, ntShared | abi.SyncObjectCrossAdapter, abi.StatusInvalidParameter},
		{"shared without NT handles", 0, 0, abi.SyncObjectShared, abi.StatusInvalidParameter},
		{"TopOfPipeline", 0, 0, abi.SyncObjectTopOfPipeline, abi.StatusInvalidParameter},
		{"no native fences", 2, 0, 0, abi.StatusNotSupported},
		{"no native fences, and bad flags", 2, 0, abi.SyncObjectTopOfPipeline, abi.StatusInvalidParameter},
	} {
		if _, st := r.create(p, r.device(p, c.adapter), c.typ, c.flags, 0); st != c.want {
			t.Errorf("%s: %v, want %v", c.name, st, c.want)
		}
	}
	d := r.device(p, 0)
	rec := abi.CreateNativeFence{HDevice: d, Flags: 1}
	if _, st := do(p, 0x800E, &rec, nil); st != abi.StatusInvalidParameter {
		t.Error("reserved flags:", st)
	}
	markAsError(p, d)
	if _, st := r.create(p, d, 0, 0, 0); st != abi.StatusDeviceRemoved {
		t.Error("lost device:", st)
	}
}

// Whoever waits yet when the fence has left the adapter is known to the driver when it
// comes back.
func TestNativeFenceComesBackWithWaiters(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	d := r.device(p, 0)
	f := r.made(p, d, ntShared|abi.SyncObjectUnwaitCpuWaitersOnlyOnDestroy)
	nt, st := r.share(p, f.HSyncObject, object.SyncObjectAll)
	r.ok(st)
	fd, e := r.event()
	r.ok(waitEvent(p, d, 0, fd, handles(f.HSyncObject), values(5)))
	r.ok(destroy(p, f.HSyncObject))
	r.told("gone", "A create 1", "A open 2 of 1", "A monitored 1 at 4", "A close 2", "A destroy 1")
	driver := r.drivers[0]
	_, st = r.open(p, d, nt, 0)
	r.ok(st)
	r.told("back", "A create 3", "A open 4 of 3", "A monitored 3 at 4")
	if fault := spaceOf(r.rig, p).Store64(0, driver.opened.CurrentValueGpuVa, 5); fault != nil {
		t.Fatal(fault)
	}
	driver.cb.NotifyInterrupt(ddi.NativeFenceSignaled{Fences: []ddi.DxgNativeFence{driver.created.Fence}})
	if e.sets != 1 {
		t.Error("the waiter is stuck")
	}
}

// A driver that refuses leaves nothing behind.
func TestNativeFenceDriverRefuses(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	d := r.device(p, 0)
	live := r.host.live
	for call, want := range map[string][]string{"create": {"A create 1"}, "open": {"A create 1", "A open 2 of 1", "A destroy 1"}} {
		r.drivers[0].refuse, r.drivers[0].next = call, 0
		if _, st := r.create(p, d, 0, ntShared, 0); st != abi.StatusNoMemory {
			t.Errorf("%s refused: %v", call, st)
		}
		r.told(call, want...)
	}
	if len(r.k.adapters[0].natives) != 0 || r.k.adapters[0].nativesMade.all != 0 || r.host.live != live {
		t.Error("something is left")
	}
}

// The device goes while the driver makes its side of a fence.
func TestNativeFenceDeviceGoesMeanwhile(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	for _, during := range []string{"create", "open"} {
		d := r.device(p, 0)
		r.drivers[0].next = 0
		r.drivers[0].inside = func(call string) {
			if call == during {
				r.ok(destroyDevice(p, d))
			}
		}
		if _, st := r.create(p, d, 0, 0, 0); st != abi.StatusInvalidParameter {
			t.Errorf("destroyed during %s: %v", during, st)
		}
		want := []string{"A create 1", "A open 2 of 1", "A close 2", "A destroy 1"}
		if during == "open" { // by then the driver knows the fence, and hears that it is gone
			want = slices.Insert(want, 2, "A current 1 at 4294967295 flags 1")
		}
		r.told(during, want...)
	}
	if len(r.k.adapters[0].natives) != 0 {
		t.Error("something is left")
	}
}

// Hardware queues have native progress fences, and their driver's side goes first.
func TestNativeProgressFence(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	d := r.device(p, 0)
	c := r.context(p, d, 0, abi.ContextHwQueueSupported)
	rec := abi.CreateHwQueue{HHwContext: c}
	_, st := do(p, 0x18, &rec, nil, nil)
	r.ok(st)
	if rec.Flags != abi.HwQueueNativeProgressFence {
		t.Errorf("flags %v", rec.Flags)
	}
	r.told("create", "A create 1", "A open 2 of 1", "A queue 3 on 1 flags NativeProgressFence")
	if st := destroy(p, rec.HHwQueueProgressFence); st != abi.StatusInvalidParameter {
		t.Error("the progress fence was destroyed:", st)
	}
	_, st = do(p, 0x1B, &abi.DestroyHwQueue{HHwQueue: rec.HHwQueue}, nil)
	r.ok(st)
	r.told("destroy", "A unqueue 3", "A close 2", "A destroy 1")
}

// A fence is gone while packets of its device may use its addresses yet: what a GPU has
// stalled for it goes on, and nobody looks at its memory any more (OQ-79).
func TestNativeFenceGoneBeforeItsPackets(t *testing.T) {
	g := newGPURig(t)
	release := g.hold()
	rec := abi.CreateNativeFence{HDevice: g.d, Info: abi.NativeFenceInfo{Flags: ntShared}}
	_, st := do(g.p, 0x800E, &rec, nil)
	g.ok(st)
	fd, e := g.event()
	g.ok(waitEvent(g.p, g.d, 0, fd, handles(rec.HSyncObject), values(9)))
	memory := g.k.adapters[0].natives
	var gone *fence
	for _, o := range memory {
		if o.native.fence.Kind() == abi.NativeFence && o.native.fence.Shared() {
			gone = o.native.fence
		}
	}
	g.ok(destroy(g.p, rec.HSyncObject))
	if e.sets != 1 {
		t.Error("the waiter was not released")
	}
	if gone == nil || gone.Backing().(*memMemory).freed != true || len(memory) == 0 {
		t.Fatalf("the fence is %v, and its driver's side is among %d", gone, len(memory))
	}
	gone.Backing().(*memMemory).cell.Init(77) // it is another's
	if v := gone.Value(); v != 0 {
		t.Errorf("its memory was read: %d", v)
	}
	g.k.Snapshot()
	release()
	if n := len(g.k.adapters[0].natives); n != 0 {
		t.Errorf("%d are left when the packets are complete", n)
	}
}
