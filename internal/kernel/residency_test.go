package kernel

import (
	"encoding/binary"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

func TestResidency(t *testing.T) {
	g := newGPURig(t)
	a, b := g.heap(vidmm.PageSize), g.heap(1000)
	if _, st := g.resident(abi.MakeResidentMustSucceed, a); st != abi.StatusInvalidParameter {
		t.Errorf("MustSucceed alone: %v", st)
	}
	for _, hs := range [][]abi.Handle{{}, {a, 0}, {a, g.d}} {
		if _, st := g.resident(0, hs...); st != abi.StatusInvalidParameter {
			t.Errorf("%v: %v", hs, st)
		}
	}
	states := func() (out [2]abi.AllocationResidencyStatus) {
		answer := make([]byte, 8)
		if _, st := do(g.p, 0x2A, &abi.QueryAllocationResidency{HDevice: g.d, AllocationCount: 2}, nil, handles(a, b), answer); !st.OK() {
			t.Fatal(st)
		}
		for i := range out {
			out[i] = abi.AllocationResidencyStatus(binary.LittleEndian.Uint32(answer[4*i:]))
		}
		return out
	}
	const no, yes = abi.ResidencyNotResident, abi.ResidencyResidentInSharedMemory
	usage := func() uint64 {
		q := abi.QueryVideoMemoryInfo{HAdapter: g.adapter()}
		if _, st := do(g.p, 0x0A, &q, nil); !st.OK() || q.Budget != 8192<<20 {
			t.Fatal(st, q.Budget)
		}
		return q.CurrentUsage
	}
	r, st := g.resident(abi.MakeResidentMustSucceed|abi.MakeResidentCantTrimFurther, a, b, a)
	if st != abi.StatusPending || r.PagingFenceValue != 7001 || states() != [2]abi.AllocationResidencyStatus{no, no} {
		t.Errorf("%v, value %d, %v", st, r.PagingFenceValue, states())
	}
	g.k.Tick()
	if states() != [2]abi.AllocationResidencyStatus{yes, yes} || usage() != 2*vidmm.PageSize {
		t.Errorf("after its turn: %v, %d bytes", states(), usage())
	}
	if r, st := g.resident(0, b); st != abi.StatusSuccess || r.PagingFenceValue != 0 {
		t.Errorf("already: %v, value %d", st, r.PagingFenceValue)
	}
	evict := func(hs ...abi.Handle) abi.Status {
		_, st := do(g.p, 0x1E, &abi.Evict{HDevice: g.d, NumAllocations: uint32(len(hs))}, nil, handles(hs...))
		return st
	}
	if st := evict(a, b); !st.OK() || states() != [2]abi.AllocationResidencyStatus{yes, yes} {
		t.Errorf("made resident twice, evicted once: %v, %v", st, states())
	}
	if st := evict(a, 0); st != abi.StatusInvalidParameter || states()[0] != yes {
		t.Errorf("a bad handle behind a good one: %v", st)
	}
	if st := evict(a, a, b); !st.OK() || states() != [2]abi.AllocationResidencyStatus{no, no} || usage() != 0 {
		t.Errorf("%v, %v, %d bytes", st, states(), usage())
	}
	g.resident(0, a)
	g.destroyAllocation(a)
	g.k.Tick()
	if n := g.k.adapters[0].resident; n != 0 {
		t.Errorf("%d bytes are resident of what is gone", n)
	}
}

// TestBudget: what does not fit into the segments is refused, and changes nothing.
func TestBudget(t *testing.T) {
	g := newGPURig(t)
	budget := g.k.adapters[0].budget()
	a, b := g.heap(budget-vidmm.PageSize), g.heap(2*vidmm.PageSize)
	if _, st := g.resident(0, a, b); st != abi.StatusNoMemory {
		t.Errorf("both: %v", st)
	}
	if _, st := g.resident(0, a); st != abi.StatusPending {
		t.Errorf("one: %v", st)
	}
	if _, st := g.resident(0, b); st != abi.StatusNoMemory {
		t.Errorf("the other: %v", st)
	}
	g.k.Tick()
	if g.paged() != 7001 {
		t.Errorf("value %d", g.paged())
	}
	if _, st := g.allocate(0, 0, standardData(maxHeap+1)); st != abi.StatusNoMemory {
		t.Errorf("larger than an allocation can be: %v", st)
	}
	for _, bad := range [][]byte{standardData(0), append([]byte("heap\x02\x00\x00\x00"), make([]byte, 8)...)} {
		if _, st := g.allocate(0, 0, bad); st != abi.StatusInvalidParameter {
			t.Errorf("private data %x: %v", bad, st)
		}
	}
}

func TestPriorities(t *testing.T) {
	g := newGPURig(t)
	a, b := g.heap(1), g.heap(1)
	get := func() [2]uint32 {
		answer := make([]byte, 8)
		if _, st := do(g.p, 0x3C, &abi.GetAllocationPriority{HDevice: g.d, AllocationCount: 2}, nil, handles(a, b), answer); !st.OK() {
			t.Fatal(st)
		}
		return [2]uint32{binary.LittleEndian.Uint32(answer), binary.LittleEndian.Uint32(answer[4:])}
	}
	if p := get(); p != [2]uint32{defaultPriority, defaultPriority} {
		t.Errorf("at first: %#x", p)
	}
	if _, st := do(g.p, 0x2E, &abi.SetAllocationPriority{HDevice: g.d, AllocationCount: 2}, nil, handles(a, 0), handles(1, 2)); st != abi.StatusInvalidParameter {
		t.Errorf("a bad handle: %v", st)
	}
	if _, st := do(g.p, 0x2E, &abi.SetAllocationPriority{HDevice: g.d, AllocationCount: 2}, nil, handles(a, b), handles(1, 2)); !st.OK() {
		t.Error(st)
	}
	if p := get(); p != [2]uint32{1, 2} {
		t.Errorf("then: %#x", p)
	}
	for _, rec := range []abi.GetAllocationPriority{{HDevice: g.d}, {HDevice: g.d, HResource: a, AllocationCount: 1}, {HDevice: g.d, HResource: a}, {AllocationCount: 1}} {
		if _, st := do(g.p, 0x3C, &rec, nil, handles(a), make([]byte, 4)); st != abi.StatusInvalidParameter {
			t.Errorf("%+v: %v", rec, st)
		}
	}
}

func TestVideoMemoryInfo(t *testing.T) {
	g := newGPURig(t)
	h := g.adapter()
	for _, c := range []struct {
		rec abi.QueryVideoMemoryInfo
		st  abi.Status
	}{
		{abi.QueryVideoMemoryInfo{HAdapter: h}, abi.StatusSuccess},
		{abi.QueryVideoMemoryInfo{HAdapter: h, HProcess: currentProcess, MemorySegmentGroup: abi.SegmentGroupNonLocal}, abi.StatusSuccess},
		{abi.QueryVideoMemoryInfo{HAdapter: h, HProcess: 5}, abi.StatusInvalidHandle},
		{abi.QueryVideoMemoryInfo{HAdapter: 0, HProcess: 5}, abi.StatusInvalidParameter},
		{abi.QueryVideoMemoryInfo{HAdapter: h, MemorySegmentGroup: 2}, abi.StatusInvalidParameter},
		{abi.QueryVideoMemoryInfo{HAdapter: h, PhysicalAdapterIndex: 1}, abi.StatusInvalidParameter},
	} {
		if _, st := do(g.p, 0x0A, &c.rec, nil); st != c.st || st.OK() && c.rec.Budget == 0 {
			t.Errorf("%+v: %v", c.rec, st)
		}
	}
	change := abi.ChangeVideoMemoryReservation{HAdapter: h, Reservation: 4096 << 20}
	if _, st := do(g.p, 0x16, &change, nil); !st.OK() {
		t.Error(st)
	}
	q := abi.QueryVideoMemoryInfo{HAdapter: h}
	if do(g.p, 0x0A, &q, nil); q.CurrentReservation != 4096<<20 || q.AvailableForReservation != 4096<<20 {
		t.Errorf("%+v", q)
	}
	if change.Reservation++; true {
		if _, st := do(g.p, 0x16, &change, nil); st != abi.StatusInvalidParameter {
			t.Errorf("more than half: %v", st)
		}
	}
}

// TestOffer: what is offered is not lost.
func TestOffer(t *testing.T) {
	g := newGPURig(t)
	a := g.heap(vidmm.PageSize)
	good := abi.OfferAllocations{HDevice: g.d, NumAllocations: 1, Priority: abi.OfferPriorityLow}
	offer := func(rec abi.OfferAllocations, resources, allocations []byte) abi.Status {
		_, st := do(g.p, 0x27, &rec, nil, resources, allocations)
		return st
	}
	if st := offer(good, nil, handles(a)); !st.OK() {
		t.Error(st)
	}
	for name, st := range map[string]abi.Status{
		"both lists": offer(good, handles(a), handles(a)), "no list": offer(good, nil, nil), "no resource": offer(good, handles(a), nil),
		"no allocation": offer(good, nil, handles(g.d)),
		"priority":      offer(abi.OfferAllocations{HDevice: g.d, NumAllocations: 1}, nil, handles(a)),
		"flags":         offer(abi.OfferAllocations{HDevice: g.d, NumAllocations: 1, Priority: 1, Flags: 4}, nil, handles(a)),
		"device":        offer(abi.OfferAllocations{NumAllocations: 1, Priority: 1}, nil, handles(a)),
		"nothing":       offer(abi.OfferAllocations{HDevice: g.d, Priority: 1}, nil, []byte{}),
	} {
		if st != abi.StatusInvalidParameter {
			t.Errorf("%s: %v", name, st)
		}
	}
	results := handles(9)
	rec := abi.ReclaimAllocations2{HPagingQueue: g.queue.HPagingQueue, NumAllocations: 1, PagingFenceValue: 5}
	if _, st := do(g.p, 0x2C, &rec, nil, nil, handles(a), results); !st.OK() || rec.PagingFenceValue != 0 || results[0] != 0 {
		t.Errorf("reclaim: %v, value %d, result %d", st, rec.PagingFenceValue, results[0])
	}
	if _, st := do(g.p, 0x2C, &abi.ReclaimAllocations2{NumAllocations: 1}, nil, nil, handles(a)); st != abi.StatusInvalidParameter {
		t.Errorf("reclaim without a queue: %v", st)
	}
}
