package sim

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// enter puts a queue whose first packet is a buffer in its engine's line.
func (m *model) enter(q *mQueue) {
	e := q.engine()
	if !q.lined {
		q.lined = true
		if q.stamp == 0 {
			e.adapter.stamp++
			q.stamp = e.adapter.stamp
		}
		e.line = append(e.line, q)
		if len(e.flying) > 0 && q.context.priority > e.flying[0].queue.context.priority {
			e.urgent = min(e.urgent, m.now+grace)
		}
	}
	m.dispatch(e)
}

func (m *model) leave(q *mQueue) {
	q.lined = false
	e := q.engine()
	e.line = slices.DeleteFunc(e.line, func(o *mQueue) bool { return o == q })
}

// dispatch gives an engine what it takes: one packet that runs and one behind it.
func (m *model) dispatch(e *mEngine) {
	for e.state == engineRuns && !e.adapter.stopped && len(e.flying) < 2 && len(e.line) > 0 {
		first := e.line[0]
		for _, q := range e.line {
			p, f := q.context.priority, first.context.priority
			if p > f || p == f && q.stamp < first.stamp {
				first = q
			}
		}
		m.leave(first)
		r := first.pending[0].run
		first.pending = first.pending[1:]
		r.stamp, first.stamp = first.stamp, 0
		r.read, r.pc = false, 0
		first.flying = append(first.flying, r)
		e.flying = append(e.flying, r)
		if len(e.flying) == 1 {
			e.since, e.urgent = m.now, never
		}
		if r.buffer.refused {
			m.call(e.adapter, func() { m.refused(e, r) })
		}
		m.touch(first)
	}
}

// refused ends a packet that the driver did not take, and nothing else.
func (m *model) refused(e *mEngine, r *mRun) {
	i := slices.Index(e.flying, r)
	if i < 0 {
		return
	}
	e.flying = slices.Delete(slices.Clone(e.flying), i, i+1)
	if i == 0 {
		e.since, e.urgent = m.now, never
	}
	q := r.queue
	q.flying = slices.DeleteFunc(q.flying, func(o *mRun) bool { return o == r })
	if !r.dead {
		m.loseDevice(q.context.device, abi.DeviceExecutionDMAFault)
	}
	m.dispatch(e)
}

// ask asks an engine to stop.
func (m *model) ask(e *mEngine) { e.state, e.asked = engineAsked, m.now }

// land takes the first packet of contexts off an engine.
func (m *model) land(e *mEngine) *mRun {
	r := e.flying[0]
	e.flying = e.flying[1:]
	e.since, e.urgent = m.now, never
	q := r.queue
	q.flying = slices.DeleteFunc(q.flying, func(o *mRun) bool { return o == r })
	if !r.dead {
		m.touch(q)
	}
	return r
}

// takeBack returns to the queues what an engine had. The queue whose packet ran goes to
// the end of the line if that had its turn.
func (m *model) takeBack(e *mEngine, hadTurn bool) {
	var queues []*mQueue
	back := map[*mQueue][]*mRun{}
	for _, r := range e.flying {
		r.queue.flying = slices.DeleteFunc(r.queue.flying, func(o *mRun) bool { return o == r })
		if back[r.queue] == nil {
			queues = append(queues, r.queue)
		}
		back[r.queue] = append(back[r.queue], r)
	}
	e.flying = nil
	for i, q := range queues {
		runs := back[q]
		if runs[0].dead {
			continue
		}
		var front []*mPacket
		for _, r := range runs {
			r.again = true
			front = append(front, &mPacket{kind: bufferPacket, number: r.number, run: r})
		}
		q.pending = append(front, q.pending...)
		m.leave(q)
		if q.stamp = runs[0].stamp; i == 0 && hadTurn {
			q.stamp = 0
		}
		m.enter(q) // all of them, before the engine chooses
	}
}

// due is when a packet has had its time, or an answer is late.
func (e *mEngine) due() int64 {
	switch {
	case e.adapter.stopped:
		return never
	case e.state == engineRuns && len(e.flying) > 0:
		return min(e.since+quantum, e.urgent, e.hwDue())
	case e.state == engineAsked && !(len(e.flying) > 0 && e.flying[0].queue.exempt()):
		return min(e.asked+tdrDelay, e.hwDue())
	}
	return e.hwDue()
}

// run lets the first packet of an engine do one command more, or end, as the puppet
// does: what the GPU stores is seen at once, waits are looked at with an interrupt.
func (m *model) run(e *mEngine) {
	a := e.adapter
	r := e.flying[0]
	if r.pc == len(r.buffer.commands) {
		m.scanAll(a)
		m.land(e)
		m.dispatch(e)
		m.progress(a)
		m.settle()
		return
	}
	c := r.buffer.commands[r.pc]
	r.pc++
	if c.op == bad {
		m.scanAll(a)
		m.fault(e, abi.DeviceExecutionDMAFault)
		m.progress(a)
		m.settle()
		return
	}
	at, ok := m.store(r, c)
	if !ok {
		m.scanAll(a)
		m.fault(e, abi.DeviceExecutionDMAPageFault)
		m.progress(a)
		m.settle()
		return
	}
	if c.op == signal {
		m.signalled(a, at, c.value, false)
	}
	m.settle() // a store that lowered a value has let waits go on
}

