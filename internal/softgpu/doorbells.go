package softgpu

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// A doorbell is how a program submits to a hardware queue. GPU.mu guards it; the words
// are read under it too, they are memory and nothing else.
//
//	          connect                      ring, seen by poll
//	created ───────────▶ in a place ──────────────────────────▶ fed to the queue
//	   ▲                     │
//	   └── disconnect ───────┘  one more look then, and another one a little later
type doorbell struct {
	handle             ddi.KmdDoorbell
	queue              *hwQueue
	ring, control      ddi.RingMemory
	entries            uint64             // of the ring
	primary, secondary ddi.DoorbellMemory // nil: not connected yet, or there is none

	connected bool   // it has a place
	rung      uint64 // as far as was seen
	fetched   uint64 // entries
	latest    int64  // when it was rung or connected last
	again     int64  // when it is looked at once more, not being connected
}

// doorbells is what a GPU has of them. GPU.mu guards it.
type doorbells struct {
	// What the profile says. It does not change.
	physical  int  // that can be connected at once
	secondary bool // they can have a second word
	notified  bool // they are looked at only when the kernel says so

	bells  map[ddi.KmdDoorbell]*doorbell
	places []*doorbell // that are connected; changes only while calling is held
	before []*doorbell // that were, and are to be looked at once more
	rang   int64       // when any was rung or connected last
	looks  int64       // when poll looks next
	spoilt []*hwQueue  // whose fault is to be reported
}

func (d *doorbells) init(o adapter.DoorbellOptions) {
	d.physical, d.secondary, d.notified = o.Physical, o.Secondary, o.Notify
	if d.physical == 0 {
		d.physical = adapter.DefaultDoorbells
	}
	d.bells = map[ddi.KmdDoorbell]*doorbell{}
}

func (d *doorbells) clear() {
	clear(d.bells)
	d.places, d.before, d.spoilt = nil, nil, nil
}

// lateRing is how long after it was disconnected a doorbell is looked at once more: a
// program may have read the status before while its ring was on its way to memory.
const lateRing = 1_000_000 // nanoseconds

func (b *doorbell) engine() *engine { return b.queue.context.engine }

// UserModeSubmissionCaps says what the profile says.
func (g *GPU) UserModeSubmissionCaps() ddi.UserModeSubmissionCaps {
	return ddi.UserModeSubmissionCaps{SecondaryDoorbellSupported: g.secondary, DoorbellSizeInBytes: 8, SecondaryDoorbellSizeInBytes: 8}
}

