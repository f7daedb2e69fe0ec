package dxgsync

import (
	"time"

	"github.com/dxgsync/dxgsync/abi"
)

// PeriodicFenceOptions are for [Device.NewPeriodicFence]. The zero value makes a fence
// that advances at each vertical sync of the first target.
type PeriodicFenceOptions struct {
	// Target is the number of one of the adapter's video present targets, its outputs,
	// from 0 on.
	Target uint32
	// Before is how long before each vertical sync the fence advances: from 0 to the
	// time between two, in steps of 100 ns.
	Before time.Duration
	// Flags are creation flags, D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS. Few are legal.
	Flags abi.SyncObjectFlags
}

// NewPeriodicFence makes a periodic monitored fence: it begins at 0, and the system
// adds 1 to it once per refresh of an output. Wait for [Fence.Value] + 1 to wait for
// the next. While the output is off it stands still.
//
// It is a [Fence] that nobody but the system signals: [Fence.Signal],
// [Fence.Rewind] and [Device.Signal] answer [abi.StatusAccessDenied]. And it is for
// this process alone: [Fence.Share] answers [abi.StatusInvalidParameter].
//
// Errors: [abi.StatusInvalidParameter] for a target that the adapter does not have, a
// time below 0 or longer than between two refreshes, an adapter that cannot do it
// (below WDDM 2.2, or its driver does not notify), and flags that are not for periodic
// fences; what else the driver answers; [abi.StatusNoMemory] at a limit;
// [abi.StatusDeviceRemoved] after the loss of the daemon; [ErrClosed] when the device
// was closed.
//
// D3DKMTCreateSynchronizationObject2 with D3DDDI_PERIODIC_MONITORED_FENCE.
func (d *Device) NewPeriodicFence(opts PeriodicFenceOptions) (*Fence, error) {
	if d.closed.Load() {
		return nil, ErrClosed
	}
	if opts.Before < 0 {
		return nil, abi.StatusInvalidParameter
	}
	var rec abi.CreateSynchronizationObject2
	rec.HDevice = d.handle
	rec.Info.Type = abi.PeriodicMonitoredFence
	rec.Info.Flags = opts.Flags
	info := rec.Info.PeriodicMonitoredFence()
	info.VidPnTargetId, info.Time = opts.Target, uint64(opts.Before/100)
	r := request(abi.OpCreateSynchronizationObject2, &rec)
	err := d.withAdapter(func(a *Adapter) error {
		info.HAdapter = a.handle
		return d.failure(d.s.Do(r))
	})
	if err != nil {
		return nil, err
	}
	return d.adopt(r, rec.HSyncObject, opts.Flags, info.FenceValueGPUVirtualAddress)
}
