package abi

// SynchronizationObjectInfoSynchronizationMutex is a part of
// D3DDDI_SYNCHRONIZATIONOBJECTINFO, 4 bytes.
type SynchronizationObjectInfoSynchronizationMutex struct {
	InitialState uint32
}

// SynchronizationObjectInfoSemaphore is a part of D3DDDI_SYNCHRONIZATIONOBJECTINFO,
// 8 bytes.
type SynchronizationObjectInfoSemaphore struct {
	MaxCount     uint32
	InitialCount uint32
}

// SynchronizationObjectInfo is D3DDDI_SYNCHRONIZATIONOBJECTINFO, 68 bytes.
type SynchronizationObjectInfo struct {
	Type  SyncObjectType
	Union [16]uint32 // SynchronizationMutex, Semaphore, Reserved
}

// MutexInfo is the union of SynchronizationObjectInfo2 for a mutex.
type MutexInfo struct {
	InitialState uint32 // BOOL: owned from the start
}

// SemaphoreInfo is the union of SynchronizationObjectInfo2 for a semaphore.
type SemaphoreInfo struct {
	MaxCount     uint32
	InitialCount uint32
}

// FenceInfo is the union of SynchronizationObjectInfo2 for a fence.
type FenceInfo struct {
	FenceValue uint64
}

// CPUNotificationInfo is the union of SynchronizationObjectInfo2 for a CPU
// notification.
type CPUNotificationInfo struct {
	Event uint64 // an eventfd
}

// MonitoredFenceInfo is the union of SynchronizationObjectInfo2 for a monitored
// fence. Both addresses are answered: the first is readable only, the second is for
// GPU commands and 0 with NoGPUAccess.
type MonitoredFenceInfo struct {
	InitialFenceValue           uint64
	FenceValueCPUVirtualAddress uint64
	FenceValueGPUVirtualAddress uint64
	EngineAffinity              uint32
	Padding                     uint32
}

// PeriodicMonitoredFenceInfo is the union of SynchronizationObjectInfo2 for a
// periodic monitored fence. Both addresses are answered and readable only.
type PeriodicMonitoredFenceInfo struct {
	HAdapter                    Handle
	VidPnTargetId               uint32
	Time                        uint64 // before each vertical sync, in 100 ns
	FenceValueCPUVirtualAddress uint64
	FenceValueGPUVirtualAddress uint64
	EngineAffinity              uint32
	Padding                     uint32
}

// SynchronizationObjectInfo2 is D3DDDI_SYNCHRONIZATIONOBJECTINFO2, 80 bytes: what an
// object is made with. Its union is read by Type.
type SynchronizationObjectInfo2 struct {
	Type         SyncObjectType
	Flags        SyncObjectFlags
	Union        [8]uint64 // seen through the methods named for the kinds
	SharedHandle Handle    // answered for an object shared without NtSecuritySharing
	_            [4]byte
}

// CreateSyncFile is D3DKMT_CREATESYNCFILE, 24 bytes, the argument of
// D3DKMTCreateSyncFile.
type CreateSyncFile struct {
	HDevice         Handle
	HMonitoredFence Handle
	FenceValue      uint64
	HSyncFile       uint64 // answered: a sync file
}

// CreateSynchronizationObject is D3DKMT_CREATESYNCHRONIZATIONOBJECT, 76 bytes.
type CreateSynchronizationObject struct {
	HDevice     Handle
	Info        SynchronizationObjectInfo
	HSyncObject Handle
}

// CreateSynchronizationObject2 is D3DKMT_CREATESYNCHRONIZATIONOBJECT2, 96 bytes, the
// argument of D3DKMTCreateSynchronizationObject2.
type CreateSynchronizationObject2 struct {
	HDevice     Handle
	_           [4]byte
	Info        SynchronizationObjectInfo2
	HSyncObject Handle // answered
	_           [4]byte
}

// DestroySynchronizationObject is D3DKMT_DESTROYSYNCHRONIZATIONOBJECT, 4 bytes, the
// argument of D3DKMTDestroySynchronizationObject.
type DestroySynchronizationObject struct {
	HSyncObject Handle
}

// GetSharedResourceAdapterLuid is D3DKMT_GETSHAREDRESOURCEADAPTERLUID, 24 bytes, the
// argument of D3DKMTGetSharedResourceAdapterLuid.
type GetSharedResourceAdapterLuid struct {
	HGlobalShare Handle
	_            [4]byte
	HNtHandle    uint64 // an NT handle
	AdapterLuid  LUID   // answered
}

// OpenNtHandleFromName is D3DKMT_OPENNTHANDLEFROMNAME, 24 bytes, the argument of
// D3DKMTOpenNtHandleFromName.
type OpenNtHandleFromName struct {
	DwDesiredAccess uint32
	_               [4]byte
	PObjAttrib      uint64 // pointer, in
	HNtHandle       uint64 // answered: an NT handle
}

