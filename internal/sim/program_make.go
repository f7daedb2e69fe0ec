package sim

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/object"
)

// Actions that make things and take them away.

func (w *World) newProcess() {
	if len(w.living()) >= mostProcs || len(w.model.procs) > 5 {
		return
	}
	kp, st := w.kernel.Attach(kernel.ProcessInfo{PID: len(w.procs) + 1, Name: "sim"})
	if !st.OK() {
		w.differ("attach: %v", st)
		return
	}
	p := &mProc{index: len(w.model.procs), table: map[abi.Handle]any{}}
	w.procs = append(w.procs, kp)
	w.model.procs = append(w.model.procs, p)
	w.say("process p%d", p.index+1)
	var opened []abi.Handle
	for i, a := range w.model.adapters {
		h, got := callOpenAdapter(kp, abi.LUID{LowPart: 0x10000 + uint32(i)})
		want := success
		if a.stopped {
			want = invalid
		}
		w.answer(got, want, "p%d: open adapter %d", p.index+1, i)
		if got.OK() {
			p.table[h] = a
		}
		opened = append(opened, h)
	}
	w.adapterHandles = append(w.adapterHandles, opened)
}

func (w *World) exit() {
	if list := w.living(); len(list) > 1 {
		w.exitOf(pick(w, list))
	}
}

func (w *World) exitOf(p *mProc) {
	w.say("p%d dies", p.index+1)
	w.process(p).Exit()
	w.model.exit(p)
}

func (w *World) createDevice() {
	if list := w.living(); len(list) > 0 && len(w.devices()) < mostDevices {
		w.createDeviceOn(pick(w, list), pick(w, w.model.adapters))
	}
}

func (w *World) createDeviceOn(p *mProc, a *mAdapter) {
	hAdapter := w.adapterHandles[p.index][a.index]
	if hAdapter == 0 {
		return
	}
	flags := abi.CreateDeviceFlags(0)
	if w.one(8) {
		flags = abi.DeviceDisableGpuTimeout
	}
	h, got := callCreateDevice(w.process(p), hAdapter, flags)
	w.answer(got, w.model.createDevice(p, a), "p%d: create device on adapter %d, flags %v", p.index+1, a.index, flags)
	if got.OK() {
		d := &mDevice{proc: p, adapter: a, handle: h, state: abi.DeviceExecutionActive, exempt: flags != 0}
		p.table[h] = d
		p.devices = append(p.devices, d)
		w.name(p, h, "dev")
	}
}

func (w *World) destroyDevice() {
	if list := w.devices(); len(list) > 0 {
		d := pick(w, list)
		w.answer(callDestroyDevice(w.process(d.proc), d.handle), success, "p%d: destroy %s", d.proc.index+1, w.of(d.proc, d.handle))
		w.model.destroyDevice(d)
		w.model.settle()
	}
}

func (w *World) markError() {
	if list := w.devices(); len(list) > 0 {
		d := pick(w, list)
		w.answer(callMarkError(w.process(d.proc), d.handle), success, "p%d: mark %s as error", d.proc.index+1, w.of(d.proc, d.handle))
		w.model.loseDevice(d, abi.DeviceExecutionHung)
		w.model.settle()
	}
}

func (w *World) createContext() {
	if list := w.devices(); len(list) > 0 && len(w.contexts()) < mostContexts {
		d := pick(w, list)
		h := d.handle
		if w.one(20) {
			h = w.wrong(d.proc)
		}
		w.createContextOn(d.proc, h)
	}
}

