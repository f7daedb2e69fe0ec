package kernel

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// Memory that is offered may be taken for something else. Ours never is: there is
// enough, so that who reclaims it finds everything as it was.

// offerFlags are OfferImmediately and AllowDecommit.
const offerFlags = 3

// offerAllocations notes that allocations, or those of resources, are not needed now.
// INVALID_PARAMETER: lists, of which there must be one, priority, flags, handles.
func (p *Process) offerAllocations(r *abi.Request) abi.Status {
	rec := abi.View[abi.OfferAllocations](r.Record)
	if rec.Flags&^offerFlags != 0 || rec.Priority < abi.OfferPriorityLow || rec.Priority > abi.OfferPriorityAuto {
		return abi.StatusInvalidParameter
	}
	if rec.NumAllocations == 0 || (r.Arrays[0] == nil) == (r.Arrays[1] == nil) {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok || !p.offerable(d, rec.NumAllocations, r.Arrays[0], r.Arrays[1]) {
		return abi.StatusInvalidParameter
	}
	return d.usable()
}

// reclaimAllocations2 takes them back: nothing was discarded, and it is done at once.
// INVALID_PARAMETER: the queue, lists as for offerAllocations.
func (p *Process) reclaimAllocations2(r *abi.Request) abi.Status {
	rec := abi.View[abi.ReclaimAllocations2](r.Record)
	if rec.NumAllocations == 0 || (r.Arrays[0] == nil) == (r.Arrays[1] == nil) {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	q, st := p.pagingQueueOf(rec.HPagingQueue)
	if !st.OK() {
		return st
	}
	if !p.offerable(q.device, rec.NumAllocations, r.Arrays[0], r.Arrays[1]) {
		return abi.StatusInvalidParameter
	}
	if st := q.device.usable(); !st.OK() {
		return st
	}
	clear(r.Arrays[2]) // of each: D3DDDI_RECLAIM_RESULT_OK
	rec.PagingFenceValue = 0
	return abi.StatusSuccess
}

// offerable reports whether a list names resources, or allocations, of a device.
func (p *Process) offerable(d *device, count uint32, resources, allocations []byte) bool {
	if allocations != nil {
		_, st := p.allocationsOf(d, count, allocations)
		return st.OK()
	}
	for i := range int(count) {
		l, ok := object.Get[*resourceLocal](&p.table, abi.Handle(binary.LittleEndian.Uint32(resources[4*i:])))
		if !ok || l.device != d {
			return false
		}
	}
	return true
}
