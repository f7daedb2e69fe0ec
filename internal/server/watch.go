package server

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// A watcher waits for the end of peers by their pidfds.
type watcher struct {
	epoll int
	stop  *stopper
}

// stopMark is the epoll mark of the stopper; no process has this id.
const stopMark = -1

func newWatcher(stop *stopper) (*watcher, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make epoll: %w", err)
	}
	w := &watcher{fd, stop}
	if err := w.add(stop.fd, stopMark); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// add reports the end of process pid, whose pidfd is given, once it comes.
func (w *watcher) add(pidfd, pid int) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(pid)} // Fd is ours to choose
	if err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, pidfd, &e); err != nil {
		return fmt.Errorf("watch process %d: %w", pid, err)
	}
	return nil
}

// remove forgets a pidfd. It must still be open.
func (w *watcher) remove(pidfd int) {
	_ = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_DEL, pidfd, nil)
}

// run calls ended for every process that ends, until the stopper triggers.
func (w *watcher) run(ended func(pid int)) {
	var events [64]unix.EpollEvent
	for {
		n, err := unix.EpollWait(w.epoll, events[:], -1)
		if err != nil && err != unix.EINTR {
			return // the descriptor is gone: the server is closing
		}
		for _, e := range events[:max(n, 0)] {
			if e.Fd == stopMark {
				return
			}
			ended(int(e.Fd))
		}
	}
}

func (w *watcher) close() { _ = unix.Close(w.epoll) }

// processEnded ends every session of a process whose pidfd fired.
func (s *Server) processEnded(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, p := range s.peers {
		// The event may be that of an earlier process with this id.
		if key.pid == pid && ended(p.pidfd) {
			s.endPeer(p)
		}
	}
}

// endPeer ends every session of a peer whose process has ended. The lock is held.
func (s *Server) endPeer(p *peer) {
	p.gone = true
	delete(s.peers, p.key())
	s.watch.remove(p.pidfd)
	s.log.Debug("process ended", "pid", p.PID, "sessions", len(p.sessions))
	for x := range p.sessions {
		x.link.Shutdown()
	}
}
