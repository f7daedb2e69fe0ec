package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// A worldHost is a memHost whose memory can be made to show an old value.
type worldHost struct {
	*memHost
	world *nativeWorld
}

func (h *worldHost) Alarm() { h.world.alarm = true }
func (h *worldHost) Due()   { h.world.alarm = true }

type worldMemory struct {
	Memory
	world *nativeWorld
	old   page.Cell
}

func (h *worldHost) PrivateMemory(p *Process, v uint64) (Memory, abi.Status) {
	m, st := h.memHost.PrivateMemory(p, v)
	return &worldMemory{Memory: m, world: h.world}, st
}

func (m *worldMemory) View() page.View {
	if m.world.blind {
		m.world.blind = false
		return page.View{Cell: &m.old}
	}
	return m.Memory.View()
}
