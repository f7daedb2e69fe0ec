package kernel

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// A doorbell is how a program submits to a hardware queue by itself. docs/doorbells.md
// has the protocol; source: calls.md §8, native-fence.md §12; OQ-39, OQ-41.
//
//	create ──▶ RETRY ◀─────────── the driver takes it away, F1, D3 ──────────┐
//	             │                                                           │
//	             └─ connect ──▶ CONNECTED, CONNECTED_NOTIFY_KMD ─────────────┘
//	ABORT, from everywhere and for good: the device is lost, or the doorbell destroyed
type doorbell struct {
	queue  *hwQueue
	handle abi.Handle // 0: it goes by its queue's
	kmd    ddi.KmdDoorbell
	memory DoorbellMemory
	words  DoorbellWords
	second bool // there is a secondary one
	rings  []*ringMemory

	connected bool // or the driver is being asked
	dead      bool // ABORT
	gone      bool // destroyed
}

// DoorbellWords are the words of a doorbell. The program writes all but Status, which only
// the kernel writes.
type DoorbellWords struct {
	Bell, Secondary, LastQueued, Status *atomic.Uint64
}

// ringMemory is the memory of an allocation, for as long as a doorbell needs it.
type ringMemory struct {
	*heap
	size uint64
}

// Size implements ddi.RingMemory.
func (m *ringMemory) Size() uint64 { return m.size }

var _ ddi.RingMemory = (*ringMemory)(nil)

func (b *doorbell) adapter() *Adapter { return b.queue.context.device.adapter }

// disconnect takes the physical doorbell away. asked: the driver did it itself. The lock
// is held.
func (b *doorbell) disconnect(reason abi.DoorbellStatus, asked bool) {
	if b.dead {
		return
	}
	b.dead = reason == abi.DoorbellDisconnectedAbort
	if b.connected || b.dead {
		b.words.Status.Store(uint64(reason))
	}
	if !b.connected {
		return
	}
	b.connected = false
	b.queue.sched.Watch(false)
	if kmd := b.kmd; !asked {
		b.adapter().sched.Call(func(d ddi.Driver) { d.DisconnectDoorbell(kmd) })
	}
}

// connect has the driver give it a physical doorbell. The lock is held, and the answer is
// there when it has been dropped: the call is made in the turn of all others. What takes
// the doorbell away meanwhile is asked after it, and keeps its status.
func (b *doorbell) connect(answer *abi.Status) {
	a := b.adapter()
	b.connected = true
	b.queue.sched.Watch(true)
	args := ddi.ConnectDoorbellArgs{Doorbell: b.kmd, Primary: b.words.Bell}
	if b.second {
		args.Secondary = b.words.Secondary
	}
	ask := func(d ddi.Driver) {
		status, st := d.ConnectDoorbell(args)
		a.kernel.lock()
		defer a.kernel.unlockInside()
		switch {
		case b.gone: // meanwhile
			st = abi.StatusInvalidParameter
		case b.dead:
			st = abi.StatusDeviceRemoved
		case !st.OK():
			st = abi.StatusDeviceRemoved
			b.disconnect(abi.DoorbellDisconnectedAbort, true)
		case b.connected:
			b.words.Status.Store(uint64(status))
		}
		*answer = st
	}
	if a.sched.Asleep() {
		a.sched.Wake(ask)
	} else {
		a.sched.Call(ask)
	}
}

// destroy takes the doorbell away. The memory of its rings and words is given back when
// the driver has heard of it. The lock is held.
func (b *doorbell) destroy() {
	b.disconnect(abi.DoorbellDisconnectedAbort, false)
	q, a := b.queue, b.adapter()
	q.bell, b.gone = nil, true
	delete(a.bells, q.sched.Kmd)
	if b.handle != 0 {
		q.context.device.process.table.Remove(b.handle)
	}
	a.sched.Call(func(d ddi.Driver) { b.free(d) })
	for w := range q.context.device.idlers { // what it promised nobody waits for
		w.look()
	}
}

// free ends what nobody can see any more. Without the lock.
func (b *doorbell) free(d ddi.Driver) {
	if b.kmd != 0 {
		d.DestroyDoorbell(b.kmd)
	}
	if b.memory != nil {
		b.memory.Free()
	}
	for _, m := range b.rings {
		m.Drop()
	}
}

// DisconnectDoorbell takes a doorbell away that its driver needs for another. The program
// sees it when this returns. INVALID_PARAMETER: the queue has none, or it is no reason.
func (c callbacks) DisconnectDoorbell(queue ddi.KmdHwQueue, reason ddi.DisconnectReason) abi.Status {
	if reason != abi.DoorbellDisconnectedRetry && reason != abi.DoorbellDisconnectedAbort {
		return abi.StatusInvalidParameter
	}
	c.kernel.lock()
	defer c.kernel.unlockInside()
	b := c.bells[queue]
	if b == nil {
		return abi.StatusInvalidParameter
	}
	b.disconnect(reason, true)
	return abi.StatusSuccess
}

// disconnectAll takes all doorbells away for which which is true, in the order of their
// queues' making. They can be connected again.
func (a *Adapter) disconnectAll(which func(*doorbell) bool) {
	var all []*doorbell
	for _, b := range a.bells {
		if which(b) {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(x, y *doorbell) int { return cmp.Compare(x.kmd, y.kmd) })
	for _, b := range all {
		b.disconnect(abi.DoorbellDisconnectedRetry, false)
	}
}

// engineState follows an engine's state.
func (a *Adapter) engineState(i ddi.GpuEngineStateChange) {
	switch i.NewState {
	case ddi.EngineTransitionToF1:
		a.disconnectAll(func(b *doorbell) bool { return b.queue.context.engine == i.Engine })
	case ddi.EngineHung:
		a.sched.EngineTimeout(ddi.GpuEngineTimeout{Engine: i.Engine})
	}
}

// abortDoorbells says of all doorbells of the device that it is lost.
func (d *device) abortDoorbells() {
	for _, c := range inOrderOf(d.contexts) {
		for _, q := range inOrderOf(c.queues) {
			if q.bell != nil {
				q.bell.disconnect(abi.DoorbellDisconnectedAbort, false)
			}
		}
	}
}

// lastQueued is the progress that the queue's program says its last buffer will make. The
// lock is held.
func (q *hwQueue) lastQueued() uint64 {
	if q.bell == nil {
		return 0
	}
	return q.bell.words.LastQueued.Load()
}

// power switches the adapter. In D3 nothing runs, and what is submitted waits.
// Source: native-fence.md §12.
func (a *Adapter) power(state abi.PowerState) {
	if state == abi.PowerD0 {
		a.sched.Wake()
		return
	}
	a.sched.Sleep()
	a.disconnectAll(func(*doorbell) bool { return true })
}
