package kernel

import (
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/softgpu"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// A countedGPU is the software GPU, with its interrupts of native fences counted, and what it
// is told.
type countedGPU struct {
	*softgpu.GPU
	interrupts, notices int
}

type countedCallbacks struct {
	ddi.Callbacks
	gpu *countedGPU
}

func (g *countedGPU) StartDevice(cb ddi.Callbacks) abi.Status {
	return g.GPU.StartDevice(countedCallbacks{cb, g})
}

func (g *countedGPU) UpdateCurrentValuesFromCpu(list []ddi.CurrentValueUpdate, flags ddi.CurrentValueFlags) {
	if flags == ddi.NotificationOnly {
		g.notices += len(list)
	}
	g.GPU.UpdateCurrentValuesFromCpu(list, flags)
}

func (c countedCallbacks) NotifyInterrupt(i ddi.Interrupt) {
	if i.Type() == ddi.TypeNativeFenceSignaled {
		c.gpu.interrupts++
	}
	c.Callbacks.NotifyInterrupt(i)
}

// A crossRig has adapters with software GPUs and a clock.
type crossRig struct {
	*rig
	gpus  []*countedGPU
	clock int64
}

// A fencing is what an adapter has of native fences.
type fencing string

const (
	noFences     fencing = "none"
	nativeFences fencing = "native"
	directFences fencing = "direct" // GPUs signal each other by themselves
)

func newCrossRig(t *testing.T, adapters ...fencing) *crossRig {
	t.Helper()
	r := &crossRig{rig: &rig{t: t, host: newMemHost()}, clock: 1_000_000_000}
	var profiles []*adapter.Profile
	for _, f := range adapters {
		name := "native"
		if f == noFences {
			name = "amd"
		}
		p, err := adapter.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Displays = nil
		p.NativeFence.DirectSignal = f == directFences
		profiles = append(profiles, p)
	}
	k, err := New(Config{Host: r.host, Profiles: profiles, Now: func() int64 { return r.clock }, Driver: func(p *adapter.Profile) ddi.Driver {
		g := &countedGPU{GPU: softgpu.New(p)}
		r.gpus = append(r.gpus, g)
		return g
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.k = k
	t.Cleanup(func() {
		for p := range k.processes {
			p.Exit()
			r.run(5_000_000_000)
		}
		for i, g := range r.gpus {
			if h := g.Holdings(); h != (softgpu.Holdings{}) {
				t.Errorf("GPU %d has %+v left", i, h)
			}
		}
		k.Stop()
	})
	return r
}

// crossing are the fences that may be on several adapters, on each that has them.
func (r *crossRig) crossing() []NativeRow {
	return slices.DeleteFunc(r.k.Snapshot().Natives, func(n NativeRow) bool { return !n.Crosses })
}

// run lets so much time go by, in nanoseconds, each thing when it is due.
func (r *crossRig) run(d int64) {
	r.t.Helper()
	r.pass(&r.clock, d)
}

// A side is a process with a device, a context and a page of commands on one adapter, and a
// local object of the fence.
type side struct {
	*gpuRig
	stream
	cross   *crossRig
	native  bool // the adapter has native fences, and it is one there
	fence   abi.Handle
	mapping abi.NativeFenceMapping
	done    abi.Handle // a fence of its own, that counts its GPU waits
	hw      abi.Handle // a hardware queue, 0: the adapter has none
	waits   uint64
	code    uint64
	used    uint64
}

func (r *crossRig) side(adapter int) *side {
	r.t.Helper()
	s := &side{gpuRig: &gpuRig{rig: r.rig}, cross: r}
	s.gpuRig.p = r.process()
	s.gpuRig.d = r.rig.device(s.gpuRig.p, adapter)
	s.gpuRig.queue = abi.CreatePagingQueue{HDevice: s.gpuRig.d}
	_, st := do(s.gpuRig.p, 0x07, &s.gpuRig.queue, nil)
	r.ok(st)
	s.stream = stream{p: s.gpuRig.p, d: s.gpuRig.d, c: r.context(s.gpuRig.p, s.gpuRig.d, 0, 0)}
	s.done = r.rig.fence(s.stream.p, s.stream.d, 0, 0)
	s.space = s.stream.p.spaces[r.k.adapters[adapter]]
	h := s.heap(vidmm.PageSize)
	m, st := s.mapAt(0, h, 0, 1, abi.GpuProtectionWrite)
	if st != abi.StatusPending {
		r.t.Fatal(st)
	}
	s.code = m.VirtualAddress
	if _, st := s.resident(0, h); st != abi.StatusPending {
		r.t.Fatal(st)
	}
	s.native = r.k.adapters[adapter].native()
	if r.gpus[adapter].Caps().Has(ddi.HwScheduling) {
		rec := abi.CreateHwQueue{HHwContext: r.context(s.stream.p, s.stream.d, 0, abi.ContextHwQueueSupported)}
		_, st := do(s.stream.p, 0x18, &rec, nil)
		r.ok(st)
		s.hw = rec.HHwQueue
	}
	r.k.Tick()
	return s
}

const crossing = ntShared | abi.SyncObjectCrossAdapter

// create makes the fence, as the adapter can, and returns its NT handle.
func (s *side) create() int {
	s.t.Helper()
	if s.native {
		rec := abi.CreateNativeFence{HDevice: s.stream.d, Info: abi.NativeFenceInfo{Flags: crossing}}
		_, st := do(s.stream.p, 0x800E, &rec, nil)
		s.ok(st)
		s.fence, s.mapping = rec.HSyncObject, rec.Info.NativeFenceMapping
	} else {
		s.fence = s.rig.fence(s.stream.p, s.stream.d, crossing, 0)
	}
	fd, st := s.share(s.stream.p, s.fence, object.SyncObjectAll)
	s.ok(st)
	return fd
}

// open opens it, as the adapter can.
func (s *side) open(fd int, flags abi.SyncObjectFlags) {
	s.t.Helper()
	var st abi.Status
	if s.native {
		rec := abi.OpenNativeFenceFromNtHandle{HDevice: s.stream.d, Flags: flags}
		_, st = do(s.stream.p, 0x800F, &rec, []int{fd})
		s.fence, s.mapping = rec.HSyncObject, rec.NativeFenceMapping
	} else {
		s.fence, st = open(s.stream.p, s.stream.d, fd, flags)
	}
	s.ok(st)
}

func (s *side) submit(b *cmdbuf.Buffer) {
	s.t.Helper()
	if f := s.space.Write(0, s.code+s.used, b.Bytes()); f != nil {
		s.t.Fatal(f)
	}
	rec := abi.SubmitCommand{Commands: s.code + s.used, CommandLength: uint32(b.Len()), BroadcastContextCount: 1}
	rec.BroadcastContext[0] = s.c
	s.used = (s.used + uint64(b.Len()) + 7) &^ 7 % (vidmm.PageSize - 512)
	_, st := do(s.stream.p, 0x0F, &rec, nil, nil, nil)
	s.ok(st)
}

// A way is how a side waits or signals.
type way string

const (
	byGPU    way = "GPU"            // a command in its buffer
	byPacket way = "packet"         // of its context
	byQueue  way = "hardware queue" // a packet of it, which the kernel holds
	byCPU    way = "CPU"
)

// ways are those that the side has.
func (s *side) ways() []way {
	all := []way{byPacket, byCPU}
	if s.native {
		all = append(all, byGPU)
	}
	if s.hw != 0 {
		all = append(all, byQueue)
	}
	return all
}

// queued submits a signal to the hardware queue.
func (s *side) queued(h abi.Handle, v uint64) {
	s.t.Helper()
	rec := abi.SubmitSignalSyncObjectsToHwQueue{BroadcastHwQueueCount: 1, ObjectCount: 1}
	_, st := do(s.stream.p, 0x35, &rec, nil, handles(s.hw), handles(h), values(v))
	s.ok(st)
}

// signal stores a value.
func (s *side) signal(by way, v uint64) {
	s.t.Helper()
	switch by {
	case byGPU:
		s.submit(cmdbuf.New().SignalNative(s.mapping.CurrentValueGpuVa, v, s.mapping.MonitoredValueGpuVa, uint32(s.fence)))
	case byQueue:
		s.queued(s.fence, v)
	case byPacket:
		s.ok(s.signalGpu(handles(s.fence), values(v)))
	case byCPU:
		s.ok(signal(s.stream.p, s.stream.d, 0, handles(s.fence), values(v)))
	}
}

// wait begins to wait for a value; the result reports whether it has ended.
func (s *side) wait(by way, v uint64) (ended func() bool) {
	s.t.Helper()
	if by == byCPU {
		fd, e := s.event()
		s.ok(waitEvent(s.stream.p, s.stream.d, 0, fd, handles(s.fence), values(v)))
		return func() bool { return e.sets == 1 }
	}
	s.waits++
	want := s.waits
	ended = func() bool { return s.value(s.stream.p, s.done) >= want }
	if by == byQueue {
		rec := abi.SubmitWaitForSyncObjectsToHwQueue{HHwQueue: s.hw, ObjectCount: 1}
		_, st := do(s.stream.p, 0x36, &rec, nil, handles(s.fence), values(v))
		s.ok(st)
		s.queued(s.done, want)
		return ended
	}
	if by == byGPU {
		s.submit(cmdbuf.New().Wait(s.mapping.CurrentValueGpuVa, v, uint32(s.fence)))
	} else {
		s.ok(s.waitGpu(handles(s.fence), values(v)))
	}
	s.ok(s.signalGpu(handles(s.done), values(want)))
	return ended
}
