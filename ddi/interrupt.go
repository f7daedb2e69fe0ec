package ddi

import "fmt"

// InterruptType is a DXGK_INTERRUPT_TYPE.
type InterruptType uint32

// Interrupt types. Source: gpu.md §6.
const (
	TypeDmaCompleted                   InterruptType = 1
	TypeDmaPreempted                   InterruptType = 2
	TypeDmaFaulted                     InterruptType = 4
	TypeDmaPageFaulted                 InterruptType = 9
	TypeMonitoredFenceSignaled         InterruptType = 11
	TypeHwQueuePageFaulted             InterruptType = 12
	TypePeriodicMonitoredFenceSignaled InterruptType = 14
	TypeGpuEngineTimeout               InterruptType = 16
	TypeSuspendContextCompleted        InterruptType = 17
	TypeNativeFenceSignaled            InterruptType = 19
	TypeGpuEngineStateChange           InterruptType = 20
	// TypeDmaRead is ours.
	TypeDmaRead InterruptType = 0x8000_0001
)

var interruptNames = map[InterruptType]string{
	TypeDmaCompleted:                   "DMA_COMPLETED",
	TypeDmaPreempted:                   "DMA_PREEMPTED",
	TypeDmaFaulted:                     "DMA_FAULTED",
	TypeDmaPageFaulted:                 "DMA_PAGE_FAULTED",
	TypeMonitoredFenceSignaled:         "MONITORED_FENCE_SIGNALED",
	TypeHwQueuePageFaulted:             "HWQUEUE_PAGE_FAULTED",
	TypePeriodicMonitoredFenceSignaled: "PERIODIC_MONITORED_FENCE_SIGNALED",
	TypeGpuEngineTimeout:               "GPU_ENGINE_TIMEOUT",
	TypeSuspendContextCompleted:        "SUSPEND_CONTEXT_COMPLETED",
	TypeNativeFenceSignaled:            "NATIVE_FENCE_SIGNALED",
	TypeGpuEngineStateChange:           "GPU_ENGINE_STATE_CHANGE",
	TypeDmaRead:                        "DMA_READ",
}

// String returns the end of the type's public name.
func (t InterruptType) String() string {
	if s, ok := interruptNames[t]; ok {
		return s
	}
	return fmt.Sprintf("DXGK_INTERRUPT_TYPE %d", uint32(t))
}

// An Interrupt is what a driver reports with NotifyInterrupt. There is a type for
// each InterruptType, with the fields that DXGKARGCB_NOTIFY_INTERRUPT_DATA has for
// it; only this package makes them.
type Interrupt interface {
	fmt.Stringer
	Type() InterruptType
	interrupt()
}

// DmaCompleted tells that all packets of an engine up to a fence id are complete.
type DmaCompleted struct {
	Engine            Engine
	SubmissionFenceID uint32
}

// DmaPreempted answers PreemptCommand: everything submitted before that call and after
// LastCompletedFenceID was taken off the engine. If that was complete already, the two
// say so.
type DmaPreempted struct {
	Engine                                  Engine
	PreemptionFenceID, LastCompletedFenceID uint32
}

// DmaFaulted tells that a packet did something that is no page fault and cannot go on:
// commands that the engine does not know, for example. The packet has ended; its device
// is lost.
type DmaFaulted struct {
	Engine         Engine
	FaultedFenceID uint32
}

// DmaPageFaulted tells that a packet touched what is not mapped. The packet has ended;
// its device is lost.
type DmaPageFaulted struct {
	Engine         Engine
	FaultedFenceID uint32
	Fault          Fault
	// PrimitiveAPISequenceNumber says how far the packet had got.
	PrimitiveAPISequenceNumber uint64
}

// MonitoredFenceSignaled tells that an engine has written values of fences. It does not
// say which.
type MonitoredFenceSignaled struct {
	Engine Engine
}

