package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

func TestMapIsRefused(t *testing.T) {
	g := newGPURig(t)
	a := g.heap(2 * vidmm.PageSize)
	other := g.device(g.p, 0)
	far := abi.CreatePagingQueue{HDevice: other}
	do(g.p, 0x07, &far, nil)
	q := g.queue.HPagingQueue
	for name, rec := range map[string]abi.MapGpuVirtualAddress{
		"no queue":             {HAllocation: a, SizeInPages: 1},
		"a fence as queue":     {HPagingQueue: g.queue.HSyncObject, HAllocation: a, SizeInPages: 1},
		"nothing":              {HPagingQueue: q, HAllocation: a},
		"no allocation":        {HPagingQueue: q, SizeInPages: 1},
		"no such allocation":   {HPagingQueue: q, HAllocation: q, SizeInPages: 1},
		"another device":       {HPagingQueue: far.HPagingQueue, HAllocation: a, SizeInPages: 1},
		"more than there is":   {HPagingQueue: q, HAllocation: a, SizeInPages: 3},
		"behind its end":       {HPagingQueue: q, HAllocation: a, OffsetInPages: 2, SizeInPages: 1},
		"all there could be":   {HPagingQueue: q, HAllocation: a, SizeInPages: 1 << 63},
		"from far away":        {HPagingQueue: q, HAllocation: a, OffsetInPages: 1<<64 - 1, SizeInPages: 1},
		"odd":                  {HPagingQueue: q, HAllocation: a, SizeInPages: 1, BaseAddress: vidmm.HeapBase + 1},
		"protection":           {HPagingQueue: q, HAllocation: a, SizeInPages: 1, Protection: 1 << 5},
		"zeros of something":   {HPagingQueue: q, HAllocation: a, SizeInPages: 1, Protection: abi.GpuProtectionZero},
		"zeros and no access":  {HPagingQueue: q, SizeInPages: 1, Protection: abi.GpuProtectionZero | abi.GpuProtectionNoAccess},
		"on top of fences":     {HPagingQueue: q, HAllocation: a, SizeInPages: 1, BaseAddress: vidmm.FenceBase},
		"behind all addresses": {HPagingQueue: q, HAllocation: a, SizeInPages: 1, BaseAddress: 1 << 48},
	} {
		before := rec
		if _, st := do(g.p, 0x0C, &rec, nil); st != abi.StatusInvalidParameter || rec != before {
			t.Errorf("%s: %v", name, st)
		}
	}
	if bytes, _ := g.space.Size(); bytes != 0 || g.p.paging != 0 {
		t.Errorf("%d bytes of addresses are taken, %d operations queued", bytes, g.p.paging)
	}
}

// TestFreeBeforeTheTurn: what was to be mapped comes to nothing, and its fence value
// comes all the same.
func TestFreeBeforeTheTurn(t *testing.T) {
	g := newGPURig(t)
	a := g.heap(vidmm.PageSize)
	h := g.adapter()
	m, _ := g.mapAt(0, a, 0, 1, 0)
	if _, st := do(g.p, 0x20, &abi.FreeGpuVirtualAddress{HAdapter: h, BaseAddress: m.VirtualAddress, Size: vidmm.PageSize}, nil); !st.OK() {
		t.Fatal(st)
	}
	r := abi.ReserveGpuVirtualAddress{BaseAddress: m.VirtualAddress, Size: vidmm.PageSize}
	*r.HAdapter() = h
	if _, st := do(g.p, 0x08, &r, nil); !st.OK() {
		t.Fatal(st)
	}
	g.k.Tick()
	if g.paged() != m.PagingFenceValue || g.sees(m.VirtualAddress) {
		t.Errorf("value %d, seen %v", g.paged(), g.sees(m.VirtualAddress))
	}
	n, _ := g.mapAt(m.VirtualAddress, a, 0, 1, 0)
	g.destroyAllocation(a)
	g.k.Tick()
	if g.paged() != n.PagingFenceValue || g.sees(m.VirtualAddress) {
		t.Errorf("the allocation was destroyed: value %d, seen %v", g.paged(), g.sees(m.VirtualAddress))
	}
}

