package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

func enqueueEvent(p *Process, fd int, contexts ...abi.Handle) abi.Status {
	rec := abi.SignalSynchronizationObjectFromGpu2{Flags: abi.SignalEnqueueCpuEvent, BroadcastContextCount: uint32(len(contexts))}
	_, st := do(p, 0x33, &rec, []int{fd}, nil, handles(contexts...))
	return st
}

// A bad event is found after bad handles, before contexts that do not belong together
// and before the loss of a device (calls.md §1.1).
func TestEventIsJudgedInItsTurn(t *testing.T) {
	r := newRig(t)
	p := r.process()
	d1, d2 := r.device(p, 0), r.device(p, 0)
	c1, c2 := r.context(p, d1, 0, 0), r.context(p, d2, 0, 0)
	good, e := r.event()
	notification := func(d abi.Handle, fd int) abi.Status {
		rec := abi.CreateSynchronizationObject2{HDevice: d}
		rec.Info.Type = abi.CPUNotification
		_, st := do(p, 0x10, &rec, []int{fd})
		return st
	}
	check := func(what string, got, want abi.Status) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("no context, bad event", enqueueEvent(p, abi.FileBad, c1, d1), abi.StatusInvalidParameter)
	check("contexts of two devices, bad event", enqueueEvent(p, abi.FileBad, c1, c2), abi.StatusInvalidHandle)
	check("contexts of two devices", enqueueEvent(p, good, c1, c2), abi.StatusInvalidParameter)
	check("MarkDeviceAsError", markAsError(p, d1), abi.StatusSuccess)
	check("lost, bad event", enqueueEvent(p, abi.FileBad, c1), abi.StatusInvalidHandle)
	check("lost", enqueueEvent(p, good, c1), abi.StatusDeviceRemoved)
	check("create on a lost device, bad event", notification(d1, abi.FileBad), abi.StatusInvalidHandle)
	check("create on a lost device", notification(d1, good), abi.StatusDeviceRemoved)
	if e.sets != 0 || e.refs != 0 {
		t.Errorf("the event was set %d times and has %d references", e.sets, e.refs)
	}
}
