package abi

// AllocationInfo is D3DDDI_ALLOCATIONINFO, 40 bytes.
type AllocationInfo struct {
	HAllocation           Handle
	_                     [4]byte
	PSystemMem            uint64
	PPrivateDriverData    uint64
	PrivateDriverDataSize uint32
	VidPnSourceId         uint32
	Flags                 [1]uint32
	_                     [4]byte
}

// AllocationInfo2 is D3DDDI_ALLOCATIONINFO2, 96 bytes.
type AllocationInfo2 struct {
	HAllocation           Handle
	_                     [4]byte
	Union                 [1]uint64 // hSection, pSystemMem
	PPrivateDriverData    uint64
	PrivateDriverDataSize uint32
	VidPnSourceId         uint32
	Flags                 [1]uint32
	_                     [4]byte
	GpuVirtualAddress     uint64
	Union1                [1]uint64 // Priority, Unused
	Reserved              [5]uint64
}

// AllocationList is D3DDDI_ALLOCATIONLIST, 8 bytes.
type AllocationList struct {
	HAllocation Handle
	Value       uint32 // WriteOperation:1, DoNotRetireInstance:1, OfferPriority:3, Reserved:27
}

// OpenAllocationInfo is D3DDDI_OPENALLOCATIONINFO, 24 bytes.
type OpenAllocationInfo struct {
	HAllocation           Handle
	_                     [4]byte
	PPrivateDriverData    uint64
	PrivateDriverDataSize uint32
	_                     [4]byte
}

// OpenAllocationInfo2 is D3DDDI_OPENALLOCATIONINFO2, 80 bytes.
type OpenAllocationInfo2 struct {
	HAllocation           Handle
	_                     [4]byte
	PPrivateDriverData    uint64
	PrivateDriverDataSize uint32
	_                     [4]byte
	GpuVirtualAddress     uint64
	Reserved              [6]uint64
}

// PatchLocationList is D3DDDI_PATCHLOCATIONLIST, 24 bytes.
type PatchLocationList struct {
	AllocationIndex  uint32
	Value            uint32 // SlotId:24, Reserved:8
	DriverId         uint32
	AllocationOffset uint32
	PatchOffset      uint32
	SplitOffset      uint32
}

// UpdateAllocationProperty is D3DDDI_UPDATEALLOCPROPERTY, 40 bytes, the argument of
// D3DKMTUpdateAllocationProperty.
type UpdateAllocationProperty struct {
	HPagingQueue        Handle
	HAllocation         Handle
	SupportedSegmentSet uint32
	PreferredSegment    SegmentPreference
	Flags               UpdateAllocPropertyFlags
	_                   [4]byte
	PagingFenceValue    uint64    // answered
	Union               [1]uint32 // SetAccessedPhysically, SetSupportedSegmentSet, SetPreferredSegment, SetUnmoveable, Reserved, PropertyMaskValue
	_                   [4]byte
}

// ChangeVideoMemoryReservation is D3DKMT_CHANGEVIDEOMEMORYRESERVATION, 32 bytes, the
// argument of D3DKMTChangeVideoMemoryReservation.
type ChangeVideoMemoryReservation struct {
	HProcess             uint64
	HAdapter             Handle
	MemorySegmentGroup   MemorySegmentGroup
	Reservation          uint64
	PhysicalAdapterIndex uint32
	_                    [4]byte
}

// CreateAllocation2 is D3DKMT_CREATEALLOCATION, 72 bytes, the argument of
// D3DKMTCreateAllocation2.
type CreateAllocation2 struct {
	HDevice                       Handle
	HResource                     Handle // answered
	HGlobalShare                  Handle // answered
	_                             [4]byte
	PPrivateRuntimeData           uint64 // PrivateRuntimeDataSize bytes, in
	PrivateRuntimeDataSize        uint32
	_                             [4]byte
	Union                         [1]uint64 // pStandardAllocation, pPrivateDriverData, AlignUnionTo64_1
	PrivateDriverDataSize         uint32
	NumAllocations                uint32
	Union1                        [1]uint64 // pAllocationInfo, pAllocationInfo2, AlignUnionTo64_2
	Flags                         CreateAllocationFlags
	_                             [4]byte
	HPrivateRuntimeResourceHandle uint64
}

