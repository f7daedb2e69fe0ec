package sim

import (
	"cmp"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
)

// loseDevice puts a device in error: its packets are dropped, what it could have
// signalled goes to its maximum. Source: gpu.md §8.4; OQ-42.
func (m *model) loseDevice(d *mDevice, state abi.DeviceExecutionState) {
	if d.state != abi.DeviceExecutionActive || d.gone {
		return
	}
	d.state = state
	for _, l := range d.locals {
		l.object.asks = true
	}
	m.dropAll(d, byLoss)
	for _, l := range slices.Backward(slices.Clone(d.locals)) {
		if (l.signal || l.owned) && l.flags&abi.SyncObjectNoSignalMaxValueOnTdr == 0 {
			m.lose(l.object)
		} else {
			m.lookAnyway(l.object)
		}
	}
	m.loosen(d, byLoss)
}

// dropAll drops the packets of a device and has engines stop what they run of it.
func (m *model) dropAll(d *mDevice, w why) {
	for _, c := range d.contexts {
		for _, q := range c.queues {
			if !q.gone {
				m.drop(q, w)
			}
		}
		m.clear(c)
	}
}

// clear has the engine stop that still has something of a context.
func (m *model) clear(c *mContext) {
	if c.queue == nil {
		if !c.good {
			c.good = true
			if slices.ContainsFunc(c.queues, func(q *mQueue) bool { return len(q.flying) > 0 }) {
				m.leaveHardware(c)
				if c.place == offHardware {
					m.forgetAll(c)
				}
			}
		}
		return
	}
	if e := c.engine; len(c.queue.flying) > 0 && e.state == engineRuns {
		m.ask(e)
	}
}

// loosen is what the loss of a device does to objects without memory: fences that it
// could have signalled, or in death those that it created, are raised, mutexes that it
// acquired last are given back in the order of their making.
func (m *model) loosen(d *mDevice, w why) {
	for _, l := range m.sortedPlains(d.proc) {
		if o := l.object; o.kind == abi.Fence && l.device == d && (l.created || w != byDeath) {
			m.lose(o)
		}
	}
	var held []*mObject
	for _, p := range m.procs {
		for _, l := range p.plains {
			if o := l.object; o.kind == abi.SynchronizationMutex && o.last == d && !slices.Contains(held, o) {
				held = append(held, o)
			}
		}
	}
	for _, o := range slices.SortedFunc(slices.Values(held), func(a, b *mObject) int { return cmp.Compare(a.serial, b.serial) }) {
		m.give(o)
	}
}

func (m *model) sortedPlains(p *mProc) []*mLocal {
	return slices.SortedFunc(slices.Values(p.plains), func(a, b *mLocal) int { return cmp.Compare(a.handle, b.handle) })
}

// hang loses the device whose packet hung an engine.
func (m *model) hang(d *mDevice) {
	if d.state != abi.DeviceExecutionActive || d.gone {
		return
	}
	m.loseDevice(d, abi.DeviceExecutionHung)
	p := d.proc
	p.timeouts[d.adapter.index] = append(p.timeouts[d.adapter.index], m.now)
}

// blocked says whether a process is kept away from an adapter.
func (m *model) blocked(p *mProc, a *mAdapter) bool {
	n := 0
	for _, at := range p.timeouts[a.index] {
		if at > m.now-limitTime {
			n++
		}
	}
	return n >= limitCount
}

// devicesOn lists the devices on an adapter, by process and handle.
func (m *model) devicesOn(a *mAdapter) (list []*mDevice) {
	for _, p := range m.procs {
		for _, d := range p.devices {
			if d.adapter == a {
				list = append(list, d)
			}
		}
	}
	return list
}

// resetAdapter loses every device on it.
func (m *model) resetAdapter(a *mAdapter, guilty *mDevice) {
	a.resets = slices.DeleteFunc(a.resets, func(at int64) bool { return at <= m.now-limitTime })
	if len(a.resets) >= limitCount {
		m.stop(a)
		return
	}
	a.resets = append(a.resets, m.now)
	a.resetting = true
	for _, e := range a.engines {
		e.state = engineResets
	}
	m.call(a, func() { m.adapterWasReset(a, guilty) })
}