func TestReserve(t *testing.T) {
	g := newGPURig(t)
	h := g.adapter()
	for _, c := range []struct {
		handle   abi.Handle
		kind     abi.GpuVirtualAddressReservationType
		st       abi.Status
		readable bool
	}{
		{h, abi.GpuVirtualAddressReserveNoAccess, abi.StatusSuccess, false},
		{h, abi.GpuVirtualAddressReserveZero, abi.StatusSuccess, true},
		{h, abi.GpuVirtualAddressReserveNoCommit, abi.StatusSuccess, false},
		{g.queue.HPagingQueue, abi.GpuVirtualAddressReserveZero, abi.StatusSuccess, true},
		{h, 3, abi.StatusInvalidParameter, false},
		{0, 0, abi.StatusInvalidParameter, false},
		{g.d, 0, abi.StatusInvalidParameter, false},
	} {
		r := abi.ReserveGpuVirtualAddress{Size: vidmm.Granule}
		*r.HAdapter(), *r.ReservationType() = c.handle, uint32(c.kind)
		if _, st := do(g.p, 0x08, &r, nil); st != c.st || st.OK() && (r.VirtualAddress == 0 || g.sees(r.VirtualAddress) != c.readable) {
			t.Errorf("%#x, kind %v: %v, %#x", uint32(c.handle), c.kind, st, r.VirtualAddress)
		}
		if !c.st.OK() {
			continue
		}
		for _, f := range []abi.FreeGpuVirtualAddress{{BaseAddress: r.VirtualAddress, Size: vidmm.Granule}, {HAdapter: h, BaseAddress: r.VirtualAddress}, {HAdapter: h, BaseAddress: r.VirtualAddress + 1, Size: vidmm.PageSize}} {
			if _, st := do(g.p, 0x20, &f, nil); st != abi.StatusInvalidParameter {
				t.Errorf("free %+v: %v", f, st)
			}
		}
		if _, st := do(g.p, 0x20, &abi.FreeGpuVirtualAddress{HAdapter: h, BaseAddress: r.VirtualAddress, Size: vidmm.Granule}, nil); !st.OK() || g.sees(r.VirtualAddress) {
			t.Errorf("free: %v", st)
		}
	}
}

// TestForeignAllocation: private data of another driver does not say how much there is.
// Who maps it does.
func TestForeignAllocation(t *testing.T) {
	g := newGPURig(t)
	a, st := g.allocate(0, 0, []byte("another driver's"))
	if !st.OK() {
		t.Fatal(st)
	}
	lock := abi.Lock2{HDevice: g.d, HAllocation: a}
	if _, st := do(g.p, 0x25, &lock, nil); st != abi.StatusInvalidParameter {
		t.Errorf("lock before anybody knows its size: %v", st)
	}
	m, st := g.mapAt(0, a, 0, 4, abi.GpuProtectionWrite)
	g.k.Tick()
	if st != abi.StatusPending || !g.sees(m.VirtualAddress+3*vidmm.PageSize) {
		t.Errorf("map: %v", st)
	}
	q, st := do(g.p, 0x25, &lock, nil)
	if !st.OK() || len(q.Out) != 1 {
		t.Errorf("lock: %v", st)
	}
	if _, st := g.mapAt(0, a, 0, 5, 0); st != abi.StatusInvalidParameter {
		t.Errorf("map more than was made: %v", st)
	}
	b, _ := g.allocate(abi.AllocationExistingSysMem, 0x10000, []byte("another driver's"))
	if m, st := g.mapAt(0, b, 0, 1000, 0); st != abi.StatusPending {
		t.Errorf("map memory of the caller's: %v, %#x", st, m.VirtualAddress)
	}
	if _, st := g.resident(0, a, b); st != abi.StatusPending {
		t.Errorf("resident: %v", st)
	}
}
