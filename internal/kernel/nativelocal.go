package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/syncobj"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// A nativeLocal is a local object as a driver knows it. It outlives the local object while
// packets may use its addresses.
type nativeLocal struct {
	on     *nativeOn
	view   *nativeView
	device *device
	kmd    ddi.KmdLocalNativeFence
	making bool // the driver has not answered yet
	ended  bool // meanwhile the local object has gone
}

// A nativeView is where GPUs of an adapter see the two values in one process: at the same
// addresses through all devices that see them alike (native-fence.md §3.2).
type nativeView struct {
	key                viewKey
	space              *vidmm.Space
	uses               int
	current, monitored vidmm.Fence
	currentVa, mvalVa  uint64
}

type viewKey struct {
	process  *Process
	engines  uint32
	writable bool
}

// view finds or makes the view of a process. NO_MEMORY: no addresses are left.
func (o *nativeOn) view(p *Process, engines uint32, writable bool) (*nativeView, abi.Status) {
	key := viewKey{p, engines, writable}
	if v := o.views[key]; v != nil {
		v.uses++
		return v, abi.StatusSuccess
	}
	v := &nativeView{key: key, space: p.space(o.adapter), uses: 1}
	current, monitored := o.native.places(o.adapter.driver.NativeFenceCaps())
	for _, other := range o.native.on { // of another adapter: the same, if that is free
		if seen := other.views[key]; seen != nil {
			current.At, monitored.At = seen.currentVa, seen.mvalVa
		}
	}
	v.currentVa = v.space.MapWord(&v.current, o, engines, writable, current)
	v.mvalVa = v.space.MapWord(&v.monitored, (*monitoredWord)(o), engines, false, monitored)
	if v.currentVa == 0 || v.mvalVa == 0 {
		v.unmap()
		return nil, abi.StatusNoMemory
	}
	o.views[key] = v
	return v, abi.StatusSuccess
}

func (v *nativeView) unmap() {
	v.space.UnmapWord(&v.current)
	v.space.UnmapWord(&v.monitored)
}

// openNative puts l, which was just made, on its device's adapter for the driver, which is
// to be told then: nativeLocal.tell. f.native.making and the lock are held. NO_MEMORY: l
// is as it was.
func (l *local) openNative(engines uint32) abi.Status {
	d, n := l.device, l.fence.native
	o, st := n.place(d.adapter, d.process.Info.UID)
	if !st.OK() {
		return st
	}
	o.opens++
	v, st := o.view(d.process, engines, l.maySignal())
	if !st.OK() {
		o.leave()
		return st
	}
	l.native = &nativeLocal{on: o, view: v, device: d, making: true}
	l.gpu = v.currentVa
	return abi.StatusSuccess
}

// tell has the driver make its side, first of the fence if it does not know that. data is
// the private data, in and out. Without the lock; n.making is held.
func (l *nativeLocal) tell(data *[privateData]byte) abi.Status {
	o := l.on
	d := o.adapter.driver
	if o.kmd == 0 {
		args := func(monitored bool) ddi.FenceStorageArgs {
			return ddi.FenceStorageArgs{Type: o.native.kind, MonitoredValue: monitored, PrivateDriverData: data[:]}
		}
		o.store(l.device.process, d.FenceStorage(args(false)), d.FenceStorage(args(true)))
		kmd, st := d.CreateNativeFence(ddi.CreateNativeFenceArgs{
			Fence: o.dxg, Type: o.native.kind, PrivateDriverData: data[:],
			CurrentValueSystemProcessGpuVa: o.current.Address(), MonitoredValueSystemProcessGpuVa: o.watched.Address(),
			Peers: o.ring(),
		})
		if !st.OK() {
			return st
		}
		o.adapter.kernel.lock()
		o.kmd = kmd
		o.native.data = *data
		o.adapter.kernel.unlock()
	}
	kmd, st := d.OpenNativeFence(ddi.OpenNativeFenceArgs{
		Fence: o.kmd, Device: l.device.kmd, CurrentValueGpuVa: l.view.currentVa, MonitoredValueGpuVa: l.view.mvalVa, PrivateDriverData: data[:],
	})
	if st.OK() {
		l.kmd = kmd
	}
	return st
}

// made ends the making: the driver has answered. With failure, or if the local object has
// gone meanwhile, everything is taken back: false. The lock is held.
func (l *nativeLocal) made(st abi.Status) bool {
	l.making = false
	if st.OK() && !l.ended {
		if l.on.monitored.Load() != l.on.wanted {
			l.on.ask(toldMonitored) // somebody has waited since before the fence was here
		}
		if l.on.native.fence.State() == syncobj.Lost {
			l.on.ask(toldSignaled)
		}
		return true
	}
	if l.ended {
		l.close()
	}
	return false
}

// leave is the end of the local object: at once, or when no packet of the device may use
// its addresses any more.
func (l *nativeLocal) leave() {
	switch {
	case l.making:
		l.ended = true
	case !l.device.keep(l):
		l.close()
	}
}

// close takes the driver's side away. The lock is held.
func (l *nativeLocal) close() {
	o, v := l.on, l.view
	if kmd := l.kmd; kmd != 0 {
		o.adapter.sched.Call(func(d ddi.Driver) { d.CloseNativeFence(kmd) })
	}
	if v.uses--; v.uses == 0 {
		delete(o.views, v.key)
		v.unmap()
	}
	o.leave()
}

// knowsNative is SUCCESS if the driver model has native fences: NOT_SUPPORTED else. What
// flags of theirs may be is not asked then.
func (d *device) knowsNative() abi.Status {
	if d.adapter.Profile.WDDM < abi.NativeFence.First() {
		return abi.StatusNotSupported
	}
	return abi.StatusSuccess
}

// canNative is SUCCESS if native fences can be had on the device: NOT_SUPPORTED else
// (OQ-34).
func (d *device) canNative() abi.Status {
	if !d.adapter.native() {
		return abi.StatusNotSupported
	}
	return abi.StatusSuccess
}
