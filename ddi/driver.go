package ddi

import "github.com/dxgsync/dxgsync/abi"

// A Driver is the driver of one adapter: one interface per family of DxgkDdi… calls.
// The package comment has the rules of when they are called. A driver that has nothing
// of some family embeds Refusals and leaves its bit of Caps away.
type Driver interface {
	Starter
	Devices
	Commands
	HwQueues
	Recovery
	Clocks
	CpuEvents
	FrameNotifications
	NativeFences
	Doorbells
	Power
}

// Starter is what every driver has.
type Starter interface {
	// StartDevice gives the driver what it may call. Any status that is no success
	// keeps the adapter from starting; then StopDevice does not come. Source:
	// DxgkDdiStartDevice.
	StartDevice(cb Callbacks) abi.Status
	// StopDevice ends the use of the driver: when it returns, no callback is under
	// way and none will come. Source: DxgkDdiStopDevice.
	StopDevice()
	// Caps says what the driver can do. It does not change after StartDevice.
	Caps() Caps

	// Advance lets everything happen that is due at now, in nanoseconds of the clock
	// that Callbacks.Now reads. A now before that of an earlier call does nothing.
	Advance(now int64)
	// Next says when Advance has something to do, which may lie in the past; false
	// when only another call can bring that about. It comes often and must be cheap.
	Next() (at int64, ok bool)
}

// CpuEvents are the CPU events that a driver signals, with the capability
// SignalCpuEvent.
type CpuEvents interface {
	// CreateCpuEvent makes the driver's side of a CPU_NOTIFICATION object with the
	// flag SignalByKmd. device is the driver's handle of the device; event is what
	// SignalEvent takes. The result is for DestroyCpuEvent and not 0.
	//
	// The status is that of the create: SUCCESS, or any error, such as NO_MEMORY.
	// NOT_SUPPORTED without SignalCpuEvent. Source: DxgkDdiCreateCpuEvent.
	CreateCpuEvent(device KmdDevice, event DxgCpuEvent) (KmdCpuEvent, abi.Status)
	// DestroyCpuEvent takes it away. When it returns, the driver does not signal the
	// event any more. INVALID_PARAMETER: there is none. Source: DxgkDdiDestroyCpuEvent.
	DestroyCpuEvent(event KmdCpuEvent) abi.Status
}

// FrameNotifications are what advances periodic monitored fences, with the capability
// PeriodicFrameNotification.
type FrameNotifications interface {
	// CreatePeriodicFrameNotification asks for an interrupt before each vertical
	// sync of a target. The result is for DestroyPeriodicFrameNotification and not 0.
	//
	// The status is that of the create: SUCCESS; INVALID_PARAMETER when there is no
	// such target or Time is longer than an interval; NO_MEMORY; UNSUCCESSFUL.
	// NOT_SUPPORTED without PeriodicFrameNotification.
	// Source: DxgkDdiCreatePeriodicFrameNotification.
	CreatePeriodicFrameNotification(args CreatePeriodicFrameNotificationArgs) (Notification, abi.Status)
	// DestroyPeriodicFrameNotification takes it away. When it returns, no interrupt
	// of it comes any more. INVALID_PARAMETER: there is none.
	// Source: DxgkDdiDestroyPeriodicFrameNotification.
	DestroyPeriodicFrameNotification(n Notification) abi.Status
}

// CreatePeriodicFrameNotificationArgs are the arguments of the call of this name.
// Source: DXGKARG_CREATEPERIODICFRAMENOTIFICATION.
type CreatePeriodicFrameNotificationArgs struct {
	// VidPnTargetID is the target, from 0 in the order of the profile (OQ-61).
	VidPnTargetID uint32
	// Time is how long before the vertical sync, in units of 100 ns, at most one
	// interval. A whole interval means at the vertical sync before.
	Time uint64
	// NotificationID is what interrupts of this notification carry. No two of one
	// adapter have the same.
	NotificationID uint32
}

// Callbacks are what a driver may call, from StartDevice until StopDevice returns.
// They may be called from any goroutine, at once, but not from inside a call of
// Driver other than Advance, ResetEngine, ResetHwEngine and QueryCurrentFence, unless
// they say so.
type Callbacks interface {
	// SignalEvent sets the CPU event of a CPU_NOTIFICATION object, as DxgkCbSignalEvent
	// does with hDxgkProcess 0 and CpuEventObject 1. The event is set when it returns.
	// INVALID_PARAMETER: there is no such object (any more); nothing happened.
	SignalEvent(event DxgCpuEvent) abi.Status
	// NotifyInterrupt reports an interrupt. One for an object that is not there (any
	// more) is ignored. Waiters are released before it returns; what the kernel asks of
	// the driver because of it comes later, after Advance has returned.
	// Source: DxgkCbNotifyInterrupt.
	NotifyInterrupt(i Interrupt)
	// Now reads the clock, in nanoseconds since a moment that does not change. It
	// never goes back. May be called from inside any call of Driver.
	Now() int64
	// Rearm tells that Next has come nearer by something other than a call of Driver.
	Rearm()
	// IsFeatureEnabled tells whether the system has a feature on. May be called from inside
	// any call of Driver. Source: DxgkCbIsFeatureEnabled.
	IsFeatureEnabled(id abi.FeatureID) bool
	// NativeFenceOSCaps is what the system can do with native fences, if the feature is
	// on. May be called from inside any call of Driver.
	// Source: DXGKCBINT_FEATURE_NATIVEFENCE_1, GetOSCaps.
	NativeFenceOSCaps() NativeFenceOSCaps
	// SystemMemory is the GPU's system process, where native fences and their logs are
	// mapped with MapToGpuSystemProcess. May be called from inside any call of Driver.
	SystemMemory() AddressSpace
	// DisconnectDoorbell takes the physical doorbell away from a hardware queue's doorbell;
	// reason, one of the DISCONNECTED ones, is what programs see. SUCCESS also if it was not
	// connected; INVALID_PARAMETER: the queue has none. May be called from inside
	// ConnectDoorbell, for another queue. The kernel does not call
	// Driver.DisconnectDoorbell for it. Source: DxgkCbDisconnectDoorbell.
	DisconnectDoorbell(queue KmdHwQueue, reason DisconnectReason) abi.Status
}

// NativeFenceOSCaps is DXGKARGCB_FEATURE_NATIVEFENCE_CAPS_1.
type NativeFenceOSCaps struct {
	SupportOptimizedDefaultFenceType bool
	SupportIntraGpuFenceType         bool
}
