package dxgsync

import (
	"os"

	"github.com/dxgsync/dxgsync/abi"
)

// Notify returns an eventfd that is set, once, when the fence reaches v: at once if
// it has. It can be polled together with other descriptors, passed on, or read:
// reading its 8 bytes blocks the goroutine until then. It is set also when the fence
// is lost, and when this view of it or its device is closed meanwhile. It stays clear
// when the session or the daemon ends, for then nobody is left to set it: a program
// that must hear of that uses [Fence.Wait]. The caller closes it; closing it early is
// the way to lose interest.
//
// Errors: those of [Fence.Wait] that need no waiting; the system's when no eventfd
// can be made.
//
// D3DKMTWaitForSynchronizationObjectFromCpu with hAsyncEvent.
func (f *Fence) Notify(v uint64) (*os.File, error) {
	event, err := newEvent()
	if err != nil {
		return nil, err
	}
	if err := f.NotifyOn(event, v); err != nil {
		_ = event.Close()
		return nil, err
	}
	return event, nil
}

// NotifyOn is [Fence.Notify] with an eventfd of the caller's own, which is
// incremented by 1 when the fence reaches v. The kernel keeps a reference of its
// own until then.
//
// Errors: as Notify; [abi.StatusInvalidHandle] when event is closed;
// [abi.StatusObjectTypeMismatch] when it is no eventfd.
func (f *Fence) NotifyOn(event *os.File, v uint64) error {
	if f.closed.Load() {
		return ErrClosed
	}
	rec := abi.WaitForSynchronizationObjectFromCpu{HDevice: f.dev.handle, ObjectCount: 1}
	r := request(abi.OpWaitForSynchronizationObjectFromCpu, &rec, bytesOf([]abi.Handle{f.handle}), bytesOf([]uint64{v}))
	return f.dev.s.failure(withFile(event, func(fd int) abi.Status {
		r.Files[0] = fd
		return f.dev.s.Do(r)
	}))
}
