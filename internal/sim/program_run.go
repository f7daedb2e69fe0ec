package sim

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// Actions that queue things, and those of GPUs and time.

// someContexts picks contexts, or hardware queues, for one call, nearly always of one
// device.
func (w *World) someContexts(most int, hardware bool) (*mProc, []abi.Handle) {
	list := w.streams(nil, hardware)
	if len(list) == 0 {
		return nil, nil
	}
	q := pick(w, list)
	d := q.context.device
	hs := []abi.Handle{q.handle}
	for len(hs) < most && w.one(3) {
		from := w.streams(d, hardware)
		if w.one(8) {
			from = slices.DeleteFunc(w.streams(nil, hardware), func(o *mQueue) bool { return o.context.device.proc != d.proc })
		}
		if h := pick(w, from).handle; !slices.Contains(hs, h) || w.one(10) {
			hs = append(hs, h)
		}
	}
	if w.one(40) {
		hs[w.choose.Int(len(hs))] = w.wrong(d.proc)
	}
	return d.proc, hs
}

// someObjects picks objects for one call of a device, nearly always such that may stand
// together.
func (w *World) someObjects(d *mDevice, most int) (hs []abi.Handle, list []*mLocal) {
	from := w.locals(d)
	if w.one(10) {
		from = w.locals(nil)
		from = slices.DeleteFunc(from, func(l *mLocal) bool { return l.proc != d.proc })
	}
	if len(from) == 0 {
		return nil, nil
	}
	first := pick(w, from)
	list = []*mLocal{first}
	alike := slices.DeleteFunc(slices.Clone(from), func(l *mLocal) bool {
		return l.object.inMemory() != first.object.inMemory() || l.object.kind == abi.Fence || l.object.kind == abi.CPUNotification
	})
	for len(list) < most && w.one(3) && len(alike) > 0 {
		if first.object.kind != abi.Fence || w.one(8) {
			list = append(list, pick(w, alike))
		}
	}
	for _, l := range list {
		hs = append(hs, l.handle)
	}
	if w.one(40) {
		hs[w.choose.Int(len(hs))] = w.wrong(d.proc)
	}
	return hs, list
}

func deviceOf(p *mProc, hs []abi.Handle) *mDevice {
	for _, h := range hs {
		switch e := p.table[h].(type) {
		case *mContext:
			return e.device
		case *mQueue:
			return e.context.device
		}
	}
	return nil
}

// gpuVersion is a call that takes the objects.
func (w *World) gpuVersion(list []*mLocal, versions ...version) version {
	v := pick(w, versions)
	if v == version2 && list[0].object.inMemory() && !w.one(10) {
		v = fromGpu
	}
	return v
}

func (w *World) signalFromGPU() {
	hardware := w.one(4)
	p, hs := w.someContexts(3, hardware)
	d := (*mDevice)(nil)
	if p != nil {
		d = deviceOf(p, hs)
	}
	if d == nil {
		return
	}
	a := signalArgs{contexts: hs, version: fromGpu2}
	var e *mEvent
	if !hardware && w.one(6) {
		a.flags = abi.SignalEnqueueCpuEvent
		a.version = pick(w, []version{fromGpu2, version2})
		a.fd, e = w.event()
	} else {
		var list []*mLocal
		if a.objects, list = w.someObjects(d, 3); list == nil {
			return
		}
		if a.version = w.gpuVersion(list, fromGpu2, fromGpu2, version2, fromGpu); hardware {
			a.version = toHwQueue
		}
		for range a.objects {
			a.values = append(a.values, w.value())
		}
		if a.version == fromGpu {
			a.contexts = a.contexts[:1]
		}
	}
	if a.version != fromGpu {
		if w.one(4) {
			a.flags |= abi.SignalAllowFenceRewind
		}
		if !hardware && w.one(6) {
			a.flags |= abi.SignalAtSubmission
		}
	}
	got := callSignal(w.process(p), a)
	w.answer(got, w.model.signalFromGPU(p, a, e), "p%d: signal %v on %s: %s = %v, flags %v, event %d", p.index+1, a.version, w.list(p, a.contexts), w.list(p, a.objects), a.values, a.flags, a.fd)
}

