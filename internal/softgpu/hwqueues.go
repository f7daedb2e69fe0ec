package softgpu

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
)

// A hwQueue is a hardware queue. Its buffers wait in its stream, or in its context while
// that is suspended. The rest does not change.
type hwQueue struct {
	handle   ddi.KmdHwQueue
	context  *context
	progress uint64 // the GPU virtual address of its progress fence
	stream   stream
	// The logs of native fences, which change only while GPU.calling is held too.
	waits, signals fenceLog
	user           bool // programs submit to it, by doorbells

	// Of one that programs submit to; GPU.mu guards it.
	bells   []*doorbell        // in the order of their making
	left    []cmdbuf.RingEntry // rung on doorbells that are gone
	fed     bool               // a packet of it is on the engine, or parked
	entries uint64             // so far; the id of its latest packet
}

// CreateHwQueue makes a hardware queue. NOT_SUPPORTED without HwScheduling, and without
// UserModeSubmission one that programs submit to; INVALID_PARAMETER: there is no such context. Private data are not looked at.
func (g *GPU) CreateHwQueue(args ddi.CreateHwQueueArgs) (ddi.KmdHwQueue, abi.Status) {
	if !g.caps.Has(ddi.HwScheduling) || args.Flags&abi.HwQueueUserModeSubmission != 0 && !g.caps.Has(ddi.UserModeSubmission) {
		return 0, abi.StatusNotSupported
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.contexts[args.Context]
	if c == nil {
		return 0, abi.StatusInvalidParameter
	}
	if len(g.queues) == MaxHwQueues {
		return 0, abi.StatusNoMemory
	}
	h := ddi.KmdHwQueue(g.newHandle())
	g.queues[h] = &hwQueue{
		handle: h, context: c, progress: args.ProgressFenceGpuVirtualAddress, user: args.Flags&abi.HwQueueUserModeSubmission != 0,
	}
	return h, abi.StatusSuccess
}

// DestroyHwQueue forgets it. What it had on the engine is dropped without a word.
func (g *GPU) DestroyHwQueue(h ddi.KmdHwQueue) abi.Status {
	defer g.quiet()()
	q := g.queues[h]
	if q == nil {
		return abi.StatusInvalidParameter
	}
	its := func(p *packet) bool { return p.queue == q }
	q.context.engine.drop(its, g.cb.Now())
	q.context.parked = slices.DeleteFunc(q.context.parked, its)
	for len(q.bells) > 0 {
		g.forgetBell(q.bells[0])
	}
	g.spoilt = slices.DeleteFunc(g.spoilt, func(o *hwQueue) bool { return o == q })
	delete(g.queues, h)
	return abi.StatusSuccess
}

// SubmitCommandToHwQueue queues a command buffer. INVALID_PARAMETER: there is no such
// queue, or programs submit to it.
func (g *GPU) SubmitCommandToHwQueue(args ddi.SubmitCommandToHwQueueArgs) abi.Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := g.queues[args.HwQueue]
	if q == nil || q.user {
		return abi.StatusInvalidParameter
	}
	p := &packet{
		context: q.context, queue: q, id: args.HwQueueProgressFenceID,
		va: args.DmaBufferVirtualAddress, size: args.DmaBufferSize, flags: args.Flags,
		ready: g.cb.Now(),
	}
	if q.context.suspended {
		q.context.parked = append(q.context.parked, p)
	} else {
		q.context.engine.push(p)
	}
	return abi.StatusSuccess
}

// SuspendContext has the engine take the buffers of the context's hardware queues off.
// The one that it executes stops where it is, between two commands or within a long
// one, and goes on there after ResumeContext. INVALID_PARAMETER: there is no such
// context. Otherwise SUCCESS if it is suspended already; else PENDING, and the answer
// comes in Advance. A further call while one is pending takes its place.
func (g *GPU) SuspendContext(h ddi.KmdContext, contextSuspendFence uint64) abi.Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.contexts[h]
	switch {
	case c == nil:
		return abi.StatusInvalidParameter
	case c.suspended:
		return abi.StatusSuccess
	}
	c.suspendFence = contextSuspendFence
	if e := c.engine; !slices.Contains(e.suspends, c) {
		e.suspends = append(e.suspends, c)
		e.asked = g.cb.Now()
	}
	return abi.StatusPending
}

// ResumeContext puts the buffers back, in their order, behind those that the engine has
// meanwhile. A pending request to suspend the context is forgotten and not answered.
// INVALID_PARAMETER: there is no such context.
func (g *GPU) ResumeContext(h ddi.KmdContext) abi.Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.contexts[h]
	if c == nil {
		return abi.StatusInvalidParameter
	}
	now := g.cb.Now()
	for _, p := range c.parked {
		p.ready = now
		c.engine.push(p)
	}
	c.parked, c.suspended = nil, false
	c.engine.forget(c)
	return abi.StatusSuccess
}
