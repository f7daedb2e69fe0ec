package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
)

// An idleWait is a blocked caller who waits until a device has no work.
type idleWait struct {
	process      *Process
	device       *device
	bells        *page.Bells
	ticket, bell uint32
	since        int64
}

// waitForIdle returns when the device has neither queued nor running work.
// DEVICE_REMOVED: it is lost, or gets lost meanwhile. Source: calls.md §2.
func (p *Process) waitForIdle(r *abi.Request) abi.Status {
	rec := abi.View[abi.WaitForIdle](r.Record)
	k := p.k
	k.lock()
	defer k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	if st := d.usable(); !st.OK() {
		return st
	}
	switch {
	case d.sched.Idle():
		return abi.StatusSuccess
	case !p.ownsBell(r.Bell) || !p.ownsBell(r.Ticket) || p.tickets[r.Ticket] != nil:
		return abi.StatusInvalidParameter // nothing of its own to block on
	case len(p.waits)+len(p.turns)+len(d.idlers) >= k.limits.Waits:
		return abi.StatusNoMemory
	}
	w := &idleWait{process: p, device: d, bells: p.bells, ticket: r.Ticket, bell: r.Bell, since: k.now()}
	d.idlers[w] = struct{}{}
	p.tickets[w.ticket] = w
	return abi.StatusPending
}

// end answers.
func (w *idleWait) end(st abi.Status) {
	w.cancel()
	w.bells.Answer(w.ticket, uint32(st))
	w.process.k.fx.rings = append(w.process.k.fx.rings, ring{w.bells, w.bell})
}

// cancel takes the wait away without telling anybody.
func (w *idleWait) cancel() {
	delete(w.device.idlers, w)
	if w.process.tickets[w.ticket] == ticketHolder(w) {
		delete(w.process.tickets, w.ticket)
	}
}

// row lists the wait. It is for no fence.
func (w *idleWait) row(now int64) WaitRow {
	return WaitRow{
		PID: w.process.Info.PID, Process: w.process.id, Device: w.device.handle, Mode: "idle", Kind: "blocked",
		Age: now - w.since, Points: []PointRow{},
	}
}
