package wait

// A Heap keeps the entries that wait for one value, lowest target first. Its
// owner guards it with a lock. The zero Heap is empty.
//
// Entries lie far apart in memory, and with ten thousand of them each one touched is
// a cache miss. So a node has four children, the targets stand beside the pointers,
// and where an entry's node is stands in a table of the heap's own.
//
// Most fences are waited for by nobody or by one: a lone entry needs none of that.
type Heap struct {
	lone    *Entry // the only entry
	*seated        // else all; nil before the first time
}

type seated struct {
	e    []node
	pos  []int32 // by seat: place in e of the entry that has the seat
	free []int32 // seats that nobody has
}

type node struct {
	target uint64 // of entry
	entry  *Entry
	seat   int32 // of entry, less 1
}

const children = 4

// Len returns how many entries wait.
func (h *Heap) Len() int {
	switch {
	case h.lone != nil:
		return 1
	case h.seated == nil:
		return 0
	}
	return len(h.e)
}

// Lowest returns the lowest target waited for; ok is false when none waits.
func (h *Heap) Lowest() (target uint64, ok bool) {
	switch {
	case h.lone != nil:
		return h.lone.Target, true
	case h.Len() == 0:
		return 0, false
	}
	return h.e[0].target, true
}

// Push adds e, which must be in no heap.
func (h *Heap) Push(e *Entry) {
	if h.Len() == 0 {
		h.lone = e
		return
	}
	if h.seated == nil {
		h.seated = new(seated)
	}
	if first := h.lone; first != nil {
		h.lone = nil
		h.push(first)
	}
	h.push(e)
}

func (h *seated) push(e *Entry) {
	n := node{e.Target, e, int32(len(h.pos))}
	if last := len(h.free) - 1; last >= 0 {
		n.seat, h.free = h.free[last], h.free[:last]
	} else {
		h.pos = append(h.pos, 0)
	}
	e.seat = n.seat + 1
	h.e = append(h.e, n)
	h.up(len(h.e)-1, n)
}

// Remove takes e out. It reports whether e was in this heap: an entry that was
// popped meanwhile is in none.
func (h *Heap) Remove(e *Entry) bool {
	if h.lone == e {
		h.lone = nil
		return true
	}
	seat := int(e.seat) - 1
	if seat < 0 || h.seated == nil || seat >= len(h.pos) {
		return false
	}
	i := int(h.pos[seat])
	if i >= len(h.e) || h.e[i].entry != e {
		return false
	}
	h.take(i)
	return true
}

// Pop takes out and returns an entry whose target is at most v, lowest first;
// nil when there is none.
func (h *Heap) Pop(v uint64) *Entry {
	if e := h.lone; e != nil {
		if e.Target > v {
			return nil
		}
		h.lone = nil
		return e
	}
	if h.Len() == 0 || h.e[0].target > v {
		return nil
	}
	e := h.e[0].entry
	h.take(0)
	return e
}

func (h *seated) take(i int) {
	last := len(h.e) - 1
	gone, moved := h.e[i], h.e[last]
	h.e[last] = node{}
	h.e = h.e[:last]
	gone.entry.seat = 0
	h.free = append(h.free, gone.seat)
	if i == last {
		return
	}
	if h.down(i, moved) == i {
		h.up(i, moved)
	}
}

// up and down carry n from place i to where it belongs.
func (h *seated) up(i int, n node) {
	for i > 0 {
		parent := (i - 1) / children
		if h.e[parent].target <= n.target {
			break
		}
		h.set(i, h.e[parent])
		i = parent
	}
	h.set(i, n)
}

func (h *seated) down(i int, n node) int {
	for {
		child := children*i + 1
		if child >= len(h.e) {
			break
		}
		least := h.e[child].target
		for c := child + 1; c < min(children*i+1+children, len(h.e)); c++ {
			if t := h.e[c].target; t < least {
				child, least = c, t
			}
		}
		if least >= n.target {
			break
		}
		h.set(i, h.e[child])
		i = child
	}
	h.set(i, n)
	return i
}

func (h *seated) set(i int, n node) {
	h.e[i] = n
	h.pos[n.seat] = int32(i)
}