// HwQueuePageFaulted is DmaPageFaulted for a packet of a hardware queue, or, with
// Faulted, DmaFaulted. FaultedFenceID is the packet's progress id.
type HwQueuePageFaulted struct {
	Engine         Engine
	HwQueue        KmdHwQueue
	FaultedFenceID uint64
	Fault          Fault
	Faulted        bool // ours: it was no page fault

	PrimitiveAPISequenceNumber uint64
}

// PeriodicMonitoredFenceSignaled tells that a periodic frame notification fired: the
// fence that belongs to it advances.
type PeriodicMonitoredFenceSignaled struct {
	VidPnTargetID  uint32
	NotificationID uint32
	// Count is for how many vertical syncs this stands, 1 unless the driver was called
	// very late; 0 counts as 1. The fence advances by it. Ours, Windows has no such
	// field: a fence there that misses an interrupt misses a value.
	Count uint64
}

// GpuEngineTimeout tells that the driver itself has found an engine hung.
type GpuEngineTimeout struct {
	Engine Engine
}

// SuspendContextCompleted answers a pending SuspendContext.
type SuspendContextCompleted struct {
	Context             KmdContext
	ContextSuspendFence uint64
}

// DmaRead tells that the commands of all packets up to a fence id were read completely,
// so that objects with TopOfPipeline can be signalled. Ours: Windows does not say how
// it knows. A driver without the capability ReportsRead does not send it.
type DmaRead struct {
	Engine            Engine
	SubmissionFenceID uint32
}

// NativeFenceSignaled tells that an engine has signalled native fences that CPUs wait
// for. Source: native-fence.md §6.
type NativeFenceSignaled struct {
	Engine Engine
	// Fences are those whose value passed their monitored value. nil: it may be any. Not
	// looked at with OptimizedNativeFenceSignaledInterrupt.
	Fences []DxgNativeFence
	// HwQueue is, with OptimizedNativeFenceSignaledInterrupt, the queue that signalled them;
	// 0: it may be any of the engine.
	HwQueue KmdHwQueue
	// EvaluateLegacyMonitoredFences: values of monitored fences may have been written too.
	EvaluateLegacyMonitoredFences bool
}

// GpuEngineStateChange tells of the power state of an engine, or that it hangs.
// Source: native-fence.md §12.
type GpuEngineStateChange struct {
	Engine   Engine
	NewState EngineState
}

// EngineState is DXGK_ENGINE_STATE.
type EngineState uint32

// Engine states. The header's numbers are not known; these are in the order of the page.
const (
	EngineActive         EngineState = 0
	EngineTransitionToF1 EngineState = 1 // it rests: all doorbells of its queues are disconnected
	EngineHung           EngineState = 2 // as GpuEngineTimeout
)

// String returns "ACTIVE", "TRANSITION_TO_F1" or "HUNG".
func (s EngineState) String() string {
	if s > EngineHung {
		return fmt.Sprint(uint32(s))
	}
	return [...]string{"ACTIVE", "TRANSITION_TO_F1", "HUNG"}[s]
}

// Type returns TypeDmaCompleted.
func (DmaCompleted) Type() InterruptType { return TypeDmaCompleted }

// Type returns TypeDmaPreempted.
func (DmaPreempted) Type() InterruptType { return TypeDmaPreempted }

// Type returns TypeDmaFaulted.
func (DmaFaulted) Type() InterruptType { return TypeDmaFaulted }

// Type returns TypeDmaPageFaulted.
func (DmaPageFaulted) Type() InterruptType { return TypeDmaPageFaulted }

// Type returns TypeMonitoredFenceSignaled.
func (MonitoredFenceSignaled) Type() InterruptType { return TypeMonitoredFenceSignaled }

// Type returns TypeHwQueuePageFaulted.
func (HwQueuePageFaulted) Type() InterruptType { return TypeHwQueuePageFaulted }

// Type returns TypePeriodicMonitoredFenceSignaled.
func (PeriodicMonitoredFenceSignaled) Type() InterruptType {
	return TypePeriodicMonitoredFenceSignaled
}

// Type returns TypeGpuEngineTimeout.
func (GpuEngineTimeout) Type() InterruptType { return TypeGpuEngineTimeout }

