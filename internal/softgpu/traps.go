package softgpu

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// A trap waits for a packet of some contexts. The first that runs springs it. GPU.mu
// guards it.
type trap struct {
	queue  *hwQueue   // nil: packets of all queues of the contexts, and of the contexts
	fault  *ddi.Fault // what the packet does; nil: it hangs the engine
	sprung bool
}

// HangNext has an engine hang, as Hang does, while it executes a packet of one of the
// contexts: the one that it executes now, or else the next. It happens once, whichever
// comes first, and replaces what was asked for these contexts before. With a queue that
// is not 0 only packets of that count. Contexts that are not there are left out.
// INVALID_PARAMETER: none of them is, or the queue is not; DEVICE_NOT_READY: the GPU is
// not started.
func (g *GPU) HangNext(contexts []ddi.KmdContext, queue ddi.KmdHwQueue) abi.Status {
	return g.lay(&trap{}, contexts, queue)
}

// PageFaultNext is HangNext for a page fault: the packet reads an address that is not
// mapped.
func (g *GPU) PageFaultNext(contexts []ddi.KmdContext, queue ddi.KmdHwQueue, address uint64) abi.Status {
	return g.lay(&trap{fault: &ddi.Fault{Address: address}}, contexts, queue)
}

func (g *GPU) lay(t *trap, contexts []ddi.KmdContext, queue ddi.KmdHwQueue) abi.Status {
	return g.adjust(func(now int64) abi.Status {
		if queue != 0 {
			if t.queue = g.queues[queue]; t.queue == nil {
				return abi.StatusInvalidParameter
			}
		}
		st := abi.StatusInvalidParameter
		for _, h := range contexts {
			if c := g.contexts[h]; c != nil {
				c.trap, c.engine.asked = t, now
				st = abi.StatusSuccess
			}
		}
		return st
	})
}

// trapped reports whether the packet springs a trap when it is executed.
func (p *packet) trapped() bool {
	t := p.context.trap
	return t != nil && !t.sprung && (t.queue == nil || t.queue == p.queue)
}

// spring lets it happen to the running packet.
func (g *GPU) spring(e *engine, p *packet) {
	t := p.context.trap
	t.sprung, p.context.trap = true, nil
	if t.fault == nil {
		e.hung = true
		return
	}
	g.fault(e, p, t.fault)
}
