package vidmm

import (
	"sync"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// Units of addresses, in bytes.
const (
	PageSize = 4 << 10  // of mappings
	Granule  = 64 << 10 // of addresses that the Space chooses, and of those reserved
)

// Where things are. Fences have the first part; what the Space chooses comes from
// behind it, what others ask for may be anywhere else.
const (
	lowest    = Granule
	FenceBase = 0x1_0000_0000 // far from 0, so that it is never mistaken for none
	HeapBase  = 0x10_0000_0000
)

// MaxSpans is how many ranges the layout and each page table may have.
const MaxSpans = 65536

// A Space is the GPU virtual address space of one process on one adapter. It
// implements ddi.AddressSpace.
type Space struct {
	changes sync.Locker // of whoever maps and unmaps fences

	top  uint64 // behind the last address
	all  uint32 // mask of the engines
	read bool   // the MMU can make pages read-only

	mu     sync.RWMutex
	layout spans[use]
	tables []spans[entry] // by engine
	fences fences
	words  words
	owed   int // spans that may come yet: see Expect
	gone   bool
}

var _ ddi.AddressSpace = (*Space)(nil)

// NewSpace makes an empty space for a number of engines, with addresses of so many
// bits. readOnly: the GPU's MMU can protect pages from writes. changes is held by
// whoever calls MapFence and UnmapFence; an access that lowers a fence takes it.
func NewSpace(changes sync.Locker, engines int, bits uint32, readOnly bool) *Space {
	s := &Space{
		changes: changes,
		top:     1 << min(bits, 63), all: 1<<engines - 1, read: readOnly,
		tables: make([]spans[entry], engines),
	}
	s.layout = spans[use]{{FenceBase, HeapBase, useFences}}
	s.fences.init()
	s.BoundWords(0, 0)
	return s
}

// A use is what addresses are for.
type use uint8

const (
	useReserved use = iota // by Reserve
	useMapped              // by Allot
	useFences
)

func (u use) skip(uint64) use { return u }

// A Mapping is memory behind addresses.
type Mapping struct {
	Memory   Memory
	Offset   uint64 // of the first byte in Memory
	Writable bool
	Owner    any // for Forget
}

// An entry is what a page table has: a mapping, or without memory zeros, that nobody
// can change.
type entry struct{ Mapping }

func (e entry) skip(n uint64) entry {
	e.Offset += n
	return e
}

// A Place says where addresses are wanted: at Base, or with 0 anywhere from Min up to
// Max, which 0 does not limit.
type Place struct{ Base, Min, Max uint64 }

// choose finds addresses. INVALID_PARAMETER: they are not aligned, or cannot be of this
// space; NO_MEMORY: no room.
func (s *Space) choose(p Place, size, align uint64) (uint64, abi.Status) {
	if size == 0 || size%PageSize != 0 || size > s.top || p.Base%align != 0 || p.Min%PageSize != 0 || p.Max%PageSize != 0 {
		return 0, abi.StatusInvalidParameter
	}
	if p.Base != 0 {
		if p.Base < lowest || p.Base > s.top-size || p.Base < HeapBase && p.Base+size > FenceBase {
			return 0, abi.StatusInvalidParameter
		}
		return p.Base, abi.StatusSuccess
	}
	low, high := max(p.Min, lowest), s.top
	if p.Max != 0 {
		high = min(p.Max, high)
	}
	if low >= high || high-low < size {
		return 0, abi.StatusInvalidParameter
	}
	if va, ok := s.layout.room(max(low, HeapBase), high, size, Granule); ok {
		return va, abi.StatusSuccess
	}
	for _, align := range []uint64{Granule, PageSize} { // who gives narrow limits may have no granule
		if va, ok := s.layout.room(low, high, size, align); ok {
			return va, abi.StatusSuccess
		}
	}
	return 0, abi.StatusNoMemory
}

// full reports whether more ranges would be too many.
func (s *Space) full(more int) bool {
	n := len(s.layout)
	for _, t := range s.tables {
		n = max(n, len(t))
	}
	return n+s.owed+more > MaxSpans
}

// perChange is how many spans a change of a table can add at most.
const perChange = 2

// Expect makes sure that n changes of the page tables, which come later, will find
// room; Expected takes it back when they come, or when they do not. NO_MEMORY: there
// is no room.
func (s *Space) Expect(n int) abi.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full(perChange * n) {
		return abi.StatusNoMemory
	}
	s.owed += perChange * n
	return abi.StatusSuccess
}

// Expected takes back what Expect promised for n changes.
func (s *Space) Expected(n int) {
	s.mu.Lock()
	s.owed -= perChange * n
	s.mu.Unlock()
}

// Reserve reserves size bytes of addresses, on all engines: a use of them is a fault, or
// with zeros reads zeros and writes nothing. INVALID_PARAMETER: alignment (addresses 64
// KiB, sizes 4 KiB), limits, or not all of a range asked for is free. NO_MEMORY: no
// room, too many ranges.
func (s *Space) Reserve(p Place, size uint64, zeros bool) (uint64, abi.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	va, st := s.choose(p, size, Granule)
	if !st.OK() {
		return 0, st
	}
	if len(s.layout.within(va, va+size)) != 0 {
		return 0, abi.StatusInvalidParameter
	}
	if s.gone || s.full(perChange) {
		return 0, abi.StatusNoMemory
	}
	s.layout.replace(va, va+size, span[use]{va, va + size, useReserved})
	if zeros {
		s.put(s.all, va, size, entry{})
	}
	return va, abi.StatusSuccess
}

