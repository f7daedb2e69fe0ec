package kernel

import (
	"math/bits"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
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
	since       int64
}

// A context is a stream of GPU work on one node. It runs nothing yet.
type context struct {
	device *device
	handle abi.Handle
	node   uint32
	engine uint32
	flags  abi.CreateContextFlags
	hint   uint32
}

func (p *Process) createDevice(r *abi.Request) abi.Status {
	rec := abi.View[abi.CreateDevice](r.Record)
	if !abi.DeviceFlagRules.Known(uint32(rec.Flags)) {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	a, ok := object.Get[*adapterHandle](&p.table, rec.HAdapter)
	if !ok {
		return abi.StatusInvalidParameter
	}
	d := &device{
		process: p, adapter: a.adapter, flags: rec.Flags, contexts: map[*context]struct{}{}, waits: map[*cpuWait]struct{}{}, since: p.k.now(),
		resources: map[*resourceLocal]struct{}{}, allocations: map[*allocationLocal]struct{}{},
	}
	if d.handle = p.add(d); d.handle == 0 {
		return abi.StatusNoMemory
	}
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
	d.destroy(abi.StatusDeviceRemoved)
	return abi.StatusSuccess
}

// destroy takes the device and all its children away: waits made through it end
// with st (events are set), then contexts, then fences, then allocations. The shared
// value of a fence is left alone (OQ-17).
func (d *device) destroy(st abi.Status) {
	for w := range d.waits {
		w.End(st)
	}
	for c := range d.contexts {
		c.destroy()
	}
	for d.locals != nil {
		d.locals.destroy()
	}
	for l := range d.resources {
		l.destroy()
	}
	for a := range d.allocations {
		a.destroy()
	}
	delete(d.process.devices, d)
	d.process.table.Remove(d.handle)
	d.process.leaveAdapter(d.adapter)
}

func (p *Process) getDeviceState(r *abi.Request) abi.Status {
	rec := abi.View[abi.GetDeviceState](r.Record)
	if rec.StateType < abi.DeviceStateExecution || rec.StateType > abi.DeviceStatePresentQueue {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	if _, ok := object.Get[*device](&p.table, rec.HDevice); !ok {
		return abi.StatusInvalidParameter
	}
	// Nothing can put a device in error yet: there is no fault to report, nothing
	// was reset, nothing is presented.
	clear(rec.State[:])
	if rec.StateType == abi.DeviceStateExecution {
		rec.State[0] = uint64(abi.DeviceExecutionActive)
	}
	return abi.StatusSuccess
}

func (p *Process) createContextVirtual(r *abi.Request) abi.Status {
	rec := abi.View[abi.CreateContextVirtual](r.Record)
	if !abi.ContextFlagRules.Known(uint32(rec.Flags)) {
		return abi.StatusInvalidParameter
	}
	if rec.PrivateDriverDataSize != 0 && r.Arrays[0] == nil {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	profile := d.adapter.Profile
	if !abi.ContextFlagRules.Allowed(uint32(rec.Flags), profile.WDDM) || int(rec.NodeOrdinal) >= len(profile.Nodes) {
		return abi.StatusInvalidParameter
	}
	// A mask of at most one engine; none means engine 0 (OQ-22).
	if bits.OnesCount32(rec.EngineAffinity) > 1 || bits.Len32(rec.EngineAffinity) > profile.Engines() {
		return abi.StatusInvalidParameter
	}
	c := &context{
		device: d, node: rec.NodeOrdinal, engine: uint32(max(bits.Len32(rec.EngineAffinity), 1) - 1),
		flags: rec.Flags, hint: uint32(rec.ClientHint),
	}
	if c.handle = p.add(c); c.handle == 0 {
		return abi.StatusNoMemory
	}
	d.contexts[c] = struct{}{}
	rec.HContext = c.handle
	return abi.StatusSuccess
}

func (p *Process) destroyContext(r *abi.Request) abi.Status {
	rec := abi.View[abi.DestroyContext](r.Record)
	p.k.lock()
	defer p.k.unlock()
	c, ok := object.Get[*context](&p.table, rec.HContext)
	if !ok {
		return abi.StatusInvalidParameter
	}
	c.destroy()
	return abi.StatusSuccess
}

func (c *context) destroy() {
	delete(c.device.contexts, c)
	c.device.process.table.Remove(c.handle)
}
