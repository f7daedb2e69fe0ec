// Package explore runs a small program of a few threads in every order. A program has
// places where its threads may be overtaken (Yield, Await, Choose, Locker); there one of
// them is chosen to go on, and the program is run again until everything was chosen
// everywhere. Only one thread runs at a time, on real code, whose own locks must be free
// at such places or be made with Locker.
//
// A state that was met before is not gone on from once more. The state is what the
// program says of what its threads share, and of each thread all that it has seen since
// it last said what it knows (Forget). As threads do nothing but what follows from what they
// have seen, two runs in one state can only go on alike. So nothing is left away, as long
// as the program names everything that is shared.
package explore

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Stats is how much was explored.
type Stats struct {
	Runs   int // of the program
	States int // in which something was chosen
	Depth  int // the most choices of a run
}

// mostSteps is how long a run may be. A longer one goes round in circles.
const mostSteps = 10_000

// A Run is one run of a program. Its methods are for the program, which makes threads
// with Go, and for their functions.
type Run struct {
	search  *search
	threads []*thread
	current *thread // nil: the program itself
	parked  chan struct{}
	shared  func() string
	check   func() error
	end     func() error
	steps   int
	depth   int
	known   bool // the state was met before
	err     error
	trace   []string
}

type thread struct {
	name   string
	resume chan struct{}
	ready  func() bool // nil: always
	ways   int         // how many ways it can go on
	way    int         // the one that was chosen
	at     string      // where it is
	seen   []byte
	over   bool
}

// A choice is which of how many, in which state.
type choice struct {
	taken, of int
	state     string
}

type search struct {
	path []choice
	met  map[string]struct{}
}

// All runs a program in every order. The error is the first that a run found, with the
// order in which it did.
func All(program func(r *Run)) (Stats, error) {
	s := &search{met: map[string]struct{}{}}
	var stats Stats
	for {
		r := &Run{search: s, parked: make(chan struct{})}
		r.run(program)
		stats.Runs++
		stats.Depth = max(stats.Depth, r.depth)
		stats.States = len(s.met)
		if r.err != nil {
			return stats, fmt.Errorf("%w\nin this order:\n\t%s", r.err, strings.Join(r.trace, "\n\t"))
		}
		n := len(s.path)
		for n > 0 && s.path[n-1].taken+1 == s.path[n-1].of {
			n--
		}
		if n == 0 {
			return stats, nil
		}
		s.path = s.path[:n]
		s.path[n-1].taken++
	}
}

// run is one run, to its end whatever it finds.
func (r *Run) run(program func(r *Run)) {
	program(r)
	for {
		var able []*thread
		ways, over := 0, true
		for _, t := range r.threads {
			over = over && t.over
			if !t.over && (t.ready == nil || t.ready()) {
				able = append(able, t)
				ways += t.ways
			}
		}
		if r.check != nil {
			r.Fail(r.check())
		}
		switch {
		case over:
			if r.end != nil {
				r.Fail(r.end())
			}
			return
		case ways == 0:
			r.Fail(errors.New("nobody can go on"))
			return
		case r.steps == mostSteps:
			r.Fail(errors.New("it does not end"))
			return
		}
		r.steps++
		way := r.choose(ways)
		for _, t := range able {
			if way < t.ways {
				t.way = way
				r.step(t)
				break
			}
			way -= t.ways
		}
	}
}

func (r *Run) step(t *thread) {
	r.trace = append(r.trace, t.name+": "+t.at)
	r.current = t
	t.resume <- struct{}{}
	<-r.parked
	r.current = nil
}

// choose takes the next choice of the path, or begins a new one.
func (r *Run) choose(of int) int {
	if of == 1 || r.known || r.err != nil {
		return 0
	}
	s := r.search
	if r.depth < len(s.path) {
		c := s.path[r.depth]
		r.depth++
		if c.of != of || r.depth == len(s.path) && c.state != r.state() {
			r.Fail(fmt.Errorf("the program does not repeat itself: %d ways from\n%s\nand then %d from\n%s", c.of, c.state, of, r.state()))
		}
		return c.taken
	}
	state := r.state()
	if _, r.known = s.met[state]; r.known {
		return 0
	}
	s.met[state] = struct{}{}
	s.path = append(s.path, choice{0, of, state})
	r.depth++
	return 0
}

