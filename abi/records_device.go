package abi

// DestroyPagingQueue is D3DDDI_DESTROYPAGINGQUEUE, 4 bytes, the argument of
// D3DKMTDestroyPagingQueue.
type DestroyPagingQueue struct {
	HPagingQueue Handle
}

// CreateContext is D3DKMT_CREATECONTEXT, 96 bytes, the argument of
// D3DKMTCreateContext.
type CreateContext struct {
	HDevice               Handle
	NodeOrdinal           uint32
	EngineAffinity        uint32
	Flags                 CreateContextFlags
	PPrivateDriverData    uint64 // PrivateDriverDataSize bytes, in
	PrivateDriverDataSize uint32
	ClientHint            ClientHint
	HContext              Handle // answered
	_                     [4]byte
	PCommandBuffer        uint64 // answered
	CommandBufferSize     uint32 // answered
	_                     [4]byte
	PAllocationList       uint64 // answered
	AllocationListSize    uint32 // answered
	_                     [4]byte
	PPatchLocationList    uint64 // answered
	PatchLocationListSize uint32 // answered
	_                     [4]byte
	CommandBuffer         uint64 // answered
}

// CreateContextVirtual is D3DKMT_CREATECONTEXTVIRTUAL, 40 bytes, the argument of
// D3DKMTCreateContextVirtual.
type CreateContextVirtual struct {
	HDevice               Handle
	NodeOrdinal           uint32
	EngineAffinity        uint32
	Flags                 CreateContextFlags
	PPrivateDriverData    uint64 // PrivateDriverDataSize bytes, in
	PrivateDriverDataSize uint32
	ClientHint            ClientHint
	HContext              Handle // answered
	_                     [4]byte
}

// CreateDevice is D3DKMT_CREATEDEVICE, 64 bytes, the argument of D3DKMTCreateDevice.
type CreateDevice struct {
	HAdapter              Handle // or the kernel's own pointer
	_                     uint32
	Flags                 CreateDeviceFlags
	HDevice               Handle // answered
	PCommandBuffer        uint64 // answered
	CommandBufferSize     uint32 // answered
	_                     [4]byte
	PAllocationList       uint64 // answered
	AllocationListSize    uint32 // answered
	_                     [4]byte
	PPatchLocationList    uint64 // answered
	PatchLocationListSize uint32 // answered
	_                     [4]byte
}

// CreateHwContext is D3DKMT_CREATEHWCONTEXT, 40 bytes, the argument of
// D3DKMTCreateHwContext.
type CreateHwContext struct {
	HDevice               Handle
	NodeOrdinal           uint32
	EngineAffinity        uint32
	Flags                 CreateHwContextFlags
	PrivateDriverDataSize uint32
	_                     [4]byte
	PPrivateDriverData    uint64 // PrivateDriverDataSize bytes, in and out
	HHwContext            Handle // answered
	_                     [4]byte
}

// CreateHwQueue is D3DKMT_CREATEHWQUEUE, 48 bytes, the argument of
// D3DKMTCreateHwQueue.
type CreateHwQueue struct {
	HHwContext                            Handle
	Flags                                 CreateHwQueueFlags // answered
	PrivateDriverDataSize                 uint32
	_                                     [4]byte
	PPrivateDriverData                    uint64 // PrivateDriverDataSize bytes, in and out
	HHwQueue                              Handle // answered
	HHwQueueProgressFence                 Handle // answered
	HwQueueProgressFenceCPUVirtualAddress uint64 // answered
	HwQueueProgressFenceGPUVirtualAddress uint64 // answered
}

// CreatePagingQueue is D3DKMT_CREATEPAGINGQUEUE, 32 bytes, the argument of
// D3DKMTCreatePagingQueue.
type CreatePagingQueue struct {
	HDevice                     Handle
	Priority                    PagingQueuePriority
	HPagingQueue                Handle // answered
	HSyncObject                 Handle // answered
	FenceValueCPUVirtualAddress uint64 // answered
	PhysicalAdapterIndex        uint32
	_                           [4]byte
}

// DestroyContext is D3DKMT_DESTROYCONTEXT, 4 bytes, the argument of
// D3DKMTDestroyContext.
type DestroyContext struct {
	HContext Handle
}

// DestroyDevice is D3DKMT_DESTROYDEVICE, 4 bytes, the argument of
// D3DKMTDestroyDevice.
type DestroyDevice struct {
	HDevice Handle
}

// DestroyHwContext is D3DKMT_DESTROYHWCONTEXT, 4 bytes, the argument of
// D3DKMTDestroyHwContext.
type DestroyHwContext struct {
	HHwContext Handle
}

