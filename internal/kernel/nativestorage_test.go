package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// Where values may be: native-fence.md §2, §4.
func TestNativeStorage(t *testing.T) {
	for _, c := range []struct {
		name               string
		typ                abi.NativeFenceType
		flags              abi.SyncObjectFlags
		optimized          bool
		likes              ddi.Storage
		current, monitored string
	}{
		{"default", 0, 0, false, ddi.VideoStorage, "system", "system"},
		{"optimized", 0, 0, true, ddi.VideoStorage, "system", "video"},
		{"optimized, a driver that does not like it", 0, 0, true, ddi.SystemStorage, "system", "system"},
		{"optimized and shared", 0, ntShared, true, ddi.VideoStorage, "system", "system"},
		{"INTRA_GPU", 1, 0, false, ddi.VideoStorage, "video", "video"},
		{"INTRA_GPU, shared", 1, ntShared, false, ddi.VideoStorage, "system", "system"},
	} {
		r := newNativeRig(t, "native")
		p := r.process()
		d := r.device(p, 0)
		r.k.adapters[0].Profile.NativeFence.OptimizedDefault = c.optimized
		r.drivers[0].storage = c.likes
		if _, st := r.create(p, d, c.typ, c.flags, 0); !st.OK() {
			t.Fatal(c.name, st)
		}
		if n := r.k.Snapshot().Natives; len(n) != 1 || n[0].CurrentStored != c.current || n[0].MonitoredStored != c.monitored {
			t.Errorf("%s: %+v", c.name, n)
		}
		p.Exit()
		if a := r.k.adapters[0]; a.nativeVideo != 0 || len(p.nativeVideo) != 0 {
			t.Errorf("%s: %d bytes of video memory are left", c.name, a.nativeVideo)
		}
	}
}

// Video memory is for what is resident; values of fences leave it when there is no room, and
// nothing else of them changes.
func TestNativeStorageUnderPressure(t *testing.T) {
	r := newNativeRig(t, "native")
	a := r.k.adapters[0]
	a.Profile.Memory.DedicatedVideo = 1 // MiB
	a.Profile.Memory.SharedSystem = 16
	r.drivers[0].storage = ddi.VideoStorage
	r.drivers[0].caps.MonitoredValueStride = 4096
	g := &gpuRig{rig: r.rig, p: r.process()}
	g.d = r.device(g.p, 0)
	g.queue = abi.CreatePagingQueue{HDevice: g.d}
	_, st := do(g.p, 0x07, &g.queue, nil)
	r.ok(st)
	inVideo := func() (list []bool) {
		for _, n := range r.k.Snapshot().Natives {
			list = append(list, n.CurrentStored == "video")
			if n.CurrentStored != n.MonitoredStored {
				t.Errorf("%+v", n)
			}
		}
		return list
	}
	count := func(list []bool) (n int) {
		for _, video := range list {
			if video {
				n++
			}
		}
		return n
	}
	// Each INTRA_GPU fence has two pages: 128 fit, and the 129th goes elsewhere.
	const fit = 1 << 20 / 8192
	var first, last abi.CreateNativeFence
	for i := range fit + 1 {
		f, st := r.create(g.p, g.d, abi.NativeFenceIntraGPU, 0, 0)
		r.ok(st)
		if i == 0 {
			first = f
		}
		last = f
	}
	if list := inVideo(); count(list) != fit || list[fit] || g.used() != 1<<20 {
		t.Errorf("%d in video memory, the last %v, %d bytes used", count(list), list[fit], g.used())
	}
	va := first.Info.NativeFenceMapping.CurrentValueGpuVa
	space := spaceOf(r.rig, g.p)
	if fault := space.Store64(0, va, 77); fault != nil {
		t.Fatal(fault)
	}
	h := g.heap(512 << 10)
	if _, st := g.resident(0, h); st != abi.StatusPending {
		t.Fatal(st)
	}
	list := inVideo()
	if count(list) != fit/2 || list[0] || !list[fit-1] || g.used() != 1<<20 {
		t.Errorf("with 512 KiB resident: %d in video memory, the first %v, %d bytes used", count(list), list[0], g.used())
	}
	if v, fault := space.Load64(0, va); v != 77 || fault != nil {
		t.Errorf("the first is %d, %v", v, fault)
	}
	if _, st := g.resident(0, g.heap(4<<20)); st != abi.StatusPending {
		t.Fatal("what fits into system memory:", st)
	}
	if n := count(inVideo()); n != 0 {
		t.Errorf("%d in video memory that is full", n)
	}
	if _, st := do(g.p, 0x1E, &abi.Evict{HDevice: g.d, NumAllocations: 1}, nil, handles(h)); !st.OK() {
		t.Fatal(st)
	}
	if n := count(inVideo()); n != 0 || a.nativeVideo != 0 {
		t.Errorf("%d came back", n)
	}
	r.ok(destroy(g.p, last.HSyncObject))
	r.ok(destroyDevice(g.p, g.d))
	if a.nativeVideo != 0 || a.resident != 0 || len(a.natives) != 0 {
		t.Errorf("%d and %d bytes, %d fences are left", a.nativeVideo, a.resident, len(a.natives))
	}
}

// used is CurrentUsage of the local segment group.
func (g *gpuRig) used() uint64 {
	g.t.Helper()
	rec := abi.QueryVideoMemoryInfo{HAdapter: g.adapter(), MemorySegmentGroup: abi.SegmentGroupLocal}
	if _, st := do(g.p, 0x0A, &rec, nil); !st.OK() {
		g.t.Fatal(st)
	}
	return rec.CurrentUsage
}

// A listing has fences as GPUs see them, of a user only what is his.
func TestNativesInListings(t *testing.T) {
	r := newNativeRig(t, "native", "native")
	attach := func(uid uint32) *Process {
		p, st := r.k.Attach(ProcessInfo{PID: int(uid), UID: uid})
		r.ok(st)
		return p
	}
	p, q := attach(1), attach(2)
	d, e := r.device(p, 0), r.device(q, 1)
	f := r.made(p, d, 0)
	nt, st := r.share(p, r.made(p, d, ntShared|abi.SyncObjectCrossAdapter).HSyncObject, 0x1F0003)
	r.ok(st)
	_, st = r.open(q, e, nt, 0)
	r.ok(st)
	fd, _ := r.event()
	r.ok(signal(p, d, 0, handles(f.HSyncObject), values(3)))
	r.ok(waitEvent(p, d, 0, fd, handles(f.HSyncObject), values(8)))
	s := r.k.Snapshot()
	if len(s.Natives) != 3 {
		t.Fatalf("%+v", s.Natives)
	}
	one, cross, other := s.Natives[0], s.Natives[1], s.Natives[2]
	if one.Type != "DEFAULT" || one.Value != 3 || one.Monitored != 7 || one.Crosses || one.Opens != 1 || one.Adapter != r.k.adapters[0].LUID.String() {
		t.Errorf("%+v", one)
	}
	if cross.Object != other.Object || cross.Adapter == other.Adapter || !cross.Crosses || cross.Direct || cross.Monitored != 0 {
		t.Errorf("%+v and %+v", cross, other)
	}
	if n := s.Of(2).Natives; len(n) != 1 || n[0].Adapter != other.Adapter {
		t.Errorf("the second user sees %+v", n)
	}
}