func (r *Run) state() string {
	var b strings.Builder
	if r.shared != nil {
		b.WriteString(r.shared())
	}
	for _, t := range r.threads {
		b.WriteString("\n" + t.name + ": ")
		if t.over {
			b.WriteString("over")
		} else {
			b.Write(t.seen)
			b.WriteString(" @" + t.at)
		}
	}
	return b.String()
}

// Go makes a thread. It begins to run when the program has returned.
func (r *Run) Go(name string, f func()) {
	t := &thread{name: name, resume: make(chan struct{}), ways: 1, at: "begin"}
	r.threads = append(r.threads, t)
	go func() {
		<-t.resume
		f()
		t.over = true
		r.parked <- struct{}{}
	}()
}

// Shared says what threads share, and what the checks remember, as text.
func (r *Run) Shared(f func() string) { r.shared = f }

// Check is called whenever somebody is to be chosen, End when all threads are over.
func (r *Run) Check(f func() error) { r.check = f }

// End is called when all threads are over.
func (r *Run) End(f func() error) { r.end = f }

// Fail notes an error, if it is the first and not nil. The run goes on.
func (r *Run) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Yield lets others overtake the running thread. seen is what it has seen since it last
// called. In the program itself nothing happens.
func (r *Run) Yield(at string, seen ...any) { r.park(at, nil, 1, seen) }

// Await is Yield, and the thread goes on only when ready says yes.
func (r *Run) Await(at string, ready func() bool, seen ...any) { r.park(at, ready, 1, seen) }

// Choose is Yield, and the result is each number below n in some run.
func (r *Run) Choose(at string, n int, seen ...any) int { return r.park(at, nil, n, seen) }

// Forget says that of all that the running thread has seen it knows only this.
func (r *Run) Forget(knows ...any) {
	if t := r.current; t != nil {
		t.seen = fmt.Append(t.seen[:0], knows...)
	}
}

// Aside calls f. The running thread does not know any more what it saw there.
func (r *Run) Aside(f func()) {
	t := r.current
	if t == nil {
		f()
		return
	}
	n := len(t.seen)
	f()
	t.seen = t.seen[:n]
}

func (r *Run) park(at string, ready func() bool, ways int, seen []any) int {
	t := r.current
	if t == nil {
		return 0
	}
	for _, v := range seen {
		t.seen = fmt.Append(t.seen, " ", v)
	}
	t.seen = append(t.seen, ';')
	t.at, t.ready, t.ways, t.way = at, ready, ways, 0
	r.parked <- struct{}{}
	<-t.resume
	t.ready, t.ways = nil, 1
	if ways > 1 {
		t.seen = fmt.Append(t.seen, " ", t.way)
	}
	return t.way
}

// Locker makes a lock that threads may hold where they are overtaken. Taking it is such a
// place, too, if somebody holds it or matters says so.
func (r *Run) Locker(name string, matters func() bool) *Locker {
	return &Locker{run: r, name: name, matters: matters}
}

// A Locker is a lock of a run.
type Locker struct {
	run     *Run
	name    string
	matters func() bool
	holder  string
	held    bool
}

var _ sync.Locker = (*Locker)(nil)

// Lock waits until nobody holds it.
func (l *Locker) Lock() {
	if l.held || l.matters() {
		l.run.Await("lock "+l.name, func() bool { return !l.held })
	}
	l.held = true
	if l.run.current != nil {
		l.holder = l.run.current.name
	}
}

// Unlock gives it back.
func (l *Locker) Unlock() { l.held, l.holder = false, "" }

// Holder is the thread that holds it, "" if none does.
func (l *Locker) Holder() string { return l.holder }