// signalled is the interrupt of a GPU that has stored a value, if there is one. completes:
// it is the progress of a queue, of which the kernel has to hear.
func (m *model) signalled(a *mAdapter, at *mLocal, v uint64, completes bool) {
	if at.on != nil {
		at.on.kick()
	}
	if at.on == nil || !m.interrupts(at.on, v) {
		if at.on == nil || completes {
			m.scanAll(a)
			m.progress(a)
		}
		return
	}
	at.on.hold()
	if m.kind != saysLater {
		m.nativeInterrupt(a, m.kind)
	} else if completes {
		m.scanAll(a)
		m.progress(a)
	}
}

// store stores a value where an engine sees the address, and returns through what.
func (m *model) store(r *mRun, c command) (*mLocal, bool) {
	p := r.queue.context.device.proc
	a := r.queue.context.device.adapter
	var at *mLocal
	for _, d := range p.devices {
		for _, l := range d.locals {
			if d.adapter == a && l.va == c.va && l.va != 0 {
				at = l
			}
		}
		for _, r := range d.remnants {
			if d.adapter == a && r.local.va == c.va && c.va != 0 && r.used() {
				at = r.local
				if r.local.object.gone {
					return at, at.signal && !p.dead // it goes nowhere
				}
			}
		}
	}
	if at == nil || p.dead || !at.signal && !at.owned {
		return nil, false
	}
	o := at.object
	switch {
	case c.value < o.see() || (o.native || o.asks) && at.on == nil: // the kernel does it, and others hear of it
		m.signal(o, c.value, true)
		m.stored(o, nil, nil)
	case !o.lost:
		o.value = c.value
	}
	if at.on != nil {
		if !slices.Contains(a.wroteNative, at.on) {
			a.wroteNative = append(a.wroteNative, at.on)
		}
		return at, true
	}
	if !slices.Contains(a.written, o) {
		a.written = append(a.written, o)
	}
	return at, true
}

// scan looks at what a GPU has stored.
func (m *model) scan(a *mAdapter) {
	list := a.written
	a.written = nil
	for _, o := range list {
		if !o.gone {
			m.look(o)
			if o.crosses() {
				m.stored(o, nil, nil)
			}
		}
	}
}

// fault ends the first packet of an engine, which cannot go on.
func (m *model) fault(e *mEngine, state abi.DeviceExecutionState) {
	r := e.flying[0]
	dead := r.dead
	r.dead = true
	m.land(e)
	if d := r.queue.context.device; !dead {
		m.loseDevice(d, state)
	}
	m.dispatch(e)
}

// answer is an engine that stops, as it was asked to.
func (m *model) answer(e *mEngine) {
	m.scanAll(e.adapter)
	m.takeBack(e, true)
	e.state = engineRuns
	m.dispatch(e)
	m.progress(e.adapter)
	m.settle()
}

// readAll is the interrupt that everything at an engine was read.
func (m *model) readAll(e *mEngine) {
	for _, r := range e.flying {
		r.read = true
		m.touch(r.queue)
	}
	m.settle()
}

// tick does what is due now.
func (m *model) tick() {
	for _, a := range m.adapters {
		m.scan(a)
		m.progress(a)
		for _, e := range a.engines {
			switch {
			case e.due() > m.now:
			case e.hwDue() <= m.now && len(e.leaving) > 0:
				m.hungHardware(e)
			case e.hwDue() <= m.now:
				m.suspend(e)
			case e.state == engineRuns:
				m.ask(e)
			default:
				m.call(a, func() { m.hung(e) })
			}
		}
	}
	m.settle()
}

// call asks a driver something once everything else has gone on; f is what its answer
// does.
func (m *model) call(a *mAdapter, f func()) { a.calls = append(a.calls, f) }

// hung recovers an engine that did not answer.
func (m *model) hung(e *mEngine) {
	a := e.adapter
	switch {
	case a.stopped || e.state != engineAsked:
	case len(e.flying) == 0:
		e.state = engineRuns
		m.dispatch(e)
	case !a.caps.Has(ddi.PerEngineReset):
		m.resetAdapter(a, e.guilty())
	default:
		e.state = engineResets
		m.call(a, func() { m.call(a, func() { m.resetEngine(e) }) }) // dependents come first: there are none
	}
}

// guilty is the device whose packet runs.
func (e *mEngine) guilty() *mDevice {
	if len(e.flying) == 0 {
		return nil
	}
	return e.flying[0].queue.context.device
}

// resetEngine: the device whose packet ran is lost, what others had at the engine runs
// again.
func (m *model) resetEngine(e *mEngine) {
	a := e.adapter
	failed := a.failEngine
	a.failEngine = false
	switch {
	case a.stopped || a.resetting:
	case failed:
		m.resetAdapter(a, e.guilty())
	default:
		if len(e.flying) > 0 {
			r := e.flying[0]
			r.dead = true
			m.land(e)
			m.hang(r.queue.context.device)
		}
		m.runAgain(e)
	}
}
