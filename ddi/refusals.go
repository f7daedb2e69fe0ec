package ddi

import "github.com/dxgsync/dxgsync/abi"

// Refusals is for drivers to embed: all of Driver but Starter, for a GPU that runs
// nothing and has neither events nor displays. Devices and contexts can be made;
// everything else is refused.
type Refusals struct{}

var _ interface {
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
} = Refusals{}

// CreateDevice gives every device the handle 1.
func (Refusals) CreateDevice(CreateDeviceArgs) (KmdDevice, abi.Status) { return 1, abi.StatusSuccess }

// DestroyDevice does nothing.
func (Refusals) DestroyDevice(KmdDevice) abi.Status { return abi.StatusSuccess }

// CreateContext gives every context the handle 1.
func (Refusals) CreateContext(CreateContextArgs) (KmdContext, abi.Status) {
	return 1, abi.StatusSuccess
}

// DestroyContext does nothing.
func (Refusals) DestroyContext(KmdContext) abi.Status { return abi.StatusSuccess }

// SubmitCommandVirtual refuses: the packet counts as faulted.
func (Refusals) SubmitCommandVirtual(SubmitCommandArgs) abi.Status {
	return abi.StatusInvalidParameter
}

// PreemptCommand does nothing: nothing runs.
func (Refusals) PreemptCommand(Engine, uint32) {}

// QueryCurrentFence has nothing to report.
func (Refusals) QueryCurrentFence(Engine) {}

// CreateHwQueue refuses.
func (Refusals) CreateHwQueue(CreateHwQueueArgs) (KmdHwQueue, abi.Status) {
	return 0, abi.StatusNotSupported
}

// DestroyHwQueue refuses.
func (Refusals) DestroyHwQueue(KmdHwQueue) abi.Status { return abi.StatusInvalidParameter }

// SubmitCommandToHwQueue refuses.
func (Refusals) SubmitCommandToHwQueue(SubmitCommandToHwQueueArgs) abi.Status {
	return abi.StatusInvalidParameter
}

// SuspendContext is done at once: nothing runs.
func (Refusals) SuspendContext(KmdContext, uint64) abi.Status { return abi.StatusSuccess }

// ResumeContext does nothing.
func (Refusals) ResumeContext(KmdContext) abi.Status { return abi.StatusSuccess }

// QueryDependentEngineGroup knows none.
func (Refusals) QueryDependentEngineGroup(Engine) uint64 { return 0 }

// ResetEngine refuses.
func (Refusals) ResetEngine(Engine) (uint32, abi.Status) { return 0, abi.StatusNotSupported }

// ResetHwEngine refuses.
func (Refusals) ResetHwEngine(Engine) (KmdHwQueue, uint64, abi.Status) {
	return 0, 0, abi.StatusNotSupported
}

// ResumeHwEngine refuses.
func (Refusals) ResumeHwEngine(Engine) abi.Status { return abi.StatusNotSupported }

// ResetFromTimeout is done at once: nothing runs.
func (Refusals) ResetFromTimeout() abi.Status { return abi.StatusSuccess }

// RestartFromTimeout is done at once.
func (Refusals) RestartFromTimeout() abi.Status { return abi.StatusSuccess }

// CalibrateGpuClock refuses.
func (Refusals) CalibrateGpuClock(Engine) (Calibration, abi.Status) {
	return Calibration{}, abi.StatusNotSupported
}

// CreateCpuEvent refuses.
func (Refusals) CreateCpuEvent(KmdDevice, DxgCpuEvent) (KmdCpuEvent, abi.Status) {
	return 0, abi.StatusNotSupported
}

// DestroyCpuEvent refuses.
func (Refusals) DestroyCpuEvent(KmdCpuEvent) abi.Status { return abi.StatusInvalidParameter }

// CreatePeriodicFrameNotification refuses.
func (Refusals) CreatePeriodicFrameNotification(CreatePeriodicFrameNotificationArgs) (Notification, abi.Status) {
	return 0, abi.StatusNotSupported
}

// DestroyPeriodicFrameNotification refuses.
func (Refusals) DestroyPeriodicFrameNotification(Notification) abi.Status {
	return abi.StatusInvalidParameter
}

// NativeFenceCaps wants nothing.
func (Refusals) NativeFenceCaps() NativeFenceCaps { return NativeFenceCaps{} }

// FenceStorage is system memory.
func (Refusals) FenceStorage(FenceStorageArgs) Storage { return SystemStorage }

// CreateNativeFence refuses.
func (Refusals) CreateNativeFence(CreateNativeFenceArgs) (KmdNativeFence, abi.Status) {
	return 0, abi.StatusNotSupported
}

// OpenNativeFence refuses.
func (Refusals) OpenNativeFence(OpenNativeFenceArgs) (KmdLocalNativeFence, abi.Status) {
	return 0, abi.StatusNotSupported
}

// CloseNativeFence refuses.
func (Refusals) CloseNativeFence(KmdLocalNativeFence) abi.Status { return abi.StatusInvalidParameter }

// DestroyNativeFence refuses.
func (Refusals) DestroyNativeFence(KmdNativeFence) abi.Status { return abi.StatusInvalidParameter }

// UpdateMonitoredValues does nothing.
func (Refusals) UpdateMonitoredValues([]MonitoredValueUpdate) {}

// UpdateCurrentValuesFromCpu does nothing.
func (Refusals) UpdateCurrentValuesFromCpu([]CurrentValueUpdate, CurrentValueFlags) {}

// SetNativeFenceLogBuffer does nothing.
func (Refusals) SetNativeFenceLogBuffer(SetNativeFenceLogBufferArgs) {}

// UpdateNativeFenceLogs does nothing.
func (Refusals) UpdateNativeFenceLogs([]KmdHwQueue) {}

// UserModeSubmissionCaps wants nothing.
func (Refusals) UserModeSubmissionCaps() UserModeSubmissionCaps { return UserModeSubmissionCaps{} }

// CreateDoorbell refuses.
func (Refusals) CreateDoorbell(CreateDoorbellArgs) (KmdDoorbell, abi.Status) {
	return 0, abi.StatusNotSupported
}

// ConnectDoorbell refuses.
func (Refusals) ConnectDoorbell(ConnectDoorbellArgs) (abi.DoorbellStatus, abi.Status) {
	return abi.DoorbellDisconnectedAbort, abi.StatusInvalidParameter
}

// DisconnectDoorbell does nothing.
func (Refusals) DisconnectDoorbell(KmdDoorbell) {}

// DestroyDoorbell does nothing.
func (Refusals) DestroyDoorbell(KmdDoorbell) {}

// NotifyWorkSubmission does nothing.
func (Refusals) NotifyWorkSubmission(KmdDoorbell) {}

// SetPowerState does nothing.
func (Refusals) SetPowerState(PowerState) {}
