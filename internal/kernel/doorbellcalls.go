package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// doorbellOf finds a doorbell, by its handle or by that of the queue it was made with.
// The lock is held.
func (p *Process) doorbellOf(h abi.Handle) (*doorbell, abi.Status) {
	switch o := p.table.Get(h).(type) {
	case *doorbell:
		return o, abi.StatusSuccess
	case *hwQueue:
		if o.bell != nil && o.bell.handle == 0 {
			return o.bell, abi.StatusSuccess
		}
	}
	return nil, abi.StatusInvalidParameter
}

// connectDoorbell connects a doorbell, and wakes the adapter for that. DEVICE_REMOVED: the
// device is lost, and so the status is ABORT.
func (p *Process) connectDoorbell(r *abi.Request) abi.Status {
	rec := abi.View[abi.ConnectDoorbell](r.Record)
	if rec.Flags != 0 {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	b, st := p.doorbellOf(rec.HDoorbell)
	switch {
	case !st.OK():
	case b.dead:
		st = abi.StatusDeviceRemoved
	case !b.connected:
		b.connect(&st)
	}
	p.k.unlock()
	return st
}

func (p *Process) destroyDoorbell(r *abi.Request) abi.Status {
	rec := abi.View[abi.DestroyDoorbell](r.Record)
	p.k.lock()
	defer p.k.unlock()
	b, st := p.doorbellOf(rec.HDoorbell)
	if st.OK() {
		b.destroy()
	}
	return st
}

// notifyWorkSubmission tells the driver of a ring, whether it wants to know or not.
// INVALID_PARAMETER: the doorbell is not connected (OQ-41).
func (p *Process) notifyWorkSubmission(r *abi.Request) abi.Status {
	rec := abi.View[abi.NotifyWorkSubmission](r.Record)
	if rec.Flags != 0 {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	b, st := p.doorbellOf(rec.HDoorbell)
	if !st.OK() || !b.connected {
		return abi.StatusInvalidParameter
	}
	kmd := b.kmd
	b.adapter().sched.Call(func(d ddi.Driver) { d.NotifyWorkSubmission(kmd) })
	return abi.StatusSuccess
}

// Doorbell is where the words of a doorbell are, for a door in the same address space. h
// is what the calls take.
func (p *Process) Doorbell(h abi.Handle) (DoorbellWords, bool) {
	p.k.lock()
	defer p.k.unlock()
	b, st := p.doorbellOf(h)
	if !st.OK() {
		return DoorbellWords{}, false
	}
	return b.words, true
}
