package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/softgpu"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// A bellRig is a kernel with the software GPU and a clock, and a process with a device,
// a context for hardware queues, and a page of command buffers that the GPU sees.
type bellRig struct {
	*gpuRig
	clock   *int64
	context abi.Handle
	code    uint64  // GPU virtual address of the page
	used    *uint64 // bytes of it
}

// A bell is a queue with its doorbell, a ring of four entries with a control, and what
// the program knows.
type bell struct {
	r                 *bellRig
	queue, progress   abi.Handle
	doorbell          abi.Handle
	ringAt, controlAt abi.Handle
	fence             uint64 // GPU virtual address of the progress fence
	words             DoorbellWords
	ring              *cmdbuf.Ring
	control           AllocationMemory
	queued            uint64
}

const ringEntries = 4

func newBellRig(t *testing.T, change func(p *adapter.Profile)) *bellRig {
	t.Helper()
	r := &bellRig{gpuRig: &gpuRig{rig: &rig{t: t, host: newMemHost()}}, clock: new(int64)}
	*r.clock = 1_000_000_000
	p, err := adapter.Load("neutral")
	if err != nil {
		t.Fatal(err)
	}
	p.Displays = nil // whose clocks would only be in the way
	if change != nil {
		change(p)
	}
	r.k, err = New(Config{Host: r.host, Profiles: []*adapter.Profile{p}, Now: func() int64 { return *r.clock }})
	if err != nil {
		t.Fatal(err)
	}
	r.attach()
	t.Cleanup(func() {
		for p := range r.k.processes {
			p.Exit()
			r.run(5_000_000_000)
		}
		if h := r.gpu().Holdings(); h != (softgpu.Holdings{}) || r.host.live != 0 || len(r.k.adapters[0].bells) != 0 {
			t.Errorf("left behind: the GPU has %+v, the machine %d memories, the kernel %d doorbells", h, r.host.live, len(r.k.adapters[0].bells))
		}
		r.k.Stop()
	})
	return r
}

// attach makes another process, which all further calls of r are of.
func (r *bellRig) attach() {
	r.t.Helper()
	r.gpuRig = &gpuRig{rig: r.rig}
	r.p = r.rig.process()
	r.d = r.rig.device(r.p, 0)
	r.queue = abi.CreatePagingQueue{HDevice: r.d}
	_, st := do(r.p, 0x07, &r.queue, nil)
	r.ok(st)
	r.context = r.rig.context(r.p, r.d, 0, abi.ContextHwQueueSupported)
	code := r.visible(vidmm.PageSize)
	m, _ := r.mapAt(0, code, 0, 1, abi.GpuProtectionWrite)
	r.code, r.used = m.VirtualAddress, new(uint64)
	r.space = r.p.spaces[r.k.adapters[0]]
	r.k.Tick()
}

func (r *bellRig) gpu() *softgpu.GPU { return r.k.adapters[0].driver.(*softgpu.GPU) }

// visible makes an allocation that the GPU sees.
func (r *bellRig) visible(size uint64) abi.Handle {
	r.t.Helper()
	h := r.heap(size)
	_, st := r.mapAt(0, h, 0, (size+vidmm.PageSize-1)/vidmm.PageSize, abi.GpuProtectionWrite)
	if st != abi.StatusPending {
		r.t.Fatal(st)
	}
	if _, st := r.resident(0, h); st != abi.StatusPending {
		r.t.Fatal(st)
	}
	r.k.Tick()
	return h
}

// run lets so much time go by, in nanoseconds, each thing when it is due.
func (r *bellRig) run(d int64) {
	r.t.Helper()
	end, now := *r.clock+d, r.clock
	for range 100_000 {
		at, _ := r.k.Next()
		if at > end {
			*now = end
			return
		}
		*now = max(*now, at)
		r.k.Tick()
	}
	r.t.Fatal("the kernel is due for ever")
}

