package dxgsync

import "github.com/dxgsync/dxgsync/abi"

// CreateNativeFence makes a native fence. The address of the value for the CPU is left 0:
// Go programs read it through [Device.NewNativeFence].
func (s *Session) CreateNativeFence(r *abi.CreateNativeFence) abi.Status {
	req := request(abi.OpCreateNativeFence, r)
	return s.granted(req, s.Do(req), &r.HSyncObject)
}

// OpenNativeFenceFromNtHandle opens a native fence behind an NT handle. The address of the
// value for the CPU is left 0.
func (s *Session) OpenNativeFenceFromNtHandle(r *abi.OpenNativeFenceFromNtHandle) abi.Status {
	req := request(abi.OpOpenNativeFenceFromNtHandle, r)
	req.Files[0] = descriptor(r.HNtHandle)
	return s.granted(req, s.Do(req), &r.HSyncObject)
}

// CreateDoorbell makes the doorbell of a hardware queue; data is the private driver data
// or nil. Its memory is left out, the addresses 0: Go programs ring with a [UserQueue], or
// take the descriptors that [Session.Do] answers.
func (s *Session) CreateDoorbell(r *abi.CreateDoorbell, data []byte) abi.Status {
	r.PrivateDriverDataSize = uint32(len(data))
	req := request(abi.OpCreateDoorbell, r, data)
	st := s.Do(req)
	closeFiles(req)
	return st
}

// ConnectDoorbell connects a doorbell.
func (s *Session) ConnectDoorbell(r *abi.ConnectDoorbell) abi.Status {
	return do(s, abi.OpConnectDoorbell, r)
}

// DestroyDoorbell destroys a doorbell.
func (s *Session) DestroyDoorbell(r *abi.DestroyDoorbell) abi.Status {
	return do(s, abi.OpDestroyDoorbell, r)
}

// NotifyWorkSubmission tells of a ring.
func (s *Session) NotifyWorkSubmission(r *abi.NotifyWorkSubmission) abi.Status {
	return do(s, abi.OpNotifyWorkSubmission, r)
}

// CreateHwQueueForUserModeSubmission makes a hardware queue with a doorbell, whose memory
// is left out as by [Session.CreateDoorbell].
func (s *Session) CreateHwQueueForUserModeSubmission(r *abi.CreateHwQueueForUserModeSubmission) abi.Status {
	req := request(abi.OpCreateHwQueueForUserModeSubmission, r)
	st := s.Do(req)
	if st == abi.StatusSuccess {
		for range min(doorbellPages, len(req.Out)) {
			closeFiles(&abi.Request{Out: req.Out[:1]})
			req.Out = req.Out[1:]
		}
	}
	return s.grantedWith(req, st, &r.HProgressFence, abi.OpDestroyHwQueue, &r.HHwQueue)
}
