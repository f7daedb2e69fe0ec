package sim

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// Hardware queues: the GPU decides which of them runs. The kernel only sees progress,
// and asks contexts off the hardware when there is none for a quantum.

// inFlight is how many buffers of a hardware queue the GPU takes.
const inFlight = 2

// submitHardware gives the GPU the first packet of a hardware queue.
func (m *model) submitHardware(q *mQueue) bool {
	e := q.engine()
	if len(q.flying) == inFlight || q.context.place != onHardware || e.state == engineResets || e.adapter.stopped {
		return false
	}
	if len(e.hw) == 0 {
		e.hwSince = m.now
	}
	if !slices.Contains(e.hw, q) {
		e.hw = append(e.hw, q)
	}
	r := q.pending[0].run
	q.pending = q.pending[1:]
	q.flying = append(q.flying, r)
	if r.buffer.refused {
		m.call(e.adapter, func() {
			if !q.gone {
				m.loseDevice(q.context.device, abi.DeviceExecutionDMAFault)
			}
		})
	}
	return true
}

// progress looks at the progress fences of an adapter.
func (m *model) progress(a *mAdapter) {
	for _, e := range a.engines {
		for _, q := range slices.Clone(e.hw) {
			for len(q.flying) > 0 && !q.gone && q.flying[0].progress <= q.progress.object.see() {
				e.hwSince = m.now
				m.landHardware(q)
			}
		}
	}
}

// landHardware takes the first packet of a hardware queue off the GPU.
func (m *model) landHardware(q *mQueue) {
	r := q.flying[0]
	q.flying = q.flying[1:]
	if len(q.flying) == 0 {
		e := q.engine()
		e.hw = slices.DeleteFunc(e.hw, func(o *mQueue) bool { return o == q })
	}
	if r.dead {
		m.finish(q)
		m.finishContext(q.context)
	} else {
		m.touch(q)
	}
}

// forget takes everything of a queue off the GPU.
func (m *model) forget(q *mQueue) {
	for len(q.flying) > 0 {
		q.flying[0].dead = true
		m.landHardware(q)
	}
}

// finish lets go of the progress fence of a queue that is gone, once nothing of it is at
// the GPU.
func (m *model) finish(q *mQueue) {
	if q.hardware() && q.destroyed && !q.finished && len(q.flying) == 0 {
		q.finished = true
		c := q.context
		c.queues = slices.DeleteFunc(slices.Clone(c.queues), func(o *mQueue) bool { return o == q })
		q.progress.object.queued--
		m.check(q.progress.object)
	}
}

// hwDue is when hardware queues have had no progress for a quantum.
func (e *mEngine) hwDue() int64 {
	switch {
	case e.adapter.stopped || e.state == engineResets:
		return never
	case slices.ContainsFunc(e.leaving, (*mContext).watched):
		return e.hwAsked + tdrDelay
	case len(e.leaving) > 0 || len(e.hw) == 0:
		return never
	}
	return e.hwSince + quantum
}

// watched reports whether a context may be found hung: unless all that it has at the GPU
// is exempt.
func (c *mContext) watched() bool {
	flying := slices.DeleteFunc(slices.Clone(c.queues), func(q *mQueue) bool { return len(q.flying) == 0 })
	return len(flying) == 0 || slices.ContainsFunc(flying, func(q *mQueue) bool { return !q.exempt() })
}

// finishContext: one that is gone, with nothing at the GPU, has no answer to give.
func (m *model) finishContext(c *mContext) {
	e := c.engine
	if !c.gone || c.place != leavingHardware || slices.ContainsFunc(c.queues, func(q *mQueue) bool { return len(q.flying) > 0 }) {
		return
	}
	c.place = offHardware
	e.leaving = slices.DeleteFunc(e.leaving, func(o *mContext) bool { return o == c })
	if len(e.leaving) == 0 {
		m.resume(e)
	}
}

// suspend asks every context with buffers at the GPU off the hardware.
func (m *model) suspend(e *mEngine) {
	for _, q := range slices.Clone(e.hw) {
		m.leaveHardware(q.context)
	}
	if len(e.leaving) == 0 {
		e.hwSince = m.now
	}
}

func (m *model) leaveHardware(c *mContext) {
	if c.place != onHardware {
		return
	}
	e := c.engine
	c.place = leavingHardware
	if len(e.leaving) == 0 {
		e.hwAsked = m.now
	}
	e.leaving = append(e.leaving, c)
	if !e.adapter.slow {
		m.call(e.adapter, func() { m.left(c) })
	}
}

