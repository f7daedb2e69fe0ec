package syncobj

import "slices"

// A stock is what packets consume of a mutex, which is one unit, or of a semaphore.
// Invariant: no packet in the line can proceed. So whoever comes when there is enough
// for him overtakes nobody who could have gone, and one pass along the line is enough
// when something comes back.
type stock struct {
	left, most uint32
	gone       bool // the object is: there is enough for everybody
	last       any  // who took the last unit, nil when one came back since
	line       []*Packet
}

// take takes a unit if there is one.
func (s *stock) take() bool {
	switch {
	case s.gone:
		return true
	case s.left == 0:
		return false
	}
	s.left--
	return true
}

// putBack undoes a take.
func (s *stock) putBack() {
	if !s.gone {
		s.left++
	}
}

// give adds a unit, up to the most there may be, and lets whoever can proceed have it.
func (s *stock) give() {
	if s.gone || s.left == s.most {
		return
	}
	s.left++
	s.last = nil // keeps no lost device in memory
	s.serve()
}

// end makes the stock endless: the object is gone.
func (s *stock) end() {
	s.gone, s.last = true, nil
	s.serve()
	s.line = nil
}

// serve lets the packets of the line proceed that can, first come first served.
func (s *stock) serve() {
	for i := 0; i < len(s.line) && (s.gone || s.left > 0); {
		if !s.line[i].acquire() { // else it has left the line
			i++
		}
	}
}

// enter puts p at the end of the line. A packet that names the object twice stands
// there once.
func (s *stock) enter(p *Packet) {
	if n := len(s.line); !s.gone && (n == 0 || s.line[n-1] != p) {
		s.line = append(s.line, p)
	}
}

// leave takes p out of the line, if it stands there.
func (s *stock) leave(p *Packet) {
	if i := slices.Index(s.line, p); i >= 0 {
		s.line = slices.Delete(s.line, i, i+1)
	}
}
