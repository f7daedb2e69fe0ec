package dxgsync

import (
	"context"

	"github.com/dxgsync/dxgsync/abi"
)

// WaitIdle returns when the device has no work: nothing is queued on any of its contexts
// and hardware queues, and nothing runs. A function of [Context.Do] is work until it
// has returned.
//
// Errors: the context's cause when ctx ends first; a [LossError] when the device is
// lost, before or meanwhile; [abi.StatusNoMemory] at a limit;
// [abi.StatusDeviceRemoved] when the device is closed meanwhile or the daemon goes
// away; [ErrClosed].
//
// D3DKMTWaitForIdle.
func (d *Device) WaitIdle(ctx context.Context) error {
	if d.closed.Load() {
		return ErrClosed
	}
	st := d.s.blockUntil(ctx, request(abi.OpWaitForIdle, &abi.WaitForIdle{HDevice: d.handle}))
	if st == abi.StatusCancelled && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if st == abi.StatusDeviceRemoved && d.closed.Load() {
		return st
	}
	return d.failure(st)
}
