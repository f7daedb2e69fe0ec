package host

import (
	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/internal/object"
)

// proofTries is how often a proof makes room in a pipe that its holders keep
// filling.
const proofTries = 8

// same proves that fd is an end of the watched pipe with this key, though another
// user may have made pipes until an inode number came round: a change of the
// pipe's size through one end is seen through the other. A holder can make it wait
// for as long as he likes, so no lock may be held. Errors are the system's: there is
// no descriptor number left to prove it with.
func (w *watch) same(key object.Key, fd int) (bool, error) {
	w.mu.Lock()
	p := w.pipes[key]
	end, err := -1, error(nil)
	if p != nil {
		end, err = unix.FcntlInt(uintptr(p.end), unix.F_DUPFD_CLOEXEC, 0)
	}
	w.mu.Unlock()
	if end < 0 {
		return false, err
	}
	defer close1(end)
	p.proof.Lock()
	defer p.proof.Unlock()
	var ours, theirs unix.Stat_t
	if unix.Fstat(end, &ours) != nil || unix.Fstat(fd, &theirs) != nil || ours.Uid != theirs.Uid {
		return false, nil // a pipe belongs to the user who made it
	}
	size, err := pipeSizeOf(end)
	if err != nil {
		return false, nil
	}
	other := 2 * pipeSize
	if size == other { // left so by a proof that could not shrink it again
		other = pipeSize
	}
	err = resize(fd, end, other)
	if err == unix.EPERM { // holders have made other pipes as large as the system allows in all
		w.shrink()
		err = resize(fd, end, other)
	}
	if err == unix.EPERM {
		return false, err
	}
	if err != nil {
		return false, nil
	}
	size, err = pipeSizeOf(end)
	_ = resize(fd, end, pipeSize)
	return err == nil && size == other, nil
}

// shrink gives every pipe its size back that is not in a proof.
func (w *watch) shrink() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pipes {
		if !p.proof.TryLock() {
			continue
		}
		if size, err := pipeSizeOf(int(p.end)); err == nil && size > pipeSize {
			_ = resize(int(p.end), int(p.end), pipeSize)
		}
		p.proof.Unlock()
	}
}

// resize changes a pipe's size through fd. What holders have written may be in the
// way of a smaller one; nobody reads it, so it is thrown away through end.
func resize(fd, end, size int) (err error) {
	for range proofTries {
		if _, err = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, size); err != unix.EBUSY {
			return err
		}
		drain(end)
	}
	return err
}

// drain throws away what is in a pipe, as much of it as there can be at once.
func drain(end int) {
	var junk [16 * pipeSize]byte
	size, _ := pipeSizeOf(end)
	for at := 0; at <= size; at += pipeSize { // a read takes a page at least
		if n, err := unix.Read(end, junk[:]); n <= 0 && err != unix.EINTR { // does not block
			return
		}
	}
}

func pipeSizeOf(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0) }
