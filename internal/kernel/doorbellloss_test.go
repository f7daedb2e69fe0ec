package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/vidsch"
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

// A wait that the GPU makes for ever is no hang, and a program that says it has work
// pending when it has none is none either.
func TestNoHang(t *testing.T) {
	r := newBellRig(t, nil)
	b, liar := r.bell(), r.bell()
	r.ok(b.connect())
	r.ok(liar.connect())
	fence := abi.CreateNativeFence{HDevice: r.d}
	_, st := do(r.p, 0x800E, &fence, nil)
	r.ok(st)
	b.put(cmdbuf.New().Wait(fence.Info.NativeFenceMapping.CurrentValueGpuVa, 1, uint32(fence.HSyncObject)))
	liar.words.LastQueued.Store(1 << 63)
	r.run(30_000_000_000)
	b.want("waiting", abi.DoorbellConnected, 0)
	if got := r.state(); got != abi.DeviceExecutionActive {
		t.Fatalf("the device is %v", got)
	}
	r.ok(signal(r.p, r.d, 0, handles(fence.HSyncObject), values(1)))
	r.run(short)
	b.want("signalled", abi.DoorbellDisconnectedRetry, 1) // and then its engine rested
	liar.put(cmdbuf.New())
	r.ok(liar.connect())
	r.run(short)
	liar.want("rung", abi.DoorbellConnected, 1)
}

// A ring is kept while its doorbell lives, whatever becomes of the allocation's handle,
// and what was rung when a doorbell is destroyed is done.
func TestRingsAreKept(t *testing.T) {
	r := newBellRig(t, nil)
	b := r.bell()
	for _, h := range []abi.Handle{b.ringAt, b.controlAt} {
		r.ok(r.destroyAllocation(h))
	}
	r.run(short)
	r.ok(b.connect())
	b.put(cmdbuf.New())
	r.run(short)
	b.want("rung", abi.DoorbellConnected, 1)
	b.put(cmdbuf.New().Delay(1000, 0))
	b.put(cmdbuf.New().Delay(1000, 0))
	b.put(cmdbuf.New())
	live := r.host.live
	r.ok(b.destroy())
	if r.host.live != live-3 { // ring, control, words
		t.Errorf("%d memories less", live-r.host.live)
	}
	r.run(short)
	if got := r.value(r.p, b.progress); got != 4 {
		t.Errorf("the progress is %d", got)
	}
}

