package ddi

import "github.com/dxgsync/dxgsync/abi"

// Doorbells are hardware queues that programs fill by themselves, with the capability
// UserModeSubmission: a command goes into a ring buffer and its place into a doorbell.
// Ours: the memory of a doorbell is the kernel's; the driver is lent it while the doorbell
// is connected, and polls it. docs/doorbells.md has the protocol.
type Doorbells interface {
	// UserModeSubmissionCaps is what the driver wants of doorbells.
	// Source: DXGK_USERMODESUBMISSION_CAPS.
	UserModeSubmissionCaps() UserModeSubmissionCaps
	// CreateDoorbell makes the driver's side of a queue's doorbell, not connected. The
	// result is not 0. The status is that of the create. Source: DxgkDdiCreateDoorbell.
	CreateDoorbell(args CreateDoorbellArgs) (KmdDoorbell, abi.Status)
	// ConnectDoorbell gives it a physical doorbell, which may be taken from another one
	// (Callbacks.DisconnectDoorbell, from inside this call). What was rung before counts.
	// status is DoorbellConnected or DoorbellConnectedNotifyKMD. Errors have the connect
	// answer DEVICE_REMOVED. Source: DxgkDdiConnectDoorbell.
	ConnectDoorbell(args ConnectDoorbellArgs) (status abi.DoorbellStatus, st abi.Status)
	// DisconnectDoorbell takes it away again. What was rung before it returns is done; of
	// later rings nothing is known. It does not fail, also if it is not connected.
	// Source: DxgkDdiDisconnectDoorbell.
	DisconnectDoorbell(doorbell KmdDoorbell)
	// DestroyDoorbell forgets a disconnected doorbell. It does not fail.
	// Source: DxgkDdiDestroyDoorbell.
	DestroyDoorbell(doorbell KmdDoorbell)
	// NotifyWorkSubmission tells of a ring, where the status says that it must be told.
	// Source: DxgkDdiNotifyWorkSubmission.
	NotifyWorkSubmission(doorbell KmdDoorbell)
}

// KmdDoorbell is hDoorbell as the driver knows it.
type KmdDoorbell uint64

// UserModeSubmissionCaps is DXGK_USERMODESUBMISSION_CAPS.
type UserModeSubmissionCaps struct {
	SecondaryDoorbellSupported   bool
	DoorbellSizeInBytes          uint32 // 4 or 8; 0 is 8
	SecondaryDoorbellSizeInBytes uint32 // likewise
}

// CreateDoorbellArgs are the arguments of CreateDoorbell. Source: DXGKARG_CREATEDOORBELL.
type CreateDoorbellArgs struct {
	HwQueue           KmdHwQueue
	RingBuffer        RingMemory
	RingBufferControl RingMemory // nil: none
	Flags             abi.CreateDoorbellFlags
	// PrivateDriverData are at most 16 bytes, in and out.
	PrivateDriverData []byte
}

// RingMemory is the memory of a ring buffer, until DestroyDoorbell has returned. It may
// be used by any goroutine.
type RingMemory interface {
	// Size is how many bytes there are.
	Size() uint64
	// Read copies len(b) bytes from offset and returns how many there were.
	Read(offset uint64, b []byte) int
	// Load reads an aligned word of 4 or 8 bytes; false: it cannot be had. Store writes one.
	Load(offset uint64, size int) (uint64, bool)
	Store(offset uint64, size int, v uint64) bool
}

// ConnectDoorbellArgs are the arguments of ConnectDoorbell.
// Source: DXGKARG_CONNECTDOORBELL.
type ConnectDoorbellArgs struct {
	Doorbell KmdDoorbell
	// Primary is what the program writes at DoorbellCPUVirtualAddress, Secondary at the
	// secondary one, nil without. They may be read until DestroyDoorbell has returned.
	Primary, Secondary DoorbellMemory
}

// DoorbellMemory is a word of 64 bits that a program writes.
type DoorbellMemory interface {
	Load() uint64
}

// DisconnectReason is why a driver takes a physical doorbell away.
type DisconnectReason = abi.DoorbellStatus

// Power is the power state of the adapter, with the capability UserModeSubmission.
type Power interface {
	// SetPowerState switches the adapter. Nothing runs in D3. Contexts are suspended and
	// doorbells disconnected before it goes there. It does not fail.
	// Source: DxgkDdiSetPowerState.
	SetPowerState(state PowerState)
}

// PowerState is a device power state.
type PowerState uint8

// Power states.
const (
	PowerD0 PowerState = iota // on
	PowerD3                   // off
)

// String returns "D0" or "D3".
func (s PowerState) String() string { return [...]string{"D0", "D3"}[s] }
