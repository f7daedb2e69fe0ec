package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
	"github.com/dxgsync/dxgsync/internal/softgpu"
)

// gpuSignals measures commands that store a value, in nanoseconds each: to plain memory,
// or to a native fence that nobody waits for. A command buffer has thousands.
func gpuSignals(native bool) func(*dxgsync.Device) (float64, error) {
	return func(d *dxgsync.Device) (float64, error) {
		const commands = 10_000
		f, err := d.NewNativeFence(dxgsync.NativeFenceOptions{})
		if err != nil {
			return 0, err
		}
		memory, err := d.NewBuffer(8)
		if err != nil {
			return 0, err
		}
		q, err := d.NewHwQueue(dxgsync.HwQueueOptions{})
		if err != nil {
			return 0, err
		}
		cb := new(dxgsync.CommandBuffer)
		for v := range uint64(commands) {
			if native {
				cb.SignalNative(f, v+1)
			} else {
				cb.Add(cmdbuf.Write64{VA: memory.GPUAddress(), Value: v + 1})
			}
		}
		ns, err := play(func() error {
			p, err := q.Submit(cb)
			if err != nil {
				return err
			}
			return p.Wait(context.Background())
		})
		return ns / commands, err
	}
}

const gpuLinks = 1000

// A chainKind is how the links of a chain from engine to engine are made.
type chainKind int

const (
	packetChain  chainKind = iota // of a packet that waits for a monitored fence and one with commands that signal it
	bufferChain                   // of a packet with commands that wait for a native fence and signal it
	commandChain                  // of such commands, all those of an engine in one packet
)

// gpuChain measures how long a value takes from engine to engine: two hardware queues on
// two nodes, each link signals what the other waits for. All is queued before the time is
// taken, and a CPU signal lets it go.
func gpuChain(kind chainKind) func(*dxgsync.Device) (float64, error) {
	return func(d *dxgsync.Device) (float64, error) {
		var queues [2]*dxgsync.HwQueue
		for i := range queues {
			var err error
			if queues[i], err = d.NewHwQueue(dxgsync.HwQueueOptions{Node: uint32(i)}); err != nil {
				return 0, err
			}
		}
		took := make([]float64, 41)
		for i := range took {
			once, err := chainOnce(d, queues, kind)
			if err != nil {
				return 0, err
			}
			took[i] = float64(once.Nanoseconds())
		}
		ns, _ := median(took) // as typical does, of what takes two processors at once
		return ns / gpuLinks, nil
	}
}

func chainOnce(d *dxgsync.Device, queues [2]*dxgsync.HwQueue, kind chainKind) (time.Duration, error) {
	f, err := queueChain(d, queues, kind)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	begin := time.Now()
	if err := f.Signal(1); err != nil {
		return 0, err
	}
	if err := f.Wait(context.Background(), gpuLinks+1); err != nil {
		return 0, err
	}
	took := time.Since(begin)
	return took, d.WaitIdle(context.Background()) // before the fence goes
}

func queueChain(d *dxgsync.Device, queues [2]*dxgsync.HwQueue, kind chainKind) (*dxgsync.Fence, error) {
	if kind == packetChain {
		f, err := d.NewFence(dxgsync.FenceOptions{})
		for v := uint64(1); v <= gpuLinks && err == nil; v++ {
			if err = queues[v%2].Wait(f.At(v)); err == nil {
				_, err = queues[v%2].Submit(new(dxgsync.CommandBuffer).Signal(f, v+1))
			}
		}
		return f, err
	}
	f, err := d.NewNativeFence(dxgsync.NativeFenceOptions{})
	if err != nil {
		return nil, err
	}
	var lists [2]dxgsync.CommandBuffer
	for v := uint64(1); v <= gpuLinks && err == nil; v++ {
		cb := lists[v%2].WaitNative(f, v).SignalNative(f, v+1)
		if kind == bufferChain || v > gpuLinks-2 {
			_, err = queues[v%2].Submit(cb)
			cb.Reset()
		}
	}
	return &f.Fence, err
}

// interrupts counts those of a thousand signals by commands, each by itself: what a
// driver tells the kernel of values, not of packets.
func interrupts(signal func(*dxgsync.Device) (*dxgsync.Fence, func(v uint64) *dxgsync.CommandBuffer, error), waited bool) func() (float64, error) {
	return func() (float64, error) {
		var told atomic.Int64
		cfg := kernel.Config{Driver: func(p *adapter.Profile) ddi.Driver { return &countedGPU{softgpu.New(p), &told} }}
		daemon, err := server.NewDaemon(cfg, server.Config{KernelID: 1})
		if err != nil {
			return 0, err
		}
		defer daemon.Close()
		address := fmt.Sprintf("@dxgsync-bench-%d", os.Getpid())
		if err := daemon.Open(address); err != nil {
			return 0, err
		}
		s, d, err := open(dxgsync.WithDaemon(address))
		if err != nil {
			return 0, err
		}
		defer s.Close()
		f, commands, err := signal(d)
		if err != nil {
			return 0, err
		}
		c, err := d.NewContext(dxgsync.ContextOptions{})
		if err != nil {
			return 0, err
		}
		before := told.Load()
		for v := uint64(1); v <= 1000; v++ {
			if waited {
				event, err := f.Notify(v)
				if err != nil {
					return 0, err
				}
				defer event.Close()
			}
			p, err := c.Submit(commands(v))
			if err != nil {
				return 0, err
			}
			for p.Fence.Value() < v { // a wait would count
				runtime.Gosched()
			}
		}
		return float64(told.Load() - before), nil
	}
}

// A countedGPU is a GPU whose interrupts for values are counted.
type countedGPU struct {
	*softgpu.GPU
	told *atomic.Int64
}

func (g *countedGPU) StartDevice(cb ddi.Callbacks) abi.Status {
	return g.GPU.StartDevice(countedCallbacks{cb, g.told})
}

type countedCallbacks struct {
	ddi.Callbacks
	told *atomic.Int64
}

func (c countedCallbacks) NotifyInterrupt(i ddi.Interrupt) {
	switch i.(type) {
	case ddi.NativeFenceSignaled, ddi.MonitoredFenceSignaled:
		c.told.Add(1)
	}
	c.Callbacks.NotifyInterrupt(i)
}

func signalsMonitored(d *dxgsync.Device) (*dxgsync.Fence, func(uint64) *dxgsync.CommandBuffer, error) {
	f, err := d.NewFence(dxgsync.FenceOptions{})
	return f, func(v uint64) *dxgsync.CommandBuffer { return new(dxgsync.CommandBuffer).Signal(f, v) }, err
}

func signalsNative(d *dxgsync.Device) (*dxgsync.Fence, func(uint64) *dxgsync.CommandBuffer, error) {
	f, err := d.NewNativeFence(dxgsync.NativeFenceOptions{})
	if err != nil {
		return nil, nil, err
	}
	return &f.Fence, func(v uint64) *dxgsync.CommandBuffer { return new(dxgsync.CommandBuffer).SignalNative(f, v) }, nil
}