// Allot finds size bytes of addresses to map something at: addresses that are given may
// be free, reserved or mapped before; unless backed, when nothing is to be there, they
// must not be of an earlier Allot. Statuses as of Reserve.
// Source: page of D3DKMTMapGpuVirtualAddress.
func (s *Space) Allot(p Place, size uint64, backed bool) (uint64, abi.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	va, st := s.choose(p, size, PageSize)
	if !st.OK() {
		return 0, st
	}
	for _, part := range s.layout.within(va, va+size) {
		if part.what == useFences || part.what == useMapped && !backed {
			return 0, abi.StatusInvalidParameter
		}
	}
	gaps := s.layout.gaps(va, va+size)
	if s.gone || s.full(perChange+len(gaps)) {
		return 0, abi.StatusNoMemory
	}
	for _, g := range gaps {
		s.layout.replace(g[0], g[1], span[use]{g[0], g[1], useMapped})
	}
	return va, abi.StatusSuccess
}

// Has reports whether all addresses of a range were reserved or allotted.
func (s *Space) Has(va, size uint64) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.has(va, size)
}

func (s *Space) has(va, size uint64) bool {
	if size == 0 || va > s.top || size > s.top-va || len(s.layout.gaps(va, va+size)) != 0 {
		return false
	}
	return va >= HeapBase || va+size <= FenceBase
}

// Free gives addresses back, with whatever is mapped there. INVALID_PARAMETER: they are
// not aligned to pages, or not all of them were reserved or allotted. NO_MEMORY: too
// many ranges would be left, because it is the middle of one.
func (s *Space) Free(va, size uint64) abi.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	if va%PageSize != 0 || size%PageSize != 0 || !s.has(va, size) {
		return abi.StatusInvalidParameter
	}
	if s.splits(va, size) && s.full(perChange) {
		return abi.StatusNoMemory
	}
	s.layout.replace(va, va+size)
	for i := range s.tables {
		s.tables[i].replace(va, va+size)
	}
	return abi.StatusSuccess
}

// splits reports whether a range is the middle of another, which would be two then.
func (s *Space) splits(va, size uint64) bool {
	if sp := s.layout.find(va); sp != nil && sp.start < va && sp.end > va+size {
		return true
	}
	for _, t := range s.tables {
		if sp := t.find(va); sp != nil && sp.start < va && sp.end > va+size {
			return true
		}
	}
	return false
}

// Map puts memory behind addresses as the engines of a mask see them. The caller has
// found them with Allot or Has, and room with Expect.
func (s *Space) Map(engines uint32, va, size uint64, m Mapping) {
	if !s.read {
		m.Writable = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(engines, va, size, entry{m})
}

// Unmap takes away what is behind addresses: zeros come in its place, or faults.
func (s *Space) Unmap(engines uint32, va, size uint64, zeros bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if zeros {
		s.put(engines, va, size, entry{})
		return
	}
	s.put(engines, va, size)
}

// Copy puts behind addresses what is behind others. If there is no room for as many
// ranges it does nothing: NO_MEMORY.
func (s *Space) Copy(engines uint32, from, to, size uint64) abi.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.tables {
		if engines>>i&1 == 0 {
			continue
		}
		parts := s.tables[i].within(from, from+size)
		if len(s.tables[i])+len(parts)+perChange+s.owed > MaxSpans {
			return abi.StatusNoMemory
		}
		for j := range parts {
			parts[j].start += to - from
			parts[j].end += to - from
		}
		s.tables[i].replace(to, to+size, parts...)
	}
	return abi.StatusSuccess
}

func (s *Space) put(engines uint32, va, size uint64, what ...entry) {
	if s.gone {
		return
	}
	for i := range s.tables {
		if engines>>i&1 == 0 {
			continue
		}
		var parts []span[entry]
		for _, e := range what {
			parts = append(parts, span[entry]{va, va + size, e})
		}
		s.tables[i].replace(va, va+size, parts...)
	}
}

// Forget unmaps everything whose owner is one of those for which it reports true. The
// addresses stay taken until Free.
func (s *Space) Forget(owner func(any) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.tables {
		kept := t[:0]
		for _, sp := range t {
			if sp.what.Memory == nil || !owner(sp.what.Owner) {
				kept = append(kept, sp)
			}
		}
		clear(t[len(kept):])
		s.tables[i] = kept
	}
}

// Clear empties the space for good: its process is gone.
func (s *Space) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	s.layout = nil
	clear(s.tables)
	s.fences = fences{}
	s.words = words{}
}

// Size returns how many bytes of addresses were reserved and allotted, and how many
// fences are mapped.
func (s *Space) Size() (bytes uint64, fences int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, sp := range s.layout {
		if sp.what != useFences {
			bytes += sp.end - sp.start
		}
	}
	return bytes, s.fences.live + len(s.words.at)
}
