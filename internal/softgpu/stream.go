package softgpu

import (
	"cmp"
	"slices"
)

// A stream is packets of one engine that run in order: those of a hardware queue, or
// those of all contexts. GPU.mu guards it.
type stream struct {
	fifo   []*packet // wait
	listed bool      // in engine.line
}

// stream is the one that a packet belongs to.
func (p *packet) stream() *stream {
	if p.queue != nil {
		return &p.queue.stream
	}
	return &p.context.engine.contexts
}

// head is the packet that comes first, nil if there is none.
func (s *stream) head() *packet {
	if len(s.fifo) == 0 {
		return nil
	}
	return s.fifo[0]
}

// pop takes the head away.
func (s *stream) pop() *packet {
	p := s.fifo[0]
	s.fifo[0] = nil
	s.fifo = s.fifo[1:]
	return p
}

// waiting is how many packets wait.
func (s *stream) waiting() int { return len(s.fifo) }

// A runlist is streams with packets, in the order of the numbers of their heads.
type runlist []*stream

// find is the place of a stream, or where it belongs.
func (l runlist) find(s *stream) int {
	at, _ := slices.BinarySearchFunc(l, s.head().number, func(o *stream, n uint64) int { return cmp.Compare(o.head().number, n) })
	return at
}

func (l *runlist) insert(s *stream) { *l = slices.Insert(*l, l.find(s), s) }

// waiting is how many packets wait in all of them.
func (l runlist) waiting() (n int) {
	for _, s := range l {
		n += s.waiting()
	}
	return n
}

// list lets a stream run that has packets.
func (e *engine) list(s *stream) {
	if !s.listed && s.head() != nil {
		s.listed = true
		e.line.insert(s)
	}
}

// next takes the packet that comes first off the line, which is not empty.
func (e *engine) next() *packet {
	s := e.line[0]
	e.line[0] = nil
	e.line, s.listed = e.line[1:], false
	p := s.pop()
	e.list(s)
	return p
}

// requeue puts a packet that was taken back to the front of its stream.
func (e *engine) requeue(p *packet) {
	s := p.stream()
	if s.listed {
		e.line = slices.Delete(e.line, e.line.find(s), e.line.find(s)+1)
		s.listed = false
	}
	s.fifo = slices.Insert(s.fifo, 0, p)
	e.list(s)
}

// drop takes packets off the engine: the running one, which then ran until now, and
// those that wait.
func (e *engine) drop(which func(*packet) bool, now int64) {
	if e.running != nil && which(e.running) {
		e.running, e.time = nil, max(e.time, now)
	}
	line := e.line
	e.line = nil
	for _, s := range line {
		s.listed = false
		s.fifo = slices.DeleteFunc(s.fifo, which)
		e.list(s)
	}
}

// packets lists those that wait and which says yes to, oldest first.
func (e *engine) packets(which func(*packet) bool) []*packet {
	var all []*packet
	for _, s := range e.line {
		for _, p := range s.fifo {
			if which(p) {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b *packet) int { return cmp.Compare(a.number, b.number) })
	return all
}
