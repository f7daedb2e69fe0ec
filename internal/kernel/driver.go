package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/syncobj"
)

// callbacks is what an adapter's driver may call. Calls come without the kernel's
// lock, and none of them is made inside a call of the kernel's except Advance.
type callbacks struct{ *Adapter }

// SignalEvent sets the event of a CPU notification. INVALID_PARAMETER: there is none,
// it may just have been destroyed.
func (c callbacks) SignalEvent(e ddi.DxgCpuEvent) abi.Status {
	k := c.kernel
	k.lock()
	defer k.unlockInside()
	n, ok := c.events[e]
	if !ok {
		return abi.StatusInvalidParameter
	}
	n.Notify(&k.fx.wakes)
	return abi.StatusSuccess
}

// Now reads the kernel's clock.
func (c callbacks) Now() int64 { return c.kernel.now() }

// Rearm tells that the driver's next moment has come nearer.
func (c callbacks) Rearm() { c.kernel.host.Alarm() }

// IsFeatureEnabled says what the profile says.
func (c callbacks) IsFeatureEnabled(id abi.FeatureID) bool {
	enabled, _, _, _, _ := c.Profile.Feature(id)
	return enabled
}

// NativeFenceOSCaps says what the profile says.
func (c callbacks) NativeFenceOSCaps() ddi.NativeFenceOSCaps {
	n := c.Profile.NativeFence
	return ddi.NativeFenceOSCaps{SupportOptimizedDefaultFenceType: n.OptimizedDefault, SupportIntraGpuFenceType: n.IntraGPU}
}

// SystemMemory is the system process of the adapter's GPU.
func (c callbacks) SystemMemory() ddi.AddressSpace { return c.system }

// A driverEvent is the driver's side of a CPU notification that it signals. The zero
// one is of none that it does.
type driverEvent struct {
	adapter *Adapter
	dxg     ddi.DxgCpuEvent
	kmd     ddi.KmdCpuEvent
}

// createDriverEvent makes the driver's side of a CPU notification. Without the lock.
// NOT_SUPPORTED: the driver signals no events (OQ-7); else what it answers.
func (k *Kernel) createDriverEvent(a *Adapter, device ddi.KmdDevice, n *syncobj.CPUNotification) (driverEvent, abi.Status) {
	if !a.driver.Caps().Has(ddi.SignalCpuEvent) {
		return driverEvent{}, abi.StatusNotSupported
	}
	k.lock()
	k.numbers++
	dxg := ddi.DxgCpuEvent(k.numbers)
	k.unlock()
	kmd, st := a.driver.CreateCpuEvent(device, dxg)
	if !st.OK() {
		return driverEvent{}, st
	}
	k.lock()
	a.events[dxg] = n
	k.unlock()
	return driverEvent{a, dxg, kmd}, st
}

// destroy takes the driver's side away once the lock is dropped. From now on its
// signals do nothing.
func (e driverEvent) destroy() {
	if e.adapter == nil {
		return
	}
	delete(e.adapter.events, e.dxg)
	e.adapter.kernel.fx.calls = append(e.adapter.kernel.fx.calls, func() { e.adapter.driver.DestroyCpuEvent(e.kmd) })
}

// maxNotices is how many notifications of an adapter one user may have: three quarters
// of what the software GPU keeps.
const maxNotices = 768

// A notice is a periodic fence with the notification that advances it.
type notice struct {
	adapter *Adapter
	uid     uint32 // whom it counts for
	fence   syncobj.PeriodicMonitoredFence
	id      uint32
	driver  ddi.Notification
}

// newNotice asks the driver to notify before each vertical sync of a target, time
// before it in units of 100 ns. Without the lock. INVALID_PARAMETER: the driver cannot
// notify, or has no such target, or time is longer than an interval; else what the
// driver answers. NO_MEMORY: the user has enough. Source: objects.md §5.6; OQ-14.
func (a *Adapter) newNotice(uid, target uint32, time uint64) (*notice, abi.Status) {
	if !a.driver.Caps().Has(ddi.PeriodicFrameNotification) {
		return nil, abi.StatusInvalidParameter
	}
	k := a.kernel
	k.lock()
	room := a.noticed[uid] < maxNotices
	k.numbers++
	n := &notice{adapter: a, uid: uid, id: uint32(k.numbers)}
	if room {
		a.noticed[uid]++
	}
	k.unlock()
	if !room {
		return nil, abi.StatusNoMemory
	}
	var st abi.Status
	n.driver, st = a.driver.CreatePeriodicFrameNotification(ddi.CreatePeriodicFrameNotificationArgs{VidPnTargetID: target, Time: time, NotificationID: n.id})
	if !st.OK() {
		k.lock()
		n.uncount()
		k.unlock()
		return nil, st
	}
	k.host.Alarm()
	return n, st
}

func (n *notice) uncount() {
	a := n.adapter
	if a.noticed[n.uid]--; a.noticed[n.uid] == 0 {
		delete(a.noticed, n.uid)
	}
}

// begin lets the notification advance f. The lock is held.
func (n *notice) begin(f *fence) {
	n.fence = syncobj.Periodic(&f.MonitoredFence)
	n.adapter.notices[n.id] = n
	n.adapter.byFence[f] = n
}

// end stops it: the driver is told once the lock is dropped.
func (n *notice) end() {
	a := n.adapter
	delete(a.notices, n.id)
	n.uncount()
	a.kernel.fx.calls = append(a.kernel.fx.calls, func() { a.driver.DestroyPeriodicFrameNotification(n.driver) })
}

// adapterOf is the adapter of a usable device of the process, and its driver's handle of
// the device.
func (p *Process) adapterOf(h abi.Handle) (*Adapter, ddi.KmdDevice, abi.Status) {
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, h)
	if !ok {
		return nil, 0, abi.StatusInvalidParameter
	}
	return d.adapter, d.kmd, d.usable()
}

// Driver is the driver of an adapter, by its place in the configuration.
func (k *Kernel) Driver(i int) ddi.Driver { return k.adapters[i].driver }

// Stop ends the drivers. The kernel must be idle: no process is attached any more, and
// no NT handle is open.
func (k *Kernel) Stop() {
	for _, a := range k.adapters {
		a.driver.StopDevice()
	}
}
