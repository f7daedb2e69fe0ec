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
	if resize(fd, end, other) != nil {
		return false, nil
	}
	size, err = pipeSizeOf(end)
	_ = resize(fd, end, pipeSize)
	return err == nil && size == other, nil
}

// resize changes a pipe's size through fd. What holders have written may be in the
// way of a smaller one; nobody reads it, so it is thrown away through end.
func resize(fd, end, size int) (err error) {
	var junk [2 * pipeSize]byte
	for range proofTries {
		if _, err = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, size); err != unix.EBUSY {
			return err
		}
		_, _ = unix.Read(end, junk[:]) // does not block
	}
	return err
}

func pipeSizeOf(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0) }
