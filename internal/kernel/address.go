package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// reserveGpuVirtualAddress reserves addresses, at once. It takes a paging queue, as
// first declared, or an adapter. INVALID_PARAMETER: handles, the kind of reservation,
// places (vidmm.Space.Reserve). NO_MEMORY: no room.
func (p *Process) reserveGpuVirtualAddress(r *abi.Request) abi.Status {
	rec := abi.View[abi.ReserveGpuVirtualAddress](r.Record)
	kind := abi.GpuVirtualAddressReservationType(*rec.ReservationType())
	if kind > abi.GpuVirtualAddressReserveNoCommit {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	var a *Adapter
	switch h := p.table.Get(*rec.HPagingQueue()).(type) {
	case *pagingQueue:
		a = h.device.adapter
	case *adapterHandle:
		a = h.adapter
	default:
		return abi.StatusInvalidParameter
	}
	if a.stopped {
		return abi.StatusDeviceRemoved
	}
	va, st := p.space(a).Reserve(vidmm.Place{Base: rec.BaseAddress, Min: rec.MinimumAddress, Max: rec.MaximumAddress}, rec.Size, kind == abi.GpuVirtualAddressReserveZero)
	if !st.OK() {
		return st
	}
	rec.VirtualAddress = va
	*rec.PagingFenceValue() = 0 // it is done already
	return abi.StatusSuccess
}

// mapGpuVirtualAddress finds addresses for a part of an allocation at once, and puts it
// there, for the queue's member of a link, in the queue's turn: PENDING. With the
// protections Zero and NoAccess the addresses read zeros or fault again.
// Source: gpu.md §5, §9; page of D3DKMTMapGpuVirtualAddress.
func (p *Process) mapGpuVirtualAddress(r *abi.Request) abi.Status {
	rec := abi.View[abi.MapGpuVirtualAddress](r.Record)
	const most = maxHeap / vidmm.PageSize
	nothing := rec.Protection&(abi.GpuProtectionZero|abi.GpuProtectionNoAccess) != 0
	if rec.Protection&^abi.GpuProtections != 0 || rec.Protection&abi.GpuProtectionZero != 0 && rec.Protection&abi.GpuProtectionNoAccess != 0 ||
		rec.SizeInPages == 0 || rec.SizeInPages > most || rec.OffsetInPages > most || nothing == (rec.HAllocation != 0) {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	q, st := p.pagingQueueOf(rec.HPagingQueue)
	if !st.OK() {
		return st
	}
	var m vidmm.Mapping
	if !nothing {
		if m, st = p.mapping(q.device, rec.HAllocation, rec.OffsetInPages*vidmm.PageSize, rec.SizeInPages*vidmm.PageSize); !st.OK() {
			return st
		}
		m.Writable = rec.Protection&abi.GpuProtectionWrite != 0
	}
	if st := q.device.usable(); !st.OK() {
		return st
	}
	s, size := p.space(q.device.adapter), rec.SizeInPages*vidmm.PageSize
	if p.paging >= maxPaging || !s.Expect(1).OK() {
		return abi.StatusNoMemory
	}
	va, st := s.Allot(vidmm.Place{Base: rec.BaseAddress, Min: rec.MinimumAddress, Max: rec.MaximumAddress}, size, !nothing)
	if !st.OK() {
		s.Expected(1)
		return st
	}
	op := &pagingOp{process: p, space: s, va: va, size: size}
	zeros, engines := rec.Protection&abi.GpuProtectionZero != 0, uint32(1)<<q.engine
	op.do = func() {
		s.Expected(1)
		op.put(engines, m, zeros)
	}
	rec.VirtualAddress, rec.PagingFenceValue = va, q.enqueue(op)
	return abi.StatusPending
}

// put does what is left of a mapping: nothing, if the addresses were freed or the
// allocation destroyed since.
func (op *pagingOp) put(engines uint32, m vidmm.Mapping, zeros bool) {
	switch {
	case op.void:
	case m.Memory == nil:
		op.space.Unmap(engines, op.va, op.size, zeros)
	default:
		if a := m.Owner.(*allocationLocal); !a.gone {
			a.mapped = true
			op.space.Map(engines, op.va, op.size, m)
		}
	}
}

// mapping is a part of an allocation of a device. INVALID_PARAMETER: there is no such
// part.
func (p *Process) mapping(d *device, h abi.Handle, offset, size uint64) (vidmm.Mapping, abi.Status) {
	a, ok := object.Get[*allocationLocal](&p.table, h)
	if !ok || a.device != d || offset+size < offset || !a.allocation.heap.reaches(offset+size, a.allocation.system != 0) {
		return vidmm.Mapping{}, abi.StatusInvalidParameter
	}
	return vidmm.Mapping{Memory: a.allocation.heap, Offset: offset, Writable: true, Owner: a}, abi.StatusSuccess
}

// freeGpuVirtualAddress gives addresses back, at once. What was to be mapped there and
// is not yet comes to nothing.
func (p *Process) freeGpuVirtualAddress(r *abi.Request) abi.Status {
	rec := abi.View[abi.FreeGpuVirtualAddress](r.Record)
	p.k.lock()
	defer p.k.unlock()
	h, ok := object.Get[*adapterHandle](&p.table, rec.HAdapter)
	if !ok {
		return abi.StatusInvalidParameter
	}
	s := p.space(h.adapter)
	if st := s.Free(rec.BaseAddress, rec.Size); !st.OK() {
		return st
	}
	for _, op := range h.adapter.paging {
		if op.space == s && op.va < rec.BaseAddress+rec.Size && rec.BaseAddress < op.va+op.size {
			op.void = true
		}
	}
	return abi.StatusSuccess
}
