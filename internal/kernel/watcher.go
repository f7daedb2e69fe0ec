package kernel

import (
	"cmp"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// An incident is a recovery, or the end of an adapter, that people want to hear of.
type incident struct {
	at       int64
	code     uint32
	promoted bool
	engine   string
	process  string // of the guilty, "" unknown
	pid      int
	uid      uint32
}

// adapterRemoved stands as the code of an incident for a removal on request.
const adapterRemoved = 0

// mostIncidents is how many are kept for listings.
const mostIncidents = 64

// watcher is what an adapter's scheduler tells of. Its methods run under the kernel's lock.
type watcher struct{ *Adapter }

// Hung loses the device whose packet hung an engine.
func (o watcher) Hung(d *vidsch.Device) {
	lost := d.Owner.(*device)
	lost.lose(abi.DeviceExecutionHung)
	p := lost.process
	p.timeouts = append(p.timeouts, timeout{o.Adapter, o.kernel.now()})
}

// Faulted loses the device whose packet faulted.
func (o watcher) Faulted(d *vidsch.Device, f vidsch.Fault) {
	lost := d.Owner.(*device)
	if lost.state != abi.DeviceExecutionActive || lost.fate.seat != 0 {
		return
	}
	state := abi.DeviceExecutionDMAFault
	if f.Page {
		state = abi.DeviceExecutionDMAPageFault
	}
	lost.fault = f
	k := o.kernel
	if k.faultDelay == 0 {
		lost.lose(state)
		return
	}
	d.Hold()
	k.set(&lost.fate, moment{at: k.now() + k.faultDelay, set: true}, func() { lost.lose(state) })
}

// AdapterReset loses every device: one by its own fault, the others without.
func (o watcher) AdapterReset(guilty *vidsch.Device) {
	for _, d := range o.devices() {
		if guilty != nil && d.sched == guilty {
			o.Hung(guilty)
		} else {
			d.lose(abi.DeviceExecutionReset)
		}
	}
}

// BugCheck stops the adapter.
func (o watcher) BugCheck(b vidsch.BugCheck) {
	o.note(incident{code: b.Code})
	o.stop()
}

// Idle ends the waits for it.
func (o watcher) Idle(d *vidsch.Device) {
	for w := range d.Owner.(*device).idlers {
		w.look()
	}
}

// Report keeps a recovery for listings.
func (o watcher) Report(r vidsch.Report) {
	o.recoveries++
	i := incident{code: r.Code, promoted: r.Promoted, engine: r.Engine.String()}
	if r.Guilty != nil {
		p := r.Guilty.Owner.(*device).process
		i.process, i.pid, i.uid = p.Info.Name, p.Info.PID, p.Info.UID
	}
	o.note(i)
}

// Locked calls f with the lock: the answer of a call of the driver.
func (o watcher) Locked(f func()) {
	o.kernel.lock()
	f()
	o.kernel.unlockInside()
}

func (a *Adapter) note(i incident) {
	i.at = a.kernel.now()
	if len(a.incidents) == mostIncidents {
		a.incidents = slices.Delete(a.incidents, 0, 1)
	}
	a.incidents = append(a.incidents, i)
}

// devices lists the devices on the adapter, oldest process first.
func (a *Adapter) devices() []*device {
	var all []*device
	for p := range a.kernel.processes {
		for d := range p.devices {
			if d.adapter == a {
				all = append(all, d)
			}
		}
	}
	slices.SortFunc(all, func(x, y *device) int {
		return cmp.Or(cmp.Compare(x.process.id, y.process.id), cmp.Compare(x.handle, y.handle))
	})
	return all
}

// stop takes the adapter away, as its removal does: every device is lost, nothing new is
// made.
func (a *Adapter) stop() {
	if a.stopped {
		return
	}
	a.stopped = true
	for _, d := range a.devices() {
		d.lose(abi.DeviceExecutionStopped)
	}
	a.sched.Stop()
}

// A timeout is an engine timeout by the fault of a process.
type timeout struct {
	adapter *Adapter
	at      int64
}

// blocked reports whether the process is kept away from an adapter: it has hung engines
// so often, within TdrLimitTime, that Windows reports 0x142; the limit is one less than
// for resets of the adapter. Source: gpu.md §8.3.
func (p *Process) blocked(a *Adapter) bool {
	n := 0
	for _, t := range p.timeouts {
		if t.adapter == a && t.at > p.k.now()-p.k.tdr.LimitTime {
			n++
		}
	}
	return n >= p.k.tdr.LimitCount
}