func (w *World) waitFromGPU() {
	hardware := w.one(4)
	p, hs := w.someContexts(1, hardware)
	if p == nil {
		return
	}
	d := deviceOf(p, hs)
	if d == nil {
		return
	}
	a := waitArgs{context: hs[0]}
	var list []*mLocal
	if a.objects, list = w.someObjects(d, 3); list == nil {
		return
	}
	if a.version = w.gpuVersion(list, fromGpu, version2); hardware {
		a.version = toHwQueue
	}
	for _, l := range list {
		a.values = append(a.values, w.target(l.object, a.values))
	}
	got := callWait(w.process(p), a)
	w.answer(got, w.model.waitFromGPU(p, a), "p%d: wait %v on %s: %s >= %v", p.index+1, a.version, w.list(p, hs), w.list(p, a.objects), a.values)
}

func (w *World) submit() {
	p, hs := w.someContexts(2, false)
	if p == nil {
		return
	}
	d := deviceOf(p, hs)
	if d == nil {
		return
	}
	b := w.buffer(d)
	flags := abi.SubmitCommandFlags(0)
	if w.one(8) {
		flags = abi.SubmitNullRendering
	}
	got := callSubmit(w.process(p), hs, b, flags)
	w.answer(got, w.model.submit(p, hs, b, flags), "p%d: submit buffer %#x %v on %s, flags %v", p.index+1, b.address, b.commands, w.list(p, hs), flags)
}

func (w *World) submitToHwQueue() {
	p, hs := w.someContexts(1, true)
	if p == nil || deviceOf(p, hs) == nil {
		return
	}
	b := w.buffer(deviceOf(p, hs))
	progress := uint64(1)
	if q, ok := p.table[hs[0]].(*mQueue); ok {
		progress = q.submitted + 1 + uint64(w.choose.Int(3))
		if w.one(20) {
			progress = q.submitted
		}
	}
	got := callSubmitToHwQueue(w.process(p), hs[0], b, progress)
	w.answer(got, w.model.submitToHwQueue(p, hs[0], b, progress), "p%d: submit buffer %#x %v to %s as %d", p.index+1, b.address, b.commands, w.list(p, hs), progress)
}

// buffer makes a random command buffer for a device.
func (w *World) buffer(d *mDevice) *buffer {
	b := &buffer{address: 0x1000 * uint64(len(w.buffers)+1)}
	for range w.choose.Int(4) {
		c := command{op: pick(w, []opcode{write, signal}), value: w.value()}
		switch {
		case w.one(40):
			c.op = bad
		case len(d.locals) > 0:
			// A program that writes progress itself only fools itself.
			if l := pick(w, d.locals); !l.owned {
				c.va = l.va
			}
		}
		if c.va == 0 && c.op != bad && !w.one(10) {
			continue
		}
		b.commands = append(b.commands, c)
	}
	if b.refused = w.one(40); b.refused {
		w.say("the driver will refuse %#x", b.address)
	}
	w.buffers[b.address] = b
	return b
}

func (w *World) signalFromCPU() {
	list := w.devices()
	if len(list) == 0 {
		return
	}
	d := pick(w, list)
	hs, _ := w.cpuObjects(d)
	if hs == nil {
		return
	}
	var values []uint64
	for range hs {
		values = append(values, w.value())
	}
	rewind := w.one(3)
	flags := abi.SignalFlags(0)
	if rewind {
		flags = abi.SignalAllowFenceRewind
	}
	p := d.proc
	got := callSignalFromCPU(w.process(p), d.handle, hs, values, flags)
	w.answer(got, w.model.signalFromCPU(p, d.handle, hs, values, rewind), "p%d: signal from CPU on %s: %s = %v, flags %v", p.index+1, w.of(p, d.handle), w.list(p, hs), values, flags)
}

