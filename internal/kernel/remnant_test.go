package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// hold queues a command buffer behind a wait, on a new context of the device. The result
// ends both.
func (g *gpuRig) hold() (release func()) {
	g.t.Helper()
	s := stream{g.p, g.d, g.rig.context(g.p, g.d, 0, 0)}
	f := g.fence(g.p, g.d, 0, 0)
	g.ok(s.waitGpu(handles(f), values(1)))
	rec := abi.SubmitCommand{BroadcastContextCount: 1}
	rec.BroadcastContext[0] = s.c
	_, st := do(g.p, 0x0F, &rec, nil)
	g.ok(st)
	return func() {
		g.t.Helper()
		g.ok(signal(g.p, g.d, 0, handles(f), values(1)))
		g.k.Tick()
	}
}

// A fence that is destroyed while command buffers are queued keeps its address for them,
// and for none that come later: loads give the last value, stores go nowhere.
func TestAddressOfADestroyedFence(t *testing.T) {
	g := newGPURig(t)
	f := g.fence(g.p, g.d, 0, 7)
	va := gpuOf(g.p, f)
	first := g.hold()
	g.ok(destroy(g.p, f))
	second := g.hold()
	if fault := g.space.Store64(0, va, 9); fault != nil {
		t.Error("store:", fault)
	}
	if fault := g.space.Store32(0, va, 1); fault != nil {
		t.Error("store of a lower value:", fault)
	}
	if v, fault := g.space.Load64(0, va); fault != nil || v != 7 {
		t.Errorf("load: %d, %v", v, fault)
	}
	if g.p.remnants != 1 {
		t.Errorf("%d remnants", g.p.remnants)
	}
	first()
	if g.sees(va) || g.p.remnants != 0 {
		t.Error("it is kept for what came later")
	}
	second()
}

// What queued work stores to a fence that others have is seen by them, as a queued signal
// is; the last value of all is no reason for the fence to stay.
func TestAddressOfADestroyedSharedFence(t *testing.T) {
	g := newGPURig(t)
	other := g.process()
	d := g.device(other, 0)
	f := g.fence(g.p, g.d, shareable, 7)
	theirs := g.lend(g.p, f, other, d)
	fd, e := g.event()
	g.ok(waitEvent(other, d, 0, fd, handles(theirs), values(9)))
	va := gpuOf(g.p, f)
	release := g.hold()
	g.ok(destroy(g.p, f))
	for _, v := range []uint64{8, 3, 9} {
		if fault := g.space.Store64(0, va, v); fault != nil || g.value(other, theirs) != v {
			t.Errorf("store %d: %v, the other sees %d", v, fault, g.value(other, theirs))
		}
	}
	if scan(g.rig); e.sets != 1 {
		t.Error("the other waits in vain")
	}
	g.ok(destroy(other, theirs))
	if fault := g.space.Store64(0, va, 10); fault != nil {
		t.Error("store when the other has gone, too:", fault)
	}
	if release(); g.sees(va) || g.p.remnants != 0 {
		t.Error("the fence stays")
	}
}

// Memory of an allocation stays for packets that are queued, unless AssumeNotInUse; its
// mapping may even come yet.
func TestMemoryOfADestroyedAllocation(t *testing.T) {
	g := newGPURig(t)
	mapped := func() (abi.Handle, uint64) {
		a := g.heap(vidmm.PageSize)
		m, _ := g.mapAt(0, a, 0, 1, abi.GpuProtectionWrite)
		return a, m.VirtualAddress
	}
	kept, at := mapped()
	spared, gone := mapped()
	g.k.Tick()
	late, later := mapped()
	release := g.hold()
	before := g.host.live
	for _, va := range []uint64{at, gone} {
		if fault := g.space.Store64(0, va, 5); fault != nil {
			t.Fatal(fault)
		}
	}
	if _, st := do(g.p, 0x13, &abi.DestroyAllocation2{HDevice: g.d, AllocationCount: 1, Flags: abi.DestroyAllocationAssumeNotInUse}, nil, handles(spared)); !st.OK() || g.sees(gone) {
		t.Errorf("AssumeNotInUse: %v, seen %v", st, g.sees(gone))
	}
	g.ok(g.destroyAllocation(kept))
	g.ok(g.destroyAllocation(late))
	if g.k.Tick(); !g.sees(later) {
		t.Error("what is queued on the paging queue does not happen")
	}
	if v, fault := g.space.Load64(0, at); fault != nil || v != 5 || g.host.live != before+2 {
		t.Errorf("load: %d, %v, %d memories of %d", v, fault, g.host.live, before)
	}
	if st := g.destroyAllocation(kept); st != abi.StatusInvalidParameter {
		t.Errorf("again: %v", st)
	}
	if release(); g.sees(at) || g.sees(later) || g.host.live != before || g.p.remnants != 0 {
		t.Errorf("it stays: %d memories of %d", g.host.live, before)
	}
}

// Remnants count as handles, and go with their device or process whatever is queued.
func TestRemnantsAreBounded(t *testing.T) {
	for name, end := range map[string]func(g *gpuRig){
		"the device":  func(g *gpuRig) { g.ok(destroyDevice(g.p, g.d)) },
		"the process": func(g *gpuRig) { g.p.Exit() },
		"its loss":    func(g *gpuRig) { g.ok(markAsError(g.p, g.d)); g.p.Exit() },
	} {
		g := newGPURig(t)
		g.hold()
		const most = 20
		g.p.table.Limit(most)
		n := 0
		for ; n <= most; n++ {
			rec := abi.CreateSynchronizationObject2{HDevice: g.d}
			rec.Info.Type = abi.MonitoredFence
			_, st := do(g.p, 0x10, &rec, nil)
			if st == abi.StatusNoMemory {
				break
			}
			g.ok(st)
			g.ok(destroy(g.p, rec.HSyncObject))
		}
		if used := g.p.table.Len(); n == 0 || used+n != most {
			t.Errorf("%d fences and %d handles, the limit is %d", n, used, most)
		}
		if end(g); g.p.remnants != 0 {
			t.Errorf("%d remnants are left after %s", g.p.remnants, name)
		}
		if g.p.Exit(); g.host.live != 0 {
			t.Errorf("%d memories are left after %s", g.host.live, name)
		}
	}
}

func destroyDevice(p *Process, d abi.Handle) abi.Status {
	_, st := do(p, 0x19, &abi.DestroyDevice{HDevice: d}, nil)
	return st
}