func (w *World) createContextOn(p *mProc, hDevice abi.Handle) {
	node, affinity := uint32(w.choose.Int(2)), []uint32{1, 0, 2}[w.choose.Int(3)]
	var flags abi.CreateContextFlags
	switch w.choose.Int(16) {
	case 0, 1, 2:
		flags = abi.ContextHwQueueSupported
	case 9:
		flags = abi.ContextSynchronizationOnly
	case 10:
		flags = abi.ContextNullRendering
	case 11:
		flags = abi.ContextDisableGpuTimeout
	}
	h, got := callCreateContext(w.process(p), hDevice, node, affinity, flags)
	w.answer(got, w.model.createContext(p, hDevice, node, affinity), "p%d: create context on %s, node %d, affinity %d, flags %v",
		p.index+1, w.of(p, hDevice), node, affinity, flags)
	if !got.OK() || w.err != "" {
		return
	}
	d := p.table[hDevice].(*mDevice)
	c := &mContext{device: d, handle: h, kmd: ddi.KmdContext(w.puppets[d.adapter.index].last), flags: flags}
	for _, e := range d.adapter.engines {
		if e.name.NodeOrdinal == node && e.name.EngineOrdinal == affinity/2 {
			c.engine = e
		}
	}
	if flags&abi.ContextHwQueueSupported == 0 {
		c.queue = &mQueue{context: c, handle: h}
		c.queues = []*mQueue{c.queue}
		w.model.queues = append(w.model.queues, c.queue)
	}
	d.contexts = append(d.contexts, c)
	p.table[h] = c
	w.name(p, h, "ctx")
}

func (w *World) destroyContext() {
	if list := w.contexts(); len(list) > 0 {
		c := pick(w, list)
		p := c.device.proc
		w.answer(callDestroyContext(w.process(p), c.handle), success, "p%d: destroy %s", p.index+1, w.of(p, c.handle))
		w.model.destroyContext(c)
		w.model.settle()
	}
}

func (w *World) createHwQueue() {
	list := w.contexts()
	if len(list) == 0 || len(w.streams(nil, true)) >= mostContexts {
		return
	}
	c := pick(w, list)
	for _, o := range list {
		if c.queue != nil && o.queue == nil && !w.one(10) {
			c = o
		}
	}
	p := c.device.proc
	flags := abi.CreateHwQueueFlags(0)
	if w.one(10) {
		flags = abi.HwQueueDisableGpuTimeout
	}
	m, got := callCreateHwQueue(w.process(p), c.handle, flags)
	w.answer(got, w.model.createHwQueue(p, c.handle), "p%d: create hwqueue%d on %s, flags %v", p.index+1, w.objects+1, w.of(p, c.handle), flags)
	if !got.OK() || w.err != "" {
		return
	}
	q := &mQueue{context: c, handle: m.handle, kmd: ddi.KmdHwQueue(w.puppets[c.device.adapter.index].last), exempts: flags != 0}
	p.table[m.handle] = q
	w.name(p, m.handle, "hwqueue")
	o := &mObject{kind: abi.MonitoredFence, adapter: c.device.adapter, queued: 1} // the queue refers to it until nothing of it is at the GPU
	w.addLocal(o, c.device, m.progress, 0, "progress", true, false, true)
	q.progress = p.table[m.progress.handle].(*mLocal)
	q.progress.owned = true
	if c.device.adapter.native() {
		o.kind = abi.NativeFence
		w.addNative(c.device, m.progress)
	}
	c.queues = append(c.queues, q)
	w.model.queues = append(w.model.queues, q)
}

func (w *World) destroyHwQueue() {
	if list := w.streams(nil, true); len(list) > 0 {
		q := pick(w, list)
		p := q.context.device.proc
		text := w.of(p, q.handle)
		got := callDestroyHwQueue(w.process(p), q.handle)
		w.answer(got, w.model.destroyHwQueue(p, q.handle), "p%d: destroy %s", p.index+1, text)
	}
}

func (w *World) setPriority() {
	if list := w.contexts(); len(list) > 0 {
		c, v := pick(w, list), int32(w.choose.Int(3)-1)
		p := c.device.proc
		w.answer(callSetPriority(w.process(p), c.handle, v), success, "p%d: priority of %s: %d", p.index+1, w.of(p, c.handle), v)
		c.priority = v
	}
}

const ntShared = abi.SyncObjectShared | abi.SyncObjectNtSecuritySharing

