// Package client is the remote caller of a Go process: its sessions with a daemon,
// the bell table of its user, the fence memory that it was granted, and the watch
// for the daemon's end.
//
// A Conn speaks for one kernel process. It has a few sessions (sockets) and uses as
// many as there are calls at once: a call takes a free session, sends, waits for the
// answer in the system call itself, and puts it back. One session is kept for Ring,
// so that the news of a signal never waits for a slow call.
//
// When the daemon is gone nobody else is left to say so. The watcher then makes
// every value that this process can reach the highest there is, rings every bell of
// the process, and every call answers STATUS_DEVICE_REMOVED.
//
// Lock order: Conn.mu and memories.mu are taken one at a time.
package client

import (
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// callSessions is how many sessions calls may use at once; Ring may open one more.
const callSessions = 4

// A Conn is the connection of this process, as one kernel process, to a daemon. It
// is safe for concurrent use. It must not be used across fork; exec closes it.
type Conn struct {
	address string
	nonce   [16]byte
	hello   abi.Hello // the first answer
	bells   *page.Bells
	lines   lines
	memory  memories

	dead    atomic.Bool
	death   chan struct{} // closed when dead
	watched chan struct{} // closed when the watcher is gone
	once    sync.Once

	mu      sync.Mutex
	free    *sync.Cond            // a session became idle, or there will be none
	ring    *sync.Cond            // the same, for Ring, so that no other call takes its turn
	idle    []*session            // the most recently used last
	open    map[*session]struct{} // all, idle or in use
	opening int
	most    int // sessions that the daemon allows us, as far as known
	onDeath []func()
}

// Dial connects to the daemon at address. The error is the system's, or the status
// with which the daemon refused: STATUS_NO_MEMORY at one of its limits.
func Dial(address string) (*Conn, error) {
	c := &Conn{
		address: address,
		death:   make(chan struct{}),
		watched: make(chan struct{}),
		open:    map[*session]struct{}{},
		most:    callSessions + 1,
	}
	c.free, c.ring = sync.NewCond(&c.mu), sync.NewCond(&c.mu)
	_, _ = rand.Read(c.nonce[:]) // never fails
	s, table, err := c.connect(&c.hello)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	c.open[s] = struct{}{} // before the watcher begins
	c.idle = append(c.idle, s)
	err = c.start(s, table)
	_ = unix.Close(table)
	if err != nil {
		s.close()
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	return c, nil
}

// start maps the bell table and begins to watch the first session.
func (c *Conn) start(s *session, table int) (err error) {
	if c.hello.Bells != page.BellLines {
		return fmt.Errorf("the daemon's bell table has %d lines, not %d: %w", c.hello.Bells, page.BellLines, unix.EPROTO)
	}
	if c.bells, err = page.MapBells(table); err != nil {
		return err
	}
	c.lines.add(c.hello.FirstBell, c.hello.BellCount)
	// The watcher has a descriptor of its own: nobody can close it under its poll.
	fd, err := unix.FcntlInt(uintptr(s.link.FD()), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return fmt.Errorf("make the watcher's descriptor: %w", err)
	}
	go c.watch(fd)
	return nil
}

// Do sends one request and waits for its answer, which is written into r as by the
// kernel itself: the record's answered fields, outward arrays, r.Grant, and in r.Out
// descriptors of this process, which are the caller's. r.Files stay the caller's.
//
// The status is the kernel's, except: DEVICE_REMOVED when the daemon is gone,
// INVALID_PARAMETER for arrays that do not agree with their counts or are too long to
// travel, NO_MEMORY when this process had no descriptor numbers left for the answer
// (a local object that was made is destroyed again).
func (c *Conn) Do(r *abi.Request) abi.Status {
	s := c.take(r.Op == abi.OpRing)
	if s == nil {
		return abi.StatusDeviceRemoved
	}
	st, err := s.call(r)
	if err != nil {
		c.die(true)
	}
	c.put(s)
	if err != nil {
		return abi.StatusDeviceRemoved
	}
	return st
}

// take gets a session for one call, nil when the connection is dead. ring may use
// the session that other calls leave free.
func (c *Conn) take(ring bool) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if c.dead.Load() {
			return nil
		}
		limit, turn := callSessions, c.free
		if ring {
			limit, turn = callSessions+1, c.ring
		}
		busy := len(c.open) - len(c.idle) + c.opening
		switch n := len(c.idle); {
		case busy >= limit:
		case n > 0:
			s := c.idle[n-1]
			c.idle = c.idle[:n-1]
			return s
		case len(c.open)+c.opening < c.most:
			if s := c.extend(); s != nil {
				return s
			}
			continue
		}
		turn.Wait()
	}
}

// extend opens one more session, nil when there can be none now: then what there is
// must do. It is called and returns with mu held, but not while it asks the daemon.
func (c *Conn) extend() *session {
	c.opening++
	c.mu.Unlock()
	var h abi.Hello
	s, table, err := c.connect(&h)
	if err == nil {
		_ = unix.Close(table)
	}
	c.mu.Lock()
	c.opening--
	if err == nil && h.KernelID != c.hello.KernelID {
		// Another daemon at the same address: ours has gone, and the watcher is about to
		// say so.
		s.close()
		err = unix.ECONNRESET
	}
	switch {
	case err != nil:
		c.most = max(1, len(c.open)+c.opening)
		c.wakeAll()
		return nil
	case c.dead.Load():
		s.close()
		return nil
	}
	c.open[s] = struct{}{}
	return s
}

// put gives a session back.
func (c *Conn) put(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead.Load() {
		delete(c.open, s)
		s.close()
		return
	}
	c.idle = append(c.idle, s)
	c.ring.Signal()
	c.free.Signal()
}

// wakeAll makes everybody who waits for a session look again. mu is held.
func (c *Conn) wakeAll() {
	c.ring.Broadcast()
	c.free.Broadcast()
}

// KernelID tells kernels apart: another daemon, or the same started anew, has another.
func (c *Conn) KernelID() uint64 { return c.hello.KernelID }

// MaxObjects is how many objects the daemon lets this process make.
func (c *Conn) MaxObjects() int { return int(c.hello.MaxObjects) }

// IsDead reports whether the connection has ended.
func (c *Conn) IsDead() bool { return c.dead.Load() }

// Dead is closed when the connection has ended: after every value that this process
// can reach is the highest there is, and after its bells were rung.
func (c *Conn) Dead() <-chan struct{} { return c.death }

// OnDeath has f called once when the connection ends, at once if it has already. f
// must not block.
func (c *Conn) OnDeath(f func()) {
	c.mu.Lock()
	select {
	case <-c.death:
		c.mu.Unlock()
		f()
		return
	default:
	}
	c.onDeath = append(c.onDeath, f)
	c.mu.Unlock()
}

// ErrClosed is what Close returns when the connection had ended before.
var ErrClosed = errors.New("connection closed")

// Close ends the connection as the daemon's death does, and the kernel process with
// it. It returns after the watcher is gone. Memory that is still in use stays mapped.
func (c *Conn) Close() error {
	before := c.dead.Load()
	c.die(false)
	<-c.watched
	if before {
		return ErrClosed
	}
	return nil
}
