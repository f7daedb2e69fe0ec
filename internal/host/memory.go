package host

import (
	"sync"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/page"
)

// heapMemory is the cell of a private fence whose process lives in the kernel's
// own address space. Nobody sleeps on it: waits on it are the kernel's.
type heapMemory struct{ cell page.Cell }

func (m *heapMemory) View() page.View                               { return page.View{Cell: &m.cell} }
func (m *heapMemory) WakeAll()                                      {}
func (m *heapMemory) Free()                                         {}
func (m *heapMemory) Sweep(*kernel.Process, func(bell uint32) bool) {}

// Grant answers that there is nothing to map.
func (m *heapMemory) Grant(*kernel.Process) (abi.Grant, []abi.OutFile, abi.Status) {
	return abi.Grant{}, nil, abi.StatusSuccess
}

// pageMemory is a page of a fence's own.
type pageMemory struct {
	host  *Host
	mem   *page.Memory
	bells *page.Bells // of the user who made the fence
	uid   uint32

	mu    sync.Mutex
	freed bool
	local bool // a process in this address space uses the mapping itself
}

// SharedMemory makes a page of its own.
func (h *Host) SharedMemory(p *kernel.Process, initial uint64) (kernel.Memory, abi.Status) {
	bells, st := h.Bells(p.Info.UID)
	if !st.OK() {
		return nil, st
	}
	if !h.takeFor(p.Info.UID, 1) {
		return nil, abi.StatusNoMemory
	}
	r, err := h.makeMemory(page.NewPage)
	if err != nil {
		h.giveFor(p.Info.UID, 1)
		return nil, abi.StatusNoMemory
	}
	r.View().Reset(initial)
	return &pageMemory{host: h, mem: r, bells: bells, uid: p.Info.UID}, abi.StatusSuccess
}

func (m *pageMemory) View() page.View { return m.mem.View() }

// Sweep leaves all slots to their owners when p is of another user: it could only
// read, and its bell numbers mean other lines.
func (m *pageMemory) Sweep(p *kernel.Process, dead func(bell uint32) bool) {
	if p.Info.UID != m.uid {
		dead = func(uint32) bool { return false }
	}
	m.View().Sweep(dead, m.bells)
}

// WakeAll wakes the sleepers, unless the fence has been freed since the kernel
// dropped its lock: there are none then.
func (m *pageMemory) WakeAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.freed {
		m.View().WakeAll(m.bells)
	}
}

// Free closes the memory file. A mapping that goroutines of this address space may
// still be using goes when the collector finds that nobody does.
func (m *pageMemory) Free() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.freed = true
	m.mem.CloseFD()
	if m.local {
		m.host.maps.leave()
	} else {
		m.mem.Unmap()
	}
	m.host.giveFor(m.uid, 1)
}

// Grant hands out the page: writable to processes of the user who made it, who
// are one trust domain, read-only to all others.
func (m *pageMemory) Grant(p *kernel.Process) (abi.Grant, []abi.OutFile, abi.Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := abi.Grant{Kind: abi.GrantPage, Slots: page.PageSlots, Size: page.PageSize}
	if p.Info.InProcess {
		g.Writable = 1
		m.local = true
		return g, nil, abi.StatusSuccess
	}
	g.HasFile = 1
	if p.Info.UID == m.uid {
		g.Writable = 1
	}
	fd, err := m.host.lend(m.mem, p.Info.UID == m.uid)
	if err != nil {
		return abi.Grant{}, nil, abi.StatusNoMemory
	}
	return g, []abi.OutFile{{FD: fd}}, abi.StatusSuccess
}

// slabs are the slabs of one process and which of their cells are free.
type slabs struct {
	host  *Host
	uid   uint32
	bells *page.Bells

	mu      sync.Mutex
	regions []*page.Memory
	sent    []bool  // the slab's descriptor was handed out
	free    []int32 // cells, by slab*SlabCells + cell
	live    int
	dropped bool // the process is gone; unmap when the last cell is free
}

// cellMemory is one cell of a slab.
type cellMemory struct {
	slabs *slabs
	view  page.View
	index int32
}

