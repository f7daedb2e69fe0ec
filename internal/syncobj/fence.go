package syncobj

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// A Fence is the 64-bit value of Windows 7, which packets raise and wait for. It is in
// no memory that anybody sees.
//
//	state  signal ≥ value  signal < value  signal < value      enlist                 lose      drop last
//	                       (plain)         (AllowFenceRewind)                                   reference
//	Live   raise, judge    nothing         lower               judge                  → Lost    → Gone
//	Lost   nothing         nothing         nothing             met                    nothing   → Gone
//	Gone   nothing         nothing         nothing             met                    nothing   (a bug of ours)
//
// "judge" ends the waits that the value satisfies. Becoming Lost or Gone ends all of
// them. A lower value that a packet brings without permission is nothing and no
// error: racing packets cannot know the value.
// Source: objects.md §4.2-9, §4.5, §5.3; OQ-11, OQ-12, OQ-13, OQ-15, OQ-42.
type Fence struct {
	base
	value uint64
	waits wait.Heap
}

// Init makes f a live fence with one reference.
func (f *Fence) Init(flags abi.SyncObjectFlags, value uint64) {
	f.base.init(flags)
	f.value = value
	f.waits = wait.Heap{}
}

// Kind implements Object.
func (f *Fence) Kind() abi.SyncObjectType { return abi.Fence }

// Value returns the value: Max when it was lost.
func (f *Fence) Value() uint64 { return f.value }

// Waiters implements Object: packets that wait.
func (f *Fence) Waiters() (kernel, sleepers int) { return f.waits.Len(), 0 }

// Signal makes v the value. A lower one counts with rewind only; whoever the old
// value satisfies has gone already.
func (f *Fence) Signal(v uint64, rewind bool, _ *Wakes) {
	if f.state != Live || v < f.value && !rewind {
		return
	}
	f.value = v
	f.release(v)
}

// Lose raises the fence to Max for good: a device that could signal it is lost.
func (f *Fence) Lose(*Wakes) {
	if f.state != Live {
		return
	}
	f.state, f.value = Lost, Max
	f.release(Max)
}

// Enlist adds a wait, which may end at once.
func (f *Fence) Enlist(e *wait.Entry) {
	if f.state != Live || e.Target <= f.value {
		e.Meet()
		return
	}
	f.waits.Push(e)
}

// Withdraw takes a wait out, if it is still in.
func (f *Fence) Withdraw(e *wait.Entry) { f.waits.Remove(e) }

// Unref implements Object.
func (f *Fence) Unref(*Wakes) {
	if f.unref() {
		f.release(Max)
	}
}

func (f *Fence) release(cur uint64) {
	for e := f.waits.Pop(cur); e != nil; e = f.waits.Pop(cur) {
		e.Meet()
	}
}
