package abi

// The statuses, by value. Source: the public NTSTATUS definitions.
const (
	StatusSuccess                                Status = 0x00000000
	StatusAbandoned                              Status = 0x00000080
	StatusUserApc                                Status = 0x000000C0
	StatusAlerted                                Status = 0x00000101
	StatusTimeout                                Status = 0x00000102
	StatusPending                                Status = 0x00000103
	StatusObjectNameExists                       Status = 0x40000000
	StatusDatatypeMisalignment                   Status = 0x80000002
	StatusBufferOverflow                         Status = 0x80000005
	StatusDevicePoweredOff                       Status = 0x8000000F
	StatusNoMoreEntries                          Status = 0x8000001A
	StatusUnsuccessful                           Status = 0xC0000001
	StatusNotImplemented                         Status = 0xC0000002
	StatusInfoLengthMismatch                     Status = 0xC0000004
	StatusAccessViolation                        Status = 0xC0000005
	StatusInvalidHandle                          Status = 0xC0000008
	StatusInvalidCid                             Status = 0xC000000B
	StatusInvalidParameter                       Status = 0xC000000D
	StatusNoSuchDevice                           Status = 0xC000000E
	StatusInvalidDeviceRequest                   Status = 0xC0000010
	StatusNoMemory                               Status = 0xC0000017
	StatusIllegalInstruction                     Status = 0xC000001D
	StatusAccessDenied                           Status = 0xC0000022
	StatusBufferTooSmall                         Status = 0xC0000023
	StatusObjectTypeMismatch                     Status = 0xC0000024
	StatusInvalidParameterMix                    Status = 0xC0000030
	StatusObjectNameInvalid                      Status = 0xC0000033
	StatusObjectNameNotFound                     Status = 0xC0000034
	StatusObjectNameCollision                    Status = 0xC0000035
	StatusObjectPathNotFound                     Status = 0xC000003A
	StatusObjectPathSyntaxBad                    Status = 0xC000003B
	StatusSharingViolation                       Status = 0xC0000043
	StatusQuotaExceeded                          Status = 0xC0000044
	StatusMutantNotOwned                         Status = 0xC0000046
	StatusSemaphoreLimitExceeded                 Status = 0xC0000047
	StatusPrivilegeNotHeld                       Status = 0xC0000061
	StatusIntegerOverflow                        Status = 0xC0000095
	StatusInsufficientResources                  Status = 0xC000009A
	StatusDeviceNotReady                         Status = 0xC00000A3
	StatusIoTimeout                              Status = 0xC00000B5
	StatusNotSupported                           Status = 0xC00000BB
	StatusDeviceDoesNotExist                     Status = 0xC00000C0
	StatusAdapterHardwareError                   Status = 0xC00000C2
	StatusInternalError                          Status = 0xC00000E5
	StatusInvalidUserBuffer                      Status = 0xC00000E8
	StatusProcessIsTerminating                   Status = 0xC000010A
	StatusTooManyOpenedFiles                     Status = 0xC000011F
	StatusCancelled                              Status = 0xC0000120
	StatusInvalidBufferSize                      Status = 0xC0000206
	StatusNotFound                               Status = 0xC0000225
	StatusRetry                                  Status = 0xC000022D
	StatusHandleNotClosable                      Status = 0xC0000235
	StatusDeviceRemoved                          Status = 0xC00002B6
	StatusDeviceHung                             Status = 0xC0000507
	StatusGraphicsNotExclusiveModeOwner          Status = 0xC01E0000
	StatusGraphicsInsufficientDmaBuffer          Status = 0xC01E0001
	StatusGraphicsInvalidDisplayAdapter          Status = 0xC01E0002
	StatusGraphicsAdapterWasReset                Status = 0xC01E0003
	StatusGraphicsInvalidDriverModel             Status = 0xC01E0004
	StatusGraphicsPresentModeChanged             Status = 0xC01E0005
	StatusGraphicsPresentOccluded                Status = 0xC01E0006
	StatusGraphicsPresentDenied                  Status = 0xC01E0007
	StatusGraphicsCannotcolorconvert             Status = 0xC01E0008
	StatusGraphicsDriverMismatch                 Status = 0xC01E0009
	StatusGraphicsPresentRedirectionDisabled     Status = 0xC01E000B
	StatusGraphicsPresentUnoccluded              Status = 0xC01E000C
	StatusGraphicsNoVideoMemory                  Status = 0xC01E0100
	StatusGraphicsCantLockMemory                 Status = 0xC01E0101
	StatusGraphicsAllocationBusy                 Status = 0xC01E0102
	StatusGraphicsTooManyReferences              Status = 0xC01E0103
	StatusGraphicsTryAgainLater                  Status = 0xC01E0104
	StatusGraphicsTryAgainNow                    Status = 0xC01E0105
	StatusGraphicsAllocationInvalid              Status = 0xC01E0106
	StatusGraphicsUnswizzlingApertureUnavailable Status = 0xC01E0107
	StatusGraphicsCantEvictPinnedAllocation      Status = 0xC01E0109
	StatusGraphicsInvalidAllocationUsage         Status = 0xC01E0110
	StatusGraphicsCantRenderLockedAllocation     Status = 0xC01E0111
	StatusGraphicsAllocationClosed               Status = 0xC01E0112
	StatusGraphicsInvalidAllocationInstance      Status = 0xC01E0113
	StatusGraphicsInvalidAllocationHandle        Status = 0xC01E0114
	StatusGraphicsWrongAllocationDevice          Status = 0xC01E0115
	StatusGraphicsAllocationContentLost          Status = 0xC01E0116
	StatusGraphicsGpuExceptionOnDevice           Status = 0xC01E0200
	StatusGraphicsAdapterChainNotReady           Status = 0xC01E0433
)

