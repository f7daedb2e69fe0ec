package kernel

import (
	"math"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// A stream is a context with its process and device.
type stream struct {
	p    *Process
	d, c abi.Handle
}

func (r *rig) context(p *Process, d abi.Handle, node uint32, flags abi.CreateContextFlags) abi.Handle {
	r.t.Helper()
	rec := abi.CreateContextVirtual{HDevice: d, NodeOrdinal: node, Flags: flags}
	if _, st := do(p, 0x04, &rec, nil); !st.OK() {
		r.t.Fatal("CreateContextVirtual:", st)
	}
	return rec.HContext
}

func (r *rig) stream() stream {
	p := r.process()
	d := r.device(p, 0)
	return stream{p: p, d: d, c: r.context(p, d, 0, 0)}
}

// another is another context of the device.
func (s stream) another(r *rig) stream {
	s.c = r.context(s.p, s.d, 1, 0)
	return s
}

func (s stream) waitGpu(h, v []byte) abi.Status {
	rec := abi.WaitForSynchronizationObjectFromGpu{HContext: s.c, ObjectCount: uint32(len(h) / 4)}
	_, st := do(s.p, 0x3B, &rec, nil, h, v)
	return st
}

func (s stream) signalGpu(h, v []byte) abi.Status {
	rec := abi.SignalSynchronizationObjectFromGpu{HContext: s.c, ObjectCount: uint32(len(h) / 4)}
	_, st := do(s.p, 0x32, &rec, nil, h, v)
	return st
}

func (s stream) signalGpu2(flags abi.SignalFlags, contexts, h, v []byte) abi.Status {
	rec := abi.SignalSynchronizationObjectFromGpu2{ObjectCount: uint32(len(h) / 4), Flags: flags, BroadcastContextCount: uint32(len(contexts) / 4)}
	_, st := do(s.p, 0x33, &rec, []int{-1}, h, contexts, v)
	return st
}

func (s stream) enqueueEvent(fd int, contexts ...abi.Handle) abi.Status {
	rec := abi.SignalSynchronizationObjectFromGpu2{Flags: abi.SignalEnqueueCpuEvent, BroadcastContextCount: uint32(len(contexts))}
	_, st := do(s.p, 0x33, &rec, []int{fd}, nil, handles(contexts...), nil)
	return st
}

func (s stream) end() abi.Status {
	_, st := do(s.p, 0x05, &abi.DestroyContext{HContext: s.c}, nil)
	return st
}

func (s stream) state() abi.DeviceExecutionState {
	rec := abi.GetDeviceState{HDevice: s.d, StateType: abi.DeviceStateExecution}
	if _, st := do(s.p, 0x0E, &rec, nil); !st.OK() {
		return 0
	}
	return *rec.ExecutionState()
}

func (r *rig) ok(st abi.Status) {
	r.t.Helper()
	if st != abi.StatusSuccess {
		r.t.Fatal(st)
	}
}

func (r *rig) wantValue(p *Process, h abi.Handle, want uint64) {
	r.t.Helper()
	if got := r.value(p, h); got != want {
		r.t.Errorf("fence %#x: %d, want %d", uint32(h), got, want)
	}
}

// A signal behind a wait does not happen before it, whoever releases the wait
// (gpu.md §3-3): a CPU signal, another context.
func TestWaitHoldsSignals(t *testing.T) {
	r := newRig(t)
	a := r.stream()
	b := a.another(r)
	f, g := r.fence(a.p, a.d, 0, 0), r.fence(a.p, a.d, 0, 0)
	r.ok(a.waitGpu(handles(f), values(2)))
	r.ok(a.signalGpu(handles(g), values(7)))
	r.ok(signal(a.p, a.d, 0, handles(f), values(1)))
	r.wantValue(a.p, g, 0)
	r.ok(b.signalGpu(handles(f), values(2)))
	r.wantValue(a.p, g, 7)
	// Satisfied before it is submitted: at once.
	r.ok(b.waitGpu(handles(g, f), values(7, 1)))
	r.ok(b.signalGpu(handles(f), values(3)))
	r.wantValue(a.p, f, 3)
}

// Packets never lower a value without AllowFenceRewind; with it they do.
func TestPacketRewinds(t *testing.T) {
	r := newRig(t)
	s := r.stream()
	f := r.fence(s.p, s.d, 0, 5)
	r.ok(s.signalGpu(handles(f), values(3)))
	r.wantValue(s.p, f, 5)
	r.ok(s.signalGpu2(abi.SignalAllowFenceRewind, handles(s.c), handles(f), values(3)))
	r.wantValue(s.p, f, 3)
}

// A wait looks when it is at the head: a value reached and rewound before is not seen
// (OQ-9, OQ-12).
func TestWaitIsJudgedAtTheHead(t *testing.T) {
	r := newRig(t)
	s := r.stream()
	hold, f, done := r.fence(s.p, s.d, 0, 0), r.fence(s.p, s.d, 0, 0), r.fence(s.p, s.d, 0, 0)
	r.ok(s.waitGpu(handles(hold), values(1)))
	r.ok(s.waitGpu(handles(f), values(5)))
	r.ok(s.signalGpu(handles(done), values(1)))
	r.ok(signal(s.p, s.d, 0, handles(f), values(5)))
	r.ok(signal(s.p, s.d, abi.SignalAllowFenceRewind, handles(f), values(1)))
	r.ok(signal(s.p, s.d, 0, handles(hold), values(1)))
	r.wantValue(s.p, done, 0)
	r.ok(signal(s.p, s.d, 0, handles(f), values(6)))
	r.wantValue(s.p, done, 1)
}

// A broadcast takes effect with the last context, an event is set once, and a context
// that is destroyed counts as having processed the event, not the signal (OQ-48).
func TestBroadcast(t *testing.T) {
	for _, destroyed := range []bool{false, true} {
		r := newRig(t)
		a := r.stream()
		b := a.another(r)
		hold, f := r.fence(a.p, a.d, 0, 0), r.fence(a.p, a.d, 0, 0)
		r.ok(b.waitGpu(handles(hold), values(1)))
		r.ok(a.signalGpu2(0, handles(a.c, b.c), handles(f), values(9)))
		fd, e := r.event()
		r.ok(a.enqueueEvent(fd, a.c, b.c))
		r.wantValue(a.p, f, 0)
		if e.sets != 0 || e.refs != 1 {
			t.Fatalf("the event: %d sets, %d references", e.sets, e.refs)
		}
		want := uint64(9)
		if destroyed {
			r.ok(b.end())
			want = 0
		} else {
			r.ok(signal(a.p, a.d, 0, handles(hold), values(1)))
		}
		r.wantValue(a.p, f, want)
		if e.sets != 1 || e.refs != 0 {
			t.Errorf("destroyed %v: %d sets, %d references", destroyed, e.sets, e.refs)
		}
	}
}

// What is not there, not together, not of this device, not permitted (calls.md §1.1).
func TestQueueRefusals(t *testing.T) {
	r := newRig(t)
	s, other := r.stream(), r.stream()
	f := r.fence(s.p, s.d, 0, 0)
	d2 := r.device(s.p, 0)
	foreign := r.fence(s.p, d2, 0, 0)
	noSignal, noWait := r.fence(s.p, s.d, abi.SyncObjectNoSignal, 0), r.fence(s.p, s.d, abi.SyncObjectNoWait, 0)
	hw := r.context(s.p, s.d, 0, abi.ContextHwQueueSupported)
	bad, denied := abi.StatusInvalidParameter, abi.StatusAccessDenied
	onHw := s
	onHw.c = hw
	for i, c := range []struct {
		got, want abi.Status
	}{
		{s.waitGpu(nil, nil), bad},
		{s.waitGpu(handles(f), nil), bad},
		{s.waitGpu(handles(f, 0x40), values(0, 0)), bad},
		{s.waitGpu(handles(s.c), values(0)), bad},
		{s.waitGpu(handles(foreign), values(0)), bad},
		{s.waitGpu(handles(noWait), values(0)), denied},
		{s.waitGpu(handles(noSignal), values(0)), 0},
		{s.signalGpu(handles(noSignal), values(0)), denied},
		{s.signalGpu(handles(f, noSignal), values(1, 0)), denied},
		{s.signalGpu(handles(noWait), values(1)), 0},
		{s.signalGpu(handles(foreign), values(0)), bad},
		{other.signalGpu(handles(f), values(0)), bad},
		{onHw.signalGpu(handles(f), values(0)), 0},
		{onHw.signalGpu(handles(r.plain(s.p, s.d, abi.Semaphore, abi.FileNone)), nil), bad},
		{s.signalGpu2(0, nil, handles(f), values(0)), bad},
		{s.signalGpu2(0, handles(s.c, s.c), handles(f), values(0)), bad},
		{s.signalGpu2(8, handles(s.c), handles(f), values(0)), bad},
		{s.signalGpu2(abi.SignalEnqueueCpuEvent, handles(s.c), handles(f), values(0)), bad},
		{s.signalGpu2(0, handles(s.c), nil, nil), bad},
		{s.enqueueEvent(-1, s.c), abi.StatusInvalidHandle},
	} {
		if c.got != c.want {
			t.Errorf("%d: %v, want %v", i, c.got, c.want)
		}
	}
	r.wantValue(s.p, f, 0)
}

// A context for hardware queues stands for all of them in waits and signals, and for none
// if there is none (OQ-71).
func TestPacketsOfHardwareContexts(t *testing.T) {
	r := newRig(t)
	s := r.stream()
	s.c = r.context(s.p, s.d, 0, abi.ContextHwQueueSupported)
	gate, out := r.fence(s.p, s.d, 0, 0), r.fence(s.p, s.d, 0, 0)
	r.ok(s.waitGpu(handles(gate), values(1)))
	r.ok(s.signalGpu(handles(out), values(1)))
	r.wantValue(s.p, out, 1)
	var queues [2]abi.Handle
	for i := range queues {
		rec := abi.CreateHwQueue{HHwContext: s.c}
		if _, st := do(s.p, 0x18, &rec, nil); st != 0 {
			t.Fatal(st)
		}
		queues[i] = rec.HHwQueue
	}
	r.ok(s.waitGpu(handles(gate), values(1)))
	for i, q := range queues {
		rec := abi.SubmitSignalSyncObjectsToHwQueue{BroadcastHwQueueCount: 1, ObjectCount: 1}
		_, st := do(s.p, 0x35, &rec, nil, handles(q), handles(out), values(uint64(2+i)))
		r.ok(st)
	}
	r.ok(s.signalGpu(handles(out), values(9)))
	r.wantValue(s.p, out, 1)
	r.ok(signal(s.p, s.d, 0, handles(gate), values(1)))
	r.wantValue(s.p, out, 9)
}

func TestPacketLimit(t *testing.T) {
	r := newRig(t)
	s := r.stream()
	f := r.fence(s.p, s.d, 0, 0)
	for i := range vidsch.MaxPackets {
		if st := s.waitGpu(handles(f), values(1)); st != 0 {
			t.Fatal(i, st)
		}
	}
	if st := s.waitGpu(handles(f), values(1)); st != abi.StatusNoMemory {
		t.Error(st)
	}
	r.ok(signal(s.p, s.d, 0, handles(f), values(1)))
	r.ok(s.waitGpu(handles(f), values(2)))
}

// Order of effects of a loss: fences that the device could signal go up, packets are
// gone, calls are refused (gpu.md §8.4).
func TestLoss(t *testing.T) {
	r := newRig(t)
	a, b := r.stream(), r.stream()
	shared := r.fence(a.p, a.d, shareable, 1)
	fd, st := r.share(a.p, shared, object.GenericAll)
	r.ok(st)
	theirs, st := open(b.p, b.d, fd, 0)
	r.ok(st)
	spared := r.fence(a.p, a.d, abi.SyncObjectNoSignalMaxValueOnTdr, 4)
	noSignal := r.fence(a.p, a.d, abi.SyncObjectNoSignal, 4)
	out := r.fence(b.p, b.d, 0, 0)
	r.ok(b.waitGpu(handles(theirs), values(100)))
	r.ok(b.signalGpu(handles(out), values(1)))
	r.ok(a.waitGpu(handles(spared), values(100)))
	fdE, e := r.event()
	r.ok(a.enqueueEvent(fdE, a.c))
	mark := abi.MarkDeviceAsError{HDevice: a.d, Reason: abi.DeviceErrorGeneric}
	if _, st := do(a.p, 0x26, &mark, nil); st != 0 {
		t.Fatal(st)
	}
	r.wantValue(b.p, theirs, math.MaxUint64)
	r.wantValue(b.p, out, 1)
	r.wantValue(a.p, spared, 4)
	r.wantValue(a.p, noSignal, 4)
	if e.sets != 1 {
		t.Errorf("the event was set %d times", e.sets)
	}
	if a.state() != abi.DeviceExecutionHung || b.state() != abi.DeviceExecutionActive {
		t.Errorf("states %v and %v", a.state(), b.state())
	}
	removed := abi.StatusDeviceRemoved
	sub := abi.SubmitCommand{BroadcastContextCount: 1}
	sub.BroadcastContext[0] = a.c
	_, submitted := do(a.p, 0x0F, &sub, nil)
	for what, c := range map[string]struct{ got, want abi.Status }{
		"submit":     {submitted, abi.StatusGraphicsGpuExceptionOnDevice},
		"gpu wait":   {a.waitGpu(handles(spared), values(1)), removed},
		"gpu signal": {a.signalGpu(handles(shared), values(1)), removed},
		"cpu signal": {signal(a.p, a.d, 0, handles(shared), values(math.MaxUint64)), removed},
		"cpu wait":   {waitEvent(a.p, a.d, 0, fdE, handles(shared), values(1)), removed},
		"destroy":    {destroy(a.p, shared), 0},
		"context":    {a.end(), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", what, c.got, c.want)
		}
	}
	rec := abi.CreateContextVirtual{HDevice: a.d}
	if _, st := do(a.p, 0x04, &rec, nil); st != removed {
		t.Errorf("create context: %v", st)
	}
	if _, st := do(a.p, 0x26, &mark, nil); st != 0 {
		t.Errorf("a second mark: %v", st)
	}
}

// A process that dies with a signal queued for a fence that it only opened spoils it: the
// signal cannot come any more (OQ-42).
func TestDeathWithQueuedSignal(t *testing.T) {
	for _, flags := range []abi.SyncObjectFlags{0, abi.SyncObjectNoSignalMaxValueOnTdr} {
		r := newRig(t)
		a, b := r.stream(), r.stream()
		mine, idle := r.fence(a.p, a.d, shareable, 1), r.fence(a.p, a.d, shareable, 1)
		fd, _ := r.share(a.p, mine, object.GenericAll)
		fd2, _ := r.share(a.p, idle, object.GenericAll)
		theirs, st := open(b.p, b.d, fd, flags)
		r.ok(st)
		_, st = open(b.p, b.d, fd2, 0)
		r.ok(st)
		hold := r.fence(b.p, b.d, 0, 0)
		r.ok(b.waitGpu(handles(hold), values(1)))
		r.ok(b.signalGpu(handles(theirs), values(2)))
		b.p.Exit()
		want := uint64(math.MaxUint64)
		if flags != 0 {
			want = 1
		}
		r.wantValue(a.p, mine, want)
		r.wantValue(a.p, idle, 1)
	}
}

// BenchmarkChain measures a link of a chain: a wait and the signal that satisfies the
// next wait, resolved by one signal.
func BenchmarkChain(b *testing.B) {
	r := newRig(b)
	s := r.stream()
	const links = 1000
	for _, queues := range []int{1, 2} {
		streams := []stream{s, s.another(r)}[:queues]
		b.Run([]string{"", "one", "two"}[queues], func(b *testing.B) {
			b.ReportAllocs()
			for n := 0; n < b.N; n += links {
				b.StopTimer()
				f := r.fence(s.p, s.d, 0, 0)
				for i := range uint64(links) {
					q := streams[int(i)%queues]
					r.ok(q.waitGpu(handles(f), values(i+1)))
					r.ok(q.signalGpu(handles(f), values(i+2)))
				}
				b.StartTimer()
				r.ok(signal(s.p, s.d, 0, handles(f), values(1)))
				b.StopTimer()
				if got := r.value(s.p, f); got != links+1 {
					b.Fatal(got)
				}
				destroy(s.p, f)
				b.StartTimer()
			}
		})
	}
}

// BenchmarkSubmit measures what it costs to queue a wait and a signal.
func BenchmarkSubmit(b *testing.B) {
	r := newRig(b)
	s := r.stream()
	f := r.fence(s.p, s.d, 0, 1)
	h, v := handles(f), values(1)
	b.ReportAllocs()
	for b.Loop() {
		s.waitGpu(h, v)
		s.signalGpu(h, v)
	}
}
