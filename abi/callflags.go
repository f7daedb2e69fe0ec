package abi

// SignalFlags is D3DDDICB_SIGNALFLAGS.
type SignalFlags uint32

// The bits.
const (
	SignalAtSubmission SignalFlags = 1 << iota
	SignalEnqueueCpuEvent
	SignalAllowFenceRewind
)

// String returns the names of the bits.
func (f SignalFlags) String() string { return SignalFlagRules.Format(uint32(f)) }

// SignalFlagRules are the rules of signal flags.
// Source: objects.md §3, calls.md §5; OQ-3.
var SignalFlagRules = Flags{"D3DDDICB_SIGNALFLAGS", []FlagRule{
	{Bit: 0, Name: "SignalAtSubmission", First: 1105, Calls: []uint16{0x11, 0x33, 0x35, 0x8017}, Meaning: "Signal when the packet before is submitted, not when it completes."},
	{Bit: 1, Name: "EnqueueCpuEvent", First: 1200, Calls: []uint16{0x11, 0x33}, Meaning: "Set a CPU event when all contexts have processed the command; no objects."},
	{Bit: 2, Name: "AllowFenceRewind", First: 2000, Meaning: "The new value may be lower than the current one."},
}}

// CheckSignalFlags checks the flags of the signal operation with number nr at a
// version: SUCCESS, or INVALID_PARAMETER for a bit that does not exist there or that
// the operation does not take.
func CheckSignalFlags(nr uint16, f SignalFlags, w WDDM) Status {
	if !SignalFlagRules.Taken(uint32(f), nr, w) {
		return StatusInvalidParameter
	}
	return StatusSuccess
}

// WaitFromCpuFlags is D3DDDI_WAITFORSYNCHRONIZATIONOBJECTFROMCPU_FLAGS.
type WaitFromCpuFlags uint32

// WaitAny ends a wait at the first fence that is reached.
const WaitAny WaitFromCpuFlags = 1

// String returns the names of the bits.
func (f WaitFromCpuFlags) String() string { return WaitFlagRules.Format(uint32(f)) }

// WaitFlagRules are the rules of CPU wait flags.
var WaitFlagRules = Flags{"D3DDDI_WAITFORSYNCHRONIZATIONOBJECTFROMCPU_FLAGS", []FlagRule{
	{Bit: 0, Name: "WaitAny", First: 2000, Meaning: "Any one of the fences ends the wait."},
}}

// CreateDeviceFlags is D3DKMT_CREATEDEVICEFLAGS.
type CreateDeviceFlags uint32

// The bits.
const (
	DeviceLegacyMode CreateDeviceFlags = 1 << iota
	DeviceRequestVSync
	DeviceDisableGpuTimeout
)

// String returns the names of the bits.
func (f CreateDeviceFlags) String() string { return DeviceFlagRules.Format(uint32(f)) }

// DeviceFlagRules are the rules of device flags. Source: calls.md §2.
var DeviceFlagRules = Flags{"D3DKMT_CREATEDEVICEFLAGS", []FlagRule{
	{Bit: 0, Name: "LegacyMode", First: 1000, Meaning: "A device for runtimes of an older driver model."},
	{Bit: 1, Name: "RequestVSync", First: 1000, Meaning: "Presents wait for the vertical sync."},
	{Bit: 2, Name: "DisableGpuTimeout", First: 1200, Meaning: "No timeout detection for this device."},
}}

// CreateContextFlags is D3DDDI_CREATECONTEXTFLAGS.
type CreateContextFlags uint32

// The bits.
const (
	ContextNullRendering CreateContextFlags = 1 << iota
	ContextInitialData
	ContextDisableGpuTimeout
	ContextSynchronizationOnly
	ContextHwQueueSupported
	ContextNoKmdAccess
)

// String returns the names of the bits.
func (f CreateContextFlags) String() string { return ContextFlagRules.Format(uint32(f)) }

// ContextFlagRules are the rules of context flags. Source: calls.md §3.
var ContextFlagRules = Flags{"D3DDDI_CREATECONTEXTFLAGS", []FlagRule{
	{Bit: 0, Name: "NullRendering", First: 1000, Meaning: "Command buffers complete without running."},
	{Bit: 1, Name: "InitialData", First: 1000, Meaning: "The private data is the context's initial state."},
	{Bit: 2, Name: "DisableGpuTimeout", First: 1200, Meaning: "No timeout detection for this context."},
	{Bit: 3, Name: "SynchronizationOnly", First: 1200, Meaning: "The context carries waits and signals only."},
	{Bit: 4, Name: "HwQueueSupported", First: 2300, Meaning: "Hardware queues may be made on it."},
	{Bit: 5, Name: "NoKmdAccess", First: 2600, Meaning: "The kernel-mode driver does not look into its command buffers."},
}}

// SubmitCommandFlags is D3DKMT_SUBMITCOMMANDFLAGS.
type SubmitCommandFlags uint32

// The bits.
const (
	SubmitNullRendering SubmitCommandFlags = 1 << iota
	SubmitPresentRedirected
	SubmitNoKmdAccess
)

// String returns the names of the bits.
func (f SubmitCommandFlags) String() string { return SubmitFlagRules.Format(uint32(f)) }

// SubmitFlagRules are the rules of submission flags. Source: calls.md §3.
var SubmitFlagRules = Flags{"D3DKMT_SUBMITCOMMANDFLAGS", []FlagRule{
	{Bit: 0, Name: "NullRendering", First: 2000, Meaning: "Only what others can see through fences happens."},
	{Bit: 1, Name: "PresentRedirected", First: 2000, Meaning: "The commands present to a redirected surface."},
	{Bit: 2, Name: "NoKmdAccess", First: 2600, Meaning: "The kernel-mode driver does not look into the command buffer."},
}}

// CreateHwQueueFlags is D3DDDI_CREATEHWQUEUEFLAGS.
type CreateHwQueueFlags uint32

// The bits.
const (
	HwQueueDisableGpuTimeout CreateHwQueueFlags = 1 << iota
	HwQueueNoBroadcastSignal
	HwQueueNoBroadcastWait
	HwQueueNoKmdAccess
	HwQueueUserModeSubmission
	HwQueueNativeProgressFence
	HwQueueTestQueue
)

// String returns the names of the bits.
func (f CreateHwQueueFlags) String() string { return HwQueueFlagRules.Format(uint32(f)) }

// HwQueueFlagRules are the rules of hardware queue flags. Source: calls.md §3.
var HwQueueFlagRules = Flags{"D3DDDI_CREATEHWQUEUEFLAGS", []FlagRule{
	{Bit: 0, Name: "DisableGpuTimeout", First: 2300, Meaning: "No timeout detection for this queue."},
	{Bit: 1, Name: "NoBroadcastSignal", First: 2700, Meaning: "The queue stays out of broadcast signals of its command queue."},
	{Bit: 2, Name: "NoBroadcastWait", First: 2700, Meaning: "The queue is not blocked by waits of its command queue."},
	{Bit: 3, Name: "NoKmdAccess", First: 2700, Meaning: "The kernel-mode driver does not look into its command buffers."},
	{Bit: 4, Name: "UserModeSubmission", First: 3200, Meaning: "Work is submitted by ringing a doorbell."},
	{Bit: 5, Name: "NativeProgressFence", First: 3200, BySystem: true, Meaning: "The progress fence is a native fence."},
	{Bit: 6, Name: "TestQueue", First: 3200, Meaning: "Only for drivers signed for testing."},
}}
