// Package wait holds one-shot waits: for any or for all of some values, ended
// exactly once by whoever comes first: a value that is reached, a cancel, a
// deadline, the destruction of an object, the loss of a device.
//
// The same type serves both sides. In the kernel a Wait stands for a wait that
// the kernel decides (asynchronous events, viewers, rewound fences), guarded by
// the kernel's lock. In a Go process it stands for a parked goroutine, its
// entries spread over the gates of several fences, each with its own lock; the
// compare-and-swap in End is what makes one of them the winner.
package wait

import (
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
)

// Sink is told how a wait ended, once, by the winner and possibly under the
// winner's lock: it must not block and must not call back into the wait's gates.
type Sink interface {
	Ended(w *Wait, st abi.Status)
}

// A Wait ends once. The zero Wait must be set up with Init before its entries
// are enlisted anywhere.
type Wait struct {
	result atomic.Uint64 // 0 while pending; then how it ended, in one word; or rested
	need   atomic.Int32  // entries still to be met; stays 1 once it is 1
	sink   Sink
}

// A result is the bit that says "ended", 1 + the index of the entry that ended the
// wait (0 = none did), and the status.
const (
	ended      = 1 << 63
	firstShift = 32
	firstMask  = 1<<31 - 1
	rested     = 1 // neither pending nor ended: nobody uses it
)

// Init makes w a pending wait that ends when need of its entries have been met:
// 1 for any, the number of entries for all.
func (w *Wait) Init(sink Sink, need int) {
	w.sink = sink
	if w.need.Load() != int32(need) { // a load is cheaper than a store that changes nothing
		w.need.Store(int32(need))
	}
	w.result.Store(0)
}

// End ends w with st and tells the sink. It reports whether this call was the
// one that ended it.
func (w *Wait) End(st abi.Status) bool { return w.end(st, -1) }

func (w *Wait) end(st abi.Status, first int32) bool {
	if !w.result.CompareAndSwap(0, ended|uint64(first+1)<<firstShift|uint64(st)) {
		return false
	}
	w.sink.Ended(w, st)
	return true
}

// Withdrawn ends w without telling the sink: its owner has gone or is the caller.
// It reports whether this call was the one that ended it.
func (w *Wait) Withdrawn() bool { return w.result.CompareAndSwap(0, ended) }

// Sink returns who is told.
func (w *Wait) Sink() Sink { return w.sink }

// Pending reports whether w has not ended yet.
func (w *Wait) Pending() bool { return w.result.Load() == 0 }

// rest marks w as used by nobody until the next Init.
func (w *Wait) rest() { w.result.Store(rested) }

func (w *Wait) resting() bool { return w.result.Load() == rested }

// Status returns the status with which w was ended, which it must have been.
func (w *Wait) Status() abi.Status { return abi.Status(w.result.Load()) }

// First returns the index of the entry that ended w, -1 when something else did.
func (w *Wait) First() int { return int(w.result.Load()>>firstShift&firstMask) - 1 }

// An Entry is one value of a Wait: a target on one fence. It sits in at most
// one Heap at a time; whoever guards that heap guards the entry.
type Entry struct {
	Target uint64
	Wait   *Wait
	Index  int32 // its place among the entries of the wait
	met    bool  // latched: counted once, whatever the value does later
	seat   int32 // in the heap that it is in, plus 1; 0 = in none
}

// Meet latches e as satisfied and ends its wait when it was the last one needed.
// Meeting an entry twice counts once.
func (e *Entry) Meet() {
	if e.met {
		return
	}
	e.met = true
	// Whoever finds that one entry is needed brings it. The count is not lowered
	// then: several entries of a wait for any may come this far, and one wins.
	if w := e.Wait; w.need.Load() == 1 || w.need.Add(-1) == 0 {
		w.end(abi.StatusSuccess, e.Index)
	}
}

// Met reports whether e has been seen satisfied.
func (e *Entry) Met() bool { return e.met }

// Reset makes e a fresh entry of w for a target. It must not be in a heap.
func (e *Entry) Reset(w *Wait, index int, target uint64) {
	*e = Entry{Target: target, Wait: w, Index: int32(index)}
}
