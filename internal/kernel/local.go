package kernel

import (
	"slices"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/syncobj"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// A fence is the synchronization object with what the kernel needs beside it.
type fence struct {
	syncobj.MonitoredFence
	adapter *Adapter // of the device that created it
	serial  uint64   // number of the object, for listings
	native  *native  // nil: no driver knows it
}

// drop ends a reference. With the last one a notification that advanced the fence ends.
func (f *fence) drop() {
	a := f.adapter
	f.Unref(&a.kernel.fx.wakes)
	if f.State() != syncobj.Gone {
		return
	}
	if f.native != nil {
		f.native.gone()
	}
	for r := range a.remnants[f] {
		r.leaveFence()
	}
	if n := a.byFence[f]; n != nil {
		delete(a.byFence, f)
		n.end()
	}
}

func (f *fence) opensOn(d *device) bool {
	return f.adapter == d.adapter || f.Flags&abi.SyncObjectCrossAdapter != 0
}

// keepsWaiters says whether waiters outlive the local object that they waited
// through: the fence is shared and carries UnwaitCpuWaitersOnlyOnDestroy.
func (f *fence) keepsWaiters() bool {
	const keep = abi.SyncObjectShared | abi.SyncObjectUnwaitCpuWaitersOnlyOnDestroy
	return f.Flags&keep == keep
}

// A local is a process's and device's own view of a fence: its handle, its flags,
// its rights (objects.md §4.1-1).
type local struct {
	fence      *fence
	device     *device
	handle     abi.Handle
	flags      abi.SyncObjectFlags // NoSignal, NoWait as created or opened
	rights     uint8               // abi.GrantSignal, abi.GrantWait
	created    bool                // by this device, not opened
	owned      bool                // by a queue: nobody else destroys it
	making     bool                // its driver is making it: nobody destroys it yet
	gpu        uint64              // GPU virtual address, 0: none
	mapping    vidmm.Fence         // of that
	native     *nativeLocal        // nil: it is opened as a monitored fence
	written    atomic.Bool         // by a GPU, and not scanned yet
	since      int64
	prev, next *local // of the device
}

func (l *local) maySignal() bool { return l.rights&abi.GrantSignal != 0 }
func (l *local) mayWait() bool   { return l.rights&abi.GrantWait != 0 }

// rights turns permission flags and the access of an NT handle into rights.
func rights(flags abi.SyncObjectFlags, mayWait, maySignal bool) (r uint8) {
	if maySignal && flags&abi.SyncObjectNoSignal == 0 {
		r |= abi.GrantSignal
	}
	if mayWait && flags&abi.SyncObjectNoWait == 0 {
		r |= abi.GrantWait
	}
	return r
}

// link puts l into the table and its device's list; false at the handle limit.
func (l *local) link() bool {
	d := l.device
	if l.handle = d.process.add(l); l.handle == 0 {
		return false
	}
	l.next = d.locals
	if l.next != nil {
		l.next.prev = l
	}
	d.locals = l
	return true
}

// destroy makes the handle invalid and releases the CPU waits made through it:
// each counts as satisfied, unless the fence is shared and carries
// UnwaitCpuWaitersOnlyOnDestroy (objects.md §4.5).
func (l *local) destroy() {
	d := l.device
	d.process.table.Remove(l.handle)
	l.leaveAddress()
	if l.prev != nil {
		l.prev.next = l.next
	} else {
		d.locals = l.next
	}
	if l.next != nil {
		l.next.prev = l.prev
	}
	if !l.fence.keepsWaiters() {
		l.release()
	}
	// Whoever stored a value through l may be about to say so, and will find it gone.
	if kernelSide, _ := l.fence.Waiters(); kernelSide > 0 {
		l.fence.Look(&d.process.k.fx.wakes)
	}
	l.fence.drop()
}

// grant answers what l's process may map. If that fails l is taken away again.
func (l *local) grant(r *abi.Request, m Memory) abi.Status {
	g, out, st := m.Grant(l.device.process)
	if !st.OK() {
		l.destroy()
		return st
	}
	g.Rights, g.Device = l.rights, l.device.handle
	if l.fence.keepsWaiters() {
		g.Rights |= abi.GrantKeepsWaiters
	}
	r.Grant, r.Out = g, append(r.Out, out...)
	return abi.StatusSuccess
}

// release meets every kernel-side wait that was made through l; they are all of its
// device.
func (l *local) release() {
	if kernelSide, _ := l.fence.Waiters(); kernelSide == 0 {
		return
	}
	mine := map[*cpuWait]struct{}{}
	for w := range l.device.waits {
		if slices.ContainsFunc(w.points, func(p point) bool { return p.local == l }) {
			mine[w] = struct{}{}
		}
	}
	for _, w := range inOrderOf(mine) {
		for i := range w.points {
			if w.points[i].local == l {
				l.fence.Meet(&w.points[i].Entry)
			}
		}
	}
}

// FenceView returns the cell behind a local object of this process, for a door
// in the same address space. There is none that no CPU sees.
func (p *Process) FenceView(h abi.Handle) (page.View, bool) {
	p.k.lock()
	defer p.k.unlock()
	l, ok := object.Get[*local](&p.table, h)
	if !ok || l.fence.intra() {
		return page.View{}, false
	}
	return l.fence.Backing().View(), true
}
