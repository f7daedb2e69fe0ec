package abi

import "reflect"

// unionViews are the types that unions are seen as.
var unionViews = map[string]reflect.Type{
	"D3DDDI_SYNCHRONIZATIONOBJECTINFO.SynchronizationMutex":    reflect.TypeFor[SynchronizationObjectInfoSynchronizationMutex](),
	"D3DDDI_SYNCHRONIZATIONOBJECTINFO.Semaphore":               reflect.TypeFor[SynchronizationObjectInfoSemaphore](),
	"D3DDDI_SYNCHRONIZATIONOBJECTINFO2.SynchronizationMutex":   reflect.TypeFor[MutexInfo](),
	"D3DDDI_SYNCHRONIZATIONOBJECTINFO2.Semaphore":              reflect.TypeFor[SemaphoreInfo](),
	"D3DDDI_SYNCHRONIZATIONOBJECTINFO2.Fence":                  reflect.TypeFor[FenceInfo](),
	"D3DDDI_SYNCHRONIZATIONOBJECTINFO2.CPUNotification":        reflect.TypeFor[CPUNotificationInfo](),
	"D3DDDI_SYNCHRONIZATIONOBJECTINFO2.MonitoredFence":         reflect.TypeFor[MonitoredFenceInfo](),
	"D3DDDI_SYNCHRONIZATIONOBJECTINFO2.PeriodicMonitoredFence": reflect.TypeFor[PeriodicMonitoredFenceInfo](),
	"D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION.Map":             reflect.TypeFor[UpdateGpuVirtualAddressOperationMap](),
	"D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION.MapProtect":      reflect.TypeFor[UpdateGpuVirtualAddressOperationMapProtect](),
	"D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION.Unmap":           reflect.TypeFor[UpdateGpuVirtualAddressOperationUnmap](),
	"D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION.Copy":            reflect.TypeFor[UpdateGpuVirtualAddressOperationCopy](),
	"D3DKMT_GETDEVICESTATE.PresentState":                       reflect.TypeFor[DevicePresentState](),
	"D3DKMT_GETDEVICESTATE.ResetState":                         reflect.TypeFor[DeviceResetState](),
	"D3DKMT_GETDEVICESTATE.PresentStateDWM":                    reflect.TypeFor[DevicePresentStateDwm](),
	"D3DKMT_GETDEVICESTATE.PageFaultState":                     reflect.TypeFor[DevicePageFaultState](),
	"D3DKMT_GETDEVICESTATE.PresentQueueState":                  reflect.TypeFor[DevicePresentQueueState](),
	"D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2.MonitoredFence":        reflect.TypeFor[OpenMonitoredFenceInfo](),
	"D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2.Fence":                reflect.TypeFor[SignalSynchronizationObject2Fence](),
	"D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2.Fence":               reflect.TypeFor[WaitForSynchronizationObject2Fence](),
}
