package softgpu

import (
	"math/bits"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// QueryDependentEngineGroup is what the profile says; 0 for an engine that is not there.
// A reset here touches its own engine alone: the group is for the kernel to be asked.
func (g *GPU) QueryDependentEngineGroup(name ddi.Engine) uint64 {
	if g.engineOf(name) == nil {
		return 0
	}
	return g.dependents[name.NodeOrdinal]
}

// ResetEngine aborts what the engine executes, or would have executed next if it was
// hung from outside, and drops what contexts have submitted behind it. Buffers of
// hardware queues stay; one that was executed begins anew, and if it was what hung, the
// engine hangs again, for ResetHwEngine to say whose it is. If no packet of a context was
// aborted, lastAborted is the last that ended. NOT_SUPPORTED without
// PerEngineReset; INVALID_PARAMETER: there is no such engine; UNSUCCESSFUL: resets fail
// on purpose, and nothing happened.
func (g *GPU) ResetEngine(name ddi.Engine) (lastAborted uint32, st abi.Status) {
	defer g.quiet()()
	e, st := g.resettable(name)
	if st != abi.StatusSuccess {
		return 0, st
	}
	lastAborted = e.ended
	victim := e.victim()
	switch {
	case victim == nil:
	case victim.queue == nil:
		lastAborted = uint32(victim.id)
	default:
		if victim == e.running {
			e.requeue()
		}
		if victim.stream().state != stalled { // what is stalled is not on the engine
			victim.restart()
		}
		victim = nil
	}
	e.reset(victim, g.cb.Now())
	return lastAborted, abi.StatusSuccess
}

// ResetHwEngine is the same, and the engine then waits for ResumeHwEngine. Of the
// hardware queues only those of the aborted one's context lose their buffers.
// NOT_SUPPORTED without HwScheduling, too.
func (g *GPU) ResetHwEngine(name ddi.Engine) (aborted ddi.KmdHwQueue, lastAborted uint64, st abi.Status) {
	if !g.caps.Has(ddi.HwScheduling) {
		return 0, 0, abi.StatusNotSupported
	}
	defer g.quiet()()
	e, st := g.resettable(name)
	if st != abi.StatusSuccess {
		return 0, 0, st
	}
	lastAborted = uint64(e.ended)
	victim := e.victim()
	if victim != nil {
		lastAborted = victim.id
		if victim.queue != nil {
			aborted = victim.queue.handle
		}
	}
	e.reset(victim, g.cb.Now())
	e.held = true
	return aborted, lastAborted, abi.StatusSuccess
}

// resettable finds an engine that can be reset.
func (g *GPU) resettable(name ddi.Engine) (*engine, abi.Status) {
	e := g.engineOf(name)
	switch {
	case !g.caps.Has(ddi.PerEngineReset):
		return nil, abi.StatusNotSupported
	case e == nil:
		return nil, abi.StatusInvalidParameter
	case g.refusing:
		return nil, abi.StatusUnsuccessful
	}
	return e, abi.StatusSuccess
}

// victim is the packet that holds the engine up, nil if there is none. A stalled one is
// it only if there is nothing else.
func (e *engine) victim() *packet {
	switch {
	case e.running == nil && e.hung && len(e.line) > 0:
		return e.line[0].head()
	case e.running == nil && len(e.line) == 0 && len(e.stalls) > 0:
		return e.stalls[0].stalled
	}
	return e.running
}

// reset drops the packets of contexts and all of the victim's context, if there is one,
// and forgets what the engine was asked to preempt.
func (e *engine) reset(victim *packet, now int64) {
	e.drop(func(p *packet) bool {
		return p.queue == nil || victim != nil && p.context == victim.context
	}, now)
	e.time = max(e.time, now)
	e.preempts, e.injected, e.hung = nil, nil, false
	e.ended = e.submitted
}

// ResumeHwEngine lets the engine go on. NOT_SUPPORTED without HwScheduling;
// INVALID_PARAMETER: there is no such engine; UNSUCCESSFUL: the profile wants it so.
func (g *GPU) ResumeHwEngine(name ddi.Engine) abi.Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.engineOf(name)
	switch {
	case !g.caps.Has(ddi.HwScheduling):
		return abi.StatusNotSupported
	case e == nil:
		return abi.StatusInvalidParameter
	case g.faults.Resume == adapter.Fail:
		return abi.StatusUnsuccessful
	}
	e.held, e.time = false, max(e.time, g.cb.Now())
	return abi.StatusSuccess
}

// ResetFromTimeout drops everything. Contexts and queues stay, for the kernel to
// destroy; a pending request to suspend one is answered after the restart.
func (g *GPU) ResetFromTimeout() abi.Status {
	defer g.quiet()()
	for _, e := range g.engines {
		suspends := e.suspends
		e.clear()
		e.suspends = suspends
	}
	for _, c := range g.contexts {
		c.parked, c.faulted = nil, false
	}
	g.down = true
	return abi.StatusSuccess
}

// RestartFromTimeout has the engines take work again. UNSUCCESSFUL: the profile wants
// it so.
func (g *GPU) RestartFromTimeout() abi.Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.faults.Restart == adapter.Fail {
		return abi.StatusUnsuccessful
	}
	g.down = false
	for _, e := range g.engines {
		e.time = max(e.time, g.cb.Now())
	}
	return abi.StatusSuccess
}

// CalibrateGpuClock reads the clock of an engine: all go with the profile's frequency and
// began with Callbacks.Now. INVALID_PARAMETER: there is no such engine.
func (g *GPU) CalibrateGpuClock(name ddi.Engine) (ddi.Calibration, abi.Status) {
	if g.engineOf(name) == nil {
		return ddi.Calibration{}, abi.StatusInvalidParameter
	}
	g.mu.Lock()
	cb := g.cb
	g.mu.Unlock()
	now := cb.Now()
	return ddi.Calibration{GpuFrequency: g.clock, GpuClockCounter: g.ticks(now), CpuClockCounter: uint64(max(now, 0))}, abi.StatusSuccess
}

// ticks is what the clock of all engines shows at a moment.
func (g *GPU) ticks(now int64) uint64 {
	hi, lo := bits.Mul64(uint64(max(now, 0)), g.clock)
	ticks, _ := bits.Div64(hi%second, lo, second) // wraps, as a counter does
	return ticks
}

const second = 1_000_000_000 // nanoseconds
