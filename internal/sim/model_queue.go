package sim

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
)

// touch says that something has happened for a queue.
func (m *model) touch(q *mQueue) {
	if !q.queued {
		q.queued = true
		a := q.engine().adapter
		a.ready = append(a.ready, q)
	}
}

// settle lets every queue go on as far as it can, and asks the drivers what is to be asked.
func (m *model) settle() {
	m.goOn()
	for _, a := range m.adapters {
		for len(a.calls) > 0 {
			calls := a.calls
			a.calls = nil
			for _, call := range calls {
				call()
				m.goOn()
			}
		}
	}
}

func (m *model) goOn() {
	for busy := true; busy; {
		busy = false
		for _, a := range m.adapters {
			for len(a.ready) > 0 {
				busy = true
				q := a.ready[0]
				a.ready = a.ready[1:]
				q.queued = false
				for m.step(q) {
				}
			}
			m.endRemnants(a)
			busy = busy || len(a.ready) > 0
		}
	}
}

// step does what can be done with the first packet of a queue, and reports whether the
// next one may be looked at.
func (m *model) step(q *mQueue) bool {
	if q.gone || q.waiting || len(q.pending) == 0 {
		return false
	}
	switch p := q.pending[0]; p.kind {
	case bufferPacket:
		if q.hardware() {
			return m.submitHardware(q)
		}
		m.enter(q)
		return false
	case waitPacket:
		if len(q.flying) > 0 {
			return false
		}
		return m.start(q, p)
	default:
		complete := len(q.flying) == 0
		read := !slices.ContainsFunc(q.flying, func(r *mRun) bool { return !r.read })
		if !complete && p.when != atSubmission && !(p.when == atRead && read && !q.hardware()) {
			return false
		}
		q.pending = q.pending[1:]
		m.reach(p.signal)
		return true
	}
}

// start lets the wait at the head of a queue look at its objects.
func (m *model) start(q *mQueue, p *mPacket) bool {
	if p.points[0].object.consumed() {
		if p.acquire() {
			q.pending = q.pending[1:]
			return true
		}
		m.starts++
		q.waiting, p.started = true, m.starts
		return false
	}
	if first := p.points[0]; len(p.points) == 1 && first.object.inMemory() && first.target <= first.object.see() {
		q.pending = q.pending[1:] // nobody has to hear of a value that is there already
		return true
	}
	m.starting = p
	defer func() { m.starting = nil }()
	for _, pt := range p.points {
		pt.in = true
		m.rearm(pt.object)
		if pt.object.gone || pt.target <= pt.object.see() {
			pt.met = true
		}
		m.look(pt.object) // for the others: the value may have been stored by a GPU
	}
	if all(p.points) {
		q.pending = q.pending[1:]
		return true
	}
	q.waiting = true
	return false
}

// open lets a queue go on behind the wait at its head.
func (m *model) open(q *mQueue) {
	q.waiting = false
	q.pending = q.pending[1:]
	m.touch(q)
}

// reach counts that one queue has got to a signal; with the last one it happens.
func (m *model) reach(s *mSignal) {
	if s.left--; s.left > 0 {
		return
	}
	for _, t := range s.targets {
		if !s.dropped {
			m.signal(t.object, t.value, s.rewind)
			m.stored(t.object, s.from, nil)
		}
		t.object.queued--
		m.check(t.object)
	}
	if s.event != nil {
		s.event.sets++
	}
}

// why says why packets are dropped.
type why uint8

const (
	byDestruction why = iota
	byLoss
	byDeath
)

// dropSignal: it does not happen. Nobody may wait for a signal that cannot come: fences
// of somebody who died are raised (OQ-42), CPU notifications of somebody lost are set,
// once. An event counts the queue as having processed it (OQ-48).
func (m *model) dropSignal(s *mSignal, w why) {
	s.dropped = true
	for _, t := range s.targets {
		switch o := t.object; {
		case o.fence() && w == byDeath && !t.spared:
			m.lose(o)
		case o.kind == abi.CPUNotification && w != byDestruction && !s.told:
			o.event.sets++
		}
	}
	s.told = s.told || w != byDestruction
	m.reach(s)
}

// drop takes away what a queue has; what is at the GPU nobody hears of any more.
func (m *model) drop(q *mQueue, w why) {
	q.gone = true
	m.leave(q)
	waited := q.waiting
	q.waiting = false
	list := q.pending
	q.pending = nil
	if waited {
		for _, pt := range list[0].points {
			m.rearm(pt.object)
		}
	}
	for _, p := range list {
		if p.kind == signalPacket {
			m.dropSignal(p.signal, w)
		}
	}
	for _, r := range q.flying {
		r.dead = true
	}
}

func (m *model) push(q *mQueue, p *mPacket) {
	d := q.context.device
	d.numbers++
	if p.number = d.numbers; p.run != nil {
		p.run.number = p.number
	}
	q.pending = append(q.pending, p)
	if len(q.pending) == 1 {
		m.touch(q)
	}
}