// cpuObjects picks fences in memory of a device, and rarely something else.
func (w *World) cpuObjects(d *mDevice) (hs []abi.Handle, list []*mLocal) {
	if len(d.locals) == 0 || w.one(20) {
		return w.someObjects(d, 2)
	}
	for ok := true; ok && len(list) < 3; ok = w.one(3) {
		list = append(list, pick(w, d.locals))
		hs = append(hs, list[len(list)-1].handle)
	}
	return hs, list
}

func (w *World) waitFromCPU() {
	list := w.devices()
	if len(list) == 0 {
		return
	}
	d := pick(w, list)
	hs, _ := w.cpuObjects(d)
	if hs == nil {
		return
	}
	var values []uint64
	for range hs {
		values = append(values, w.value())
	}
	flags := abi.WaitFromCpuFlags(0)
	if w.one(2) {
		flags = abi.WaitAny
	}
	fd, e := w.event()
	p := d.proc
	got := callWaitFromCPU(w.process(p), d.handle, hs, values, flags, fd)
	w.answer(got, w.model.waitFromCPU(p, d.handle, hs, values, flags != 0, e), "p%d: wait from CPU on %s: %s >= %v, flags %v, event %d", p.index+1, w.of(p, d.handle), w.list(p, hs), values, flags, fd)
}

// busyEngines lists those for which f holds, with their adapters.
func (w *World) busyEngines(f func(e *mEngine) bool) (list []*mEngine) {
	for _, a := range w.model.adapters {
		for _, e := range a.engines {
			if !a.stopped && f(e) {
				list = append(list, e)
			}
		}
	}
	return list
}

// runEngine lets an engine do a command, or all of its first packet.
func (w *World) runEngine() {
	list := w.busyEngines(func(e *mEngine) bool { return len(e.flying) > 0 })
	if len(list) == 0 {
		return
	}
	e := pick(w, list)
	r := e.flying[0]
	for whole := !w.one(3); ; {
		w.runOn(e.adapter.index, e)
		if !whole || w.err != "" || len(e.flying) == 0 || e.flying[0] != r {
			return
		}
	}
}

func (w *World) runOn(i int, e *mEngine) {
	r := e.flying[0]
	if r.pc < len(r.buffer.commands) {
		w.say("engine %v of adapter %d runs %v of %#x", e.name, i, r.buffer.commands[r.pc], r.buffer.address)
	} else {
		w.say("engine %v of adapter %d completes %#x", e.name, i, r.buffer.address)
	}
	p := w.puppets[i]
	w.chooseInterrupt(p)
	interrupt := p.step(e.name)
	w.interrupt(p, interrupt)
	w.model.run(e)
	if interrupt != nil {
		w.model.tick()
	}
	w.compare()
}

// readEngine reports that an engine has read all that it has.
func (w *World) readEngine() {
	list := w.busyEngines(func(e *mEngine) bool { return len(e.flying) > 0 && e.adapter.caps.Has(ddi.ReportsRead) })
	if len(list) == 0 {
		return
	}
	e := pick(w, list)
	p := w.puppets[e.adapter.index]
	runs := p.engines[e.name].flying
	w.say("engine %v of adapter %d has read %d packets", e.name, e.adapter.index, len(runs))
	w.interrupt(p, ddi.DmaRead{Engine: e.name, SubmissionFenceID: uint32(runs[len(runs)-1].id)})
	w.model.readAll(e)
	w.model.tick()
}

