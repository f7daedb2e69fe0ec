package dxgsync

import "github.com/dxgsync/dxgsync/abi"

// CreatePagingQueue makes a paging queue with its fence. The address of the fence's
// value is left 0: Go programs wait for values with
// WaitForSynchronizationObjectFromCpu.
func (s *Session) CreatePagingQueue(r *abi.CreatePagingQueue) abi.Status {
	req := request(abi.OpCreatePagingQueue, r)
	st := s.Do(req)
	closeFiles(req)
	return st
}

// DestroyPagingQueue waits until everything that is queued is done, and destroys the
// queue with its fence.
func (s *Session) DestroyPagingQueue(r *abi.DestroyPagingQueue) abi.Status {
	return s.block(request(abi.OpDestroyPagingQueue, r))
}

// ReserveGpuVirtualAddress reserves GPU virtual addresses.
func (s *Session) ReserveGpuVirtualAddress(r *abi.ReserveGpuVirtualAddress) abi.Status {
	return do(s, abi.OpReserveGpuVirtualAddress, r)
}

// MapGpuVirtualAddress puts a part of an allocation behind GPU virtual addresses. It is
// done when the queue's fence reaches PagingFenceValue; StatusPending is a success.
func (s *Session) MapGpuVirtualAddress(r *abi.MapGpuVirtualAddress) abi.Status {
	return do(s, abi.OpMapGpuVirtualAddress, r)
}

// FreeGpuVirtualAddress gives GPU virtual addresses back.
func (s *Session) FreeGpuVirtualAddress(r *abi.FreeGpuVirtualAddress) abi.Status {
	return do(s, abi.OpFreeGpuVirtualAddress, r)
}

// UpdateGpuVirtualAddress changes what is behind addresses once a fence has reached
// FenceValue, and signals the fence one higher then.
func (s *Session) UpdateGpuVirtualAddress(r *abi.UpdateGpuVirtualAddress, operations []abi.UpdateGpuVirtualAddressOperation) abi.Status {
	r.NumOperations = uint32(len(operations))
	return do(s, abi.OpUpdateGpuVirtualAddress, r, bytesOf(operations))
}

// MakeResident makes allocations resident; priorities are optional. It is done when the
// queue's fence reaches PagingFenceValue, or already if that is 0; StatusPending is a
// success.
func (s *Session) MakeResident(r *abi.MakeResident, allocations []abi.Handle, priorities []uint32) abi.Status {
	if priorities != nil && len(priorities) != len(allocations) {
		return abi.StatusInvalidParameter
	}
	r.NumAllocations = uint32(len(allocations))
	return do(s, abi.OpMakeResident, r, bytesOf(allocations), bytesOf(priorities))
}

// Evict lets allocations go that were made resident.
func (s *Session) Evict(r *abi.Evict, allocations []abi.Handle) abi.Status {
	r.NumAllocations = uint32(len(allocations))
	return do(s, abi.OpEvict, r, bytesOf(allocations))
}

// QueryVideoMemoryInfo tells how much video memory the process may use and does.
func (s *Session) QueryVideoMemoryInfo(r *abi.QueryVideoMemoryInfo) abi.Status {
	return do(s, abi.OpQueryVideoMemoryInfo, r)
}

// ChangeVideoMemoryReservation says how much video memory is to be kept for the process.
func (s *Session) ChangeVideoMemoryReservation(r *abi.ChangeVideoMemoryReservation) abi.Status {
	return do(s, abi.OpChangeVideoMemoryReservation, r)
}

// QueryAllocationResidency tells where allocations are; there must be as many answers.
func (s *Session) QueryAllocationResidency(r *abi.QueryAllocationResidency, allocations []abi.Handle, answers []abi.AllocationResidencyStatus) abi.Status {
	if len(allocations) != len(answers) {
		return abi.StatusInvalidParameter
	}
	r.AllocationCount = uint32(len(allocations))
	return do(s, abi.OpQueryAllocationResidency, r, bytesOf(allocations), bytesOf(answers))
}

// SetAllocationPriority gives allocations priorities, of which there must be as many.
func (s *Session) SetAllocationPriority(r *abi.SetAllocationPriority, allocations []abi.Handle, priorities []uint32) abi.Status {
	if len(allocations) != len(priorities) {
		return abi.StatusInvalidParameter
	}
	r.AllocationCount = uint32(len(allocations))
	return do(s, abi.OpSetAllocationPriority, r, bytesOf(allocations), bytesOf(priorities))
}

// GetAllocationPriority tells the priorities of allocations; there must be as many
// answers.
func (s *Session) GetAllocationPriority(r *abi.GetAllocationPriority, allocations []abi.Handle, priorities []uint32) abi.Status {
	if len(allocations) != len(priorities) {
		return abi.StatusInvalidParameter
	}
	r.AllocationCount = uint32(len(allocations))
	return do(s, abi.OpGetAllocationPriority, r, bytesOf(allocations), bytesOf(priorities))
}

// OfferAllocations says that resources, or allocations, are not needed now: one of the
// lists is nil.
func (s *Session) OfferAllocations(r *abi.OfferAllocations, resources, allocations []abi.Handle) abi.Status {
	r.NumAllocations = uint32(len(resources) + len(allocations))
	return do(s, abi.OpOfferAllocations, r, bytesOf(resources), bytesOf(allocations))
}

// ReclaimAllocations2 takes back what was offered and tells what became of it; there
// must be as many results, or none.
func (s *Session) ReclaimAllocations2(r *abi.ReclaimAllocations2, resources, allocations []abi.Handle, results []abi.ReclaimResult) abi.Status {
	r.NumAllocations = uint32(len(resources) + len(allocations))
	if results != nil && len(results) != int(r.NumAllocations) {
		return abi.StatusInvalidParameter
	}
	return do(s, abi.OpReclaimAllocations2, r, bytesOf(resources), bytesOf(allocations), bytesOf(results))
}
