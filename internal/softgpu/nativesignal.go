package softgpu

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// maxCollapsed is how many fences one interrupt names. Of more it says that it may be any.
const maxCollapsed = 16

// raised is an interrupt of native fences that is still to come.
type raised struct {
	any    bool                 // there is one
	fences []ddi.DxgNativeFence // whose value is above the monitored one
	all    bool                 // they were too many
	queue  ddi.KmdHwQueue       // whose log has them; 0: it is not as simple
}

// raise adds a fence to the interrupt. queue is the one whose log has the signal, or 0.
func (r *raised) raise(f *nativeFence, queue ddi.KmdHwQueue) {
	switch {
	case !r.any:
		r.queue = queue
	case r.queue != queue:
		r.queue = 0
	}
	r.any = true
	switch {
	case r.all || slices.Contains(r.fences, f.name):
	case len(r.fences) == maxCollapsed:
		r.fences, r.all = nil, true
	default:
		r.fences = append(r.fences, f.name)
	}
}

// flushNative reports the interrupt in the form of the profile.
func (g *GPU) flushNative(e *engine) {
	r := e.raised
	if !r.any {
		return
	}
	e.raised = raised{}
	i := ddi.NativeFenceSignaled{Engine: e.name}
	switch g.native.Interrupt {
	case adapter.InterruptArray:
		i.Fences = r.fences
	case adapter.InterruptQueue:
		i.HwQueue = r.queue
	case adapter.InterruptLegacy:
		i.EvaluateLegacyMonitoredFences = true
	}
	g.notify(i)
}

// signalNative stores a value, logs it, and only then looks at the monitored value: whoever
// changes that looks at the value behind.
func (g *GPU) signalNative(e *engine, p *packet, c cmdbuf.SignalNative) (bad bool, f *ddi.Fault) {
	v := p.context.memory.native[c.VA]
	if v == nil {
		return true, nil
	}
	fence := v.fence
	if fence.always {
		return false, nil
	}
	var log fenceLog
	var entry event
	var queue ddi.KmdHwQueue // whose log has it
	if p.queue != nil && p.queue.signals.entries > 0 {
		log = p.queue.signals
		entry = event{c.Value, c.Fence, abi.NativeFenceLogSignalExecuted, 0, g.ticks(e.time)}
	}
	monitored, stored := uint64(0), false
	f = g.access(p, func(m ddi.AddressSpace) (f *ddi.Fault) {
		if f = m.Store64(e.name.EngineOrdinal, c.VA, c.Value); f != nil {
			return f
		}
		stored = true
		if g.log(log, e.name.EngineOrdinal, m, entry) {
			queue = p.queue.handle
		}
		if fence.peers != nil {
			fence.peers.Kick(fence.name)
		}
		monitored, f = m.Load64(e.name.EngineOrdinal, c.Monitored)
		return f
	})
	if stored {
		fence.last = e
		g.wake(fence, c.Value, e.time)
	}
	if f == nil && c.Value > monitored {
		e.raised.raise(fence, queue)
	}
	return false, f
}

// interruptLate reports fences that were found above their monitored value by the CPU's
// side. The caller holds calling and mu.
func (g *GPU) interruptLate() {
	list := g.late
	g.late = nil
	for _, f := range list {
		e := f.last
		if e == nil {
			e = g.engines[0]
		}
		f.late = false
		e.raised.raise(f, 0)
	}
	for _, f := range list {
		if f.last != nil {
			g.flushNative(f.last)
		}
	}
	g.flushNative(g.engines[0])
}
