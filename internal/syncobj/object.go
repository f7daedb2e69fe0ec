// Package syncobj holds the synchronization objects themselves, one file per
// kind: the value or state, who waits for it in the kernel, and what each event
// does to it. A Packet is a wait of the GPU side, for objects of any kind. Local
// objects, handles and rights are the kernel's.
//
// Nothing here locks or blocks: the kernel's lock guards every object. What has
// to happen after the lock is dropped is collected in Wakes.
package syncobj

import "github.com/dxgsync/dxgsync/abi"

// An Object is a synchronization object of any kind, as the kernel holds it.
// Source: objects.md §1, §4.1, §4.4.
type Object interface {
	// Kind is the type that it was created as.
	Kind() abi.SyncObjectType
	// CreateFlags are the attributes that it was created with, of the object and not
	// of any local one.
	CreateFlags() abi.SyncObjectFlags
	// State is where its state machine stands.
	State() State
	// Waiters are how many waits the kernel decides, and how many sleepers its memory
	// has.
	Waiters() (kernel, sleepers int)
	// Signal is a packet's signal that takes effect. It cannot fail: whoever queued it
	// was judged then (CheckSignal). Only fences have a use for v, the new value, and
	// for rewind, which allows v to be lower than the current one.
	Signal(v uint64, rewind bool, wakes *Wakes)
	// Ref adds a reference. Whatever can still bring a signal holds one: a local
	// object, an NT handle, a bundle, a queued signal. A packet that waits holds none.
	Ref()
	// Unref drops one. With the last one the object is gone: nothing can signal it any
	// more, and it counts as satisfied for whoever waits for it (objects.md §4.5).
	Unref(wakes *Wakes)
}

// State is the state of an object. Each kind has some of them; the comment of its
// type has the table.
type State uint8

// The states.
const (
	Live      State = iota // fence, CPU notification: follows signals
	Lost                   // fence: raised to Max by loss, for good
	Available              // mutex: not owned; semaphore: neither empty nor full
	Owned                  // mutex, keyed mutex
	Empty                  // semaphore: the count is 0
	Full                   // semaphore: the count is the maximum
	Free                   // keyed mutex: not owned
	Abandoned              // keyed mutex: its owner died, for good
	Gone                   // nothing refers to it
)

func (s State) String() string {
	return [...]string{"Live", "Lost", "Available", "Owned", "Empty", "Full", "Free", "Abandoned", "Gone"}[s]
}

// base is what every kind has.
type base struct {
	// Flags are the creation attributes, of the object and not of any local one.
	Flags abi.SyncObjectFlags

	refs     int32
	state    State
	periodic bool // of a monitored fence
}

func (b *base) init(flags abi.SyncObjectFlags) { *b = base{Flags: flags, refs: 1} }

// CreateFlags returns the creation attributes.
func (b *base) CreateFlags() abi.SyncObjectFlags { return b.Flags }

// Shared reports whether the object can be opened by others.
func (b *base) Shared() bool { return b.Flags&abi.SyncObjectShared != 0 }

// State returns the state.
func (b *base) State() State { return b.state }

// Last reports whether there is one reference only.
func (b *base) Last() bool { return b.refs == 1 }

// Ref adds a reference: a local object, an NT handle, a queued signal.
func (b *base) Ref() { b.refs++ }

// unref drops one and reports whether it was the last: then the object is gone.
func (b *base) unref() bool {
	if b.refs--; b.refs > 0 {
		return false
	}
	b.state = Gone
	return true
}
