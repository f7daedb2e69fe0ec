package bench

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dxgsync/dxgsync"
)

// The measurements within one process, on a kernel of its own.
var local = map[string]func() (float64, error){
	"P.value":                    onFence(false, value),
	"P.signal_none":              onFence(false, signalNone),
	"P.signal_none_shared":       onFence(true, signalNone),
	"P.wait_satisfied":           onFence(false, waitSatisfied),
	"P.wait_any32_satisfied":     onDevice(waitAnySatisfied),
	"P.pingpong_goroutine.rtt":   onDevice(func(d *dxgsync.Device) (float64, error) { return goroutines(d, 1) }),
	"P.wait_any32_goroutine.rtt": onDevice(func(d *dxgsync.Device) (float64, error) { return goroutines(d, 32) }),
	"P.waiters10k.signal":        onDevice(func(d *dxgsync.Device) (float64, error) { return manyWaiters(d, false) }),
	"P.waiters10k.until_ran":     onDevice(func(d *dxgsync.Device) (float64, error) { return manyWaiters(d, true) }),
	"P.create_destroy":           onDevice(func(d *dxgsync.Device) (float64, error) { return createDestroy(d, false) }),
	"P.create_destroy_shared":    onDevice(func(d *dxgsync.Device) (float64, error) { return createDestroy(d, true) }),
	"P.memory_private":           onDevice(memoryPrivate),
	"P.memory_waiter":            onDevice(memoryWaiter),
	"P.million_private":          onDevice(millionPrivate),
	"P.million_gc":               onDevice(millionGC),
	"P.queue_chain_prefilled":    onDevice(perLink(1000, chain(1000, 1, true))),
	"P.queue_chain_streamed":     onDevice(perLink(1000, chain(1000, 1, false))),
	"P.queue_chain_two_queues":   onDevice(perLink(1000, chain(1000, 2, true))),
	"P.queue_chain_512":          onDevice(chain(512, 1, true)),
	"P.queue_pending_1":          onDevice(pendingWaits(1)),
	"P.queue_pending_1000":       onDevice(pendingWaits(1000)),
	"P.queue_pending_100000":     onDevice(pendingWaits(100_000)),
	"P.gpu_write_wake":           onDevice(submitToWake),
	"P.gpu_write":                onDevice(gpuSignals(false)),
	"P.native.signal_no_waiter":  onDevice(gpuSignals(true)),
	"P.gpu_chain":                onDevice(gpuChain(packetChain)),
	"P.native.gpu_chain":         onDevice(gpuChain(commandChain)),
	"P.native.gpu_chain_buffers": onDevice(gpuChain(bufferChain)),
	"P.interrupts":               interrupts(signalsMonitored, false),
	"P.native.interrupts":        interrupts(signalsNative, false),
	"P.native.interrupts_waited": interrupts(signalsNative, true),
	"P.vsync60.jitter.p99":       vsyncJitter(60, 2),
	"P.vsync240.jitter.p99":      vsyncJitter(240, 1),
}

// open opens a session with a device.
func open(options ...dxgsync.Option) (*dxgsync.Session, *dxgsync.Device, error) {
	s, err := dxgsync.Open(options...)
	if err != nil {
		return nil, nil, err
	}
	d, err := s.NewDevice()
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, d, nil
}

func onDevice(f func(*dxgsync.Device) (float64, error)) func() (float64, error) {
	return func() (float64, error) {
		s, d, err := open()
		if err != nil {
			return 0, err
		}
		defer s.Close()
		return f(d)
	}
}

func onFence(shared bool, f func(*dxgsync.Fence) float64) func() (float64, error) {
	return onDevice(func(d *dxgsync.Device) (float64, error) {
		fence, err := d.NewFence(dxgsync.FenceOptions{Shared: shared})
		if err != nil {
			return 0, err
		}
		return f(fence), nil
	})
}

func value(f *dxgsync.Fence) float64 {
	return loop(func(n int) {
		var sum uint64
		for range n {
			sum += f.Value()
		}
		sink.Store(sum)
	})
}

func signalNone(f *dxgsync.Fence) float64 {
	v := f.Value()
	return loop(func(n int) {
		for range n {
			v++
			if f.Signal(v) != nil {
				panic("bench: a signal failed")
			}
		}
	})
}

func waitSatisfied(f *dxgsync.Fence) float64 {
	if f.Signal(5) != nil {
		panic("bench: a signal failed")
	}
	ctx := context.Background()
	return loop(func(n int) {
		for range n {
			if f.Wait(ctx, 5) != nil {
				panic("bench: a wait failed")
			}
		}
	})
}

// points makes n fences and asks for value 1 of each; only the last has it.
func points(d *dxgsync.Device, n int) ([]dxgsync.Point, error) {
	ps := make([]dxgsync.Point, n)
	for i := range ps {
		f, err := d.NewFence(dxgsync.FenceOptions{})
		if err != nil {
			return nil, err
		}
		ps[i] = f.At(1)
	}
	return ps, nil
}