// CreateDoorbell makes a doorbell that is not connected. A queue may have several; those
// made earlier come first. NOT_SUPPORTED without UserModeSubmission, or for a secondary
// doorbell that there is not; INVALID_PARAMETER: there is no such queue, or programs do
// not submit to it; a ring buffer without a whole entry, or with more than there can be;
// a control without a word. Private data are not looked at.
func (g *GPU) CreateDoorbell(args ddi.CreateDoorbellArgs) (ddi.KmdDoorbell, abi.Status) {
	if !g.caps.Has(ddi.UserModeSubmission) || args.Flags&abi.DoorbellRequireSecondaryCpuVA != 0 && !g.secondary {
		return 0, abi.StatusNotSupported
	}
	entries := args.RingBuffer.Size() / cmdbuf.RingEntrySize
	if entries == 0 || entries > cmdbuf.MaxRingEntries || args.RingBufferControl != nil && args.RingBufferControl.Size() < 8 {
		return 0, abi.StatusInvalidParameter
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	q := g.queues[args.HwQueue]
	if q == nil || !q.user {
		return 0, abi.StatusInvalidParameter
	}
	b := &doorbell{handle: ddi.KmdDoorbell(g.newHandle()), queue: q, ring: args.RingBuffer, control: args.RingBufferControl, entries: entries}
	g.bells[b.handle] = b
	q.bells = append(q.bells, b)
	return b.handle, abi.StatusSuccess
}

// ConnectDoorbell gives the doorbell a place in the list that poll goes through, if need
// be that of the one which was rung least recently. INVALID_PARAMETER: there is no such
// doorbell.
func (g *GPU) ConnectDoorbell(args ddi.ConnectDoorbellArgs) (abi.DoorbellStatus, abi.Status) {
	defer g.quiet()()
	b := g.bells[args.Doorbell]
	if b == nil {
		return abi.DoorbellDisconnectedAbort, abi.StatusInvalidParameter
	}
	b.primary, b.secondary = args.Primary, args.Secondary
	if !b.connected {
		if len(g.places) >= g.physical {
			g.victimize(slices.MinFunc(g.places, func(x, y *doorbell) int { return int(min(max(x.latest-y.latest, -1), 1)) }))
		}
		g.forgetBefore(b)
		b.connected = true
		b.engine().bells++
		g.places = append(g.places, b)
	}
	now := g.cb.Now()
	b.latest, g.rang, g.looks = now, now, now
	b.engine().rang, b.engine().resting = now, false
	g.look(b, now)
	if g.notified {
		return abi.DoorbellConnectedNotifyKMD, abi.StatusSuccess
	}
	return abi.DoorbellConnected, abi.StatusSuccess
}

// victimize takes a place for another doorbell. The program knows before the last look.
func (g *GPU) victimize(b *doorbell) {
	cb := g.cb
	g.mu.Unlock()
	cb.DisconnectDoorbell(b.queue.handle, abi.DoorbellDisconnectedRetry)
	g.mu.Lock()
	g.unplug(b)
}

// unplug takes a doorbell's place away, with a last look.
func (g *GPU) unplug(b *doorbell) {
	g.places = slices.DeleteFunc(g.places, func(o *doorbell) bool { return o == b })
	b.connected = false
	b.engine().bells--
	now := g.cb.Now()
	g.look(b, now)
	b.again = now + lateRing
	g.before = append(g.before, b)
}

func (g *GPU) forgetBefore(b *doorbell) {
	g.before = slices.DeleteFunc(g.before, func(o *doorbell) bool { return o == b })
}

// DisconnectDoorbell takes its place away.
func (g *GPU) DisconnectDoorbell(h ddi.KmdDoorbell) {
	defer g.quiet()()
	if b := g.bells[h]; b != nil && b.connected {
		g.unplug(b)
	}
}

// DestroyDoorbell forgets it. What was rung by now is done yet: its entries are kept, as
// many as a ring buffer has at most; more are a fault of the queue.
func (g *GPU) DestroyDoorbell(h ddi.KmdDoorbell) {
	defer g.quiet()()
	b := g.bells[h]
	if b == nil {
		return
	}
	if b.primary != nil {
		g.look(b, g.cb.Now())
	}
	q := b.queue
	for b.fetched < b.rung && !q.context.faulted {
		entry, ok := g.entry(b)
		if !ok || len(q.left) == cmdbuf.MaxRingEntries {
			g.spoil(q)
			break
		}
		q.left = append(q.left, entry)
	}
	g.forgetBell(b)
}

func (g *GPU) forgetBell(b *doorbell) {
	is := func(o *doorbell) bool { return o == b }
	if b.connected {
		b.engine().bells--
		g.places = slices.DeleteFunc(g.places, is)
	}
	g.forgetBefore(b)
	b.queue.bells = slices.DeleteFunc(b.queue.bells, is)
	delete(g.bells, b.handle)
}

// NotifyWorkSubmission looks at a doorbell.
func (g *GPU) NotifyWorkSubmission(h ddi.KmdDoorbell) {
	defer g.quiet()()
	if b := g.bells[h]; b != nil && b.primary != nil {
		g.look(b, g.cb.Now())
	}
}

// SetPowerState switches the GPU: in D3 no engine does anything.
func (g *GPU) SetPowerState(state ddi.PowerState) {
	defer g.quiet()()
	g.asleep = state == ddi.PowerD3
	for _, e := range g.engines {
		e.time = max(e.time, g.cb.Now())
	}
}
