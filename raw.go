package dxgsync

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
)

// The calls of this file and of the others called raw are WDDM's own, one method each under its name without
// D3DKMT. The record is the public structure; arrays that it points to are
// arguments, and its pointer fields are not used. Counts that belong to an array
// argument are taken from its length. Every result and every error is the status
// that the operation's documentation gives; StatusDeviceRemoved also stands for a
// session that is closed or whose daemon has gone.

// Do answers any request of the operation table ([abi.Ops]), as given. A blocking
// wait must name a bell and a ticket and is answered with [abi.StatusPending];
// use WaitForSynchronizationObjectFromCpu to be blocked.
func (s *Session) Do(r *abi.Request) abi.Status {
	if s.closed.Load() {
		return abi.StatusDeviceRemoved
	}
	return s.door.do(r)
}

func do[T any](s *Session, op *abi.Op, rec *T, arrays ...[]byte) abi.Status {
	return s.Do(request(op, rec, arrays...))
}

// OpenAdapterFromLuid opens an adapter by its LUID.
func (s *Session) OpenAdapterFromLuid(r *abi.OpenAdapterFromLuid) abi.Status {
	return do(s, abi.OpOpenAdapterFromLuid, r)
}

// EnumAdapters2 opens all adapters into the array; with a nil array it tells how
// many there could ever be.
func (s *Session) EnumAdapters2(r *abi.EnumAdapters2, adapters []abi.AdapterInfo) abi.Status {
	r.NumAdapters = uint32(len(adapters))
	return do(s, abi.OpEnumAdapters2, r, bytesOf(adapters))
}

// EnumAdapters3 is EnumAdapters2 with a filter.
func (s *Session) EnumAdapters3(r *abi.EnumAdapters3, adapters []abi.AdapterInfo) abi.Status {
	r.NumAdapters = uint32(len(adapters))
	return do(s, abi.OpEnumAdapters3, r, bytesOf(adapters))
}

// CloseAdapter closes one opening of an adapter.
func (s *Session) CloseAdapter(r *abi.CloseAdapter) abi.Status {
	return do(s, abi.OpCloseAdapter, r)
}

// QueryAdapterInfo asks for one kind of information; data is question and answer.
func (s *Session) QueryAdapterInfo(r *abi.QueryAdapterInfo, data []byte) abi.Status {
	r.PrivateDriverDataSize = uint32(len(data))
	return do(s, abi.OpQueryAdapterInfo, r, data)
}

// IsFeatureEnabled tells about a feature of an adapter.
func (s *Session) IsFeatureEnabled(r *abi.IsFeatureEnabled) abi.Status {
	return do(s, abi.OpIsFeatureEnabled, r)
}

// CreateDevice makes a device.
func (s *Session) CreateDevice(r *abi.CreateDevice) abi.Status {
	return do(s, abi.OpCreateDevice, r)
}

// DestroyDevice destroys a device with everything on it.
func (s *Session) DestroyDevice(r *abi.DestroyDevice) abi.Status {
	for _, f := range s.fences(r.HDevice) {
		f.retire(abi.StatusDeviceRemoved)
	}
	st := do(s, abi.OpDestroyDevice, r)
	if st == abi.StatusSuccess {
		s.forgetLocks(r.HDevice)
	}
	return st
}

// GetDeviceState tells the state of a device.
func (s *Session) GetDeviceState(r *abi.GetDeviceState) abi.Status {
	return do(s, abi.OpGetDeviceState, r)
}

// CreateContextVirtual makes a context; data is the private driver data or nil.
func (s *Session) CreateContextVirtual(r *abi.CreateContextVirtual, data []byte) abi.Status {
	r.PrivateDriverDataSize = uint32(len(data))
	return do(s, abi.OpCreateContextVirtual, r, data)
}

// DestroyContext destroys a context.
func (s *Session) DestroyContext(r *abi.DestroyContext) abi.Status {
	return do(s, abi.OpDestroyContext, r)
}

// CreateSynchronizationObject2 makes a synchronization object. The address of the
// value is left 0: Go programs read it through [Device.NewFence].
func (s *Session) CreateSynchronizationObject2(r *abi.CreateSynchronizationObject2) abi.Status {
	req := request(abi.OpCreateSynchronizationObject2, r)
	return s.granted(req, s.Do(req), &r.HSyncObject)
}

