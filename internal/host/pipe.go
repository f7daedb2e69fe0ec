package host

import (
	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/object"
)

// An NT handle is the write end of a pipe whose read end the host keeps: the
// hang-up of the read end is the last close of the handle anywhere, counting
// duplicates, children and copies in flight in a socket.

// pipeSize is the smallest pipe there is; pages of pipes are limited per user.
const pipeSize = 4096

// Settle returns when the kernel has been told of every NT handle that was closed
// before.
func (h *Host) Settle() { h.watch.settle() }

// NewNTHandle makes a pipe and watches it. The caller owns fd, which counts
// against the limit only until the pipe's other end is given up.
func (h *Host) NewNTHandle() (object.Key, int, abi.Status) {
	if !h.take(1) {
		return object.Key{}, -1, abi.StatusNoMemory
	}
	for {
		key, fd, err := h.newPipe()
		if err == nil {
			return key, fd, abi.StatusSuccess
		}
		if err != unix.EEXIST {
			h.give(1)
			return object.Key{}, -1, abi.StatusNoMemory
		}
	}
}

func (h *Host) newPipe() (key object.Key, fd int, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return key, -1, err
	}
	if err = h.spare(ends[0], ends[1]); err == nil {
		// A pipe of the usual size would do as well; it only costs more.
		_, _ = unix.FcntlInt(uintptr(ends[0]), unix.F_SETPIPE_SZ, pipeSize)
		key, _, _ = pipeKey(ends[1])
		err = h.watch.add(ends[0], key)
	}
	if err != nil {
		close1(ends[0])
		close1(ends[1])
		return key, -1, err
	}
	return key, ends[1], nil
}

// pipeKey says which pipe fd is an end of. ok is false when fd is no descriptor
// (bad) or no write end of a pipe.
func pipeKey(fd int) (key object.Key, bad, ok bool) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return key, true, false
	}
	if st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return key, false, false
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE == unix.O_RDONLY {
		return key, false, false
	}
	return object.Key{Dev: st.Dev, Ino: st.Ino}, false, true
}

// Identify says which NT handle fd is a copy of. A holder of the handle can make it
// wait.
func (h *Host) Identify(p *kernel.Process, fd int) (object.Key, abi.Status) {
	key, bad, ok := pipeKey(fd)
	if bad {
		return key, abi.StatusInvalidHandle
	}
	if !ok {
		return key, abi.StatusObjectTypeMismatch
	}
	if p.Info.UID == h.user {
		return key, abi.StatusSuccess
	}
	switch same, err := h.watch.same(key, fd); {
	case err != nil:
		return key, abi.StatusNoMemory
	case !same:
		return key, abi.StatusObjectTypeMismatch
	}
	return key, abi.StatusSuccess
}
