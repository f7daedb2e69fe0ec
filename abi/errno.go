package abi

import "syscall"

// Errno is what a request on /dev/dxg fails with for a failing status; many
// statuses share EINVAL, so the way back by StatusOf loses detail. It is 0 for a
// status that is no failure: the request's result is then the status itself.
// Source: sharing.md §9 and the errno tables of the Linux guest.
func (s Status) Errno() syscall.Errno {
	if s.OK() {
		return 0
	}
	if e, ok := errnoOf[s]; ok {
		return e
	}
	return syscall.EINVAL
}

// StatusOf is the status that a client makes of a request's errno; UNSUCCESSFUL
// for one that has none.
func StatusOf(e syscall.Errno) Status {
	if s, ok := statusOf[e]; ok {
		return s
	}
	return StatusUnsuccessful
}

var errnoOf = map[Status]syscall.Errno{
	StatusObjectNameCollision:    syscall.EEXIST,
	StatusNoMemory:               syscall.ENOMEM,
	StatusInvalidParameter:       syscall.EINVAL,
	StatusObjectNameInvalid:      syscall.ENOENT,
	StatusObjectNameNotFound:     syscall.ENOENT,
	StatusBufferTooSmall:         syscall.EOVERFLOW,
	StatusDeviceRemoved:          syscall.ENODEV,
	StatusAccessDenied:           syscall.EACCES,
	StatusNotSupported:           syscall.EPERM,
	StatusIllegalInstruction:     syscall.EOPNOTSUPP,
	StatusInvalidHandle:          syscall.EBADF,
	StatusGraphicsAllocationBusy: syscall.EINPROGRESS,
	StatusObjectTypeMismatch:     syscall.EPROTOTYPE,
	StatusNotImplemented:         syscall.EPERM,
}

var statusOf = map[syscall.Errno]Status{
	syscall.EEXIST:      StatusObjectNameCollision,
	syscall.ENOMEM:      StatusNoMemory,
	syscall.EINVAL:      StatusInvalidParameter,
	syscall.ENOENT:      StatusObjectNameInvalid,
	syscall.EAGAIN:      StatusTimeout,
	syscall.EOVERFLOW:   StatusBufferTooSmall,
	syscall.ENODEV:      StatusDeviceRemoved,
	syscall.EACCES:      StatusAccessDenied,
	syscall.ENOSYS:      StatusNotSupported,
	syscall.EPERM:       StatusNotSupported,
	syscall.EOPNOTSUPP:  StatusIllegalInstruction,
	syscall.EBADF:       StatusInvalidHandle,
	syscall.EINPROGRESS: StatusGraphicsAllocationBusy,
	syscall.EPROTOTYPE:  StatusObjectTypeMismatch,
}