// granted takes the memory of a fence that is used by requests only: a slab must
// be mapped when its descriptor comes, which is only once. If it cannot be, the fence is
// destroyed.
func (s *Session) granted(r *abi.Request, st abi.Status, h *abi.Handle) abi.Status {
	return s.grantedWith(r, st, h, abi.OpDestroySynchronizationObject, h)
}

// grantedWith is granted for a fence that goes with what was made beside it.
func (s *Session) grantedWith(r *abi.Request, st abi.Status, h *abi.Handle, destroy *abi.Op, made *abi.Handle) abi.Status {
	if st != abi.StatusSuccess {
		return st
	}
	if r.Grant.Kind == 0 { // it has no memory, or none to map
		closeFiles(r)
		return st
	}
	mem, st := s.door.memory(r, *h)
	if st != abi.StatusSuccess {
		do(s, destroy, &abi.DestroySynchronizationObject{HSyncObject: *made}) // all look the same
		return st
	}
	mem.release()
	return st
}

// DestroySynchronizationObject destroys a local object.
func (s *Session) DestroySynchronizationObject(r *abi.DestroySynchronizationObject) abi.Status {
	if f := s.fence(r.HSyncObject); f != nil {
		f.retire(abi.StatusSuccess)
	}
	return do(s, abi.OpDestroySynchronizationObject, r)
}

// SignalSynchronizationObjectFromCpu sets the values of several fences, all or
// none.
func (s *Session) SignalSynchronizationObjectFromCpu(r *abi.SignalSynchronizationObjectFromCpu, objects []abi.Handle, values []uint64) abi.Status {
	if len(objects) != len(values) {
		return abi.StatusInvalidParameter
	}
	r.ObjectCount = uint32(len(objects))
	return do(s, abi.OpSignalSynchronizationObjectFromCpu, r, bytesOf(objects), bytesOf(values))
}

// WaitForSynchronizationObjectFromCpu waits for the values of several fences. With
// an eventfd in HAsyncEvent it returns at once and the event is set later;
// without one it parks the goroutine until the condition holds.
func (s *Session) WaitForSynchronizationObjectFromCpu(r *abi.WaitForSynchronizationObjectFromCpu, objects []abi.Handle, values []uint64) abi.Status {
	if len(objects) != len(values) {
		return abi.StatusInvalidParameter
	}
	if s.closed.Load() {
		return abi.StatusDeviceRemoved
	}
	r.ObjectCount = uint32(len(objects))
	req := request(abi.OpWaitForSynchronizationObjectFromCpu, r, bytesOf(objects), bytesOf(values))
	if r.HAsyncEvent == 0 {
		return s.block(req)
	}
	req.Files[0] = descriptor(r.HAsyncEvent)
	return s.Do(req)
}

// OpenSyncObjectFromNtHandle2 opens the object behind an NT handle on a device. The
// address of the value is left 0: Go programs read it through
// [Device.OpenShared].
func (s *Session) OpenSyncObjectFromNtHandle2(r *abi.OpenSyncObjectFromNtHandle2) abi.Status {
	req := request(abi.OpOpenSyncObjectFromNtHandle2, r)
	req.Files[0] = descriptor(r.HNtHandle)
	return s.granted(req, s.Do(req), &r.HSyncObject)
}

// descriptor is the descriptor that a handle field names.
func descriptor(field uint64) int {
	switch {
	case field == 0:
		return abi.FileNone
	case field > 1<<31-1:
		return abi.FileBad
	}
	return int(field)
}

// signal and ring are the requests behind [Fence.Signal].
func (s *Session) signal(device abi.Handle, handles []abi.Handle, values []uint64, flags abi.SignalFlags) abi.Status {
	rec := abi.SignalSynchronizationObjectFromCpu{HDevice: device, Flags: flags}
	return s.SignalSynchronizationObjectFromCpu(&rec, handles, values)
}

func (s *Session) ring(h abi.Handle) abi.Status {
	var handle [4]byte
	binary.LittleEndian.PutUint32(handle[:], uint32(h))
	return do(s, abi.OpRing, &abi.Ring{Count: 1}, handle[:])
}
