package dxgsync

import (
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
)

// A Device owns fences and contexts: they go when it is closed. It is what a
// program has of an adapter.
type Device struct {
	s      *Session
	handle abi.Handle
	luid   abi.LUID // of its adapter
	closed atomic.Bool

	stock heapStock // for fences of this process alone
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

// State returns [abi.DeviceExecutionActive], or why the device can do no more.
//
// Errors: [abi.StatusDeviceRemoved] when the adapter or the daemon is gone;
// [ErrClosed].
//
// D3DKMTGetDeviceState with D3DKMT_DEVICESTATE_EXECUTION.
func (d *Device) State() (abi.DeviceExecutionState, error) {
	if d.closed.Load() {
		return 0, ErrClosed
	}
	rec := abi.GetDeviceState{HDevice: d.handle, StateType: abi.DeviceStateExecution}
	if st := d.s.GetDeviceState(&rec); st != abi.StatusSuccess {
		return 0, d.s.failure(st)
	}
	return abi.DeviceExecutionState(*rec.ExecutionState()), nil
}

// Close destroys the device with everything on it. Waits through its fences end
// with [abi.StatusDeviceRemoved]; the values of shared fences stay as they are for
// the other processes. A second Close returns [ErrClosed].
//
// D3DKMTDestroyDevice.
func (d *Device) Close() error {
	if !d.closed.CompareAndSwap(false, true) {
		return ErrClosed
	}
	return d.s.failure(d.s.DestroyDevice(&abi.DestroyDevice{HDevice: d.handle}))
}

// A Context is a stream of GPU work on one node of a device's adapter.
type Context struct {
	d      *Device
	handle abi.Handle
	closed atomic.Bool
}

// ContextOptions are for [Device.NewContext].
type ContextOptions struct {
	Node       uint32 // index of the adapter's node
	Engine     uint32 // mask with at most one bit; 0 means engine 0
	Flags      abi.CreateContextFlags
	ClientHint abi.ClientHint // who it is for; for listings only
}

// NewContext makes a context.
//
// Errors: [abi.StatusInvalidParameter] for a node or engine that the adapter does
// not have and for reserved flags; [abi.StatusNoMemory] at a limit;
// [abi.StatusDeviceRemoved] after the loss of the daemon; [ErrClosed].
//
// D3DKMTCreateContextVirtual.
func (d *Device) NewContext(opts ContextOptions) (*Context, error) {
	if d.closed.Load() {
		return nil, ErrClosed
	}
	rec := abi.CreateContextVirtual{
		HDevice: d.handle, NodeOrdinal: opts.Node, EngineAffinity: opts.Engine, Flags: opts.Flags,
		ClientHint: opts.ClientHint,
	}
	if st := d.s.CreateContextVirtual(&rec, nil); st != abi.StatusSuccess {
		return nil, d.s.failure(st)
	}
	return &Context{d: d, handle: rec.HContext}, nil
}

// Handle returns the D3DKMT handle, for use with the raw calls of [Session].
func (c *Context) Handle() abi.Handle { return c.handle }

// Close destroys the context. A second Close, or one after the device's, returns
// [ErrClosed].
//
// D3DKMTDestroyContext.
func (c *Context) Close() error {
	if !c.closed.CompareAndSwap(false, true) || c.d.closed.Load() {
		return ErrClosed
	}
	return c.d.s.failure(c.d.s.DestroyContext(&abi.DestroyContext{HContext: c.handle}))
}
