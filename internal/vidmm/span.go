package vidmm

import (
	"slices"
	"sort"
)

// A span is a range of addresses, [start, end), with what is there.
type span[T content[T]] struct {
	start, end uint64
	what       T
}

// content is what spans have; skip says what a span has that starts so many bytes later.
type content[T any] interface{ skip(bytes uint64) T }

// spans are spans in the order of their addresses; none overlap.
type spans[T content[T]] []span[T]

// at is the index of the first span that ends behind va.
func (s spans[T]) at(va uint64) int {
	return sort.Search(len(s), func(i int) bool { return s[i].end > va })
}

// find returns the span that va is in, or nil.
func (s spans[T]) find(va uint64) *span[T] {
	if i := s.at(va); i < len(s) && s[i].start <= va {
		return &s[i]
	}
	return nil
}

// within returns the parts of spans that lie in [start, end).
func (s spans[T]) within(start, end uint64) (parts []span[T]) {
	for i := s.at(start); i < len(s) && s[i].start < end; i++ {
		p := s[i]
		if p.start < start {
			p.what, p.start = p.what.skip(start-p.start), start
		}
		p.end = min(p.end, end)
		parts = append(parts, p)
	}
	return parts
}

// gaps returns what of [start, end) no span has.
func (s spans[T]) gaps(start, end uint64) (parts [][2]uint64) {
	for i := s.at(start); start < end; i++ {
		if i == len(s) || s[i].start >= end {
			return append(parts, [2]uint64{start, end})
		}
		if s[i].start > start {
			parts = append(parts, [2]uint64{start, s[i].start})
		}
		start = s[i].end
	}
	return parts
}

// replace puts parts, which lie in [start, end), in the place of all that was there.
func (s *spans[T]) replace(start, end uint64, parts ...span[T]) {
	old := *s
	i := old.at(start)
	j := i
	for j < len(old) && old[j].start < end {
		j++
	}
	var all []span[T]
	if i < j && old[i].start < start {
		all = append(all, span[T]{old[i].start, start, old[i].what})
	}
	all = append(all, parts...)
	if i < j && old[j-1].end > end {
		last := old[j-1]
		all = append(all, span[T]{end, last.end, last.what.skip(end - last.start)})
	}
	*s = slices.Replace(old, i, j, all...)
}

// room finds size bytes that no span has, in [low, high), at a multiple of align, the
// lowest there are.
func (s spans[T]) room(low, high, size, align uint64) (va uint64, ok bool) {
	for i := s.at(low); ; i++ {
		va = (low + align - 1) &^ (align - 1)
		if va < low || va >= high || high-va < size {
			return 0, false
		}
		if i == len(s) || s[i].start >= va && s[i].start-va >= size {
			return va, true
		}
		low = max(low, s[i].end)
	}
}
