package host

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/internal/object"
)

// A watch waits for the hang-up of pipes.
type watch struct {
	epoll int
	stop  int // eventfd that ends run
	done  sync.WaitGroup

	telling sync.Mutex       // held while hang-ups are told, so that settle can wait for it
	closed  func(object.Key) // from start on

	mu    sync.Mutex
	ends  map[int32]object.Key // read ends whose hang-up was not told
	pipes map[object.Key]*pipe
}

// A pipe is one that is watched.
type pipe struct {
	end   int32      // for reading
	proof sync.Mutex // held by whoever changes its size to prove something
}

func newWatch() (*watch, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make epoll: %w", err)
	}
	stop, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		close1(epoll)
		return nil, fmt.Errorf("make eventfd: %w", err)
	}
	w := &watch{epoll: epoll, stop: stop, ends: map[int32]object.Key{}, pipes: map[object.Key]*pipe{}}
	if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, stop, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(stop)}); err != nil {
		w.close()
		return nil, fmt.Errorf("watch eventfd: %w", err)
	}
	return w, nil
}

// add watches a read end, which is the watch's from now on. The event mask is
// empty: hang-ups are always reported, and what holders write into the pipe
// causes nothing. unix.EEXIST: a pipe with this key is being watched already,
// for inode numbers come round after 2^32 pipes.
func (w *watch) add(fd int, key object.Key) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, taken := w.pipes[key]; taken {
		return unix.EEXIST
	}
	if err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Fd: int32(fd)}); err != nil {
		return err
	}
	w.ends[int32(fd)] = key
	w.pipes[key] = &pipe{end: int32(fd)}
	return nil
}

// start runs the watch on a goroutine: closed is called for each pipe at its
// hang-up, once. The read end is closed only when closed has returned, so that no
// other pipe can have its key while somebody still knows it by that key.
func (w *watch) start(closed func(object.Key)) {
	w.closed = closed
	w.done.Go(func() {
		var events [64]unix.EpollEvent
		for {
			n, err := unix.EpollWait(w.epoll, events[:], -1)
			if err != nil && err != unix.EINTR {
				return
			}
			if w.tell(events[:max(n, 0)]) {
				return
			}
		}
	})
}

// settle returns when every hang-up that there was has been told.
func (w *watch) settle() {
	if w.closed == nil {
		return
	}
	var events [64]unix.EpollEvent
	for {
		n, err := unix.EpollWait(w.epoll, events[:], 0)
		if err == unix.EINTR {
			continue
		}
		// Also with none: one that was seen elsewhere may be being told.
		if stopped := w.tell(events[:max(n, 0)]); stopped || n < len(events) {
			return
		}
	}
}

// tell tells the hang-ups among events. It reports whether the watch is to end.
func (w *watch) tell(events []unix.EpollEvent) (stop bool) {
	w.telling.Lock()
	defer w.telling.Unlock()
	for _, e := range events {
		if int(e.Fd) == w.stop {
			return true
		}
		w.hangUp(e.Fd)
	}
	return false
}

// hangUp tells a hang-up of a read end. The event may be old: told already, and the
// number another pipe's meanwhile; so the pipe itself is asked.
func (w *watch) hangUp(fd int32) {
	w.mu.Lock()
	key, ok := w.ends[fd]
	w.mu.Unlock()
	look := []unix.PollFd{{Fd: fd}}
	if n, err := unix.Poll(look, 0); !ok || err != nil || n == 0 {
		return
	}
	w.closed(key)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.ends, fd)
	delete(w.pipes, key)
	close1(int(fd)) // leaves the epoll by itself
}

// close ends the watch and closes every read end.
func (w *watch) close() {
	_, _ = unix.Write(w.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	w.done.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	for fd := range w.ends {
		close1(int(fd))
	}
	clear(w.ends)
	clear(w.pipes)
	close1(w.stop)
	close1(w.epoll)
}
