package softgpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
)

// A strictKernel complains about a callback that names an object after its
// destruction. Object n is alive while alive[n] is set.
type strictKernel struct {
	ddi.Callbacks // nil: the rest is not called
	t             testing.TB
	fences        bool // the system has native fences
	optimized     bool // optimized ones too
	now           atomic.Int64
	events        [64]atomic.Bool
	notes         [64]atomic.Bool
	signals       atomic.Int64
	fired         atomic.Int64
	work          sync.Map // contexts and queues that are alive
}

func (k *strictKernel) SignalEvent(e ddi.DxgCpuEvent) abi.Status {
	k.signals.Add(1)
	if !k.events[e].Load() {
		k.t.Errorf("event %d was signalled after it was destroyed", e)
	}
	return abi.StatusSuccess
}

func (k *strictKernel) NotifyInterrupt(i ddi.Interrupt) {
	switch i := i.(type) {
	case ddi.PeriodicMonitoredFenceSignaled:
		k.fired.Add(1)
		if n := i.NotificationID; !k.notes[n].Load() {
			k.t.Errorf("notification %d fired after it was destroyed", n)
		}
	case ddi.SuspendContextCompleted:
		k.alive(i.Context, i)
	case ddi.HwQueuePageFaulted:
		k.alive(i.HwQueue, i)
	}
}

func (k *strictKernel) alive(handle any, i ddi.Interrupt) {
	if _, ok := k.work.Load(handle); !ok {
		k.t.Errorf("%v after it was destroyed", i)
	}
}

func (k *strictKernel) Now() int64 { return k.now.Load() }
func (k *strictKernel) Rearm()     {}

func (k *strictKernel) IsFeatureEnabled(abi.FeatureID) bool { return k.fences }
func (k *strictKernel) NativeFenceOSCaps() ddi.NativeFenceOSCaps {
	return ddi.NativeFenceOSCaps{SupportOptimizedDefaultFenceType: k.optimized}
}
func (k *strictKernel) SystemMemory() ddi.AddressSpace { return nil }

// Everything at once: what was destroyed is never named.
func TestHammer(t *testing.T) {
	k := &strictKernel{t: t}
	g := New(profile(t, nil))
	must(t, g.StartDevice(k))
	const rounds = 300
	var makers, others sync.WaitGroup
	var stop atomic.Bool
	for me := range uint32(4) {
		makers.Go(func() {
			for i := range uint32(rounds) {
				id := me*16 + i%16
				k.events[id].Store(true)
				k.notes[id].Store(true)
				e, s1 := g.CreateCpuEvent(0, ddi.DxgCpuEvent(id))
				n, s2 := g.CreatePeriodicFrameNotification(ddi.CreatePeriodicFrameNotificationArgs{VidPnTargetID: id % 2, Time: uint64(i), NotificationID: id})
				if s1 != abi.StatusSuccess || s2 != abi.StatusSuccess {
					t.Errorf("create: %v, %v", s1, s2)
				}
				for seen := k.signals.Load() + k.fired.Load(); i%8 == 0 && k.signals.Load()+k.fired.Load() < seen+2; {
					g.SignalCpuEvent(e)
				}
				if s := g.DestroyCpuEvent(e); s != abi.StatusSuccess {
					t.Errorf("destroy: %v", s)
				}
				k.events[id].Store(false)
				if s := g.DestroyPeriodicFrameNotification(n); s != abi.StatusSuccess {
					t.Errorf("destroy: %v", s)
				}
				k.notes[id].Store(false)
			}
		})
	}
	others.Go(func() {
		for !stop.Load() {
			if at, ok := g.Next(); ok && at > k.now.Load() {
				k.now.Store(at)
			}
			g.Advance(k.now.Load())
		}
	})
	others.Go(func() {
		for i := uint32(0); !stop.Load(); i++ {
			for _, e := range g.CpuEvents() {
				g.SignalCpuEvent(e)
			}
			g.SetRefresh(i%2, 50_000+i%3*50_000)
			g.SetOn(i%2, i%5 != 0)
		}
	})
	makers.Wait()
	stop.Store(true)
	others.Wait()
	if k.signals.Load() == 0 {
		t.Error("nothing was signalled")
	}
	g.StopDevice()
}

