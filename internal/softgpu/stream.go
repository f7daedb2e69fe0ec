package softgpu

import (
	"cmp"
	"slices"
)

// A stream is packets of one engine that run in order: those of a hardware queue, or
// those of all contexts. While its first packet is stalled at a WAIT none of them runs.
// GPU.mu guards it.
type stream struct {
	state   streamState
	stalled *packet   // comes first: it is stalled, or was; nil: none
	fifo    []*packet // wait behind it
}

type streamState uint8

const (
	idle    streamState = iota // no packet waits
	listed                     // in engine.line
	stalled                    // in engine.stalls, and stalled in the fence's
)

// stream is the one that a packet belongs to.
func (p *packet) stream() *stream {
	if p.queue != nil {
		return &p.queue.stream
	}
	return &p.context.engine.contexts
}

// head is the packet that comes first, nil if there is none.
func (s *stream) head() *packet {
	switch {
	case s.stalled != nil:
		return s.stalled
	case len(s.fifo) > 0:
		return s.fifo[0]
	}
	return nil
}

// pop takes the head away.
func (s *stream) pop() *packet {
	p := s.head()
	if s.stalled != nil {
		s.stalled = nil
		return p
	}
	s.fifo[0] = nil
	s.fifo = s.fifo[1:]
	return p
}

// waiting is how many packets wait.
func (s *stream) waiting() int {
	n := len(s.fifo)
	if s.stalled != nil {
		n++
	}
	return n
}

// A runlist is streams with packets, in the order of the numbers of their heads.
type runlist []*stream

// find is the place of a stream, or where it belongs.
func (l runlist) find(s *stream) (at int, ok bool) {
	return slices.BinarySearchFunc(l, s.head().number, func(o *stream, n uint64) int { return cmp.Compare(o.head().number, n) })
}

func (l *runlist) insert(s *stream) {
	at, _ := l.find(s)
	*l = slices.Insert(*l, at, s)
}

func (l *runlist) remove(s *stream) {
	if at, ok := l.find(s); ok {
		*l = slices.Delete(*l, at, at+1)
	}
}

// waiting is how many packets wait in all of them.
func (l runlist) waiting() (n int) {
	for _, s := range l {
		n += s.waiting()
	}
	return n
}

// list lets a stream run if it has packets and is not stalled; unlist takes that back.
func (e *engine) list(s *stream) {
	if s.state == idle && s.head() != nil {
		s.state = listed
		e.line.insert(s)
	}
}

func (e *engine) unlist(s *stream) {
	if s.state == listed {
		e.line.remove(s)
		s.state = idle
	}
}

// next takes the packet that comes first off the line, which is not empty.
func (e *engine) next() *packet {
	s := e.line[0]
	e.line[0] = nil
	e.line, s.state = e.line[1:], idle
	p := s.pop()
	e.list(s)
	return p
}

// requeue puts the running packet back to the front of its stream.
func (e *engine) requeue() {
	p := e.running
	s := p.stream()
	e.unlist(s)
	s.fifo = slices.Insert(s.fifo, 0, p)
	e.list(s)
	e.running = nil
}

// drop takes packets off the engine: the running one, which then ran until now, and
// those that wait.
func (e *engine) drop(which func(*packet) bool, now int64) {
	if e.running != nil && which(e.running) {
		e.running, e.time = nil, max(e.time, now)
	}
	all := slices.Concat(e.line, e.stalls)
	e.line, e.stalls = nil, nil
	for _, s := range all {
		s.fifo = slices.DeleteFunc(s.fifo, which)
		if p := s.stalled; p != nil && which(p) {
			if s.state == stalled {
				p.wait.view.fence.stalls.remove(p)
			}
			s.stalled, s.state = nil, idle
		}
		if s.state == stalled {
			e.stalls.insert(s)
			continue
		}
		s.state = idle
		e.list(s)
	}
}

// packets lists those that wait and which says yes to, oldest first.
func (e *engine) packets(which func(*packet) bool) []*packet {
	var all []*packet
	add := func(p *packet) {
		if p != nil && which(p) {
			all = append(all, p)
		}
	}
	for _, s := range slices.Concat(e.line, e.stalls) {
		add(s.stalled)
		for _, p := range s.fifo {
			add(p)
		}
	}
	slices.SortFunc(all, func(a, b *packet) int { return cmp.Compare(a.number, b.number) })
	return all
}
