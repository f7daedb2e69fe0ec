package host

import (
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
)

// event is a CPU event: a reference of the host's own on an eventfd.
type event struct {
	host *Host
	uid  uint32 // of the waiter
	fd   int
}

// Event takes a reference on the eventfd fd for process p.
func (h *Host) Event(p *kernel.Process, fd int) (kernel.Event, abi.Status) {
	if fd < 0 {
		return nil, abi.StatusInvalidHandle
	}
	if !h.takeFor(p.Info.UID, 1) {
		return nil, abi.StatusNoMemory
	}
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		h.giveFor(p.Info.UID, 1)
		if err == unix.EBADF {
			return nil, abi.StatusInvalidHandle
		}
		return nil, abi.StatusNoMemory
	}
	st := abi.StatusSuccess
	if !isEventfd(own) {
		st = abi.StatusObjectTypeMismatch
	} else if h.spare(own) != nil {
		st = abi.StatusNoMemory
	}
	if !st.OK() {
		close1(own)
		h.giveFor(p.Info.UID, 1)
		return nil, st
	}
	return &event{h, p.Info.UID, own}, abi.StatusSuccess
}

// isEventfd asks the system what fd is.
func isEventfd(fd int) bool {
	var name [32]byte
	n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), name[:])
	return err == nil && string(name[:n]) == "anon_inode:[eventfd]"
}

// Set adds 1.
func (e *event) Set() { e.host.setter.set(e.fd) }

// Close drops the reference.
func (e *event) Close() {
	close1(e.fd)
	e.host.giveFor(e.uid, 1)
}

// A setter sets eventfds. The zero setter is ready.
type setter struct {
	once  sync.Once
	quick *increments // nil where the system has no asynchronous reads for us
}

// set adds 1 to the eventfd and never blocks. A counter that is full may be left
// alone: whoever reads it finds the event set.
func (s *setter) set(fd int) {
	s.once.Do(func() { s.quick, _ = newIncrements() })
	if s.quick == nil || s.quick.add(fd) != nil {
		writeOne(fd)
	}
}

func (s *setter) close() {
	s.once.Do(func() {})
	if s.quick != nil {
		s.quick.close()
	}
}

// writeOne is the second best way: it blocks when a hostile client fills the counter
// between the look and the write.
func writeOne(fd int) {
	look := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	if n, err := unix.Poll(look, 0); err != nil || n == 0 {
		return
	}
	one := [8]byte{1}
	for {
		if _, err := unix.Write(fd, one[:]); err != unix.EINTR {
			return
		}
	}
}
