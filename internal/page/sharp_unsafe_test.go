package page

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wakeBlocking is Wake as a call that the Go runtime takes for one that may block.
func wakeBlocking(addr *atomic.Uint32) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(addr)), futexWake, 1, 0, 0, 0)
}

func closeFD(fd int) { _ = unix.Close(fd) }

// store writes the value as any program might.
func (m *Memory) store(v uint64) { *(*uint64)(m.base) = v }
