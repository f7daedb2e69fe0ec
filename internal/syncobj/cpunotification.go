package syncobj

import "github.com/dxgsync/dxgsync/abi"

// An Event is a CPU event, as the kernel's host gives it. Its methods are called
// without the kernel's lock.
type Event interface {
	// Set signals the event once.
	Set()
	// Close drops the reference.
	Close()
}

// A CPUNotification sets a CPU event. Nothing waits for it: a program waits for its
// event.
//
//	state  packet signal         packet signal  driver signal   driver signal  drop last reference
//	                             (SignalByKmd)                  (SignalByKmd)
//	Live   set event             nothing        nothing         set event      close event → Gone
//	Gone   nothing               nothing        nothing         nothing        (a bug of ours)
//
// CheckSignal refuses a packet that would signal a SignalByKmd object; the driver
// knows no others.
// Source: objects.md §5.4; OQ-7, OQ-25.
type CPUNotification struct {
	base
	event Event
}

// Init makes n live with one reference. The event is n's from now on.
func (n *CPUNotification) Init(flags abi.SyncObjectFlags, event Event) {
	n.base.init(flags)
	n.event = event
}

// Kind implements Object.
func (n *CPUNotification) Kind() abi.SyncObjectType { return abi.CPUNotification }

// ByDriver reports whether only the kernel-mode driver signals n: SignalByKmd.
func (n *CPUNotification) ByDriver() bool { return n.Flags&abi.SyncObjectSignalByKmd != 0 }

// Waiters implements Object: nobody can wait.
func (n *CPUNotification) Waiters() (kernel, sleepers int) { return 0, 0 }

// Signal is a packet's: the event is set. The values mean nothing.
func (n *CPUNotification) Signal(_ uint64, _ bool, wakes *Wakes) {
	if n.state == Live && !n.ByDriver() {
		wakes.Set(n.event)
	}
}

// Notify is the driver's signal, DxgkCbSignalEvent. It may come late, when n is gone.
func (n *CPUNotification) Notify(wakes *Wakes) {
	if n.state == Live && n.ByDriver() {
		wakes.Set(n.event)
	}
}

// Unref implements Object.
func (n *CPUNotification) Unref(wakes *Wakes) {
	if n.unref() {
		wakes.Close(n.event)
		n.event = nil
	}
}
