package server

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/internal/wire"
)

// pause is how long accepting rests, in milliseconds, when the system has neither
// memory nor descriptors to accept with.
const pause = 100

// Serve accepts sessions on l until Close, then returns ErrClosed. Other errors
// are the system's. The listener stays the caller's.
func (s *Server) Serve(l *Listener) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	s.work.Add(1)
	s.mu.Unlock()
	defer s.work.Done()
	// One descriptor is kept to be given up when none is left, so that whoever
	// connects then is told and not left in the queue, where it would wake us for ever.
	spare := newSpare()
	defer func() { spare.drop() }()
	for {
		ready, stopped := s.stop.waitFor(l.fd, -1)
		if stopped {
			return ErrClosed
		}
		if !ready {
			continue
		}
		fd, _, err := unix.Accept4(l.fd, unix.SOCK_CLOEXEC)
		switch err {
		case nil:
			_ = s.Adopt(fd) // refusals are logged there
		case unix.EINTR, unix.EAGAIN, unix.ECONNABORTED:
		case unix.EMFILE, unix.ENFILE:
			if !s.refuseOne(l, spare) {
				s.stop.waitFor(-1, pause)
			}
		case unix.ENOBUFS, unix.ENOMEM:
			s.stop.waitFor(-1, pause)
		default:
			return fmt.Errorf("accept: %w", err)
		}
	}
}

// refuseOne accepts one connection in place of the spare descriptor and refuses it.
func (s *Server) refuseOne(l *Listener, spare *spare) bool {
	spare.drop()
	fd, _, err := unix.Accept4(l.fd, unix.SOCK_CLOEXEC)
	if err == nil {
		s.refuse(wire.NewLink(fd), fmt.Errorf("no descriptors left: %w", unix.EMFILE))
	}
	spare.take()
	return err == nil
}

// A spare is a descriptor that stands for nothing but itself.
type spare struct{ fd int }

func newSpare() *spare {
	s := &spare{-1}
	s.take()
	return s
}

func (s *spare) take() {
	if fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		s.fd = fd
	}
}

func (s *spare) drop() {
	if s.fd >= 0 {
		_ = unix.Close(s.fd)
	}
	s.fd = -1
}