// DestroyHwQueue is D3DKMT_DESTROYHWQUEUE, 4 bytes, the argument of
// D3DKMTDestroyHwQueue.
type DestroyHwQueue struct {
	HHwQueue Handle
}

// DevicePageFaultState is D3DKMT_DEVICEPAGEFAULT_STATE, 32 bytes.
type DevicePageFaultState struct {
	FaultedPrimitiveAPISequenceNumber uint64
	FaultedPipelineStage              RenderPipelineStage
	FaultedBindTableEntry             uint32
	PageFaultFlags                    uint32
	FaultErrorCode                    FaultErrorCode
	FaultedVirtualAddress             uint64
}

// DevicePresentQueueState is D3DKMT_DEVICEPRESENT_QUEUE_STATE, 8 bytes.
type DevicePresentQueueState struct {
	VidPnSourceId              uint32
	BQueuedPresentLimitReached int8
	_                          [3]byte
}

// PresentStats is D3DKMT_PRESENT_STATS, 32 bytes.
type PresentStats struct {
	PresentCount        uint32
	PresentRefreshCount uint32
	SyncRefreshCount    uint32
	_                   [4]byte
	SyncQPCTime         int64
	SyncGPUTime         int64
}

// DevicePresentState is D3DKMT_DEVICEPRESENT_STATE, 40 bytes.
type DevicePresentState struct {
	VidPnSourceId uint32
	_             [4]byte
	PresentStats  PresentStats
}

// PresentStatsDwm is D3DKMT_PRESENT_STATS_DWM, 40 bytes.
type PresentStatsDwm struct {
	PresentCount          uint32
	PresentRefreshCount   uint32
	PresentQPCTime        int64
	SyncRefreshCount      uint32
	_                     [4]byte
	SyncQPCTime           int64
	CustomPresentDuration uint32
	_                     [4]byte
}

// DevicePresentStateDwm is D3DKMT_DEVICEPRESENT_STATE_DWM, 48 bytes.
type DevicePresentStateDwm struct {
	VidPnSourceId   uint32
	_               [4]byte
	PresentStatsDWM PresentStatsDwm
}

// DeviceIds is D3DKMT_DEVICE_IDS, 24 bytes.
type DeviceIds struct {
	VendorID    uint32
	DeviceID    uint32
	SubVendorID uint32
	SubSystemID uint32
	RevisionID  uint32
	BusType     uint32
}

// EnumProcesses is D3DKMT_ENUMPROCESSES, 24 bytes, the argument of
// D3DKMTEnumProcesses.
type EnumProcesses struct {
	AdapterLuid LUID
	Buffer      uint64 // array of BufferCount, out
	BufferCount uint64 // answered
}

// Escape is D3DKMT_ESCAPE, 32 bytes, the argument of D3DKMTEscape.
type Escape struct {
	HAdapter              Handle
	HDevice               Handle
	Type                  uint32
	Flags                 EscapeFlags
	PPrivateDriverData    uint64 // PrivateDriverDataSize bytes, in and out
	PrivateDriverDataSize uint32
	HContext              Handle
}

// GetContextInProcessSchedulingPriority is
// D3DKMT_GETCONTEXTINPROCESSSCHEDULINGPRIORITY, 8 bytes, the argument of
// D3DKMTGetContextInProcessSchedulingPriority.
type GetContextInProcessSchedulingPriority struct {
	HContext Handle
	Priority int32 // answered
}

// GetContextSchedulingPriority is D3DKMT_GETCONTEXTSCHEDULINGPRIORITY, 8 bytes, the
// argument of D3DKMTGetContextSchedulingPriority.
type GetContextSchedulingPriority struct {
	HContext Handle
	Priority int32 // answered
}

// GetDeviceState is D3DKMT_GETDEVICESTATE, 56 bytes, the argument of
// D3DKMTGetDeviceState.
type GetDeviceState struct {
	HDevice   Handle
	StateType DeviceStateType
	State     [6]uint64 // by StateType
}

// GetDeviceVidpnOwnershipInfo is D3DKMT_GET_DEVICE_VIDPN_OWNERSHIP_INFO, 8 bytes.
type GetDeviceVidpnOwnershipInfo struct {
	HDevice                Handle
	BFailedDwmAcquireVidPn int8
	_                      [3]byte
}

// IsFeatureEnabledResult is DXGK_ISFEATUREENABLED_RESULT, 4 bytes.
type IsFeatureEnabledResult struct {
	Version uint16
	Union   [2]byte // Enabled, KnownFeature, SupportedByDriver, SupportedOnCurrentConfig, Reserved, Value
}