// StandardAllocationExistingHeap is D3DKMT_STANDARDALLOCATION_EXISTINGHEAP, 8 bytes.
type StandardAllocationExistingHeap struct {
	Size uint64
}

// CreateStandardAllocation is D3DKMT_CREATESTANDARDALLOCATION, 24 bytes.
type CreateStandardAllocation struct {
	Type             StandardAllocationType
	_                [4]byte
	ExistingHeapData StandardAllocationExistingHeap
	Flags            CreateStandardAllocationFlags
	_                [4]byte
}

// CrossAdapterResourceSupport is D3DKMT_CROSSADAPTERRESOURCE_SUPPORT, 4 bytes.
type CrossAdapterResourceSupport struct {
	SupportTier CrossAdapterResourceTier
}

// DestroyAllocation is D3DKMT_DESTROYALLOCATION, 24 bytes.
type DestroyAllocation struct {
	HDevice          Handle
	HResource        Handle
	PhAllocationList uint64
	AllocationCount  uint32
	_                [4]byte
}

// DestroyAllocation2 is D3DKMT_DESTROYALLOCATION2, 24 bytes, the argument of
// D3DKMTDestroyAllocation2.
type DestroyAllocation2 struct {
	HDevice          Handle
	HResource        Handle
	PhAllocationList uint64 // array of AllocationCount, in
	AllocationCount  uint32
	Flags            DestroyAllocation2Flags
}

// FlushHeapTransitions is D3DKMT_FLUSHHEAPTRANSITIONS, 4 bytes, the argument of
// D3DKMTFlushHeapTransitions.
type FlushHeapTransitions struct {
	HAdapter Handle
}

// GetAllocationPriority is D3DKMT_GETALLOCATIONPRIORITY, 32 bytes, the argument of
// D3DKMTGetAllocationPriority.
type GetAllocationPriority struct {
	HDevice          Handle
	HResource        Handle
	PhAllocationList uint64 // array of AllocationCount, in
	AllocationCount  uint32
	_                [4]byte
	PPriorities      uint64 // array of AllocationCount, out
}

// InvalidateCache is D3DKMT_INVALIDATECACHE, 24 bytes, the argument of
// D3DKMTInvalidateCache.
type InvalidateCache struct {
	HDevice     Handle
	HAllocation Handle
	Offset      uint64
	Length      uint64
}

// Lock2 is D3DKMT_LOCK2, 24 bytes, the argument of D3DKMTLock2.
type Lock2 struct {
	HDevice     Handle
	HAllocation Handle
	Flags       Lock2Flags
	_           [4]byte
	PData       uint64 // answered
}

// OpenResource is D3DKMT_OPENRESOURCE, 72 bytes, the argument of D3DKMTOpenResource.
type OpenResource struct {
	HDevice                          Handle
	HGlobalShare                     Handle
	NumAllocations                   uint32
	_                                [4]byte
	Union                            [1]uint64 // pOpenAllocationInfo, pOpenAllocationInfo2, AlignUnionTo64
	PPrivateRuntimeData              uint64    // PrivateRuntimeDataSize bytes, out
	PrivateRuntimeDataSize           uint32
	_                                [4]byte
	PResourcePrivateDriverData       uint64 // ResourcePrivateDriverDataSize bytes, out
	ResourcePrivateDriverDataSize    uint32
	_                                [4]byte
	PTotalPrivateDriverDataBuffer    uint64 // TotalPrivateDriverDataBufferSize bytes, out
	TotalPrivateDriverDataBufferSize uint32 // answered
	HResource                        Handle // answered
}

