package sim

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
)

// host is a machine of plain memory: descriptors are numbers in a table. What it does
// not have, programs of this package do not ask for.
type host struct {
	kernel.Host             // nil
	files       map[int]any // object.Key or *event
	next        int
	live        int // memories that were not freed
	trace       *trace
}

// An event is a CPU event that counts.
type event struct {
	fd         int
	sets, refs int
	trace      *trace
}

// A memory is the cell of a fence.
type memory struct {
	host *host
	cell page.Cell
}

func newHost(t *trace) *host { return &host{files: map[int]any{}, next: 100, trace: t} }

func (h *host) add(v any) int {
	h.next++
	h.files[h.next] = v
	return h.next
}

// event makes an event.
func (h *host) event() int {
	e := &event{trace: h.trace}
	e.fd = h.add(e)
	return e.fd
}

func (h *host) memory(initial uint64) (kernel.Memory, abi.Status) {
	m := &memory{host: h}
	m.cell.Init(initial)
	h.live++
	return m, abi.StatusSuccess
}

func (h *host) PrivateMemory(_ *kernel.Process, v uint64) (kernel.Memory, abi.Status) {
	return h.memory(v)
}

func (h *host) SharedMemory(_ *kernel.Process, v uint64) (kernel.Memory, abi.Status) {
	return h.memory(v)
}

func (h *host) NewNTHandle() (object.Key, int, abi.Status) {
	key := object.Key{Dev: 1, Ino: uint64(h.next)}
	return key, h.add(key), abi.StatusSuccess
}

func (h *host) Identify(_ *kernel.Process, fd int) (object.Key, abi.Status) {
	switch f := h.files[fd].(type) {
	case nil:
		return object.Key{}, abi.StatusInvalidHandle
	case object.Key:
		return f, abi.StatusSuccess
	}
	return object.Key{}, abi.StatusObjectTypeMismatch
}

func (h *host) Event(_ *kernel.Process, fd int) (kernel.Event, abi.Status) {
	switch f := h.files[fd].(type) {
	case nil:
		return nil, abi.StatusInvalidHandle
	case *event:
		f.refs++
		return f, abi.StatusSuccess
	}
	return nil, abi.StatusObjectTypeMismatch
}

func (h *host) Close(fd int)           { delete(h.files, fd) }
func (h *host) Detach(*kernel.Process) {}
func (h *host) Settle()                {}
func (h *host) Alarm()                 {}

func (e *event) Set() {
	e.sets++
	e.trace.say("event %d is set, %d times now", e.fd, e.sets)
}
func (e *event) Close() { e.refs-- }

func (m *memory) View() page.View                               { return page.View{Cell: &m.cell} }
func (m *memory) WakeAll()                                      {}
func (m *memory) Free()                                         { m.host.live-- }
func (m *memory) Sweep(*kernel.Process, func(bell uint32) bool) {}
func (m *memory) Grant(*kernel.Process) (abi.Grant, []abi.OutFile, abi.Status) {
	return abi.Grant{Kind: abi.GrantPage}, nil, abi.StatusSuccess
}
