// Package driver shows how to write a driver for dxgsync: a GPU with one engine that
// knows a single thing. It fills the memory of each command buffer with ones, whatever was
// there; a byte takes a nanosecond. What it does not have, ddi.Refusals refuses.
package driver

import (
	"bytes"
	"sync"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// A Filler is the driver of one adapter.
type Filler struct {
	ddi.Refusals // hardware queues, engine resets, clocks, CPU events, displays
	cb           ddi.Callbacks
	calling      sync.Mutex                  // held during callbacks, so that others can wait for their end
	mu           sync.Mutex                  // guards what follows; taken after calling, not held during callbacks
	handle       uint64                      // the last that was given out
	memory       map[uint64]ddi.AddressSpace // of devices and contexts
	queue        []job                       // in the order of submission
	free         int64                       // when the last of them is done
	ended        uint32                      // fence id of the last job that did
	preempts     []uint32                    // requests that are not answered yet
}

const maxSize = 1 << 16 // bytes of a command buffer: Advance must not take long

// A job is a command buffer that is not executed yet.
type job struct {
	ddi.SubmitCommandArgs
	memory ddi.AddressSpace
	end    int64 // when it is done
}

// StartDevice is the first call.
func (f *Filler) StartDevice(cb ddi.Callbacks) abi.Status {
	f.cb, f.memory = cb, map[uint64]ddi.AddressSpace{}
	return abi.StatusSuccess
}

// StopDevice is the last call: when it returns, no callback is under way.
func (f *Filler) StopDevice() { f.ResetFromTimeout() }

// Caps says what is not refused beyond contexts: nothing.
func (f *Filler) Caps() ddi.Caps { return 0 }

func (f *Filler) lock() (unlock func()) {
	f.mu.Lock()
	return f.mu.Unlock
}

// CreateDevice keeps the memory that the device's GPU work sees.
func (f *Filler) CreateDevice(args ddi.CreateDeviceArgs) (ddi.KmdDevice, abi.Status) {
	defer f.lock()()
	f.handle++
	f.memory[f.handle] = args.Memory
	return ddi.KmdDevice(f.handle), abi.StatusSuccess
}

// CreateContext makes contexts of the one engine.
func (f *Filler) CreateContext(args ddi.CreateContextArgs) (ddi.KmdContext, abi.Status) {
	defer f.lock()()
	if args.Engine != (ddi.Engine{}) {
		return 0, abi.StatusInvalidParameter
	}
	f.handle++
	f.memory[f.handle] = f.memory[uint64(args.Device)]
	return ddi.KmdContext(f.handle), abi.StatusSuccess
}

// DestroyDevice forgets it.
func (f *Filler) DestroyDevice(d ddi.KmdDevice) abi.Status { return f.destroy(uint64(d)) }

// DestroyContext forgets it. The kernel has seen to it that it has no job left.
func (f *Filler) DestroyContext(c ddi.KmdContext) abi.Status { return f.destroy(uint64(c)) }

func (f *Filler) destroy(handle uint64) abi.Status {
	defer f.lock()()
	delete(f.memory, handle)
	return abi.StatusSuccess
}

// SubmitCommandVirtual appends a job: it begins when the one before ends.
func (f *Filler) SubmitCommandVirtual(args ddi.SubmitCommandArgs) abi.Status {
	defer f.lock()()
	if args.DmaBufferSize > maxSize {
		return abi.StatusInvalidParameter
	}
	f.free = max(f.free, f.cb.Now()) + int64(args.DmaBufferSize)
	f.queue = append(f.queue, job{args, f.memory[uint64(args.Context)], f.free})
	return abi.StatusSuccess
}

// PreemptCommand only notes the request. Advance answers: calls do not call back.
func (f *Filler) PreemptCommand(_ ddi.Engine, fence uint32) {
	defer f.lock()()
	f.queue, f.free, f.preempts = nil, 0, append(f.preempts, fence)
}

// ResetFromTimeout drops everything. Nothing runs any more when it returns.
func (f *Filler) ResetFromTimeout() abi.Status {
	f.calling.Lock()
	defer f.calling.Unlock()
	defer f.lock()()
	f.queue, f.free, f.preempts = nil, 0, nil
	return abi.StatusSuccess
}

// Next is when the first job is done, or at once if there is a request to answer.
func (f *Filler) Next() (at int64, ok bool) {
	defer f.lock()()
	if len(f.preempts) > 0 || len(f.queue) == 0 {
		return 0, len(f.preempts) > 0
	}
	return f.queue[0].end, true
}

// Advance does what is due and reports it, one thing after the other.
func (f *Filler) Advance(now int64) {
	f.calling.Lock()
	defer f.calling.Unlock()
	for i := f.step(now); i != nil; i = f.step(now) {
		f.cb.NotifyInterrupt(i)
	}
}

// step does the next thing that is due; nil: there is none.
func (f *Filler) step(now int64) ddi.Interrupt {
	defer f.lock()()
	switch {
	case len(f.preempts) > 0:
		fence := f.preempts[0]
		f.preempts = f.preempts[1:]
		return ddi.DmaPreempted{PreemptionFenceID: fence, LastCompletedFenceID: f.ended}
	case len(f.queue) > 0 && f.queue[0].end <= now:
		j := f.queue[0]
		f.queue, f.ended = f.queue[1:], j.SubmissionFenceID
		f.mu.Unlock() // memory may need locks of the kernel
		defer f.mu.Lock()
		if fault := j.memory.Write(0, j.DmaBufferVirtualAddress, bytes.Repeat([]byte{1}, int(j.DmaBufferSize))); fault != nil {
			return ddi.DmaPageFaulted{FaultedFenceID: j.SubmissionFenceID, Fault: *fault}
		}
		return ddi.DmaCompleted{SubmissionFenceID: j.SubmissionFenceID}
	}
	return nil
}
