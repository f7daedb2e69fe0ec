package dxgsync

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// A Session is a process's connection with a kernel: one of its own, or the one of
// a daemon. Everything else is made through it and goes with it.
type Session struct {
	door   door
	closed atomic.Bool

	mu     sync.Mutex
	mapped map[abi.Handle]*Fence // the live fences with mapped memory
	holds  map[abi.Handle]uint32 // keyed mutexes that are owned, and as which line

	inUse   sync.RWMutex // comes before locking: who works in locked memory reads, who takes it away writes
	locking sync.Mutex   // one call about locked memory at a time
	locked  map[abi.Handle]*lockedMemory
}

// A door is how a session reaches its kernel.
type door interface {
	// do answers one request; a blocking wait may be answered STATUS_PENDING.
	do(r *abi.Request) abi.Status
	// memory is the memory that the kernel granted with its answer to r, for the
	// local object h.
	memory(r *abi.Request, h abi.Handle) (*memory, abi.Status)
	// doorbell is the memory of a doorbell that the kernel has just made with its answer to
	// r, by the handle h; it takes its descriptors out of the answer.
	doorbell(r *abi.Request, h abi.Handle) (doorbell, abi.Status)
	// hub is the session's hub, made when it is first needed; nil when there is no
	// memory for one.
	hub() *wait.Hub
	// lost reports whether the kernel has gone.
	lost() bool
	// lines are the tickets for waits that the kernel decides.
	lines() *lines
	// close ends the session for good: a closed kernel of its own is an ended process.
	close() error
}

// An Option is for [Open].
type Option func(*options)

type options struct {
	profiles []string
	tdr      TDR
	daemon   bool
	address  string
}

// WithAdapter adds an adapter to the session's own kernel: the name of a preset
// (see [AdapterPresets]) or the path of a profile file. It may be given several
// times; without it there is one neutral adapter. It has no effect on a daemon.
func WithAdapter(profile string) Option {
	return func(o *options) { o.profiles = append(o.profiles, profile) }
}

// WithDaemon makes the session one of the daemon at an address: a socket's path, a
// name of the abstract namespace after '@', or [DefaultAddress].
func WithDaemon(address string) Option {
	return func(o *options) { o.daemon, o.address = true, address }
}

// DefaultAddress stands for $DXGSYNC_SOCKET; or else dxgsync/socket under
// $XDG_RUNTIME_DIR, or under /run.
const DefaultAddress = ""

// AdapterPresets returns the names of the built-in adapter profiles.
func AdapterPresets() []string { return adapter.Presets() }

// Open begins a session: on a kernel of its own inside this process, or on a
// daemon with [WithDaemon].
//
// Errors: what is wrong with a profile or a setting; the system's error when the daemon cannot
// be reached; [abi.StatusNoMemory] at a limit.
func Open(opts ...Option) (*Session, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	s := &Session{mapped: map[abi.Handle]*Fence{}}
	var err error
	if o.daemon {
		s.door, err = openRemote(o.address)
	} else {
		s.door, err = openLocal(o.profiles, o.tdr)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends the session as the end of its process would: its waits end with
// [abi.StatusDeviceRemoved], fences that its devices created are lost for the
// other processes unless made with SyncObjectNoSignalMaxValueOnTdr. Close devices
// first to leave the values alone. A second Close returns [ErrClosed].
func (s *Session) Close() error {
	if !s.closed.CompareAndSwap(false, true) {
		return ErrClosed
	}
	for _, f := range s.fences(0) {
		f.retire(abi.StatusDeviceRemoved)
	}
	err := s.door.close()
	s.forgetLocks(0)
	return err
}

var _ io.Closer = (*Session)(nil)

// failure turns a status into an error; after the end of the session it is
// ErrClosed.
func (s *Session) failure(st abi.Status) error {
	if st == abi.StatusSuccess {
		return nil
	}
	if s.closed.Load() {
		return ErrClosed
	}
	return st
}

// enroll keeps f among the live fences with mapped memory; false when its device
// or the session was closed meanwhile.
func (s *Session) enroll(f *Fence) bool {
	s.mu.Lock()
	s.mapped[f.handle] = f
	s.mu.Unlock()
	if s.closed.Load() || f.dev.closed.Load() {
		f.retire(abi.StatusDeviceRemoved)
		return false
	}
	return true
}

func (s *Session) dismiss(f *Fence) {
	s.mu.Lock()
	if s.mapped[f.handle] == f {
		delete(s.mapped, f.handle)
	}
	s.mu.Unlock()
}

// fences returns the live mapped fences of a device, or all for device 0.
func (s *Session) fences(device abi.Handle) []*Fence {
	s.mu.Lock()
	defer s.mu.Unlock()
	var fs []*Fence
	for _, f := range s.mapped {
		if device == 0 || f.dev.handle == device {
			fs = append(fs, f)
		}
	}
	return fs
}

func (s *Session) fence(h abi.Handle) *Fence {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mapped[h]
}
