package kernel

import (
	"bytes"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// A doorbellOrder is what a doorbell is to be made of.
type doorbellOrder struct {
	queue         *hwQueue
	ring, control abi.Handle // control 0: none
	flags         abi.CreateDoorbellFlags
	data          []byte // private data, in and out
	byQueue       bool   // it goes by the queue's handle
}

// createDoorbell makes a queue's doorbell, not connected. Source: calls.md §8; OQ-41.
func (p *Process) createDoorbell(r *abi.Request) abi.Status {
	rec := abi.View[abi.CreateDoorbell](r.Record)
	if rec.Flags&^abi.DoorbellFlags != 0 || rec.PrivateDriverDataSize > abi.MaxDoorbellPrivateData || rec.PrivateDriverDataSize != 0 && r.Arrays[0] == nil {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	q, _ := object.Get[*hwQueue](&p.table, rec.HHwQueue)
	p.k.unlock()
	order := doorbellOrder{queue: q, ring: rec.HRingBuffer, control: rec.HRingBufferControl, flags: rec.Flags, data: bytes.Clone(r.Arrays[0])}
	b, files, st := p.makeDoorbell(order)
	if !st.OK() {
		return st
	}
	copy(r.Arrays[0], order.data)
	r.Out = append(r.Out, files...)
	rec.DoorbellCPUVirtualAddress, rec.DoorbellSecondaryCPUVirtualAddress, rec.DoorbellStatusCPUVirtualAddress = 0, 0, 0 // the client's library knows them
	rec.HwQueueProgressFenceLastQueuedValueCPUVirtualAddress = 0
	rec.HDoorbell = b.handle
	return abi.StatusSuccess
}

// makeDoorbell makes a doorbell, and descriptors of its pages. Memory and the driver's
// answer come without the lock.
func (p *Process) makeDoorbell(o doorbellOrder) (b *doorbell, files []abi.OutFile, st abi.Status) {
	k := p.k
	k.lock()
	b, st = p.orderDoorbell(o)
	k.unlock()
	if !st.OK() {
		return nil, nil, st
	}
	driver := b.adapter().driver
	if b.memory, st = k.host.NewDoorbell(p); st.OK() {
		files, st = b.memory.Files()
	}
	if st.OK() {
		b.words = b.memory.Words()
		b.words.Status.Store(uint64(abi.DoorbellDisconnectedRetry))
		args := ddi.CreateDoorbellArgs{HwQueue: b.queue.sched.Kmd, RingBuffer: b.rings[0], Flags: o.flags, PrivateDriverData: o.data}
		if len(b.rings) > 1 {
			args.RingBufferControl = b.rings[1]
		}
		b.kmd, st = driver.CreateDoorbell(args)
	}
	if st.OK() {
		k.lock()
		st = p.placeDoorbell(o, b)
		k.unlock()
	}
	if !st.OK() {
		b.free(driver)
		for _, f := range files {
			k.host.Close(f.FD)
		}
		return nil, nil, st
	}
	return b, files, st
}

// orderDoorbell checks what can be refused before anything is made, and holds the memory
// of the rings. The lock is held.
func (p *Process) orderDoorbell(o doorbellOrder) (*doorbell, abi.Status) {
	b := &doorbell{queue: o.queue, second: o.flags&abi.DoorbellRequireSecondaryCpuVA != 0}
	if o.queue == nil || !o.queue.alive() || !o.queue.userMode() {
		return nil, abi.StatusInvalidParameter
	}
	d := o.queue.context.device
	for _, h := range []abi.Handle{o.ring, o.control} {
		if h == 0 && len(b.rings) > 0 {
			break
		}
		l, st := p.ringOf(d, h)
		if !st.OK() {
			return nil, st
		}
		m := &ringMemory{l.allocation.heap, l.allocation.size}
		if m.size == 0 { // only the driver knows it: as far as was mapped
			m.size = l.allocation.bytes()
		}
		b.rings = append(b.rings, m)
	}
	if o.queue.bell != nil && o.flags&abi.DoorbellResizeRingBufferOperation == 0 {
		return nil, abi.StatusInvalidParameter
	}
	if b.second && !d.adapter.driver.UserModeSubmissionCaps().SecondaryDoorbellSupported {
		return nil, abi.StatusNotSupported
	}
	if st := d.usable(); !st.OK() {
		return nil, st
	}
	for _, m := range b.rings {
		m.Hold() // an allocation that has a handle is not gone
	}
	return b, abi.StatusSuccess
}

// ringOf finds an allocation that a GPU can fetch from: it is of the device, was mapped
// for the GPU, and is resident. The lock is held.
func (p *Process) ringOf(d *device, h abi.Handle) (*allocationLocal, abi.Status) {
	l, ok := object.Get[*allocationLocal](&p.table, h)
	if !ok || l.device != d || !l.mapped || !l.allocation.there {
		return nil, abi.StatusInvalidParameter
	}
	return l, abi.StatusSuccess
}

// placeDoorbell gives a doorbell that was made to its queue, in the place of one that is
// there. The lock is held.
func (p *Process) placeDoorbell(o doorbellOrder, b *doorbell) abi.Status {
	q := b.queue
	switch {
	case !q.alive() || q.bell != nil && o.flags&abi.DoorbellResizeRingBufferOperation == 0:
		return abi.StatusInvalidParameter // destroyed, or made by another thread, since it was looked up
	case !q.context.device.usable().OK():
		return abi.StatusDeviceRemoved
	}
	if !o.byQueue {
		if b.handle = p.add(b); b.handle == 0 {
			return abi.StatusNoMemory
		}
	}
	if q.bell != nil {
		q.bell.destroy()
	}
	q.bell = b
	b.adapter().bells[q.sched.Kmd] = b
	return abi.StatusSuccess
}

// alive reports whether the queue was not destroyed.
func (q *hwQueue) alive() bool {
	_, alive := q.context.queues[q]
	return alive
}

// submitsFromUserMode reports whether queues of an engine can have doorbells.
func (a *Adapter) submitsFromUserMode(e ddi.Engine) bool {
	return a.Profile.SubmitsFromUserMode() && a.native() && a.driver.Caps().Has(ddi.UserModeSubmission) &&
		a.Profile.Nodes[e.NodeOrdinal].Flags&adapter.UserModeSubmissionSupported != 0
}

// createHwQueueForUserModeSubmission makes a queue and its doorbell at once. The doorbell
// goes by the queue's handle. Source: native-fence.md §11; OQ-40.
func (p *Process) createHwQueueForUserModeSubmission(r *abi.Request) abi.Status {
	rec := abi.View[abi.CreateHwQueueForUserModeSubmission](r.Record)
	made := abi.CreateHwQueue{HHwContext: rec.HHwContext, Flags: rec.Flags | abi.HwQueueUserModeSubmission, PrivateDriverDataSize: uint32(len(rec.PrivateDriverData))}
	answer := abi.Request{Arrays: [][]byte{bytes.Clone(rec.PrivateDriverData[:])}}
	q, st := p.newHwQueue(&made, &answer)
	var files []abi.OutFile
	if st.OK() {
		_, files, st = p.makeDoorbell(doorbellOrder{queue: q, ring: rec.HRingBuffer, control: rec.HRingBufferControl, byQueue: true})
	}
	p.k.lock()
	defer p.k.unlock()
	if !st.OK() {
		if q != nil && q.alive() {
			q.destroy(vidsch.Destroyed)
		}
		for _, f := range answer.Out { // those of progress fences, which queues get early
			p.k.host.Close(f.FD)
		}
		return st
	}
	r.Grant, r.Out = answer.Grant, append(files, answer.Out...)
	rec.HHwQueue, rec.HProgressFence = made.HHwQueue, made.HHwQueueProgressFence
	rec.DoorbellStatusCpuVa, rec.ProgressFenceLastQueuedValueCpuVa = 0, 0 // the client's library knows them
	rec.ProgressFenceMapping = q.progress.mappedAt()
	rec.LogBufferInfo = q.logs.detail() // such queues have logs
	return abi.StatusSuccess
}
