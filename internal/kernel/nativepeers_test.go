package kernel

import (
	"fmt"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// GPUs that can kick each other need no interrupt, until one comes that cannot.
func TestDirectSignal(t *testing.T) {
	r := newNativeRig(t, "native", "native", "native")
	r.drivers[0].more, r.drivers[1].more = ddi.DirectSignal, ddi.DirectSignal
	p := r.process()
	d0, d1, d2 := r.device(p, 0), r.device(p, 1), r.device(p, 2)
	f := r.made(p, d0, ntShared|abi.SyncObjectCrossAdapter)
	nt, st := r.share(p, f.HSyncObject, object.SyncObjectAll)
	r.ok(st)
	g, st := r.open(p, d1, nt, 0)
	r.ok(st)
	a, b := r.drivers[0].created, r.drivers[1].created
	if a.Peers == nil || b.Peers == nil {
		t.Fatal("no peers")
	}
	r.trace = nil
	a.Peers.Kick(a.Fence)
	r.told("A signals", "B kick "+fmt.Sprint(uint64(b.Fence)))
	b.Peers.Kick(b.Fence)
	r.told("B signals", "A kick "+fmt.Sprint(uint64(a.Fence)))
	for _, n := range r.k.Snapshot().Natives {
		if !n.Direct || n.Monitored != 1<<64-1 {
			t.Errorf("nobody waits: %+v", n)
		}
	}
	fd, e := r.event()
	r.ok(waitEvent(p, d0, 0, fd, handles(f.HSyncObject), values(5)))
	r.told("a CPU waits", "A monitored 1 at 4", "B monitored 1 at 4")
	space := p.spaces[r.k.adapters[1]]
	interrupt := func(v uint64) {
		t.Helper()
		if fault := space.Store64(0, g.NativeFenceMapping.CurrentValueGpuVa, v); fault != nil {
			t.Fatal(fault)
		}
		r.drivers[1].cb.NotifyInterrupt(ddi.NativeFenceSignaled{Fences: []ddi.DxgNativeFence{b.Fence}})
		r.k.Tick()
	}
	interrupt(5)
	if e.sets != 1 {
		t.Error("the waiter is stuck")
	}
	r.told("the GPU of B reaches it", "A monitored 1 at -1", "B monitored 1 at -1")
	// A CPU's signal is told as ever.
	r.ok(signal(p, d1, 0, handles(g.HSyncObject), values(6)))
	r.told("a CPU of B", "A current 1 at 0 flags 2", "B current 1 at 6 flags 0")

	// The third driver has to be told by the kernel.
	h, st := r.open(p, d2, nt, 0)
	r.ok(st)
	r.told("C opens", "A monitored 1 at 0", "B current 1 at 0 flags 2", "B monitored 1 at 0", "C create 1", "A current 1 at 0 flags 2", "C open 2 of 1")
	if r.drivers[2].created.Peers != nil {
		t.Error("C has peers")
	}
	interrupt(7)
	r.told("the GPU of B", "A current 1 at 0 flags 2", "C current 1 at 0 flags 2")
	r.ok(destroy(p, h.HSyncObject))
	r.ok(waitEvent(p, d0, 0, fd, handles(f.HSyncObject), values(9)))
	r.told("C goes: it stays so", "C close 2", "C destroy 1")
	a.Peers.Kick(a.Fence)
	r.told("A signals yet", "B kick "+fmt.Sprint(uint64(b.Fence)))
	r.ok(destroy(p, g.HSyncObject))
	r.trace = nil
	a.Peers.Kick(a.Fence)
	r.told("A is alone")
}

// What a CPU waits for while a driver makes its side of the fence it is told afterwards.
func TestMonitoredValueWhileOpened(t *testing.T) {
	r := newNativeRig(t, "native", "native")
	r.drivers[0].more, r.drivers[1].more = ddi.DirectSignal, ddi.DirectSignal
	p := r.process()
	d0, d1 := r.device(p, 0), r.device(p, 1)
	f := r.made(p, d0, ntShared|abi.SyncObjectCrossAdapter)
	nt, st := r.share(p, f.HSyncObject, object.SyncObjectAll)
	r.ok(st)
	fd, _ := r.event()
	r.drivers[1].inside = func(call string) {
		if call == "create" {
			r.ok(waitEvent(p, d0, 0, fd, handles(f.HSyncObject), values(5)))
		}
	}
	r.trace = nil
	_, st = r.open(p, d1, nt, 0)
	r.ok(st)
	r.told("open", "B create 1", "A monitored 1 at 4", "B open 2 of 1", "B monitored 1 at 4")
}
