package client

import (
	"sync"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// memories are the mappings of fence memory that the daemon's death must reach.
type memories struct {
	mu    sync.Mutex
	dead  bool
	pages map[*page.Memory]bool // writable or not
	slabs map[uint32]*page.Memory
}

// Memory maps what the kernel granted with a new local object, whose answer was g and
// files (r.Grant and r.Out of the request). The descriptor of the memory, the last of
// files, is closed whatever happens. A slab is mapped once, a page for each grant.
//
// release ends the connection's interest: afterwards the daemon's death does not
// reach the view. It may be called at any time, also while others signal through the
// view: the memory stays mapped until nobody can reach the view any more. A fence
// that is destroyed is to be released.
//
// NO_MEMORY: it cannot be mapped; the caller destroys the object. A grant of no
// memory answers the zero View.
func (c *Conn) Memory(g abi.Grant, files []abi.OutFile) (v page.View, release func(), st abi.Status) {
	fd := -1
	if g.HasFile != 0 && len(files) > 0 {
		fd = files[len(files)-1].FD
		defer unix.Close(fd)
	}
	m := &c.memory
	if g.Kind == abi.GrantSlab && fd < 0 && !m.has(g.Slab) {
		if fd = c.slabFile(g.Slab); fd >= 0 {
			defer unix.Close(fd)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch g.Kind {
	case 0:
		return page.View{}, func() {}, abi.StatusSuccess
	case abi.GrantPage:
		if fd < 0 || g.Size != page.PageSize || g.Offset != 0 {
			return page.View{}, nil, abi.StatusNoMemory
		}
		mem, err := page.Map(fd, page.PageSize, g.Writable != 0)
		if err != nil {
			return page.View{}, nil, abi.StatusNoMemory
		}
		m.add(mem, g.Writable != 0)
		return mem.View(), func() { m.release(mem) }, abi.StatusSuccess
	case abi.GrantSlab:
		mem := m.slab(g, fd)
		if mem == nil || g.Offset%page.CellSize != 0 || g.Offset > page.SlabSize-page.CellSize {
			return page.View{}, nil, abi.StatusNoMemory
		}
		return mem.CellView(int(g.Offset)), func() {}, abi.StatusSuccess
	}
	return page.View{}, nil, abi.StatusNoMemory
}

// slabFile asks for the memory of a slab: the answer that brought it went to another
// session and has not been looked at yet, or this process had no number for it. -1
// when there is none.
func (c *Conn) slabFile(slab uint32) int {
	r := &abi.Request{Op: abi.OpSlabFile, Record: make([]byte, abi.OpSlabFile.Size)}
	abi.View[abi.SlabFile](r.Record).Slab = slab
	if st := c.Do(r); !st.OK() || len(r.Out) != 1 {
		closeOut(r.Out)
		return -1
	}
	return r.Out[0].FD
}

func (m *memories) has(slab uint32) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.slabs[slab] != nil
}

// add registers a new mapping. The lock is held.
func (m *memories) add(mem *page.Memory, writable bool) {
	if m.pages == nil {
		m.pages = map[*page.Memory]bool{}
	}
	m.pages[mem] = writable
	if m.dead {
		saturate(mem, writable)
	}
}

func (m *memories) release(mem *page.Memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.pages, mem)
}

// slab returns the slab of a grant, mapped when it came for the first time, nil
// when it cannot be. The lock is held.
func (m *memories) slab(g abi.Grant, fd int) *page.Memory {
	if mem := m.slabs[g.Slab]; mem != nil {
		return mem
	}
	if fd < 0 || g.Size != page.SlabSize || g.Writable == 0 {
		return nil
	}
	mem, err := page.Map(fd, page.SlabSize, true)
	if err != nil {
		return nil
	}
	if m.slabs == nil {
		m.slabs = map[uint32]*page.Memory{}
	}
	m.slabs[g.Slab] = mem
	m.add(mem, true)
	return mem
}

// saturateAll makes every value the highest there is.
func (m *memories) saturateAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = true
	for mem, writable := range m.pages {
		saturate(mem, writable)
	}
}

func saturate(mem *page.Memory, writable bool) {
	switch {
	case !writable:
		replace(mem)
	case mem.Size() == page.SlabSize:
		for at := 0; at < page.SlabSize; at += page.CellSize {
			mem.CellView(at).Drown()
		}
	default:
		mem.View().Drown()
	}
}