// OpenSynchronizationObject is D3DKMT_OPENSYNCHRONIZATIONOBJECT, 72 bytes, the
// argument of D3DKMTOpenSynchronizationObject.
type OpenSynchronizationObject struct {
	HSharedHandle Handle
	HSyncObject   Handle // answered
	Reserved      [8]uint64
}

// OpenSyncObjectFromNtHandle is D3DKMT_OPENSYNCOBJECTFROMNTHANDLE, 16 bytes, the
// argument of D3DKMTOpenSyncObjectFromNtHandle.
type OpenSyncObjectFromNtHandle struct {
	HNtHandle   uint64 // an NT handle
	HSyncObject Handle // answered
	_           [4]byte
}

// OpenMonitoredFenceInfo is the union of OpenSyncObjectFromNtHandle2 for a monitored
// fence. Both addresses are answered.
type OpenMonitoredFenceInfo struct {
	FenceValueCPUVirtualAddress uint64
	FenceValueGPUVirtualAddress uint64
	EngineAffinity              uint32
	_                           [4]byte
}

// OpenSyncObjectFromNtHandle2 is D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2, 88 bytes, the
// argument of D3DKMTOpenSyncObjectFromNtHandle2.
type OpenSyncObjectFromNtHandle2 struct {
	HNtHandle   uint64 // an NT handle
	HDevice     Handle
	Flags       SyncObjectFlags
	HSyncObject Handle // answered
	_           [4]byte
	Union       [8]uint64 // MonitoredFence, Reserved
}

// OpenSyncObjectFromSyncFile is D3DKMT_OPENSYNCOBJECTFROMSYNCFILE, 40 bytes, the
// argument of D3DKMTOpenSyncObjectFromSyncFile.
type OpenSyncObjectFromSyncFile struct {
	HSyncFile                   uint64 // a sync file
	HDevice                     Handle
	HSyncObject                 Handle // answered
	FenceValue                  uint64 // answered
	FenceValueCPUVirtualAddress uint64 // answered
	FenceValueGPUVirtualAddress uint64 // answered
}

// OpenSyncObjectNtHandleFromName is D3DKMT_OPENSYNCOBJECTNTHANDLEFROMNAME, 24 bytes,
// the argument of D3DKMTOpenSyncObjectNtHandleFromName.
type OpenSyncObjectNtHandleFromName struct {
	DwDesiredAccess uint32
	_               [4]byte
	PObjAttrib      uint64 // pointer, in
	HNtHandle       uint64 // answered: an NT handle
}

// ShareObjects is D3DKMT_SHAREOBJECTS, 40 bytes, the argument of D3DKMTShareObjects.
type ShareObjects struct {
	ObjectCount       uint32
	_                 [4]byte
	ObjectHandleArray uint64 // array of ObjectCount, in
	PObjectAttributes uint64 // pointer, in
	DesiredAccess     uint32
	_                 [4]byte
	PSharedNtHandle   uint64 // pointer, out
}

// ShareObjectWithHost is D3DKMT_SHAREOBJECTWITHHOST, 24 bytes, the argument of
// D3DKMTShareObjectWithHost.
type ShareObjectWithHost struct {
	HDevice              Handle
	HObject              Handle
	Reserved             uint64
	HVailProcessNtHandle uint64 // answered
}

// SignalSynchronizationObject is D3DKMT_SIGNALSYNCHRONIZATIONOBJECT, 140 bytes.
type SignalSynchronizationObject struct {
	HContext          Handle
	ObjectCount       uint32
	ObjectHandleArray [32]Handle
	Flags             SignalFlags
}

// SignalSynchronizationObject2Fence is a part of
// D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2, 8 bytes.
type SignalSynchronizationObject2Fence struct {
	FenceValue uint64
}

// SignalSynchronizationObject2 is D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2, 464 bytes,
// the argument of D3DKMTSignalSynchronizationObject2.
type SignalSynchronizationObject2 struct {
	HContext              Handle
	ObjectCount           uint32
	ObjectHandleArray     [32]Handle
	Flags                 SignalFlags
	BroadcastContextCount uint32
	BroadcastContext      [64]Handle
	Union                 [8]uint64 // Fence, CpuEventHandle, Reserved
}

// SignalSynchronizationObjectFromCpu is D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU,
// 32 bytes, the argument of D3DKMTSignalSynchronizationObjectFromCpu.
type SignalSynchronizationObjectFromCpu struct {
	HDevice           Handle
	ObjectCount       uint32
	ObjectHandleArray uint64 // array of ObjectCount, in
	FenceValueArray   uint64 // array of ObjectCount, in
	Flags             SignalFlags
	_                 [4]byte
}