func (w *World) createObject() {
	list := w.devices()
	if len(list) == 0 || len(w.locals(nil)) >= mostLocals {
		return
	}
	d := pick(w, list)
	w.model.objects++
	o := &mObject{adapter: d.adapter, serial: w.model.objects}
	info := abi.SynchronizationObjectInfo2{}
	kind := "fence"
	fd, e := abi.FileNone, (*mEvent)(nil)
	switch w.choose.Int(8) {
	case 0, 1, 2, 3:
		o.kind, o.value = abi.MonitoredFence, w.value()
		info.MonitoredFence().InitialFenceValue = o.value
		o.flags = []abi.SyncObjectFlags{
			0, ntShared, ntShared | abi.SyncObjectCrossAdapter, abi.SyncObjectTopOfPipeline, ntShared | abi.SyncObjectNoSignal, abi.SyncObjectNoWait,
			ntShared | abi.SyncObjectNoSignalMaxValueOnTdr, abi.SyncObjectNoGPUAccess, ntShared | abi.SyncObjectUnwaitCpuWaitersOnlyOnDestroy,
			ntShared | abi.SyncObjectNoSignalMaxValueOnTdr | abi.SyncObjectTopOfPipeline,
		}[w.choose.Int(10)]
	case 4:
		o.kind, o.most, o.left, kind = abi.SynchronizationMutex, 1, uint64(1-w.choose.Int(2)), "mutex"
		info.SynchronizationMutex().InitialState = uint32(1 - o.left)
	case 5:
		o.kind, o.most, kind = abi.Semaphore, uint64(w.choose.Int(3)), "sem"
		o.left = uint64(w.choose.Int(int(o.most) + 1))
		info.Semaphore().MaxCount, info.Semaphore().InitialCount = uint32(o.most), uint32(o.left)
		if o.most == 0 {
			o.most = 1<<32 - 1
		}
	case 6:
		o.kind, o.value, kind = abi.Fence, w.value(), "oldfence"
		info.Fence().FenceValue = o.value
	case 7:
		o.kind, kind = abi.CPUNotification, "notification"
		fd, e = w.event()
		o.event = e
	}
	if o.kind != abi.CPUNotification && !o.inMemory() {
		o.flags = []abi.SyncObjectFlags{0, ntShared, ntShared | abi.SyncObjectCrossAdapter}[w.choose.Int(3)]
	}
	info.Type, info.Flags = o.kind, o.flags
	p, h := d.proc, d.handle
	if w.one(30) {
		h = w.wrong(p)
	}
	m, got := callCreateObject(w.process(p), h, info, fd)
	w.answer(got, w.model.createObject(p, h, o.kind, e), "p%d: create %s%d on %s, value %d, %d of %d, flags %v, event %d", p.index+1, kind, w.objects+1, w.of(p, h), o.value, o.left, o.most, o.flags, fd)
	if got.OK() && w.err == "" {
		d = p.table[h].(*mDevice)
		o.adapter = d.adapter
		w.addLocal(o, d, m, o.flags, kind, true, true, true)
	}
}

// addLocal gives the model a local object that was made.
func (w *World) addLocal(o *mObject, d *mDevice, m made, flags abi.SyncObjectFlags, kind string, created, maySignal, mayWait bool) {
	if !o.inMemory() {
		flags = 0 // they mean nothing to these
	}
	l := &mLocal{object: o, proc: d.proc, device: d, handle: m.handle, flags: flags, created: created, va: m.va}
	l.signal = maySignal && flags&abi.SyncObjectNoSignal == 0
	l.wait = mayWait && flags&abi.SyncObjectNoWait == 0
	if o.inMemory() {
		d.locals = append(d.locals, l)
		if mapped := o.flags&abi.SyncObjectNoGPUAccess == 0; mapped != (m.va != 0) {
			w.differ("the GPU's address of %#x is %#x", uint32(m.handle), m.va)
		}
	} else {
		d.proc.plains = append(d.proc.plains, l)
	}
	o.locals++
	d.proc.table[m.handle] = l
	w.name(d.proc, m.handle, kind)
}

