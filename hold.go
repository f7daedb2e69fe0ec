package dxgsync

import (
	"context"
	"encoding/binary"
	"runtime"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// WDDM's owner of a keyed mutex is a thread, which goroutines have none of their own
// of. The kernel knows threads by their lines of the bell table; so every acquire takes
// a line and is a thread by itself, and the line of an acquire that succeeded is kept
// with the local handle until the release, for which it stands again.

// hold keeps the line as which a keyed mutex was acquired through h.
func (s *Session) hold(h abi.Handle, line uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds == nil {
		s.holds = map[abi.Handle]uint32{}
	}
	s.holds[h] = line
}

// unhold takes it out; 0 when the mutex is not held through h.
func (s *Session) unhold(h abi.Handle) (line uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line = s.holds[h]
	delete(s.holds, h)
	return line
}

// acquire makes a request to acquire a keyed mutex through h and waits for the answer;
// CANCELLED when ctx ended the wait, or somebody to whom m shows it. m may be nil.
func (s *Session) acquire(ctx context.Context, r *abi.Request, h abi.Handle, m *KeyedMutex) abi.Status {
	if s.closed.Load() || s.door.lost() {
		return abi.StatusDeviceRemoved
	}
	hub := s.door.hub()
	if hub == nil {
		return abi.StatusNoMemory
	}
	line, st := s.door.lines().take(hub.Bells())
	if st != abi.StatusSuccess {
		return st
	}
	sleeper := wait.Get(1, 1)
	sleeper.Entries[0].Reset(&sleeper.Wait, 0, 0)
	watch := wait.Watch{Line: line, Entry: &sleeper.Entries[0]}
	hub.Bells().Issue(line)
	hub.Watch(&watch) // before the request: the answer may come before its return
	r.Bell, r.Ticket = hub.Bell(), line
	if st = s.Do(r); st == abi.StatusPending {
		if m != nil {
			m.join(sleeper)
		}
		sleeper.Block(ctx, hub)
		if m != nil {
			m.leave(sleeper)
		}
		st = s.outcome(sleeper, hub, &watch)
		if st == abi.StatusSuccess {
			st = s.fetch(r)
		}
	}
	hub.Unwatch(&watch)
	sleeper.Put()
	if st == abi.StatusSuccess {
		s.hold(h, line)
	} else {
		s.door.lines().give(line)
	}
	return st
}

// outcome is how a wait for a keyed mutex ended. One that was cancelled here is taken
// back; but the kernel may have answered before, and what it granted is not lost.
func (s *Session) outcome(sleeper *wait.Sleeper, hub *wait.Hub, watch *wait.Watch) abi.Status {
	st := sleeper.Status()
	if st != abi.StatusCancelled {
		return st
	}
	if hub.Unwatch(watch) {
		if st := s.insist(abi.OpCancelWait, watch.Line); st != abi.StatusInvalidParameter {
			if st != abi.StatusSuccess {
				return st
			}
			return abi.StatusCancelled
		}
	}
	if answer, there := hub.Bells().Ticket(watch.Line); there {
		return abi.Status(answer)
	}
	return abi.StatusDeviceRemoved // only the end of all waits answers nothing
}

// fetch makes the request once more, for what came with the mutex that was granted on
// its ticket.
func (s *Session) fetch(r *abi.Request) abi.Status {
	st := s.Do(r)
	for st == abi.StatusNoMemory {
		runtime.Gosched() // it did not get through
		st = s.Do(r)
	}
	if st != abi.StatusSuccess {
		s.insist(abi.OpEndThread, r.Ticket) // the handle was destroyed: nobody could release it
	}
	return st
}

// insist makes a request about a line that may not fail for want of memory: a mutex
// would be owned by nobody.
func (s *Session) insist(op *abi.Op, line uint32) abi.Status {
	for {
		st := do(s, op, &abi.EndThread{Ticket: line}) // a CancelWait looks the same
		if st != abi.StatusNoMemory {
			return st
		}
		runtime.Gosched()
	}
}

// releaseAs makes a request to release a keyed mutex as whoever acquired it through h.
func (s *Session) releaseAs(r *abi.Request, h abi.Handle) abi.Status {
	r.Ticket = s.unhold(h)
	st := s.Do(r)
	switch {
	case r.Ticket == 0:
	case st == abi.StatusSuccess || st == abi.StatusAbandoned:
		s.door.lines().give(r.Ticket)
	default:
		s.hold(h, r.Ticket)
	}
	return st
}

// bytesOfTimeout is the array that a timeout travels in, in units of 100 ns.
func bytesOfTimeout(t *int64) []byte {
	if t == nil {
		return nil
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(*t))
}
