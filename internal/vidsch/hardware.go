package vidsch

import (
	"math"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// hardware is the watch over an engine's hardware queues. The GPU schedules them by
// itself; what the kernel sees is whether any of them makes progress. When none has for a
// quantum, every context with buffers at the GPU is asked off the hardware: those that
// can go on are resumed, one that does not answer has hung.
type hardware struct {
	queues    []*Queue   // with buffers at the GPU
	since     int64      // the last progress of any
	asked     int64      // when the contexts of leaving were asked
	leaving   []*Context // have not answered
	off       []*Context // have, and are resumed when all have
	refused   []*Queue   // have a buffer, and came while the engine was being reset
	questions uint64     // orders suspensions
	users     []*Queue   // that programs submit to
	look      int64      // when those are looked at; 0: never
}

// suspension is how far a context is off the hardware.
type suspension struct {
	fence uint64
	state suspendState
	good  bool // for good: it is gone, or its device is lost
}

type suspendState uint8

const (
	on suspendState = iota
	leaving
	off
)

// takesHardware reports whether buffers of a queue can be given to the GPU. Otherwise the
// queue is woken when they can.
func (e *Engine) takesHardware(q *Queue) bool {
	switch {
	case q.context.suspend.state != on || e.scheduler.stopped:
		return false // its context is resumed, or never
	case e.state > preempting || e.scheduler.power != awake:
		if !slices.Contains(e.hw.refused, q) {
			e.hw.refused = append(e.hw.refused, q)
		}
		return false
	}
	return true
}

// admit has the queues looked at again that were refused.
func (e *Engine) admit() {
	for _, q := range e.hw.refused {
		e.scheduler.wake(q)
	}
	e.hw.refused = nil
}

func (e *Engine) submitHardware(r *run) {
	s, q := e.scheduler, r.queue
	if len(e.hw.queues) == 0 {
		e.hw.since = s.now()
	}
	if !slices.Contains(e.hw.queues, q) {
		e.hw.queues = append(e.hw.queues, q)
	}
	args := ddi.SubmitCommandToHwQueueArgs{
		HwQueue: q.Kmd, HwQueueProgressFenceID: r.Progress, DmaBufferVirtualAddress: r.Address, DmaBufferSize: r.Length,
		DmaBufferPrivateData: r.Private, Flags: r.flags(),
	}
	s.ask(func(d ddi.Driver) func() {
		if d.SubmitCommandToHwQueue(args) == abi.StatusSuccess {
			return nil
		}
		return func() { q.fault(Fault{}) }
	})
}

// Progress looks at the progress fences of all hardware queues with buffers at the GPU.
// Those of queues that are gone say nothing, a loss has raised them: what such a queue has
// at the GPU is there until its context is off.
func (s *Scheduler) Progress() {
	s.each(func(e *Engine) {
		for i := 0; i < len(e.hw.queues); {
			q := e.hw.queues[i]
			reached := q.Reached()
			for len(q.flying) > 0 && !q.gone && q.flying[0].Progress <= reached {
				e.hw.since = s.now()
				q.landed(q.flying[0])
			}
			if len(q.flying) > 0 {
				i++
				continue
			}
			e.hw.forget(q)
		}
	})
}

func (h *hardware) forget(q *Queue) {
	if i := slices.Index(h.queues, q); i >= 0 {
		h.queues = slices.Delete(h.queues, i, i+1)
	}
}

// HwPageFaulted is the interrupt HWQUEUE_PAGE_FAULTED.
func (s *Scheduler) HwPageFaulted(i ddi.HwQueuePageFaulted) {
	e := s.engine(i.Engine)
	if e == nil || e.state == resetting {
		return
	}
	q := e.hw.find(i.HwQueue)
	if q == nil {
		return
	}
	for len(q.flying) > 0 && q.flying[0].Progress < i.FaultedFenceID {
		q.landed(q.flying[0])
	}
	q.fault(Fault{Page: !i.Faulted, Address: i.Fault.Address, Flags: i.Fault.Flags, Sequence: i.PrimitiveAPISequenceNumber})
	e.faultResets(i.Fault.Flags)
}

func (h *hardware) find(kmd ddi.KmdHwQueue) *Queue {
	is := func(q *Queue) bool { return q.Kmd == kmd }
	if i := slices.IndexFunc(h.queues, is); i >= 0 {
		return h.queues[i]
	}
	if i := slices.IndexFunc(h.users, is); i >= 0 {
		return h.users[i]
	}
	return nil
}

// fault loses the device of a queue.
func (q *Queue) fault(f Fault) {
	if d := q.device(); !q.gone && !d.lost {
		q.scheduler().owner.Faulted(d, f)
	}
}

// deadline is when tickHardware has something to do.
func (h *hardware) deadline(tdr *TDR) int64 {
	switch {
	case len(h.leaving) > 0:
		if tdr.off() || !slices.ContainsFunc(h.leaving, (*Context).watched) {
			return math.MaxInt64
		}
		return h.asked + tdr.Delay
	case len(h.queues) > 0:
		return min(h.since+tdr.Quantum, h.looks(tdr))
	}
	return h.looks(tdr)
}

// watched reports whether the context may be found hung: unless all that it has at the
// GPU is exempt.
func (c *Context) watched() bool {
	watched := true
	for _, q := range c.queues {
		if q.flies() {
			if !q.exempt() {
				return true
			}
			watched = false
		}
	}
	return watched
}

func (e *Engine) tickHardware(now int64) {
	h := &e.hw
	if len(h.leaving) > 0 {
		e.hung(true)
		return
	}
	if tdr := &e.scheduler.tdr; h.looks(tdr) <= now {
		e.lookAtUsers(now)
		if len(h.queues) == 0 || h.since+tdr.Quantum > now {
			return
		}
	}
	for _, q := range slices.Clone(h.queues) {
		q.context.leave()
	}
	e.askUsers()
	if len(h.leaving) == 0 {
		h.since = e.scheduler.now() // all of them are off already
	}
}

// leave asks a context off the hardware.
func (c *Context) leave() {
	if c.suspend.state != on {
		return
	}
	e := c.engine
	h, s := &e.hw, e.scheduler
	h.questions++
	c.suspend.state, c.suspend.fence = leaving, h.questions
	if len(h.leaving) == 0 {
		h.asked = s.now()
	}
	h.leaving = append(h.leaving, c)
	kmd, fence := c.Kmd, c.suspend.fence
	s.ask(func(d ddi.Driver) func() {
		if d.SuspendContext(kmd, fence) != abi.StatusSuccess {
			return nil // pending: an interrupt says when
		}
		return func() { c.left(fence) }
	})
}

// Suspended is the interrupt SUSPEND_CONTEXT_COMPLETED.
func (s *Scheduler) Suspended(i ddi.SuspendContextCompleted) {
	s.each(func(e *Engine) {
		for _, c := range e.hw.leaving {
			if c.Kmd == i.Context && e.state != resetting {
				c.left(i.ContextSuspendFence)
				return
			}
		}
	})
}

// left tells that a context is off the hardware. An answer to an older question does not
// count.
func (c *Context) left(fence uint64) {
	e := c.engine
	h := &e.hw
	if c.suspend.state != leaving || c.suspend.fence != fence {
		return
	}
	h.leaving = slices.DeleteFunc(h.leaving, func(o *Context) bool { return o == c })
	c.suspend.state = off
	if c.suspend.good {
		c.land()
	} else {
		h.off = append(h.off, c)
	}
	e.resume()
}

// resume lets the contexts run again that are off, when all have answered.
func (e *Engine) resume() {
	h, s := &e.hw, e.scheduler
	if len(h.leaving) > 0 || e.state > preempting {
		if e.state == held && len(h.leaving) == 0 {
			e.leader.gathered()
		}
		return
	}
	if s.power != awake {
		s.fall()
		return
	}
	h.since = s.now()
	for _, c := range h.off {
		if c.suspend.good {
			c.land()
			continue
		}
		c.suspend.state = on
		for _, q := range slices.Clone(c.queues) {
			if q.gone {
				q.land()
			}
		}
		kmd := c.Kmd
		s.call(func(d ddi.Driver) { d.ResumeContext(kmd) })
		for _, q := range c.queues {
			s.wake(q)
		}
	}
	h.off = nil
}

// land forgets what a context that is off for good had at the GPU.
func (c *Context) land() {
	for _, q := range slices.Clone(c.queues) {
		q.land()
	}
}

func (q *Queue) land() {
	q.engine().hw.forget(q)
	if q.user() && !q.away {
		q.away = true
		q.finish()
		q.context.finish()
	}
	for len(q.flying) > 0 {
		r := q.flying[0]
		r.dead = true
		q.landed(r)
	}
}

// clear gets what a lost or destroyed context has at the GPU away from there.
func (c *Context) clear() {
	e := c.engine
	if c.HwScheduled {
		if c.suspend.good {
			return
		}
		c.suspend.good = true
		if slices.ContainsFunc(c.queues, (*Queue).flies) {
			switch c.suspend.state {
			case on:
				c.leave()
			case off:
				c.land()
			}
		}
		return
	}
	if len(c.queues[0].flying) > 0 && e.state == running {
		e.preempt()
	}
}
