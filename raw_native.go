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
