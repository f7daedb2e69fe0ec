package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

func TestPagingQueue(t *testing.T) {
	g := newGPURig(t)
	if g.queue.HPagingQueue == 0 || g.queue.HSyncObject == 0 || g.paged() != 7000 {
		t.Errorf("%+v shows %d", g.queue, g.paged())
	}
	if st := destroy(g.p, g.queue.HSyncObject); st != abi.StatusInvalidParameter {
		t.Errorf("destroy the fence: %v", st)
	}
	if st := signal(g.p, g.d, 0, handles(g.queue.HSyncObject), values(8000)); st != abi.StatusAccessDenied {
		t.Errorf("signal it: %v", st)
	}
	fd, e := g.event()
	if st := waitEvent(g.p, g.d, 0, fd, handles(g.queue.HSyncObject), values(7001)); !st.OK() {
		t.Fatal(st)
	}
	a := g.heap(3 * vidmm.PageSize)
	m, st := g.mapAt(0, a, 1, 2, abi.GpuProtectionWrite)
	if st != abi.StatusPending || m.PagingFenceValue != 7001 || g.paged() != 7000 || e.sets != 0 || g.sees(m.VirtualAddress) {
		t.Errorf("map: %v, value %d of %d, event %d, seen %v", st, g.paged(), m.PagingFenceValue, e.sets, g.sees(m.VirtualAddress))
	}
	g.k.Tick()
	if g.paged() != 7001 || e.sets != 1 || !g.sees(m.VirtualAddress) || g.sees(m.VirtualAddress+2*vidmm.PageSize) {
		t.Errorf("after its turn: value %d, event %d", g.paged(), e.sets)
	}
	if fault := g.space.Store64(0, m.VirtualAddress+8, 77); fault != nil {
		t.Error(fault)
	}
	if st := g.destroyAllocation(a); !st.OK() || g.sees(m.VirtualAddress) {
		t.Errorf("destroy the allocation: %v, still seen %v", st, g.sees(m.VirtualAddress))
	}
	fd, e = g.event()
	waitEvent(g.p, g.d, 0, fd, handles(g.queue.HSyncObject), values(9000))
	if _, st := do(g.p, 0x1C, &abi.DestroyPagingQueue{HPagingQueue: g.queue.HPagingQueue}, nil); !st.OK() || e.sets != 1 {
		t.Errorf("destroy: %v, event %d", st, e.sets)
	}
	if _, st := do(g.p, 0x1C, &abi.DestroyPagingQueue{HPagingQueue: g.queue.HPagingQueue}, nil); st != abi.StatusInvalidParameter {
		t.Errorf("again: %v", st)
	}
	g.p.Exit()
	if g.host.live != 0 {
		t.Errorf("%d memories left", g.host.live)
	}
}

func TestPagingQueueIsRefused(t *testing.T) {
	g := newGPURig(t)
	for _, c := range []abi.CreatePagingQueue{
		{HDevice: 0}, {HDevice: g.queue.HSyncObject}, {HDevice: g.d, Priority: 2}, {HDevice: g.d, Priority: -2}, {HDevice: g.d, PhysicalAdapterIndex: 1},
	} {
		before := c
		if _, st := do(g.p, 0x07, &c, nil); st != abi.StatusInvalidParameter || c != before {
			t.Errorf("%+v: %v", before, st)
		}
	}
	g.host.grant = abi.StatusNoMemory
	live := g.host.live
	if _, st := do(g.p, 0x07, &abi.CreatePagingQueue{HDevice: g.d}, nil); st != abi.StatusNoMemory || g.host.live != live {
		t.Errorf("no memory: %v, %d memories more", st, g.host.live-live)
	}
}

// TestPagingOrder: queues of higher priority come first, else what came first.
func TestPagingOrder(t *testing.T) {
	g := newGPURig(t)
	low := abi.CreatePagingQueue{HDevice: g.d, Priority: abi.PagingQueueBelowNormal}
	high := abi.CreatePagingQueue{HDevice: g.d, Priority: abi.PagingQueueAboveNormal}
	do(g.p, 0x07, &low, nil)
	do(g.p, 0x07, &high, nil)
	a := g.heap(vidmm.PageSize)
	base, _ := g.mapAt(0, a, 0, 1, 0)
	g.k.Tick()
	// The last that is done decides whether the address can be written.
	for i, q := range []abi.Handle{low.HPagingQueue, g.queue.HPagingQueue, high.HPagingQueue} {
		g.queue.HPagingQueue, q = q, g.queue.HPagingQueue
		protection := abi.GpuVirtualAddressProtectionType(0)
		if i == 0 {
			protection = abi.GpuProtectionWrite
		}
		if _, st := g.mapAt(base.VirtualAddress, a, 0, 1, protection); st != abi.StatusPending {
			t.Fatal(st)
		}
		g.queue.HPagingQueue = q
	}
	g.k.Tick()
	if fault := g.space.Store64(0, base.VirtualAddress, 1); fault != nil {
		t.Errorf("the queue of the lowest priority was not the last: %v", fault)
	}
}
