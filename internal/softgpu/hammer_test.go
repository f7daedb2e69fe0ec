package softgpu

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// A strictKernel complains about a callback that names an object after its
// destruction. Object n is alive while alive[n] is set.
type strictKernel struct {
	t       *testing.T
	now     atomic.Int64
	events  [64]atomic.Bool
	notes   [64]atomic.Bool
	signals atomic.Int64
	fired   atomic.Int64
}

func (k *strictKernel) SignalEvent(e ddi.DxgCpuEvent) abi.Status {
	k.signals.Add(1)
	if !k.events[e].Load() {
		k.t.Errorf("event %d was signalled after it was destroyed", e)
	}
	return abi.StatusSuccess
}

func (k *strictKernel) NotifyInterrupt(i ddi.Interrupt) {
	k.fired.Add(1)
	if n := i.(ddi.PeriodicMonitoredFenceSignaled).NotificationID; !k.notes[n].Load() {
		k.t.Errorf("notification %d fired after it was destroyed", n)
	}
}

func (k *strictKernel) Now() int64 { return k.now.Load() }
func (k *strictKernel) Rearm()     {}

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
