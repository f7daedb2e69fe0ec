package softgpu

import (
	"slices"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// Limits of native fences on one GPU, and of their local objects. Beyond them creating and
// opening answer NO_MEMORY.
const (
	MaxNativeFences      = 1 << 18
	MaxLocalNativeFences = 1 << 18
)

// A nativeFence is a native fence as all processes share it. GPU.mu guards what changes,
// unless it says otherwise.
type nativeFence struct {
	handle ddi.KmdNativeFence
	name   ddi.DxgNativeFence
	system uint64 // where the current value is in the system process; 0: nowhere
	shadow bool   // the monitored value may be in video memory
	peers  ddi.Peers

	views  []*view
	always bool    // AlwaysSignaled, or destroyed
	stalls waits   // that may end when the value rises
	last   *engine // that signalled it last; nil: none
	late   bool    // in GPU.late

	// news counts what others have told of the value. Who looks at the value reads it
	// before, and looks again if it is another one behind.
	news   atomic.Uint64
	kicked bool // in GPU.kicked; guarded by GPU.peers
}

// startFences has native fences if driver and system have. The caller holds mu.
func (g *GPU) startFences() {
	if !g.fencing || !g.cb.IsFeatureEnabled(abi.FeatureNativeFence) {
		return
	}
	g.os, g.system = g.cb.NativeFenceOSCaps(), g.cb.SystemMemory()
	g.caps |= ddi.NativeGpuFence
	if g.native.Interrupt == adapter.InterruptQueue {
		g.caps |= ddi.OptimizedNativeFenceSignaledInterrupt
	}
	if g.native.DirectSignal {
		g.caps |= ddi.DirectSignal
	}
}

// stopFences forgets all. The caller holds mu.
func (g *GPU) stopFences() {
	for _, f := range g.fences {
		g.peers.remove(f)
	}
	clear(g.fences)
	clear(g.locals)
	clear(g.spaces)
	g.late = nil
}

// NativeFenceCaps is what the profile says.
func (g *GPU) NativeFenceCaps() ddi.NativeFenceCaps {
	n := g.native
	return ddi.NativeFenceCaps{
		MonitoredValueStride: n.MonitoredValueStride, MapToGpuSystemProcess: n.SystemProcess,
		MinimumAddress: n.MinimumAddress, MaximumAddress: n.MaximumAddress,
	}
}

// FenceStorage is video memory for both values of INTRA_GPU fences, and for the monitored
// value of DEFAULT ones if the system has the optimized form; else system memory.
func (g *GPU) FenceStorage(args ddi.FenceStorageArgs) ddi.Storage {
	if args.Type == abi.NativeFenceIntraGPU || args.MonitoredValue && g.optimized() {
		return ddi.VideoStorage
	}
	return ddi.SystemStorage
}

// optimized reports whether DEFAULT fences are of the optimized form.
func (g *GPU) optimized() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.os.SupportOptimizedDefaultFenceType
}

// CreateNativeFence makes a fence that is nowhere yet. NOT_SUPPORTED: there are no native
// fences, or none of this type; INVALID_PARAMETER: there is no such type. Private data are
// not looked at.
func (g *GPU) CreateNativeFence(args ddi.CreateNativeFenceArgs) (ddi.KmdNativeFence, abi.Status) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !g.caps.Has(ddi.NativeGpuFence), args.Type == abi.NativeFenceIntraGPU && !g.os.SupportIntraGpuFenceType:
		return 0, abi.StatusNotSupported
	case args.Type > abi.NativeFenceIntraGPU:
		return 0, abi.StatusInvalidParameter
	case len(g.fences) == MaxNativeFences:
		return 0, abi.StatusNoMemory
	}
	f := &nativeFence{
		handle: ddi.KmdNativeFence(g.newHandle()), name: args.Fence, peers: args.Peers,
		system: args.CurrentValueSystemProcessGpuVa,
		shadow: args.Type == abi.NativeFenceDefault && g.os.SupportOptimizedDefaultFenceType,
	}
	g.fences[f.handle] = f
	g.peers.add(f)
	return f.handle, abi.StatusSuccess
}

// OpenNativeFence makes the fence known where the process of a device has it.
// INVALID_PARAMETER: there is no such fence or device.
func (g *GPU) OpenNativeFence(args ddi.OpenNativeFenceArgs) (ddi.KmdLocalNativeFence, abi.Status) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, s := g.fences[args.Fence], g.devices[args.Device]
	switch {
	case f == nil || s == nil:
		return 0, abi.StatusInvalidParameter
	case len(g.locals) == MaxLocalNativeFences:
		return 0, abi.StatusNoMemory
	}
	v := s.native[args.CurrentValueGpuVa]
	if v == nil || v.fence != f {
		v = &view{fence: f, space: s, va: args.CurrentValueGpuVa}
		s.native[v.va] = v
		f.views = append(f.views, v)
	}
	v.locals++
	h := ddi.KmdLocalNativeFence(g.newHandle())
	g.locals[h] = v
	return h, abi.StatusSuccess
}

// CloseNativeFence forgets it. Waits at its address end if no other local object has the
// same.
func (g *GPU) CloseNativeFence(h ddi.KmdLocalNativeFence) abi.Status {
	defer g.quiet()()
	v := g.locals[h]
	if v == nil {
		return abi.StatusInvalidParameter
	}
	delete(g.locals, h)
	if v.locals--; v.locals > 0 || v.closed {
		return abi.StatusSuccess
	}
	v.shut()
	v.fence.views = slices.DeleteFunc(v.fence.views, func(o *view) bool { return o == v })
	g.wake(v.fence, any64, g.cb.Now())
	return abi.StatusSuccess
}

// DestroyNativeFence forgets it, and what is still open of it.
func (g *GPU) DestroyNativeFence(h ddi.KmdNativeFence) abi.Status {
	defer g.quiet()()
	f := g.fences[h]
	if f == nil {
		return abi.StatusInvalidParameter
	}
	delete(g.fences, h)
	g.peers.remove(f)
	for _, v := range f.views {
		v.shut()
	}
	f.views, f.always = nil, true
	g.late = slices.DeleteFunc(g.late, func(o *nativeFence) bool { return o == f })
	g.wake(f, any64, g.cb.Now())
	return abi.StatusSuccess
}
