package sim

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
)

// The model's answers to calls. Each judges in the order of calls.md §1.1 and then, if
// all is well, does it. Statuses are named by what they say here.
const (
	success = abi.StatusSuccess
	invalid = abi.StatusInvalidParameter
	removed = abi.StatusDeviceRemoved
	denied  = abi.StatusAccessDenied
)

// usable is the verdict on a lost device.
func (d *mDevice) usable() abi.Status {
	if d.state != abi.DeviceExecutionActive {
		return removed
	}
	return success
}

func (m *model) createDevice(p *mProc, a *mAdapter) abi.Status {
	if a.stopped || m.blocked(p, a) {
		return removed
	}
	return success
}

func (m *model) createContext(p *mProc, hDevice abi.Handle, node, affinity uint32) abi.Status {
	d := m.device(p, hDevice)
	if d == nil || !slices.ContainsFunc(d.adapter.engines, func(e *mEngine) bool {
		return e.name.NodeOrdinal == node && (affinity == 1<<e.name.EngineOrdinal || affinity == 0 && e.name.EngineOrdinal == 0)
	}) {
		return invalid
	}
	return d.usable()
}

// contexts resolves the handles of a call; nil: one is none.
func (p *mProc) contexts(hs []abi.Handle) []*mContext {
	var list []*mContext
	for _, h := range hs {
		c, ok := p.table[h].(*mContext)
		if !ok {
			return nil
		}
		list = append(list, c)
	}
	return list
}

// related says whether contexts may stand in one call.
func related(list []*mContext) bool {
	for i, c := range list {
		if c.device != list[0].device || slices.Contains(list[:i], c) {
			return false
		}
	}
	return true
}

// objects resolves the handles of a call for packets of a device, and judges whether
// they may stand together; nil: no. Source: objects.md §8; OQ-25.
func (p *mProc) objects(d *mDevice, hs []abi.Handle, version version) []*mLocal {
	var list []*mLocal
	for _, h := range hs {
		l, ok := p.table[h].(*mLocal)
		if !ok {
			return nil
		}
		list = append(list, l)
	}
	for _, l := range list {
		o := l.object
		switch {
		case o.inMemory() && (l.device != d || version == version2),
			!o.inMemory() && o.adapter != d.adapter && o.flags&abi.SyncObjectCrossAdapter == 0,
			!o.inMemory() && version == toHwQueue,
			o.kind == abi.Fence && len(list) > 1,
			o.inMemory() != list[0].object.inMemory():
			return nil
		}
	}
	return list
}

func (m *model) signalFromGPU(p *mProc, a signalArgs, e *mEvent) abi.Status {
	enqueues := a.flags&abi.SignalEnqueueCpuEvent != 0
	contexts := p.contexts(a.contexts)
	if contexts == nil || enqueues != (len(a.objects) == 0) {
		return invalid
	}
	if enqueues && e == nil {
		return abi.StatusInvalidHandle
	}
	d := contexts[0].device
	list := p.objects(d, a.objects, a.version)
	if !related(contexts) || len(a.objects) > 0 && list == nil {
		return invalid
	}
	if st := d.usable(); !st.OK() {
		return st
	}
	for _, l := range list {
		if l.object.inMemory() && !l.signal {
			return denied
		}
	}
	var early, late []mTarget
	for i, l := range list {
		t := mTarget{l.object, a.values[i], l.flags&abi.SyncObjectNoSignalMaxValueOnTdr != 0}
		if l.object.flags&abi.SyncObjectTopOfPipeline != 0 && a.flags&abi.SignalAtSubmission == 0 {
			early = append(early, t)
		} else {
			late = append(late, t)
		}
	}
	when := atCompletion
	if a.flags&abi.SignalAtSubmission != 0 && !enqueues {
		when = atSubmission
	}
	push := func(s *mSignal, when moment) {
		s.left, s.rewind = len(contexts), a.flags&abi.SignalAllowFenceRewind != 0
		for _, t := range s.targets {
			t.object.queued++
		}
		for _, c := range contexts {
			m.push(c.queue, &mPacket{kind: signalPacket, signal: s, when: when})
		}
	}
	if len(early) > 0 {
		push(&mSignal{targets: early}, atRead)
	}
	if len(late) > 0 {
		push(&mSignal{targets: late}, when)
	}
	if enqueues {
		push(&mSignal{event: e}, atCompletion)
	}
	m.settle()
	return success
}

func (m *model) waitFromGPU(p *mProc, a waitArgs) abi.Status {
	contexts := p.contexts([]abi.Handle{a.context})
	if contexts == nil {
		return invalid
	}
	d := contexts[0].device
	list := p.objects(d, a.objects, a.version)
	if list == nil {
		return invalid
	}
	units := map[*mObject]uint64{}
	for _, l := range list {
		o := l.object
		if units[o]++; o.kind == abi.CPUNotification || o.consumed() && units[o] > o.most {
			return invalid
		}
	}
	if st := d.usable(); !st.OK() {
		return st
	}
	packet := &mPacket{kind: waitPacket, device: d}
	for i, l := range list {
		if l.object.inMemory() && !l.wait {
			return denied
		}
		pt := &mPoint{object: l.object}
		if l.object.fence() {
			pt.target = a.values[i]
		}
		packet.points = append(packet.points, pt)
	}
	m.push(contexts[0].queue, packet)
	m.settle()
	return success
}

