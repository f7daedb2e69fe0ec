package ddi

import "github.com/dxgsync/dxgsync/abi"

// Devices are the devices and contexts of programs, as drivers know them.
type Devices interface {
	// CreateDevice makes the driver's side of a device. The result is not 0. The status
	// is that of the create. Source: DxgkDdiCreateDevice.
	CreateDevice(args CreateDeviceArgs) (KmdDevice, abi.Status)
	// DestroyDevice takes it away; its contexts have gone before. INVALID_PARAMETER:
	// there is none. Source: DxgkDdiDestroyDevice.
	DestroyDevice(device KmdDevice) abi.Status
	// CreateContext makes the driver's side of a context. The result is not 0. The
	// status is that of the create: SUCCESS; INVALID_PARAMETER for private data that
	// the driver does not understand; NO_MEMORY. Source: DxgkDdiCreateContext.
	CreateContext(args CreateContextArgs) (KmdContext, abi.Status)
	// DestroyContext takes it away; nothing of it runs any more and its hardware queues
	// have gone before. INVALID_PARAMETER: there is none. Source: DxgkDdiDestroyContext.
	DestroyContext(context KmdContext) abi.Status
}

// CreateDeviceArgs are the arguments of CreateDevice.
type CreateDeviceArgs struct {
	// Memory is what the GPU sees of the process that owns the device. It stays valid,
	// if empty, after the process is gone. All devices of the process have the same, as
	// == says.
	Memory AddressSpace
}

// CreateContextArgs are the arguments of CreateContext.
// Source: DXGKARG_CREATECONTEXT.
type CreateContextArgs struct {
	Device KmdDevice
	Engine Engine
	// Flags are those of D3DKMTCreateContextVirtual.
	Flags abi.CreateContextFlags
	// PrivateDriverData comes from the user-mode driver. It is valid during the call.
	PrivateDriverData []byte
}

// An AddressSpace is the GPU virtual address space of one process on one adapter. The
// members of a link share its layout, and each sees of it what is mapped for it. Its
// methods may be called by any goroutine at any time, but not while the caller holds a
// lock that a call of Driver needs.
//
// Every access either happens as a whole or is a Fault and changes nothing, except that
// of a Read or Write the bytes before the fault may have been moved. What one engine
// writes before it reports an interrupt is visible to whoever acts on that interrupt.
type AddressSpace interface {
	// Read copies len(b) bytes from virtual address va, as engine ordinal engine of the
	// link sees it. The result is nil or where it went wrong.
	Read(engine uint32, va uint64, b []byte) *Fault
	// Write copies b to va.
	Write(engine uint32, va uint64, b []byte) *Fault
	// Load64 reads one naturally aligned word, Load32 likewise.
	Load64(engine uint32, va uint64) (uint64, *Fault)
	Load32(engine uint32, va uint64) (uint32, *Fault)
	// Store64 writes one naturally aligned word, in one piece. If the word is the value
	// of a fence, CPU waiters hear of it with the next interrupt of the engine that the
	// kernel acts on: MonitoredFenceSignaled or a completion.
	Store64(engine uint32, va, value uint64) *Fault
	// Store32 is the same for 32 bits, the storage of fences on a GPU without 64-bit
	// atomics.
	Store32(engine uint32, va uint64, value uint32) *Fault
}

// A Fault is an access that no mapping allows.
type Fault struct {
	Address uint64     // the first byte that could not be had
	Flags   FaultFlags // what was tried
}

// FaultFlags are those of DXGK_PAGE_FAULT_FLAGS that we know.
type FaultFlags uint32

// Fault flags.
const (
	FaultWrite        FaultFlags = 1 << 0 // it was a write
	FaultFenceInvalid FaultFlags = 1 << 1 // FaultedFenceID says nothing
	FaultAdapterReset FaultFlags = 1 << 2 // the whole adapter needs a reset
	FaultEngineReset  FaultFlags = 1 << 3 // the engine needs a reset
	FaultUnaligned    FaultFlags = 1 << 16
)
