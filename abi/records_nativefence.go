package abi

// NativeFenceMapping is D3DDDI_NATIVEFENCEMAPPING, 56 bytes.
type NativeFenceMapping struct {
	CurrentValueCpuVa   uint64
	CurrentValueGpuVa   uint64
	MonitoredValueGpuVa uint64
	Reserved            [32]uint8
}

// NativeFenceInfo is D3DDDI_NATIVEFENCEINFO, 112 bytes.
type NativeFenceInfo struct {
	InitialFenceValue  uint64
	EngineAffinity     uint32
	Type               NativeFenceType
	Flags              SyncObjectFlags
	_                  [4]byte
	NativeFenceMapping NativeFenceMapping
	Reserved           [28]uint8
	_                  [4]byte
}

// ConnectDoorbell is D3DKMT_CONNECT_DOORBELL, 8 bytes, the argument of
// D3DKMTConnectDoorbell.
type ConnectDoorbell struct {
	HDoorbell Handle
	Flags     ConnectDoorbellFlags
}

// CreateNativeFence is D3DKMT_CREATENATIVEFENCE, 216 bytes, the argument of
// D3DKMTCreateNativeFence.
type CreateNativeFence struct {
	HDevice           Handle
	HSyncObject       Handle    // answered
	PrivateDriverData [64]uint8 // answered
	Info              NativeFenceInfo
	Flags             CreateNativeFenceFlags
	Reserved          [28]uint8
}

// CreateDoorbell is D3DKMT_CREATE_DOORBELL, 72 bytes, the argument of
// D3DKMTCreateDoorbell.
type CreateDoorbell struct {
	HHwQueue                                             Handle
	HRingBuffer                                          Handle
	HRingBufferControl                                   Handle
	Flags                                                CreateDoorbellFlags
	PrivateDriverDataSize                                uint32
	_                                                    [4]byte
	PrivateDriverData                                    uint64 // PrivateDriverDataSize bytes, in and out
	DoorbellCPUVirtualAddress                            uint64 // answered
	DoorbellSecondaryCPUVirtualAddress                   uint64 // answered
	DoorbellStatusCPUVirtualAddress                      uint64 // answered
	HwQueueProgressFenceLastQueuedValueCPUVirtualAddress uint64 // answered
	HDoorbell                                            Handle // answered
	_                                                    [4]byte
}

// DestroyDoorbell is D3DKMT_DESTROY_DOORBELL, 4 bytes, the argument of
// D3DKMTDestroyDoorbell.
type DestroyDoorbell struct {
	HDoorbell Handle
}

// GetNativeFenceLogDetail is D3DKMT_GETNATIVEFENCELOGDETAIL, 96 bytes, the argument
// of D3DKMTGetNativeFenceLogDetail.
type GetNativeFenceLogDetail struct {
	HHwQueue                 Handle
	Flags                    GetNativeFenceLogDetailFlags
	WaitLogNumberOfEntries   uint32 // answered
	SignalLogNumberOfEntries uint32 // answered
	WaitLogGpuBaseAddress    uint64 // answered
	SignalLogGpuBaseAddress  uint64 // answered
	Reserved                 [64]uint8
}

// NotifyWorkSubmission is D3DKMT_NOTIFY_WORK_SUBMISSION, 8 bytes, the argument of
// D3DKMTNotifyWorkSubmission.
type NotifyWorkSubmission struct {
	HDoorbell Handle
	Flags     NotifyWorkSubmissionFlags
}

// OpenNativeFenceFromNtHandle is D3DKMT_OPENNATIVEFENCEFROMNTHANDLE, 176 bytes, the
// argument of D3DKMTOpenNativeFenceFromNtHandle.
type OpenNativeFenceFromNtHandle struct {
	HNtHandle          uint64 // an NT handle
	HDevice            Handle
	EngineAffinity     uint32
	Flags              SyncObjectFlags
	HSyncObject        Handle // answered
	NativeFenceMapping NativeFenceMapping
	PrivateDriverData  [64]uint8 // answered
	Reserved           [32]uint8
}

// NativeFenceLogEntry is DXGK_NATIVE_FENCE_LOG_ENTRY, 48 bytes.
type NativeFenceLogEntry struct {
	FenceValue                uint64
	HNativeFence              Handle
	OperationType             NativeFenceLogOperation
	Reserved0                 uint64
	FenceObservedGpuTimestamp uint64
	Reserved1                 uint64
	FenceEndGpuTimestamp      uint64
}

// NativeFenceLogHeader is DXGK_NATIVE_FENCE_LOG_HEADER, 40 bytes.
type NativeFenceLogHeader struct {
	Union           [1]uint64 // FirstFreeEntryIndex, WraparoundCount, AtomicWraparoundAndEntryIndex
	Type            NativeFenceLogType
	_               [4]byte
	NumberOfEntries uint64
	Reserved        [2]uint64
}

// NativeFenceLogBuffer is DXGK_NATIVE_FENCE_LOG_BUFFER, 88 bytes.
type NativeFenceLogBuffer struct {
	Header  NativeFenceLogHeader
	Entries [1]NativeFenceLogEntry
}

// CreateHwQueueForUserModeSubmission is D3DKMT_CREATEHWQUEUEFORUSERMODESUBMISSION,
// 320 bytes. It is newer than the tables the other records are checked with: the
// layout follows from the documented order of its members and their sizes
// (native-fence.md §11, OQ-40).
type CreateHwQueueForUserModeSubmission struct {
	HHwContext                        Handle
	Flags                             CreateHwQueueFlags
	HRingBuffer                       Handle
	HRingBufferControl                Handle
	PrivateDriverData                 [64]byte
	HHwQueue                          Handle // answered, as all that follows
	_                                 [4]byte
	DoorbellStatusCpuVa               uint64
	HProgressFence                    Handle
	_                                 [4]byte
	ProgressFenceMapping              NativeFenceMapping
	ProgressFenceLastQueuedValueCpuVa uint64
	LogBufferInfo                     NativeFenceLogDetail
	Reserved                          [64]byte
}

// NativeFenceLogDetail is D3DDDI_NATIVEFENCELOGDETAIL, 88 bytes: where the log
// buffers of a queue are.
type NativeFenceLogDetail struct {
	WaitLogNumberOfEntries   uint32
	SignalLogNumberOfEntries uint32
	WaitLogGpuBaseAddress    uint64
	SignalLogGpuBaseAddress  uint64
	Reserved                 [64]byte
}