// PrivateMemory makes a cell: in a slab of the process, or on the heap for a
// process in the kernel's own address space.
func (h *Host) PrivateMemory(p *kernel.Process, initial uint64) (kernel.Memory, abi.Status) {
	if p.Info.InProcess {
		m := new(heapMemory)
		m.cell.Init(initial)
		return m, abi.StatusSuccess
	}
	bells, st := h.Bells(p.Info.UID)
	if !st.OK() {
		return nil, st
	}
	h.mu.Lock()
	s := h.slabs[p]
	if s == nil {
		s = &slabs{host: h, uid: p.Info.UID, bells: bells}
		h.slabs[p] = s
	}
	h.mu.Unlock()
	return s.take(initial)
}

func (s *slabs) take(initial uint64) (kernel.Memory, abi.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) == 0 && !s.grow() {
		return nil, abi.StatusNoMemory
	}
	i := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.live++
	v := s.regions[i/page.SlabCells].CellView(int(i%page.SlabCells) * page.CellSize)
	v.Reset(initial)
	return &cellMemory{s, v, i}, abi.StatusSuccess
}

func (s *slabs) grow() bool {
	if !s.host.takeFor(s.uid, 1) {
		return false
	}
	r, err := s.host.makeMemory(page.NewSlab)
	if err != nil {
		s.host.giveFor(s.uid, 1)
		return false
	}
	first := int32(len(s.regions)) * page.SlabCells
	s.regions = append(s.regions, r)
	s.sent = append(s.sent, false)
	for i := first + page.SlabCells - 1; i >= first; i-- {
		s.free = append(s.free, i)
	}
	return true
}

// drop tells that the process is gone.
func (s *slabs) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped = true
	s.unmap()
}

func (s *slabs) unmap() {
	if !s.dropped || s.live > 0 {
		return
	}
	for _, r := range s.regions {
		r.Unmap()
		r.CloseFD()
	}
	s.host.giveFor(s.uid, len(s.regions))
	s.regions, s.free = nil, nil
}

func (m *cellMemory) View() page.View { return m.view }
func (m *cellMemory) Sweep(_ *kernel.Process, dead func(bell uint32) bool) {
	m.view.Sweep(dead, m.slabs.bells)
}

// WakeAll wakes the sleepers, unless the slab is gone since the kernel dropped its
// lock. A cell that got another fence meanwhile is woken for nothing.
func (m *cellMemory) WakeAll() {
	s := m.slabs
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.regions != nil {
		m.view.WakeAll(s.bells)
	}
}

func (m *cellMemory) Free() {
	s := m.slabs
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, m.index)
	s.live--
	s.unmap()
}

// Grant hands out the cell, with the slab's descriptor the first time. A process
// that did not get it asks for it with SlabFile.
func (m *cellMemory) Grant(*kernel.Process) (abi.Grant, []abi.OutFile, abi.Status) {
	s, slab := m.slabs, m.index/page.SlabCells
	s.mu.Lock()
	defer s.mu.Unlock()
	g := abi.Grant{
		Kind: abi.GrantSlab, Slots: page.CellSlots, Writable: 1, Slab: uint32(slab),
		Offset: uint32(m.index%page.SlabCells) * page.CellSize, Size: page.SlabSize,
	}
	if s.sent[slab] {
		return g, nil, abi.StatusSuccess
	}
	fd, err := s.host.lend(s.regions[slab], true)
	if err != nil {
		return abi.Grant{}, nil, abi.StatusNoMemory
	}
	s.sent[slab] = true
	g.HasFile = 1
	return g, []abi.OutFile{{FD: fd}}, abi.StatusSuccess
}

// SlabFile makes a descriptor for p to map a slab of its own. INVALID_PARAMETER: it
// has no such slab. NO_MEMORY: no descriptor is left.
func (h *Host) SlabFile(p *kernel.Process, slab uint32) (int, abi.Status) {
	h.mu.Lock()
	s := h.slabs[p]
	h.mu.Unlock()
	if s == nil {
		return -1, abi.StatusInvalidParameter
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if uint64(slab) >= uint64(len(s.regions)) {
		return -1, abi.StatusInvalidParameter
	}
	fd, err := h.lend(s.regions[slab], true)
	if err != nil {
		return -1, abi.StatusNoMemory
	}
	return fd, abi.StatusSuccess
}
