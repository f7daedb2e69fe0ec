package kernel

import (
	"encoding/binary"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/syncobj"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// maxLegacyObjects is D3DDDI_MAX_OBJECT_WAITED_ON and D3DDDI_MAX_OBJECT_SIGNALED, and
// the limit of the calls of hardware queues.
const maxLegacyObjects = 32

// maxBroadcast is D3DDDI_MAX_BROADCAST_CONTEXT (OQ-24).
const maxBroadcast = 64

// A queued object is a synchronization object as packets name it: what they need of it,
// and how the local object that they were given limits them.
type queuedObject struct {
	object  packetObject
	value   uint64
	may     bool // signal, or wait, whatever the packet does
	spared  bool // NoSignalMaxValueOnTdr of the local object
	ofOther bool // not of the device, or of another adapter
}

// packetObject is what a signal packet keeps.
type packetObject interface {
	syncobj.Object
	drop()
}

// find looks up what packets of a device may name. INVALID_PARAMETER: it is nothing of
// this kind.
func (d *device) find(h abi.Handle, signal bool) (queuedObject, abi.Status) {
	switch l := d.process.table.Get(h).(type) {
	case *local:
		if l.fence.intra() {
			return queuedObject{}, abi.StatusInvalidParameter // packets neither wait for it nor signal it
		}
		may := l.mayWait()
		if signal {
			may = l.maySignal()
		}
		return queuedObject{
			object: l.fence, may: may, ofOther: l.device != d,
			spared: l.flags&abi.SyncObjectNoSignalMaxValueOnTdr != 0,
		}, abi.StatusSuccess
	case *plainLocal:
		other := l.object.adapter != d.adapter && l.object.CreateFlags()&abi.SyncObjectCrossAdapter == 0
		return queuedObject{object: l.object, may: true, ofOther: other}, abi.StatusSuccess
	}
	return queuedObject{}, abi.StatusInvalidParameter
}

// findQueued looks up all handles of a call and checks that they may stand in one.
// legacy says that the call knows no fences in memory; hardware, that it knows nothing
// else. Source: objects.md §8; OQ-25.
// The result is appended to list.
func (d *device) findQueued(list []queuedObject, handles []abi.Handle, signal, legacy, hardware bool) ([]queuedObject, abi.Status) {
	var few [4]syncobj.Object // most calls name one
	objects := few[:0]
	for _, h := range handles {
		o, st := d.find(h, signal)
		if !st.OK() {
			return nil, st
		}
		list = append(list, o)
		if p, ok := o.object.(*plain); ok {
			objects = append(objects, p.Object)
		} else {
			objects = append(objects, o.object)
		}
	}
	st := abi.StatusSuccess
	if signal {
		st = syncobj.CheckSignal(objects)
	} else {
		st = syncobj.CheckWait(objects)
	}
	if !st.OK() {
		return nil, st
	}
	for i := range list {
		_, inMemory := list[i].object.(*fence)
		if list[i].ofOther || inMemory && legacy || !inMemory && hardware {
			return nil, abi.StatusInvalidParameter
		}
	}
	return list, abi.StatusSuccess
}

// permitted is ACCESS_DENIED if a local object does not allow what the packet does.
func permitted(list []queuedObject) abi.Status {
	if slices.ContainsFunc(list, func(o queuedObject) bool { return !o.may }) {
		return abi.StatusAccessDenied
	}
	return abi.StatusSuccess
}

// near is INVALID_PARAMETER if a value is too far from that of a fence with 32 bits of
// storage (OQ-13).
func near(list []queuedObject, signal bool) abi.Status {
	for _, o := range list {
		f, ok := o.object.(*fence)
		if !ok {
			continue
		}
		check := f.CheckTarget
		if signal {
			check = f.CheckDistance
		}
		if st := check(o.value); !st.OK() {
			return st
		}
	}
	return abi.StatusSuccess
}

// legacyFence reports whether what a call names is one fence of Windows 7, whose value
// does not come in an array.
func legacyFence(list []queuedObject) bool {
	return len(list) == 1 && list[0].object.Kind() == abi.Fence
}

// setValues gives objects their values: those of fences in memory from an array, which
// must be there for them. The value of a legacy fence is single.
func setValues(list []queuedObject, values []byte, single uint64) abi.Status {
	if legacyFence(list) {
		list[0].value = single
		return abi.StatusSuccess
	}
	if _, inMemory := list[0].object.(*fence); !inMemory {
		return abi.StatusSuccess
	}
	if values == nil {
		return abi.StatusInvalidParameter
	}
	for i := range list {
		list[i].value = binary.LittleEndian.Uint64(values[8*i:])
	}
	return abi.StatusSuccess
}

// A handful is room for the handles of most calls.
type handful [4]abi.Handle

// read reads n handles out of an array of a request.
func (h *handful) read(b []byte, n int) []abi.Handle {
	list := h[:0]
	for i := range n {
		list = append(list, abi.Handle(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return list
}

// areContexts reports whether all handles are of contexts.
func (p *Process) areContexts(handles []abi.Handle) bool {
	return !slices.ContainsFunc(handles, func(h abi.Handle) bool {
		_, ok := object.Get[*context](&p.table, h)
		return !ok
	})
}

// contextQueues looks up contexts of one device, each once, for waits and signals. One
// for hardware queues stands for all that it has, in the order of their making, which may
// be none (OQ-71); hardware says that there is such a one. Source: calls.md §5; OQ-24.
// The queues are appended to list.
func (p *Process) contextQueues(list []*vidsch.Queue, handles []abi.Handle) (d *device, queues []*vidsch.Queue, hardware bool, st abi.Status) {
	for i, h := range handles {
		c, ok := object.Get[*context](&p.table, h)
		if !ok || slices.Contains(handles[:i], h) {
			return nil, nil, false, abi.StatusInvalidParameter
		}
		if d == nil {
			d = c.device
		}
		if c.device != d {
			return nil, nil, false, abi.StatusInvalidParameter
		}
		if !c.hardware() {
			list = append(list, c.sched.Queue())
			continue
		}
		hardware = true
		for _, q := range inOrderOf(c.queues) {
			list = append(list, q.sched)
		}
	}
	return d, list, hardware, abi.StatusSuccess
}

// hwQueues is the same for hardware queues.
func (p *Process) hwQueues(list []*vidsch.Queue, handles []abi.Handle) (*device, []*vidsch.Queue, abi.Status) {
	var d *device
	for _, h := range handles {
		q, ok := object.Get[*hwQueue](&p.table, h)
		if !ok || q.userMode() {
			return nil, nil, abi.StatusInvalidParameter
		}
		if d == nil {
			d = q.context.device
		}
		if q.context.device != d || slices.Contains(list, q.sched) {
			return nil, nil, abi.StatusInvalidParameter
		}
		list = append(list, q.sched)
	}
	return d, list, abi.StatusSuccess
}

// room reports whether every queue of a device takes n more packets of so many bytes,
// and their user may have them.
func (k *Kernel) room(queues []*vidsch.Queue, n, bytes int) bool {
	if len(queues) == 0 {
		return true
	}
	if load := queues[0].Load(); *load+n*bytes*len(queues) > k.limits.Queued {
		return false
	}
	return !slices.ContainsFunc(queues, func(q *vidsch.Queue) bool { return !q.Room(n) })
}

// loadOf is where the bytes of a user's packets are counted.
func (k *Kernel) loadOf(uid uint32) *int {
	if k.loads[uid] == nil {
		k.loads[uid] = new(int)
	}
	return k.loads[uid]
}
