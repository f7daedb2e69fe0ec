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
	0x09: (*Process).queryAdapterInfo,
	0x0E: (*Process).getDeviceState,
	0x10: (*Process).createSynchronizationObject2,
	0x14: (*Process).enumAdapters2,
	0x15: (*Process).closeAdapter,
	0x19: (*Process).destroyDevice,
	0x1D: (*Process).destroySynchronizationObject,
	0x31: (*Process).signalSynchronizationObjectFromCpu,
	0x3A: (*Process).waitForSynchronizationObjectFromCpu,
	0x3E: (*Process).enumAdapters3,
	0x3F: (*Process).shareObjects,
	0x40: (*Process).openSyncObjectFromNtHandle2,
}

// sessionOps are the session operations that reach the kernel; the door answers
// the others itself.
var sessionOps = map[uint16]operation{
	0xF003: (*Process).ring,
	0xF005: (*Process).cancelWait,
}