// Type returns TypeSuspendContextCompleted.
func (SuspendContextCompleted) Type() InterruptType { return TypeSuspendContextCompleted }

// Type returns TypeNativeFenceSignaled.
func (NativeFenceSignaled) Type() InterruptType { return TypeNativeFenceSignaled }

// Type returns TypeGpuEngineStateChange.
func (GpuEngineStateChange) Type() InterruptType { return TypeGpuEngineStateChange }

// Type returns TypeDmaRead.
func (DmaRead) Type() InterruptType { return TypeDmaRead }

// String returns the interrupt on one line.
func (i DmaCompleted) String() string {
	return fmt.Sprintf("%v %v fence=%d", i.Type(), i.Engine, i.SubmissionFenceID)
}

// String returns the interrupt on one line.
func (i DmaPreempted) String() string {
	return fmt.Sprintf("%v %v preemption=%d completed=%d", i.Type(), i.Engine, i.PreemptionFenceID, i.LastCompletedFenceID)
}

// String returns the interrupt on one line.
func (i DmaFaulted) String() string {
	return fmt.Sprintf("%v %v fence=%d", i.Type(), i.Engine, i.FaultedFenceID)
}

// String returns the interrupt on one line.
func (i DmaPageFaulted) String() string {
	return fmt.Sprintf("%v %v fence=%d address=%#x", i.Type(), i.Engine, i.FaultedFenceID, i.Fault.Address)
}

// String returns the interrupt on one line.
func (i MonitoredFenceSignaled) String() string { return fmt.Sprintf("%v %v", i.Type(), i.Engine) }

// String returns the interrupt on one line.
func (i HwQueuePageFaulted) String() string {
	return fmt.Sprintf("%v %v queue=%d fence=%d address=%#x", i.Type(), i.Engine, i.HwQueue, i.FaultedFenceID, i.Fault.Address)
}

// String returns the interrupt on one line.
func (i PeriodicMonitoredFenceSignaled) String() string {
	return fmt.Sprintf("%v target=%d notification=%d count=%d", i.Type(), i.VidPnTargetID, i.NotificationID, i.Count)
}

// String returns the interrupt on one line.
func (i GpuEngineTimeout) String() string { return fmt.Sprintf("%v %v", i.Type(), i.Engine) }

// String returns the interrupt on one line.
func (i SuspendContextCompleted) String() string {
	return fmt.Sprintf("%v context=%d fence=%d", i.Type(), i.Context, i.ContextSuspendFence)
}

// String returns the interrupt on one line.
func (i DmaRead) String() string {
	return fmt.Sprintf("%v %v fence=%d", i.Type(), i.Engine, i.SubmissionFenceID)
}

// String returns the interrupt on one line.
func (i NativeFenceSignaled) String() string {
	which := "all"
	if i.Fences != nil {
		which = fmt.Sprint(i.Fences)
	}
	return fmt.Sprintf("%v %v fences=%s queue=%d legacy=%v", i.Type(), i.Engine, which, i.HwQueue, i.EvaluateLegacyMonitoredFences)
}

// String returns the interrupt on one line.
func (i GpuEngineStateChange) String() string {
	return fmt.Sprintf("%v %v state=%v", i.Type(), i.Engine, i.NewState)
}

// String returns the engine as node.engine.
func (e Engine) String() string { return fmt.Sprintf("%d.%d", e.NodeOrdinal, e.EngineOrdinal) }

func (DmaCompleted) interrupt()                   {}
func (DmaPreempted) interrupt()                   {}
func (DmaFaulted) interrupt()                     {}
func (DmaPageFaulted) interrupt()                 {}
func (MonitoredFenceSignaled) interrupt()         {}
func (HwQueuePageFaulted) interrupt()             {}
func (PeriodicMonitoredFenceSignaled) interrupt() {}
func (GpuEngineTimeout) interrupt()               {}
func (SuspendContextCompleted) interrupt()        {}
func (NativeFenceSignaled) interrupt()            {}
func (GpuEngineStateChange) interrupt()           {}
func (DmaRead) interrupt()                        {}
