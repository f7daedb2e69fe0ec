package kernel

import (
	"bytes"
	"math/bits"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// A context is a stream of GPU work on one engine, or with HwQueueSupported the home of
// hardware queues.
type context struct {
	device   *device
	handle   abi.Handle
	engine   ddi.Engine
	flags    abi.CreateContextFlags
	hint     uint32
	sched    *vidsch.Context
	queues   map[*hwQueue]struct{}
	priority int32 // among all, -7 to 7
	ahead    int32 // of the others of its process: 0 or 1
	since    int64
}

// hardware reports whether its work goes through hardware queues.
func (c *context) hardware() bool { return c.flags&abi.ContextHwQueueSupported != 0 }

// createContextVirtual makes a context. Source: calls.md §3; OQ-22.
func (p *Process) createContextVirtual(r *abi.Request) abi.Status {
	rec := abi.View[abi.CreateContextVirtual](r.Record)
	if !abi.ContextFlagRules.Known(uint32(rec.Flags)) {
		return abi.StatusInvalidParameter
	}
	if rec.PrivateDriverDataSize != 0 && r.Arrays[0] == nil {
		return abi.StatusInvalidParameter
	}
	c := &context{flags: rec.Flags, hint: uint32(rec.ClientHint), queues: map[*hwQueue]struct{}{}}
	p.k.lock()
	st := p.placeContext(rec, c)
	p.k.unlock()
	if !st.OK() {
		return st
	}
	if st = p.makeContext(rec, c, r.Arrays[0]); !st.OK() {
		p.give(&c.device.adapter.contextsMade)
	}
	return st
}

// makeContext makes a context that was counted.
func (p *Process) makeContext(rec *abi.CreateContextVirtual, c *context, data []byte) abi.Status {
	// Before the lock is taken again, as the driver's answer decides.
	driver := c.device.adapter.driver
	kmd, st := driver.CreateContext(ddi.CreateContextArgs{
		Device: c.device.kmd, Engine: c.engine, Flags: rec.Flags, PrivateDriverData: bytes.Clone(data),
	})
	if !st.OK() {
		return st
	}
	p.k.lock()
	defer p.k.unlock()
	d := c.device
	if st := d.usable(); !st.OK() {
		p.k.fx.calls = append(p.k.fx.calls, func() { driver.DestroyContext(kmd) })
		return st
	}
	if c.handle = p.add(c); c.handle == 0 {
		p.k.fx.calls = append(p.k.fx.calls, func() { driver.DestroyContext(kmd) })
		return abi.StatusNoMemory
	}
	c.since = p.k.now()
	c.sched = d.sched.NewContext(c.engine, kmd, rec.Flags&abi.ContextDisableGpuTimeout != 0, c.hardware(), c)
	c.sched.Freed = func() { d.adapter.contextsMade.give(p.Info.UID) }
	d.contexts[c] = struct{}{}
	rec.HContext = c.handle
	return abi.StatusSuccess
}

// placeContext finds the device and the engine. With success a context is counted.
func (p *Process) placeContext(rec *abi.CreateContextVirtual, c *context) abi.Status {
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
	c.device = d
	c.engine = ddi.Engine{NodeOrdinal: rec.NodeOrdinal, EngineOrdinal: uint32(max(bits.Len32(rec.EngineAffinity), 1) - 1)}
	st := d.usable()
	if st.OK() && !p.take(&d.adapter.contextsMade) {
		return abi.StatusNoMemory
	}
	return st
}

func (p *Process) destroyContext(r *abi.Request) abi.Status {
	rec := abi.View[abi.DestroyContext](r.Record)
	p.k.lock()
	defer p.k.unlock()
	c, ok := object.Get[*context](&p.table, rec.HContext)
	if !ok {
		return abi.StatusInvalidParameter
	}
	c.destroy(vidsch.Destroyed)
	return abi.StatusSuccess
}

// destroy drops what is queued: signals do not happen, events of broadcasts count it as
// processed (calls.md §3 DestroyContext).
func (c *context) destroy(why vidsch.Why) {
	for _, q := range inOrderOf(c.queues) {
		q.destroy(why)
	}
	c.sched.Destroy(why)
	delete(c.device.contexts, c)
	c.device.process.table.Remove(c.handle)
}

// Scheduling priorities. Source: calls.md §2.
const (
	lowestPriority  = -7
	highestPriority = 7
)

// setPriority answers the two calls that set one: value must be from low to high.
func (p *Process) setPriority(h abi.Handle, value, low, high int32, field func(*context) *int32) abi.Status {
	if value < low || value > high {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	c, ok := object.Get[*context](&p.table, h)
	if !ok {
		return abi.StatusInvalidParameter
	}
	*field(c) = value
	if !c.hardware() {
		c.sched.Queue().Priority = 2*c.priority + c.ahead
	}
	return abi.StatusSuccess
}

func (p *Process) getPriority(h abi.Handle, out *int32, field func(*context) *int32) abi.Status {
	p.k.lock()
	defer p.k.unlock()
	c, ok := object.Get[*context](&p.table, h)
	if !ok {
		return abi.StatusInvalidParameter
	}
	*out = *field(c)
	return abi.StatusSuccess
}

func amongAll(c *context) *int32 { return &c.priority }

func inProcess(c *context) *int32 { return &c.ahead }

func (p *Process) setContextSchedulingPriority(r *abi.Request) abi.Status {
	rec := abi.View[abi.SetContextSchedulingPriority](r.Record)
	return p.setPriority(rec.HContext, rec.Priority, lowestPriority, highestPriority, amongAll)
}

func (p *Process) getContextSchedulingPriority(r *abi.Request) abi.Status {
	rec := abi.View[abi.GetContextSchedulingPriority](r.Record)
	return p.getPriority(rec.HContext, &rec.Priority, amongAll)
}

func (p *Process) setContextInProcessSchedulingPriority(r *abi.Request) abi.Status {
	rec := abi.View[abi.SetContextInProcessSchedulingPriority](r.Record)
	return p.setPriority(rec.HContext, rec.Priority, 0, 1, inProcess)
}

func (p *Process) getContextInProcessSchedulingPriority(r *abi.Request) abi.Status {
	rec := abi.View[abi.GetContextInProcessSchedulingPriority](r.Record)
	return p.getPriority(rec.HContext, &rec.Priority, inProcess)
}
