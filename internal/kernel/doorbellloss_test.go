package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
)

func (r *bellRig) state() abi.DeviceExecutionState {
	rec := abi.GetDeviceState{HDevice: r.d, StateType: abi.DeviceStateExecution}
	_, st := do(r.p, 0x0E, &rec, nil)
	r.ok(st)
	return *rec.ExecutionState()
}

// However a device is lost, its doorbells say so for good, and those of others do not.
func TestDoorbellsOfLostDevices(t *testing.T) {
	for name, c := range map[string]struct {
		lose  func(r *bellRig, b *bell)
		state abi.DeviceExecutionState
	}{
		"marked": {func(r *bellRig, b *bell) {
			do(r.p, 0x26, &abi.MarkDeviceAsError{HDevice: r.d, Reason: abi.DeviceErrorGeneric}, nil)
		}, abi.DeviceExecutionHung},
		"fault":         {func(r *bellRig, b *bell) { b.put(cmdbuf.New().Fault(cmdbuf.FaultDMA, 0)) }, abi.DeviceExecutionDMAFault},
		"page fault":    {func(r *bellRig, b *bell) { b.put(cmdbuf.New().Write64(8, 1)) }, abi.DeviceExecutionDMAPageFault},
		"too many":      {func(r *bellRig, b *bell) { b.words.Bell.Store(ringEntries + 1) }, abi.DeviceExecutionDMAFault},
		"all there are": {func(r *bellRig, b *bell) { b.words.Bell.Store(1<<64 - 1) }, abi.DeviceExecutionDMAFault},
		"back": {func(r *bellRig, b *bell) {
			b.put(cmdbuf.New())
			b.put(cmdbuf.New())
			r.run(short)
			b.words.Bell.Store(1)
		}, abi.DeviceExecutionDMAFault},
		"long": {func(r *bellRig, b *bell) {
			b.words.Bell.Store(b.ring.Put(cmdbuf.RingEntry{VA: r.code, Length: 1 << 32}))
		}, abi.DeviceExecutionDMAFault},
		"hang": {func(r *bellRig, b *bell) {
			b.put(cmdbuf.New().Hang())
			r.run(7_000_000_000)
		}, abi.DeviceExecutionHung},
		"removed": {func(r *bellRig, b *bell) {
			_, st := r.k.Provoke(abi.ProvokeFault{Kind: abi.FaultRemove, AdapterLuid: r.k.adapters[0].LUID})
			r.ok(st)
		}, abi.DeviceExecutionStopped},
		"reset": {func(r *bellRig, b *bell) {
			_, st := r.k.Provoke(abi.ProvokeFault{Kind: abi.FaultReset, AdapterLuid: r.k.adapters[0].LUID})
			r.ok(st)
		}, abi.DeviceExecutionReset},
	} {
		t.Run(name, func(t *testing.T) {
			r := newBellRig(t, nil)
			b, never := r.bell(), r.bell()
			r.ok(b.connect())
			lost := *r
			r.attach()
			other := r.bell()
			r.ok(other.connect())
			c.lose(&lost, b)
			r.run(short)
			if got := lost.state(); got != c.state {
				t.Errorf("the device is %v, want %v", got, c.state)
			}
			all := name == "removed" || name == "reset"
			for _, x := range []*bell{b, never, other} {
				want := abi.DoorbellDisconnectedAbort
				if x == other && !all {
					want = abi.DoorbellConnected
					if name == "hang" {
						want = abi.DoorbellDisconnectedRetry // its engine rested long ago
					}
				}
				if got := abi.DoorbellStatus(x.words.Status.Load()); got != want {
					t.Errorf("the status is %v, want %v", got, want)
				}
				if want == abi.DoorbellDisconnectedAbort {
					if st := x.connect(); st != abi.StatusDeviceRemoved {
						t.Errorf("connect: %v", st)
					}
					if st := x.notify(); st != abi.StatusInvalidParameter {
						t.Errorf("notify: %v", st)
					}
				}
			}
			if !all {
				r.ok(other.connect())
				other.put(cmdbuf.New())
				r.run(short)
				other.want("of another device", abi.DoorbellConnected, 1)
			}
			for _, x := range []*bell{b, never} {
				r.ok(x.destroy())
			}
		})
	}
}

// Whatever a doorbell belongs to, it goes with it.
func TestDoorbellGoesWith(t *testing.T) {
	for name, end := range map[string]func(r *bellRig, b *bell){
		"queue":   func(r *bellRig, b *bell) { do(r.p, 0x1B, &abi.DestroyHwQueue{HHwQueue: b.queue}, nil) },
		"context": func(r *bellRig, b *bell) { do(r.p, 0x05, &abi.DestroyContext{HContext: r.context}, nil) },
		"device":  func(r *bellRig, b *bell) { do(r.p, 0x19, &abi.DestroyDevice{HDevice: r.d}, nil) },
		"process": func(r *bellRig, b *bell) { r.p.Exit() },
	} {
		for _, busy := range []bool{false, true} {
			r := newBellRig(t, nil)
			b := r.bell()
			r.ok(b.connect())
			if busy {
				b.put(cmdbuf.New().Delay(1_000_000_000, 0))
				b.put(cmdbuf.New())
				r.run(short)
			}
			end(r, b)
			if got := abi.DoorbellStatus(b.words.Status.Load()); got != abi.DoorbellDisconnectedAbort {
				t.Errorf("%s, busy %v: the status is %v", name, busy, got)
			}
			if st := b.connect(); st != abi.StatusInvalidParameter {
				t.Errorf("%s, busy %v: connect: %v", name, busy, st)
			}
			r.run(short)
			if n := r.gpu().Holdings().HwQueues; n != 0 {
				t.Errorf("%s, busy %v: %d queues are left", name, busy, n)
			}
		}
	}
}

// DisconnectDoorbell is for drivers that name what is there, with a reason that is one.
func TestDriverTakesDoorbells(t *testing.T) {
	r := newBellRig(t, nil)
	b := r.bell()
	r.ok(b.connect())
	c, kmd := callbacks{r.k.adapters[0]}, r.p.table.Get(b.queue).(*hwQueue).sched.Kmd
	for _, x := range []struct {
		queue  ddi.KmdHwQueue
		reason abi.DoorbellStatus
		want   abi.Status
		status abi.DoorbellStatus
	}{
		{kmd + 100, abi.DoorbellDisconnectedRetry, abi.StatusInvalidParameter, abi.DoorbellConnected},
		{kmd, abi.DoorbellConnected, abi.StatusInvalidParameter, abi.DoorbellConnected},
		{kmd, 4, abi.StatusInvalidParameter, abi.DoorbellConnected},
		{kmd, abi.DoorbellDisconnectedRetry, abi.StatusSuccess, abi.DoorbellDisconnectedRetry},
		{kmd, abi.DoorbellDisconnectedRetry, abi.StatusSuccess, abi.DoorbellDisconnectedRetry},
		{kmd, abi.DoorbellDisconnectedAbort, abi.StatusSuccess, abi.DoorbellDisconnectedAbort},
		{kmd, abi.DoorbellDisconnectedRetry, abi.StatusSuccess, abi.DoorbellDisconnectedAbort}, // for good
	} {
		if st := c.DisconnectDoorbell(x.queue, x.reason); st != x.want {
			t.Errorf("%+v: %v", x, st)
		}
		b.want("after that", x.status, 0)
	}
	if st := b.connect(); st != abi.StatusDeviceRemoved {
		t.Errorf("connect: %v", st)
	}
}
