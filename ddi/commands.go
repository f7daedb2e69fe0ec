package ddi

import "github.com/dxgsync/dxgsync/abi"

// Commands is the work that the kernel schedules: command buffers of contexts.
type Commands interface {
	// SubmitCommandVirtual queues a command buffer on the engine of its context. Those
	// of one engine run in the order of their calls. The driver answers each with
	// DmaCompleted, DmaPreempted, DmaFaulted or DmaPageFaulted, unless a reset comes
	// first. INVALID_PARAMETER: private data that the driver does not understand; the
	// buffer then counts as faulted. Source: DxgkDdiSubmitCommandVirtual.
	SubmitCommandVirtual(args SubmitCommandArgs) abi.Status
	// PreemptCommand asks the engine to stop what it runs, at once or as soon as it
	// can: the driver answers with DmaPreempted. What the kernel submits afterwards
	// stays. It does not fail. Source: DxgkDdiPreemptCommand.
	PreemptCommand(engine Engine, preemptionFenceID uint32)
	// QueryCurrentFence has the driver report what is complete on an engine and not yet
	// reported, from inside the call. Source: DxgkDdiQueryCurrentFence.
	QueryCurrentFence(engine Engine)
}

// SubmitCommandArgs are the arguments of SubmitCommandVirtual.
// Source: DXGKARG_SUBMITCOMMANDVIRTUAL.
type SubmitCommandArgs struct {
	Context KmdContext
	Engine  Engine
	// DmaBufferVirtualAddress and DmaBufferSize, in bytes, are where the commands are.
	DmaBufferVirtualAddress uint64
	DmaBufferSize           uint32
	// DmaBufferPrivateData comes from the user-mode driver. It is the driver's from now
	// on.
	DmaBufferPrivateData []byte
	// SubmissionFenceID names the packet in interrupts. It grows by 1 with each packet
	// of an engine and wraps at 2^32.
	SubmissionFenceID uint32
	Flags             SubmitCommandFlags
}

// SubmitCommandFlags are those of DXGK_SUBMITCOMMANDFLAGS that we use.
type SubmitCommandFlags uint32

// Flags of a submission.
const (
	// SubmitResubmission: the packet was preempted or aborted before, and may run twice.
	SubmitResubmission SubmitCommandFlags = 1 << 0
	// SubmitNullRendering: the packet only does what others can see of it with
	// synchronization objects: writes of fences happen, nothing else.
	SubmitNullRendering SubmitCommandFlags = 1 << 1
)

// HwQueues are hardware queues, with the capability HwScheduling.
type HwQueues interface {
	// CreateHwQueue makes the driver's side of a hardware queue of a context that was
	// created with HwQueueSupported. The result is not 0. The status is that of the
	// create. Source: DxgkDdiCreateHwQueue.
	CreateHwQueue(args CreateHwQueueArgs) (KmdHwQueue, abi.Status)
	// DestroyHwQueue takes it away; nothing of it runs any more. INVALID_PARAMETER:
	// there is none. Source: DxgkDdiDestroyHwQueue.
	DestroyHwQueue(queue KmdHwQueue) abi.Status
	// SubmitCommandToHwQueue appends a command buffer to a queue. Those of one queue run
	// in the order of their calls. It is complete when the progress fence reaches the
	// id, which the buffer's last instruction does, or the GPU where the node has
	// RingBufferFenceRelease; the driver then reports MonitoredFenceSignaled.
	// INVALID_PARAMETER as for SubmitCommandVirtual.
	// Source: DxgkDdiSubmitCommandToHwQueue.
	SubmitCommandToHwQueue(args SubmitCommandToHwQueueArgs) abi.Status
	// SuspendContext asks the engine to take the context, with all its queues, off the
	// hardware. SUCCESS: it is off already; PENDING: SuspendContextCompleted with the
	// same fence follows. What is submitted to it waits. Source: DxgkDdiSuspendContext.
	SuspendContext(context KmdContext, contextSuspendFence uint64) abi.Status
	// ResumeContext lets a suspended context run again. Source: DxgkDdiResumeContext.
	ResumeContext(context KmdContext) abi.Status
}

// CreateHwQueueArgs are the arguments of CreateHwQueue.
// Source: DXGKARG_CREATEHWQUEUE.
type CreateHwQueueArgs struct {
	Context           KmdContext
	Flags             abi.CreateHwQueueFlags
	PrivateDriverData []byte // valid during the call
	// ProgressFenceGpuVirtualAddress is where the GPU writes progress.
	ProgressFenceGpuVirtualAddress uint64
	// NativeProgressFence is the progress fence if it is a native one, as the flag of this
	// name says; else 0.
	NativeProgressFence KmdNativeFence
}

// SubmitCommandToHwQueueArgs are the arguments of SubmitCommandToHwQueue.
// Source: DXGKARG_SUBMITCOMMANDTOHWQUEUE.
type SubmitCommandToHwQueueArgs struct {
	HwQueue                 KmdHwQueue
	HwQueueProgressFenceID  uint64
	DmaBufferVirtualAddress uint64
	DmaBufferSize           uint32
	DmaBufferPrivateData    []byte // the driver's from now on
	Flags                   SubmitCommandFlags
}
