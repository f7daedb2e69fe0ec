package softgpu

import "github.com/dxgsync/dxgsync/ddi"

// A space is the memory of a process, which all its devices share, with the native fences
// in it. GPU.mu guards it.
type space struct {
	ddi.AddressSpace
	devices int
	native  map[uint64]*view // by the address of the current value
}

// space finds that of a process, and makes it first if it is new.
func (g *GPU) space(m ddi.AddressSpace) *space {
	if m == nil {
		m = nothing{}
	}
	s := g.spaces[m]
	if s == nil {
		s = &space{AddressSpace: m, native: map[uint64]*view{}}
		g.spaces[m] = s
	}
	s.devices++
	return s
}

// leave forgets the space with its last device.
func (g *GPU) leave(s *space) {
	if s.devices--; s.devices == 0 {
		delete(g.spaces, s.AddressSpace)
	}
}

// A view is a native fence in one space: all local objects with the same address.
type view struct {
	fence  *nativeFence
	space  *space
	va     uint64 // of the current value
	locals int
	closed bool
}

// over reports whether waits through it end whatever the value is.
func (v *view) over() bool { return v.closed || v.fence.always }

// shut takes a view away.
func (v *view) shut() {
	v.closed = true
	if v.space.native[v.va] == v {
		delete(v.space.native, v.va)
	}
}
