package server

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/wire"
)

// Adopt makes a session of a connected, blocking SOCK_SEQPACKET socket, which is
// the server's from now on, whatever Adopt returns. The error says why it was
// refused: ErrClosed, a limit, a peer that is gone, or the system's; the peer gets
// an unasked reply to Hello with STATUS_NO_MEMORY where it can be told.
func (s *Server) Adopt(fd int) error {
	link := wire.NewLink(fd)
	x, err := s.admit(link)
	if err != nil {
		s.refuse(link, err)
		return err
	}
	s.refused.Store(0)
	s.log.Debug("session began", "pid", x.peer.PID, "uid", x.peer.UID)
	go x.run()
	return nil
}

// admit finds out who is there, checks the limits and enters the session.
func (s *Server) admit(link *wire.Link) (x *session, err error) {
	who, pidfd, err := credentials(link.FD())
	if err != nil {
		return nil, err
	}
	defer func() {
		if pidfd >= 0 {
			_ = unix.Close(pidfd)
		}
	}()
	room, err := wire.NewRoom()
	if err != nil {
		return nil, fmt.Errorf("map the room of a session: %w", err)
	}
	defer func() {
		if err != nil {
			room.Free()
		}
	}()
	who.Name = nameOf(who.PID)

	s.mu.Lock()
	defer s.mu.Unlock()
	u, p := s.users[who.UID], s.peers[who.key()]
	// The peer we know must be alive before the one that connected is: with the same
	// id and both alive they are the same process.
	if p != nil && ended(p.pidfd) {
		s.endPeer(p)
		p = nil
	}
	switch {
	case s.closed:
		return nil, ErrClosed
	case ended(pidfd):
		return nil, fmt.Errorf("process %d has ended: %w", who.PID, unix.ESRCH)
	case len(s.sessions) >= s.limits.Sessions:
		return nil, errLimit("sessions", s.limits.Sessions)
	case u != nil && u.sessions >= s.limits.SessionsPerUser:
		return nil, errLimit("sessions of one user", s.limits.SessionsPerUser)
	case p != nil && len(p.sessions) >= s.limits.SessionsPerProcess:
		return nil, errLimit("sessions of one process", s.limits.SessionsPerProcess)
	}
	if p == nil {
		if err := s.watch.add(pidfd, who.PID); err != nil {
			return nil, err
		}
		if u == nil {
			u = &user{uid: who.UID, bells: newBellTable()}
			s.users[who.UID] = u
		}
		p = &peer{Peer: who, user: u, pidfd: pidfd, sessions: map[*session]struct{}{}, procs: map[nonce]*process{}}
		s.peers[who.key()] = p
		pidfd = -1 // the peer's now
	}
	x = &session{server: s, peer: p, link: link, room: room}
	s.sessions[x] = struct{}{}
	p.sessions[x] = struct{}{}
	p.user.sessions++
	s.count.Add(1)
	s.work.Add(1)
	return x, nil
}

// leave takes a session out. It returns the kernel process if that was its last
// session; the caller ends it and then calls release.
func (s *Server) leave(x *session) (last *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, x)
	p := x.peer
	delete(p.sessions, x)
	p.user.sessions--
	s.count.Add(-1)
	x.link.Close()
	if len(p.sessions) == 0 {
		if !p.gone {
			delete(s.peers, p.key())
			s.watch.remove(p.pidfd)
		}
		_ = unix.Close(p.pidfd)
	}
	if proc := x.process; proc != nil {
		if proc.sessions--; proc.sessions == 0 {
			delete(p.procs, proc.nonce)
			last = proc
		}
	}
	s.forget(p.user)
	return last
}

// release gives back what a kernel process held of its user's, after its Exit.
func (s *Server) release(proc *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := proc.user
	u.processes--
	u.bells.give(&proc.held)
	s.forget(u)
}

// forget drops a user of whom nothing is left.
func (s *Server) forget(u *user) {
	if u.sessions == 0 && u.processes == 0 {
		delete(s.users, u.uid)
	}
}

// refuse tells a peer that it gets no session.
func (s *Server) refuse(link *wire.Link, why error) {
	if s.refused.Add(1) == 1 { // a flood is one line
		s.log.Warn("session refused", "reason", why)
	}
	var head [wire.HeaderSize]byte
	r := abi.Request{}
	n := wire.EncodeReply(head[:], abi.OpHello.Nr, abi.StatusNoMemory, &r)
	_ = link.Send(head[:n], nil) // into an empty socket: never blocks
	link.Close()
}

func errLimit(what string, n int) error {
	return fmt.Errorf("limit of %d %s reached", n, what)
}
