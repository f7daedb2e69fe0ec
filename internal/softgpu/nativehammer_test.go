package softgpu

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// CPU waiters come while two engines signal, as the kernel has them: it lowers the monitored
// value, looks at the current one, and sleeps until an interrupt if that is too low. None
// sleeps for ever, with each form of interrupt, and with the shadow of optimized fences.
func TestHammerOfMonitoredValues(t *testing.T) {
	for _, form := range []adapter.NativeInterrupt{adapter.InterruptArray, adapter.InterruptAny, adapter.InterruptQueue, adapter.InterruptLegacy} {
		for _, shadow := range []bool{false, true} {
			t.Run(form.String(), func(t *testing.T) { hammerMonitored(t, form, shadow) })
		}
	}
}

// A bell is an interrupt that one waiter sleeps on.
type bell struct {
	*strictKernel
	mu   sync.Mutex
	cond *sync.Cond
	rung int
}

func (b *bell) NotifyInterrupt(i ddi.Interrupt) {
	if i.Type() == ddi.TypeNativeFenceSignaled {
		b.mu.Lock()
		b.rung++
		b.mu.Unlock()
		b.cond.Broadcast()
	}
}

func hammerMonitored(t *testing.T, form adapter.NativeInterrupt, shadow bool) {
	const rounds = 400
	k := &bell{strictKernel: &strictKernel{t: t, fences: true, optimized: shadow}}
	k.cond = sync.NewCond(&k.mu)
	r := newRigOf(t, func(p *adapter.Profile) { p.NativeFence.Interrupt = form }, k.strictKernel, k)
	va := r.fences[0].va
	kmd, current, monitored := r.fences[0].kmd, r.m.word(va), r.m.word(va+8)
	slept := 0
	r.m.pause = dawdle // between a signal's two looks, for example
	var stop atomic.Bool
	var engines sync.WaitGroup
	engines.Go(func() {
		for !stop.Load() {
			r.g.Advance(0)
			runtime.Gosched()
		}
	})
	// The CPU lets the engines go, in turns, and lowers the monitored value meanwhile.
	gate := r.fences[1]
	for i := range uint64(2) {
		buf := cmdbuf.New()
		for v := i; v < rounds; v += 2 {
			buf.Wait(gate.va, v+1, 2).Wait(va, v, 1).SignalNative(va, v+1, va+8, 1)
		}
		at, size := r.place(buf)
		r.submit(int(i), at, size)
	}
	for want := uint64(1); want <= rounds; want++ {
		r.m.word(gate.va).Store(want)
		r.g.UpdateCurrentValuesFromCpu([]ddi.CurrentValueUpdate{{Fence: gate.kmd, Value: want}}, 0)
		for range want % 7 {
			runtime.Gosched()
		}
		r.g.UpdateMonitoredValues([]ddi.MonitoredValueUpdate{{Fence: kmd, Value: want - 1, MonitoredValue: monitored}})
		k.mu.Lock()
		for seen := k.rung; current.Load() < want; seen = k.rung {
			for k.rung == seen {
				slept++
				k.cond.Wait() // for ever, if the interrupt is lost
			}
		}
		k.mu.Unlock()
		r.g.UpdateMonitoredValues([]ddi.MonitoredValueUpdate{{Fence: kmd, Value: any64, MonitoredValue: monitored}})
	}
	stop.Store(true)
	engines.Wait()
	if current.Load() != rounds || slept == 0 || slept > 3*rounds {
		t.Errorf("%d of %d reached, slept %d times", current.Load(), rounds, slept)
	}
}

func dawdle() {
	for range rand.IntN(4) {
		runtime.Gosched()
	}
}

// GPU waits come and go while the CPU signals, peers kick, contexts are suspended and
// resumed, and local objects are closed: each buffer ends.
func TestHammerOfStalls(t *testing.T) {
	const rounds = 300
	k := &strictKernel{t: t, fences: true}
	r := newRigOf(t, nil, k, k)
	r.m.pause = dawdle // between the look of a WAIT and the stall, for example
	for _, q := range r.queues {
		k.work.Store(r.g.queues[q].context.handle, true)
	}
	var engines, others sync.WaitGroup
	var stop atomic.Bool
	engines.Go(func() {
		for !stop.Load() {
			r.g.Advance(0)
			runtime.Gosched()
		}
	})
	engines.Go(func() { // takes note of kicks, also while the engines look
		for !stop.Load() {
			r.g.Next()
			runtime.Gosched()
		}
	})
	for i := range 2 {
		f := r.fences[i]
		word := r.m.word(f.va)
		done := r.m.word(base + 256 + uint64(i)*8)
		buf := cmdbuf.New()
		for v := range uint64(rounds) {
			buf.Wait(f.va, v+1, 1).Write64(base+256+uint64(i)*8, v+1)
		}
		at, size := r.place(buf)
		r.submit(i, at, size)
		context := r.g.queues[r.queues[i]].context.handle
		others.Go(func() {
			for v := range uint64(rounds) {
				word.Store(v + 1)
				switch v % 3 {
				case 0:
					r.g.UpdateCurrentValuesFromCpu([]ddi.CurrentValueUpdate{{Fence: f.kmd, Value: v + 1}}, 0)
				case 1:
					r.g.UpdateCurrentValuesFromCpu([]ddi.CurrentValueUpdate{{Fence: f.kmd}}, ddi.NotificationOnly)
				case 2:
					r.g.KickNativeFence(f.name)
				}
				if v%5 == 0 {
					r.g.SuspendContext(context, v)
					r.g.ResumeContext(context)
				}
				for done.Load() < v+1 { // for ever, if the news are lost
					runtime.Gosched()
				}
			}
		})
	}
	others.Go(func() { // of no importance to the others
		for range rounds {
			f := r.fences[2]
			h, st := r.g.OpenNativeFence(ddi.OpenNativeFenceArgs{Fence: f.kmd, Device: r.device, CurrentValueGpuVa: f.va})
			if !st.OK() || !r.g.CloseNativeFence(h).OK() {
				t.Error("open and close")
			}
			r.g.UpdateNativeFenceLogs(r.queues[:])
		}
	})
	others.Wait()
	stop.Store(true)
	engines.Wait()
}
