package sim

import (
	"cmp"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
)

// waitsFor lists the points that wait for an object now: those of packets at the head of
// their queues, and those of CPUs.
func (m *model) waitsFor(o *mObject) (list []*mPoint) {
	add := func(points []*mPoint) {
		for _, p := range points {
			if p.object == o && p.in && !p.met {
				list = append(list, p)
			}
		}
	}
	for _, q := range m.queues {
		if q.waiting {
			add(q.pending[0].points)
		}
	}
	for _, w := range m.cpuWaits {
		add(w.points)
	}
	return list
}

// look lets everybody go on whom the value of a fence satisfies, from the lowest target up.
func (m *model) look(o *mObject) { m.release(o, o.see()) }

func (m *model) release(o *mObject, value uint64) {
	list := m.waitsFor(o)
	slices.SortStableFunc(list, func(a, b *mPoint) int { return cmp.Compare(a.target, b.target) })
	for _, p := range list {
		if p.target <= value || o.gone {
			m.meet(p)
		}
	}
	m.rearm(o)
}

// meet latches a point, and ends the wait that it was the last one of.
func (m *model) meet(p *mPoint) {
	p.met = true
	for _, q := range m.queues {
		if q.waiting && slices.Contains(q.pending[0].points, p) && all(q.pending[0].points) {
			m.open(q)
		}
	}
	for _, w := range slices.Clone(m.cpuWaits) {
		if slices.Contains(w.points, p) && (w.any || all(w.points)) {
			m.endCPUWait(w)
		}
	}
}

func all(points []*mPoint) bool {
	return !slices.ContainsFunc(points, func(p *mPoint) bool { return !p.met })
}

// endCPUWait sets its event.
func (m *model) endCPUWait(w *mCPUWait) {
	m.cancelCPUWait(w)
	w.event.sets++
}

func (m *model) cancelCPUWait(w *mCPUWait) {
	w.ended = true
	m.cpuWaits = slices.DeleteFunc(m.cpuWaits, func(o *mCPUWait) bool { return o == w })
	for _, p := range w.points {
		m.rearm(p.object)
	}
}

// enlist begins a wait for a point.
func (m *model) enlist(p *mPoint) {
	p.in = true
	if p.object.gone {
		m.meet(p)
		return
	}
	m.rearm(p.object)
	m.look(p.object)
}

// signal is what a packet's signal does to an object when its turn has come.
func (m *model) signal(o *mObject, value uint64, rewind bool) {
	switch {
	case o.gone:
	case o.kind == abi.CPUNotification:
		o.event.sets++
	case o.consumed():
		m.give(o)
	case o.lost:
	case value < o.value && rewind:
		m.look(o) // whom the old value satisfies goes first
		o.value = value
	default:
		o.value = max(o.value, value)
		m.look(o)
	}
}

// lose raises a fence for good.
func (m *model) lose(o *mObject) {
	if o.gone {
		return
	}
	if !o.lost {
		o.lost, o.value = true, lossMax
		m.look(o)
	}
	m.askAll(o, toldSignaled)
}

// give adds a unit to a mutex or semaphore.
func (m *model) give(o *mObject) {
	if o.gone || o.left == o.most {
		return
	}
	o.left++
	o.last = nil
	m.serve()
}

// serve lets packets have the mutexes and semaphores that they wait for, who came first
// first, everything that one needs or nothing.
func (m *model) serve() {
	var list []*mPacket
	for _, q := range m.queues {
		if q.waiting && q.pending[0].started != 0 {
			list = append(list, q.pending[0])
		}
	}
	slices.SortFunc(list, func(a, b *mPacket) int { return cmp.Compare(a.started, b.started) })
	for _, p := range list {
		if p.acquire() {
			for _, q := range m.queues {
				if q.waiting && q.pending[0] == p {
					m.open(q)
					break
				}
			}
		}
	}
}

// acquire takes one unit for each point, or nothing.
func (p *mPacket) acquire() bool {
	need := map[*mObject]uint64{}
	for _, pt := range p.points {
		if need[pt.object]++; !pt.object.gone && need[pt.object] > pt.object.left {
			return false
		}
	}
	for o, n := range need {
		if !o.gone {
			o.left -= n
			o.last = p.device
		}
	}
	return true
}

// check takes an object away that nothing refers to any more: it counts as satisfied for
// whoever still waits for it.
func (m *model) check(o *mObject) {
	if o.gone || o.locals+o.shares+o.queued > 0 {
		return
	}
	o.gone = true
	if o.consumed() {
		m.serve()
	} else {
		m.release(o, lossMax)
		m.askAll(o, toldSignaled)
	}
}

// destroyLocal takes a local object away. The CPU waits that were made through it are
// satisfied, unless the fence keeps them until it goes itself.
func (m *model) destroyLocal(l *mLocal) {
	l.gone = true
	delete(l.proc.table, l.handle)
	o := l.object
	if o.inMemory() {
		l.device.locals = slices.DeleteFunc(l.device.locals, func(x *mLocal) bool { return x == l })
		m.abandon(l)
		if l.on != nil {
			l.on.leave()
		}
		const keep = abi.SyncObjectShared | abi.SyncObjectUnwaitCpuWaitersOnlyOnDestroy
		if o.flags&keep != keep {
			for _, w := range slices.Clone(m.cpuWaits) {
				for _, p := range w.points {
					if p.local == l && p.in && !p.met && !w.ended {
						m.meet(p)
						m.rearm(o)
					}
				}
			}
		}
		if len(m.waitsFor(o)) > 0 {
			m.lookAnyway(o)
		}
	} else {
		l.proc.plains = slices.DeleteFunc(l.proc.plains, func(x *mLocal) bool { return x == l })
	}
	o.locals--
	m.check(o)
}
