package wait

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
)

// A Sleeper is a goroutine in one Wait: it parks on a channel, or, when it leads
// a Hub, sleeps in a system call on the hub's bell. Whoever ends the wait rouses
// it wherever it is. A Sleeper may be roused for nothing: it looks at its own
// state each time, so a late rouse of an earlier use does no harm.
//
// Use: Get, Reset the entries, Enlist or Watch each, Block, Withdraw or Unwatch
// each, Put.
type Sleeper struct {
	Wait
	Entries []Entry // one per value waited for; valid until Put

	ch     chan struct{}
	leads  atomic.Bool         // it is its hub's leader
	asleep atomic.Pointer[Hub] // the hub on whose bell it is about to sleep
	lent   bool                // somebody may still hold a reference after Put
	kept   bool                // it belongs to a gate, and rests there between uses
	one    [1]Entry

	// Guarded by Hub.mu: its place among the hub's followers.
	prev, next *Sleeper
	queued     bool
}

var sleepers = sync.Pool{New: func() any { return &Sleeper{ch: make(chan struct{}, 1)} }}

// Get returns a Sleeper for a wait on n values that ends when need of them have
// been met.
func Get(n, need int) *Sleeper {
	s := sleepers.Get().(*Sleeper)
	select {
	case <-s.ch:
	default:
	}
	if n == 1 {
		s.Entries = s.one[:]
	} else if cap(s.Entries) >= n {
		s.Entries = s.Entries[:n]
	} else {
		s.Entries = make([]Entry, n)
	}
	s.Init(s, need)
	return s
}

// Put gives s back once nothing refers to its entries any more.
func (s *Sleeper) Put() {
	switch {
	case s.lent: // for good
	case s.kept:
		s.rest()
	default:
		sleepers.Put(s)
	}
}

// Park waits to be roused, for a wait that has neither context nor hub:
//
//	for s.Pending() { s.Park() }
func (s *Sleeper) Park() { <-s.ch }

// Ended implements Sink.
func (s *Sleeper) Ended(*Wait, abi.Status) { s.rouse() }

// rouse makes the goroutine look at its state.
func (s *Sleeper) rouse() {
	if h := s.asleep.Load(); h != nil {
		h.Ring()
		return
	}
	select {
	case s.ch <- struct{}{}:
	default:
	}
}

// Block parks the goroutine until the wait ends and returns the status with which
// it was ended, StatusCancelled when ctx ended it. h is the hub that watches over the
// mapped memory among the wait's values, nil when all of them are in this
// process's own hands.
func (s *Sleeper) Block(ctx context.Context, h *Hub) abi.Status {
	if h != nil {
		h.join(s)
		defer h.leave(s)
	}
	stop := ctx.Done()
	for s.Pending() {
		switch {
		case s.leads.Load():
			h.lead(ctx, s)
		case stop == nil:
			<-s.ch
		default:
			select {
			case <-s.ch:
			case <-stop:
				s.End(abi.StatusCancelled) // if somebody else was first, he is about to rouse us
				stop = nil
			}
		}
	}
	return s.Status()
}
