package dxgsync

import (
	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// A lockedMemory is the memory of an allocation that is locked, mapped once however
// often it is.
type lockedMemory struct {
	device abi.Handle
	memory *page.Memory
	file   uint64 // its number: a handle may be another allocation's later
	locks  int
}

// Lock2 returns the memory of an allocation. It may be used until as many calls of
// Unlock2, or the end of the allocation, of its device or of the session; using it
// later is a fault that ends the program. Each lock of one allocation gives the same
// memory. For an allocation of existing memory, the answer is r.PData and no bytes.
func (s *Session) Lock2(r *abi.Lock2) ([]byte, abi.Status) {
	s.locking.Lock()
	defer s.locking.Unlock()
	req := request(abi.OpLock2, r)
	st := s.Do(req)
	if st != abi.StatusSuccess || len(req.Out) == 0 {
		return nil, st
	}
	defer closeFiles(req)
	l, err := s.lockedBy(r, req.Out[0].FD)
	if err != nil {
		do(s, abi.OpUnlock2, &abi.Unlock2{HDevice: r.HDevice, HAllocation: r.HAllocation})
		return nil, abi.StatusNoMemory
	}
	l.locks++
	return l.memory.Bytes(), st
}

// lockedBy finds the mapping of a file, or makes it.
func (s *Session) lockedBy(r *abi.Lock2, fd int) (*lockedMemory, error) {
	var file unix.Stat_t
	if err := unix.Fstat(fd, &file); err != nil {
		return nil, err
	}
	if l := s.locked[r.HAllocation]; l != nil {
		if l.file == file.Ino {
			return l, nil
		}
		s.forgetLock(r.HAllocation) // its resource was destroyed
	}
	m, err := page.Map(fd, int(file.Size), true)
	if err != nil {
		return nil, err
	}
	l := &lockedMemory{device: r.HDevice, memory: m, file: file.Ino}
	if s.locked == nil {
		s.locked = map[abi.Handle]*lockedMemory{}
	}
	s.locked[r.HAllocation] = l
	return l, nil
}

// Unlock2 ends a lock.
func (s *Session) Unlock2(r *abi.Unlock2) abi.Status {
	s.locking.Lock()
	defer s.locking.Unlock()
	st := do(s, abi.OpUnlock2, r)
	if l := s.locked[r.HAllocation]; l != nil && st == abi.StatusSuccess {
		if l.locks--; l.locks == 0 {
			s.forgetLock(r.HAllocation)
		}
	}
	return st
}

// forgetLock unmaps what is locked. s.locking is held.
func (s *Session) forgetLock(h abi.Handle) {
	if l := s.locked[h]; l != nil {
		delete(s.locked, h)
		l.memory.Unmap()
	}
}

// forgetLocks unmaps everything of a device, or all for device 0. It is closed already.
func (s *Session) forgetLocks(device abi.Handle) {
	s.inUse.Lock()
	defer s.inUse.Unlock()
	s.locking.Lock()
	defer s.locking.Unlock()
	for h, l := range s.locked {
		if device == 0 || l.device == device {
			s.forgetLock(h)
		}
	}
}

// InvalidateCache makes what the GPU has written to an allocation visible to the CPU,
// which it always is here.
func (s *Session) InvalidateCache(r *abi.InvalidateCache) abi.Status {
	return do(s, abi.OpInvalidateCache, r)
}
