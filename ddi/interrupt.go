package ddi

import "fmt"

// InterruptType is a DXGK_INTERRUPT_TYPE.
type InterruptType uint32

// Interrupt types. Source: gpu.md §6.
const (
	TypePeriodicMonitoredFenceSignaled InterruptType = 14
)

// String returns the end of the type's public name.
func (t InterruptType) String() string {
	if t == TypePeriodicMonitoredFenceSignaled {
		return "PERIODIC_MONITORED_FENCE_SIGNALED"
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

// Type returns TypePeriodicMonitoredFenceSignaled.
func (PeriodicMonitoredFenceSignaled) Type() InterruptType {
	return TypePeriodicMonitoredFenceSignaled
}

// String returns the interrupt on one line.
func (i PeriodicMonitoredFenceSignaled) String() string {
	return fmt.Sprintf("%v target=%d notification=%d count=%d", i.Type(), i.VidPnTargetID, i.NotificationID, i.Count)
}

func (PeriodicMonitoredFenceSignaled) interrupt() {}