// IsFeatureEnabled is D3DKMT_ISFEATUREENABLED, 12 bytes, the argument of
// D3DKMTIsFeatureEnabled.
type IsFeatureEnabled struct {
	HAdapter  Handle
	FeatureId FeatureID
	Result    IsFeatureEnabledResult // answered
}

// MarkDeviceAsError is D3DKMT_MARKDEVICEASERROR, 8 bytes, the argument of
// D3DKMTMarkDeviceAsError.
type MarkDeviceAsError struct {
	HDevice Handle
	Reason  DeviceErrorReason
}

// OutputDuplContextsCount is D3DKMT_OUTPUTDUPLCONTEXTSCOUNT, 8 bytes.
type OutputDuplContextsCount struct {
	VidPnSourceId          uint32
	OutputDuplicationCount uint32
}

// Render is D3DKMT_RENDER, 368 bytes, the argument of D3DKMTRender.
type Render struct {
	Union                    [1]uint32 // hDevice, hContext
	CommandOffset            uint32
	CommandLength            uint32
	AllocationCount          uint32
	PatchLocationCount       uint32
	_                        [4]byte
	PNewCommandBuffer        uint64 // answered
	NewCommandBufferSize     uint32 // answered
	_                        [4]byte
	PNewAllocationList       uint64 // answered
	NewAllocationListSize    uint32 // answered
	_                        [4]byte
	PNewPatchLocationList    uint64 // answered
	NewPatchLocationListSize uint32 // answered
	Flags                    RenderFlags
	PresentHistoryToken      uint64
	BroadcastContextCount    uint32
	BroadcastContext         [64]Handle
	QueuedBufferCount        uint32 // answered
	NewCommandBuffer         uint64 // answered
	PPrivateDriverData       uint64 // PrivateDriverDataSize bytes, in
	PrivateDriverDataSize    uint32
	_                        [4]byte
}

// SetContextInProcessSchedulingPriority is
// D3DKMT_SETCONTEXTINPROCESSSCHEDULINGPRIORITY, 8 bytes, the argument of
// D3DKMTSetContextInProcessSchedulingPriority.
type SetContextInProcessSchedulingPriority struct {
	HContext Handle
	Priority int32
}

// SetContextSchedulingPriority is D3DKMT_SETCONTEXTSCHEDULINGPRIORITY, 8 bytes, the
// argument of D3DKMTSetContextSchedulingPriority.
type SetContextSchedulingPriority struct {
	HContext Handle
	Priority int32
}

// SetQueuedLimit is D3DKMT_SETQUEUEDLIMIT, 16 bytes.
type SetQueuedLimit struct {
	HDevice                Handle
	Type                   uint32
	Union                  [1]uint32 // QueuedPresentLimit, VidPnSourceId
	QueuedPendingFlipLimit uint32
}

// SetStablePowerState is D3DKMT_SETSTABLEPOWERSTATE, 8 bytes.
type SetStablePowerState struct {
	HAdapter Handle
	Enabled  uint32
}

// SubmitCommand is D3DKMT_SUBMITCOMMAND, 384 bytes, the argument of
// D3DKMTSubmitCommand.
type SubmitCommand struct {
	Commands              uint64
	CommandLength         uint32
	Flags                 SubmitCommandFlags
	PresentHistoryToken   uint64
	BroadcastContextCount uint32
	BroadcastContext      [64]Handle
	_                     [4]byte
	PPrivateDriverData    uint64 // PrivateDriverDataSize bytes, in
	PrivateDriverDataSize uint32
	NumPrimaries          uint32
	WrittenPrimaries      [16]Handle
	NumHistoryBuffers     uint32
	_                     [4]byte
	HistoryBufferArray    uint64 // array of NumHistoryBuffers, in
}

// SubmitCommandToHwQueue is D3DKMT_SUBMITCOMMANDTOHWQUEUE, 56 bytes, the argument of
// D3DKMTSubmitCommandToHwQueue.
type SubmitCommandToHwQueue struct {
	HHwQueue               Handle
	_                      [4]byte
	HwQueueProgressFenceId uint64
	CommandBuffer          uint64
	CommandLength          uint32
	PrivateDriverDataSize  uint32
	PPrivateDriverData     uint64 // PrivateDriverDataSize bytes, in
	NumPrimaries           uint32
	_                      [4]byte
	WrittenPrimaries       uint64 // array of NumPrimaries, in
}
