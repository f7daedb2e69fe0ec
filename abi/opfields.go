package abi

// The most elements of an array that travel. A larger count is refused with
// INVALID_PARAMETER; where the specification has a limit of its own, it is this or
// less. A frame bounds what all arrays of a call hold together.
const (
	maxAdapters        = 4096  // adapters in an enumeration's array
	maxAllocationData  = 16384 // bytes of private data of all allocations of one call
	maxAllocationInfos = 256   // allocations made or opened by one call
	maxBroadcast       = 64    // D3DDDI_MAX_BROADCAST_CONTEXT
	maxBundle          = 16    // D3DKMT_MAX_BUNDLE_OBJECTS_PER_HANDLE
	maxDescriptor      = 16384 // bytes of a security descriptor
	maxHistoryBuffers  = 1024  // history buffers of a command
	maxHwQueueObjects  = 32    // OQ-23
	maxName            = 65534 // bytes of a name: 32767 UTF-16 units
	maxObjects         = 4096  // OQ-23
	maxOperations      = 1024  // operations on GPU virtual addresses
	maxPrimaries       = 16    // D3DDDI_MAX_WRITTEN_PRIMARIES
	maxPrivateData     = 4096  // bytes of driver's or runtime's private data
	maxProcesses       = 16384 // process ids in a list
	maxQuery           = 65536 // bytes of an adapter query's answer
	maxResident        = 10240 // allocations made resident or evicted at once
)

// handles is an array of 32-bit numbers: handles, priorities, states.
func handles(pointer, count uint16, dir Dir, limit uint32) Array {
	return Array{Pointer: pointer, Count: count, Elem: 4, Dir: dir, Max: limit}
}

// values is an array of fence values.
func values(pointer, count uint16, limit uint32) Array {
	return Array{Pointer: pointer, Count: count, Elem: 8, Dir: In, Max: limit}
}

// valuesMaybe is a union of an array of fence values with a value or an event; the
// kind of the first object decides.
func valuesMaybe(pointer, count uint16, limit uint32) Array {
	a := values(pointer, count, limit)
	a.Maybe = true
	return a
}

// privateData is a buffer of a driver or runtime, with its size in bytes.
func privateData(pointer, size uint16, dir Dir) Array {
	return Array{Pointer: pointer, Count: size, Elem: 1, Dir: dir, Max: maxPrivateData}
}

// objectAttributes is a pointer to OBJECT_ATTRIBUTES.
func objectAttributes(pointer uint16) Array {
	return Array{Pointer: pointer, Fixed: 1, Elem: 0x30, Dir: In, Max: 1}
}

// objectName is the name in OBJECT_ATTRIBUTES, UTF-16 without a terminator. NULL:
// there is none.
func objectName(attributes int) Array {
	return Array{From: FromAttributes, Of: attributes, Elem: 1, Dir: In, Max: maxName}
}

// securityDescriptor is the one in OBJECT_ATTRIBUTES. NULL: there is none.
func securityDescriptor(attributes int) Array {
	return Array{From: FromSecurity, Of: attributes, Elem: 1, Dir: In, Max: maxDescriptor}
}

// elementData are buffers of the elements of an array, with their sizes in bytes.
func elementData(elements int, pointer, size uint16) Array {
	return Array{From: FromElements, Of: elements, Pointer: pointer, Count: size, Elem: 1, Dir: In, Max: maxAllocationData}
}

// openAllocations are the allocations of a resource as it is opened. The private data
// of each lies in the array data.
func openAllocations(pointer, count uint16, data int) Array {
	return Array{Pointer: pointer, Count: count, Elem: 80, Dir: InOut, Max: maxAllocationInfos, PointsAt: 8, PointsInto: data + 1}
}

// allocationData is the buffer for the private data of all allocations.
func allocationData(pointer, size uint16) Array {
	return Array{Pointer: pointer, Count: size, Elem: 1, Dir: InOut, Max: maxAllocationData}
}

// timeout is a pointer to an NT time in units of 100 ns: negative from now,
// positive since 1601.
func timeout(pointer uint16) Array {
	return Array{Pointer: pointer, Fixed: 1, Elem: 8, Dir: In, Max: 1}
}

// ntHandle is a field with an NT handle to open.
func ntHandle(off uint16) FileField {
	return FileField{Off: off, Dir: In, Kind: FileNTHandle, Array: -1}
}

// memoryFile is a field with the address of memory, which comes as a descriptor to map.
func memoryFile(off uint16) FileField {
	return FileField{Off: off, Dir: Out, Kind: FileMemory, Array: -1}
}

// cpuEvent is a field with a CPU event.
func cpuEvent(off uint16, when When) FileField {
	return FileField{Off: off, Dir: In, Kind: FileEvent, Array: -1, When: when}
}

// enqueuesCPUEvent is the condition that a signal's flags, at off, say
// EnqueueCpuEvent.
func enqueuesCPUEvent(off uint16) When {
	return When{off, uint32(SignalEnqueueCpuEvent), uint32(SignalEnqueueCpuEvent)}
}

// isCPUNotification: D3DKMT_CREATESYNCHRONIZATIONOBJECT2.Info.Type.
var isCPUNotification = When{8, ^uint32(0), uint32(CPUNotification)}

// D3DKMT_CREATEALLOCATION.Flags.StandardAllocation.
var (
	standardAllocation = When{0x38, 1 << 16, 1 << 16}
	driverAllocation   = When{0x38, 1 << 16, 0}
)
