package vidmm

// FenceStride keeps fences on cache lines of their own, in bytes.
const FenceStride = 64

// A Fence is the mapping of one fence. It is part of whatever holds the fence, so that
// a mapping costs no memory of its own; the zero Fence is mapped nowhere.
type Fence struct {
	word     Word
	index    uint64
	engines  uint32
	writable bool
	mapped   bool
}

// fences are the mapped fences by their place. Places are given out in order, and used
// again only when all have been.
type fences struct {
	chunks map[uint64]*fenceChunk // by place / chunkFences; nil: the space is gone
	next   uint64
	live   int
}

const (
	chunkFences = 256
	maxFences   = (NativeBase - FenceBase) / FenceStride
)

type fenceChunk struct {
	at [chunkFences]*Fence
	n  int
}

func (f *fences) init() { f.chunks = map[uint64]*fenceChunk{} }

// MapFence gives f a place where the engines of a mask see the 8 bytes of word, and
// returns its address; 0: there is none left, or the process is gone. In a mask, bits
// of engines that do not exist are ignored; if none is left it means all.
// Source: objects.md §6; OQ-22.
func (s *Space) MapFence(f *Fence, word Word, engines uint32, writable bool) uint64 {
	if engines &= s.all; engines == 0 {
		engines = s.all
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.fences
	if s.gone || t.live == maxFences {
		return 0
	}
	c, i := t.chunk(t.next)
	for c.at[i] != nil { // after the first round only
		t.next++
		c, i = t.chunk(t.next)
	}
	*f = Fence{word: word, index: t.next % maxFences, engines: engines, writable: writable || !s.read, mapped: true}
	c.at[i] = f
	c.n++
	t.next++
	t.live++
	return FenceBase + f.index*FenceStride
}

// chunk finds where a place is kept, and makes that first.
func (t *fences) chunk(place uint64) (*fenceChunk, uint64) {
	place %= maxFences
	c := t.chunks[place/chunkFences]
	if c == nil {
		c = &fenceChunk{}
		t.chunks[place/chunkFences] = c
	}
	return c, place % chunkFences
}

// UnmapFence takes f away. When it returns, nobody uses the word any more.
func (s *Space) UnmapFence(f *Fence) {
	if !f.mapped {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.mapped = false
	c := s.fences.chunks[f.index/chunkFences]
	if c == nil {
		return
	}
	c.at[f.index%chunkFences] = nil
	s.fences.live--
	if c.n--; c.n == 0 && s.fences.next%maxFences/chunkFences != f.index/chunkFences {
		delete(s.fences.chunks, f.index/chunkFences)
	}
}

// MoveFence gives the place of one mapping to another, which sees a word of its own
// there. When it returns, nobody uses the first one's word any more.
func (s *Space) MoveFence(from, to *Fence, word Word) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !from.mapped {
		return
	}
	*to = *from
	to.word, from.mapped = word, false
	if c := s.fences.chunks[to.index/chunkFences]; c != nil {
		c.at[to.index%chunkFences] = to
	}
}

// ReplaceWord puts another word behind the address of f, if f is mapped. When it
// returns, nobody uses the former one any more.
func (s *Space) ReplaceWord(f *Fence, word Word) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.mapped {
		f.word = word
	}
}

// Address is the address of a word of a native fence; 0: it is not mapped.
func (f *Fence) Address() uint64 {
	if !f.mapped {
		return 0
	}
	return f.index
}

// Mapped reports whether f has a place.
func (f *Fence) Mapped() bool { return f.mapped }

// find returns the fence that va is in one of the 8 bytes of, as an engine sees it.
func (t *fences) find(engine uint32, va uint64) *Fence {
	if va < FenceBase || va >= NativeBase || va%FenceStride >= 8 {
		return nil
	}
	place := (va - FenceBase) / FenceStride
	c := t.chunks[place/chunkFences]
	if c == nil {
		return nil
	}
	f := c.at[place%chunkFences]
	if f == nil || f.engines>>engine&1 == 0 {
		return nil
	}
	return f
}
