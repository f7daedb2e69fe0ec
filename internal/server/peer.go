package server

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Peer is who is at the other end of a session, as the system vouches for it.
type Peer struct {
	PID      int      // process id in the server's namespace
	UID, GID uint32   // Unix user and group
	Groups   []uint32 // all its groups, GID among them
	Name     string   // short name for listings
}

// A peer is one live process with sessions. Guarded by Server.mu.
type peer struct {
	Peer
	user     *user
	pidfd    int
	gone     bool // the process has ended: no session may begin
	sessions map[*session]struct{}
	procs    map[nonce]*process
}

// A peerKey tells live peers apart. A process that changes its user or groups and
// connects again is another peer: it must not keep what it was allowed before.
type peerKey struct {
	pid      int
	uid, gid uint32
	groups   string
}

func (p Peer) key() peerKey { return peerKey{p.PID, p.UID, p.GID, fmt.Sprint(p.Groups)} }

// A user is a Unix user with sessions. Guarded by Server.mu.
type user struct {
	uid       uint32
	sessions  int
	processes int // kernel processes, until their Exit has returned
	bells     *bellTable
}

// credentials asks the system who connected fd: the process and a pidfd of it,
// which is the caller's.
func credentials(fd int) (Peer, int, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return Peer{}, -1, fmt.Errorf("ask for the peer's credentials: %w", err)
	}
	p := Peer{PID: int(cred.Pid), UID: cred.Uid, GID: cred.Gid}
	more, err := groups(fd)
	if err != nil {
		return p, -1, err
	}
	p.Groups = append([]uint32{p.GID}, more...)
	if p.PID <= 0 {
		return p, -1, fmt.Errorf("peer of user %d lives in a pid namespace that is not visible here: %w", p.UID, unix.ESRCH)
	}
	pidfd, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if err == unix.ENOPROTOOPT { // Linux before 6.5
		pidfd, err = unix.PidfdOpen(p.PID, 0)
	}
	if err != nil {
		return p, -1, fmt.Errorf("get a pidfd of process %d: %w", p.PID, err)
	}
	return p, pidfd, nil
}

// ended reports whether the process of a pidfd has ended.
func ended(pidfd int) bool {
	set := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(set, 0)
		if err == unix.EINTR {
			continue
		}
		return err != nil || n != 0
	}
}

// nameOf is the short name of a process, for listings.
func nameOf(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
