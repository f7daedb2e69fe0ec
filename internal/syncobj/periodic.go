package syncobj

// A PeriodicMonitoredFence is a monitored fence that only the system signals, once
// for every refresh of an output. It starts at 0 in memory that its users can only
// read. The local objects on it have no right to signal, so no user's signal comes
// this far.
//
//	state  notification      lose     drop last reference
//	Live   value + 1         → Lost   → Gone
//	Lost   nothing           nothing  → Gone
//	Gone   nothing           (no handle reaches it: every other event is a bug of ours)
//
// Waits, and the rest, are those of MonitoredFence.
// Source: objects.md §5.6, §4.6; OQ-14.
type PeriodicMonitoredFence struct{ *MonitoredFence }

// Periodic makes a fence that was just made, with value 0, a periodic one.
func Periodic(f *MonitoredFence) PeriodicMonitoredFence {
	f.periodic = true
	return PeriodicMonitoredFence{f}
}

// Notify is one notification of the output, or several that come at once. One that was
// under way when the fence was destroyed does nothing.
func (f PeriodicMonitoredFence) Notify(count uint64, wakes *Wakes) {
	if f.state == Live {
		f.Signal(f.Value()+count, false, wakes)
	}
}
