package page

import "sync/atomic"

// BellLines is the number of lines in a bell table. Line 0 is never used: its number
// in a slot means that the slot is free.
const BellLines = 16384

// bellsSize is the size of a bell table in bytes.
const bellsSize = BellLines * CellSize

// A bellLine is one line of a bell table, on a cache line of its own.
//
//	0x00 bell    futex word; each ring adds 1
//	0x04 status  how the kernel-side wait with this line as its ticket ended
//	0x08 done    1 once status is valid
type bellLine struct {
	bell   atomic.Uint32
	status atomic.Uint32
	done   atomic.Uint32
	_      [13]uint32
}

// Bells is the bell table of a Unix user, mapped by the kernel and by all processes
// of that user. A line is a bell, on which one sleeper sleeps whatever it waits for,
// and a ticket, in which the kernel writes how a wait that it decides has ended. A
// line may be both at once.
//
// Line numbers come from other processes: methods take any number and do nothing
// with one that is out of range.
type Bells struct {
	lines []bellLine
	mem   *Memory
}

// CreateBells makes a table with every word 0. Errors are the system's.
func CreateBells() (*Bells, error) {
	mem, err := create("dxgsync-bells", bellsSize)
	if err != nil {
		return nil, err
	}
	return mem.bells(), nil
}

// MapBells maps a table that another process made. fd stays the caller's. Errors are
// the system's.
func MapBells(fd int) (*Bells, error) {
	mem, err := Map(fd, bellsSize, true)
	if err != nil {
		return nil, err
	}
	return mem.bells(), nil
}

// Memory returns the memory of the table, whose descriptor other processes map.
func (b *Bells) Memory() *Memory { return b.mem }

// line returns line n, nil when there is none.
func (b *Bells) line(n uint32) *bellLine {
	if n == 0 || n >= uint32(len(b.lines)) {
		return nil
	}
	return &b.lines[n]
}

// Ring makes the sleeper on bell n look at what it waits for. Without one, its next
// look comes in time all the same: it reads the bell before it looks.
func (b *Bells) Ring(n uint32) {
	if l := b.line(n); l != nil {
		l.bell.Add(1)
		Wake(&l.bell)
	}
}

// Value returns the word of bell n, to be read before looking and given to Sleep.
func (b *Bells) Value(n uint32) uint32 {
	if l := b.line(n); l != nil {
		return l.bell.Load()
	}
	return 0
}

// Sleep sleeps until bell n is rung. It returns at once when the bell was rung since
// it had the value seen, and may return early for no reason; the caller reads the
// bell, looks and sleeps again.
func (b *Bells) Sleep(n, seen uint32) {
	if l := b.line(n); l != nil {
		Wait(&l.bell, seen)
	}
}

// Issue makes line n ready for the kernel's answer. Call it before the request
// is sent that names n as its ticket.
func (b *Bells) Issue(n uint32) {
	if l := b.line(n); l != nil {
		l.done.Store(0)
	}
}

// Ticket returns the status with which the wait with ticket n ended, ok false while
// it has not.
func (b *Bells) Ticket(n uint32) (status uint32, ok bool) {
	l := b.line(n)
	if l == nil || l.done.Load() == 0 {
		return 0, false
	}
	return l.status.Load(), true
}

// Answer is the first half of the kernel's answer to the wait with this ticket: the
// status, then the mark that it is there. It belongs under the kernel's lock: later
// the line may be another process's. Ring is the second half, at any time after.
func (b *Bells) Answer(ticket, status uint32) {
	if l := b.line(ticket); l != nil {
		l.status.Store(status)
		l.done.Store(1)
	}
}

// EndTicket is the whole answer.
func (b *Bells) EndTicket(ticket, status, bell uint32) {
	b.Answer(ticket, status)
	b.Ring(bell)
}