func (m *model) adapterWasReset(a *mAdapter, guilty *mDevice) {
	if a.failAdapter {
		a.failAdapter = false
		m.stop(a)
		return
	}
	for _, e := range a.engines {
		for _, q := range e.hw {
			q.context.place = offHardware
		}
	}
	for _, d := range m.devicesOn(a) {
		if d == guilty {
			m.hang(d)
		} else {
			m.loseDevice(d, abi.DeviceExecutionReset)
		}
	}
	m.empty(a)
	m.call(a, func() {
		a.resetting = false
		for _, e := range a.engines {
			e.state = engineRuns
			m.dispatch(e)
		}
	})
}

// empty takes everything off the GPU.
func (m *model) empty(a *mAdapter) {
	for _, e := range a.engines {
		for len(e.flying) > 0 {
			m.land(e)
		}
		for _, q := range slices.Clone(e.hw) {
			q.context.place = offHardware
			m.forgetAll(q.context)
		}
		e.leaving, e.off = nil, nil
	}
}

// stop takes an adapter away.
func (m *model) stop(a *mAdapter) {
	a.stopped = true
	for _, d := range m.devicesOn(a) {
		m.loseDevice(d, abi.DeviceExecutionStopped)
	}
	m.empty(a)
}

// destroyContext drops what is queued.
func (m *model) destroyContext(c *mContext) {
	c.gone = true
	if c.queue == nil {
		for _, q := range slices.Clone(c.queues) {
			if !q.destroyed {
				m.destroyQueue(q)
			}
		}
	} else if !c.queue.gone {
		m.drop(c.queue, byDestruction)
	}
	m.clear(c)
	m.finishContext(c)
	c.device.contexts = slices.DeleteFunc(c.device.contexts, func(o *mContext) bool { return o == c })
	delete(c.device.proc.table, c.handle)
}

// destroyDevice takes a device away with what it owns. Values stay.
func (m *model) destroyDevice(d *mDevice) {
	for _, w := range slices.Clone(m.cpuWaits) {
		if w.device == d {
			m.endCPUWait(w)
		}
	}
	for _, c := range slices.Clone(d.contexts) {
		m.destroyContext(c)
	}
	for _, l := range slices.Backward(slices.Clone(d.locals)) {
		m.destroyLocal(l)
	}
	d.gone = true
	if len(d.remnants) > 0 {
		d.proc.destroyed = append(d.proc.destroyed, d)
	}
	d.proc.devices = slices.DeleteFunc(d.proc.devices, func(o *mDevice) bool { return o == d })
	delete(d.proc.table, d.handle)
}

// exit is the death of a process: each of its devices is lost, fences that they created
// go to the maximum.
func (m *model) exit(p *mProc) {
	p.dead = true
	for _, w := range slices.Clone(m.cpuWaits) {
		if w.proc == p {
			m.cancelCPUWait(w)
		}
	}
	for _, d := range p.devices {
		m.dropAll(d, byDeath)
	}
	for _, d := range p.devices {
		for _, l := range slices.Backward(slices.Clone(d.locals)) {
			if l.created && l.object.flags&abi.SyncObjectNoSignalMaxValueOnTdr == 0 {
				m.lose(l.object)
			}
		}
	}
	for _, d := range p.devices {
		for _, l := range slices.Backward(d.locals) {
			m.lookAnyway(l.object)
		}
	}
	for _, d := range p.devices {
		if d.state == abi.DeviceExecutionActive {
			m.loosen(d, byDeath)
		}
	}
	for _, l := range m.sortedPlains(p) {
		m.destroyLocal(l)
	}
	for _, d := range slices.Clone(p.devices) {
		m.destroyDevice(d)
	}
	m.settle()
}
