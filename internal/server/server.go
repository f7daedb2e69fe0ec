// Package server is the daemon's door: it accepts sessions on a Unix
// SOCK_SEQPACKET socket, finds out who is there, hands every request to the
// kernel and ends what a peer leaves behind.
//
// A session is a goroutine that blocks in the system call itself: receive,
// decode, do, encode, send. Sessions of one process (same process id, same nonce)
// share one kernel process, which ends with the last of them. A session ends when
// its socket hangs up or its peer's pidfd fires, whatever comes first: a forked
// child may keep the socket open long after its parent is dead.
//
// A peer can only hurt itself: a frame that is malformed, an answer that is never
// read or a flood of requests costs its own session, its own limits, its own turn.
//
// Lock order: Server.mu, then whatever the Backend locks. The path of a request
// takes neither.
package server

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
)

// ErrClosed is returned by Serve and Adopt after Close.
var ErrClosed = errors.New("server closed")

// A Backend is the kernel behind the door. Its methods return at once and are
// safe for concurrent use.
type Backend interface {
	// Attach makes the kernel process of a peer. NO_MEMORY at a limit.
	Attach(p Peer) (Process, abi.Status)
	// BellFile is the memory of a user's bell table (tableLines lines), a descriptor
	// that stays the backend's. NO_MEMORY at a limit.
	BellFile(uid uint32) (fd int, st abi.Status)
	// Snapshot lists what the kernel holds, as JSON. all: of every user, else only
	// what belongs to uid.
	Snapshot(uid uint32, all bool) ([]byte, error)
	// Provoke breaks something on purpose, and says what it did, as JSON. The statuses are
	// those of kernel.Kernel.Provoke.
	Provoke(f abi.ProvokeFault) ([]byte, abi.Status)
	// FenceLog reports what GPUs have signalled and waited for, as JSON. all: of every user,
	// else only what belongs to uid. The statuses are those of kernel.Kernel.FenceLog.
	FenceLog(q abi.FenceLog, uid uint32, all bool) ([]byte, abi.Status)
}

// A Process is a peer's kernel process.
type Process interface {
	// Do answers one request. It never blocks. It closes none of r.Files.
	Do(r *abi.Request) abi.Status
	// Bells tells that lines [first, first+count) of the user's bell table belong to
	// the process from now on.
	Bells(first, count uint32)
	// SlabFile makes a descriptor of a slab that the process has been granted cells
	// of. INVALID_PARAMETER: it has no such slab. NO_MEMORY: no descriptor for it.
	SlabFile(slab uint32) (fd int, st abi.Status)
	// Exit ends the process as its death does. When it returns, no page names a bell
	// of it any more.
	Exit()
}

// Config is what a server is made of.
type Config struct {
	// Backend is the kernel. Required.
	Backend Backend
	// Limits bound what peers can make; zero fields mean the defaults.
	Limits Limits
	// Log gets what happens at the door. Nil: nothing is logged.
	Log *slog.Logger
	// KernelID tells kernels apart, for Hello. It should differ from start to start.
	KernelID uint64
}

// A Server serves sessions until Close.
type Server struct {
	backend Backend
	limits  Limits
	log     *slog.Logger
	id      uint64

	stop    *stopper
	watch   *watcher
	work    sync.WaitGroup // sessions, the watcher, calls of Serve
	count   atomic.Int64   // of sessions
	refused atomic.Int64   // sessions refused since the last one was admitted

	mu       sync.Mutex
	closed   bool
	sessions map[*session]struct{}
	peers    map[peerKey]*peer
	users    map[uint32]*user
}

// New makes a server. The error names a limit out of range or is the system's.
func New(cfg Config) (*Server, error) {
	limits, err := cfg.Limits.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{
		backend:  cfg.Backend,
		limits:   limits,
		log:      cfg.Log,
		id:       cfg.KernelID,
		sessions: map[*session]struct{}{},
		peers:    map[peerKey]*peer{},
		users:    map[uint32]*user{},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.stop, err = newStopper(); err != nil {
		return nil, fmt.Errorf("make server: %w", err)
	}
	if s.watch, err = newWatcher(s.stop); err != nil {
		s.stop.close()
		return nil, fmt.Errorf("make server: %w", err)
	}
	s.work.Go(func() { s.watch.run(s.processEnded) })
	return s, nil
}

// Sessions is the number of sessions now.
func (s *Server) Sessions() int { return int(s.count.Load()) }

// Close ends every session and every Serve, waits until all of them are gone with
// what they held, and gives back the server's descriptors. Listeners stay their
// owner's. Later calls do nothing.
func (s *Server) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.work.Wait()
		return
	}
	s.closed = true
	s.stop.trigger()
	for x := range s.sessions {
		x.link.Shutdown()
	}
	s.mu.Unlock()
	s.work.Wait()
	s.watch.close()
	s.stop.close()
}

// A stopper is a descriptor that becomes readable, for good, when the server
// closes: something to poll beside what one really waits for.
type stopper struct{ fd int }

func newStopper() (*stopper, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make eventfd: %w", err)
	}
	return &stopper{fd}, nil
}

func (s *stopper) trigger() {
	_, _ = unix.Write(s.fd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

func (s *stopper) close() { _ = unix.Close(s.fd) }

// waitFor blocks until fd is readable (ready) or the server closes. A negative fd
// is never ready; timeout is in milliseconds, negative for none.
func (s *stopper) waitFor(fd, timeout int) (ready, stopped bool) {
	set := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}, {Fd: int32(fd), Events: unix.POLLIN}}
	if _, err := unix.Poll(set, timeout); err != nil {
		return false, false // EINTR: the caller looks again
	}
	return set[1].Revents != 0, set[0].Revents != 0
}
