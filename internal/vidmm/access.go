package vidmm

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/ddi"
)

// piece is how much of a transfer is moved at once, in bytes.
const piece = 64 << 10

// A target is what an access found behind an address.
type target struct {
	fence  *Fence // a fence
	memory Memory // or memory, which is held; neither: zeros
	offset uint64
	room   uint64 // bytes from there on that are the same
}

// target finds what is behind va. The lock is held.
func (s *Space) target(engine uint32, va uint64, write bool) (t target, ok bool) {
	if f := s.words.find(engine, va); f != nil || va >= FenceBase && va < HeapBase || s.words.has(va) {
		if f == nil {
			f = s.fences.find(engine, va)
		}
		if f == nil {
			return s.whole(engine, va)
		}
		if write && !f.writable {
			return t, false
		}
		return target{fence: f, room: 8 - va%8}, true
	}
	if uint64(engine) >= uint64(len(s.tables)) {
		return t, false
	}
	sp := s.tables[engine].find(va)
	if sp == nil {
		return t, false
	}
	t.room = sp.end - va
	m := sp.what.Mapping
	if m.Memory == nil {
		return t, true
	}
	if write && !m.Writable || !m.Memory.Hold() {
		return t, false
	}
	t.memory, t.offset = m.Memory, m.Offset+(va-sp.start)
	return t, true
}

// whole finds whole pages.
func (s *Space) whole(engine uint32, va uint64) (t target, ok bool) {
	p, offset := s.words.findPages(va)
	if p == nil || s.all>>engine&1 == 0 || !p.memory.Hold() {
		return t, false
	}
	return target{memory: p.memory, offset: offset, room: p.count*PageSize - offset}, true
}

func fault(va uint64, write bool) *ddi.Fault {
	f := &ddi.Fault{Address: va}
	if write {
		f.Flags = ddi.FaultWrite
	}
	return f
}

// Read implements ddi.AddressSpace.
func (s *Space) Read(engine uint32, va uint64, b []byte) *ddi.Fault {
	for len(b) > 0 {
		s.mu.RLock()
		t, ok := s.target(engine, va, false)
		n := min(t.room, uint64(len(b)), piece)
		if ok && t.fence != nil {
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], t.fence.word.Load())
			copy(b[:n], word[va%8:])
		}
		s.mu.RUnlock()
		switch {
		case !ok:
			return fault(va, false)
		case t.memory != nil:
			got := uint64(t.memory.Read(t.offset, b[:n]))
			t.memory.Drop()
			if got < n {
				return fault(va+got, false)
			}
		case t.fence == nil:
			clear(b[:n])
		}
		b, va = b[n:], va+n
	}
	return nil
}

// Write implements ddi.AddressSpace. What of a fence's word is not written stays: a
// fence sees one store of the whole word.
func (s *Space) Write(engine uint32, va uint64, b []byte) *ddi.Fault {
	for len(b) > 0 {
		s.mu.RLock()
		t, ok := s.target(engine, va, true)
		n := min(t.room, uint64(len(b)), piece)
		lower, v := false, uint64(0)
		if ok && t.fence != nil {
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], t.fence.word.Load())
			copy(word[va%8:], b[:n])
			v = binary.LittleEndian.Uint64(word[:])
			lower = !t.fence.word.Raise(v)
		}
		s.mu.RUnlock()
		switch {
		case !ok, lower && !s.lower(engine, va, v):
			return fault(va, true)
		case t.memory != nil:
			put := uint64(t.memory.Write(t.offset, b[:n]))
			t.memory.Drop()
			if put < n {
				return fault(va+put, true)
			}
		}
		b, va = b[n:], va+n
	}
	return nil
}

// lower stores a value below that of the fence that va is in; false: it has gone.
func (s *Space) lower(engine uint32, va, v uint64) bool {
	s.changes.Lock()
	defer s.changes.Unlock()
	s.mu.RLock()
	t, ok := s.target(engine, va, true)
	s.mu.RUnlock()
	if !ok {
		return false
	}
	t.fence.word.Replace(v)
	return true
}

// Load64 implements ddi.AddressSpace.
func (s *Space) Load64(engine uint32, va uint64) (uint64, *ddi.Fault) {
	return s.load(engine, va, 8)
}

// Load32 implements ddi.AddressSpace.
func (s *Space) Load32(engine uint32, va uint64) (uint32, *ddi.Fault) {
	v, f := s.load(engine, va, 4)
	return uint32(v), f
}

// Store64 implements ddi.AddressSpace.
func (s *Space) Store64(engine uint32, va, value uint64) *ddi.Fault {
	return s.store(engine, va, 8, value)
}

// Store32 implements ddi.AddressSpace.
func (s *Space) Store32(engine uint32, va uint64, value uint32) *ddi.Fault {
	return s.store(engine, va, 4, uint64(value))
}

func (s *Space) load(engine uint32, va uint64, size int) (v uint64, _ *ddi.Fault) {
	if va%uint64(size) != 0 {
		return 0, &ddi.Fault{Address: va, Flags: ddi.FaultUnaligned}
	}
	s.mu.RLock()
	t, ok := s.target(engine, va, false)
	if ok && t.fence != nil {
		v = t.fence.word.Load() >> (va % 8 * 8)
	}
	s.mu.RUnlock()
	if ok && t.memory != nil {
		v, ok = t.memory.Load(t.offset, size)
		t.memory.Drop()
	}
	if !ok {
		return 0, fault(va, false)
	}
	return v, nil
}

func (s *Space) store(engine uint32, va uint64, size int, v uint64) *ddi.Fault {
	if va%uint64(size) != 0 {
		return &ddi.Fault{Address: va, Flags: ddi.FaultWrite | ddi.FaultUnaligned}
	}
	s.mu.RLock()
	t, ok := s.target(engine, va, true)
	lower := false
	if ok && t.fence != nil {
		if size == 4 {
			shift := va % 8 * 8
			v = t.fence.word.Load()&^(0xFFFF_FFFF<<shift) | v<<shift
		}
		lower = !t.fence.word.Raise(v)
	}
	s.mu.RUnlock()
	if lower {
		ok = s.lower(engine, va, v)
	}
	if ok && t.memory != nil {
		ok = t.memory.Store(t.offset, size, v)
		t.memory.Drop()
	}
	if !ok {
		return fault(va, true)
	}
	return nil
}
