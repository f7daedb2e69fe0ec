package kernel

import (
	"cmp"
	"maps"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/syncobj"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// usable is SUCCESS for a device that is neither destroyed nor lost: INVALID_PARAMETER
// or DEVICE_REMOVED.
func (d *device) usable() abi.Status {
	switch _, alive := d.process.devices[d]; {
	case !alive:
		return abi.StatusInvalidParameter
	case d.state != abi.DeviceExecutionActive:
		return abi.StatusDeviceRemoved
	}
	return abi.StatusSuccess
}

// submittable is the same for calls that submit command buffers: on a device in error
// they have a status of their own (measured), unless the adapter has stopped.
func (d *device) submittable() abi.Status {
	switch {
	case d.state == abi.DeviceExecutionActive:
		return abi.StatusSuccess
	case d.state == abi.DeviceExecutionStopped:
		return abi.StatusDeviceRemoved
	}
	return abi.StatusGraphicsGpuExceptionOnDevice
}

// lose puts the device in error. Order: it is marked, its packets are dropped, what it
// could have signalled goes to its maximum, which ends the waits for it; all under one
// lock, so that nobody sees a part. Source: gpu.md §8.4; OQ-17, OQ-30, OQ-42.
func (d *device) lose(state abi.DeviceExecutionState) {
	if d.state != abi.DeviceExecutionActive {
		return
	}
	d.state = state
	for l := d.locals; l != nil; l = l.next {
		l.fence.Ask() // their pages decide nothing any more
	}
	d.sched.Lose(vidsch.Lost)
	d.failSyncFiles()
	k := d.process.k
	for l := d.locals; l != nil; l = l.next {
		if l.raisedByLoss() {
			l.fence.Lose(&k.fx.wakes)
		} else {
			l.fence.Look(&k.fx.wakes) // sleepers on the page have to ask
		}
	}
	d.losePlains(vidsch.Lost)
	for w := range d.idlers {
		w.end(abi.StatusDeviceRemoved)
	}
	d.abortDoorbells()
}

// losePlains is what the loss of a device does to objects without memory: fences that
// it uses, or in death created, are raised, mutexes that it acquired last are given back,
// whoever has them still (OQ-42).
func (d *device) losePlains(why vidsch.Why) {
	k := d.process.k
	for _, l := range inOrderOf(d.process.plains) {
		if f, ok := l.object.Object.(*syncobj.Fence); ok && l.device == d && (l.created || why != vidsch.Died) {
			f.Lose(&k.fx.wakes)
		}
	}
	held := map[*syncobj.Mutex]uint64{}
	for _, p := range append(slices.Collect(maps.Keys(k.processes)), d.process) {
		for l := range p.plains {
			if m, ok := l.object.Object.(*syncobj.Mutex); ok && m.Last() == any(d) {
				held[m] = l.object.serial
			}
		}
	}
	for _, m := range slices.SortedFunc(maps.Keys(held), func(a, b *syncobj.Mutex) int { return cmp.Compare(held[a], held[b]) }) {
		m.Lose(d)
	}
}

// raisedByLoss reports whether the fence goes to its maximum when l's device is lost:
// the device could have signalled it, or it is the device's own and signalled by the
// system, and l does not carry NoSignalMaxValueOnTdr. A fence that the device made with
// NoSignal is for others to signal, and they are there yet.
func (l *local) raisedByLoss() bool {
	bySystem := l.owned || l.created && l.fence.Kind() == abi.PeriodicMonitoredFence
	return l.flags&abi.SyncObjectNoSignalMaxValueOnTdr == 0 && (l.maySignal() || bySystem)
}

// markDeviceAsError puts a device in error as if by an engine reset that touched it
// alone. Source: calls.md §2; OQ-30.
func (p *Process) markDeviceAsError(r *abi.Request) abi.Status {
	rec := abi.View[abi.MarkDeviceAsError](r.Record)
	if rec.Reason != abi.DeviceErrorGeneric && rec.Reason != abi.DeviceErrorDriverError {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	d.lose(abi.DeviceExecutionHung)
	return abi.StatusSuccess
}

// getDeviceState tells how a device is. Source: calls.md §2; OQ-30.
func (p *Process) getDeviceState(r *abi.Request) abi.Status {
	rec := abi.View[abi.GetDeviceState](r.Record)
	if rec.StateType < abi.DeviceStateExecution || rec.StateType > abi.DeviceStatePresentQueue {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	// Nothing is presented, no desktop is switched.
	clear(rec.State[:])
	switch rec.StateType {
	case abi.DeviceStateExecution:
		*rec.ExecutionState() = d.state
	case abi.DeviceStatePageFault:
		if d.state == abi.DeviceExecutionDMAPageFault {
			f := rec.PageFaultState()
			f.FaultedPrimitiveAPISequenceNumber = d.fault.Sequence
			f.PageFaultFlags = uint32(d.fault.Flags)
			f.FaultedVirtualAddress = d.fault.Address
		}
	}
	return abi.StatusSuccess
}
