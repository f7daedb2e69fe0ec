package sim

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// Actions with native fences.

func (w *World) createNative() {
	list := w.devices()
	if len(list) == 0 || len(w.locals(nil)) >= mostLocals {
		return
	}
	d := pick(w, list)
	p, h := d.proc, d.handle
	if w.one(30) {
		h = w.wrong(p)
	}
	w.createNativeOn(p, h, []abi.SyncObjectFlags{
		0, ntShared, ntShared, ntShared | abi.SyncObjectCrossAdapter, ntShared | abi.SyncObjectCrossAdapter, ntShared | abi.SyncObjectNoSignal, abi.SyncObjectNoWait,
		ntShared | abi.SyncObjectNoSignalMaxValueOnTdr, ntShared | abi.SyncObjectUnwaitCpuWaitersOnlyOnDestroy,
		ntShared | abi.SyncObjectCrossAdapter | abi.SyncObjectUnwaitCpuWaitersOnlyOnDestroy,
	}[w.choose.Int(10)])
}

// createNativeOn returns the local object, nil if there is none.
func (w *World) createNativeOn(p *mProc, h abi.Handle, flags abi.SyncObjectFlags) *mLocal {
	w.model.objects++
	o := &mObject{kind: abi.NativeFence, flags: flags, serial: w.model.objects, value: w.value()}
	m, got := callCreateNative(w.process(p), h, o.value, o.flags)
	w.answer(got, w.model.createNative(p, h), "p%d: create native%d on %s, value %d, flags %v", p.index+1, w.objects+1, w.of(p, h), o.value, o.flags)
	if !got.OK() || w.err != "" {
		return nil
	}
	d := p.table[h].(*mDevice)
	o.adapter = d.adapter
	w.addLocal(o, d, m, o.flags, "native", true, true, true)
	w.addNative(d, m)
	w.model.settle()
	return p.table[m.handle].(*mLocal)
}

// crossNative makes a native fence that devices of both adapters have.
func (w *World) crossNative() {
	list := w.devices()
	if len(list) == 0 || len(w.locals(nil)) >= mostLocals || len(w.model.shares) >= mostShares {
		return
	}
	d := pick(w, list)
	other := w.model.adapters[1-d.adapter.index]
	onOther := slices.DeleteFunc(list, func(o *mDevice) bool { return o.adapter != other })
	if len(onOther) == 0 {
		if len(w.devices()) < mostDevices {
			w.createDeviceOn(pick(w, w.living()), other)
		}
		return
	}
	l := w.createNativeOn(d.proc, d.handle, ntShared|abi.SyncObjectCrossAdapter)
	if l == nil {
		return
	}
	if fd := w.share(l, object.GenericAll); fd >= 0 {
		w.open(fd, pick(w, onOther))
	}
}

// addNative makes a local object, which the model has, a native fence.
func (w *World) addNative(d *mDevice, m made) {
	l := d.proc.table[m.handle].(*mLocal)
	on, fresh := w.model.place(l.object, d.adapter)
	l.on = on
	if fresh {
		on.kmd = w.puppets[d.adapter.index].lastNative
	}
}

// chooseInterrupt chooses how a GPU tells of its next signal of a native fence.
func (w *World) chooseInterrupt(p *puppet) {
	p.kind = interruptKind(w.choose.Int(int(interruptKinds)))
	p.spurious = w.one(8)
	w.model.kind, w.model.spurious = p.kind, p.spurious
}

// tellHeld has a GPU interrupt for what it has signalled before.
func (w *World) tellHeld() {
	for i, a := range w.model.adapters {
		if len(a.held) == 0 || a.stopped {
			continue
		}
		p := w.puppets[i]
		w.chooseInterrupt(p)
		w.say("the GPU of adapter %d interrupts for %d native fences, manner %d", i, len(a.held), p.kind)
		w.interrupt(p, p.tellHeld(a.engines[0].name))
		w.model.nativeInterrupt(a, w.model.kind)
		w.model.settle()
		w.model.tick()
		return
	}
}

// overtake has a GPU signal while its driver is told the next monitored values.
func (w *World) overtake() {
	i, v := w.choose.Int(2), w.value()
	if a := w.model.adapters[i]; a.native() {
		w.say("before the next monitored values of adapter %d, its GPU signals %d", i, v)
		w.puppets[i].overtakes, a.overtakes = &v, &v
	}
}
