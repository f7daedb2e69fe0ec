package page

import (
	"math"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Futex operations. Never FUTEX_PRIVATE_FLAG: sleeper and waker have different
// mappings of one page, often in different processes.
const (
	futexWait = 0
	futexWake = 1
)

// Wait sleeps while *addr is val. It returns at once when *addr differs, and may
// return early for no reason at all; the caller looks and sleeps again. The memory
// may be mapped read-only.
func Wait(addr *atomic.Uint32, val uint32) {
	// A blocking call for the Go runtime, which gives the processor to others. Its
	// errors all mean "look again": EAGAIN the word differs, EINTR a Unix signal.
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(addr)), futexWait, uintptr(val), 0, 0, 0)
}

// Wake wakes whoever sleeps on addr and returns how many that were.
func Wake(addr *atomic.Uint32) int {
	// The call never blocks, so the Go runtime need not hear of it: see
	// BenchmarkWakeNobody for what that saves.
	n, _, _ := unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(addr)), futexWake, math.MaxInt32, 0, 0, 0)
	return int(n)
}
