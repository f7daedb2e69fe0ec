package kernel

import (
	"bytes"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// A hwQueue is a hardware queue with its progress fence.
type hwQueue struct {
	context   *context
	handle    abi.Handle
	flags     abi.CreateHwQueueFlags
	progress  *local
	sched     *vidsch.Queue
	submitted uint64     // the last progress id
	bell      *doorbell  // nil: none
	logs      *fenceLogs // nil: the kernel fills it
	since     int64
}

// userMode reports whether work is submitted by ringing a doorbell, and not by calls.
func (q *hwQueue) userMode() bool { return q.flags&abi.HwQueueUserModeSubmission != 0 }

// hwQueueFlags are the flags that a caller may set.
const hwQueueFlags = abi.HwQueueDisableGpuTimeout | abi.HwQueueNoBroadcastSignal | abi.HwQueueNoBroadcastWait | abi.HwQueueNoKmdAccess |
	abi.HwQueueUserModeSubmission

// createHwQueue makes a hardware queue and its progress fence, which is read-only for
// the process, cannot be signalled or destroyed by calls, and starts at 0.
// Source: calls.md §3; OQ-16, OQ-40.
func (p *Process) createHwQueue(r *abi.Request) abi.Status {
	_, st := p.newHwQueue(abi.View[abi.CreateHwQueue](r.Record), r)
	return st
}

// newHwQueue does so. Of r only the array, the descriptors and the grant are used.
func (p *Process) newHwQueue(rec *abi.CreateHwQueue, r *abi.Request) (*hwQueue, abi.Status) {
	if rec.Flags&^hwQueueFlags != 0 || rec.PrivateDriverDataSize != 0 && r.Arrays[0] == nil {
		return nil, abi.StatusInvalidParameter
	}
	k := p.k
	k.lock()
	c, st := p.hwContext(rec)
	k.unlock()
	if !st.OK() {
		return nil, st
	}
	q, st := p.makeHwQueue(rec, r, c)
	if !st.OK() {
		p.give(&c.device.adapter.queuesMade)
	}
	return q, st
}

// makeHwQueue makes a hardware queue that was counted.
func (p *Process) makeHwQueue(rec *abi.CreateHwQueue, r *abi.Request, c *context) (*hwQueue, abi.Status) {
	k := p.k
	// Memory and the driver's answer come before the lock is taken again.
	m, st := k.host.PrivateMemory(p, 0)
	if !st.OK() {
		return nil, st
	}
	q, st := p.placeHwQueue(rec, c, m)
	if !st.OK() {
		return nil, st
	}
	driver := c.device.adapter.driver
	kmd, st := driver.CreateHwQueue(ddi.CreateHwQueueArgs{
		Context: c.sched.Kmd, Flags: q.flags, PrivateDriverData: bytes.Clone(r.Arrays[0]), ProgressFenceGpuVirtualAddress: q.progress.gpu,
		NativeProgressFence: q.progress.driverFence(),
	})
	k.lock()
	defer k.unlock()
	unmake := func() { k.fx.calls = append(k.fx.calls, func() { driver.DestroyHwQueue(kmd) }) }
	_, alive := c.device.contexts[c]
	switch {
	case !st.OK():
		q.progress.destroy()
		return nil, st
	case !alive || c.device.state != abi.DeviceExecutionActive:
		st = abi.StatusInvalidParameter
		if alive {
			st = abi.StatusDeviceRemoved
		}
	default:
		if q.handle = p.add(q); q.handle == 0 {
			st = abi.StatusNoMemory
		}
	}
	if !st.OK() {
		unmake()
		if alive || q.progress.device.process.table.Get(q.progress.handle) == any(q.progress) {
			q.progress.destroy()
		}
		return nil, st
	}
	if st := q.progress.grant(r, m); !st.OK() {
		p.table.Remove(q.handle)
		unmake()
		return nil, st
	}
	if q.userMode() {
		if st := newFenceLogs(q, kmd); !st.OK() {
			p.table.Remove(q.handle)
			unmake()
			q.progress.destroy()
			return nil, st
		}
	}
	q.schedule(kmd)
	q.since = k.now()
	c.queues[q] = struct{}{}
	rec.HHwQueue, rec.HHwQueueProgressFence, rec.Flags = q.handle, q.progress.handle, q.flags
	rec.HwQueueProgressFenceCPUVirtualAddress = 0 // the client's library knows it
	rec.HwQueueProgressFenceGPUVirtualAddress = q.progress.gpu
	return q, abi.StatusSuccess
}

// schedule gives the queue to the scheduler. The lock is held.
func (q *hwQueue) schedule(kmd ddi.KmdHwQueue) {
	c, f := q.context, q.progress.fence
	f.Ref() // the scheduler reads it until nothing of the queue is at the GPU
	node := c.device.adapter.Profile.Nodes[c.engine.NodeOrdinal]
	exempt := q.flags&abi.HwQueueDisableGpuTimeout != 0
	freed := func() {
		f.drop()
		q.endFenceLogs()
		c.device.adapter.queuesMade.give(c.device.process.Info.UID)
	}
	if q.userMode() {
		q.sched = c.sched.NewUserQueue(vidsch.Queue{Owner: q, Kmd: kmd, Exempt: exempt, Reached: f.Value, Freed: freed}, q.lastQueued)
	} else {
		q.sched = c.sched.NewHwQueue(kmd, exempt, int(node.MaxInFlightHwQueueBuffers), f.Value, freed, q)
	}
}

// hwContext finds the context for a hardware queue. With success a queue is counted.
func (p *Process) hwContext(rec *abi.CreateHwQueue) (*context, abi.Status) {
	c, ok := object.Get[*context](&p.table, rec.HHwContext)
	if !ok || !c.hardware() || !abi.HwQueueFlagRules.Allowed(uint32(rec.Flags), c.device.adapter.Profile.WDDM) {
		return nil, abi.StatusInvalidParameter
	}
	a := c.device.adapter
	if !a.driver.Caps().Has(ddi.HwScheduling) || rec.Flags&abi.HwQueueUserModeSubmission != 0 && !a.submitsFromUserMode(c.engine) {
		return nil, abi.StatusNotSupported // OQ-40
	}
	st := c.device.usable()
	if st.OK() && !p.take(&a.queuesMade) {
		return nil, abi.StatusNoMemory
	}
	return c, st
}

// placeHwQueue makes the progress fence, a native one where there are some: the GPU writes
// it, and the process may only wait for it.
func (p *Process) placeHwQueue(rec *abi.CreateHwQueue, c *context, m Memory) (*hwQueue, abi.Status) {
	k, d := p.k, c.device
	k.lock()
	defer k.unlock()
	st := abi.StatusInvalidParameter // destroyed since it was looked up
	q := &hwQueue{context: c, flags: rec.Flags}
	native := d.adapter.native()
	if _, alive := d.contexts[c]; alive {
		if native {
			q.progress, st = p.placeWide(new(FenceRoom), d, 0, m)
		} else {
			q.progress, st = p.place(new(FenceRoom), d, 0, m)
		}
	}
	if !st.OK() {
		k.fx.wakes.Free(m)
		return nil, st
	}
	q.progress.owned = true
	if native {
		q.flags |= abi.HwQueueNativeProgressFence
		q.progress.fence.makeNative(abi.NativeFenceDefault, true)
		k.unlock()
		q.progress, st = q.progress.tellDriver(0)
		k.lock()
		if !st.OK() {
			return nil, st
		}
	} else {
		q.progress.mapFence(0)
	}
	q.progress.rights &^= abi.GrantSignal
	return q, st
}

func (p *Process) destroyHwQueue(r *abi.Request) abi.Status {
	rec := abi.View[abi.DestroyHwQueue](r.Record)
	p.k.lock()
	defer p.k.unlock()
	q, ok := object.Get[*hwQueue](&p.table, rec.HHwQueue)
	if !ok {
		return abi.StatusInvalidParameter
	}
	q.destroy(vidsch.Destroyed)
	return abi.StatusSuccess
}

// destroy drops what is queued. CPU waits for the progress fence end satisfied (OQ-50).
func (q *hwQueue) destroy(why vidsch.Why) {
	c := q.context
	if q.bell != nil {
		q.bell.destroy()
	}
	q.sched.Destroy(why)
	q.progress.destroy()
	delete(c.queues, q)
	c.device.process.table.Remove(q.handle)
}