// OpenResourceFromNtHandle is D3DKMT_OPENRESOURCEFROMNTHANDLE, 104 bytes, the
// argument of D3DKMTOpenResourceFromNtHandle.
type OpenResourceFromNtHandle struct {
	HDevice                          Handle
	_                                [4]byte
	HNtHandle                        uint64 // an NT handle
	NumAllocations                   uint32
	_                                [4]byte
	POpenAllocationInfo2             uint64 // array of NumAllocations, in and out
	PrivateRuntimeDataSize           uint32
	_                                [4]byte
	PPrivateRuntimeData              uint64 // PrivateRuntimeDataSize bytes, out
	ResourcePrivateDriverDataSize    uint32
	_                                [4]byte
	PResourcePrivateDriverData       uint64 // ResourcePrivateDriverDataSize bytes, out
	TotalPrivateDriverDataBufferSize uint32 // answered
	_                                [4]byte
	PTotalPrivateDriverDataBuffer    uint64 // TotalPrivateDriverDataBufferSize bytes, out
	HResource                        Handle // answered
	HKeyedMutex                      Handle // answered
	PKeyedMutexPrivateRuntimeData    uint64 // KeyedMutexPrivateRuntimeDataSize bytes, out
	KeyedMutexPrivateRuntimeDataSize uint32
	HSyncObject                      Handle // answered
}

// QueryAllocationResidency is D3DKMT_QUERYALLOCATIONRESIDENCY, 32 bytes, the
// argument of D3DKMTQueryAllocationResidency.
type QueryAllocationResidency struct {
	HDevice          Handle
	HResource        Handle
	PhAllocationList uint64 // array of AllocationCount, in
	AllocationCount  uint32
	_                [4]byte
	PResidencyStatus uint64 // array of AllocationCount, out
}

// QueryResourceInfo is D3DKMT_QUERYRESOURCEINFO, 32 bytes, the argument of
// D3DKMTQueryResourceInfo.
type QueryResourceInfo struct {
	HDevice                       Handle
	HGlobalShare                  Handle
	PPrivateRuntimeData           uint64 // PrivateRuntimeDataSize bytes, out
	PrivateRuntimeDataSize        uint32 // answered
	TotalPrivateDriverDataSize    uint32 // answered
	ResourcePrivateDriverDataSize uint32 // answered
	NumAllocations                uint32 // answered
}

// QueryResourceInfoFromNtHandle is D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE, 40 bytes,
// the argument of D3DKMTQueryResourceInfoFromNtHandle.
type QueryResourceInfoFromNtHandle struct {
	HDevice                       Handle
	_                             [4]byte
	HNtHandle                     uint64 // an NT handle
	PPrivateRuntimeData           uint64 // PrivateRuntimeDataSize bytes, out
	PrivateRuntimeDataSize        uint32 // answered
	TotalPrivateDriverDataSize    uint32 // answered
	ResourcePrivateDriverDataSize uint32 // answered
	NumAllocations                uint32 // answered
}

// QueryVideoMemoryInfo is D3DKMT_QUERYVIDEOMEMORYINFO, 56 bytes, the argument of
// D3DKMTQueryVideoMemoryInfo.
type QueryVideoMemoryInfo struct {
	HProcess                uint64
	HAdapter                Handle
	MemorySegmentGroup      MemorySegmentGroup
	Budget                  uint64 // answered
	CurrentUsage            uint64 // answered
	CurrentReservation      uint64 // answered
	AvailableForReservation uint64 // answered
	PhysicalAdapterIndex    uint32
	_                       [4]byte
}

// SetAllocationPriority is D3DKMT_SETALLOCATIONPRIORITY, 32 bytes, the argument of
// D3DKMTSetAllocationPriority.
type SetAllocationPriority struct {
	HDevice          Handle
	HResource        Handle
	PhAllocationList uint64 // array of AllocationCount, in
	AllocationCount  uint32
	_                [4]byte
	PPriorities      uint64 // array of AllocationCount, in
}
