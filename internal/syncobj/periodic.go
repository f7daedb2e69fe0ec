package syncobj

import "github.com/dxgsync/dxgsync/abi"

// A PeriodicMonitoredFence is a monitored fence that only the system signals, once
// for every refresh of an output. It starts at 0 in memory that its users can only
// read.
//
//	state  notification  judge a user's signal  signal   lose     drop last reference
//	Live   value + 1     ACCESS_DENIED          nothing  → Lost   → Gone
//	Lost   nothing       ACCESS_DENIED          nothing  nothing  → Gone
//	Gone   nothing       (no handle reaches it: every other event is a bug of ours)
//
// Waits, and the rest, are those of MonitoredFence.
// Source: objects.md §5.6, §4.6; OQ-14.
type PeriodicMonitoredFence struct {
	MonitoredFence
}

// Kind implements Object.
func (f *PeriodicMonitoredFence) Kind() abi.SyncObjectType { return abi.PeriodicMonitoredFence }

// Notify is one notification of the output. One that was under way when the fence
// was destroyed does nothing.
func (f *PeriodicMonitoredFence) Notify(wakes *Wakes) {
	if f.state == Live {
		f.MonitoredFence.Signal(f.Value()+1, false, wakes)
	}
}

// Judge answers a user's signal: ACCESS_DENIED, whatever the value.
func (f *PeriodicMonitoredFence) Judge(cur, v uint64, rewind bool) abi.Status {
	return abi.StatusAccessDenied
}

// Signal does nothing: no user signals the fence, and none was let through.
func (f *PeriodicMonitoredFence) Signal(v uint64, rewind bool, wakes *Wakes) {}
