package abi

// MakeResident is D3DDDI_MAKERESIDENT, 48 bytes, the argument of D3DKMTMakeResident.
type MakeResident struct {
	HPagingQueue     Handle
	NumAllocations   uint32
	AllocationList   uint64 // array of NumAllocations, in
	PriorityList     uint64 // array of NumAllocations, in
	Flags            MakeResidentFlags
	_                [4]byte
	PagingFenceValue uint64 // answered
	NumBytesToTrim   uint64 // answered
}

// MapGpuVirtualAddress is D3DDDI_MAPGPUVIRTUALADDRESS, 104 bytes, the argument of
// D3DKMTMapGpuVirtualAddress.
type MapGpuVirtualAddress struct {
	HPagingQueue     Handle
	_                [4]byte
	BaseAddress      uint64
	MinimumAddress   uint64
	MaximumAddress   uint64
	HAllocation      Handle
	_                [4]byte
	OffsetInPages    uint64
	SizeInPages      uint64
	Protection       GpuVirtualAddressProtectionType
	DriverProtection uint64
	Reserved0        uint32
	_                [4]byte
	Reserved1        uint64
	VirtualAddress   uint64 // answered
	PagingFenceValue uint64 // answered
}

// ReserveGpuVirtualAddress is D3DDDI_RESERVEGPUVIRTUALADDRESS, 72 bytes, the
// argument of D3DKMTReserveGpuVirtualAddress.
type ReserveGpuVirtualAddress struct {
	Union          [1]uint32 // hPagingQueue, hAdapter
	_              [4]byte
	BaseAddress    uint64
	MinimumAddress uint64
	MaximumAddress uint64
	Size           uint64
	Union1         [1]uint32 // ReservationType, Reserved0
	_              [4]byte
	Union2         [1]uint64 // DriverProtection, Reserved1
	VirtualAddress uint64    // answered
	Union3         [1]uint64 // PagingFenceValue, Reserved2
}

// UpdateGpuVirtualAddressOperationMap is a part of
// D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION, 40 bytes.
type UpdateGpuVirtualAddressOperationMap struct {
	BaseAddress             uint64
	SizeInBytes             uint64
	HAllocation             Handle
	_                       [4]byte
	AllocationOffsetInBytes uint64
	AllocationSizeInBytes   uint64
}

// UpdateGpuVirtualAddressOperationMapProtect is a part of
// D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION, 56 bytes.
type UpdateGpuVirtualAddressOperationMapProtect struct {
	BaseAddress             uint64
	SizeInBytes             uint64
	HAllocation             Handle
	_                       [4]byte
	AllocationOffsetInBytes uint64
	AllocationSizeInBytes   uint64
	Protection              GpuVirtualAddressProtectionType
	DriverProtection        uint64
}

// UpdateGpuVirtualAddressOperationUnmap is a part of
// D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION, 24 bytes.
type UpdateGpuVirtualAddressOperationUnmap struct {
	BaseAddress uint64
	SizeInBytes uint64
	Protection  GpuVirtualAddressProtectionType
}

// UpdateGpuVirtualAddressOperationCopy is a part of
// D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION, 24 bytes.
type UpdateGpuVirtualAddressOperationCopy struct {
	SourceAddress uint64
	SizeInBytes   uint64
	DestAddress   uint64
}

// UpdateGpuVirtualAddressOperation is D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION, 64
// bytes.
type UpdateGpuVirtualAddressOperation struct {
	OperationType UpdateGpuVirtualAddressOperationType
	_             [4]byte
	Union         [7]uint64 // Map, MapProtect, Unmap, Copy
}

// Evict is D3DKMT_EVICT, 32 bytes, the argument of D3DKMTEvict.
type Evict struct {
	HDevice        Handle
	NumAllocations uint32
	AllocationList uint64 // array of NumAllocations, in
	Flags          EvictFlags
	_              [4]byte
	NumBytesToTrim uint64 // answered
}

// FreeGpuVirtualAddress is D3DKMT_FREEGPUVIRTUALADDRESS, 24 bytes, the argument of
// D3DKMTFreeGpuVirtualAddress.
type FreeGpuVirtualAddress struct {
	HAdapter    Handle
	_           [4]byte
	BaseAddress uint64
	Size        uint64
}

// OfferAllocations is D3DKMT_OFFERALLOCATIONS, 40 bytes, the argument of
// D3DKMTOfferAllocations.
type OfferAllocations struct {
	HDevice        Handle
	_              [4]byte
	PResources     uint64 // array of NumAllocations, in
	HandleList     uint64 // array of NumAllocations, in
	NumAllocations uint32
	Priority       OfferPriority
	Flags          OfferFlags
	_              [4]byte
}

// ReclaimAllocations2 is D3DKMT_RECLAIMALLOCATIONS2, 40 bytes, the argument of
// D3DKMTReclaimAllocations2.
type ReclaimAllocations2 struct {
	HPagingQueue     Handle
	NumAllocations   uint32
	PResources       uint64    // array of NumAllocations, in
	HandleList       uint64    // array of NumAllocations, in
	Union            [1]uint64 // pDiscarded, pResults, AlignUnionTo64
	PagingFenceValue uint64    // answered
}

// SegmentSizeInfo is D3DKMT_SEGMENTSIZEINFO, 24 bytes.
type SegmentSizeInfo struct {
	DedicatedVideoMemorySize  uint64
	DedicatedSystemMemorySize uint64
	SharedSystemMemorySize    uint64
}

// SegmentGroupSizeInfo is D3DKMT_SEGMENTGROUPSIZEINFO, 56 bytes.
type SegmentGroupSizeInfo struct {
	PhysicalAdapterIndex uint32
	_                    [4]byte
	LegacyInfo           SegmentSizeInfo
	LocalMemory          uint64
	NonLocalMemory       uint64
	NonBudgetMemory      uint64
}

// TrimNotification is D3DKMT_TRIMNOTIFICATION, 24 bytes.
type TrimNotification struct {
	Context        uint64
	Flags          TrimResidencySetFlags
	_              [4]byte
	NumBytesToTrim uint64
}

// UpdateGpuVirtualAddress is D3DKMT_UPDATEGPUVIRTUALADDRESS, 56 bytes, the argument
// of D3DKMTUpdateGpuVirtualAddress.
type UpdateGpuVirtualAddress struct {
	HDevice       Handle
	HContext      Handle
	HFenceObject  Handle
	NumOperations uint32
	Operations    uint64 // array of NumOperations, in
	Reserved0     uint64
	Reserved1     uint64
	FenceValue    uint64
	Flags         [1]uint32
	_             [4]byte
}

// VirtualAddressInfo is D3DKMT_VIRTUALADDRESSINFO, 4 bytes.
type VirtualAddressInfo struct {
	VirtualAddressFlags VirtualAddressFlags
}

// WorkingSetInfo is D3DKMT_WORKINGSETINFO, 12 bytes.
type WorkingSetInfo struct {
	Flags                       WorkingSetFlags
	MinimumWorkingSetPercentile uint32
	MaximumWorkingSetPercentile uint32
}