var statusTable = []statusRow{
	{StatusSuccess, "STATUS_SUCCESS", "Done, or queued."},
	{StatusAbandoned, "STATUS_ABANDONED_WAIT_0", "Whoever held the keyed mutex died; it must be made anew."},
	{StatusUserApc, "STATUS_USER_APC", "The wait was ended by a call queued to the thread."},
	{StatusAlerted, "STATUS_ALERTED", "The wait was ended by an alert of the thread."},
	{StatusTimeout, "STATUS_TIMEOUT", "The time was over first."},
	{StatusPending, "STATUS_PENDING", "Begun; it will be finished later."},
	{StatusObjectNameExists, "STATUS_OBJECT_NAME_EXISTS", "The object existed already and was opened."},
	{StatusDatatypeMisalignment, "STATUS_DATATYPE_MISALIGNMENT", "A pointer is not aligned as its type needs."},
	{StatusBufferOverflow, "STATUS_BUFFER_OVERFLOW", "The answer was cut to the size of the buffer."},
	{StatusDevicePoweredOff, "STATUS_DEVICE_POWERED_OFF", "The device is powered off."},
	{StatusNoMoreEntries, "STATUS_NO_MORE_ENTRIES", "The list has ended."},
	{StatusUnsuccessful, "STATUS_UNSUCCESSFUL", "It did not work; also: there is nobody to ask."},
	{StatusNotImplemented, "STATUS_NOT_IMPLEMENTED", "The call exists in name only."},
	{StatusInfoLengthMismatch, "STATUS_INFO_LENGTH_MISMATCH", "The size does not fit the information asked for."},
	{StatusAccessViolation, "STATUS_ACCESS_VIOLATION", "Memory of the caller cannot be read or written."},
	{StatusInvalidHandle, "STATUS_INVALID_HANDLE", "The NT handle or event is none, or closed."},
	{StatusInvalidCid, "STATUS_INVALID_CID", "The process or thread id is not valid."},
	{StatusInvalidParameter, "STATUS_INVALID_PARAMETER", "An argument breaks a rule: a D3DKMT handle, a count, a flag, a value."},
	{StatusNoSuchDevice, "STATUS_NO_SUCH_DEVICE", "There is no such device."},
	{StatusInvalidDeviceRequest, "STATUS_INVALID_DEVICE_REQUEST", "The device cannot do this."},
	{StatusNoMemory, "STATUS_NO_MEMORY", "Memory, handles or descriptors are used up, or a limit is reached."},
	{StatusIllegalInstruction, "STATUS_ILLEGAL_INSTRUCTION", "The operation is not one that the other side knows."},
	{StatusAccessDenied, "STATUS_ACCESS_DENIED", "The object does not give this right: NoSignal, NoWait, or an access mask without it."},
	{StatusBufferTooSmall, "STATUS_BUFFER_TOO_SMALL", "The array or buffer has no room for the answer; ask for the size and try again."},
	{StatusObjectTypeMismatch, "STATUS_OBJECT_TYPE_MISMATCH", "The NT handle or event is an object of another kind."},
	{StatusInvalidParameterMix, "STATUS_INVALID_PARAMETER_MIX", "The arguments do not go together."},
	{StatusObjectNameInvalid, "STATUS_OBJECT_NAME_INVALID", "The name is malformed."},
	{StatusObjectNameNotFound, "STATUS_OBJECT_NAME_NOT_FOUND", "No object has this name."},
	{StatusObjectNameCollision, "STATUS_OBJECT_NAME_COLLISION", "An object has this name already."},
	{StatusObjectPathNotFound, "STATUS_OBJECT_PATH_NOT_FOUND", "A directory of the name does not exist."},
	{StatusObjectPathSyntaxBad, "STATUS_OBJECT_PATH_SYNTAX_BAD", "The name is not a full path."},
	{StatusSharingViolation, "STATUS_SHARING_VIOLATION", "Somebody else uses it in a way that excludes this."},
	{StatusQuotaExceeded, "STATUS_QUOTA_EXCEEDED", "A quota of the process is used up."},
	{StatusMutantNotOwned, "STATUS_MUTANT_NOT_OWNED", "The caller does not own the mutex."},
	{StatusSemaphoreLimitExceeded, "STATUS_SEMAPHORE_LIMIT_EXCEEDED", "The semaphore is at its maximum."},
	{StatusPrivilegeNotHeld, "STATUS_PRIVILEGE_NOT_HELD", "The caller lacks the privilege."},
	{StatusIntegerOverflow, "STATUS_INTEGER_OVERFLOW", "A number is too large."},
	{StatusInsufficientResources, "STATUS_INSUFFICIENT_RESOURCES", "A system resource is used up."},
	{StatusDeviceNotReady, "STATUS_DEVICE_NOT_READY", "The device is not ready."},
	{StatusIoTimeout, "STATUS_IO_TIMEOUT", "The device did not answer in time."},
	{StatusNotSupported, "STATUS_NOT_SUPPORTED", "This call or feature is not there."},
	{StatusDeviceDoesNotExist, "STATUS_DEVICE_DOES_NOT_EXIST", "There is no such device."},
	{StatusAdapterHardwareError, "STATUS_ADAPTER_HARDWARE_ERROR", "The adapter has failed."},
	{StatusInternalError, "STATUS_INTERNAL_ERROR", "Something inside went wrong."},
	{StatusInvalidUserBuffer, "STATUS_INVALID_USER_BUFFER", "The buffer is not valid."},
	{StatusProcessIsTerminating, "STATUS_PROCESS_IS_TERMINATING", "The process is ending."},
	{StatusTooManyOpenedFiles, "STATUS_TOO_MANY_OPENED_FILES", "Too many files are open."},
	{StatusCancelled, "STATUS_CANCELLED", "The operation was cancelled."},
	{StatusInvalidBufferSize, "STATUS_INVALID_BUFFER_SIZE", "The buffer has the wrong size."},
	{StatusNotFound, "STATUS_NOT_FOUND", "There is no such thing."},
	{StatusRetry, "STATUS_RETRY", "Try again."},
	{StatusHandleNotClosable, "STATUS_HANDLE_NOT_CLOSABLE", "The handle is protected from being closed."},
	{StatusDeviceRemoved, "STATUS_DEVICE_REMOVED", "The adapter was stopped, the device was lost or destroyed, or the daemon is gone."},
	{StatusDeviceHung, "STATUS_DEVICE_HUNG", "The device has stopped responding."},
	{StatusGraphicsNotExclusiveModeOwner, "STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER", "The caller does not own the output exclusively."},
	{StatusGraphicsInsufficientDmaBuffer, "STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER", "The command buffer is too small."},
	{StatusGraphicsInvalidDisplayAdapter, "STATUS_GRAPHICS_INVALID_DISPLAY_ADAPTER", "The adapter is no display adapter, or none that works."},
	{StatusGraphicsAdapterWasReset, "STATUS_GRAPHICS_ADAPTER_WAS_RESET", "The adapter was reset."},
	{StatusGraphicsInvalidDriverModel, "STATUS_GRAPHICS_INVALID_DRIVER_MODEL", "The adapter has a driver of another model."},
	{StatusGraphicsPresentModeChanged, "STATUS_GRAPHICS_PRESENT_MODE_CHANGED", "The mode changed; present again."},
	{StatusGraphicsPresentOccluded, "STATUS_GRAPHICS_PRESENT_OCCLUDED", "What was to be presented is hidden."},
	{StatusGraphicsPresentDenied, "STATUS_GRAPHICS_PRESENT_DENIED", "Presenting is denied."},
	{StatusGraphicsCannotcolorconvert, "STATUS_GRAPHICS_CANNOTCOLORCONVERT", "The colours cannot be converted."},
	{StatusGraphicsDriverMismatch, "STATUS_GRAPHICS_DRIVER_MISMATCH", "User-mode and kernel-mode driver do not fit together."},
	{StatusGraphicsPresentRedirectionDisabled, "STATUS_GRAPHICS_PRESENT_REDIRECTION_DISABLED", "Redirected presenting is off."},
	{StatusGraphicsPresentUnoccluded, "STATUS_GRAPHICS_PRESENT_UNOCCLUDED", "What was hidden can be seen again."},
	{StatusGraphicsNoVideoMemory, "STATUS_GRAPHICS_NO_VIDEO_MEMORY", "There is not enough video memory."},
	{StatusGraphicsCantLockMemory, "STATUS_GRAPHICS_CANT_LOCK_MEMORY", "The memory cannot be locked."},
	{StatusGraphicsAllocationBusy, "STATUS_GRAPHICS_ALLOCATION_BUSY", "The allocation is in use."},
	{StatusGraphicsTooManyReferences, "STATUS_GRAPHICS_TOO_MANY_REFERENCES", "The allocation has too many references."},
	{StatusGraphicsTryAgainLater, "STATUS_GRAPHICS_TRY_AGAIN_LATER", "Not possible now; try again later."},
	{StatusGraphicsTryAgainNow, "STATUS_GRAPHICS_TRY_AGAIN_NOW", "Not possible just then; try again at once."},
	{StatusGraphicsAllocationInvalid, "STATUS_GRAPHICS_ALLOCATION_INVALID", "The allocation is not valid for this."},
	{StatusGraphicsUnswizzlingApertureUnavailable, "STATUS_GRAPHICS_UNSWIZZLING_APERTURE_UNAVAILABLE", "No unswizzling aperture is free."},
	{StatusGraphicsCantEvictPinnedAllocation, "STATUS_GRAPHICS_CANT_EVICT_PINNED_ALLOCATION", "A pinned allocation cannot be evicted."},
	{StatusGraphicsInvalidAllocationUsage, "STATUS_GRAPHICS_INVALID_ALLOCATION_USAGE", "The allocation cannot be used like this."},
	{StatusGraphicsCantRenderLockedAllocation, "STATUS_GRAPHICS_CANT_RENDER_LOCKED_ALLOCATION", "A locked allocation cannot be rendered to."},
	{StatusGraphicsAllocationClosed, "STATUS_GRAPHICS_ALLOCATION_CLOSED", "The allocation was closed."},
	{StatusGraphicsInvalidAllocationInstance, "STATUS_GRAPHICS_INVALID_ALLOCATION_INSTANCE", "The instance of the allocation is gone."},
	{StatusGraphicsInvalidAllocationHandle, "STATUS_GRAPHICS_INVALID_ALLOCATION_HANDLE", "The handle is no allocation."},
	{StatusGraphicsWrongAllocationDevice, "STATUS_GRAPHICS_WRONG_ALLOCATION_DEVICE", "The allocation belongs to another device."},
	{StatusGraphicsAllocationContentLost, "STATUS_GRAPHICS_ALLOCATION_CONTENT_LOST", "The content of the allocation is lost."},
	{StatusGraphicsGpuExceptionOnDevice, "STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE", "The device is in error: a hang, a fault, or memory that could not be made resident."},
	{StatusGraphicsAdapterChainNotReady, "STATUS_GRAPHICS_ADAPTER_CHAIN_NOT_READY", "Not all adapters of the link have started."},
}
