package abi

import "unsafe"

// ExecutionState is the union as ExecutionState.
func (r *GetDeviceState) ExecutionState() *DeviceExecutionState {
	return (*DeviceExecutionState)(unsafe.Pointer(&r.State))
}

// PresentState is the union as PresentState.
func (r *GetDeviceState) PresentState() *DevicePresentState {
	return (*DevicePresentState)(unsafe.Pointer(&r.State))
}

// ResetState is the union as ResetState.
func (r *GetDeviceState) ResetState() *DeviceResetState {
	return (*DeviceResetState)(unsafe.Pointer(&r.State))
}

// PresentStateDWM is the union as PresentStateDWM.
func (r *GetDeviceState) PresentStateDWM() *DevicePresentStateDwm {
	return (*DevicePresentStateDwm)(unsafe.Pointer(&r.State))
}

// PageFaultState is the union as PageFaultState.
func (r *GetDeviceState) PageFaultState() *DevicePageFaultState {
	return (*DevicePageFaultState)(unsafe.Pointer(&r.State))
}

// PresentQueueState is the union as PresentQueueState.
func (r *GetDeviceState) PresentQueueState() *DevicePresentQueueState {
	return (*DevicePresentQueueState)(unsafe.Pointer(&r.State))
}

// Value is the union as Value.
func (r *IsFeatureEnabledResult) Value() *uint16 { return (*uint16)(unsafe.Pointer(&r.Union)) }

// HDevice is the union as HDevice.
func (r *Render) HDevice() *Handle { return (*Handle)(unsafe.Pointer(&r.Union)) }

// HContext is the union as HContext.
func (r *Render) HContext() *Handle { return (*Handle)(unsafe.Pointer(&r.Union)) }

// QueuedPresentLimit is the union as QueuedPresentLimit.
func (r *SetQueuedLimit) QueuedPresentLimit() *uint32 { return (*uint32)(unsafe.Pointer(&r.Union)) }

// VidPnSourceId is the union as VidPnSourceId.
func (r *SetQueuedLimit) VidPnSourceId() *uint32 { return (*uint32)(unsafe.Pointer(&r.Union)) }
