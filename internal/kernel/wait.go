package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// A cpuWait is a wait that the kernel decides: with an event, or of a blocked
// caller who sleeps on a bell because the page cannot decide it for him. It has
// an owner, a reason (its points) and an age.
type cpuWait struct {
	wait.Wait
	process *Process
	device  *device
	points  []point
	event   Event // nil for a blocked caller
	bells   *page.Bells
	ticket  uint32
	bell    uint32
	any     bool
	order   uint64 // grows from wait to wait
	since   int64
}

type point struct {
	wait.Entry
	local *local
}

// waitFromCpu is D3DKMTWaitForSynchronizationObjectFromCpu.
// Source: calls.md §6, §1.1; OQ-17, OQ-25, OQ-26, OQ-43, OQ-58.
func (p *Process) waitForSynchronizationObjectFromCpu(r *abi.Request) abi.Status {
	rec := abi.View[abi.WaitForSynchronizationObjectFromCpu](r.Record)
	if rec.Flags&^abi.WaitAny != 0 {
		return abi.StatusInvalidParameter
	}
	handles, values, st := points(rec.ObjectCount, r.Arrays[0], r.Arrays[1])
	if !st.OK() {
		return st
	}
	// The event is referenced before the lock is taken, and judged in its turn.
	var event Event
	eventStatus := abi.StatusSuccess
	switch fd := r.Files[0]; fd {
	case abi.FileNone:
	case abi.FileBad:
		eventStatus = abi.StatusInvalidHandle
	default:
		event, eventStatus = p.k.host.Event(p, fd)
	}
	set, st := p.wait(rec, r, handles, values, event, eventStatus)
	if event != nil && set != eventKept {
		if set == eventSet {
			event.Set()
		}
		event.Close()
	}
	return st
}

// What becomes of the caller's event when the call returns.
type eventFate uint8

const (
	eventLeft eventFate = iota // untouched
	eventSet                   // set now
	eventKept                  // a pending wait has it
)

func (p *Process) wait(rec *abi.WaitForSynchronizationObjectFromCpu, r *abi.Request, handles []abi.Handle, values []uint64, event Event, eventStatus abi.Status) (eventFate, abi.Status) {
	k := p.k
	k.lock()
	defer k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return eventLeft, abi.StatusInvalidParameter
	}
	locals, st := p.findAll(handles)
	if !st.OK() {
		return eventLeft, st
	}
	if !eventStatus.OK() && eventStatus != abi.StatusNoMemory {
		return eventLeft, eventStatus
	}
	if !d.ownsAll(locals) {
		return eventLeft, abi.StatusInvalidParameter
	}
	if st := d.usable(); !st.OK() {
		return eventLeft, st
	}
	for _, l := range locals {
		if !l.mayWait() {
			return eventSet, abi.StatusAccessDenied // measured: refused, and yet set
		}
	}
	for i, l := range locals {
		if st := l.fence.CheckTarget(values[i]); !st.OK() {
			return eventLeft, st
		}
	}
	if !eventStatus.OK() {
		return eventLeft, eventStatus // memory comes last
	}
	anyOf := rec.Flags&abi.WaitAny != 0
	met := 0
	for i, l := range locals {
		if l.fence.Value() >= values[i] {
			met++
		}
	}
	if met == len(locals) || anyOf && met > 0 {
		return eventSet, abi.StatusSuccess
	}
	if event == nil && (!p.ownsBell(r.Bell) || !p.ownsBell(r.Ticket) || p.tickets[r.Ticket] != nil) {
		return eventLeft, abi.StatusInvalidParameter // nothing of its own to block on
	}
	if len(p.waits)+len(p.turns) >= k.limits.Waits || p.points+len(locals) > k.limits.Points {
		return eventLeft, abi.StatusNoMemory
	}
	w := &cpuWait{process: p, device: d, points: make([]point, len(locals)), event: event, any: anyOf, since: k.now()}
	if event == nil {
		w.bells, w.ticket, w.bell = p.bells, r.Ticket, r.Bell
	}
	w.enlist(locals, values)
	if event == nil {
		return eventKept, abi.StatusPending
	}
	return eventKept, abi.StatusSuccess
}

func (w *cpuWait) enlist(locals []*local, values []uint64) {
	need := len(locals)
	if w.any {
		need = 1
	}
	w.Init(w, need)
	w.process.k.waits++
	w.order = w.process.k.waits
	w.process.waits[w] = struct{}{}
	w.process.points += len(w.points)
	w.device.waits[w] = struct{}{}
	if w.event == nil {
		w.process.tickets[w.ticket] = w
	}
	for i, l := range locals {
		w.points[i].local = l
		w.points[i].Reset(&w.Wait, i, values[i])
	}
	for i := range w.points {
		if !w.Pending() {
			return // a value arrived while the others were enlisted
		}
		w.points[i].local.fence.Enlist(&w.points[i].Entry)
	}
}

// Ended takes the wait out of everything and answers; its owner is woken after the
// lock.
func (w *cpuWait) Ended(_ *wait.Wait, st abi.Status) {
	w.tell(st)
	w.unlink()
	fx := &w.process.k.fx
	if w.event != nil {
		fx.events = append(fx.events, eventEnd{w.event, true})
	} else {
		// The answer is written now: after the lock the line may be another process's.
		// A ring that comes late does no harm.
		w.bells.Answer(w.ticket, uint32(st))
		fx.rings = append(fx.rings, ring{w.bells, w.bell})
	}
}

// cancel takes the wait away without telling anybody: its owner is gone or has
// asked for it.
func (w *cpuWait) cancel() {
	if !w.Withdrawn() {
		return
	}
	w.unlink()
	if w.event != nil {
		w.tell(abi.StatusDeviceRemoved)
		_, told := w.event.(SyncFile) // which others may have
		fx := &w.process.k.fx
		fx.events = append(fx.events, eventEnd{w.event, told})
	}
}

func (w *cpuWait) unlink() {
	delete(w.process.waits, w)
	w.process.points -= len(w.points)
	delete(w.device.waits, w)
	if w.event == nil && w.process.tickets[w.ticket] == ticketHolder(w) {
		delete(w.process.tickets, w.ticket)
	}
	for i := range w.points {
		if l := w.points[i].local; l != nil {
			l.fence.Withdraw(&w.points[i].Entry)
		}
	}
}

// cancelWait ends a pending wait of a blocked caller, who then gets no answer on
// its ticket. INVALID_PARAMETER: there is none, so the answer is there already.
func (p *Process) cancelWait(r *abi.Request) abi.Status {
	ticket := abi.View[abi.CancelWait](r.Record).Ticket
	p.k.lock()
	defer p.k.unlock()
	w := p.tickets[ticket]
	if w == nil {
		return abi.StatusInvalidParameter
	}
	w.cancel()
	return abi.StatusSuccess
}
