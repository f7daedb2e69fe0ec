package wait

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// backstop is how often a sleeper looks though nobody rang: a signaller may be
// stopped, not dead, between its store and its wake. Tests turn it off.
const backstop = time.Second

// A Hub watches the mapped memory that goroutines of this process wait on. They
// all stand in the pages under one bell. One of them, the leader, sleeps on that
// bell in a system call; the others, its followers, are parked and cost no
// thread. Whoever rings wakes the leader, which looks at every gate with waiters,
// meets what was reached, and sleeps again; when its own wait is over it hands
// the lead to the follower that has waited longest.
//
// A signal from this process goes straight to the gate and needs no bell.
type Hub struct {
	bells *page.Bells
	bell  uint32
	nap   time.Duration // how often to look in on a leader; 0 = never

	// Over reports whether the kernel has gone: then every wait is over too. Nil
	// when that cannot happen. Set it before the first wait.
	Over func() bool

	mu          sync.Mutex
	leader      *Sleeper
	first, last *Sleeper // followers, longest waiting first
	gates       []*Gate  // with waiters
	watches     []*Watch // waits that the kernel decides
	lost        abi.Status

	scratch []*Gate // the leader's copy of gates

	patrol    *time.Timer // looks in on the leader; nil before the first
	patrolled bool        // the timer runs

	spin spinner
}

// A Watch is an entry that the kernel meets: it reports on a line of the bell
// table and rings.
type Watch struct {
	Line  uint32
	Entry *Entry
	index int
}

// NewHub makes the hub of a process whose bell is line bell of the table.
func NewHub(bells *page.Bells, bell uint32) *Hub {
	h := &Hub{bells: bells, bell: bell, nap: backstop}
	if os.Getenv("DXGSYNC_BACKSTOP") == "off" {
		h.nap = 0
	}
	return h
}

// Bell returns the number of the hub's bell.
func (h *Hub) Bell() uint32 { return h.bell }

// Bells returns the bell table.
func (h *Hub) Bells() *page.Bells { return h.bells }

// Ring makes the leader look at everything.
func (h *Hub) Ring() { h.bells.Ring(h.bell) }

// Lose ends every wait that h watches, and every later one, with st: whoever
// would decide them has gone.
func (h *Hub) Lose(st abi.Status) {
	h.mu.Lock()
	h.lost = st
	gates := append([]*Gate(nil), h.gates...)
	for _, w := range h.watches {
		w.index = -1
		w.Entry.Wait.End(st)
	}
	h.watches = nil
	h.mu.Unlock()
	for _, g := range gates {
		g.Shut(st)
	}
}

// add and remove keep the list of gates with waiters. add fails when the hub is
// lost.
func (h *Hub) add(g *Gate) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != 0 {
		return false
	}
	g.index = len(h.gates)
	h.gates = append(h.gates, g)
	return true
}

func (h *Hub) remove(g *Gate) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := len(h.gates) - 1
	moved := h.gates[last]
	h.gates[g.index], moved.index = moved, g.index
	h.gates[last] = nil
	h.gates = h.gates[:last]
	g.index = -1
}

// Watch makes h wait for the kernel's report about w. The line must have been
// cleared, and the request must not have been sent yet: the report may come
// before the answer.
func (h *Hub) Watch(w *Watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != 0 {
		w.index = -1
		w.Entry.Wait.End(h.lost)
		return
	}
	w.index = len(h.watches)
	h.watches = append(h.watches, w)
}

// Settle ends w with the kernel's immediate answer in place of a report.
func (h *Hub) Settle(w *Watch, st abi.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop(w)
	w.report(st)
}

// Unwatch forgets w and reports whether the kernel's report was still to come.
func (h *Hub) Unwatch(w *Watch) (pending bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.drop(w)
}

func (h *Hub) drop(w *Watch) bool {
	if w.index < 0 {
		return false
	}
	last := len(h.watches) - 1
	moved := h.watches[last]
	h.watches[w.index], moved.index = moved, w.index
	h.watches[last] = nil
	h.watches = h.watches[:last]
	w.index = -1
	return true
}

func (w *Watch) report(st abi.Status) {
	if st == abi.StatusSuccess {
		w.Entry.Meet()
	} else {
		w.Entry.Wait.End(st)
	}
}

// look meets whatever was reached. It reports whether there was anything.
func (h *Hub) look() (any bool) {
	if h.Over != nil && h.Over() {
		h.Lose(abi.StatusDeviceRemoved)
		return true
	}
	h.mu.Lock()
	for i := len(h.watches) - 1; i >= 0; i-- {
		w := h.watches[i]
		if st, ok := h.bells.Ticket(w.Line); ok {
			any = true
			h.drop(w)
			w.report(abi.Status(st))
		}
	}
	h.scratch = append(h.scratch[:0], h.gates...)
	h.mu.Unlock()
	for _, g := range h.scratch {
		if g.pass() {
			any = true
		}
	}
	clear(h.scratch) // a gate keeps its memory mapped
	return any
}

// join makes s the leader, or a follower when there is one.
func (h *Hub) join(s *Sleeper) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.leader == nil {
		h.leader = s
		s.leads.Store(true)
		h.watchLeader()
		return
	}
	s.queued = true
	s.prev = h.last
	if h.last != nil {
		h.last.next = s
	} else {
		h.first = s
	}
	h.last = s
}

// watchLeader makes sure that the leader looks every nap though nobody rings. One
// timer for all leaders: a limit on each sleep would have the system start and stop
// one every time, which is a tenth of a round trip. The lock is held.
func (h *Hub) watchLeader() {
	switch {
	case h.nap == 0 || h.patrolled:
		return
	case h.patrol == nil:
		h.patrol = time.AfterFunc(h.nap, h.lookIn)
	default:
		h.patrol.Reset(h.nap)
	}
	h.patrolled = true
}

func (h *Hub) lookIn() {
	h.mu.Lock()
	led := h.leader != nil
	h.patrolled = led
	if led {
		h.patrol.Reset(h.nap)
	}
	h.mu.Unlock()
	if led {
		h.Ring()
	}
}

// leave takes s out and, when it led, hands the lead on.
func (h *Hub) leave(s *Sleeper) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.queued {
		h.unqueue(s)
	}
	if h.leader != s {
		return
	}
	s.leads.Store(false)
	h.leader = h.first
	if f := h.first; f != nil {
		h.unqueue(f)
		f.leads.Store(true)
		f.rouse()
	}
}

func (h *Hub) unqueue(s *Sleeper) {
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		h.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	} else {
		h.last = s.prev
	}
	s.prev, s.next, s.queued = nil, nil, false
}

// lead sleeps on the bell on everybody's behalf until s's own wait has ended.
func (h *Hub) lead(ctx context.Context, s *Sleeper) {
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { s.End(abi.StatusCancelled) })
		defer func() {
			if !stop() {
				s.lent = true // the function may still be about to run
			}
		}()
	}
	for s.Pending() {
		rung := h.bells.Value(h.bell) // first this, then look
		if h.look() {
			// Let those who were woken run before this thread goes to sleep with
			// the processor in its hands. Not when s itself was: yielding makes the
			// runtime start an idle thread, which costs as much as the sleep.
			if s.Pending() {
				runtime.Gosched()
			}
			continue
		}
		s.asleep.Store(h)
		if s.Pending() {
			h.bells.Sleep(h.bell, rung)
		}
		s.asleep.Store(nil)
	}
}
