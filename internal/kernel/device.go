package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/vidmm"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// A device owns its fences and contexts: they go with it (objects.md §4.1-4, §4.5).
type device struct {
	process     *Process
	adapter     *Adapter
	handle      abi.Handle
	flags       abi.CreateDeviceFlags
	locals      *local // first of a list through local.next
	resources   map[*resourceLocal]struct{}
	allocations map[*allocationLocal]struct{}
	contexts    map[*context]struct{}
	waits       map[*cpuWait]struct{} // made through this device
	idlers      map[*idleWait]struct{}
	sched       *vidsch.Device
	kmd         ddi.KmdDevice
	state       abi.DeviceExecutionState // Active, or why it is lost
	fault       vidsch.Fault             // that it is lost by
	fate        timer                    // when it is lost by that
	paging      map[*pagingQueue]struct{}
	updates     map[*update]struct{} // of page tables
	since       int64
}

func (p *Process) createDevice(r *abi.Request) abi.Status {
	rec := abi.View[abi.CreateDevice](r.Record)
	if !abi.DeviceFlagRules.Known(uint32(rec.Flags)) {
		return abi.StatusInvalidParameter
	}
	a, space, st := p.newDeviceOn(rec.HAdapter)
	if !st.OK() {
		return st
	}
	// Before the lock is taken, as the driver's answer decides.
	kmd, st := a.driver.CreateDevice(ddi.CreateDeviceArgs{Memory: space})
	if st.OK() {
		if st = p.addDevice(rec, a, kmd); !st.OK() {
			a.driver.DestroyDevice(kmd)
		}
	}
	if !st.OK() {
		p.give(&a.devicesMade)
	}
	return st
}

// newDeviceOn finds the adapter to make a device on. DEVICE_REMOVED: it has stopped, or
// keeps this process away because it hung too often. NO_MEMORY: there are too many. With
// success one is counted.
func (p *Process) newDeviceOn(h abi.Handle) (*Adapter, *vidmm.Space, abi.Status) {
	p.k.lock()
	defer p.k.unlock()
	a, ok := object.Get[*adapterHandle](&p.table, h)
	switch {
	case !ok:
		return nil, nil, abi.StatusInvalidParameter
	case a.adapter.stopped || p.blocked(a.adapter):
		return nil, nil, abi.StatusDeviceRemoved
	case !p.take(&a.adapter.devicesMade):
		return nil, nil, abi.StatusNoMemory
	}
	return a.adapter, p.space(a.adapter), abi.StatusSuccess
}

func (p *Process) addDevice(rec *abi.CreateDevice, a *Adapter, kmd ddi.KmdDevice) abi.Status {
	p.k.lock()
	defer p.k.unlock()
	if a.stopped {
		return abi.StatusDeviceRemoved
	}
	d := &device{
		process: p, adapter: a, flags: rec.Flags, contexts: map[*context]struct{}{}, waits: map[*cpuWait]struct{}{}, since: p.k.now(),
		resources: map[*resourceLocal]struct{}{}, allocations: map[*allocationLocal]struct{}{}, idlers: map[*idleWait]struct{}{},
		kmd: kmd, state: abi.DeviceExecutionActive,
	}
	if d.handle = p.add(d); d.handle == 0 {
		return abi.StatusNoMemory
	}
	d.sched = a.sched.NewDevice(d, kmd, rec.Flags&abi.DeviceDisableGpuTimeout != 0)
	d.sched.Load = p.k.loadOf(p.Info.UID)
	d.sched.Freed = func() { a.devicesMade.give(p.Info.UID) }
	p.devices[d] = struct{}{}
	p.uses[d.adapter]++
	rec.HDevice = d.handle
	// The legacy command buffer and lists stay NULL, as on every modern adapter.
	rec.PCommandBuffer, rec.CommandBufferSize = 0, 0
	rec.PAllocationList, rec.AllocationListSize = 0, 0
	rec.PPatchLocationList, rec.PatchLocationListSize = 0, 0
	return abi.StatusSuccess
}

func (p *Process) destroyDevice(r *abi.Request) abi.Status {
	rec := abi.View[abi.DestroyDevice](r.Record)
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	d.destroy(vidsch.Destroyed)
	return abi.StatusSuccess
}

// destroy takes the device and all its children away: waits made through it end
// (DEVICE_REMOVED, events are set), then contexts, then fences, then allocations. The
// shared value of a fence is left alone (OQ-17).
func (d *device) destroy(why vidsch.Why) {
	for _, w := range inOrderOf(d.waits) {
		w.End(abi.StatusDeviceRemoved)
	}
	for w := range d.idlers {
		w.end(abi.StatusDeviceRemoved)
	}
	for _, c := range inOrderOf(d.contexts) {
		c.destroy(why)
	}
	d.destroyPaging(abi.StatusDeviceRemoved)
	for d.locals != nil {
		d.locals.destroy()
	}
	d.destroyAllocations()
	d.sched.Destroy(why)
	d.fate.clear()
	delete(d.process.devices, d)
	d.process.table.Remove(d.handle)
	d.process.leaveAdapter(d.adapter)
}