func (m *model) submit(p *mProc, hs []abi.Handle, b *buffer, flags abi.SubmitCommandFlags) abi.Status {
	contexts := p.contexts(hs)
	if contexts == nil || !related(contexts) {
		return invalid
	}
	for _, c := range contexts {
		if c.flags&abi.ContextSynchronizationOnly != 0 {
			return invalid
		}
	}
	switch contexts[0].device.state {
	case abi.DeviceExecutionActive:
	case abi.DeviceExecutionStopped:
		return removed
	default:
		return abi.StatusGraphicsGpuExceptionOnDevice
	}
	for _, c := range contexts {
		null := flags&abi.SubmitNullRendering != 0 || c.flags&abi.ContextNullRendering != 0
		m.push(c.queue, &mPacket{kind: bufferPacket, run: &mRun{buffer: b, queue: c.queue, null: null}})
	}
	m.settle()
	return success
}

// fences resolves the handles of a call from the CPU; nil: one is no fence in memory of
// the device.
func (p *mProc) fences(d *mDevice, hs []abi.Handle) []*mLocal {
	var list []*mLocal
	for _, h := range hs {
		l, ok := p.table[h].(*mLocal)
		if !ok || !l.object.inMemory() || l.device != d {
			return nil
		}
		list = append(list, l)
	}
	return list
}

func (m *model) signalFromCPU(p *mProc, hDevice abi.Handle, hs []abi.Handle, values []uint64, rewind bool) abi.Status {
	d := m.device(p, hDevice)
	if d == nil {
		return invalid
	}
	list := p.fences(d, hs)
	if list == nil {
		return invalid
	}
	if st := d.usable(); !st.OK() {
		return st
	}
	now := map[*mObject]uint64{}
	for _, l := range list {
		if !l.signal {
			return denied
		}
		now[l.object] = l.object.see()
	}
	for i, l := range list {
		if values[i] < now[l.object] && !rewind {
			return invalid
		}
		now[l.object] = values[i]
	}
	for i, l := range list {
		m.signal(l.object, values[i], rewind)
	}
	m.settle()
	return success
}

// waitFromCPU waits with an event; nil: a bad one.
func (m *model) waitFromCPU(p *mProc, hDevice abi.Handle, hs []abi.Handle, values []uint64, any bool, e *mEvent) abi.Status {
	d := m.device(p, hDevice)
	if d == nil {
		return invalid
	}
	for _, h := range hs {
		if _, ok := p.table[h].(*mLocal); !ok {
			return invalid
		}
	}
	if e == nil {
		return abi.StatusInvalidHandle
	}
	list := p.fences(d, hs)
	if list == nil {
		return invalid
	}
	if st := d.usable(); !st.OK() {
		return st
	}
	w := &mCPUWait{proc: p, device: d, any: any, event: e}
	met := 0
	for i, l := range list {
		if !l.wait {
			e.sets++ // measured: refused, and yet set
			return denied
		}
		if l.object.see() >= values[i] {
			met++
		}
		w.points = append(w.points, &mPoint{object: l.object, target: values[i], local: l})
	}
	if met == len(list) || any && met > 0 {
		e.sets++
		return success
	}
	m.cpuWaits = append(m.cpuWaits, w)
	for _, pt := range w.points {
		if !w.ended {
			m.enlist(pt)
		}
	}
	m.settle()
	return success
}

func (m *model) createObject(p *mProc, hDevice abi.Handle, kind abi.SyncObjectType, e *mEvent) abi.Status {
	d := m.device(p, hDevice)
	if d == nil {
		return invalid
	}
	if kind == abi.CPUNotification && e == nil {
		return abi.StatusInvalidHandle
	}
	return d.usable()
}

func (m *model) destroyObject(p *mProc, h abi.Handle) abi.Status {
	l, ok := p.table[h].(*mLocal)
	if !ok {
		return invalid
	}
	m.destroyLocal(l)
	m.settle()
	return success
}

func (m *model) share(p *mProc, h abi.Handle) abi.Status {
	const nt = abi.SyncObjectShared | abi.SyncObjectNtSecuritySharing
	l, ok := p.table[h].(*mLocal)
	if !ok || l.object.flags&nt != nt {
		return invalid
	}
	return success
}

func (m *model) openShared(p *mProc, hDevice abi.Handle, fd int) abi.Status {
	d := m.device(p, hDevice)
	if d == nil {
		return invalid
	}
	s := m.shares[fd]
	if s == nil {
		return abi.StatusInvalidHandle
	}
	if s.object.adapter != d.adapter && s.object.flags&abi.SyncObjectCrossAdapter == 0 {
		return invalid
	}
	return d.usable()
}
