package softgpu

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// SubmitCommandVirtual queues a command buffer. INVALID_PARAMETER: there is no such
// context, or it is not one of this engine. Private data are not looked at.
func (g *GPU) SubmitCommandVirtual(args ddi.SubmitCommandArgs) abi.Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.contexts[args.Context]
	if c == nil || c.engine.name != args.Engine {
		return abi.StatusInvalidParameter
	}
	c.engine.submitted = args.SubmissionFenceID
	p := &packet{
		context: c, id: uint64(args.SubmissionFenceID),
		va: args.DmaBufferVirtualAddress, size: args.DmaBufferSize, flags: args.Flags,
		ready: g.cb.Now(),
	}
	if args.Flags&ddi.SubmitResubmission != 0 {
		p.resume(c.preempted)
		c.preempted = nil
	}
	c.engine.push(p)
	return abi.StatusSuccess
}

// PreemptCommand has the engine drop what contexts have submitted to it so far, the
// command buffer that it executes too: at once, or when a DELAY that cannot be
// preempted ends. A buffer with no command left behind that DELAY is completed. Hardware
// queues go on. The answer comes in Advance. The command buffer goes on where it stopped
// when it is submitted again.
func (g *GPU) PreemptCommand(name ddi.Engine, preemptionFenceID uint32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e := g.engineOf(name); e != nil {
		e.preempts = append(e.preempts, preempt{preemptionFenceID, e.pushed})
		e.asked = g.cb.Now()
	}
}

// QueryCurrentFence waits until what Advance has found complete is reported. There is
// never more to report.
func (g *GPU) QueryCurrentFence(ddi.Engine) { g.quiet()() }
