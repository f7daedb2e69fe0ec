package softgpu

import (
	"maps"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// MaxCpuEvents is how many CPU events a GPU takes. Further ones are refused with
// NO_MEMORY.
const MaxCpuEvents = 1 << 16

// CreateCpuEvent takes a CPU event.
func (g *GPU) CreateCpuEvent(_ ddi.KmdDevice, event ddi.DxgCpuEvent) (ddi.KmdCpuEvent, abi.Status) {
	if !g.caps.Has(ddi.SignalCpuEvent) {
		return 0, abi.StatusNotSupported
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.events) == MaxCpuEvents {
		return 0, abi.StatusNoMemory
	}
	h := ddi.KmdCpuEvent(g.newHandle())
	g.events[h] = event
	return h, abi.StatusSuccess
}

// DestroyCpuEvent gives it back. It waits for a signal under way.
func (g *GPU) DestroyCpuEvent(event ddi.KmdCpuEvent) abi.Status {
	g.calling.Lock()
	defer g.calling.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.events[event]; !ok {
		return abi.StatusInvalidParameter
	}
	delete(g.events, event)
	return abi.StatusSuccess
}

// SignalCpuEvent has the driver decide to signal an event. Its result is that of
// the callback SignalEvent. INVALID_PARAMETER: there is no such event here (any
// more).
func (g *GPU) SignalCpuEvent(event ddi.KmdCpuEvent) abi.Status {
	g.calling.Lock()
	defer g.calling.Unlock()
	g.mu.Lock()
	e, ok := g.events[event]
	cb := g.cb
	g.mu.Unlock()
	if !ok {
		return abi.StatusInvalidParameter
	}
	return cb.SignalEvent(e)
}

// CpuEvents lists the events that are here, in order of creation.
func (g *GPU) CpuEvents() []ddi.KmdCpuEvent {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.events))
}
