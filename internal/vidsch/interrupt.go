package vidsch

import "github.com/dxgsync/dxgsync/ddi"

// deaf says whether interrupts of the engine are ignored.
func (e *Engine) deaf() bool { return e.state == resetting || e.state == gathering && !e.hard }

// Completed is the interrupt DMA_COMPLETED.
func (s *Scheduler) Completed(i ddi.DmaCompleted) {
	if e := s.engine(i.Engine); e != nil && !e.deaf() {
		e.complete(i.SubmissionFenceID)
		e.dispatch()
	}
}

// Read is the interrupt DMA_READ.
func (s *Scheduler) Read(i ddi.DmaRead) {
	e := s.engine(i.Engine)
	if e == nil || e.deaf() {
		return
	}
	for _, r := range e.flying {
		if !after(r.id, i.SubmissionFenceID) {
			r.read = true
			s.wake(r.queue)
		}
	}
}

// Preempted is the interrupt DMA_PREEMPTED.
func (s *Scheduler) Preempted(i ddi.DmaPreempted) {
	e := s.engine(i.Engine)
	if e == nil || e.state != preempting && e.state != held || i.PreemptionFenceID != e.preemption {
		return
	}
	e.complete(i.LastCompletedFenceID)
	e.takeBack(true)
	if e.state == held {
		e.leader.gathered()
		return
	}
	e.state = running
	e.dispatch()
}

// Faulted is the interrupt DMA_FAULTED.
func (s *Scheduler) Faulted(i ddi.DmaFaulted) {
	if e := s.engine(i.Engine); e != nil && !e.deaf() {
		e.fault(i.FaultedFenceID, Fault{})
	}
}

// PageFaulted is the interrupt DMA_PAGE_FAULTED.
func (s *Scheduler) PageFaulted(i ddi.DmaPageFaulted) {
	e := s.engine(i.Engine)
	if e == nil || e.deaf() {
		return
	}
	e.fault(i.FaultedFenceID, Fault{Page: true, Address: i.Fault.Address, Flags: i.Fault.Flags, Sequence: i.PrimitiveAPISequenceNumber})
	e.faultResets(i.Fault.Flags)
}

// faultResets resets what a fault says needs it.
func (e *Engine) faultResets(f ddi.FaultFlags) {
	switch {
	case f&ddi.FaultAdapterReset != 0:
		e.scheduler.resetAdapter(nil)
	case f&ddi.FaultEngineReset != 0:
		e.hung(false)
	}
}

// fault ends a packet that cannot go on and loses its device.
func (e *Engine) fault(id uint32, f Fault) {
	e.complete(id - 1)
	if len(e.flying) == 0 || e.flying[0].id != id {
		return
	}
	r := e.flying[0]
	d := r.queue.device()
	e.completed = id
	dead := r.dead
	r.dead = true // nothing after it in its queue may go on
	e.end(r)
	if !dead {
		r.queue.done(r.epoch, r.bytes)
		if !d.lost {
			e.scheduler.owner.Faulted(d, f)
		}
	}
	e.dispatch()
}
