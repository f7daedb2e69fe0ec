package softgpu

import (
	"math"

	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
)

// The queues that programs submit to. Of each, one packet at most is on its engine: the
// next entry is read when it has ended, so that a ring of any length costs nothing and
// queues take turns.

// read is the number that was rung.
func (b *doorbell) read() uint64 {
	n := b.primary.Load()
	if b.secondary != nil {
		n = max(n, b.secondary.Load())
	}
	return n
}

// look sees whether a doorbell was rung, and has its queue go on at a moment. The caller
// holds calling and mu, which may be dropped meanwhile.
func (g *GPU) look(b *doorbell, now int64) {
	n := b.read()
	if n == b.rung || b.queue.context.faulted {
		return
	}
	e := b.engine()
	b.latest, g.rang, e.rang, e.resting = now, now, now, false
	if n < b.rung || n-b.fetched > b.entries {
		g.spoil(b.queue)
		return
	}
	b.rung = n
	g.feed(b.queue, now)
}

// feed gives the engine the next entry of a queue, if it has none of it. The caller
// holds calling and mu, which is dropped meanwhile.
func (g *GPU) feed(q *hwQueue, now int64) {
	if q.fed || q.context.faulted {
		return
	}
	entry, ok := cmdbuf.RingEntry{}, true
	switch b := q.ringing(); {
	case len(q.left) > 0:
		entry = q.left[0]
		if q.left = q.left[1:]; len(q.left) == 0 {
			q.left = nil
		}
	case b != nil:
		entry, ok = g.entry(b)
	default:
		return
	}
	if !ok || entry.Length > math.MaxUint32 {
		g.spoil(q)
		return
	}
	q.fed = true
	q.entries++
	p := &packet{context: q.context, queue: q, id: q.entries, va: entry.VA, size: uint32(entry.Length), ready: now}
	if q.context.suspended {
		q.context.parked = append(q.context.parked, p)
	} else {
		q.context.engine.push(p)
	}
}

// follow goes on after a packet of a queue.
func (g *GPU) follow(e *engine, q *hwQueue) {
	q.fed = false
	g.feed(q, e.time)
}

// ringing is the first doorbell whose entries are not all read; nil: there is none.
func (q *hwQueue) ringing() *doorbell {
	for _, b := range q.bells {
		if b.fetched < b.rung {
			return b
		}
	}
	return nil
}

// entry reads the next entry of a ring buffer; false: it cannot be had. mu is dropped
// meanwhile.
func (g *GPU) entry(b *doorbell) (cmdbuf.RingEntry, bool) {
	at := b.fetched % b.entries * cmdbuf.RingEntrySize
	b.fetched++
	fetched := b.fetched
	g.mu.Unlock()
	defer g.mu.Lock()
	var raw [cmdbuf.RingEntrySize]byte
	if b.ring.Read(at, raw[:]) != len(raw) {
		return cmdbuf.RingEntry{}, false
	}
	if b.control != nil {
		b.control.Store(0, 8, fetched) // a control that is gone harms its program alone
	}
	return cmdbuf.ParseRingEntry(raw[:]), true
}

// spoil ends a queue: what is in its ring or doorbell cannot be. Nothing else of the
// context happens any more. The next call of Advance reports it.
func (g *GPU) spoil(q *hwQueue) {
	q.context.faulted = true
	g.spoilt = append(g.spoilt, q)
}

// reportSpoilt does so. The caller holds calling and mu, which is dropped meanwhile.
func (g *GPU) reportSpoilt() {
	for len(g.spoilt) > 0 {
		q := g.spoilt[0]
		g.spoilt = g.spoilt[1:]
		name := q.context.engine.name
		g.notify(ddi.HwQueuePageFaulted{Engine: name, HwQueue: q.handle, Faulted: true, Fault: ddi.Fault{Flags: ddi.FaultFenceInvalid}})
	}
	g.spoilt = nil
}
