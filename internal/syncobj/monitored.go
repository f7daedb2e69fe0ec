package syncobj

import (
	"math"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// Backing is the memory that a fence's value lives in, and whoever sleeps on it.
type Backing interface {
	// View is the cell with the value.
	View() page.View
	// WakeAll makes every sleeper of the cell look again. It is called without
	// the kernel's lock.
	WakeAll()
	// Free ends the memory's use: nothing refers to the fence any more. It is
	// called without the kernel's lock.
	Free()
}

// Max is the value of a fence whose signaller was lost: every wait is satisfied.
const Max = math.MaxUint64

// A MonitoredFence is a 64-bit value that CPUs and GPUs raise and wait for. It lives in
// memory, unless Narrow makes it one of whose value only the low half does.
//
//	state   signal ≥ value    signal < value     signal < value    look          lose    drop last
//	                          (plain)            (AllowFenceRewind)              reference
//	Live    raise, judge      INVALID_PARAMETER  lower, judge first read, judge  → Lost  → Gone
//	Lost    SUCCESS, nothing  INVALID_PARAMETER  SUCCESS, nothing  nothing       nothing → Gone
//	Gone    (no handle reaches it: every event is a bug of ours, except that a packet
//	        may come late to wait, which is satisfied)
//
// "judge" ends the kernel-side waits that the value satisfies; sleepers on the
// page judge for themselves when woken. A signal of MaxUint64 is no loss: the
// fence stays Live and can be rewound (OQ-54). With 32-bit storage, a Live fence refuses
// a signal too far away with INVALID_PARAMETER, too. What a GPU writes over the maximum of
// a Lost fence is written over when the kernel looks.
// Source: objects.md §4.2, §4.5, §4.6, §5.5; OQ-11, OQ-12, OQ-13, OQ-54.
type MonitoredFence struct {
	base
	back   Backing
	waits  wait.Heap
	mval   uint64  // what the page's mval word was last told
	narrow *narrow // nil: the value is in memory as it is
	native bool    // it was made as a native fence
	last   uint64  // value of a Gone fence, whose memory may be another's
	watch  Monitor // nil: the page's monitored value is for signallers of the page
}

// A Monitor is told of the monitored value of a fence that GPUs signal by themselves: the
// lowest value that the kernel waits for, less 1, or Max. It must not call back.
type Monitor interface{ Monitored(v uint64) }

// Watch has m told of the monitored value from now on, and every signal through the page
// come to the kernel, and every wait that has to wait: it is GPUs now that raise the value,
// and they look at no slot. native: the fence was made as a native one.
//
// A fence that was made as one has nobody yet who could have looked at its flags. Of
// another, programs may have: they still signal through the page, or sleep in it. The first
// tell us, as everything is news; the second are woken whenever we look, which we do with every
// signal of a GPU, as such a fence may be on several adapters.
func (f *MonitoredFence) Watch(m Monitor, native bool) {
	f.watch, f.native = m, f.native || native
	view := f.back.View()
	view.SetRequest()
	view.Arm(0)
	if f.mval != page.MvalNone {
		m.Monitored(f.mval)
	}
}

// Init makes f a live fence with one reference whose memory already shows its
// initial value.
func (f *MonitoredFence) Init(flags abi.SyncObjectFlags, back Backing) {
	f.base.init(flags)
	f.back = back
	f.mval = page.MvalNone
	f.narrow = nil
	f.native, f.watch = false, nil
}

// Kind implements Object.
func (f *MonitoredFence) Kind() abi.SyncObjectType {
	switch {
	case f.periodic:
		return abi.PeriodicMonitoredFence
	case f.native:
		return abi.NativeFence
	}
	return abi.MonitoredFence
}

// Backing returns the memory.
func (f *MonitoredFence) Backing() Backing { return f.back }

// Value returns the value as the kernel sees it: one read of the page, except
// that a lost fence is at Max whatever its page says.
func (f *MonitoredFence) Value() uint64 {
	switch {
	case f.state == Lost:
		return Max
	case f.state == Gone:
		return f.last
	case f.narrow != nil:
		f.narrow.see(f.back.View().Cell.Low())
		return f.narrow.value()
	}
	return f.back.View().Cell.Value()
}

// Waiters returns how many kernel-side waits and how many sleepers on the page
// there are.
func (f *MonitoredFence) Waiters() (kernel, sleepers int) {
	if f.state == Gone {
		return 0, 0
	}
	return f.waits.Len(), f.back.View().Sleepers()
}

// Judge says what a CPU signal to v would be answered when the value is cur:
// success, or INVALID_PARAMETER for a lower value without rewind, and for one that
// 32-bit storage cannot tell.
// Source: objects.md §4.2-9 (measured on Windows 11), §4.3.
func (f *MonitoredFence) Judge(cur, v uint64, rewind bool) abi.Status {
	if v < cur && !rewind || !f.near(cur, v) {
		return abi.StatusInvalidParameter
	}
	return abi.StatusSuccess
}

// Signal makes v the value: a higher one raises, a lower one rewinds. The caller
// has judged it; a value that was raised beyond v meanwhile by somebody else's
// memory signal counts as having come after this one unless rewind is set.
func (f *MonitoredFence) Signal(v uint64, rewind bool, wakes *Wakes) {
	if f.state != Live {
		return
	}
	view := f.back.View()
	cur := view.Cell.Value()
	switch {
	case f.narrow != nil:
		f.signalNarrow(v, rewind, wakes)
	case v < cur && rewind:
		// Whoever the old value satisfies is released before it goes.
		view.Lower(v, f.release)
		f.rearm()
		wakes.Add(f.back)
	default:
		view.Raise(v)
		if f.waits.Len() > 0 || view.Cell.Wanted() { // else nobody is to hear of it
			f.Look(wakes)
		}
	}
}

// Look reads the value and releases what it satisfies: the answer to a ring, and
// to the death of somebody who may have stored a value and told nobody, and to a GPU
// that may have written one.
func (f *MonitoredFence) Look(wakes *Wakes) {
	if f.state == Lost {
		f.saturate()
	}
	f.release(f.Value())
	f.rearm()
	wakes.Add(f.back)
}

// Lose raises the fence to Max for good.
func (f *MonitoredFence) Lose(wakes *Wakes) {
	if f.state != Live {
		return
	}
	f.state = Lost
	f.Look(wakes)
}

func (f *MonitoredFence) saturate() {
	if view := f.back.View(); f.narrow != nil {
		view.SaturateLow()
	} else {
		view.Saturate()
	}
}

// Ask has the page decide nothing any more: every signal and wait through it that begins
// now comes to the kernel. Who sleeps there already stays, and needs not be woken.
func (f *MonitoredFence) Ask() { f.back.View().SetAsk() }

// Enlist adds a kernel-side wait. It may end the wait at once: the value is read
// again after the page says that the kernel wants news.
func (f *MonitoredFence) Enlist(e *wait.Entry) {
	if f.state == Gone {
		e.Meet() // nothing can signal it, and its memory may be another's
		return
	}
	f.waits.Push(e)
	f.rearm()
	f.release(f.Value())
	f.rearm()
}

// Withdraw takes a kernel-side wait out, if it is still in.
func (f *MonitoredFence) Withdraw(e *wait.Entry) {
	if f.waits.Remove(e) {
		f.rearm()
	}
}

// Meet counts e as satisfied though its value was not reached: the local object
// it was made through is gone (objects.md §4.5).
func (f *MonitoredFence) Meet(e *wait.Entry) {
	if f.waits.Remove(e) {
		f.rearm()
		e.Meet()
	}
}

// Unref drops one; with the last one the object is gone, and whoever still waits
// for it is released (objects.md §4.5, bit 10).
func (f *MonitoredFence) Unref(wakes *Wakes) {
	if f.Last() {
		f.last = f.Value()
	}
	if !f.unref() {
		return
	}
	f.back.View().SetGone()
	f.release(Max)
	f.rearm() // what packets still store there interrupts for nobody
	wakes.Add(f.back)
	wakes.Free(f.back)
}

// release meets every wait whose target is at most cur.
func (f *MonitoredFence) release(cur uint64) {
	for e := f.waits.Pop(cur); e != nil; e = f.waits.Pop(cur) {
		e.Meet()
	}
}

// rearm tells the page the lowest value that the kernel waits for. Nobody looks at that
// of a page that has always asked.
func (f *MonitoredFence) rearm() {
	if f.narrow != nil {
		return
	}
	mval := uint64(page.MvalNone)
	if lowest, ok := f.waits.Lowest(); ok && lowest > 0 {
		mval = lowest - 1
	}
	if mval == f.mval {
		return
	}
	f.mval = mval
	if f.watch != nil {
		f.watch.Monitored(mval)
		return
	}
	if mval == page.MvalNone {
		f.back.View().Disarm()
	} else {
		f.back.View().Arm(mval)
	}
}
