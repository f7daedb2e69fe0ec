package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// space is what the GPU sees of the process on an adapter, made when first asked for.
// The lock is held.
func (p *Process) space(a *Adapter) *vidmm.Space {
	if s := p.spaces[a]; s != nil {
		return s
	}
	mmu := a.Profile.GpuMmu
	s := vidmm.NewSpace((*spaceLock)(p.k), a.Profile.Engines(), mmu.VirtualAddressBits, mmu.Flags&adapter.ReadOnlyMemorySupported != 0)
	a.bound(s)
	if p.gone {
		s.Clear()
		return s
	}
	p.spaces[a] = s
	return s
}

// bound keeps native fences in an empty space where the driver wants them.
// Source: native-fence.md §8.
func (a *Adapter) bound(s *vidmm.Space) {
	if a.native() {
		caps := a.driver.NativeFenceCaps()
		s.BoundWords(caps.MinimumAddress, caps.MaximumAddress)
	}
}

// closeSpace empties the process's space on an adapter, if it has one: what the GPU
// still does there faults.
func (p *Process) closeSpace(a *Adapter) {
	if s := p.spaces[a]; s != nil {
		s.Clear()
		delete(p.spaces, a)
	}
}

// A spaceLock is the kernel's lock for a GPU that lowers a fence. What becomes due then
// is done by the next operation, at the latest by the interrupt that tells of the write:
// a driver must not be called from inside its own access.
type spaceLock Kernel

func (k *spaceLock) Lock()   { k.mu.Lock() }
func (k *spaceLock) Unlock() { k.mu.Unlock() }

// mapFence gives the local object its GPU virtual address: 0 with NoGPUAccess, and where
// the GPU has no addresses of its own. A periodic fence is read-only, as is one that may
// not be signalled, if the MMU can do that.
// Source: gpu.md §5, objects.md §6; OQ-49.
func (l *local) mapFence(engines uint32) {
	d := l.device
	if l.fence.Flags&abi.SyncObjectNoGPUAccess != 0 || !d.adapter.Profile.Caps.Has(adapter.GpuMmuSupported) {
		return
	}
	writable := l.maySignal() && l.fence.Kind() != abi.PeriodicMonitoredFence
	l.gpu = d.process.space(d.adapter).MapFence(&l.mapping, l, engines, writable)
}
