package dxgsync

import (
	"context"

	"github.com/dxgsync/dxgsync/abi"
)

// CreateKeyedMutex makes a keyed mutex.
func (s *Session) CreateKeyedMutex(r *abi.CreateKeyedMutex) abi.Status {
	return do(s, abi.OpCreateKeyedMutex, r)
}

// CreateKeyedMutex2 makes a keyed mutex with the runtime's private data, or nil.
func (s *Session) CreateKeyedMutex2(r *abi.CreateKeyedMutex2, data []byte) abi.Status {
	r.PrivateRuntimeDataSize = uint32(len(data))
	return do(s, abi.OpCreateKeyedMutex2, r, data)
}

// OpenKeyedMutex opens the keyed mutex of a global handle.
func (s *Session) OpenKeyedMutex(r *abi.OpenKeyedMutex) abi.Status {
	return do(s, abi.OpOpenKeyedMutex, r)
}

// OpenKeyedMutex2 is OpenKeyedMutex with the runtime's private data, or nil.
func (s *Session) OpenKeyedMutex2(r *abi.OpenKeyedMutex2, data []byte) abi.Status {
	r.PrivateRuntimeDataSize = uint32(len(data))
	return do(s, abi.OpOpenKeyedMutex2, r, data)
}

// OpenKeyedMutexFromNtHandle opens the keyed mutex behind an NT handle.
func (s *Session) OpenKeyedMutexFromNtHandle(r *abi.OpenKeyedMutexFromNtHandle) abi.Status {
	req := request(abi.OpOpenKeyedMutexFromNtHandle, r)
	req.Files[0] = descriptor(r.HNtHandle)
	return s.Do(req)
}

// AcquireKeyedMutex acquires a keyed mutex. It parks the goroutine until the mutex can
// be had or the timeout is over, in units of 100 ns: negative from now on, positive
// since 1601, 0 not to wait, nil for ever. The owner is the local handle: the mutex is
// released through it, by any goroutine.
func (s *Session) AcquireKeyedMutex(r *abi.AcquireKeyedMutex, timeout *int64) abi.Status {
	return s.acquire(context.Background(), request(abi.OpAcquireKeyedMutex, r, bytesOfTimeout(timeout)), r.HKeyedMutex, nil)
}

// AcquireKeyedMutex2 is AcquireKeyedMutex with room for the runtime's private data, or
// nil.
func (s *Session) AcquireKeyedMutex2(r *abi.AcquireKeyedMutex2, timeout *int64, data []byte) abi.Status {
	r.PrivateRuntimeDataSize = uint32(len(data))
	return s.acquire(context.Background(), request(abi.OpAcquireKeyedMutex2, r, bytesOfTimeout(timeout), data), r.HKeyedMutex, nil)
}

// ReleaseKeyedMutex releases a keyed mutex, to be acquired with the key of r.
func (s *Session) ReleaseKeyedMutex(r *abi.ReleaseKeyedMutex) abi.Status {
	return s.releaseAs(request(abi.OpReleaseKeyedMutex, r), r.HKeyedMutex)
}

// ReleaseKeyedMutex2 is ReleaseKeyedMutex with the runtime's private data, or nil.
func (s *Session) ReleaseKeyedMutex2(r *abi.ReleaseKeyedMutex2, data []byte) abi.Status {
	r.PrivateRuntimeDataSize = uint32(len(data))
	return s.releaseAs(request(abi.OpReleaseKeyedMutex2, r, data), r.HKeyedMutex)
}

// DestroyKeyedMutex destroys a local keyed mutex. What is owned through it is
// abandoned.
func (s *Session) DestroyKeyedMutex(r *abi.DestroyKeyedMutex) abi.Status {
	if line := s.unhold(r.HKeyedMutex); line != 0 && s.insist(abi.OpEndThread, line) == abi.StatusSuccess {
		s.door.lines().give(line)
	}
	return do(s, abi.OpDestroyKeyedMutex, r)
}
