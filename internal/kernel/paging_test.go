package kernel

import (
	"encoding/binary"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// gpuRig is a process with a device, a paging queue and short forms of the calls.
type gpuRig struct {
	*rig
	p     *Process
	d     abi.Handle
	queue abi.CreatePagingQueue
	space *vidmm.Space
}

func newGPURig(t *testing.T) *gpuRig {
	t.Helper()
	g := &gpuRig{rig: newRig(t)}
	g.p = g.process()
	g.d = g.device(g.p, 0)
	g.queue = abi.CreatePagingQueue{HDevice: g.d}
	if _, st := do(g.p, 0x07, &g.queue, nil); !st.OK() {
		t.Fatal("CreatePagingQueue:", st)
	}
	g.space = spaceOf(g.rig, g.p)
	return g
}

// adapter opens the adapter.
func (g *gpuRig) adapter() abi.Handle {
	g.t.Helper()
	a := abi.OpenAdapterFromLuid{AdapterLuid: g.k.adapters[0].LUID}
	if _, st := do(g.p, 0x01, &a, nil); !st.OK() {
		g.t.Fatal(st)
	}
	return a.HAdapter
}

// heap makes an allocation of so many bytes.
func (g *gpuRig) heap(size uint64) abi.Handle {
	g.t.Helper()
	h, st := g.allocate(0, 0, standardData(size))
	if !st.OK() {
		g.t.Fatal("CreateAllocation2:", st)
	}
	return h
}

func (g *gpuRig) allocate(flags abi.CreateAllocationFlags, system uint64, data []byte) (abi.Handle, abi.Status) {
	info := make([]byte, abi.SizeofAllocationInfo2)
	binary.LittleEndian.PutUint64(info[8:], system)
	binary.LittleEndian.PutUint32(info[24:], uint32(len(data)))
	rec := abi.CreateAllocation2{HDevice: g.d, NumAllocations: 1, Flags: flags}
	_, st := do(g.p, 0x06, &rec, nil, nil, nil, nil, info, data)
	return abi.Handle(binary.LittleEndian.Uint32(info)), st
}

func (g *gpuRig) destroyAllocation(h abi.Handle) abi.Status {
	_, st := do(g.p, 0x13, &abi.DestroyAllocation2{HDevice: g.d, AllocationCount: 1}, nil, handles(h))
	return st
}

func (g *gpuRig) mapAt(base uint64, h abi.Handle, offset, size uint64, protection abi.GpuVirtualAddressProtectionType) (abi.MapGpuVirtualAddress, abi.Status) {
	rec := abi.MapGpuVirtualAddress{HPagingQueue: g.queue.HPagingQueue, BaseAddress: base, HAllocation: h, OffsetInPages: offset, SizeInPages: size, Protection: protection}
	_, st := do(g.p, 0x0C, &rec, nil)
	return rec, st
}

func (g *gpuRig) resident(flags abi.MakeResidentFlags, hs ...abi.Handle) (abi.MakeResident, abi.Status) {
	rec := abi.MakeResident{HPagingQueue: g.queue.HPagingQueue, NumAllocations: uint32(len(hs)), Flags: flags}
	_, st := do(g.p, 0x0B, &rec, nil, handles(hs...))
	return rec, st
}

func (g *gpuRig) paged() uint64 { return g.value(g.p, g.queue.HSyncObject) }

func (g *gpuRig) sees(va uint64) bool {
	_, fault := g.space.Load64(0, va)
	return fault == nil
}

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

func TestLock(t *testing.T) {
	g := newGPURig(t)
	a := g.heap(vidmm.PageSize)
	lock := func(flags abi.Lock2Flags, d, h abi.Handle) (*abi.Request, abi.Lock2, abi.Status) {
		rec := abi.Lock2{HDevice: d, HAllocation: h, Flags: flags}
		q, st := do(g.p, 0x25, &rec, nil)
		return q, rec, st
	}
	unlock := func(h abi.Handle) abi.Status {
		_, st := do(g.p, 0x37, &abi.Unlock2{HDevice: g.d, HAllocation: h}, nil)
		return st
	}
	for _, bad := range []struct {
		flags abi.Lock2Flags
		d, a  abi.Handle
	}{{1, g.d, a}, {0, 0, a}, {0, g.d, 0}, {0, g.device(g.p, 0), a}, {0, g.d, g.queue.HSyncObject}} {
		if _, _, st := lock(bad.flags, bad.d, bad.a); st != abi.StatusInvalidParameter {
			t.Errorf("%+v: %v", bad, st)
		}
	}
	if st := unlock(a); st != abi.StatusInvalidParameter {
		t.Errorf("unlock what is not locked: %v", st)
	}
	for range 2 {
		q, rec, st := lock(0, g.d, a)
		if !st.OK() || rec.PData != 0 || len(q.Out) != 1 {
			t.Fatalf("%v, %#x, %d descriptors", st, rec.PData, len(q.Out))
		}
	}
	if a, b, c := unlock(a), unlock(a), unlock(a); !a.OK() || !b.OK() || c != abi.StatusInvalidParameter {
		t.Errorf("locked twice: %v, %v, %v", a, b, c)
	}
	own, st := g.allocate(abi.AllocationExistingSysMem, 0x1234000, standardData(vidmm.PageSize))
	if !st.OK() {
		t.Fatal(st)
	}
	if q, rec, st := lock(0, g.d, own); !st.OK() || rec.PData != 0x1234000 || len(q.Out) != 0 {
		t.Errorf("memory of the caller's: %v, %#x", st, rec.PData)
	}
	for _, c := range []struct {
		rec abi.InvalidateCache
		st  abi.Status
	}{
		{abi.InvalidateCache{HDevice: g.d, HAllocation: a, Length: vidmm.PageSize}, abi.StatusSuccess},
		{abi.InvalidateCache{HDevice: g.d, HAllocation: a, Offset: 1, Length: vidmm.PageSize}, abi.StatusInvalidParameter},
		{abi.InvalidateCache{HDevice: g.d, HAllocation: a, Offset: 1 << 63, Length: 1 << 63}, abi.StatusInvalidParameter},
		{abi.InvalidateCache{HDevice: g.d}, abi.StatusInvalidParameter},
	} {
		if _, st := do(g.p, 0x24, &c.rec, nil); st != c.st {
			t.Errorf("%+v: %v", c.rec, st)
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

// TestDeviceTakesItsMemoryAlong: nothing of it is left, nothing of others goes.
func TestDeviceTakesItsMemoryAlong(t *testing.T) {
	g := newGPURig(t)
	a := g.heap(vidmm.PageSize)
	m, _ := g.mapAt(0, a, 0, 1, abi.GpuProtectionWrite)
	g.resident(0, a)
	g.k.Tick()
	if g.space.Store64(0, m.VirtualAddress, 1) != nil {
		t.Fatal("a fault")
	}
	g.mapAt(0, a, 0, 1, 0)
	g.resident(0, g.heap(vidmm.PageSize))
	if _, st := do(g.p, 0x19, &abi.DestroyDevice{HDevice: g.d}, nil); !st.OK() {
		t.Fatal(st)
	}
	g.k.Tick()
	if g.sees(m.VirtualAddress) || g.p.paging != 0 || g.k.adapters[0].resident != 0 || g.host.live != 0 {
		t.Errorf("seen %v, %d operations, %d bytes resident, %d memories", g.sees(m.VirtualAddress), g.p.paging, g.k.adapters[0].resident, g.host.live)
	}
}

// TestLostDevice: what could not be made resident though it had to loses the device.
// Then nothing new is done, what ends something still is, and nobody waits in vain.
func TestLostDevice(t *testing.T) {
	g := newGPURig(t)
	a := g.heap(vidmm.PageSize)
	big := g.heap(g.k.adapters[0].budget() + vidmm.PageSize)
	m, _ := g.mapAt(0, a, 0, 1, 0)
	if _, st := g.resident(abi.MakeResidentMustSucceed|abi.MakeResidentCantTrimFurther, big); st != abi.StatusNoMemory {
		t.Fatal(st)
	}
	state := abi.GetDeviceState{HDevice: g.d, StateType: abi.DeviceStateExecution}
	if _, st := do(g.p, 0x0E, &state, nil); !st.OK() || abi.DeviceExecutionState(state.State[0]) != abi.DeviceExecutionOutOfMemory {
		t.Errorf("%v, state %d", st, state.State[0])
	}
	if g.paged() != 1<<64-1 {
		t.Errorf("the paging fence shows %d", g.paged())
	}
	g.k.Tick()
	if _, st := g.mapAt(0, a, 0, 1, 0); st != abi.StatusDeviceRemoved {
		t.Errorf("map: %v", st)
	}
	if _, st := g.resident(0, a); st != abi.StatusDeviceRemoved {
		t.Errorf("make resident: %v", st)
	}
	if _, st := do(g.p, 0x07, &abi.CreatePagingQueue{HDevice: g.d}, nil); st != abi.StatusDeviceRemoved {
		t.Errorf("another queue: %v", st)
	}
	if _, st := do(g.p, 0x25, &abi.Lock2{HDevice: g.d, HAllocation: a}, nil); st != abi.StatusDeviceRemoved {
		t.Errorf("lock: %v", st)
	}
	if _, st := do(g.p, 0x20, &abi.FreeGpuVirtualAddress{HAdapter: g.adapter(), BaseAddress: m.VirtualAddress, Size: vidmm.PageSize}, nil); !st.OK() {
		t.Errorf("free: %v", st)
	}
	if _, st := do(g.p, 0x1C, &abi.DestroyPagingQueue{HPagingQueue: g.queue.HPagingQueue}, nil); !st.OK() {
		t.Errorf("destroy the queue: %v", st)
	}
	if st := g.destroyAllocation(a); !st.OK() {
		t.Errorf("destroy the allocation: %v", st)
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