// left: a context is off the hardware. When all are, those that can go on do.
func (m *model) left(c *mContext) {
	e := c.engine
	if c.place != leavingHardware {
		return
	}
	e.leaving = slices.DeleteFunc(e.leaving, func(o *mContext) bool { return o == c })
	c.place = offHardware
	if c.good {
		m.forgetAll(c)
	} else {
		e.off = append(e.off, c)
	}
	if len(e.leaving) == 0 {
		m.resume(e)
	}
}

func (m *model) forgetAll(c *mContext) {
	for _, q := range slices.Clone(c.queues) {
		m.forget(q)
	}
}

func (m *model) resume(e *mEngine) {
	if e.state == engineResets {
		return
	}
	e.hwSince = m.now
	off := e.off
	e.off = nil
	for _, c := range off {
		if c.good {
			m.forgetAll(c)
			continue
		}
		c.place = onHardware
		for _, q := range slices.Clone(c.queues) {
			if q.gone {
				m.forget(q)
			}
		}
		for _, q := range c.queues {
			m.touch(q)
		}
	}
}

// destroyQueue takes a hardware queue away with its progress fence.
func (m *model) destroyQueue(q *mQueue) {
	q.destroyed = true
	if !q.gone {
		m.drop(q, byDestruction)
	}
	if len(q.flying) > 0 && !q.context.good {
		m.leaveHardware(q.context)
	}
	m.finish(q)
	m.destroyLocal(q.progress)
	delete(q.context.device.proc.table, q.handle)
}

// runHardware lets the first packet of a hardware queue do one command more, or end with
// its progress.
func (m *model) runHardware(q *mQueue) {
	a := q.engine().adapter
	r := q.flying[0]
	c := command{op: signal, va: q.progress.va, value: r.progress}
	last := r.pc == len(r.buffer.commands)
	if !last {
		c = r.buffer.commands[r.pc]
	}
	r.pc++
	state := abi.DeviceExecutionActive
	if c.op == bad {
		state = abi.DeviceExecutionDMAFault
	} else if at, ok := m.store(r, c); !ok {
		state = abi.DeviceExecutionDMAPageFault
	} else if c.op == signal {
		m.signalled(a, at, c.value, last)
	}
	if state != abi.DeviceExecutionActive {
		m.scanAll(a)
		m.loseDevice(q.context.device, state)
		m.progress(a)
	}
	m.settle()
}

// hungHardware recovers an engine whose contexts do not leave.
func (m *model) hungHardware(e *mEngine) {
	a := e.adapter
	switch {
	case a.stopped || a.resetting || e.state == engineResets:
	case !a.caps.Has(ddi.PerEngineReset):
		m.resetAdapter(a, e.leaving[0].device)
	default:
		e.state = engineResets
		m.call(a, func() { m.call(a, func() { m.resetHardware(e) }) })
	}
}

// resetHardware: the device of the first context that does not leave is lost; everybody
// else goes on.
func (m *model) resetHardware(e *mEngine) {
	a := e.adapter
	failed := a.failEngine
	a.failEngine = false
	if a.stopped || a.resetting {
		return
	}
	if failed {
		m.resetAdapter(a, e.leaving[0].device)
		return
	}
	if c := e.aborts(); c != nil {
		c.place = offHardware
		m.hang(c.device)
	} else if len(e.flying) > 0 {
		r := e.flying[0]
		r.dead = true
		m.land(e)
		m.hang(r.queue.context.device)
	}
	m.runAgain(e)
}

// runAgain lets an engine go on that was reset: nothing of it runs, so that contexts that
// were to leave it have left.
func (m *model) runAgain(e *mEngine) {
	m.takeBack(e, false)
	e.state = engineRuns
	for _, c := range e.leaving {
		if !c.good {
			e.off = append(e.off, c)
		}
	}
	e.leaving = nil
	for _, c := range e.off {
		c.place = offHardware
	}
	for _, q := range slices.Clone(e.hw) {
		if q.context.good {
			m.forgetAll(q.context)
		}
	}
	m.resume(e)
	m.dispatch(e)
}

// aborts is the context that a reset aborts: of those that do not leave the one with the
// oldest queue at the GPU.
func (e *mEngine) aborts() *mContext {
	var first *mQueue
	for _, q := range e.hw {
		has := slices.ContainsFunc(q.flying, func(r *mRun) bool { return !r.buffer.refused })
		if has && q.context.place == leavingHardware && (first == nil || q.kmd < first.kmd) {
			first = q
		}
	}
	if first == nil {
		return nil
	}
	return first.context
}
