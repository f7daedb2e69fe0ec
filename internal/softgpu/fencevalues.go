package softgpu

import (
	"sync"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// UpdateMonitoredValues stores them. An engine stores a current value before it reads the
// monitored one, and the kernel reads the current value after this: so one of them sees
// the other's. Where the engine may have read a copy in video memory, the current value is
// looked at here, too, and the interrupt comes with the next Advance.
func (g *GPU) UpdateMonitoredValues(updates []ddi.MonitoredValueUpdate) {
	for _, u := range updates {
		u.MonitoredValue.Store(u.Value)
		if u.Value != any64 {
			g.review(u.Fence, u.Value)
		}
	}
}

// review interrupts if the current value of a fence with a shadow is above the monitored
// one. If the value cannot be read it is taken to be: an interrupt too many does no harm.
func (g *GPU) review(h ddi.KmdNativeFence, monitored uint64) {
	g.mu.Lock()
	f := g.fences[h]
	if f == nil || !f.shadow || f.always {
		g.mu.Unlock()
		return
	}
	var m ddi.AddressSpace
	var va uint64
	switch {
	case f.system != 0:
		m, va = g.system, f.system
	case len(f.views) > 0:
		m, va = f.views[0].space.AddressSpace, f.views[0].va
	}
	g.mu.Unlock()
	if m == nil {
		return // nobody has it
	}
	if v, fault := m.Load64(0, va); fault == nil && v <= monitored {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !f.late && !f.always {
		f.late = true
		g.late = append(g.late, f)
	}
}

// UpdateCurrentValuesFromCpu has waits looked at again.
func (g *GPU) UpdateCurrentValuesFromCpu(updates []ddi.CurrentValueUpdate, flags ddi.CurrentValueFlags) {
	if flags&ddi.AlwaysSignaled != 0 {
		// No store may be under way when this returns.
		g.calling.Lock()
		defer g.calling.Unlock()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, u := range updates {
		f := g.fences[u.Fence]
		if f == nil {
			continue
		}
		value := u.Value
		if flags != 0 {
			value = any64
		}
		f.always = f.always || flags&ddi.AlwaysSignaled != 0
		f.news.Add(1) // an engine may have read the value and not stalled yet
		g.wake(f, value, g.cb.Now())
	}
}

// peers are the fences by the names that other GPUs know, and those that they have told
// of. They need no other lock, so that GPUs can tell each other in circles.
type peers struct {
	mu     sync.Mutex
	fences map[ddi.DxgNativeFence]*nativeFence
	kicked []*nativeFence
	any    atomic.Bool // kicked is not empty
}

func (p *peers) add(f *nativeFence) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fences[f.name] = f
}

func (p *peers) remove(f *nativeFence) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fences[f.name] == f {
		delete(p.fences, f.name)
	}
}

// KickNativeFence has waits for a fence looked at again, with the next Advance.
func (g *GPU) KickNativeFence(name ddi.DxgNativeFence) abi.Status {
	p := &g.peers
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.fences[name]
	if f == nil {
		return abi.StatusInvalidParameter
	}
	f.news.Add(1)
	if !f.kicked {
		f.kicked = true
		p.kicked = append(p.kicked, f)
		p.any.Store(true)
	}
	return abi.StatusSuccess
}

// heed wakes what peers have kicked. The caller holds mu.
func (g *GPU) heed() {
	p := &g.peers
	if !p.any.Load() {
		return
	}
	p.mu.Lock()
	list := p.kicked
	p.kicked = nil
	p.any.Store(false)
	for _, f := range list {
		f.kicked = false
	}
	p.mu.Unlock()
	for _, f := range list {
		g.wake(f, any64, g.cb.Now())
	}
}
