package dxgsync

import (
	"sync"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
)

// A Device owns fences, buffers, contexts and hardware queues: they go when it is closed,
// and are lost with it when its work hangs or faults, see [LossError]. It is what a program
// has of an adapter.
type Device struct {
	s      *Session
	handle abi.Handle
	luid   abi.LUID // of its adapter
	closed atomic.Bool

	stock   heapStock // for fences of this process alone
	paging  paging    // for buffers
	atomics sync.Once
	words   bool // see narrow
}

// DeviceOptions are for [Adapter.NewDevice]. The zero value is what nearly
// everybody wants.
type DeviceOptions struct {
	Flags abi.CreateDeviceFlags // D3DKMT_CREATEDEVICEFLAGS
}

// NewDevice makes a device on the adapter.
//
// Errors: [abi.StatusInvalidParameter] for reserved flags; [abi.StatusNoMemory] at
// a limit; [abi.StatusDeviceRemoved] after the loss of the daemon; [ErrClosed]
// when the adapter or the session was closed.
//
// D3DKMTCreateDevice.
func (a *Adapter) NewDevice(opts DeviceOptions) (*Device, error) {
	if a.closed.Load() {
		return nil, ErrClosed
	}
	rec := abi.CreateDevice{HAdapter: a.handle, Flags: opts.Flags}
	if st := a.s.CreateDevice(&rec); st != abi.StatusSuccess {
		return nil, a.s.failure(st)
	}
	return &Device{s: a.s, handle: rec.HDevice, luid: a.luid}, nil
}

// Handle returns the D3DKMT handle, for use with the raw calls of [Session].
func (d *Device) Handle() abi.Handle { return d.handle }

// Session returns the session that the device belongs to.
func (d *Device) Session() *Session { return d.s }

// Close destroys the device with everything on it. Waits through its fences end
// with [abi.StatusDeviceRemoved]; the values of shared fences stay as they are for
// the other processes. A second Close returns [ErrClosed].
//
// D3DKMTDestroyDevice.
func (d *Device) Close() error {
	if !d.closed.CompareAndSwap(false, true) {
		return ErrClosed
	}
	st := d.s.DestroyDevice(&abi.DestroyDevice{HDevice: d.handle})
	d.paging.close()
	return d.s.failure(st)
}
