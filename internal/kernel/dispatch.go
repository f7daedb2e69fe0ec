package kernel

import "github.com/dxgsync/dxgsync/abi"

// operation answers one kind of request for a process.
type operation = func(*Process, *abi.Request) abi.Status

// publicOps is indexed by request number: the operations of the table that this
// kernel answers. Those absent are NOT_SUPPORTED; dispatch_test.go compares this
// table with the support column of abi.Ops.
var publicOps = [0x4A]operation{
	0x01: (*Process).openAdapterFromLUID,
	0x02: (*Process).createDevice,
	0x04: (*Process).createContextVirtual,
	0x05: (*Process).destroyContext,
	0x06: (*Process).createAllocation2,
	0x07: (*Process).createPagingQueue,
	0x08: (*Process).reserveGpuVirtualAddress,
	0x09: (*Process).queryAdapterInfo,
	0x0A: (*Process).queryVideoMemoryInfo,
	0x0B: (*Process).makeResident,
	0x0C: (*Process).mapGpuVirtualAddress,
	0x0E: (*Process).getDeviceState,
	0x0F: (*Process).submitCommand,
	0x10: (*Process).createSynchronizationObject2,
	0x11: (*Process).signalSynchronizationObject2,
	0x12: (*Process).waitForSynchronizationObject2,
	0x13: (*Process).destroyAllocation2,
	0x14: (*Process).enumAdapters2,
	0x15: (*Process).closeAdapter,
	0x16: (*Process).changeVideoMemoryReservation,
	0x18: (*Process).createHwQueue,
	0x19: (*Process).destroyDevice,
	0x1B: (*Process).destroyHwQueue,
	0x1C: (*Process).destroyPagingQueue,
	0x1D: (*Process).destroySynchronizationObject,
	0x1E: (*Process).evict,
	0x20: (*Process).freeGpuVirtualAddress,
	0x21: (*Process).getContextInProcessSchedulingPriority,
	0x22: (*Process).getContextSchedulingPriority,
	0x24: (*Process).invalidateCache,
	0x25: (*Process).lock2,
	0x26: (*Process).markDeviceAsError,
	0x27: (*Process).offerAllocations,
	0x28: (*Process).openResource,
	0x29: (*Process).openSynchronizationObject,
	0x2A: (*Process).queryAllocationResidency,
	0x2B: (*Process).queryResourceInfo,
	0x2C: (*Process).reclaimAllocations2,
	0x2E: (*Process).setAllocationPriority,
	0x2F: (*Process).setContextInProcessSchedulingPriority,
	0x30: (*Process).setContextSchedulingPriority,
	0x31: (*Process).signalSynchronizationObjectFromCpu,
	0x32: (*Process).signalSynchronizationObjectFromGpu,
	0x33: (*Process).signalSynchronizationObjectFromGpu2,
	0x34: (*Process).submitCommandToHwQueue,
	0x35: (*Process).submitSignalSyncObjectsToHwQueue,
	0x36: (*Process).submitWaitForSyncObjectsToHwQueue,
	0x37: (*Process).unlock2,
	0x39: (*Process).updateGpuVirtualAddress,
	0x3A: (*Process).waitForSynchronizationObjectFromCpu,
	0x3B: (*Process).waitForSynchronizationObjectFromGpu,
	0x3C: (*Process).getAllocationPriority,
	0x3D: (*Process).queryClockCalibration,
	0x3E: (*Process).enumAdapters3,
	0x3F: (*Process).shareObjects,
	0x40: (*Process).openSyncObjectFromNtHandle2,
	0x41: (*Process).queryResourceInfoFromNtHandle,
	0x42: (*Process).openResourceFromNtHandle,
	0x43: (*Process).queryStatistics,
	0x45: (*Process).createSyncFile,
	0x48: (*Process).enumProcesses,
	0x49: (*Process).isFeatureEnabled,
}

// ownOps are the operations without a public number, from firstOwn.
var ownOps = [...]operation{
	0x0: (*Process).openSyncObjectFromNtHandle,
	0x1: (*Process).openSyncObjectNtHandleFromName,
	0x2: (*Process).openNtHandleFromName,
	0x3: (*Process).createKeyedMutex,
	0x4: (*Process).createKeyedMutex2,
	0x5: (*Process).openKeyedMutex,
	0x6: (*Process).openKeyedMutex2,
	0x7: (*Process).openKeyedMutexFromNtHandle,
	0x8: (*Process).acquireKeyedMutex,
	0x9: (*Process).acquireKeyedMutex2,
	0xA: (*Process).releaseKeyedMutex,
	0xB: (*Process).releaseKeyedMutex2,
	0xC: (*Process).destroyKeyedMutex,
	0xD: (*Process).createNativeFence,
	0xE: (*Process).openNativeFenceFromNtHandle,
	0xF: (*Process).getNativeFenceLogDetail,

	0x10: (*Process).createDoorbell,
	0x11: (*Process).connectDoorbell,
	0x12: (*Process).destroyDoorbell,
	0x13: (*Process).notifyWorkSubmission,
	0x14: (*Process).waitForIdle,
	0x15: (*Process).createHwQueueForUserModeSubmission,
	0x16: (*Process).signalSynchronizationObject,
	0x17: (*Process).waitForSynchronizationObject,
}

const firstOwn = 0x8001

// operationOf finds an operation; nil: this kernel does not answer it.
func operationOf(nr uint16) operation {
	switch own := int(nr) - firstOwn; {
	case int(nr) < len(publicOps):
		return publicOps[nr]
	case own >= 0 && own < len(ownOps):
		return ownOps[own]
	}
	return sessionOps[nr]
}

// sessionOps are the session operations that reach the kernel; the door answers
// the others itself.
var sessionOps = map[uint16]operation{
	0xF003: (*Process).ring,
	0xF005: (*Process).cancelWait,
	0xF008: (*Process).endThread,
}
