package ddi

import (
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
)

// NativeFences are fences that the GPU waits for and signals by itself, with the
// capability NativeGpuFence. docs/native-fences.md has the protocol of the two values.
type NativeFences interface {
	// NativeFenceCaps is what the driver wants of native fences. It does not change.
	// Source: DXGKQAITYPE_NATIVE_FENCE_CAPS.
	NativeFenceCaps() NativeFenceCaps
	// FenceStorage says where a value is to be stored. The kernel asks once for each
	// value of a fence, before CreateNativeFence; what it may not have there it takes from
	// system memory. Source: the standard allocation query with
	// D3DKMDT_FENCESTORAGESURFACEDATA.
	FenceStorage(args FenceStorageArgs) Storage
	// CreateNativeFence makes the adapter's side of a fence, once for each fence and
	// adapter. The result is not 0. The status is that of the create or open.
	// Source: DxgkDdiCreateNativeFence.
	CreateNativeFence(args CreateNativeFenceArgs) (KmdNativeFence, abi.Status)
	// OpenNativeFence makes the driver's side of a local object, also of the first, right
	// after CreateNativeFence. The result is not 0. The status is that of the create or
	// open. Source: DxgkDdiOpenNativeFence.
	OpenNativeFence(args OpenNativeFenceArgs) (KmdLocalNativeFence, abi.Status)
	// CloseNativeFence takes a local object away. GPU waits through it end as if it was
	// signalled. It may come after DestroyDevice of its device. INVALID_PARAMETER: there is
	// none. Source: DxgkDdiCloseNativeFence.
	CloseNativeFence(fence KmdLocalNativeFence) abi.Status
	// DestroyNativeFence takes the fence away, after the last close. When it returns,
	// nothing uses its storage any more. INVALID_PARAMETER: there is none.
	// Source: DxgkDdiDestroyNativeFence.
	DestroyNativeFence(fence KmdNativeFence) abi.Status

	// UpdateMonitoredValues stores monitored values. When it returns, whatever value of
	// one of the fences anybody reads was stored by a GPU that has seen the new monitored
	// value: for each signal after that the driver interrupts if its value is above it. The
	// kernel reads the values again then. Source: DxgkDdiUpdateMonitoredValues, at
	// interrupt level.
	UpdateMonitoredValues(updates []MonitoredValueUpdate)
	// UpdateCurrentValuesFromCpu tells of values that the CPU, or with NotificationOnly
	// another GPU, has stored: GPU waits are looked at again. Ours: the kernel stores the
	// value itself, before the call, so that calls of one fence are seen in order.
	// It may come between CreateNativeFence and OpenNativeFence of the same fence.
	// Source: DxgkDdiUpdateCurrentValuesFromCpu, at DISPATCH level.
	UpdateCurrentValuesFromCpu(updates []CurrentValueUpdate, flags CurrentValueFlags)

	// SetNativeFenceLogBuffer gives a hardware queue a log: once with the type WAITS and
	// once with SIGNALS, before it is used, and again whenever the kernel makes a new one. When
	// it returns, the one before is not written any more.
	// Source: DxgkDdiSetNativeFenceLogBuffer.
	SetNativeFenceLogBuffer(args SetNativeFenceLogBufferArgs)
	// UpdateNativeFenceLogs makes all that the GPU has logged for queues visible. The
	// kernel reads the logs when it returns. Source: DxgkDdiUpdateNativeFenceLogs.
	UpdateNativeFenceLogs(queues []KmdHwQueue)
}

// Handles of native fences. A DxgNativeFence is hGlobalNativeFence as interrupts name it.
type (
	DxgNativeFence      uint64
	KmdNativeFence      uint64
	KmdLocalNativeFence uint64
)

// NativeFenceCaps is DXGK_NATIVE_FENCE_CAPS.
type NativeFenceCaps struct {
	// MonitoredValueStride is how far apart monitored values of fences are that share a
	// page, in bytes: a multiple of 8 from 8 to 4096; 0 is 64. Current values have
	// the same, rounded up to 64 (OQ-32).
	MonitoredValueStride uint32
	// MapToGpuSystemProcess: both values are mapped in the GPU's system process too,
	// Callbacks.SystemMemory, for the hardware scheduler.
	MapToGpuSystemProcess bool
	// MinimumAddress and MaximumAddress bound the GPU virtual addresses of native fences,
	// of programs and of the system process; 0 is no bound.
	MinimumAddress, MaximumAddress uint64
}

