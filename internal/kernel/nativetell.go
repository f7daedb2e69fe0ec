package kernel

import (
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/syncobj"
)

// What drivers are told of native fences: new values that others have stored, and new
// monitored values, after which the kernel looks at the current values once more. It is
// decided under the lock, told without it, in the turn of the adapter's calls, and what
// comes together is told together. Source: native-fence.md §5.2.

// alwaysSignaled is the value that goes with AlwaysSignaled (OQ-35).
const alwaysSignaled = 0xFFFFFFFF

// asked is a set of what the driver is to be told of a fence.
type asked uint8

const (
	toldValue     asked = 1 << iota // a CPU has stored a value, from a device of this adapter
	toldNotice                      // somebody else has
	toldMonitored                   // the monitored value is another
	toldSignaled                    // the fence is lost, or gone: nothing waits for it any more
)

// tell is what an adapter's driver is to be told next.
type tell struct {
	list []*nativeOn // each once
}

// ask has the driver told of something.
func (o *nativeOn) ask(what asked) {
	a := o.adapter
	if o.asked == 0 {
		if len(a.tell.list) == 0 {
			a.sched.Call(a.tellDriver)
		}
		a.tell.list = append(a.tell.list, o)
	}
	o.asked |= what
}

// Monitored implements syncobj.Monitor.
func (n *native) Monitored(v uint64) {
	n.lowest = v
	n.watch()
}

// watch has all drivers told of the monitored value, if it is another one.
func (n *native) watch() {
	v := n.wants()
	for _, o := range n.on {
		if o.wanted != v {
			o.wanted = v
			o.ask(toldMonitored)
		}
	}
}

// stored tells the GPUs of the fence, but that of one adapter, that its value is another.
// by is the adapter of the CPU that stored it, nil if a GPU did.
func (n *native) stored(by, but *Adapter) {
	for _, o := range n.on {
		switch o.adapter {
		case but:
		case by:
			o.ask(toldValue)
		default:
			o.ask(toldNotice)
		}
	}
}

// tellDriver makes the calls. Without the lock.
func (a *Adapter) tellDriver(d ddi.Driver) {
	k := a.kernel
	k.lock()
	list := a.tell.list
	a.tell.list = nil
	var values, notices, lost []ddi.CurrentValueUpdate
	var monitored []ddi.MonitoredValueUpdate
	var looks []*nativeOn
	for _, o := range list {
		what := o.asked
		o.asked = 0
		if o.kmd == 0 || o.opens == 0 {
			continue // the driver does not know it yet, or no more
		}
		u := ddi.CurrentValueUpdate{Fence: o.kmd, Value: o.native.fence.Value()}
		switch {
		case what&toldSignaled != 0:
			u.Value = alwaysSignaled
			lost = append(lost, u)
		case what&toldValue != 0:
			values = append(values, u)
		case what&toldNotice != 0:
			notices = append(notices, u)
		}
		if what&toldMonitored != 0 && o.monitored.Load() != o.wanted {
			monitored = append(monitored, ddi.MonitoredValueUpdate{Fence: o.kmd, Value: o.wanted, MonitoredValue: &o.monitored})
			looks = append(looks, o)
		}
	}
	k.unlockInside()
	for _, u := range []struct {
		list  []ddi.CurrentValueUpdate
		flags ddi.CurrentValueFlags
	}{{lost, ddi.AlwaysSignaled}, {values, 0}, {notices, ddi.NotificationOnly}} {
		if len(u.list) > 0 {
			d.UpdateCurrentValuesFromCpu(u.list, u.flags)
		}
	}
	if len(monitored) == 0 {
		return
	}
	d.UpdateMonitoredValues(monitored)
	k.lock()
	for _, o := range looks {
		// Whatever was stored before the driver knew the new monitored value is there now.
		if f := o.native.fence; f.State() != syncobj.Gone {
			o.look()
		}
	}
	k.unlockInside()
}

// Signal is syncobj's, and GPUs hear of it. from is the adapter of whoever signals.
func (f *fence) signalFrom(from *Adapter, v uint64, rewind bool, wakes *syncobj.Wakes) {
	f.MonitoredFence.Signal(v, rewind, wakes)
	if f.native != nil {
		f.native.stored(from, nil)
	}
}

// Signal is syncobj's, and GPUs hear of it.
func (f *fence) Signal(v uint64, rewind bool, wakes *syncobj.Wakes) {
	f.signalFrom(nil, v, rewind, wakes)
}

// Store is syncobj's, for a GPU that knows it as a monitored fence, and others hear of it.
func (f *fence) Store(v uint64, wakes *syncobj.Wakes) {
	f.MonitoredFence.Store(v, wakes)
	if f.native != nil {
		f.native.stored(nil, nil)
	}
}

// Look is syncobj's. GPUs hear of what somebody may have stored through the page, before
// it was the kernel's, or through the fence's address on an adapter that does not know it as
// a native one.
func (f *fence) Look(wakes *syncobj.Wakes) {
	f.MonitoredFence.Look(wakes)
	if f.native != nil && f.native.crosses() {
		f.native.stored(nil, nil)
	}
}

// Lose is syncobj's, and GPUs wait for the fence no more.
func (f *fence) Lose(wakes *syncobj.Wakes) {
	f.MonitoredFence.Lose(wakes)
	if f.native != nil && f.State() == syncobj.Lost {
		for _, o := range f.native.on {
			o.ask(toldSignaled)
		}
	}
}
