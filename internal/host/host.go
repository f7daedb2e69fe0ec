// Package host is what the kernel asks of Linux: fence memory, bell tables, NT
// handles as pipes, CPU events as eventfds. It decides nothing; package kernel
// says what is wanted, this package how.
//
// Lock order: memory's own locks, then Host.mu. The kernel may hold its lock when
// it calls; the host never calls the kernel while it holds one of its own.
package host

import (
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
)

// reserve is how many descriptors the host leaves to others, so that the door can
// still say no.
const reserve = 64

// A Host is the machine under one kernel.
type Host struct {
	limit  int    // descriptors that may be held
	user   uint32 // whose this process is
	maps   mapLimit
	watch  *watch
	setter setter
	drive  drive

	mu    sync.Mutex
	held  int              // descriptors held
	mine  map[uint32]int   // of them, for memory and events, by user
	heaps map[uint32]int64 // bytes of memory of allocations, by user
	users map[uint32]*page.Bells
	slabs map[*kernel.Process]*slabs
}

// New makes a host. It may hold descriptors up to the process's limit less a
// reserve; beyond that it answers NO_MEMORY.
func New() (*Host, error) {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return nil, fmt.Errorf("ask for the descriptor limit: %w", err)
	}
	w, err := newWatch()
	if err != nil {
		return nil, err
	}
	h := &Host{
		limit: int(min(lim.Cur, 1<<30)) - reserve,
		user:  uint32(unix.Geteuid()),
		maps:  newMapLimit(),
		watch: w,
		mine:  map[uint32]int{},
		heaps: map[uint32]int64{},
		users: map[uint32]*page.Bells{},
		slabs: map[*kernel.Process]*slabs{},
	}
	if h.limit <= 0 {
		w.close()
		return nil, errors.New("make host: the descriptor limit is too low")
	}
	return h, nil
}

// Start begins to watch NT handles: closed is called, without any lock, once for
// each whose last copy anywhere was closed. Call it once, with the kernel's
// NTClosed.
func (h *Host) Start(closed func(object.Key)) {
	h.watch.start(func(key object.Key) {
		h.give(1)
		closed(key)
	})
}

// Stop ends the watch and the drive and gives up the bell tables. The kernel must be idle: no
// process is attached any more.
func (h *Host) Stop() {
	h.drive.stop()
	h.watch.close()
	h.setter.close()
	h.mu.Lock()
	defer h.mu.Unlock()
	for uid, b := range h.users {
		b.Memory().CloseFD() // unmapped when the last memory that names it is gone
		delete(h.users, uid)
	}
}

// take counts n descriptors about to be made; false at the limit.
func (h *Host) take(n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held+n > h.limit {
		return false
	}
	h.held += n
	return true
}

// takeFor counts n descriptors, of memory or events, for a user; false at the limit, and when
// the user has three quarters of all, or of all mappings, already: the rest is for
// others.
func (h *Host) takeFor(uid uint32, n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held+n > h.limit || h.mine[uid]+n > min(h.limit, h.maps.most)/4*3 {
		return false
	}
	h.held += n
	h.mine[uid] += n
	return true
}

func (h *Host) giveFor(uid uint32, n int) {
	h.mu.Lock()
	h.held -= n
	if h.mine[uid] -= n; h.mine[uid] == 0 {
		delete(h.mine, uid)
	}
	h.mu.Unlock()
}

func (h *Host) give(n int) {
	h.mu.Lock()
	h.held -= n
	h.mu.Unlock()
}

// Bells is the bell table of a user, made when first asked for. NO_MEMORY when it
// cannot be made.
func (h *Host) Bells(uid uint32) (*page.Bells, abi.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.users[uid]; b != nil {
		return b, abi.StatusSuccess
	}
	if h.held >= h.limit {
		return nil, abi.StatusNoMemory
	}
	b, err := page.CreateBells()
	if err != nil {
		return nil, abi.StatusNoMemory
	}
	if h.spare(b.Memory().FD()) != nil {
		b.Memory().CloseFD()
		return nil, abi.StatusNoMemory
	}
	h.held++
	h.users[uid] = b
	return b, abi.StatusSuccess
}

// Detach drops the slabs of a process.
func (h *Host) Detach(p *kernel.Process) {
	h.mu.Lock()
	s := h.slabs[p]
	delete(h.slabs, p)
	h.mu.Unlock()
	if s != nil {
		s.drop()
	}
}

// close1 closes a descriptor; there is nothing to do about an error.
func close1(fd int) { _ = unix.Close(fd) }
