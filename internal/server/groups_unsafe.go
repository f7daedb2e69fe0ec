package server

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// groups asks the system for all groups of who connected fd, its supplementary ones.
func groups(fd int) ([]uint32, error) {
	list := make([]uint32, 32)
	for {
		size := uint32(len(list) * 4)
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			uintptr(unsafe.Pointer(unsafe.SliceData(list))), uintptr(unsafe.Pointer(&size)), 0)
		switch {
		case errno == 0:
			return list[:size/4], nil
		case errno == unix.ERANGE && int(size/4) > len(list):
			list = make([]uint32, size/4)
		default:
			return nil, fmt.Errorf("ask for the peer's groups: %w", errno)
		}
	}
}