// SignalSynchronizationObjectFromGpu is D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU,
// 80 bytes, the argument of D3DKMTSignalSynchronizationObjectFromGpu.
type SignalSynchronizationObjectFromGpu struct {
	HContext          Handle
	ObjectCount       uint32
	ObjectHandleArray uint64    // array of ObjectCount, in
	Union             [8]uint64 // MonitoredFenceValueArray, Reserved
}

// SignalSynchronizationObjectFromGpu2 is D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2,
// 96 bytes, the argument of D3DKMTSignalSynchronizationObjectFromGpu2.
type SignalSynchronizationObjectFromGpu2 struct {
	ObjectCount           uint32
	_                     [4]byte
	ObjectHandleArray     uint64 // array of ObjectCount, in
	Flags                 SignalFlags
	BroadcastContextCount uint32
	BroadcastContextArray uint64    // array of BroadcastContextCount, in
	Union                 [8]uint64 // FenceValue, CpuEventHandle, MonitoredFenceValueArray, Reserved
}

// SubmitSignalSyncObjectsToHwQueue is D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE, 40
// bytes, the argument of D3DKMTSubmitSignalSyncObjectsToHwQueue.
type SubmitSignalSyncObjectsToHwQueue struct {
	Flags                 SignalFlags
	BroadcastHwQueueCount uint32
	BroadcastHwQueueArray uint64 // array of BroadcastHwQueueCount, in
	ObjectCount           uint32
	_                     [4]byte
	ObjectHandleArray     uint64 // array of ObjectCount, in
	FenceValueArray       uint64 // array of ObjectCount, in
}

// SubmitWaitForSyncObjectsToHwQueue is D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE, 24
// bytes, the argument of D3DKMTSubmitWaitForSyncObjectsToHwQueue.
type SubmitWaitForSyncObjectsToHwQueue struct {
	HHwQueue          Handle
	ObjectCount       uint32
	ObjectHandleArray uint64 // array of ObjectCount, in
	FenceValueArray   uint64 // array of ObjectCount, in
}

// WaitForIdle is D3DKMT_WAITFORIDLE, 4 bytes, the argument of D3DKMTWaitForIdle.
type WaitForIdle struct {
	HDevice Handle
}

// WaitForSynchronizationObject is D3DKMT_WAITFORSYNCHRONIZATIONOBJECT, 136 bytes.
type WaitForSynchronizationObject struct {
	HContext          Handle
	ObjectCount       uint32
	ObjectHandleArray [32]Handle
}

// WaitForSynchronizationObject2Fence is a part of
// D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2, 8 bytes.
type WaitForSynchronizationObject2Fence struct {
	FenceValue uint64
}

// WaitForSynchronizationObject2 is D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2, 200 bytes,
// the argument of D3DKMTWaitForSynchronizationObject2.
type WaitForSynchronizationObject2 struct {
	HContext          Handle
	ObjectCount       uint32
	ObjectHandleArray [32]Handle
	Union             [8]uint64 // Fence, Reserved
}

// WaitForSynchronizationObjectFromCpu is D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU,
// 40 bytes, the argument of D3DKMTWaitForSynchronizationObjectFromCpu.
type WaitForSynchronizationObjectFromCpu struct {
	HDevice           Handle
	ObjectCount       uint32
	ObjectHandleArray uint64 // array of ObjectCount, in
	FenceValueArray   uint64 // array of ObjectCount, in
	HAsyncEvent       uint64 // a CPU event
	Flags             WaitFromCpuFlags
	_                 [4]byte
}

// WaitForSynchronizationObjectFromGpu is D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU,
// 80 bytes, the argument of D3DKMTWaitForSynchronizationObjectFromGpu.
type WaitForSynchronizationObjectFromGpu struct {
	HContext          Handle
	ObjectCount       uint32
	ObjectHandleArray uint64    // array of ObjectCount, in
	Union             [8]uint64 // MonitoredFenceValueArray, FenceValue, Reserved
}

// WaitSyncFile is D3DKMT_WAITSYNCFILE, 16 bytes, the argument of D3DKMTWaitSyncFile.
type WaitSyncFile struct {
	HSyncFile uint64 // a sync file
	HContext  Handle
	Reserved  uint32
}

// ObjectAttributes is OBJECT_ATTRIBUTES, 48 bytes.
type ObjectAttributes struct {
	Length                   uint32
	_                        [4]byte
	RootDirectory            uint64
	ObjectName               uint64
	Attributes               uint32
	_                        [4]byte
	SecurityDescriptor       uint64
	SecurityQualityOfService uint64
}

// UnicodeString is UNICODE_STRING, 16 bytes.
type UnicodeString struct {
	Length        uint16
	MaximumLength uint16
	_             [4]byte
	Buffer        uint64
}
