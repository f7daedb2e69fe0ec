package softgpu

import (
	"fmt"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// Queues take turns, entry by entry, and nothing tells the kernel of their ends.
func TestRingsTakeTurns(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	x, y := b.bell(c, 4), b.bell(c, 4)
	x.connect()
	y.connect()
	for i := range uint32(3) {
		x.put(10 + i)
		y.put(20 + i)
	}
	b.submitHw(b.queue(c, base+64), 1, cmdbuf.New().Write32(base, 30), 0)
	b.g.Advance(b.k.now)
	b.saw(stored(30), "MONITORED_FENCE_SIGNALED 0.0", stored(10), stored(20), stored(11), stored(21), stored(12), stored(22))
	if h := b.g.Holdings(); h.Doorbells != 2 || h.Packets != 0 {
		t.Errorf("it has %+v", h)
	}
}

// What is suspended runs when it is resumed, and what a preempted buffer has done stays.
func TestSuspendedRing(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	x := b.connected(c, 4)
	x.put(1, cmdbuf.Delay{Nanoseconds: 500})
	x.put(2)
	b.advance(b.k.now + 100)
	if st := b.g.SuspendContext(c, 7); st != abi.StatusPending {
		t.Fatal(st)
	}
	b.advance(b.k.now + 1_000_000)
	b.saw(fmt.Sprintf("SUSPEND_CONTEXT_COMPLETED context=%d fence=7", c))
	x.put(3) // goes on ringing
	b.advance(b.k.now + 1_000_000)
	b.saw()
	must(t, b.g.ResumeContext(c))
	b.advance(b.k.now + 1_000_000)
	b.saw(stored(1), stored(2), stored(3))
}

// A place is taken from the doorbell that was rung least recently, after the kernel was
// told, and what was rung by then is done.
func TestVictims(t *testing.T) {
	b := newBench(t, func(p *adapter.Profile) { p.Doorbells.Physical = 2 })
	c := b.context(node0)
	x, y, z := b.bell(c, 4), b.bell(c, 4), b.bell(c, 4)
	x.connect()
	b.k.now++
	y.connect()
	b.k.now++
	x.put(1)
	b.g.Advance(b.k.now)
	y.put(2)
	if z.connect(); len(b.k.taken) != 1 || b.k.taken[0] != y.queue {
		t.Errorf("taken from %v, want %d", b.k.taken, y.queue)
	}
	z.connect() // it has one
	b.g.Advance(b.k.now)
	b.saw(stored(1), stored(2))
	y.put(3)
	b.g.Advance(b.k.now)
	b.saw() // it is not looked at
	b.k.now++
	if y.connect(); len(b.k.taken) != 2 || b.k.taken[1] != x.queue {
		t.Errorf("taken from %v, want %d", b.k.taken, x.queue)
	}
	b.g.Advance(b.k.now)
	b.saw(stored(3))
	b.g.DestroyDoorbell(x.bell)
	b.g.DestroyDoorbell(x.bell)
	b.g.DisconnectDoorbell(x.bell)
	b.g.NotifyWorkSubmission(x.bell)
	if _, st := b.g.ConnectDoorbell(ddi.ConnectDoorbellArgs{Doorbell: x.bell, Primary: &x.word}); st != abi.StatusInvalidParameter {
		t.Errorf("connect of one that is gone: %v", st)
	}
}

// What cannot be in a doorbell or a ring ends the queue and all of its context, in the
// next call of Advance; nothing else.
func TestSpoiltRings(t *testing.T) {
	for name, spoil := range map[string]func(x *benchBell){
		"too many":  func(x *benchBell) { x.word.Store(6) },
		"back":      func(x *benchBell) { x.word.Store(0) },
		"long":      func(x *benchBell) { x.word.Store(x.ring.Put(cmdbuf.RingEntry{VA: base, Length: 1 << 32})) },
		"no memory": func(x *benchBell) { x.memory.b = nil; x.word.Store(2) },
	} {
		b := newBench(t, nil)
		c, other := b.context(node0), b.context(node0)
		x, beside, far := b.bell(c, 4), b.bell(c, 4), b.bell(other, 4)
		for _, y := range []*benchBell{x, beside, far} {
			y.connect()
		}
		x.put(1)
		b.g.Advance(b.k.now)
		b.trace = nil
		spoil(x)
		b.advance(b.k.now + 2000)
		beside.put(2)
		far.put(3)
		b.advance(b.k.now + 2000)
		i, ok := b.k.interrupts[0].(ddi.HwQueuePageFaulted)
		if !ok || !i.Faulted || i.HwQueue != x.queue || i.Fault.Flags != ddi.FaultFenceInvalid || len(b.k.interrupts) != 1 {
			t.Errorf("%s: %v", name, b.k.interrupts)
		}
		b.trace = b.trace[1:]
		b.saw(stored(3))
	}
}

// Entries outlive their doorbell, up to a bound that only who abuses it meets.
func TestEntriesOutliveTheirDoorbell(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	x := b.connected(c, 4)
	x.put(1, cmdbuf.Delay{Nanoseconds: 10_000})
	x.put(2)
	x.put(3)
	b.g.Advance(b.k.now)
	b.g.DestroyDoorbell(x.bell)
	x.make(2)
	x.connect()
	x.put(4)
	b.advance(b.k.now + 20_000)
	b.saw(stored(1), stored(2), stored(3), stored(4))

	x.put(5, cmdbuf.Hang{})
	b.g.Advance(b.k.now)
	for range 2 { // behind what hangs
		b.g.DestroyDoorbell(x.bell)
		x.make(cmdbuf.MaxRingEntries)
		x.connect()
		x.word.Store(cmdbuf.MaxRingEntries)
		b.g.Advance(b.k.now)
	}
	b.saw()
	b.g.DestroyDoorbell(x.bell)
	b.g.Advance(b.k.now)
	if len(b.trace) != 1 || len(b.g.queues[x.queue].left) != cmdbuf.MaxRingEntries {
		t.Errorf("%d entries are kept, %v", len(b.g.queues[x.queue].left), b.trace)
	}
}

func TestDoorbellRefusals(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	ring := &ringMemory{b: make([]byte, 64)}
	for name, a := range map[string]struct {
		args ddi.CreateDoorbellArgs
		want abi.Status
	}{
		"no queue":      {ddi.CreateDoorbellArgs{HwQueue: 77, RingBuffer: ring}, abi.StatusInvalidParameter},
		"queue":         {ddi.CreateDoorbellArgs{HwQueue: b.queue(c, base), RingBuffer: ring}, abi.StatusInvalidParameter},
		"secondary":     {ddi.CreateDoorbellArgs{HwQueue: b.bell(c, 1).queue, RingBuffer: ring, Flags: abi.DoorbellRequireSecondaryCpuVA}, abi.StatusNotSupported},
		"small ring":    {ddi.CreateDoorbellArgs{HwQueue: b.bell(c, 1).queue, RingBuffer: &ringMemory{b: make([]byte, 15)}}, abi.StatusInvalidParameter},
		"small control": {ddi.CreateDoorbellArgs{HwQueue: b.bell(c, 1).queue, RingBuffer: ring, RingBufferControl: &ringMemory{b: make([]byte, 7)}}, abi.StatusInvalidParameter},
	} {
		if h, st := b.g.CreateDoorbell(a.args); st != a.want || h != 0 {
			t.Errorf("%s: %d, %v, want %v", name, h, st, a.want)
		}
	}
	if st := b.g.SubmitCommandToHwQueue(ddi.SubmitCommandToHwQueueArgs{HwQueue: b.bell(c, 1).queue}); st != abi.StatusInvalidParameter {
		t.Errorf("a submission to a user queue: %v", st)
	}
	b = newBench(t, func(p *adapter.Profile) { p.Features &^= adapter.UserModeSubmission })
	if _, st := b.g.CreateHwQueue(ddi.CreateHwQueueArgs{Context: b.context(node0), Flags: abi.HwQueueUserModeSubmission}); st != abi.StatusNotSupported {
		t.Errorf("a user queue without the feature: %v", st)
	}
}
