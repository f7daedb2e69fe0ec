package kernel

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// listed finds what the calls on allocations name: all those of a resource, or a list.
// INVALID_PARAMETER: both or neither, or handles that are not of the device. The lock is
// held. calls that answer or take an array have one element for each of a list, and one
// for a resource's first allocation alone.
func (p *Process) listed(hDevice, resource abi.Handle, count uint32, list []byte) ([]*allocationLocal, abi.Status) {
	d, ok := object.Get[*device](&p.table, hDevice)
	if !ok {
		return nil, abi.StatusInvalidParameter
	}
	if resource == 0 {
		return p.allocationsOf(d, count, list)
	}
	l, ok := object.Get[*resourceLocal](&p.table, resource)
	if !ok || l.device != d {
		return nil, abi.StatusInvalidParameter
	}
	var all []*allocationLocal
	for a := range l.allocations {
		all = append(all, a)
	}
	return all, abi.StatusSuccess
}

// refuseList finds what is wrong with such arguments alone. A resource comes without a
// list.
func refuseList(resource abi.Handle, count uint32, list []byte) bool {
	return (resource == 0) == (count == 0) || count != 0 && list == nil
}

// defaultPriority is D3DDDI_ALLOCATIONPRIORITY_NORMAL.
const defaultPriority = 0x78000000

// setAllocationPriority notes priorities: one for each allocation of a list.
// NOT_SUPPORTED: for a resource, whose allocations have no order that callers know.
func (p *Process) setAllocationPriority(r *abi.Request) abi.Status {
	rec := abi.View[abi.SetAllocationPriority](r.Record)
	if refuseList(rec.HResource, rec.AllocationCount, r.Arrays[0]) || rec.AllocationCount != 0 && r.Arrays[1] == nil {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	all, st := p.listed(rec.HDevice, rec.HResource, rec.AllocationCount, r.Arrays[0])
	if !st.OK() {
		return st
	}
	if rec.HResource != 0 {
		return abi.StatusNotSupported
	}
	for i, a := range all {
		a.allocation.priority = binary.LittleEndian.Uint32(r.Arrays[1][4*i:])
	}
	return abi.StatusSuccess
}

// getAllocationPriority tells them.
func (p *Process) getAllocationPriority(r *abi.Request) abi.Status {
	rec := abi.View[abi.GetAllocationPriority](r.Record)
	return p.tell(rec.HDevice, rec.HResource, rec.AllocationCount, r.Arrays[0], r.Arrays[1], func(a *allocationLocal) uint32 {
		return a.allocation.priority
	})
}

// queryAllocationResidency tells which allocations are resident. All memory is the
// system's.
func (p *Process) queryAllocationResidency(r *abi.Request) abi.Status {
	rec := abi.View[abi.QueryAllocationResidency](r.Record)
	return p.tell(rec.HDevice, rec.HResource, rec.AllocationCount, r.Arrays[0], r.Arrays[1], func(a *allocationLocal) uint32 {
		if a.allocation.there {
			return uint32(abi.ResidencyResidentInSharedMemory)
		}
		return uint32(abi.ResidencyNotResident)
	})
}

func (p *Process) tell(device, resource abi.Handle, count uint32, list, out []byte, what func(*allocationLocal) uint32) abi.Status {
	if refuseList(resource, count, list) || count != 0 && out == nil {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	all, st := p.listed(device, resource, count, list)
	if !st.OK() {
		return st
	}
	if resource != 0 {
		return abi.StatusNotSupported
	}
	for i, a := range all {
		binary.LittleEndian.PutUint32(out[4*i:], what(a))
	}
	return abi.StatusSuccess
}
