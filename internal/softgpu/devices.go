package softgpu

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// Limits of one GPU. Beyond them creating answers NO_MEMORY. How many command buffers
// wait is the kernel's to bound.
const (
	MaxDevices  = 1 << 16
	MaxContexts = 1 << 16
	MaxHwQueues = 1 << 16
)

// A context is a stream of command buffers on one engine. GPU.mu guards it.
type context struct {
	handle ddi.KmdContext
	memory *space
	engine *engine

	// One of its buffers has faulted: the others do nothing. The kernel decides what
	// becomes of it, and until it has, nothing may happen behind the fault.
	faulted bool
	// The one of its buffers that was executed when it was preempted, nil: none. It goes on
	// when it is submitted again.
	preempted *packet
	// The buffers of its hardware queues are off the engine, in parked.
	suspended bool
	parked    []*packet
	// The fence of the latest request to suspend it, while that is pending: it is in
	// engine.suspends then.
	suspendFence uint64

	trap *trap // sprung by its packets; nil: none
}

// CreateDevice keeps the memory that the device's commands see; nil is none.
func (g *GPU) CreateDevice(args ddi.CreateDeviceArgs) (ddi.KmdDevice, abi.Status) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.devices) == MaxDevices {
		return 0, abi.StatusNoMemory
	}
	h := ddi.KmdDevice(g.newHandle())
	g.devices[h] = g.space(args.Memory)
	return h, abi.StatusSuccess
}

// DestroyDevice forgets it.
func (g *GPU) DestroyDevice(device ddi.KmdDevice) abi.Status {
	defer g.quiet()()
	s := g.devices[device]
	if s == nil {
		return abi.StatusInvalidParameter
	}
	g.leave(s)
	delete(g.devices, device)
	return abi.StatusSuccess
}

// CreateContext makes a context of an engine. Private data of any form are taken, since
// programs written for other GPUs send their own. INVALID_PARAMETER: there is no such
// device or engine.
func (g *GPU) CreateContext(args ddi.CreateContextArgs) (ddi.KmdContext, abi.Status) {
	g.mu.Lock()
	defer g.mu.Unlock()
	memory := g.devices[args.Device]
	e := g.engineOf(args.Engine)
	if memory == nil || e == nil {
		return 0, abi.StatusInvalidParameter
	}
	if len(g.contexts) == MaxContexts {
		return 0, abi.StatusNoMemory
	}
	h := ddi.KmdContext(g.newHandle())
	g.contexts[h] = &context{handle: h, memory: memory, engine: e}
	return h, abi.StatusSuccess
}

// DestroyContext forgets it. What it had on the engine is dropped without a word.
func (g *GPU) DestroyContext(h ddi.KmdContext) abi.Status {
	defer g.quiet()()
	c := g.contexts[h]
	if c == nil {
		return abi.StatusInvalidParameter
	}
	c.engine.drop(func(p *packet) bool { return p.context == c }, g.cb.Now())
	c.engine.forget(c)
	delete(g.contexts, h)
	return abi.StatusSuccess
}

// quiet waits for callbacks and accesses under way and keeps further ones away until
// its result is called. Both locks are held between.
func (g *GPU) quiet() (done func()) {
	g.calling.Lock()
	g.mu.Lock()
	return func() {
		g.mu.Unlock()
		g.calling.Unlock()
	}
}

// engineOf finds an engine, nil if there is none of this name. The caller need not hold
// mu.
func (g *GPU) engineOf(name ddi.Engine) *engine {
	nodes := uint64(len(g.dependents))
	i := uint64(name.EngineOrdinal)*nodes + uint64(name.NodeOrdinal)
	if uint64(name.NodeOrdinal) >= nodes || i >= uint64(len(g.engines)) {
		return nil
	}
	return g.engines[i]
}
