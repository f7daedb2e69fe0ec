package abi

// syncOps are the calls of synchronization objects. Version 1 of create has no row:
// client libraries build it on version 2. Version 1 of signal and of wait refuses what
// version 2 takes, so they have numbers of ours.
var syncOps = []Op{
	{
		Nr: 0x10, Name: "D3DKMTCreateSynchronizationObject2", Record: "D3DKMT_CREATESYNCHRONIZATIONOBJECT2", Size: 96, Request: 0xC0604710, Support: Supported,
		Out:   []Span{{0x18, 0x18}, {0x50, 4}, {0x58, 4}},
		Files: []FileField{cpuEvent(0x10, isCPUNotification)},
	},
	{
		Nr: 0x11, Name: "D3DKMTSignalSynchronizationObject2", Record: "D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2", Size: 464, Request: 0xC1D04711, Support: Supported,
		Files: []FileField{cpuEvent(0x190, enqueuesCPUEvent(0x88))},
	},
	{Nr: 0x12, Name: "D3DKMTWaitForSynchronizationObject2", Record: "D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2", Size: 200, Request: 0xC0C84712, Support: Supported},
	{Nr: 0x1D, Name: "D3DKMTDestroySynchronizationObject", Record: "D3DKMT_DESTROYSYNCHRONIZATIONOBJECT", Size: 4, Request: 0xC004471D, Support: Supported},
	{
		Nr: 0x29, Name: "D3DKMTOpenSynchronizationObject", Record: "D3DKMT_OPENSYNCHRONIZATIONOBJECT", Size: 72, Request: 0xC0484729, Support: Supported,
		Out: []Span{{4, 4}},
	},
	{
		Nr: 0x31, Name: "D3DKMTSignalSynchronizationObjectFromCpu", Record: "D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU", Size: 32, Request: 0xC0204731, Support: Supported,
		Arrays: []Array{handles(8, 4, In, maxObjects), values(0x10, 4, maxObjects)},
	},
	{
		Nr: 0x32, Name: "D3DKMTSignalSynchronizationObjectFromGpu", Record: "D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU", Size: 80, Request: 0xC0504732, Support: Supported,
		Arrays: []Array{handles(8, 4, In, maxObjects), valuesMaybe(0x10, 4, maxObjects)},
	},
	{
		Nr: 0x33, Name: "D3DKMTSignalSynchronizationObjectFromGpu2", Record: "D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2", Size: 96, Request: 0xC0604733, Support: Supported,
		Arrays: []Array{handles(8, 0, In, maxObjects), handles(0x18, 0x14, In, maxBroadcast), valuesMaybe(0x20, 0, maxObjects)},
		Files:  []FileField{cpuEvent(0x20, enqueuesCPUEvent(0x10))},
	},
	{
		Nr: 0x35, Name: "D3DKMTSubmitSignalSyncObjectsToHwQueue", Record: "D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE", Size: 40, Request: 0xC0284735, Support: Supported,
		Arrays: []Array{handles(8, 4, In, maxBroadcast), handles(0x18, 0x10, In, maxHwQueueObjects), values(0x20, 0x10, maxHwQueueObjects)},
	},
	{
		Nr: 0x36, Name: "D3DKMTSubmitWaitForSyncObjectsToHwQueue", Record: "D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE", Size: 24, Request: 0xC0184736, Support: Supported,
		Arrays: []Array{handles(8, 4, In, maxHwQueueObjects), values(0x10, 4, maxHwQueueObjects)},
	},
	{
		Nr: 0x3A, Name: "D3DKMTWaitForSynchronizationObjectFromCpu", Record: "D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU", Size: 40, Request: 0xC028473A, Support: Supported,
		Arrays: []Array{handles(8, 4, In, maxObjects), values(0x10, 4, maxObjects)},
		Files:  []FileField{cpuEvent(0x18, When{})},
	},
	{
		Nr: 0x3B, Name: "D3DKMTWaitForSynchronizationObjectFromGpu", Record: "D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU", Size: 80, Request: 0xC050473B, Support: Supported,
		Arrays: []Array{handles(8, 4, In, maxObjects), valuesMaybe(0x10, 4, maxObjects)},
	},
	{
		Nr: 0x3F, Name: "D3DKMTShareObjects", Record: "D3DKMT_SHAREOBJECTS", Size: 40, Request: 0xC028473F, Support: Supported,
		Arrays: []Array{handles(8, 0, In, maxBundle), objectAttributes(0x10), {Pointer: 0x20, Fixed: 1, Elem: 8, Dir: Out, Max: 1}, objectName(1), securityDescriptor(1)},
		Files:  []FileField{{Dir: Out, Kind: FileNTHandle, Array: 2}},
	},
	{
		Nr: 0x40, Name: "D3DKMTOpenSyncObjectFromNtHandle2", Record: "D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2", Size: 88, Request: 0xC0584740, Support: Supported,
		Out:   []Span{{0x10, 4}, {0x18, 0x10}},
		Files: []FileField{ntHandle(0)},
	},
	{
		Nr: 0x44, Name: "D3DKMTShareObjectWithHost", Record: "D3DKMT_SHAREOBJECTWITHHOST", Size: 24, Request: 0xC0184744,
		Out: []Span{{0x10, 8}},
	},
	{
		Nr: 0x45, Name: "D3DKMTCreateSyncFile", Record: "D3DKMT_CREATESYNCFILE", Size: 24, Request: 0xC0184745, Support: Supported,
		Out:   []Span{{0x10, 8}},
		Files: []FileField{{Off: 0x10, Dir: Out, Kind: FileSyncFile, Array: -1}},
	},
	{
		Nr: 0x46, Name: "D3DKMTWaitSyncFile", Record: "D3DKMT_WAITSYNCFILE", Size: 16, Request: 0xC0104746,
		Files: []FileField{{Off: 0, Dir: In, Kind: FileSyncFile, Array: -1}},
	},
	{
		Nr: 0x47, Name: "D3DKMTOpenSyncObjectFromSyncFile", Record: "D3DKMT_OPENSYNCOBJECTFROMSYNCFILE", Size: 40, Request: 0xC0284747,
		Out:   []Span{{0x0C, 0x1C}},
		Files: []FileField{{Off: 0, Dir: In, Kind: FileSyncFile, Array: -1}},
	},
	{
		Nr: 0x8001, Name: "D3DKMTOpenSyncObjectFromNtHandle", Record: "D3DKMT_OPENSYNCOBJECTFROMNTHANDLE", Size: 16, Support: Supported,
		Out:   []Span{{8, 4}},
		Files: []FileField{ntHandle(0)},
	},
	{
		Nr: 0x8002, Name: "D3DKMTOpenSyncObjectNtHandleFromName", Record: "D3DKMT_OPENSYNCOBJECTNTHANDLEFROMNAME", Size: 24, Support: Supported,
		Out:    []Span{{0x10, 8}},
		Arrays: []Array{objectAttributes(8), objectName(0), securityDescriptor(0)},
		Files:  []FileField{{Off: 0x10, Dir: Out, Kind: FileNTHandle, Array: -1}},
	},
	{
		Nr: 0x8003, Name: "D3DKMTOpenNtHandleFromName", Record: "D3DKMT_OPENNTHANDLEFROMNAME", Size: 24, Support: Supported,
		Out:    []Span{{0x10, 8}},
		Arrays: []Array{objectAttributes(8), objectName(0), securityDescriptor(0)},
		Files:  []FileField{{Off: 0x10, Dir: Out, Kind: FileNTHandle, Array: -1}},
	},
	{Nr: 0x8017, Name: "D3DKMTSignalSynchronizationObject", Record: "D3DKMT_SIGNALSYNCHRONIZATIONOBJECT", Size: 140, Support: Supported},
	{Nr: 0x8018, Name: "D3DKMTWaitForSynchronizationObject", Record: "D3DKMT_WAITFORSYNCHRONIZATIONOBJECT", Size: 136, Support: Supported},
}
