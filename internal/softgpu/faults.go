package softgpu

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// Hang has an engine do nothing and answer nothing from now on, until it is reset.
// INVALID_PARAMETER: there is no such engine.
func (g *GPU) Hang(name ddi.Engine) abi.Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.engineOf(name)
	if e == nil {
		return abi.StatusInvalidParameter
	}
	e.hung = true
	return abi.StatusSuccess
}

// PageFault has the packet that an engine executes, else the next one, fault as a read
// of an address. A reset before that takes it back. INVALID_PARAMETER: there is no such
// engine; DEVICE_NOT_READY: the GPU is not started.
func (g *GPU) PageFault(name ddi.Engine, address uint64) abi.Status {
	e := g.engineOf(name)
	if e == nil {
		return abi.StatusInvalidParameter
	}
	return g.adjust(func(now int64) abi.Status {
		e.injected, e.asked = &ddi.Fault{Address: address}, now
		return abi.StatusSuccess
	})
}

// RefuseResets has resets of engines fail from now on, or not any more. At the start the
// profile decides.
func (g *GPU) RefuseResets(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refusing = on
}