// place puts a command buffer into the page.
func (r *bellRig) place(b *cmdbuf.Buffer) cmdbuf.RingEntry {
	at := r.code + *r.used
	if f := r.space.Write(0, at, b.Bytes()); f != nil {
		r.t.Fatal(f)
	}
	*r.used = (*r.used + uint64(b.Len()) + 7) &^ 7 % (vidmm.PageSize - 512)
	return cmdbuf.RingEntry{VA: at, Length: uint64(b.Len())}
}

// userQueue makes a queue to be submitted to by a doorbell.
func (r *bellRig) userQueue() (q abi.CreateHwQueue, st abi.Status) {
	q = abi.CreateHwQueue{HHwContext: r.context, Flags: abi.HwQueueUserModeSubmission}
	_, st = do(r.p, 0x18, &q, nil)
	return q, st
}

// bell makes a queue with a doorbell that is not connected.
func (r *bellRig) bell() *bell {
	r.t.Helper()
	q, st := r.userQueue()
	r.ok(st)
	mine := *r
	b := &bell{
		r: &mine, queue: q.HHwQueue, progress: q.HHwQueueProgressFence, fence: q.HwQueueProgressFenceGPUVirtualAddress,
		ringAt: r.visible(ringEntries * cmdbuf.RingEntrySize), controlAt: r.visible(8),
	}
	r.ok(b.create(0))
	return b
}

// create makes the doorbell.
func (b *bell) create(flags abi.CreateDoorbellFlags) abi.Status {
	rec := abi.CreateDoorbell{HHwQueue: b.queue, HRingBuffer: b.ringAt, HRingBufferControl: b.controlAt, Flags: flags}
	_, st := do(b.r.p, 0x8011, &rec, nil)
	if st.OK() {
		b.doorbell = rec.HDoorbell
		b.words, _ = b.r.p.Doorbell(rec.HDoorbell)
		b.ring = cmdbuf.NewRing(b.memory(b.ringAt))
		if b.controlAt != 0 {
			b.control = b.r.heapOf(b.controlAt)
		}
	}
	return st
}

func (r *bellRig) heapOf(h abi.Handle) AllocationMemory {
	m := r.p.table.Get(h).(*allocationLocal).allocation.heap
	m.mu.Lock()
	defer m.mu.Unlock()
	back, st := m.need()
	r.ok(st)
	return back
}

// memory is that of an allocation of the rig, as a program has it locked.
func (b *bell) memory(h abi.Handle) []byte {
	return b.r.heapOf(h).(*memHeap).bytes[:ringEntries*cmdbuf.RingEntrySize]
}

func (b *bell) connect() abi.Status {
	_, st := do(b.r.p, 0x8012, &abi.ConnectDoorbell{HDoorbell: b.doorbell}, nil)
	return st
}

func (b *bell) destroy() abi.Status {
	_, st := do(b.r.p, 0x8013, &abi.DestroyDoorbell{HDoorbell: b.doorbell}, nil)
	return st
}

func (b *bell) notify() abi.Status {
	_, st := do(b.r.p, 0x8014, &abi.NotifyWorkSubmission{HDoorbell: b.doorbell}, nil)
	return st
}

// put submits a buffer, to which the store of the next progress is added, and rings.
func (b *bell) put(buf *cmdbuf.Buffer) {
	b.queued++
	n := b.ring.Put(b.r.place(buf.Signal(b.fence, b.queued)))
	b.words.LastQueued.Store(b.queued)
	b.words.Bell.Store(n)
}

// want compares the status and the progress.
func (b *bell) want(when string, status abi.DoorbellStatus, progress uint64) {
	b.r.t.Helper()
	if got := abi.DoorbellStatus(b.words.Status.Load()); got != status {
		b.r.t.Errorf("%s: the status is %v, want %v", when, got, status)
	}
	if got := b.r.value(b.r.p, b.progress); got != progress {
		b.r.t.Errorf("%s: the progress is %d, want %d", when, got, progress)
	}
}

// short is long enough for what was rung, and for no doorbell to be taken away.
const short = 2_000_000
