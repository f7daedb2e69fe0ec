package abi

import (
	"syscall"
	"testing"
)

// The two ways as the Linux guest has them: sharing.md §9, calls.md §1.
func TestErrnoBothWays(t *testing.T) {
	for _, c := range []struct {
		status Status
		errno  syscall.Errno
		back   Status // what the caller makes of it
	}{
		{StatusObjectNameCollision, syscall.EEXIST, StatusObjectNameCollision},
		{StatusNoMemory, syscall.ENOMEM, StatusNoMemory},
		{StatusInvalidParameter, syscall.EINVAL, StatusInvalidParameter},
		{StatusObjectNameInvalid, syscall.ENOENT, StatusObjectNameInvalid},
		{StatusObjectNameNotFound, syscall.ENOENT, StatusObjectNameInvalid},
		{StatusBufferTooSmall, syscall.EOVERFLOW, StatusBufferTooSmall},
		{StatusDeviceRemoved, syscall.ENODEV, StatusDeviceRemoved},
		{StatusAccessDenied, syscall.EACCES, StatusAccessDenied},
		{StatusNotSupported, syscall.EPERM, StatusNotSupported},
		{StatusNotImplemented, syscall.EPERM, StatusNotSupported},
		{StatusIllegalInstruction, syscall.EOPNOTSUPP, StatusIllegalInstruction},
		{StatusInvalidHandle, syscall.EBADF, StatusInvalidHandle},
		{StatusGraphicsAllocationBusy, syscall.EINPROGRESS, StatusGraphicsAllocationBusy},
		{StatusObjectTypeMismatch, syscall.EPROTOTYPE, StatusObjectTypeMismatch},
		{StatusGraphicsGpuExceptionOnDevice, syscall.EINVAL, StatusInvalidParameter}, // none of its own
	} {
		if got := c.status.Errno(); got != c.errno {
			t.Errorf("%v is errno %v, want %v", c.status, got, c.errno)
		}
		if got := StatusOf(c.errno); got != c.back {
			t.Errorf("errno %v is %v, want %v", c.errno, got, c.back)
		}
	}
	for errno, want := range map[syscall.Errno]Status{
		syscall.EAGAIN: StatusTimeout,
		syscall.ENOSYS: StatusNotSupported,
		syscall.ENOTTY: StatusUnsuccessful,
		syscall.EIO:    StatusUnsuccessful,
	} {
		if got := StatusOf(errno); got != want {
			t.Errorf("errno %v is %v, want %v", errno, got, want)
		}
	}
	for _, s := range Statuses() {
		if (s.Errno() == 0) != s.OK() {
			t.Errorf("%v is errno %v", s, s.Errno())
		}
	}
}
