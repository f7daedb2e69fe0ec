package kernel

import (
	"cmp"
	"maps"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// firstPagingValue is what the fence of a new paging queue shows (OQ-53), unless the
// configuration says otherwise.
const firstPagingValue = 7000

// maxPaging is how many operations on memory may be queued in one process.
const maxPaging = 65536

// A pagingQueue is an ordered stream of operations on memory. Each has a value of the
// queue's fence, which reaches it when the operation is done.
// Source: calls.md §3, gpu.md §9; OQ-16, OQ-50, OQ-53.
type pagingQueue struct {
	device   *device
	handle   abi.Handle
	fence    *local
	priority abi.PagingQueuePriority
	engine   uint32 // the member of a link whose page tables it changes
	last     uint64 // value of the last operation
	pending  int    // operations
	closing  *pagingDrain
	since    int64
}

// A pagingOp is an operation that happens later: with its queue's next turn.
type pagingOp struct {
	process  *Process
	queue    *pagingQueue // nil: none
	update   *update      // nil: none
	priority abi.PagingQueuePriority
	value    uint64 // of the queue's fence
	space    *vidmm.Space
	va, size uint64 // it concerns these addresses; 0, 0: none
	void     bool   // they were freed meanwhile
	do       func()
}

// enqueue has an operation of a queue done in its turn, and returns the value of the
// queue's fence that says so.
func (q *pagingQueue) enqueue(op *pagingOp) uint64 {
	q.last++
	q.pending++
	op.queue, op.priority, op.value = q, q.priority, q.last
	q.device.adapter.enqueue(op)
	return q.last
}

// enqueue has an operation done when the kernel is next driven.
func (a *Adapter) enqueue(op *pagingOp) {
	k := a.kernel
	a.paging = append(a.paging, op)
	op.process.paging++
	if a.pager.seat == 0 {
		k.set(&a.pager, moment{at: k.now(), set: true}, a.page)
	}
}

// page does all that is queued: queues of higher priority first, else in the order in
// which it came.
func (a *Adapter) page() {
	all := a.paging
	a.paging = nil
	slices.SortStableFunc(all, func(x, y *pagingOp) int { return cmp.Compare(y.priority, x.priority) })
	for _, op := range all {
		op.process.paging--
		op.do()
		if q := op.queue; q != nil {
			q.fence.fence.Signal(op.value, false, &a.kernel.fx.wakes)
			if q.pending--; q.pending == 0 && q.closing != nil {
				q.destroy(abi.StatusSuccess)
			}
		}
	}
}

// forgetPaging takes operations back that have not been done yet.
func (a *Adapter) forgetPaging(which func(*pagingOp) bool) {
	a.paging = slices.DeleteFunc(a.paging, func(op *pagingOp) bool {
		if !which(op) {
			return false
		}
		op.process.paging--
		if op.space != nil {
			op.space.Expected(1)
		}
		return true
	})
	if len(a.paging) == 0 {
		a.pager.clear()
	}
}

func (p *Process) createPagingQueue(r *abi.Request) abi.Status {
	rec := abi.View[abi.CreatePagingQueue](r.Record)
	if rec.Priority < abi.PagingQueueBelowNormal || rec.Priority > abi.PagingQueueAboveNormal {
		return abi.StatusInvalidParameter
	}
	k := p.k
	k.lock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	lost := abi.StatusSuccess
	if ok {
		lost = d.usable()
	}
	k.unlock()
	if !ok || uint64(rec.PhysicalAdapterIndex) >= uint64(d.adapter.Profile.Engines()) {
		return abi.StatusInvalidParameter
	}
	if !lost.OK() {
		return lost
	}
	// A page of its own: the queue goes with its fence whether anybody sleeps there or not.
	first := k.firstPaging
	m, st := k.host.SharedMemory(p, first)
	if !st.OK() {
		return st
	}
	k.lock()
	defer k.unlock()
	if st := d.usable(); !st.OK() { // destroyed or lost since it was looked up
		k.fx.wakes.Free(m)
		return st
	}
	q := &pagingQueue{device: d, priority: rec.Priority, engine: rec.PhysicalAdapterIndex, last: first, since: k.now()}
	if q.handle = p.add(q); q.handle == 0 {
		k.fx.wakes.Free(m)
		return abi.StatusNoMemory
	}
	l, st := p.place(new(FenceRoom), d, 0, m)
	if !st.OK() {
		p.table.Remove(q.handle)
		k.fx.wakes.Free(m)
		return st
	}
	l.owned, l.rights = true, abi.GrantWait
	if st := l.grant(r, m); !st.OK() {
		p.table.Remove(q.handle)
		return st
	}
	q.fence = l
	if d.paging == nil {
		d.paging = map[*pagingQueue]struct{}{}
	}
	d.paging[q] = struct{}{}
	rec.HPagingQueue, rec.HSyncObject = q.handle, l.handle
	rec.FenceValueCPUVirtualAddress = 0 // the client's library knows it
	return abi.StatusSuccess
}

// destroyPagingQueue waits until everything queued is done, and then destroys the queue
// with its fence. PENDING: the answer comes on the caller's ticket. Meanwhile the
// handle is none any more.
func (p *Process) destroyPagingQueue(r *abi.Request) abi.Status {
	rec := abi.View[abi.DestroyPagingQueue](r.Record)
	p.k.lock()
	defer p.k.unlock()
	q, ok := object.Get[*pagingQueue](&p.table, rec.HPagingQueue)
	if !ok {
		return abi.StatusInvalidParameter
	}
	if q.pending == 0 {
		q.destroy(abi.StatusSuccess)
		return abi.StatusSuccess
	}
	if !p.ownsBell(r.Bell) || !p.ownsBell(r.Ticket) || p.tickets[r.Ticket] != nil {
		return abi.StatusInvalidParameter // nothing of its own to block on
	}
	q.closing = &pagingDrain{process: p, bells: p.bells, ticket: r.Ticket, bell: r.Bell, since: p.k.now()}
	p.tickets[r.Ticket] = q.closing
	p.table.Remove(q.handle)
	return abi.StatusPending
}

// destroy takes the queue and its fence away. What is still queued is not done; who
// waits for the queue's end is told st.
func (q *pagingQueue) destroy(st abi.Status) {
	d := q.device
	if q.pending > 0 {
		d.adapter.forgetPaging(func(op *pagingOp) bool { return op.queue == q })
	}
	delete(d.paging, q)
	if q.closing == nil {
		d.process.table.Remove(q.handle)
	} else {
		q.closing.end(st)
	}
	q.fence.destroy()
}

// A pagingDrain is a caller who waits on a line of the bell table for the end of a
// queue.
type pagingDrain struct {
	process      *Process
	bells        *page.Bells
	ticket, bell uint32
	since        int64
	cancelled    bool
}

// row lists the wait. It is for no fence.
func (w *pagingDrain) row(q *pagingQueue, now int64) WaitRow {
	return WaitRow{
		PID: w.process.Info.PID, Process: w.process.id, Device: q.device.handle, Mode: "drain", Kind: "blocked",
		Age: now - w.since, Points: []PointRow{},
	}
}

func (w *pagingDrain) end(st abi.Status) {
	if w.cancelled {
		return
	}
	w.cancel()
	w.bells.Answer(w.ticket, uint32(st))
	fx := &w.process.k.fx
	fx.rings = append(fx.rings, ring{w.bells, w.bell})
}

// cancel lets the queue end without telling anybody.
func (w *pagingDrain) cancel() {
	w.cancelled = true
	if w.process.tickets[w.ticket] == ticketHolder(w) {
		delete(w.process.tickets, w.ticket)
	}
}

// pagingQueueOf finds a queue. The lock is held.
func (p *Process) pagingQueueOf(h abi.Handle) (*pagingQueue, abi.Status) {
	q, ok := object.Get[*pagingQueue](&p.table, h)
	if !ok {
		return nil, abi.StatusInvalidParameter
	}
	return q, abi.StatusSuccess
}

// destroyPaging ends all operations on memory that go with a device: its queues, and
// updates that its contexts brought.
func (d *device) destroyPaging(st abi.Status) {
	for q := range d.paging {
		q.destroy(st)
	}
	for u := range d.updates {
		u.drop()
	}
}

// destroyAllocations drops all views of resources and allocations. One look through the
// page tables does for all of them.
func (d *device) destroyAllocations() {
	if s := d.process.spaces[d.adapter]; s != nil && len(d.allocations) > 0 {
		s.Forget(func(owner any) bool { return owner.(*allocationLocal).device == d })
	}
	for a := range d.allocations {
		a.mapped = false
	}
	for l := range d.resources {
		l.destroy(true)
	}
	d.leaveMemory(slices.Collect(maps.Keys(d.allocations)), true)
	for a := range d.allocations {
		a.destroy()
	}
}