// FenceStorageArgs ask for a storage. Source: D3DKMDT_FENCESTORAGESURFACEDATA.
type FenceStorageArgs struct {
	PhysicalAdapterIndex uint32
	Type                 abi.NativeFenceType
	MonitoredValue       bool // else the current value
	PrivateDriverData    []byte
}

// Storage is a kind of memory.
type Storage uint8

// Storages.
const (
	SystemStorage Storage = iota // system memory
	VideoStorage                 // a segment of the GPU's own
)

// String returns "system" or "video".
func (s Storage) String() string { return [...]string{"system", "video"}[s] }

// CreateNativeFenceArgs are the arguments of CreateNativeFence.
// Source: DXGKARG_CREATENATIVEFENCE.
type CreateNativeFenceArgs struct {
	Fence DxgNativeFence
	Type  abi.NativeFenceType
	// Where both values are in the system process; 0 without MapToGpuSystemProcess.
	CurrentValueSystemProcessGpuVa   uint64
	MonitoredValueSystemProcessGpuVa uint64
	// PrivateDriverData are 64 bytes from the user-mode driver. What the driver writes
	// there during the call comes back to it.
	PrivateDriverData []byte
	// Peers is set for a fence whose adapters all signal each other directly
	// (DirectSignal). Ours.
	Peers Peers
}

// Peers is the way from a GPU to the others on which a fence is.
type Peers interface {
	// Kick tells all others that the current value has changed, from any goroutine and
	// from inside any call. It calls KickNativeFence of their drivers.
	Kick(fence DxgNativeFence)
}

// A PeerDriver is a driver with the capability DirectSignal: it is kicked by other GPUs.
type PeerDriver interface {
	// KickNativeFence has waits for a fence looked at again. It must not call back and must
	// not block. INVALID_PARAMETER: there is no such fence, or not yet.
	KickNativeFence(fence DxgNativeFence) abi.Status
}

// OpenNativeFenceArgs are the arguments of OpenNativeFence.
// Source: DXGKARG_OPENNATIVEFENCE.
type OpenNativeFenceArgs struct {
	Fence  KmdNativeFence
	Device KmdDevice
	// Where both values are in the process of the device.
	CurrentValueGpuVa, MonitoredValueGpuVa uint64
	PrivateDriverData                      []byte // as of CreateNativeFenceArgs
}

// A MonitoredValueUpdate is a new monitored value: MaxUint64 for a fence that no CPU
// waits for.
type MonitoredValueUpdate struct {
	Fence KmdNativeFence
	Value uint64
	// MonitoredValue is the storage, MonitoredValueKernelCpuVa, valid during the call.
	MonitoredValue *atomic.Uint64
}

// A CurrentValueUpdate is a new current value, which is stored already.
type CurrentValueUpdate struct {
	Fence KmdNativeFence
	Value uint64 // 0xFFFFFFFF with AlwaysSignaled (OQ-35); without meaning with NotificationOnly
}

// CurrentValueFlags is DXGK_UPDATECURRENTVALUESFROMCPU_FLAGS.
type CurrentValueFlags uint32

// Flags of UpdateCurrentValuesFromCpu.
const (
	// AlwaysSignaled: the fences' device is in error. From now on a wait for them ends at
	// once, and a signal does not touch the storage.
	AlwaysSignaled CurrentValueFlags = 1 << 0
	// NotificationOnly: somebody else has stored the values.
	NotificationOnly CurrentValueFlags = 1 << 1
)

// SetNativeFenceLogBufferArgs are the arguments of SetNativeFenceLogBuffer. The layout
// of a log is DXGK_NATIVE_FENCE_LOG_BUFFER: a header of 40 bytes, entries of 48.
// Source: DXGKARG_SETNATIVEFENCELOGBUFFER.
type SetNativeFenceLogBufferArgs struct {
	HwQueue         KmdHwQueue
	Type            abi.NativeFenceLogType
	NumberOfEntries uint32
	// Where the log is in the process, read/write for the GPU alone, and in the system
	// process; the latter 0 without MapToGpuSystemProcess. The kernel reads it elsewhere.
	LogBufferGpuVa, LogBufferSystemProcessGpuVa uint64
}
