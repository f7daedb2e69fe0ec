package softgpu

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// A ringMemory is a ring buffer of the tests.
type ringMemory struct {
	mu sync.Mutex
	b  []byte
}

func (m *ringMemory) Size() uint64 { return uint64(len(m.b)) }

func (m *ringMemory) Read(offset uint64, b []byte) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return copy(b, m.b[min(offset, uint64(len(m.b))):])
}

func (m *ringMemory) Load(offset uint64, _ int) (uint64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return binary.LittleEndian.Uint64(m.b[offset:]), true
}

func (m *ringMemory) Store(offset uint64, _ int, v uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	binary.LittleEndian.PutUint64(m.b[offset:], v)
	return true
}

// A benchBell is a doorbell of a bench, with its queue.
type benchBell struct {
	b      *bench
	queue  ddi.KmdHwQueue
	bell   ddi.KmdDoorbell
	memory *ringMemory
	ring   *cmdbuf.Ring
	word   atomic.Uint64
}

// DisconnectDoorbell notes which queue's was taken.
func (k *fakeKernel) DisconnectDoorbell(q ddi.KmdHwQueue, reason ddi.DisconnectReason) abi.Status {
	k.taken = append(k.taken, q)
	if reason != abi.DoorbellDisconnectedRetry {
		panic(reason)
	}
	return abi.StatusSuccess
}

func (b *bench) bell(c ddi.KmdContext, entries int) *benchBell {
	b.t.Helper()
	q, st := b.g.CreateHwQueue(ddi.CreateHwQueueArgs{Context: c, Flags: abi.HwQueueUserModeSubmission})
	must(b.t, st)
	x := &benchBell{b: b, queue: q}
	x.make(entries)
	return x
}

func (x *benchBell) make(entries int) {
	x.memory = &ringMemory{b: make([]byte, entries*cmdbuf.RingEntrySize)}
	x.ring = cmdbuf.NewRing(x.memory.b)
	x.word.Store(0)
	var st abi.Status
	x.bell, st = x.b.g.CreateDoorbell(ddi.CreateDoorbellArgs{HwQueue: x.queue, RingBuffer: x.memory})
	must(x.b.t, st)
}

func (x *benchBell) connect() abi.DoorbellStatus {
	x.b.t.Helper()
	status, st := x.b.g.ConnectDoorbell(ddi.ConnectDoorbellArgs{Doorbell: x.bell, Primary: &x.word})
	must(x.b.t, st)
	return status
}

// put rings for a buffer that stores a number.
func (x *benchBell) put(v uint32, more ...cmdbuf.Command) {
	buf := cmdbuf.New().Add(more...).Write32(base, v)
	at := x.b.place(buf.Bytes())
	x.memory.mu.Lock()
	n := x.ring.Put(cmdbuf.RingEntry{VA: at, Length: uint64(buf.Len())})
	x.memory.mu.Unlock()
	x.word.Store(n)
}

func stored(v uint32) string { return fmt.Sprintf("store32 0x100000=%d", v) }

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

// How often it looks: all the time, then ever more rarely, then never.
func TestPolling(t *testing.T) {
	b := newBench(t, func(p *adapter.Profile) { p.Displays = nil })
	x := b.bell(b.context(node0), 4)
	x.connect()
	x.put(1)
	begin := b.k.now
	b.g.Advance(begin)
	b.saw(stored(1))
	for looks, last := 0, begin; ; looks++ {
		at, ok := b.g.Next()
		if !ok {
			t.Fatal("it does not look any more, and has told nobody")
		}
		if at <= last || at-last > 1_000_000 || last-begin < 100_000 && at-last != 1_000 || looks > 250 {
			t.Fatalf("%d ns after the ring it looks again after %d ns, for the %dth time", last-begin, at-last, looks)
		}
		b.k.now, last = at, at
		b.g.Advance(at)
		if len(b.trace) > 0 {
			if quiet := at - begin; quiet < 10_000_000 || quiet > 11_000_000 {
				t.Errorf("the engine rests after %d ns", quiet)
			}
			break
		}
	}
	b.saw("GPU_ENGINE_STATE_CHANGE 0.0 state=TRANSITION_TO_F1")
	x.put(2) // the kernel has not said anything yet
	b.g.DisconnectDoorbell(x.bell)
	b.g.DisconnectDoorbell(x.bell)
	b.advance(b.k.now + 2_000_000)
	b.saw(stored(2))
	if at, ok := b.g.Next(); ok {
		t.Errorf("nothing is connected, and it is due at %d", at)
	}
	// Work keeps it from resting, and so does a wait.
	x.connect()
	x.put(3, cmdbuf.Delay{Nanoseconds: 50_000_000})
	b.advance(b.k.now + 49_000_000)
	b.saw()
	b.advance(b.k.now + 3_000_000)
	b.saw(stored(3), "GPU_ENGINE_STATE_CHANGE 0.0 state=TRANSITION_TO_F1")
}

