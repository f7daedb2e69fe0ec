package dxgsync

import (
	"context"
	"sync"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// An asking is a wait that the kernel decides, because memory cannot: the view may
// only read, the fence was rewound once or is a native one, or all slots of its page are
// taken. The kernel answers on a line of the bell table.
type asking struct{ watch wait.Watch }

// ask makes the kernel watch f for v on behalf of e.
func (s *Session) ask(f *Fence, v uint64, e *wait.Entry) (*asking, abi.Status) {
	rec := abi.WaitForSynchronizationObjectFromCpu{HDevice: f.dev.handle, ObjectCount: 1}
	r := request(abi.OpWaitForSynchronizationObjectFromCpu, &rec, bytesOf([]abi.Handle{f.handle}), bytesOf([]uint64{v}))
	return s.askWith(r, e)
}

// askWith makes a request that the kernel may answer later: then e is met, or its wait
// ended.
func (s *Session) askWith(r *abi.Request, e *wait.Entry) (*asking, abi.Status) {
	hub := s.door.hub()
	if hub == nil {
		return nil, abi.StatusNoMemory
	}
	line, st := s.door.lines().take(hub.Bells())
	if st != abi.StatusSuccess {
		return nil, st
	}
	a := &asking{watch: wait.Watch{Line: line, Entry: e}}
	hub.Bells().Issue(line)
	hub.Watch(&a.watch)
	r.Bell, r.Ticket = hub.Bell(), line
	if st = s.door.do(r); st != abi.StatusPending {
		hub.Settle(&a.watch, st)
	}
	return a, abi.StatusSuccess
}

// forget ends an asking, whatever became of it.
func (s *Session) forget(a *asking) {
	hub, lines := s.door.hub(), s.door.lines()
	if !hub.Unwatch(&a.watch) {
		lines.give(a.watch.Line) // answered
		return
	}
	// Nobody waits for the answer now. Unless the kernel can take the wait back, the
	// answer is on its way, and the line rests until it is there.
	if st := do(s, abi.OpCancelWait, &abi.CancelWait{Ticket: a.watch.Line}); st == abi.StatusSuccess {
		lines.give(a.watch.Line)
	} else {
		lines.rest(a.watch.Line)
	}
}

// lines hands out lines of the bell table as tickets.
type lines struct {
	mu      sync.Mutex
	free    []uint32
	resting []uint32 // an answer is still to come, or has just come
	more    func() (first, count uint32, st abi.Status)
}

func (l *lines) take(bells *page.Bells) (uint32, abi.Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.free) == 0 {
		rest := l.resting[:0]
		for _, n := range l.resting {
			if _, there := bells.Ticket(n); there {
				l.free = append(l.free, n)
			} else {
				rest = append(rest, n)
			}
		}
		l.resting = rest
	}
	if len(l.free) == 0 {
		first, count, st := l.more()
		if st != abi.StatusSuccess {
			return 0, st
		}
		for n := first; n < first+count; n++ {
			l.free = append(l.free, n)
		}
	}
	last := len(l.free) - 1
	n := l.free[last]
	l.free = l.free[:last]
	return n, abi.StatusSuccess
}

func (l *lines) give(n uint32) {
	l.mu.Lock()
	l.free = append(l.free, n)
	l.mu.Unlock()
}

func (l *lines) rest(n uint32) {
	l.mu.Lock()
	l.resting = append(l.resting, n)
	l.mu.Unlock()
}

// block makes a request that the kernel may answer later, and parks the goroutine until
// it does.
func (s *Session) block(r *abi.Request) abi.Status { return s.blockUntil(context.Background(), r) }

// blockUntil is block, and CANCELLED when ctx ends first.
func (s *Session) blockUntil(ctx context.Context, r *abi.Request) abi.Status {
	sleeper := wait.Get(1, 1)
	e := &sleeper.Entries[0]
	e.Reset(&sleeper.Wait, 0, 0)
	a, st := s.askWith(r, e)
	if st != abi.StatusSuccess {
		return st
	}
	sleeper.Block(ctx, s.door.hub())
	st = sleeper.Status()
	s.forget(a)
	sleeper.Put()
	return st
}
