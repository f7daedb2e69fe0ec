package abi

import "unsafe"

// SynchronizationMutex is the union as SynchronizationMutex.
func (r *SynchronizationObjectInfo) SynchronizationMutex() *SynchronizationObjectInfoSynchronizationMutex {
	return (*SynchronizationObjectInfoSynchronizationMutex)(unsafe.Pointer(&r.Union))
}

// Semaphore is the union as Semaphore.
func (r *SynchronizationObjectInfo) Semaphore() *SynchronizationObjectInfoSemaphore {
	return (*SynchronizationObjectInfoSemaphore)(unsafe.Pointer(&r.Union))
}

// SynchronizationMutex is the union as SynchronizationMutex.
func (r *SynchronizationObjectInfo2) SynchronizationMutex() *MutexInfo {
	return (*MutexInfo)(unsafe.Pointer(&r.Union))
}

// Semaphore is the union as Semaphore.
func (r *SynchronizationObjectInfo2) Semaphore() *SemaphoreInfo {
	return (*SemaphoreInfo)(unsafe.Pointer(&r.Union))
}

// Fence is the union as Fence.
func (r *SynchronizationObjectInfo2) Fence() *FenceInfo {
	return (*FenceInfo)(unsafe.Pointer(&r.Union))
}

// CPUNotification is the union as CPUNotification.
func (r *SynchronizationObjectInfo2) CPUNotification() *CPUNotificationInfo {
	return (*CPUNotificationInfo)(unsafe.Pointer(&r.Union))
}

// MonitoredFence is the union as MonitoredFence.
func (r *SynchronizationObjectInfo2) MonitoredFence() *MonitoredFenceInfo {
	return (*MonitoredFenceInfo)(unsafe.Pointer(&r.Union))
}

// PeriodicMonitoredFence is the union as PeriodicMonitoredFence.
func (r *SynchronizationObjectInfo2) PeriodicMonitoredFence() *PeriodicMonitoredFenceInfo {
	return (*PeriodicMonitoredFenceInfo)(unsafe.Pointer(&r.Union))
}

// MonitoredFence is the union as MonitoredFence.
func (r *OpenSyncObjectFromNtHandle2) MonitoredFence() *OpenMonitoredFenceInfo {
	return (*OpenMonitoredFenceInfo)(unsafe.Pointer(&r.Union))
}

// Fence is the union as Fence.
func (r *SignalSynchronizationObject2) Fence() *SignalSynchronizationObject2Fence {
	return (*SignalSynchronizationObject2Fence)(unsafe.Pointer(&r.Union))
}

// CpuEventHandle is the union as CpuEventHandle.
func (r *SignalSynchronizationObject2) CpuEventHandle() *uint64 {
	return (*uint64)(unsafe.Pointer(&r.Union))
}

// MonitoredFenceValueArray is the union as MonitoredFenceValueArray.
func (r *SignalSynchronizationObjectFromGpu) MonitoredFenceValueArray() *uint64 {
	return (*uint64)(unsafe.Pointer(&r.Union))
}

// FenceValue is the union as FenceValue.
func (r *SignalSynchronizationObjectFromGpu2) FenceValue() *uint64 {
	return (*uint64)(unsafe.Pointer(&r.Union))
}

// CpuEventHandle is the union as CpuEventHandle.
func (r *SignalSynchronizationObjectFromGpu2) CpuEventHandle() *uint64 {
	return (*uint64)(unsafe.Pointer(&r.Union))
}

// MonitoredFenceValueArray is the union as MonitoredFenceValueArray.
func (r *SignalSynchronizationObjectFromGpu2) MonitoredFenceValueArray() *uint64 {
	return (*uint64)(unsafe.Pointer(&r.Union))
}

// Fence is the union as Fence.
func (r *WaitForSynchronizationObject2) Fence() *WaitForSynchronizationObject2Fence {
	return (*WaitForSynchronizationObject2Fence)(unsafe.Pointer(&r.Union))
}

// MonitoredFenceValueArray is the union as MonitoredFenceValueArray.
func (r *WaitForSynchronizationObjectFromGpu) MonitoredFenceValueArray() *uint64 {
	return (*uint64)(unsafe.Pointer(&r.Union))
}

// FenceValue is the union as FenceValue.
func (r *WaitForSynchronizationObjectFromGpu) FenceValue() *uint64 {
	return (*uint64)(unsafe.Pointer(&r.Union))
}