// answerEngine lets an engine stop that was asked to, or gives an old answer again.
func (w *World) answerEngine() {
	list := w.busyEngines(func(e *mEngine) bool { return e.state == engineAsked })
	if len(list) == 0 {
		return
	}
	e := pick(w, list)
	if w.one(6) {
		p := w.puppets[e.adapter.index]
		pe := p.engines[e.name]
		w.say("engine %v of adapter %d gives an old answer", e.name, e.adapter.index)
		w.interrupt(p, ddi.DmaPreempted{Engine: e.name, PreemptionFenceID: pe.answered, LastCompletedFenceID: pe.completed})
		w.model.scanAll(e.adapter)
		w.model.settle()
		w.model.tick()
		return
	}
	w.answerOn(e.adapter.index, e)
}

func (w *World) answerOn(i int, e *mEngine) {
	w.say("engine %v of adapter %d stops", e.name, i)
	p := w.puppets[i]
	w.interrupt(p, p.answer(e.name))
	w.model.answer(e)
	w.model.tick()
}

func (w *World) passTime() {
	d := int64([]int{1, 5, 20, 45}[w.choose.Int(4)]) * 1_000_000
	w.say("%s pass", ms(d))
	w.advance(d)
}

func (w *World) passLong() {
	d := int64([]int{2100, 5000, 70_000}[w.choose.Int(3)]) * 1_000_000
	w.say("%s pass", ms(d))
	w.advance(d)
}

func (w *World) failReset() {
	i := w.choose.Int(2)
	p, a := w.puppets[i], w.model.adapters[i]
	if w.choose.Int(4) < 3 {
		w.say("the next reset of an engine of adapter %d fails", i)
		p.failEngineReset, a.failEngine = true, true
		return
	}
	w.say("the next reset of adapter %d fails", i)
	p.failAdapterReset, a.failAdapter = true, true
}

// runHardware lets the GPU go on with a hardware queue: a command, or a whole buffer.
func (w *World) runHardware() {
	var list []*mQueue
	for _, a := range w.model.adapters {
		for _, e := range a.engines {
			if !a.stopped {
				for _, q := range e.hw {
					if q.context.place != offHardware && !q.gone { // what is at the GPU of others stands still
						list = append(list, q)
					}
				}
			}
		}
	}
	if len(list) == 0 {
		return
	}
	q := pick(w, list)
	r := q.flying[0]
	for whole := !w.one(3); ; {
		w.runQueue(q.engine().adapter.index, q)
		if !whole || w.err != "" || q.gone || len(q.flying) == 0 || q.flying[0] != r {
			return
		}
	}
}

func (w *World) runQueue(i int, q *mQueue) {
	r := q.flying[0]
	p := w.puppets[i]
	w.say("the GPU of adapter %d goes on with buffer %#x of %s", i, r.buffer.address, w.of(q.context.device.proc, q.handle))
	w.chooseInterrupt(p)
	interrupt := p.stepQueue(q.kmd)
	w.interrupt(p, interrupt)
	w.model.runHardware(q)
	if interrupt != nil {
		w.model.tick()
	}
	w.compare()
}

// leaveHardware lets a context off the hardware that was asked to leave it, or has it
// give the answer to an older question first.
func (w *World) leaveHardware() {
	list := w.busyEngines(func(e *mEngine) bool { return len(e.leaving) > 0 })
	if len(list) == 0 {
		return
	}
	e := pick(w, list)
	w.leaveOn(e, w.choose.Int(len(e.leaving)), w.one(6))
}

func (w *World) leaveOn(e *mEngine, i int, old bool) {
	p := w.puppets[e.adapter.index]
	c := e.leaving[i]
	kmd := c.kmd
	w.say("context %d of adapter %d leaves the hardware, old %v", kmd, e.adapter.index, old)
	if old {
		w.interrupt(p, ddi.SuspendContextCompleted{Context: kmd, ContextSuspendFence: p.contexts[kmd].asked - 1})
	} else {
		w.interrupt(p, p.leave(kmd))
		w.model.left(c)
		w.model.settle()
	}
	w.model.tick()
}
