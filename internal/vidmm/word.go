package vidmm

// Native fences have places of their own: two words each, the current and the monitored
// value, on pages apart. Words of fences that can be shared have a page for themselves;
// others are packed, those of one stride and one kind together.
// Source: native-fence.md §4.

// NativeBase is where native fences begin, unless the driver bounds their addresses.
const NativeBase = 0x8_0000_0000

// A WordPlace says what place a word is to have.
type WordPlace struct {
	// Stride is how far apart words of a page are, in bytes; 0: it has the page for itself.
	Stride uint64
	// Kind keeps words of different kinds on different pages.
	Kind uint8
	// At is where it should be if that is free; 0: anywhere.
	At uint64
}

// words are the mapped words of native fences, by address. Pages are given out in order,
// and used again only when all have been.
type words struct {
	first, last uint64 // pages
	next        uint64
	at          map[uint64]*Fence
	pages       map[uint64]int // how many words a page has
	whole       map[uint64]*Pages
	open        map[WordPlace]*openPage
}

// An openPage is where the next packed words go.
type openPage struct{ page, offset uint64 }

// BoundWords keeps the words of native fences within [low, high), multiples of pages; 0 is
// no bound. It is called before anything is mapped.
func (s *Space) BoundWords(low, high uint64) {
	from, to := uint64(NativeBase), uint64(HeapBase)
	if low < to && (high == 0 || high > from) {
		from, to = max(from, low), min(to, max(high, from))
		if high == 0 {
			to = HeapBase
		}
	} else {
		from, to = max(low, lowest), min(high, s.top)
		if high == 0 {
			to = s.top
		}
		s.layout.replace(from, to, span[use]{from, to, useFences})
	}
	s.words = words{
		first: from / PageSize, last: to / PageSize, next: from / PageSize,
		at: map[uint64]*Fence{}, pages: map[uint64]int{}, whole: map[uint64]*Pages{}, open: map[WordPlace]*openPage{},
	}
}

// MapWord gives f a place where the engines of a mask see word, and returns its address;
// 0: there is none left, or the process is gone. Masks are as of MapFence.
func (s *Space) MapWord(f *Fence, word Word, engines uint32, writable bool, p WordPlace) uint64 {
	if engines &= s.all; engines == 0 {
		engines = s.all
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return 0
	}
	va := s.words.take(p)
	if va == 0 {
		return 0
	}
	*f = Fence{word: word, index: va, engines: engines, writable: writable || !s.read, mapped: true}
	s.words.at[va] = f
	s.words.pages[va/PageSize]++
	return va
}

// UnmapWord takes f away. When it returns, nobody uses the word any more.
func (s *Space) UnmapWord(f *Fence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !f.mapped {
		return
	}
	f.mapped = false
	w := &s.words
	if w.at[f.index] != f {
		return // the space was cleared
	}
	delete(w.at, f.index)
	if w.pages[f.index/PageSize]--; w.pages[f.index/PageSize] == 0 {
		delete(w.pages, f.index/PageSize)
	}
}

// take finds a place.
func (w *words) take(p WordPlace) uint64 {
	if p.At != 0 && w.has(p.At) && w.at[p.At] == nil && (p.Stride != 0 || w.pages[p.At/PageSize] == 0) {
		return p.At
	}
	p.At = 0
	if p.Stride == 0 {
		return w.page() * PageSize
	}
	o := w.open[p]
	if o == nil || o.offset+8 > PageSize {
		page := w.page()
		if page == 0 {
			return 0
		}
		o = &openPage{page: page}
		w.open[p] = o
	}
	va := o.page*PageSize + o.offset
	o.offset += p.Stride
	if w.at[va] != nil { // another space had it there, and it came by At
		return w.take(p)
	}
	return va
}

func (w *words) has(va uint64) bool { return va/PageSize >= w.first && va/PageSize < w.last }

func (w *words) packing(page uint64) bool {
	for _, o := range w.open {
		if o.page == page {
			return true
		}
	}
	return false
}

// find returns the word that va is in one of the 8 bytes of, as an engine sees it.
func (w *words) find(engine uint32, va uint64) *Fence {
	f := w.at[va&^7]
	if f == nil || f.engines>>engine&1 == 0 {
		return nil
	}
	return f
}
