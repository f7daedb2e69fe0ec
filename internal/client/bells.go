package client

import (
	"sync"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// lines are the bell lines of this process.
type lines struct {
	mu   sync.Mutex
	all  []lineRange
	free []uint32
	next uint32 // how many to ask for next
}

type lineRange struct{ first, count uint32 }

// linesAtOnce bounds how many lines are asked for at a time.
const linesAtOnce = 256

func (l *lines) add(first, count uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, lineRange{first, count})
	for n := first + count; n > first; n-- {
		l.free = append(l.free, n-1)
	}
}

func (l *lines) take() (n uint32, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.free) == 0 {
		return 0, false
	}
	n = l.free[len(l.free)-1]
	l.free = l.free[:len(l.free)-1]
	return n, true
}

// Bells is the bell table of this user. It stays mapped while anybody can reach it.
func (c *Conn) Bells() *page.Bells { return c.bells }

// AllocBell gets a line of the bell table for the caller alone: a bell to sleep on or
// a ticket for a kernel-side wait. NO_MEMORY: the daemon's limit; DEVICE_REMOVED.
func (c *Conn) AllocBell() (uint32, abi.Status) {
	for {
		if n, ok := c.lines.take(); ok {
			return n, abi.StatusSuccess
		}
		if st := c.moreBells(); !st.OK() {
			return 0, st
		}
	}
}

// moreBells asks for twice as many lines as the last time; for one, when there are
// not so many.
func (c *Conn) moreBells() abi.Status {
	c.lines.mu.Lock()
	count := min(max(2*c.lines.next, 8), linesAtOnce)
	c.lines.next = count
	c.lines.mu.Unlock()
	r := &abi.Request{Op: abi.OpGrantBells, Record: make([]byte, abi.OpGrantBells.Size)}
	rec := abi.View[abi.GrantBells](r.Record)
	rec.Count = count
	st := c.Do(r)
	if st == abi.StatusNoMemory {
		rec.Count = 1
		st = c.Do(r)
	}
	if st.OK() {
		c.lines.add(rec.First, rec.Count)
	}
	return st
}

// FreeBell gives a line back. Nothing may name it any more: no slot of a page, no
// pending wait.
func (c *Conn) FreeBell(n uint32) {
	c.lines.mu.Lock()
	defer c.lines.mu.Unlock()
	c.lines.free = append(c.lines.free, n)
}

// ringAll makes every sleeper of this process look.
func (c *Conn) ringAll() {
	c.lines.mu.Lock()
	all := c.lines.all
	c.lines.mu.Unlock()
	for _, r := range all {
		for n := r.first; n < r.first+r.count; n++ {
			c.bells.Ring(n)
		}
	}
}
