package kernel

import "github.com/dxgsync/dxgsync/abi"

// How many events are kept: of a queue, and in all; three quarters of those of one user.
const (
	maxLogged    = 1024
	maxAllLogged = 256 << 10
)

// A logHistory is what the kernel has read in the logs of a queue: the last events.
type logHistory struct {
	list  []logged // a ring once it is full
	first int
	lost  uint64 // events that were written over before they were read
	wrong uint64 // what no GPU writes
}

// A logged event.
type logged struct {
	seq           uint64 // among all of the kernel
	value         uint64
	observed, end uint64 // GPU ticks
	object        uint64 // number of the fence, 0: the process has none with this handle
	handle        abi.Handle
	operation     abi.NativeFenceLogOperation
}

// add writes an event down. fence is of the queue's process, if it is known.
func (h *logHistory) add(a *Adapter, p *Process, e abi.NativeFenceLogEntry, fence *local, known bool) {
	a.kernel.logged++
	v := logged{
		seq: a.kernel.logged, value: e.FenceValue, observed: e.FenceObservedGpuTimestamp, end: e.FenceEndGpuTimestamp,
		handle: e.HNativeFence, operation: e.OperationType,
	}
	if known {
		v.object = fence.fence.serial
	}
	switch {
	case len(h.list) < maxLogged && a.eventsKept.take(p.Info.UID, maxAllLogged):
		if h.first > 0 { // it was a ring while there was no room for more
			h.list, h.first = h.since(0), 0
		}
		h.list = append(h.list, v)
	case len(h.list) > 0:
		h.list[h.first] = v
		h.first = (h.first + 1) % len(h.list)
	default:
		h.lost++
	}
}

// since are the events after one with a number, in order.
func (h *logHistory) since(seq uint64) []logged {
	var list []logged
	for i := range h.list {
		if v := h.list[(h.first+i)%len(h.list)]; v.seq > seq {
			list = append(list, v)
		}
	}
	return list
}

func (h *logHistory) forget(a *Adapter, uid uint32) {
	for range h.list {
		a.eventsKept.give(uid)
	}
	h.list, h.first = nil, 0
}