// What is suspended runs when it is resumed, and what a preempted buffer has done stays.
func TestSuspendedRing(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	x := b.bell(c, 4)
	x.connect()
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
	x := b.bell(c, 4)
	x.connect()
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

// In D3 nothing happens, whatever is rung.
func TestAsleep(t *testing.T) {
	b := newBench(t, func(p *adapter.Profile) { p.Displays = nil })
	x := b.bell(b.context(node0), 4)
	x.connect()
	b.g.SetPowerState(ddi.PowerD3)
	x.put(1)
	b.g.Advance(b.k.now)
	if at, ok := b.g.Next(); ok {
		t.Errorf("asleep, and due at %d", at)
	}
	b.saw()
	b.g.SetPowerState(ddi.PowerD0)
	b.g.Advance(b.k.now)
	b.saw(stored(1))
}

// Programs that ring, connect, destroy and make anew, more than there are places for, at
// once with everything that the kernel does: every entry is run, once and in order.
func TestDoorbellHammer(t *testing.T) {
	const programs, rings = 4, 200
	k := &hammerKernel{strictKernel: strictKernel{t: t, fences: true}}
	g := New(profile(t, func(p *adapter.Profile) { p.Doorbells.Physical = 2; p.Displays = nil }))
	must(t, g.StartDevice(k))
	m := newMemory()
	device, st := g.CreateDevice(ddi.CreateDeviceArgs{Memory: m})
	must(t, st)
	var stop atomic.Bool
	var ticker, running sync.WaitGroup
	ticker.Go(func() {
		for !stop.Load() {
			k.now.Add(500)
			g.Advance(k.now.Load())
		}
	})
	for me := range uint64(programs) {
		running.Go(func() {
			random := rand.New(rand.NewPCG(1, me))
			c, st := g.CreateContext(ddi.CreateContextArgs{Device: device, Engine: ddi.Engine{NodeOrdinal: uint32(me % 2)}})
			must(t, st)
			q, st := g.CreateHwQueue(ddi.CreateHwQueueArgs{Context: c, Flags: abi.HwQueueUserModeSubmission})
			must(t, st)
			k.work.Store(q, true)
			k.work.Store(c, true)
			counter := base + 64*me
			code := base + 0x1000*(me+1)
			seen := func() uint64 { v, _ := m.Load64(0, counter); return v }
			var bell ddi.KmdDoorbell
			var ring *cmdbuf.Ring
			var memory *ringMemory
			var word *atomic.Uint64
			for i := range uint64(rings) {
				if bell == 0 || random.IntN(40) == 0 { // what was rung on the old one is done
					g.DisconnectDoorbell(bell)
					g.DestroyDoorbell(bell)
					memory, word = &ringMemory{b: make([]byte, 64)}, new(atomic.Uint64)
					ring = cmdbuf.NewRing(memory.b)
					bell, st = g.CreateDoorbell(ddi.CreateDoorbellArgs{HwQueue: q, RingBuffer: memory})
					must(t, st)
				}
				for seen()+3 < i { // room in the ring, and in the code
					g.ConnectDoorbell(ddi.ConnectDoorbellArgs{Doorbell: bell, Primary: word})
				}
				buf := cmdbuf.New().Write64(counter, i+1)
				at := code + i%8*64
				m.Write(0, at, buf.Bytes())
				memory.mu.Lock()
				n := ring.Put(cmdbuf.RingEntry{VA: at, Length: uint64(buf.Len())})
				memory.mu.Unlock()
				word.Store(n)
				switch random.IntN(8) {
				case 0, 1, 2:
					g.ConnectDoorbell(ddi.ConnectDoorbellArgs{Doorbell: bell, Primary: word})
				case 3:
					g.DisconnectDoorbell(bell)
				case 4:
					g.NotifyWorkSubmission(bell)
				case 5:
					if g.SuspendContext(c, i) == abi.StatusPending {
						must(t, g.ResumeContext(c))
					}
				}
			}
			for seen() < rings {
				g.ConnectDoorbell(ddi.ConnectDoorbellArgs{Doorbell: bell, Primary: word})
			}
			g.DisconnectDoorbell(bell)
			g.DestroyDoorbell(bell)
			must(t, g.DestroyHwQueue(q))
			must(t, g.DestroyContext(c))
			k.work.Delete(q)
			k.work.Delete(c)
		})
	}
	running.Wait()
	stop.Store(true)
	ticker.Wait()
	must(t, g.DestroyDevice(device))
	if h := g.Holdings(); h != (Holdings{}) {
		t.Errorf("left behind: %+v", h)
	}
	g.StopDevice()
}

// A hammerKernel lets doorbells be taken.
type hammerKernel struct{ strictKernel }

func (*hammerKernel) DisconnectDoorbell(ddi.KmdHwQueue, ddi.DisconnectReason) abi.Status {
	return abi.StatusSuccess
}
