package kernel

import (
	"encoding/binary"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/syncobj"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// A gpuWait is a wait packet: the gate of its queue.
type gpuWait struct {
	syncobj.Packet
	queue    *vidsch.Queue
	starting bool
	objects  []queuedObject // for listings
}

// Start implements vidsch.Gate.
func (w *gpuWait) Start() bool {
	if len(w.objects) == 1 {
		// The common case: a fence in memory that is there already.
		if f, ok := w.objects[0].object.(*fence); ok && f.Value() >= w.objects[0].value {
			return true
		}
	}
	w.starting = true
	w.Packet.Start()
	w.starting = false
	return w.State() == syncobj.Ready
}

// Ready implements syncobj.PacketSink.
func (w *gpuWait) Ready(*syncobj.Packet) {
	if !w.starting {
		w.queue.Open()
	}
}

// submitWait queues a wait.
func submitWait(d *device, q *vidsch.Queue, list []queuedObject) {
	w := &gpuWait{queue: q, objects: list}
	points := make([]syncobj.Point, len(list))
	for i, o := range list {
		points[i] = syncobj.Point{Object: o.object, Value: o.value}
		if p, ok := o.object.(*plain); ok {
			points[i].Object = p.Object
		}
	}
	w.Init(d, w, points)
	q.Wait(w)
}

// judgeWait does the last checks of a wait, and queues it.
func judgeWait(d *device, q *vidsch.Queue, list []queuedObject) abi.Status {
	if st := d.usable(); !st.OK() {
		return st
	}
	if st := permitted(list); !st.OK() {
		return st
	}
	if st := near(list, false); !st.OK() {
		return st
	}
	if !q.Room(1) {
		return abi.StatusNoMemory
	}
	submitWait(d, q, list)
	return abi.StatusSuccess
}

// waitOn judges and queues a wait of a context. Source: calls.md §6, §1.1; objects.md §8.
func (p *Process) waitOn(hContext abi.Handle, objects []abi.Handle, legacy, noValue bool, values []byte, single uint64) abi.Status {
	p.k.lock()
	defer p.k.unlock()
	d, queues, st := p.contextQueues([]abi.Handle{hContext})
	if !st.OK() {
		return st
	}
	list, st := d.findQueued(objects, false, legacy, false)
	if !st.OK() {
		return st
	}
	if noValue && legacyFence(list) {
		return abi.StatusInvalidParameter
	}
	if st := setValues(list, values, single); !st.OK() {
		return st
	}
	return judgeWait(d, queues[0], list)
}

// waitForSynchronizationObject is the first version: it has no values.
func (p *Process) waitForSynchronizationObject(r *abi.Request) abi.Status {
	rec := abi.View[abi.WaitForSynchronizationObject](r.Record)
	if rec.ObjectCount == 0 || rec.ObjectCount > maxLegacyObjects {
		return abi.StatusInvalidParameter
	}
	return p.waitOn(rec.HContext, slices.Clone(rec.ObjectHandleArray[:rec.ObjectCount]), true, true, nil, 0)
}

func (p *Process) waitForSynchronizationObject2(r *abi.Request) abi.Status {
	rec := abi.View[abi.WaitForSynchronizationObject2](r.Record)
	if rec.ObjectCount == 0 || rec.ObjectCount > maxLegacyObjects {
		return abi.StatusInvalidParameter
	}
	return p.waitOn(rec.HContext, slices.Clone(rec.ObjectHandleArray[:rec.ObjectCount]), true, false, nil, rec.Fence().FenceValue)
}

// waitForSynchronizationObjectFromGpu: the value of a fence of Windows 7 stands where
// the address of the array would.
func (p *Process) waitForSynchronizationObjectFromGpu(r *abi.Request) abi.Status {
	rec := abi.View[abi.WaitForSynchronizationObjectFromGpu](r.Record)
	if rec.ObjectCount == 0 || rec.ObjectCount > MaxWaitObjects || r.Arrays[0] == nil {
		return abi.StatusInvalidParameter
	}
	return p.waitOn(rec.HContext, inOrder(r.Arrays[0], int(rec.ObjectCount)), false, false, r.Arrays[1], *rec.FenceValue())
}

// submitWaitForSyncObjectsToHwQueue holds everything that is submitted to the queue
// afterwards.
func (p *Process) submitWaitForSyncObjectsToHwQueue(r *abi.Request) abi.Status {
	rec := abi.View[abi.SubmitWaitForSyncObjectsToHwQueue](r.Record)
	if rec.ObjectCount == 0 || rec.ObjectCount > maxLegacyObjects || r.Arrays[0] == nil || r.Arrays[1] == nil {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	d, queues, st := p.hwQueues([]abi.Handle{rec.HHwQueue})
	if !st.OK() {
		return st
	}
	list, st := d.findQueued(inOrder(r.Arrays[0], int(rec.ObjectCount)), false, false, true)
	if !st.OK() {
		return st
	}
	if st := setValues(list, r.Arrays[1], 0); !st.OK() {
		return st
	}
	return judgeWait(d, queues[0], list)
}

// kindOf is the kind of the object that a handle names; 0 for none.
func (p *Process) kindOf(h abi.Handle) abi.SyncObjectType {
	p.k.lock()
	defer p.k.unlock()
	if l, ok := object.Get[*plainLocal](&p.table, h); ok {
		return l.object.Kind()
	}
	return 0
}

func firstValue(values []byte) uint64 { return binary.LittleEndian.Uint64(values) }
