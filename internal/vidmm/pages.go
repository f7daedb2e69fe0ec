package vidmm

// Pages are whole pages of the system's own memory among those of native fences: the logs
// of hardware queues. GPUs read and write them. The zero Pages are mapped nowhere.
type Pages struct {
	memory Memory
	first  uint64 // page
	count  uint64
	mapped bool
}

// MapPages gives p a place where all engines see count pages of m, and returns its address;
// 0: there is none left, or the process is gone.
func (s *Space) MapPages(p *Pages, m Memory, count int) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone || count <= 0 {
		return 0
	}
	first := s.words.run(uint64(count))
	if first == 0 {
		return 0
	}
	*p = Pages{memory: m, first: first, count: uint64(count), mapped: true}
	for i := range p.count {
		s.words.whole[first+i] = p
		s.words.pages[first+i]++
	}
	return first * PageSize
}

// UnmapPages takes p away. An access that is under way has the memory yet (Memory.Hold).
func (s *Space) UnmapPages(p *Pages) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !p.mapped {
		return
	}
	p.mapped = false
	w := &s.words
	for page := p.first; page < p.first+p.count && w.whole[page] == p; page++ { // none if the space was cleared
		delete(w.whole, page)
		delete(w.pages, page)
	}
}

// Address is where p is; 0: it is not mapped.
func (p *Pages) Address() uint64 {
	if !p.mapped {
		return 0
	}
	return p.first * PageSize
}

// run finds neighbouring pages with nothing on them; 0: there are none.
func (w *words) run(count uint64) uint64 {
	if count > w.last-w.first {
		return 0
	}
	found := uint64(0)
	for range w.last - w.first + count {
		if w.next+count-found > w.last { // it would not end within the bounds
			w.next, found = w.first, 0
		}
		page := w.next
		w.next++
		if w.pages[page] != 0 || w.packing(page) {
			found = 0
			continue
		}
		if found++; found == count {
			if w.next == w.last {
				w.next = w.first
			}
			return page + 1 - count
		}
	}
	return 0
}

// page finds a page without words that no others are packed on; 0: there is none.
func (w *words) page() uint64 { return w.run(1) }

// findPages returns the pages that va is in, and how far it is from their beginning.
func (w *words) findPages(va uint64) (p *Pages, offset uint64) {
	if p = w.whole[va/PageSize]; p == nil {
		return nil, 0
	}
	return p, va - p.first*PageSize
}
