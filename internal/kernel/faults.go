package kernel

import (
	"cmp"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// A breaker is a driver that can be made to fail on purpose, as the software GPU can.
// Its methods are called without the kernel's lock and outside of all calls of the driver.
type breaker interface {
	// Hang has an engine do nothing and answer nothing until it is reset.
	Hang(engine ddi.Engine) abi.Status
	// PageFault has the packet that an engine executes, or the next one, touch an address
	// that is not mapped.
	PageFault(engine ddi.Engine, address uint64) abi.Status
	// HangNext has an engine hang when it executes a packet of one of the contexts, or if
	// it does. With a queue that is not 0 only packets of that count. It happens once.
	HangNext(contexts []ddi.KmdContext, queue ddi.KmdHwQueue) abi.Status
	// PageFaultNext is the same for a page fault.
	PageFaultNext(contexts []ddi.KmdContext, queue ddi.KmdHwQueue, address uint64) abi.Status
}

// A FaultReport says what Provoke did.
type FaultReport struct {
	Kind string `json:"kind"`
	// Adapter is the LUID of the adapter that was meant; "" for processes and queues.
	Adapter string `json:"adapter,omitempty"`
	// State is the power state that the adapter goes to.
	State string `json:"state,omitempty"`
	// Engines hang now, or will fault.
	Engines []string `json:"engines,omitempty"`
	// Queues are the contexts and hardware queues one of which hangs or faults with the
	// packet of it that runs, or else with the next.
	Queues []QueueRow `json:"queues,omitempty"`
	// Devices are lost now, and were not before.
	Devices []DeviceRow `json:"devices,omitempty"`
}

// Provoke breaks something on purpose.
//
// INVALID_PARAMETER: no such kind; no such adapter, engine, process, handle or power state; a process
// is to be removed or switched, or has no device, or no context that could hang or fault. DEVICE_REMOVED: the
// adapter has stopped, or all devices that are meant are lost already. NOT_SUPPORTED: the
// driver cannot be made to hang or fault, or has no power states.
func (k *Kernel) Provoke(f abi.ProvokeFault) (FaultReport, abi.Status) {
	if f.Kind < abi.FaultHang || f.Kind > abi.FaultPower || f.PID == 0 && f.Handle != 0 || f.State > abi.PowerD3 || f.State != 0 && f.Kind != abi.FaultPower {
		return FaultReport{}, abi.StatusInvalidParameter
	}
	report := FaultReport{Kind: f.Kind.String()}
	var st abi.Status
	switch {
	case f.PID == 0:
		st = k.breakAdapter(f, &report)
	case f.Kind >= abi.FaultRemove:
		st = abi.StatusInvalidParameter
	case f.Kind == abi.FaultReset:
		st = k.breakDevices(f, &report)
	default:
		st = k.breakQueues(f, &report)
	}
	if !st.OK() {
		return FaultReport{}, st
	}
	return report, st
}

func (k *Kernel) breakAdapter(f abi.ProvokeFault, report *FaultReport) abi.Status {
	i := slices.IndexFunc(k.adapters, func(a *Adapter) bool { return a.LUID == f.AdapterLuid })
	if i < 0 {
		return abi.StatusInvalidParameter
	}
	a := k.adapters[i]
	report.Adapter = a.LUID.String()
	k.lock()
	if a.stopped {
		k.unlock()
		return abi.StatusDeviceRemoved
	}
	if f.Kind == abi.FaultHang || f.Kind == abi.FaultPage {
		k.unlock()
		return a.breakEngines(f, report)
	}
	if f.Kind == abi.FaultPower {
		if !a.driver.Caps().Has(ddi.UserModeSubmission) {
			k.unlock()
			return abi.StatusNotSupported
		}
		a.power(f.State)
		k.unlock()
		report.State = f.State.String()
		return abi.StatusSuccess
	}
	active := slices.DeleteFunc(a.devices(), (*device).lost)
	if f.Kind == abi.FaultRemove {
		a.note(incident{code: adapterRemoved})
		a.stop()
	} else {
		a.sched.Reset()
	}
	k.unlock() // what the driver is asked because of it, is done when this returns
	k.lock()
	for _, d := range active {
		if d.lost() {
			report.Devices = append(report.Devices, d.row(k.now()))
		}
	}
	k.unlock()
	return abi.StatusSuccess
}

// breakEngines makes engines of the adapter hang or fault.
func (a *Adapter) breakEngines(f abi.ProvokeFault, report *FaultReport) abi.Status {
	b, ok := a.driver.(breaker)
	if !ok {
		return abi.StatusNotSupported
	}
	var engines []ddi.Engine
	for n := range a.Profile.Nodes {
		for o := range a.Profile.Engines() {
			e := ddi.Engine{NodeOrdinal: uint32(n), EngineOrdinal: uint32(o)}
			if f.Node == abi.FaultEveryNode || f.Node == e.NodeOrdinal && f.Engine == e.EngineOrdinal {
				engines = append(engines, e)
			}
		}
	}
	if len(engines) == 0 {
		return abi.StatusInvalidParameter
	}
	for _, e := range engines {
		st := abi.StatusSuccess
		if f.Kind == abi.FaultHang {
			st = b.Hang(e)
		} else {
			st = b.PageFault(e, f.Address)
		}
		if !st.OK() {
			return st
		}
		report.Engines = append(report.Engines, e.String())
	}
	return abi.StatusSuccess
}

// breakDevices puts devices in error, as MarkDeviceAsError does.
func (k *Kernel) breakDevices(f abi.ProvokeFault, report *FaultReport) abi.Status {
	k.lock()
	defer k.unlock()
	devices, _, _, st := k.meant(f)
	if !st.OK() {
		return st
	}
	for _, d := range devices {
		d.lose(abi.DeviceExecutionHung)
		report.Devices = append(report.Devices, d.row(k.now()))
	}
	return abi.StatusSuccess
}

// breakQueues has the packets of contexts hang or fault. Those of one adapter do so
// once, whichever comes first.
func (k *Kernel) breakQueues(f abi.ProvokeFault, report *FaultReport) abi.Status {
	k.lock()
	_, contexts, queue, st := k.meant(f)
	if st.OK() && len(contexts) == 0 {
		st = abi.StatusInvalidParameter
	}
	byAdapter := map[*Adapter][]ddi.KmdContext{}
	for _, c := range contexts {
		a := c.device.adapter
		byAdapter[a] = append(byAdapter[a], c.sched.Kmd)
		report.Queues = append(report.Queues, c.rows(k.now(), queue)...)
	}
	var kmd ddi.KmdHwQueue
	if queue != nil {
		kmd = queue.sched.Kmd
	}
	k.unlock()
	if !st.OK() {
		return st
	}
	for a := range byAdapter {
		if _, ok := a.driver.(breaker); !ok {
			return abi.StatusNotSupported
		}
	}
	// A context that is destroyed meanwhile is nothing to the driver, and that is all right.
	for a, list := range byAdapter {
		b := a.driver.(breaker)
		if f.Kind == abi.FaultHang {
			b.HangNext(list, kmd)
		} else {
			b.PageFaultNext(list, kmd, f.Address)
		}
	}
	return abi.StatusSuccess
}

// meant finds the devices of a process, or the one of a handle, that are not lost, and
// the contexts that are meant by it: all of the devices, or the one of the handle. queue
// is the hardware queue, if it is one. The lock is held.
func (k *Kernel) meant(f abi.ProvokeFault) (devices []*device, contexts []*context, queue *hwQueue, st abi.Status) {
	found := false
	for p := range k.processes {
		if p.Info.PID != int(f.PID) {
			continue
		}
		if f.Handle == 0 {
			found = true
			for d := range p.devices {
				devices = append(devices, d)
			}
			continue
		}
		switch o := p.table.Get(f.Handle).(type) {
		case *device:
			devices, found = append(devices, o), true
		case *context:
			devices, contexts, found = append(devices, o.device), append(contexts, o), true
		case *hwQueue:
			devices, contexts, found = append(devices, o.context.device), append(contexts, o.context), true
			queue = o
		}
		if found {
			break
		}
	}
	if !found {
		return nil, nil, nil, abi.StatusInvalidParameter
	}
	if len(devices) == 0 {
		return nil, nil, nil, abi.StatusInvalidParameter
	}
	if devices = slices.DeleteFunc(devices, (*device).lost); len(devices) == 0 {
		return nil, nil, nil, abi.StatusDeviceRemoved
	}
	slices.SortFunc(devices, func(x, y *device) int {
		return cmp.Or(cmp.Compare(x.process.id, y.process.id), cmp.Compare(x.handle, y.handle))
	})
	if len(contexts) == 0 {
		for _, d := range devices {
			contexts = append(contexts, d.sortedContexts()...)
		}
	}
	return devices, contexts, queue, abi.StatusSuccess
}

// lost reports whether the device is in error.
func (d *device) lost() bool { return d.state != abi.DeviceExecutionActive }
