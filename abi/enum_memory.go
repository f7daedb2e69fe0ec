package abi

// MemorySegmentGroup is D3DKMT_MEMORY_SEGMENT_GROUP: it says whose memory is meant:
// the GPU's or the system's.
type MemorySegmentGroup uint32

// Values of MemorySegmentGroup.
const (
	SegmentGroupLocal    MemorySegmentGroup = 0
	SegmentGroupNonLocal MemorySegmentGroup = 1
)

// String returns the end of the value's public name.
func (v MemorySegmentGroup) String() string { return memorySegmentGroups.format(int64(v)) }

var memorySegmentGroups = Enum{"D3DKMT_MEMORY_SEGMENT_GROUP", "D3DKMT_MEMORY_SEGMENT_GROUP_", []EnumValue{
	{int64(SegmentGroupLocal), "LOCAL"},
	{int64(SegmentGroupNonLocal), "NON_LOCAL"},
}}

// AllocationResidencyStatus is D3DKMT_ALLOCATIONRESIDENCYSTATUS: it says where an
// allocation is.
type AllocationResidencyStatus uint32

// Values of AllocationResidencyStatus.
const (
	ResidencyResidentInGPUMemory    AllocationResidencyStatus = 1
	ResidencyResidentInSharedMemory AllocationResidencyStatus = 2
	ResidencyNotResident            AllocationResidencyStatus = 3
)

// String returns the end of the value's public name.
func (v AllocationResidencyStatus) String() string {
	return allocationResidencyStatuses.format(int64(v))
}

var allocationResidencyStatuses = Enum{"D3DKMT_ALLOCATIONRESIDENCYSTATUS", "D3DKMT_ALLOCATIONRESIDENCYSTATUS_", []EnumValue{
	{int64(ResidencyResidentInGPUMemory), "RESIDENTINGPUMEMORY"},
	{int64(ResidencyResidentInSharedMemory), "RESIDENTINSHAREDMEMORY"},
	{int64(ResidencyNotResident), "NOTRESIDENT"},
}}

// OfferPriority is D3DKMT_OFFER_PRIORITY: it says which offered memory is taken last.
type OfferPriority uint32

// Values of OfferPriority.
const (
	OfferPriorityLow    OfferPriority = 1
	OfferPriorityNormal OfferPriority = 2
	OfferPriorityHigh   OfferPriority = 3
	OfferPriorityAuto   OfferPriority = 4
)

// String returns the end of the value's public name.
func (v OfferPriority) String() string { return offerPriorities.format(int64(v)) }

var offerPriorities = Enum{"D3DKMT_OFFER_PRIORITY", "D3DKMT_OFFER_PRIORITY_", []EnumValue{
	{int64(OfferPriorityLow), "LOW"},
	{int64(OfferPriorityNormal), "NORMAL"},
	{int64(OfferPriorityHigh), "HIGH"},
	{int64(OfferPriorityAuto), "AUTO"},
}}

// ReclaimResult is D3DDDI_RECLAIM_RESULT: it says what became of offered memory.
type ReclaimResult uint32

// Values of ReclaimResult.
const (
	ReclaimOk           ReclaimResult = 0
	ReclaimDiscarded    ReclaimResult = 1
	ReclaimNotCommitted ReclaimResult = 2
)

// String returns the end of the value's public name.
func (v ReclaimResult) String() string { return reclaimResults.format(int64(v)) }

var reclaimResults = Enum{"D3DDDI_RECLAIM_RESULT", "D3DDDI_RECLAIM_RESULT_", []EnumValue{
	{int64(ReclaimOk), "OK"},
	{int64(ReclaimDiscarded), "DISCARDED"},
	{int64(ReclaimNotCommitted), "NOT_COMMITTED"},
}}

// StandardAllocationType is D3DKMT_STANDARDALLOCATIONTYPE: it is a kind of
// allocation that needs no driver.
type StandardAllocationType uint32

// Values of StandardAllocationType.
const (
	StandardAllocationTypeExistingHeap         StandardAllocationType = 1
	StandardAllocationTypeInternalBackingStore StandardAllocationType = 2
)

// String returns the end of the value's public name.
func (v StandardAllocationType) String() string { return standardAllocationTypes.format(int64(v)) }

var standardAllocationTypes = Enum{"D3DKMT_STANDARDALLOCATIONTYPE", "D3DKMT_STANDARDALLOCATIONTYPE_", []EnumValue{
	{int64(StandardAllocationTypeExistingHeap), "EXISTINGHEAP"},
	{int64(StandardAllocationTypeInternalBackingStore), "INTERNALBACKINGSTORE"},
}}

// UpdateGpuVirtualAddressOperationType is
// D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION_TYPE: it is an operation of
// UpdateGpuVirtualAddress.
type UpdateGpuVirtualAddressOperationType uint32

// Values of UpdateGpuVirtualAddressOperationType.
const (
	UpdateGpuVirtualAddressMap        UpdateGpuVirtualAddressOperationType = 0
	UpdateGpuVirtualAddressUnmap      UpdateGpuVirtualAddressOperationType = 1
	UpdateGpuVirtualAddressCopy       UpdateGpuVirtualAddressOperationType = 2
	UpdateGpuVirtualAddressMapProtect UpdateGpuVirtualAddressOperationType = 3
)

// String returns the end of the value's public name.
func (v UpdateGpuVirtualAddressOperationType) String() string {
	return updateGpuVirtualAddressOperationTypes.format(int64(v))
}

var updateGpuVirtualAddressOperationTypes = Enum{"D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION_TYPE", "D3DDDI_UPDATEGPUVIRTUALADDRESS_", []EnumValue{
	{int64(UpdateGpuVirtualAddressMap), "MAP"},
	{int64(UpdateGpuVirtualAddressUnmap), "UNMAP"},
	{int64(UpdateGpuVirtualAddressCopy), "COPY"},
	{int64(UpdateGpuVirtualAddressMapProtect), "MAP_PROTECT"},
}}

// GpuVirtualAddressReservationType is D3DDDIGPUVIRTUALADDRESS_RESERVATION_TYPE: it
// says what reading reserved addresses gives.
type GpuVirtualAddressReservationType uint32

// Values of GpuVirtualAddressReservationType.
const (
	GpuVirtualAddressReserveNoAccess GpuVirtualAddressReservationType = 0
	GpuVirtualAddressReserveZero     GpuVirtualAddressReservationType = 1
	GpuVirtualAddressReserveNoCommit GpuVirtualAddressReservationType = 2
)

// String returns the end of the value's public name.
func (v GpuVirtualAddressReservationType) String() string {
	return gpuVirtualAddressReservationTypes.format(int64(v))
}

var gpuVirtualAddressReservationTypes = Enum{"D3DDDIGPUVIRTUALADDRESS_RESERVATION_TYPE", "D3DDDIGPUVIRTUALADDRESS_RESERVE_", []EnumValue{
	{int64(GpuVirtualAddressReserveNoAccess), "NO_ACCESS"},
	{int64(GpuVirtualAddressReserveZero), "ZERO"},
	{int64(GpuVirtualAddressReserveNoCommit), "NO_COMMIT"},
}}
