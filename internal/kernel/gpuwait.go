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
	packet   syncobj.Packet // set up when it starts
	device   *device
	queue    *vidsch.Queue
	starting bool
	started  bool
	objects  []queuedObject
	one      [1]queuedObject // for objects
}

// Start implements vidsch.Gate.
func (w *gpuWait) Start() bool {
	if len(w.objects) == 1 {
		// The common case: a fence in memory that is there already.
		if f, ok := w.objects[0].object.(*fence); ok && f.Value() >= w.objects[0].value {
			return true
		}
	}
	var few [4]syncobj.Point
	points := few[:0]
	for _, o := range w.objects {
		pt := syncobj.Point{Object: o.object, Value: o.value}
		if p, ok := o.object.(*plain); ok {
			pt.Object = p.Object
		}
		points = append(points, pt)
	}
	w.packet.Init(w.device, w, points)
	w.starting, w.started = true, true
	w.packet.Start()
	w.starting = false
	return w.packet.State() == syncobj.Ready
}

// Withdraw implements vidsch.Gate.
func (w *gpuWait) Withdraw() {
	if w.started {
		w.packet.Withdraw()
	}
}

// Ready implements syncobj.PacketSink.
func (w *gpuWait) Ready(*syncobj.Packet) {
	if !w.starting {
		w.queue.Open()
	}
}

// submit does the last checks of a wait, and queues it: in each queue by itself.
func (w *gpuWait) submit(d *device, queues []*vidsch.Queue) abi.Status {
	if st := d.usable(); !st.OK() {
		return st
	}
	if st := permitted(w.objects); !st.OK() {
		return st
	}
	if st := near(w.objects, false); !st.OK() {
		return st
	}
	if !d.process.k.room(queues, 1, vidsch.Bytes(len(w.objects), 0)) {
		return abi.StatusNoMemory
	}
	for i, q := range queues {
		each := w
		if i > 0 {
			each = &gpuWait{objects: w.objects}
		}
		each.device, each.queue = d, q
		q.Wait(each, len(w.objects))
	}
	return abi.StatusSuccess
}

// waitOn judges and queues a wait of a context. Source: calls.md §6, §1.1; objects.md §8.
func (p *Process) waitOn(hContext abi.Handle, objects []abi.Handle, legacy, noValue bool, values []byte, single uint64) abi.Status {
	w := new(gpuWait)
	var few [1]*vidsch.Queue
	p.k.lock()
	defer p.k.unlock()
	d, queues, hardware, st := p.contextQueues(few[:0], []abi.Handle{hContext})
	if !st.OK() {
		return st
	}
	if w.objects, st = d.findQueued(w.one[:0], objects, false, legacy, hardware); !st.OK() {
		return st
	}
	if noValue && legacyFence(w.objects) {
		return abi.StatusInvalidParameter
	}
	if st := setValues(w.objects, values, single); !st.OK() {
		return st
	}
	return w.submit(d, queues)
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
	var few handful
	return p.waitOn(rec.HContext, few.read(r.Arrays[0], int(rec.ObjectCount)), false, false, r.Arrays[1], *rec.FenceValue())
}

// submitWaitForSyncObjectsToHwQueue holds everything that is submitted to the queue
// afterwards.
func (p *Process) submitWaitForSyncObjectsToHwQueue(r *abi.Request) abi.Status {
	rec := abi.View[abi.SubmitWaitForSyncObjectsToHwQueue](r.Record)
	if rec.ObjectCount == 0 || rec.ObjectCount > maxLegacyObjects || r.Arrays[0] == nil || r.Arrays[1] == nil {
		return abi.StatusInvalidParameter
	}
	w := new(gpuWait)
	var few handful
	p.k.lock()
	defer p.k.unlock()
	d, queues, st := p.hwQueues(nil, []abi.Handle{rec.HHwQueue})
	if !st.OK() {
		return st
	}
	if w.objects, st = d.findQueued(w.one[:0], few.read(r.Arrays[0], int(rec.ObjectCount)), false, false, true); !st.OK() {
		return st
	}
	if st := setValues(w.objects, r.Arrays[1], 0); !st.OK() {
		return st
	}
	return w.submit(d, queues)
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
