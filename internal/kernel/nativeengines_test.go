package kernel

import (
	"fmt"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// An enginesDriver is a GPU whose engines are threads of their own, with one register for
// their interrupts. Its engines do what docs/native-fences.md asks for and nothing else.
type enginesDriver struct {
	ddi.Refusals
	world   *nativeWorld
	cb      ddi.Callbacks
	opened  ddi.OpenNativeFenceArgs
	name    ddi.DxgNativeFence
	named   bool // interrupts name the fence; else none
	running int  // engines that are not over
	pending int  // signals in the register
}

func (d *enginesDriver) StartDevice(cb ddi.Callbacks) abi.Status {
	d.cb = cb
	return abi.StatusSuccess
}
func (*enginesDriver) StopDevice()         {}
func (*enginesDriver) Caps() ddi.Caps      { return ddi.NativeGpuFence | ddi.HwScheduling }
func (*enginesDriver) Advance(int64)       {}
func (*enginesDriver) Next() (int64, bool) { return 0, false }
func (*enginesDriver) CreateNativeFence(a ddi.CreateNativeFenceArgs) (ddi.KmdNativeFence, abi.Status) {
	return ddi.KmdNativeFence(a.Fence), abi.StatusSuccess
}

func (d *enginesDriver) OpenNativeFence(a ddi.OpenNativeFenceArgs) (ddi.KmdLocalNativeFence, abi.Status) {
	d.opened, d.name = a, ddi.DxgNativeFence(a.Fence)
	return 1, abi.StatusSuccess
}

func (d *enginesDriver) UpdateMonitoredValues(list []ddi.MonitoredValueUpdate) {
	d.world.update(list, func(list []ddi.MonitoredValueUpdate) {
		for _, u := range list {
			u.MonitoredValue.Store(u.Value)
		}
	})
}

func (d *enginesDriver) UpdateCurrentValuesFromCpu(list []ddi.CurrentValueUpdate, flags ddi.CurrentValueFlags) {
	d.world.updateCurrent(list, flags, func([]ddi.CurrentValueUpdate, ddi.CurrentValueFlags) {})
}

// engine adds one that signals values.
func (d *enginesDriver) engine(values ...uint64) {
	w := d.world
	d.running++
	w.others++
	w.run.Go(fmt.Sprintf("engine %d", values), func() {
		for i, v := range values {
			if w.run.Forget(v); i > 0 {
				w.run.Yield("store")
			}
			d.signal(v)
		}
		d.running--
		w.others--
	})
}

func (d *enginesDriver) signal(v uint64) {
	w := d.world
	space := w.p.spaces[w.a]
	load := func() uint64 {
		m, f := space.Load64(0, d.opened.MonitoredValueGpuVa)
		if f != nil {
			w.t.Error(f)
		}
		return m
	}
	m := uint64(0)
	if w.spoil == "check first" {
		m = w.load(v, load)
		w.run.Yield("store", m)
	}
	if f := w.store(v, func() *ddi.Fault { return space.Store64(0, d.opened.CurrentValueGpuVa, v) }); f != nil {
		w.t.Error(f)
	}
	switch w.spoil {
	case "check first":
	case "no check":
		m = w.load(v, func() uint64 { return 0 })
	default:
		m = w.load(v, load)
	}
	if v > m {
		d.pending++
	}
}

// isr adds the thread that interrupts and, unless the alarm has one of its own, ticks then.
func (d *enginesDriver) isr() {
	w := d.world
	w.others++
	w.run.Go("interrupts", func() {
		for {
			w.run.Await("register", func() bool { return d.pending > 0 || d.running == 0 })
			if d.pending == 0 {
				w.others--
				return
			}
			i := ddi.NativeFenceSignaled{}
			if d.named && d.pending == 1 {
				i.Fences = []ddi.DxgNativeFence{d.name}
			}
			collapsed := d.pending > 1
			d.pending = 0
			switch {
			case collapsed && w.spoil == "collapsed away", w.spoil == "nobody named" && i.Fences == nil:
			default:
				w.interrupt(d.cb, i)
				if !w.ticks {
					w.k.Tick()
				}
			}
			w.run.Forget()
		}
	})
}
