package sim

import (
	"cmp"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
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

// A stream is what a handle of a call names: a context with its queue, or with all its
// hardware queues, or one hardware queue.
type stream struct {
	context *mContext
	queues  []*mQueue
}

// streams resolves the handles of a call: contexts, or hardware queues; nil: one is none.
func (p *mProc) streams(hs []abi.Handle, version version) []stream {
	var list []stream
	for _, h := range hs {
		switch e := p.table[h].(type) {
		case *mContext:
			if version == toHwQueue {
				return nil
			}
			var live []*mQueue
			for _, q := range e.queues {
				if !q.destroyed {
					live = append(live, q)
				}
			}
			list = append(list, stream{e, slices.SortedFunc(slices.Values(live), func(a, b *mQueue) int { return cmp.Compare(a.handle, b.handle) })})
		case *mQueue:
			if version != toHwQueue {
				return nil
			}
			list = append(list, stream{e.context, []*mQueue{e}})
		default:
			return nil
		}
	}
	return list
}

// queuesOf are the queues of streams.
func queuesOf(list []stream) (queues []*mQueue) {
	for _, s := range list {
		queues = append(queues, s.queues...)
	}
	return queues
}

// forHardware says whether a context for hardware queues is among them.
func forHardware(list []stream) bool {
	return slices.ContainsFunc(list, func(s stream) bool { return s.context.queue == nil })
}

// related says whether contexts or queues may stand in one call.
func related(hs []abi.Handle, list []stream) bool {
	for i, s := range list {
		if s.context.device != list[0].context.device || slices.Contains(hs[:i], hs[i]) {
			return false
		}
	}
	return true
}

// objects resolves the handles of a call for packets of a device, and judges whether
// they may stand together; nil: no. Source: objects.md §8; OQ-25.
func (p *mProc) objects(d *mDevice, hs []abi.Handle, version version, hardware bool) []*mLocal {
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
			!o.inMemory() && hardware,
			o.kind == abi.Fence && len(list) > 1,
			o.inMemory() != list[0].object.inMemory():
			return nil
		}
	}
	return list
}

func (m *model) signalFromGPU(p *mProc, a signalArgs, e *mEvent) abi.Status {
	enqueues := a.flags&abi.SignalEnqueueCpuEvent != 0
	streams := p.streams(a.contexts, a.version)
	if streams == nil || enqueues != (len(a.objects) == 0) {
		return invalid
	}
	if enqueues && e == nil {
		return abi.StatusInvalidHandle
	}
	d, queues := streams[0].context.device, queuesOf(streams)
	list := p.objects(d, a.objects, a.version, forHardware(streams))
	if !related(a.contexts, streams) || len(a.objects) > 0 && list == nil {
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
	if a.flags&abi.SignalAtSubmission != 0 {
		when = atSubmission
	}
	push := func(s *mSignal, when moment) {
		s.from = d.adapter
		s.left, s.rewind = len(queues), a.flags&abi.SignalAllowFenceRewind != 0
		for _, t := range s.targets {
			t.object.queued++
		}
		for _, q := range queues {
			m.push(q, &mPacket{kind: signalPacket, signal: s, when: when})
		}
		if len(queues) == 0 {
			s.left = 1
			m.reach(s)
		}
	}
	if len(early) > 0 {
		push(&mSignal{targets: early}, atRead)
	}
	if len(late) > 0 {
		push(&mSignal{targets: late}, when)
	}
	if enqueues {
		push(&mSignal{event: e}, when)
	}
	m.settle()
	return success
}

func (m *model) waitFromGPU(p *mProc, a waitArgs) abi.Status {
	streams := p.streams([]abi.Handle{a.context}, a.version)
	if streams == nil {
		return invalid
	}
	d := streams[0].context.device
	list := p.objects(d, a.objects, a.version, forHardware(streams))
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
	for _, l := range list {
		if l.object.inMemory() && !l.wait {
			return denied
		}
	}
	for _, q := range queuesOf(streams) {
		packet := &mPacket{kind: waitPacket, device: d}
		for i, l := range list {
			pt := &mPoint{object: l.object}
			if l.object.fence() {
				pt.target = a.values[i]
			}
			packet.points = append(packet.points, pt)
		}
		m.push(q, packet)
	}
	m.settle()
	return success
}

func (m *model) submit(p *mProc, hs []abi.Handle, b *buffer, flags abi.SubmitCommandFlags) abi.Status {
	streams := p.streams(hs, version2)
	if streams == nil || !related(hs, streams) || forHardware(streams) {
		return invalid
	}
	queues := queuesOf(streams)
	for _, q := range queues {
		if q.context.flags&abi.ContextSynchronizationOnly != 0 {
			return invalid
		}
	}
	if st := queues[0].context.device.submittable(); !st.OK() {
		return st
	}
	for _, q := range queues {
		null := flags&abi.SubmitNullRendering != 0 || q.context.flags&abi.ContextNullRendering != 0
		m.push(q, &mPacket{kind: bufferPacket, run: &mRun{buffer: b, queue: q, null: null}})
	}
	m.settle()
	return success
}

// submittable is the verdict of calls that submit buffers.
func (d *mDevice) submittable() abi.Status {
	switch d.state {
	case abi.DeviceExecutionActive:
		return success
	case abi.DeviceExecutionStopped:
		return removed
	}
	return abi.StatusGraphicsGpuExceptionOnDevice
}

func (m *model) submitToHwQueue(p *mProc, h abi.Handle, b *buffer, progress uint64) abi.Status {
	streams := p.streams([]abi.Handle{h}, toHwQueue)
	if streams == nil {
		return invalid
	}
	q := streams[0].queues[0]
	if st := q.context.device.submittable(); !st.OK() {
		return st
	}
	if progress <= q.submitted {
		return invalid
	}
	q.submitted = progress
	null := q.context.flags&abi.ContextNullRendering != 0
	m.push(q, &mPacket{kind: bufferPacket, run: &mRun{buffer: b, queue: q, null: null, progress: progress}})
	m.settle()
	return success
}

func (m *model) createHwQueue(p *mProc, h abi.Handle) abi.Status {
	c, ok := p.table[h].(*mContext)
	if !ok || c.queue != nil {
		return invalid
	}
	if !c.device.adapter.caps.Has(ddi.HwScheduling) {
		return abi.StatusNotSupported
	}
	return c.device.usable()
}

func (m *model) destroyHwQueue(p *mProc, h abi.Handle) abi.Status {
	q, ok := p.table[h].(*mQueue)
	if !ok {
		return invalid
	}
	m.destroyQueue(q)
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
		m.stored(l.object, d.adapter, nil)
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
	if !ok || l.owned {
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
