package dxgsync

import "github.com/dxgsync/dxgsync/abi"

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

// ReleaseKeyedMutex releases a keyed mutex, to be acquired with the key of r.
func (s *Session) ReleaseKeyedMutex(r *abi.ReleaseKeyedMutex) abi.Status {
	return do(s, abi.OpReleaseKeyedMutex, r)
}

// ReleaseKeyedMutex2 is ReleaseKeyedMutex with the runtime's private data, or nil.
func (s *Session) ReleaseKeyedMutex2(r *abi.ReleaseKeyedMutex2, data []byte) abi.Status {
	r.PrivateRuntimeDataSize = uint32(len(data))
	return do(s, abi.OpReleaseKeyedMutex2, r, data)
}

// DestroyKeyedMutex destroys a local keyed mutex.
func (s *Session) DestroyKeyedMutex(r *abi.DestroyKeyedMutex) abi.Status {
	return do(s, abi.OpDestroyKeyedMutex, r)
}
