package dxgsync

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
)

// ownFile returns a descriptor of the caller's own for an answered one.
func ownFile(f abi.OutFile) (int, abi.Status) {
	if !f.Borrowed {
		return f.FD, abi.StatusSuccess
	}
	fd, err := unix.FcntlInt(uintptr(f.FD), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return -1, abi.StatusNoMemory
	}
	return fd, abi.StatusSuccess
}

// closeFiles closes the descriptors of an answer that nobody wants.
func closeFiles(r *abi.Request) {
	for _, f := range r.Out {
		if !f.Borrowed {
			_ = unix.Close(f.FD)
		}
	}
	r.Out = nil
}

// newEvent makes a CPU event. Reading it blocks the goroutine, not a thread.
func newEvent() (*os.File, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("eventfd", err)
	}
	return os.NewFile(uintptr(fd), "fence event"), nil
}
