package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

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
