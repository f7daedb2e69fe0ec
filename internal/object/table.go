// Package object keeps what has handles, names and rights: the local handle table of
// a process, and system-wide the tables of global handles and of NT handles, the
// namespace, access masks and security descriptors. It knows nothing of GPUs; what an
// entry is belongs to the packages that own it.
//
// Nothing here locks: the kernel's lock guards every table. What only parses
// (ParseAttributes, ParseName, ParseSecurity) needs no lock.
package object

import "github.com/dxgsync/dxgsync/abi"

// A local handle is 32 bits: bits 0–5 instance (always 0), bits 6–29 index,
// bits 30–31 uniqueness, never 0. Source: sharing.md §1 (Linux guest header).
const (
	indexShift  = 6
	indexBits   = 24
	uniqueShift = 30
	instance    = 1<<indexShift - 1

	// MaxHandles is how many local handles a process can hold: index 0 is not used.
	MaxHandles = 1<<indexBits - 1
)

const (
	chunkBits = 10
	chunkLen  = 1 << chunkBits
)

// A Table is the local handle table of one process. Handles of all kinds come
// from one counter, each the previous plus 0x40; an index comes round again only
// after 2^24 handles, and then with other uniqueness bits. The zero Table is
// empty and ready.
type Table struct {
	chunks []*chunk // by index>>chunkBits; nil where nothing lives
	spare  *chunk   // one empty chunk kept against churn at its edge
	next   uint32   // index handed out last
	unique uint32   // uniqueness of this lap, 1..3; 0 before the first handle
	live   int
	limit  int // 0 = MaxHandles
}

type chunk struct {
	live   int
	unique [chunkLen]uint8 // 0 = free
	object [chunkLen]any
}

// Limit sets how many handles may be live at once, at most MaxHandles.
func (t *Table) Limit(n int) { t.limit = min(n, MaxHandles) }

// Len returns how many handles are live.
func (t *Table) Len() int { return t.live }

// Room reports whether n more handles fit.
func (t *Table) Room(n int) bool {
	limit := t.limit
	if limit == 0 {
		limit = MaxHandles
	}
	return t.live+n <= limit
}

// Add gives obj the next handle, or 0 when the table is at its limit.
func (t *Table) Add(obj any) abi.Handle {
	if !t.Room(1) {
		return 0
	}
	for {
		t.next++
		if t.next > MaxHandles || t.unique == 0 {
			t.next = 1
			t.unique = t.unique%3 + 1
		}
		c := t.chunk(t.next)
		i := t.next & (chunkLen - 1)
		if c.unique[i] != 0 {
			continue // still held since an earlier lap
		}
		c.unique[i] = uint8(t.unique)
		c.object[i] = obj
		c.live++
		t.live++
		return abi.Handle(t.unique<<uniqueShift | t.next<<indexShift)
	}
}

func (t *Table) chunk(index uint32) *chunk {
	n := int(index >> chunkBits)
	for n >= len(t.chunks) {
		t.chunks = append(t.chunks, nil)
	}
	if t.chunks[n] == nil {
		if t.spare != nil {
			t.chunks[n], t.spare = t.spare, nil
		} else {
			t.chunks[n] = new(chunk)
		}
	}
	return t.chunks[n]
}

func (t *Table) find(h abi.Handle) (*chunk, uint32) {
	if h&instance != 0 {
		return nil, 0
	}
	index := uint32(h) >> indexShift & MaxHandles
	n := int(index >> chunkBits)
	if n >= len(t.chunks) || t.chunks[n] == nil {
		return nil, 0
	}
	c, i := t.chunks[n], index&(chunkLen-1)
	if u := uint8(h >> uniqueShift); u == 0 || c.unique[i] != u {
		return nil, 0
	}
	return c, i
}

// Get returns what h stands for, nil when it stands for nothing.
func (t *Table) Get(h abi.Handle) any {
	c, i := t.find(h)
	if c == nil {
		return nil
	}
	return c.object[i]
}

// Remove frees h and returns what it stood for, nil when it stood for nothing.
func (t *Table) Remove(h abi.Handle) any {
	c, i := t.find(h)
	if c == nil {
		return nil
	}
	obj := c.object[i]
	c.object[i], c.unique[i] = nil, 0
	c.live--
	t.live--
	if n := uint32(h) >> indexShift & MaxHandles >> chunkBits; c.live == 0 && n != t.next>>chunkBits {
		t.chunks[n], t.spare = nil, c
	}
	return obj
}

// All calls f for every live handle in order of index, until f returns false.
// f may remove handles.
func (t *Table) All(f func(abi.Handle, any) bool) {
	for n, c := range t.chunks {
		if c == nil {
			continue
		}
		for i := range c.unique {
			if c.unique[i] == 0 {
				continue
			}
			h := abi.Handle(uint32(c.unique[i])<<uniqueShift | (uint32(n)<<chunkBits|uint32(i))<<indexShift)
			if !f(h, c.object[i]) {
				return
			}
		}
	}
}

// Get is Table.Get for one kind of object: it also fails when h stands for
// something else.
func Get[T any](t *Table, h abi.Handle) (T, bool) {
	obj, ok := t.Get(h).(T)
	return obj, ok
}
