package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/syncobj"
)

// An idleWait is a blocked caller who waits until a device has no work.
type idleWait struct {
	process      *Process
	device       *device
	bells        *page.Bells
	ticket, bell uint32
	since        int64
	rung         syncobj.Packet // waits for what user queues have pending
	waits        bool           // it does
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
	case d.idle():
		return abi.StatusSuccess
	case !p.ownsBell(r.Bell) || !p.ownsBell(r.Ticket) || p.tickets[r.Ticket] != nil:
		return abi.StatusInvalidParameter // nothing of its own to block on
	case len(p.waits)+len(p.turns)+len(d.idlers) >= k.limits.Waits:
		return abi.StatusNoMemory
	}
	w := &idleWait{process: p, device: d, bells: p.bells, ticket: r.Ticket, bell: r.Bell, since: k.now()}
	d.idlers[w] = struct{}{}
	p.tickets[w.ticket] = w
	w.follow()
	return abi.StatusPending
}

// idle reports whether no work of the device is left: no packet, and of queues that
// programs submit to, no progress that is still to come.
func (d *device) idle() bool { return d.sched.Idle() && len(d.pending()) == 0 }

// pending is the progress that the programs of user queues have promised. Source:
// native-fence.md §12.
func (d *device) pending() (points []syncobj.Point) {
	for _, c := range inOrderOf(d.contexts) {
		for _, q := range inOrderOf(c.queues) {
			if v := q.lastQueued(); q.progress.fence.Value() < v {
				points = append(points, syncobj.Point{Object: &q.progress.fence.MonitoredFence, Value: v})
			}
		}
	}
	return points
}

// look ends the wait if there is nothing left to wait for. A loss ends it otherwise.
func (w *idleWait) look() {
	switch d := w.device; {
	case d.lost():
	case d.idle():
		w.end(abi.StatusSuccess)
	default:
		w.follow()
	}
}

// follow waits for what is pending on user queues now.
func (w *idleWait) follow() {
	w.leave()
	if points := w.device.pending(); len(points) > 0 {
		w.rung.Init(w.device, w, points)
		w.waits = true
		w.rung.Start()
	}
}

// Ready implements syncobj.PacketSink.
func (w *idleWait) Ready(*syncobj.Packet) {
	w.waits = false
	w.look()
}

func (w *idleWait) leave() {
	if w.waits {
		w.waits = false
		w.rung.Withdraw()
	}
}

// end answers.
func (w *idleWait) end(st abi.Status) {
	w.cancel()
	w.bells.Answer(w.ticket, uint32(st))
	w.process.k.fx.rings = append(w.process.k.fx.rings, ring{w.bells, w.bell})
}

// cancel takes the wait away without telling anybody.
func (w *idleWait) cancel() {
	w.leave()
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
