package server

import "math/bits"

// tableLines is the number of lines in a user's bell table. Line 0 is never used.
const tableLines = 16384

// lines is a set of bell lines.
type lines [tableLines / 64]uint64

func (s *lines) has(n uint32) bool { return s[n/64]>>(n%64)&1 != 0 }
func (s *lines) add(n uint32)      { s[n/64] |= 1 << (n % 64) }
func (s *lines) remove(n uint32)   { s[n/64] &^= 1 << (n % 64) }

func (s *lines) addRange(first, count uint32) {
	for n := first; n < first+count; n++ {
		s.add(n)
	}
}

func (s *lines) removeRange(first, count uint32) {
	for n := first; n < first+count; n++ {
		s.remove(n)
	}
}

// hasRange reports whether all of [first, first+count) is in the set.
func (s *lines) hasRange(first, count uint32) bool {
	if uint64(first)+uint64(count) > tableLines {
		return false
	}
	for n := first; n < first+count; n++ {
		if !s.has(n) {
			return false
		}
	}
	return true
}

func (s *lines) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// run finds count neighbouring lines of the set, looking from line from upwards
// and then from the beginning. 0: there is no such run.
func (s *lines) run(from, count uint32) uint32 {
	if first := s.runBetween(from, tableLines, count); first != 0 {
		return first
	}
	return s.runBetween(1, tableLines, count)
}

func (s *lines) runBetween(from, to, count uint32) uint32 {
	length := uint32(0)
	for n := from; n < to; n++ {
		if n%64 == 0 && s[n/64] == 0 {
			n, length = n+63, 0 // nothing in this word
			continue
		}
		if !s.has(n) {
			length = 0
			continue
		}
		if length++; length == count {
			return n - count + 1
		}
	}
	return 0
}

// A bellTable hands out the lines of one user's table. It is guarded by Server.mu.
type bellTable struct {
	free lines
	next uint32 // where to look first, so that a line rests before it is used again
}

func newBellTable() *bellTable {
	t := &bellTable{next: 1}
	t.free.addRange(1, tableLines-1)
	return t
}

// take hands out count neighbouring lines; 0 when there are none.
func (t *bellTable) take(count uint32) (first uint32) {
	if first = t.free.run(t.next, count); first != 0 {
		t.free.removeRange(first, count)
		t.next = first + count
	}
	return first
}

// give takes back every line of s.
func (t *bellTable) give(s *lines) {
	for i, w := range s {
		t.free[i] |= w
	}
}
