package syncobj

import (
	"maps"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// A KeyedMutex is a mutex that threads pass to each other by a key: only who asks for
// the key of the last release gets it. It is no synchronization object: packets know
// nothing of it.
//
//	state      acquire, key of   acquire,     acquire,   release by   release by  owner's thread    another's  drop last
//	           the last release  another key  as owner   the owner    another     or process ends   end        reference
//	Free       SUCCESS → Owned   PENDING      –          –            refused     –                 nothing    → Gone
//	Owned      PENDING           PENDING      refused    SUCCESS,     refused     → Abandoned       nothing    → Gone
//	                                                     see below
//	Abandoned  ABANDONED         ABANDONED    –          –            ABANDONED   –                 nothing    → Gone
//	Gone       ABANDONED         ABANDONED    –          –            ABANDONED   –                 nothing    (a bug of ours)
//
// "refused" is INVALID_PARAMETER; PENDING means that nothing happened and the thread
// may Enlist. A release hands the mutex over to the first in line for its key; it is
// Free when nobody waits for that. Becoming Abandoned or Gone ends all who wait with
// ABANDONED: nobody can pass the mutex on to them.
// Source: calls.md §7; OQ-28, OQ-29. Whom the last reference releases is our choice.
type KeyedMutex struct {
	state State
	refs  int32
	key   uint64 // of the last release
	fence uint64 // value of the last release
	owner Thread
	data  []byte            // the runtimes', of no meaning here
	lines map[uint64]*turns // by key
	count int               // of turns in all lines
}

// turns are those who wait for one key, in order.
type turns struct{ first, last *Turn }

// A Thread is who owns a keyed mutex, or wants to.
type Thread struct {
	Process any    // a comparable token
	ID      uint64 // of one of its threads
}

// A Turn is a thread that waits for a keyed mutex. Its Wait ends with SUCCESS when
// the thread owns the mutex, with ABANDONED, or with INVALID_PARAMETER when the data
// that it would get outgrew its room meanwhile; or with whatever somebody else ends
// it with, who then withdraws it.
type Turn struct {
	Wait   *wait.Wait
	Thread Thread
	Key    uint64
	Room   int // for private runtime data, in bytes; 0: it wants none

	line       *turns // that it stands in; nil: in none
	prev, next *Turn
}

// Init makes k a free mutex with one reference. key is the one that the first
// acquire must name; data may be empty.
func (k *KeyedMutex) Init(key uint64, data []byte) {
	*k = KeyedMutex{state: Free, refs: 1, key: key, data: slices.Clone(data)}
}

// State returns the state.
func (k *KeyedMutex) State() State { return k.state }

// Owner returns the owner; ok is false when there is none.
func (k *KeyedMutex) Owner() (t Thread, ok bool) { return k.owner, k.state == Owned }

// Key returns the key of the last release, at first the initial one.
func (k *KeyedMutex) Key() uint64 { return k.key }

// Fence returns the fence value of the last release, at first 0: what an acquire
// answers.
func (k *KeyedMutex) Fence() uint64 { return k.fence }

// Data returns the private runtime data, which the caller must not change. Who
// acquires the mutex copies it in the same step: an open may still adopt some.
func (k *KeyedMutex) Data() []byte { return k.data }

// Waiters returns how many threads wait.
func (k *KeyedMutex) Waiters() int { return k.count }

// CheckOpen judges the size of private runtime data of an open: SUCCESS for 0, for
// the size of what the mutex has, and for any when it has none; else
// INVALID_PARAMETER. Source: calls.md §7; OQ-29.
func (k *KeyedMutex) CheckOpen(size int) abi.Status {
	if size == 0 || len(k.data) == 0 || size == len(k.data) {
		return abi.StatusSuccess
	}
	return abi.StatusInvalidParameter
}

// Open adds a reference with data that CheckOpen has let pass: a mutex without data
// adopts it.
func (k *KeyedMutex) Open(data []byte) {
	k.Ref()
	if len(k.data) == 0 {
		k.data = slices.Clone(data)
	}
}

// Acquire makes t the owner if the mutex is free and key is that of the last release.
// room is the size of t's buffer for private runtime data in bytes, 0 for none.
//
// SUCCESS; PENDING when t has to wait; ABANDONED; INVALID_PARAMETER when t is the
// owner, and for a room too small.
func (k *KeyedMutex) Acquire(t Thread, key uint64, room int) abi.Status {
	switch {
	case k.state == Abandoned || k.state == Gone:
		return abi.StatusAbandoned
	case k.owns(t), !k.fits(room):
		return abi.StatusInvalidParameter
	case k.state == Owned || key != k.key:
		return abi.StatusPending
	}
	k.state, k.owner = Owned, t
	return abi.StatusSuccess
}

// Enlist puts t at the end of the line for its key. Acquire must just have answered
// PENDING.
func (k *KeyedMutex) Enlist(t *Turn) {
	if k.lines == nil {
		k.lines = map[uint64]*turns{}
	}
	l := k.lines[t.Key]
	if l == nil {
		l = new(turns)
		k.lines[t.Key] = l
	}
	t.line, t.prev, t.next = l, l.last, nil
	if l.last != nil {
		l.last.next = t
	} else {
		l.first = t
	}
	l.last = t
	k.count++
}

// Withdraw takes t out of its line, if it stands there: its time is over, or nobody
// waits any more.
func (k *KeyedMutex) Withdraw(t *Turn) {
	l := t.line
	if l == nil {
		return
	}
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		l.first = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else {
		l.last = t.prev
	}
	t.line, t.prev, t.next = nil, nil, nil
	k.count--
	if l.first == nil {
		delete(k.lines, t.Key)
	}
}

// Release ends the ownership of t. Data that is not empty replaces the mutex's.
//
// SUCCESS; ABANDONED; INVALID_PARAMETER when t is not the owner.
func (k *KeyedMutex) Release(t Thread, key, fence uint64, data []byte) abi.Status {
	switch {
	case k.state == Abandoned || k.state == Gone:
		return abi.StatusAbandoned
	case !k.owns(t):
		return abi.StatusInvalidParameter
	}
	if len(data) > 0 {
		k.data = slices.Clone(data)
	}
	k.key, k.fence = key, fence
	k.handOver()
	return abi.StatusSuccess
}

// handOver gives the mutex to the first in line for its key, or frees it.
func (k *KeyedMutex) handOver() {
	k.state, k.owner = Free, Thread{}
	for l := k.lines[k.key]; l != nil && l.first != nil; {
		t := l.first
		k.Withdraw(t)
		if !k.fits(t.Room) {
			t.Wait.End(abi.StatusInvalidParameter)
			continue
		}
		k.state, k.owner = Owned, t.Thread
		if t.Wait.End(abi.StatusSuccess) {
			return
		}
		// It was ended by somebody who has not withdrawn it yet.
		k.state, k.owner = Free, Thread{}
	}
}

// EndThread tells that t has ended. It must not wait any more.
func (k *KeyedMutex) EndThread(t Thread) {
	if k.owns(t) {
		k.abandon(Abandoned)
	}
}

// EndProcess tells that a process, a token as in Thread, has ended. None of its
// threads must wait any more.
func (k *KeyedMutex) EndProcess(process any) {
	if k.state == Owned && k.owner.Process == process {
		k.abandon(Abandoned)
	}
}

// Ref adds a reference: a local handle, a bundle.
func (k *KeyedMutex) Ref() { k.refs++ }

// Unref drops one; with the last one the mutex is gone.
func (k *KeyedMutex) Unref(*Wakes) {
	if k.refs--; k.refs == 0 {
		k.abandon(Gone)
	}
}

// abandon ends what can be had of the mutex, and all who wait for it.
func (k *KeyedMutex) abandon(as State) {
	k.state, k.owner = as, Thread{}
	for _, key := range slices.Sorted(maps.Keys(k.lines)) {
		for l := k.lines[key]; l != nil && l.first != nil; {
			t := l.first
			k.Withdraw(t)
			t.Wait.End(abi.StatusAbandoned)
		}
	}
}

func (k *KeyedMutex) owns(t Thread) bool { return k.state == Owned && k.owner == t }

// fits reports whether a buffer of room bytes, or none, can take the data.
func (k *KeyedMutex) fits(room int) bool { return room == 0 || room >= len(k.data) }
