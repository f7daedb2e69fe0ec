package dxgsync

import (
	"runtime"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// tell follows a signal that found somebody interested: goroutines of this
// process, sleepers elsewhere, the kernel.
func (f *Fence) tell(c *page.Cell, want uint64) error {
	defer runtime.KeepAlive(f)
	if f.mem != nil {
		f.wake(want)
	} else if want&page.WantLocal != 0 {
		f.gate.Load().Look()
	}
	if c.WantsNews(want) {
		return f.dev.s.failure(f.dev.s.ring(f.handle))
	}
	return nil
}

// wake wakes the sleepers of a mapped page. Those that wait through this very view
// are served without a bell.
func (f *Fence) wake(want uint64) {
	if g := f.gate.Load(); g != nil {
		// A slot that was ours after the value was raised has no other owner who could
		// have missed it.
		if slot := g.Serve(); slot >= 0 {
			want &^= 1 << slot
		}
	}
	if want&^page.WantKernel == 0 {
		return
	}
	if hub := f.dev.s.door.hub(); hub != nil {
		f.mem.view.WakeSlots(want, hub.Bells(), 0)
	}
}

// signalLong is Signal where memory alone does not do.
func (f *Fence) signalLong(v uint64) error {
	if f.closed.Load() {
		return ErrClosed
	}
	if f.mem != nil && f.mem.lease != nil && f.rights&abi.GrantSignal != 0 {
		// A slot that may be given to another fence as soon as this one is destroyed:
		// Close waits for those inside.
		if !f.mem.lease.enter() {
			return ErrClosed
		}
		defer f.mem.lease.leave()
		c := f.mem.view.Cell
		if want, ask := c.Raise(v); want != 0 {
			return f.tell(c, want)
		} else if !ask {
			return nil
		}
	}
	return f.signalRequest(v, 0)
}

// signalRequest lets the kernel judge and signal.
func (f *Fence) signalRequest(v uint64, flags abi.SignalFlags) error {
	if f.closed.Load() {
		return ErrClosed
	}
	defer runtime.KeepAlive(f)
	st := f.dev.s.signal(f.dev.handle, []abi.Handle{f.handle}, []uint64{v}, flags)
	if f.closed.Load() && st == abi.StatusInvalidParameter {
		return ErrClosed
	}
	return f.dev.s.failure(st)
}

// Signal raises several fences of the device at once, in order: either every
// point is a legal signal and all are made, or none is.
//
// Errors: as [Fence.Signal] for any of the points; [abi.StatusInvalidParameter]
// also for no points, more than [MaxPoints], a nil fence, and a fence of another
// device.
//
// D3DKMTSignalSynchronizationObjectFromCpu.
func (d *Device) Signal(points ...Point) error {
	handles := make([]abi.Handle, len(points))
	values := make([]uint64, len(points))
	for i, p := range points {
		if p.Fence == nil || p.Fence.dev != d {
			return abi.StatusInvalidParameter
		}
		if p.Fence.closed.Load() {
			return ErrClosed
		}
		p.Fence.hb.release()
		handles[i], values[i] = p.Fence.handle, p.Value
	}
	st := d.s.signal(d.handle, handles, values, 0)
	runtime.KeepAlive(points)
	return d.s.failure(st)
}
