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
// pipe's size through one end is seen through the other.
func (w *watch) same(key object.Key, fd int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	end, ok := w.pipes[key]
	if !ok {
		return false
	}
	var ours, theirs unix.Stat_t
	if unix.Fstat(int(end), &ours) != nil || unix.Fstat(fd, &theirs) != nil || ours.Uid != theirs.Uid {
		return false // a pipe belongs to the user who made it
	}
	size, err := pipeSizeOf(int(end))
	if err != nil {
		return false
	}
	other := 2 * pipeSize
	if size == other { // left so by a proof that could not shrink it again
		other = pipeSize
	}
	if resize(fd, int(end), other) != nil {
		return false
	}
	size, err = pipeSizeOf(int(end))
	_ = resize(fd, int(end), pipeSize)
	return err == nil && size == other
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
