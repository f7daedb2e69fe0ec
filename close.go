package dxgsync

import (
	"runtime"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// memory is mapped memory with a fence's value. The view keeps it mapped until
// nothing can reach it any more: a Signal may still be at work in it when Close
// returns.
type memory struct {
	view     page.View
	writable bool
	// lease counts who is inside, for a slot of a slab: it gets another fence as
	// soon as this one is destroyed. Nil for a page of its own.
	lease   *lease
	release func() // the view is not a live fence's any more
}

// lease lets users in until it is ended, and then waits for those inside.
type lease struct{ n atomic.Int64 }

const leaseEnded = 1 << 62

func (l *lease) enter() bool {
	if l.n.Add(1) >= leaseEnded {
		l.leave()
		return false
	}
	return true
}

func (l *lease) leave() { l.n.Add(-1) }

func (l *lease) end() {
	l.n.Add(leaseEnded)
	for l.n.Load() != leaseEnded { // they are a few instructions away from leaving
		runtime.Gosched()
	}
}

// Close destroys this view of the fence. Waits through it end as if they had been
// satisfied; those of other views go on. A fence made with
// SyncObjectUnwaitCpuWaitersOnlyOnDestroy and Shared keeps its waiters until
// nobody has the fence any more. A second Close, or one after the device's,
// returns [ErrClosed]. The fence of a [Context] or [HwQueue] is closed with that:
// [abi.StatusInvalidParameter].
//
// D3DKMTDestroySynchronizationObject.
func (f *Fence) Close() error {
	if f.owned {
		return abi.StatusInvalidParameter
	}
	return f.close()
}

func (f *Fence) close() error {
	if f.heap != nil {
		return f.heap.close()
	}
	if f.dev.closed.Load() || !f.retire(abi.StatusSuccess) {
		return ErrClosed
	}
	st := do(f.dev.s, abi.OpDestroySynchronizationObject, &abi.DestroySynchronizationObject{HSyncObject: f.handle})
	runtime.KeepAlive(f)
	return f.dev.s.failure(st)
}

// retire makes f unusable and ends its waits with st. It reports whether this call
// was the one.
func (f *Fence) retire(st abi.Status) bool {
	if !f.closed.CompareAndSwap(false, true) {
		return false
	}
	f.sig.Store(&dead)
	f.wat.Store(&dead)
	if f.mem != nil && f.mem.lease != nil {
		f.val.Store(&dead)
	}
	if g := f.gate.Load(); g != nil {
		f.shutWith(g, st)
	}
	if f.mem != nil {
		f.dev.s.dismiss(f)
		if f.mem.lease != nil {
			f.mem.lease.end()
		}
		f.mem.release()
	}
	return true
}

func (f *Fence) shut(g *wait.Gate) {
	st := abi.StatusSuccess
	if f.dev.closed.Load() {
		st = abi.StatusDeviceRemoved
	}
	f.shutWith(g, st)
}

func (f *Fence) shutWith(g *wait.Gate, st abi.Status) {
	const keep = abi.SyncObjectShared | abi.SyncObjectUnwaitCpuWaitersOnlyOnDestroy
	if st == abi.StatusSuccess && (f.flags&keep == keep || f.rights&abi.GrantKeepsWaiters != 0) {
		g.Close()
		return
	}
	g.Shut(st)
}