// A doorbell made anew for another ring goes on after what was rung on the old one.
func TestResize(t *testing.T) {
	r := newBellRig(t, nil)
	b := r.bell()
	r.ok(b.connect())
	b.put(cmdbuf.New().Delay(1000, 0))
	b.put(cmdbuf.New())
	old := b.words
	if st := b.create(0); st != abi.StatusInvalidParameter {
		t.Errorf("a second doorbell: %v", st)
	}
	handle := b.doorbell
	b.ringAt = r.visible(64)
	r.ok(b.create(abi.DoorbellResizeRingBufferOperation))
	if got := abi.DoorbellStatus(old.Status.Load()); got != abi.DoorbellDisconnectedAbort {
		t.Errorf("the old one's status is %v", got)
	}
	if _, ok := r.p.Doorbell(handle); ok && handle != b.doorbell {
		t.Error("the old one has its handle yet")
	}
	b.want("resized", abi.DoorbellDisconnectedRetry, 0)
	b.put(cmdbuf.New())
	r.ok(b.connect())
	r.run(short)
	b.want("resized", abi.DoorbellConnected, 3)
	// A process that does nothing else is not better off than with one ring.
	for range 100 {
		r.ok(b.create(abi.DoorbellResizeRingBufferOperation))
	}
	r.ok(b.connect())
	b.put(cmdbuf.New())
	r.run(short)
	b.want("often", abi.DoorbellConnected, 4)
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

// D3 takes all doorbells away and holds everything; connecting one wakes the adapter.
func TestPowerOfDoorbells(t *testing.T) {
	r := newBellRig(t, nil)
	power := func(s abi.PowerState) {
		t.Helper()
		report, st := r.k.Provoke(abi.ProvokeFault{Kind: abi.FaultPower, AdapterLuid: r.k.adapters[0].LUID, State: s})
		if r.ok(st); report.State != s.String() {
			t.Errorf("the report says %q", report.State)
		}
	}
	b, other := r.bell(), r.bell()
	r.ok(b.connect())
	b.put(cmdbuf.New().Delay(short, 0))
	r.run(1000)
	power(abi.PowerD3)
	b.want("D3", abi.DoorbellDisconnectedRetry, 0)
	other.put(cmdbuf.New())
	r.run(10_000_000_000)
	b.want("D3", abi.DoorbellDisconnectedRetry, 0)
	power(abi.PowerD0)
	r.run(2 * short)
	b.want("D0", abi.DoorbellDisconnectedRetry, 1)
	power(abi.PowerD3)
	b.put(cmdbuf.New())
	r.run(short)
	r.ok(other.connect())
	other.want("connected", abi.DoorbellConnected, 0)
	r.run(short)
	other.want("awake", abi.DoorbellConnected, 1)
	r.ok(b.connect())
	r.run(short)
	b.want("awake", abi.DoorbellConnected, 2)
	for _, f := range []abi.ProvokeFault{
		{Kind: abi.FaultPower, PID: 1, State: abi.PowerD3},
		{Kind: abi.FaultPower, AdapterLuid: r.k.adapters[0].LUID, State: 2},
		{Kind: abi.FaultReset, AdapterLuid: r.k.adapters[0].LUID, State: abi.PowerD3},
	} {
		if _, st := r.k.Provoke(f); st != abi.StatusInvalidParameter {
			t.Errorf("%+v: %v", f, st)
		}
	}
}

// An adapter without doorbells has no power states.
func TestPowerWithoutDoorbells(t *testing.T) {
	r := newRig(t, "amd")
	f := abi.ProvokeFault{Kind: abi.FaultPower, AdapterLuid: r.k.adapters[0].LUID, State: abi.PowerD3}
	if report, st := r.k.Provoke(f); st != abi.StatusNotSupported || report.State != "" {
		t.Errorf("%v, %+v", st, report)
	}
}

// A queue that hangs is found sooner if others wait for its engine, and they go on.
func TestHangHoldsOthersUp(t *testing.T) {
	r := newBellRig(t, func(p *adapter.Profile) {})
	b := r.bell()
	r.ok(b.connect())
	guilty := *r
	r.attach()
	victim := r.rig.context(r.p, r.d, 0, 0)
	b.put(cmdbuf.New().Hang())
	r.run(short)
	e := r.place(cmdbuf.New())
	_, st := do(r.p, 0x0F, &abi.SubmitCommand{Commands: e.VA, CommandLength: uint32(e.Length), BroadcastContextCount: 1, BroadcastContext: [64]abi.Handle{victim}}, nil)
	r.ok(st)
	r.run(int64(vidsch.TDR{}.WithDefaults().Delay) + 100_000_000)
	if guilty.state() != abi.DeviceExecutionHung || r.state() != abi.DeviceExecutionActive {
		t.Errorf("the guilty is %v, the other %v", guilty.state(), r.state())
	}
	if all, _ := r.p.table.Get(victim).(*context).sched.Queue().Len(); all != 0 {
		t.Errorf("%d packets are left", all)
	}
}

// A driver that finds an engine hung by itself need not wait for anybody to ask.
func TestDriverReportsHang(t *testing.T) {
	r := newBellRig(t, nil)
	b := r.bell()
	r.ok(b.connect())
	b.put(cmdbuf.New().Hang())
	r.run(short)
	c := callbacks{r.k.adapters[0]}
	for _, i := range []ddi.GpuEngineStateChange{
		{NewState: ddi.EngineActive}, {Engine: ddi.Engine{NodeOrdinal: 77}, NewState: ddi.EngineHung}, {Engine: ddi.Engine{NodeOrdinal: 1}, NewState: ddi.EngineTransitionToF1}, {NewState: 9},
	} {
		c.NotifyInterrupt(i)
		r.run(short)
		b.want(i.String(), abi.DoorbellConnected, 0)
	}
	c.NotifyInterrupt(ddi.GpuEngineStateChange{NewState: ddi.EngineHung})
	r.run(short)
	if got := r.state(); got != abi.DeviceExecutionHung {
		t.Errorf("the device is %v", got)
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
