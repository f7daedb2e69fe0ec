package kernel

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// Memory of allocations is the system's and always there. What is resident is counted,
// as it would fill the segments of the adapter, and decides nothing else.

// allocationsOf finds a list of allocations of a device. The lock is held.
func (p *Process) allocationsOf(d *device, count uint32, list []byte) ([]*allocationLocal, abi.Status) {
	all := make([]*allocationLocal, count)
	for i := range all {
		a, ok := object.Get[*allocationLocal](&p.table, abi.Handle(binary.LittleEndian.Uint32(list[4*i:])))
		if !ok || a.device != d {
			return nil, abi.StatusInvalidParameter
		}
		all[i] = a
	}
	return all, abi.StatusSuccess
}

// budget is how many bytes of an adapter can be resident.
func (a *Adapter) budget() uint64 {
	m := a.Profile.Memory
	return (m.DedicatedVideo + m.DedicatedSystem + m.SharedSystem) << 20
}

// makeResident makes allocations resident, in the queue's turn: PENDING, or SUCCESS with
// value 0 if they are already. Each time needs an eviction of its own.
// INVALID_PARAMETER: flags (MustSucceed alone is refused), lists, handles. NO_MEMORY:
// they do not all fit into the segments; with MustSucceed the device is lost then, as
// nobody can have the memory trimmed. Source: gpu.md §8.4, §9; OQ-30.
func (p *Process) makeResident(r *abi.Request) abi.Status {
	rec := abi.View[abi.MakeResident](r.Record)
	list := r.Arrays[0]
	if rec.Flags&^(abi.MakeResidentCantTrimFurther|abi.MakeResidentMustSucceed) != 0 ||
		rec.Flags&abi.MakeResidentMustSucceed != 0 && rec.Flags&abi.MakeResidentCantTrimFurther == 0 || rec.NumAllocations == 0 || list == nil {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	q, st := p.pagingQueueOf(rec.HPagingQueue)
	if !st.OK() {
		return st
	}
	all, st := p.allocationsOf(q.device, rec.NumAllocations, list)
	if !st.OK() {
		return st
	}
	if st := q.device.usable(); !st.OK() {
		return st
	}
	a := q.device.adapter
	more, seen := uint64(0), map[*allocation]bool{}
	done := true
	for _, l := range all {
		if !l.allocation.there {
			done = false
		}
		if l.allocation.residents == 0 && !seen[l.allocation] {
			seen[l.allocation] = true
			more += l.allocation.bytes()
		}
	}
	switch {
	case more > 0 && a.resident+more > a.budget():
		if rec.Flags&abi.MakeResidentMustSucceed != 0 {
			q.device.lose(abi.DeviceExecutionOutOfMemory)
		}
		return abi.StatusNoMemory
	case !done && p.paging >= maxPaging:
		return abi.StatusNoMemory
	}
	for _, l := range all {
		l.makeResident()
	}
	a.relieve()
	rec.NumBytesToTrim = 0
	if rec.PagingFenceValue = 0; done {
		return abi.StatusSuccess
	}
	rec.PagingFenceValue = q.enqueue(&pagingOp{process: p, do: func() {
		for _, l := range all {
			l.allocation.there = l.allocation.residents > 0
		}
	}})
	return abi.StatusPending
}

func (l *allocationLocal) makeResident() {
	a := l.allocation
	if a.residents == 0 {
		a.counted = a.bytes()
		l.device.adapter.resident += a.counted
	}
	a.residents++
	l.resident++
}

// evict takes back n of the times that the allocation was made resident.
func (l *allocationLocal) evict(n int) {
	a := l.allocation
	l.resident -= n
	if a.residents -= n; a.residents == 0 && n > 0 {
		l.device.adapter.resident -= a.counted
		a.counted, a.there = 0, false
	}
}

// evict lets allocations go that were made resident, at once. Those that were not stay
// as they are. INVALID_PARAMETER: flags, lists, handles.
func (p *Process) evict(r *abi.Request) abi.Status {
	rec := abi.View[abi.Evict](r.Record)
	list := r.Arrays[0]
	if rec.Flags&^(abi.EvictOnlyIfNecessary|abi.EvictNotWrittenTo) != 0 || rec.NumAllocations == 0 || list == nil {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	all, st := p.allocationsOf(d, rec.NumAllocations, list)
	if !st.OK() {
		return st
	}
	for _, l := range all {
		if l.resident > 0 {
			l.evict(1)
		}
	}
	rec.NumBytesToTrim = 0
	return abi.StatusSuccess
}

// currentProcess is the pseudo handle of the caller's own process.
const currentProcess = 1<<64 - 1

// segments judges what the two calls about segment groups name. INVALID_PARAMETER: group,
// adapter, index; INVALID_HANDLE: another process than the caller's. The lock is held.
func (p *Process) segments(hAdapter abi.Handle, group abi.MemorySegmentGroup, index, process uint64) (*adapterHandle, abi.Status) {
	if group > abi.SegmentGroupNonLocal {
		return nil, abi.StatusInvalidParameter
	}
	h, ok := object.Get[*adapterHandle](&p.table, hAdapter)
	switch {
	case !ok || index >= uint64(h.adapter.Profile.Engines()):
		return nil, abi.StatusInvalidParameter
	case process != 0 && process != currentProcess:
		return nil, abi.StatusInvalidHandle
	}
	return h, abi.StatusSuccess
}

// queryVideoMemoryInfo tells how much memory of a segment group the process may use and
// does. All that is resident counts as local. INVALID_PARAMETER: adapter, group, index;
// INVALID_HANDLE: another process than the caller's.
func (p *Process) queryVideoMemoryInfo(r *abi.Request) abi.Status {
	rec := abi.View[abi.QueryVideoMemoryInfo](r.Record)
	p.k.lock()
	defer p.k.unlock()
	h, st := p.segments(rec.HAdapter, rec.MemorySegmentGroup, uint64(rec.PhysicalAdapterIndex), rec.HProcess)
	if !st.OK() {
		return st
	}
	budget := h.adapter.group(rec.MemorySegmentGroup)
	key := reservation{h.adapter, rec.MemorySegmentGroup}
	rec.Budget, rec.CurrentUsage = budget, 0
	if rec.MemorySegmentGroup == abi.SegmentGroupLocal {
		rec.CurrentUsage = p.residentOn(h.adapter)
	}
	rec.CurrentReservation, rec.AvailableForReservation = p.reserved[key], budget/2
	return abi.StatusSuccess
}

// group is the size of a segment group: the GPU's own memory, or the system's. A GPU
// without any of its own has the system's as local.
func (a *Adapter) group(g abi.MemorySegmentGroup) uint64 {
	m := a.Profile.Memory
	own := m.DedicatedVideo + m.DedicatedSystem
	switch {
	case own == 0 && g == abi.SegmentGroupLocal:
		return m.SharedSystem << 20
	case own == 0:
		return 0
	case g == abi.SegmentGroupLocal:
		return own << 20
	}
	return m.SharedSystem << 20
}

// residentOn is how many bytes the process has made resident on an adapter, and how many
// its native fences have there.
func (p *Process) residentOn(a *Adapter) (bytes uint64) {
	bytes = p.nativeVideo[a]
	seen := map[*allocation]bool{}
	for d := range p.devices {
		if d.adapter != a {
			continue
		}
		for l := range d.allocations {
			if l.resident > 0 && !seen[l.allocation] {
				seen[l.allocation] = true
				bytes += l.allocation.counted
			}
		}
	}
	return bytes
}

// A reservation is what a process has asked to be kept for it.
type reservation struct {
	adapter *Adapter
	group   abi.MemorySegmentGroup
}

// changeVideoMemoryReservation notes how much the process wants to be kept for it: up to
// half of a group. INVALID_PARAMETER: more, or as for queryVideoMemoryInfo.
func (p *Process) changeVideoMemoryReservation(r *abi.Request) abi.Status {
	rec := abi.View[abi.ChangeVideoMemoryReservation](r.Record)
	p.k.lock()
	defer p.k.unlock()
	h, st := p.segments(rec.HAdapter, rec.MemorySegmentGroup, uint64(rec.PhysicalAdapterIndex), rec.HProcess)
	if !st.OK() {
		return st
	}
	if rec.Reservation > h.adapter.group(rec.MemorySegmentGroup)/2 {
		return abi.StatusInvalidParameter
	}
	if p.reserved == nil {
		p.reserved = map[reservation]uint64{}
	}
	p.reserved[reservation{h.adapter, rec.MemorySegmentGroup}] = rec.Reservation
	return abi.StatusSuccess
}