func waitAnySatisfied(d *dxgsync.Device) (float64, error) {
	ps, err := points(d, 32)
	if err != nil {
		return 0, err
	}
	if err := ps[31].Fence.Signal(1); err != nil {
		return 0, err
	}
	ctx := context.Background()
	return loop(func(n int) {
		for range n {
			if i, err := dxgsync.WaitAny(ctx, ps...); i != 31 || err != nil {
				panic("bench: a wait failed")
			}
		}
	}), nil
}

// goroutines plays ping-pong between two goroutines, each waiting for any of n
// fences of which only the last is signalled.
func goroutines(d *dxgsync.Device, n int) (float64, error) {
	ping, err := points(d, n)
	if err != nil {
		return 0, err
	}
	pong, err := points(d, n)
	if err != nil {
		return 0, err
	}
	const never = 1 << 62
	for i := range n - 1 {
		ping[i].Value, pong[i].Value = never, never
	}
	ctx := context.Background()
	await := func(ps []dxgsync.Point, v uint64) {
		var err error
		if n == 1 {
			err = ps[0].Fence.Wait(ctx, v)
		} else {
			ps[n-1].Value = v
			_, err = dxgsync.WaitAny(ctx, ps...)
		}
		if err != nil {
			panic(err)
		}
	}
	var stop atomic.Bool
	var other sync.WaitGroup
	other.Go(func() {
		for v := uint64(1); !stop.Load(); v++ {
			await(ping, v)
			_ = pong[n-1].Fence.Signal(v)
		}
	})
	v := uint64(0)
	step := func() {
		v++
		_ = ping[n-1].Fence.Signal(v)
		await(pong, v)
	}
	ns := loop(func(n int) {
		for range n {
			step()
		}
	})
	stop.Store(true)
	step() // it may have gone to wait before it could see the flag
	other.Wait()
	return ns, nil
}

// manyWaiters has 10,000 goroutines wait for 10,000 values of one fence and
// signals them one after the other.
func manyWaiters(d *dxgsync.Device, untilRan bool) (float64, error) {
	f, err := d.NewFence(dxgsync.FenceOptions{})
	if err != nil {
		return 0, err
	}
	var asleep, ran atomic.Int64
	for i := range crowd {
		go func() {
			asleep.Add(1)
			if f.Wait(context.Background(), uint64(i+1)) == nil {
				ran.Add(1)
			}
		}()
	}
	settle(&asleep)
	begin := time.Now()
	for i := range int64(crowd) {
		_ = f.Signal(uint64(i + 1))
		for untilRan && ran.Load() <= i {
			runtime.Gosched()
		}
	}
	took := time.Since(begin)
	for ran.Load() < crowd {
		runtime.Gosched()
	}
	return float64(took.Nanoseconds()) / crowd, nil
}

func createDestroy(d *dxgsync.Device, shared bool) (float64, error) {
	var failed error
	ns := loop(func(n int) {
		for range n {
			f, err := d.NewFence(dxgsync.FenceOptions{Shared: shared})
			if err != nil {
				failed = err
				return
			}
			_ = f.Close()
		}
	})
	return ns, failed
}

// makeMany makes n private fences and returns how long that took.
func makeMany(d *dxgsync.Device, n int) ([]*dxgsync.Fence, time.Duration, error) {
	begin := time.Now()
	all := make([]*dxgsync.Fence, n)
	for i := range all {
		var err error
		if all[i], err = d.NewFence(dxgsync.FenceOptions{}); err != nil {
			return nil, 0, err
		}
	}
	return all, time.Since(begin), nil
}

const idle = 1_000_000

func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// memoryPrivate is in bytes per idle fence, its handle and its pointer included.
func memoryPrivate(d *dxgsync.Device) (float64, error) {
	before := heapBytes()
	all, _, err := makeMany(d, idle)
	used := float64(heapBytes()-before) / idle
	runtime.KeepAlive(all)
	return used, err
}

// memoryWaiter is in bytes per blocked goroutine.
func memoryWaiter(d *dxgsync.Device) (float64, error) {
	f, err := d.NewFence(dxgsync.FenceOptions{})
	if err != nil {
		return 0, err
	}
	before := resident()
	var asleep atomic.Int64
	var done sync.WaitGroup
	for i := range crowd {
		done.Go(func() {
			asleep.Add(1)
			_ = f.Wait(context.Background(), uint64(i+1))
		})
	}
	settle(&asleep)
	used := float64(resident()-before) / crowd
	_ = f.Signal(crowd)
	done.Wait()
	return used, nil
}

// millionPrivate is in milliseconds for all of them.
func millionPrivate(d *dxgsync.Device) (float64, error) {
	all, took, err := makeMany(d, idle)
	runtime.KeepAlive(all)
	return float64(took.Microseconds()) / 1000, err
}

// millionGC is a full collection with a million idle fences, in milliseconds.
func millionGC(d *dxgsync.Device) (float64, error) {
	all, _, err := makeMany(d, idle)
	if err != nil {
		return 0, err
	}
	runtime.GC()
	begin := time.Now()
	runtime.GC()
	took := time.Since(begin)
	runtime.KeepAlive(all)
	return float64(took.Microseconds()) / 1000, nil
}