// Programs come and go on four goroutines, the scheduler disturbs them on a fifth, time
// goes by on a sixth and somebody looks on.
func TestHammerOfEngines(t *testing.T) {
	k := &strictKernel{t: t}
	g := New(profile(t, nil))
	must(t, g.StartDevice(k))
	m := newMemory()
	good := cmdbuf.New().Write64(base+room/2, 1).Delay(50, 0).Fill(base+room/2, 3, 3*chunk).Signal(base+room/2, 2)
	bad := cmdbuf.New().Delay(50, 0).Signal(8, 1)
	copy(m.b, good.Bytes())
	copy(m.b[1024:], bad.Bytes())
	device, s := g.CreateDevice(ddi.CreateDeviceArgs{Memory: m})
	must(t, s)
	const rounds = 200
	var scheduler sync.Mutex // submissions and the like come one at a time
	var makers, others sync.WaitGroup
	var stop atomic.Bool
	var fences [2]uint32
	for me := range uint32(4) {
		makers.Go(func() {
			e := ddi.Engine{NodeOrdinal: me % 2}
			for i := range uint64(rounds) {
				c, s1 := g.CreateContext(ddi.CreateContextArgs{Device: device, Engine: e})
				q, s2 := g.CreateHwQueue(ddi.CreateHwQueueArgs{Context: c})
				if s1 != abi.StatusSuccess || s2 != abi.StatusSuccess {
					t.Errorf("create: %v, %v", s1, s2)
				}
				k.work.Store(c, true)
				k.work.Store(q, true)
				scheduler.Lock()
				fences[e.NodeOrdinal]++
				g.SubmitCommandVirtual(ddi.SubmitCommandArgs{Context: c, Engine: e, SubmissionFenceID: fences[e.NodeOrdinal], DmaBufferVirtualAddress: base, DmaBufferSize: uint32(good.Len())})
				g.SubmitCommandToHwQueue(ddi.SubmitCommandToHwQueueArgs{HwQueue: q, HwQueueProgressFenceID: i, DmaBufferVirtualAddress: base + 1024, DmaBufferSize: uint32(bad.Len())})
				g.SuspendContext(c, i)
				if i%2 == 0 {
					g.ResumeContext(c)
				}
				scheduler.Unlock()
				for range i % 8 {
					runtime.Gosched()
				}
				if s := g.DestroyHwQueue(q); s != abi.StatusSuccess {
					t.Errorf("destroy: %v", s)
				}
				k.work.Delete(q)
				if s := g.DestroyContext(c); s != abi.StatusSuccess {
					t.Errorf("destroy: %v", s)
				}
				k.work.Delete(c)
			}
		})
	}
	others.Go(func() {
		for !stop.Load() {
			if at, ok := g.Next(); ok && at > k.now.Load() {
				k.now.Store(at)
			}
			g.Advance(k.now.Load())
		}
	})
	others.Go(func() {
		for i := uint32(0); !stop.Load(); i++ {
			e := ddi.Engine{NodeOrdinal: i % 2}
			scheduler.Lock()
			switch i % 7 {
			case 0:
				g.Hang(e)
				g.ResetEngine(e)
			case 1:
				g.ResetHwEngine(e)
				g.ResumeHwEngine(e)
			case 2:
				g.ResetFromTimeout()
				g.RestartFromTimeout()
			case 3, 4:
				g.PreemptCommand(e, i)
				g.QueryCurrentFence(e)
			case 5:
				g.PageFault(e, 1)
			}
			scheduler.Unlock()
			if len(g.Engines()) != 3 {
				t.Error("an engine is gone")
			}
		}
	})
	makers.Wait()
	stop.Store(true)
	others.Wait()
	must(t, g.DestroyDevice(device))
	for _, e := range g.Engines() {
		if e.Running || e.Waiting != 0 {
			t.Errorf("left behind: %+v", e)
		}
	}
	g.StopDevice()
}
