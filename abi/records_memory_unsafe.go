package abi

import "unsafe"

// HSection is the union as HSection.
func (r *AllocationInfo2) HSection() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union)) }

// PSystemMem is the union as PSystemMem.
func (r *AllocationInfo2) PSystemMem() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union)) }

// Priority is the union as Priority.
func (r *AllocationInfo2) Priority() *uint32 { return (*uint32)(unsafe.Pointer(&r.Union1)) }

// Unused is the union as Unused.
func (r *AllocationInfo2) Unused() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union1)) }

// HPagingQueue is the union as HPagingQueue.
func (r *ReserveGpuVirtualAddress) HPagingQueue() *Handle { return (*Handle)(unsafe.Pointer(&r.Union)) }

// HAdapter is the union as HAdapter.
func (r *ReserveGpuVirtualAddress) HAdapter() *Handle { return (*Handle)(unsafe.Pointer(&r.Union)) }

// ReservationType is the union as ReservationType.
func (r *ReserveGpuVirtualAddress) ReservationType() *uint32 {
	return (*uint32)(unsafe.Pointer(&r.Union1))
}

// Reserved0 is the union as Reserved0.
func (r *ReserveGpuVirtualAddress) Reserved0() *uint32 { return (*uint32)(unsafe.Pointer(&r.Union1)) }

// DriverProtection is the union as DriverProtection.
func (r *ReserveGpuVirtualAddress) DriverProtection() *uint64 {
	return (*uint64)(unsafe.Pointer(&r.Union2))
}

// Reserved1 is the union as Reserved1.
func (r *ReserveGpuVirtualAddress) Reserved1() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union2)) }

// PagingFenceValue is the union as PagingFenceValue.
func (r *ReserveGpuVirtualAddress) PagingFenceValue() *uint64 {
	return (*uint64)(unsafe.Pointer(&r.Union3))
}

// Reserved2 is the union as Reserved2.
func (r *ReserveGpuVirtualAddress) Reserved2() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union3)) }

// PropertyMaskValue is the union as PropertyMaskValue.
func (r *UpdateAllocationProperty) PropertyMaskValue() *uint32 {
	return (*uint32)(unsafe.Pointer(&r.Union))
}

// Map is the union as Map.
func (r *UpdateGpuVirtualAddressOperation) Map() *UpdateGpuVirtualAddressOperationMap {
	return (*UpdateGpuVirtualAddressOperationMap)(unsafe.Pointer(&r.Union))
}

// MapProtect is the union as MapProtect.
func (r *UpdateGpuVirtualAddressOperation) MapProtect() *UpdateGpuVirtualAddressOperationMapProtect {
	return (*UpdateGpuVirtualAddressOperationMapProtect)(unsafe.Pointer(&r.Union))
}

// Unmap is the union as Unmap.
func (r *UpdateGpuVirtualAddressOperation) Unmap() *UpdateGpuVirtualAddressOperationUnmap {
	return (*UpdateGpuVirtualAddressOperationUnmap)(unsafe.Pointer(&r.Union))
}

// Copy is the union as Copy.
func (r *UpdateGpuVirtualAddressOperation) Copy() *UpdateGpuVirtualAddressOperationCopy {
	return (*UpdateGpuVirtualAddressOperationCopy)(unsafe.Pointer(&r.Union))
}

// PStandardAllocation is the union as PStandardAllocation.
func (r *CreateAllocation2) PStandardAllocation() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union)) }

// PPrivateDriverData is the union as PPrivateDriverData.
func (r *CreateAllocation2) PPrivateDriverData() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union)) }

// AlignUnionTo64_1 is the union as AlignUnionTo64_1.
func (r *CreateAllocation2) AlignUnionTo64_1() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union)) }

// PAllocationInfo is the union as PAllocationInfo.
func (r *CreateAllocation2) PAllocationInfo() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union1)) }

// PAllocationInfo2 is the union as PAllocationInfo2.
func (r *CreateAllocation2) PAllocationInfo2() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union1)) }

// AlignUnionTo64_2 is the union as AlignUnionTo64_2.
func (r *CreateAllocation2) AlignUnionTo64_2() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union1)) }

// POpenAllocationInfo is the union as POpenAllocationInfo.
func (r *OpenResource) POpenAllocationInfo() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union)) }

// POpenAllocationInfo2 is the union as POpenAllocationInfo2.
func (r *OpenResource) POpenAllocationInfo2() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union)) }

// AlignUnionTo64 is the union as AlignUnionTo64.
func (r *OpenResource) AlignUnionTo64() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union)) }

// PDiscarded is the union as PDiscarded.
func (r *ReclaimAllocations2) PDiscarded() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union)) }

// PResults is the union as PResults.
func (r *ReclaimAllocations2) PResults() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union)) }

// AlignUnionTo64 is the union as AlignUnionTo64.
func (r *ReclaimAllocations2) AlignUnionTo64() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union)) }