func (w *World) destroyObject() {
	list := w.locals(nil)
	if len(list) == 0 {
		return
	}
	l := pick(w, list)
	p, h := l.proc, l.handle
	if w.one(20) {
		h = w.wrong(p)
	}
	text := w.of(p, h)
	got := callDestroyObject(w.process(p), h)
	w.answer(got, w.model.destroyObject(p, h), "p%d: destroy %s", p.index+1, text)
}

func (w *World) shareAndOpen() {
	list := w.locals(nil)
	if len(list) == 0 || len(w.model.shares) >= mostShares {
		return
	}
	l := pick(w, list)
	access := []object.Access{object.GenericAll, object.ReadControl, object.ReadControl | object.AccessWait, object.ReadControl | object.AccessSignal}[w.choose.Int(4)]
	w.share(l, access)
	w.openShared()
}

// share returns the descriptor, -1 if there is none.
func (w *World) share(l *mLocal, access object.Access) int {
	fd, got := callShare(w.process(l.proc), l.handle, access)
	w.answer(got, w.model.share(l.proc, l.handle), "p%d: share %s as descriptor %d, access %#x", l.proc.index+1, w.of(l.proc, l.handle), fd, uint32(access))
	if got.OK() {
		// With no right of its own granted, all are (OQ-20).
		s := &mShare{object: l.object, signal: access != object.ReadControl|object.AccessWait, wait: access != object.ReadControl|object.AccessSignal}
		w.model.shares[fd] = s
		l.object.shares++
	}
	return fd
}

func (w *World) openShared() {
	var fds []int
	for fd := range w.host.next + 1 {
		if w.model.shares[fd] != nil {
			fds = append(fds, fd)
		}
	}
	list := w.devices()
	if len(fds) == 0 || len(list) == 0 || len(w.locals(nil)) >= mostLocals {
		return
	}
	w.open(pick(w, fds), pick(w, list))
}

// open opens what a descriptor stands for, a native fence nearly always as one.
func (w *World) open(fd int, d *mDevice) {
	flags := []abi.SyncObjectFlags{0, abi.SyncObjectNoSignal, abi.SyncObjectNoWait, abi.SyncObjectNoSignalMaxValueOnTdr}[w.choose.Int(4)]
	p := d.proc
	s := w.model.shares[fd]
	if (s.object.kind == abi.NativeFence || s.object.crosses() && s.object.inMemory()) && !w.one(4) {
		m, got := callOpenNative(w.process(p), d.handle, fd, flags)
		w.answer(got, w.model.openNative(p, d.handle, fd), "p%d: open descriptor %d natively on %s as local %d, flags %v", p.index+1, fd, w.of(p, d.handle), w.objects+1, flags)
		if got.OK() && w.err == "" {
			w.addLocal(s.object, d, m, flags, "native", false, s.signal, s.wait)
			w.addNative(d, m)
			w.model.settle()
		}
		return
	}
	m, got := callOpen(w.process(p), d.handle, fd, flags)
	w.answer(got, w.model.openShared(p, d.handle, fd), "p%d: open descriptor %d on %s as local %d, flags %v", p.index+1, fd, w.of(p, d.handle), w.objects+1, flags)
	if got.OK() && w.err == "" {
		w.addLocal(s.object, d, m, flags, "opened", false, s.signal, s.wait)
	}
}

func (w *World) closeShared() {
	for fd := range w.host.next + 1 {
		if w.model.shares[fd] != nil && w.choose.Int(2) == 0 {
			w.say("close descriptor %d", fd)
			w.closeFD(fd)
			return
		}
	}
}

func (w *World) closeFD(fd int) {
	key := w.host.files[fd].(object.Key)
	w.host.Close(fd)
	w.kernel.NTClosed(key)
	o := w.model.shares[fd].object
	delete(w.model.shares, fd)
	o.shares--
	w.model.check(o)
	w.model.settle()
}
