package softgpu

import (
	"cmp"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
)

// A wait is a WAIT that was looked at in vain. Its packet keeps it while it is suspended
// or preempted: what it waited for then may be closed when it goes on.
type wait struct {
	view  *view
	value uint64
	order uint64 // among all of the GPU
	since int64  // it was looked at first then
}

// waits are stalled packets, by the value that they wait for.
type waits []*packet

func (w waits) find(p *packet) (at int, ok bool) {
	return slices.BinarySearchFunc(w, p.wait, func(o *packet, x *wait) int {
		return cmp.Or(cmp.Compare(o.wait.value, x.value), cmp.Compare(o.wait.order, x.order))
	})
}

func (w *waits) insert(p *packet) {
	at, _ := w.find(p)
	*w = slices.Insert(*w, at, p)
}

func (w *waits) remove(p *packet) {
	if at, ok := w.find(p); ok {
		*w = slices.Delete(*w, at, at+1)
	}
}

// wait looks whether a WAIT is satisfied. If not, its stream stalls, and the engine has no
// running packet.
func (g *GPU) wait(e *engine, p *packet, c cmdbuf.Wait) (done, bad bool, f *ddi.Fault) {
	v := p.context.memory.native[c.VA]
	if p.wait != nil {
		v = p.wait.view
	}
	switch {
	case v == nil:
		return false, true, nil
	case p.context.faulted: // meanwhile
		g.skip(e, p)
		return false, false, nil
	}
	if !v.over() {
		seen, value := v.fence.news.Load(), uint64(0)
		f = g.access(p, func(m ddi.AddressSpace) (f *ddi.Fault) {
			value, f = m.Load64(e.name.EngineOrdinal, c.VA)
			return f
		})
		if f != nil {
			return false, false, f
		}
		if value < c.Value {
			g.stall(e, p, v, c.Value)
			if v.fence.news.Load() != seen {
				g.wake(v.fence, any64, e.time)
			}
			return false, false, nil
		}
	}
	g.logWait(e, p, c)
	p.wait = nil
	return true, false, nil
}

// logWait logs that a WAIT has ended.
func (g *GPU) logWait(e *engine, p *packet, c cmdbuf.Wait) {
	if p.queue == nil || p.queue.waits.entries == 0 {
		return
	}
	since := e.time
	if p.wait != nil {
		since = p.wait.since
	}
	ended := event{c.Value, c.Fence, abi.NativeFenceLogWaitUnblocked, g.ticks(since), g.ticks(e.time)}
	log := p.queue.waits
	_ = g.access(p, func(m ddi.AddressSpace) *ddi.Fault {
		g.log(log, e.name.EngineOrdinal, m, ended)
		return nil
	})
}

// stall holds the stream of the running packet.
func (g *GPU) stall(e *engine, p *packet, v *view, value uint64) {
	if p.wait == nil {
		g.waited++
		p.wait = &wait{v, value, g.waited, e.time}
	}
	e.running = nil
	e.commands-- // it may be looked at again and again
	s := p.stream()
	e.unlist(s)
	s.stalled, s.state = p, stalled
	e.stalls.insert(s)
	v.fence.stalls.insert(p)
}

// wake has stalled packets looked at again that wait for a value or less. Mostly there are
// none. The caller holds mu.
func (g *GPU) wake(f *nativeFence, value uint64, now int64) {
	for len(f.stalls) > 0 && f.stalls[0].wait.value <= value {
		p := f.stalls[0]
		f.stalls[0] = nil
		f.stalls = f.stalls[1:]
		p.context.engine.unstall(p.stream(), now)
	}
}

// stored tells of a value that a plain command has stored, or of one that is not greater.
func (g *GPU) stored(f *nativeFence, value uint64, now int64) {
	g.wake(f, value, now)
	if f.peers != nil {
		g.mu.Unlock()
		f.peers.Kick(f.name)
		g.mu.Lock()
	}
}

// unstall lets a stalled stream run from a moment on. Its packet is in no list of waits.
func (e *engine) unstall(s *stream, now int64) {
	e.stalls.remove(s)
	s.state, s.stalled.ready = idle, max(s.stalled.ready, now)
	e.list(s)
}

// any64 is the greatest value of a fence.
const any64 = ^uint64(0)
