package kernel

import (
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// The example of native-fence.md §10, with the software GPU: one queue waits for what
// another signals, and nobody told the kernel.
func TestFenceLogOfQueues(t *testing.T) {
	r := newBellRig(t, func(p *adapter.Profile) { p.GpuClock = 100_000_000 }) // a tick is 10 ns
	rec := abi.CreateNativeFence{HDevice: r.d}
	_, st := do(r.p, 0x800E, &rec, nil)
	r.ok(st)
	f, at := rec.HSyncObject, rec.Info.NativeFenceMapping
	waits, signals := r.bell(), r.bell()
	r.ok(waits.connect())
	r.ok(signals.connect())
	waits.put(cmdbuf.New().Wait(at.CurrentValueGpuVa, 7, uint32(f)))
	r.run(short)
	s := r.k.Snapshot()
	i := slices.IndexFunc(s.Queues, func(q QueueRow) bool { return q.Handle == waits.queue })
	if w := s.Queues[i].Waits; len(w) != 1 || w[0].Kind != "native-fence" || w[0].Value != 0 || w[0].Target != 7 || !w[0].AtGPU || !s.Queues[i].Log {
		t.Errorf("the queue waits for %+v", s.Queues[i])
	}
	r.run(1_000_000)
	signals.put(cmdbuf.New().SignalNative(at.CurrentValueGpuVa, 7, at.MonitoredValueGpuVa, uint32(f)))
	r.run(short)
	waits.want("after the signal", abi.DoorbellConnected, 1)

	ask := func(q abi.FenceLog) FenceLogReport {
		t.Helper()
		report, st := r.k.FenceLog(q, 0, true)
		r.ok(st)
		return report
	}
	report := ask(abi.FenceLog{})
	if len(report.Queues) != 2 || report.Queues[0].Entries != 84 || report.Queues[0].Lost+report.Queues[0].Wrong != 0 {
		t.Errorf("%+v", report.Queues)
	}
	var events []FenceEventRow
	for _, e := range report.Events {
		if e.Fence == f {
			events = append(events, e)
		}
	}
	if len(events) != 2 {
		t.Fatalf("%+v", report.Events)
	}
	signal, unblocked := events[0], events[1]
	serial := r.p.table.Get(f).(*local).fence.serial
	if signal.Operation != "SIGNAL_EXECUTED" || signal.Value != 7 || signal.Object != serial || signal.Queue != signals.queue || signal.End == 0 || signal.PID != r.p.Info.PID {
		t.Errorf("%+v", signal)
	}
	if unblocked.Operation != "WAIT_UNBLOCKED" || unblocked.Value != 7 || unblocked.Object != serial || unblocked.Queue != waits.queue {
		t.Errorf("%+v", unblocked)
	}
	if unblocked.End < signal.End || unblocked.Waited < 1_000_000 || unblocked.Time != int64(unblocked.End)*10 || unblocked.Age != *r.clock-unblocked.Time {
		t.Errorf("at %d: %+v", *r.clock, unblocked)
	}
	if only := ask(abi.FenceLog{PID: uint32(r.p.Info.PID), Handle: signals.queue}); len(only.Queues) != 1 || slices.ContainsFunc(only.Events, func(e FenceEventRow) bool { return e.Queue != signals.queue }) {
		t.Errorf("of one queue: %+v", only)
	}
	if none := ask(abi.FenceLog{After: report.Last}); len(none.Events) != 0 || none.Last != report.Last {
		t.Errorf("nothing new: %+v", none)
	}
	ask(abi.FenceLog{Entries: 500})
	buf := cmdbuf.New()
	for v := range uint64(3) {
		buf.SignalNative(at.CurrentValueGpuVa, 8+v, at.MonitoredValueGpuVa, uint32(f))
	}
	signals.put(buf)
	r.run(short)
	var values []uint64
	more := ask(abi.FenceLog{After: report.Last})
	for _, e := range more.Events {
		if e.Fence == f {
			values = append(values, e.Value)
		}
	}
	if !slices.Equal(values, []uint64{8, 9, 10}) || more.Queues[0].Entries < 500 {
		t.Errorf("in larger logs: %v, %+v", values, more.Queues)
	}
}

func TestFenceLogRefusals(t *testing.T) {
	r := newBellRig(t, nil)
	b := r.bell()
	r.p.Info.PID, r.p.Info.UID = 10, 1000
	plain := r.rig.context(r.p, r.d, 0, 0)
	for _, c := range []struct {
		name string
		q    abi.FenceLog
		uid  uint32
		all  bool
		want abi.Status
		n    int
	}{
		{"all", abi.FenceLog{}, 0, true, abi.StatusSuccess, 1},
		{"his own", abi.FenceLog{}, 1000, false, abi.StatusSuccess, 1},
		{"somebody else's", abi.FenceLog{}, 1001, false, abi.StatusSuccess, 0},
		{"somebody else's process", abi.FenceLog{PID: 10}, 1001, false, abi.StatusInvalidParameter, 0},
		{"a queue", abi.FenceLog{PID: 10, Handle: b.queue}, 1000, false, abi.StatusSuccess, 1},
		{"no such process", abi.FenceLog{PID: 11}, 0, true, abi.StatusInvalidParameter, 0},
		{"a context", abi.FenceLog{PID: 10, Handle: plain}, 0, true, abi.StatusInvalidParameter, 0},
		{"a queue of nobody", abi.FenceLog{Handle: b.queue}, 0, true, abi.StatusInvalidParameter, 0},
		{"larger", abi.FenceLog{Entries: 1 << 31}, 0, true, abi.StatusSuccess, 1},
		{"larger without being trusted", abi.FenceLog{Entries: 100}, 1000, false, abi.StatusAccessDenied, 0},
	} {
		if report, st := r.k.FenceLog(c.q, c.uid, c.all); st != c.want || len(report.Queues) != c.n {
			t.Errorf("%s: %v, %+v; want %v and %d queues", c.name, st, report, c.want, c.n)
		}
	}
	r.p.Info.UID = 0 // whom what it has counts for
}

// With the optimized interrupt of native-fence.md §6 the GPU names a queue, and the kernel
// reads its log: for history nobody has to ask, and who waits is released.
func TestOptimizedInterruptOfTheGPU(t *testing.T) {
	for _, interrupt := range []adapter.NativeInterrupt{adapter.InterruptArray, adapter.InterruptAny, adapter.InterruptQueue, adapter.InterruptLegacy} {
		r := newBellRig(t, func(p *adapter.Profile) { p.NativeFence.Interrupt = interrupt })
		rec := abi.CreateNativeFence{HDevice: r.d}
		_, st := do(r.p, 0x800E, &rec, nil)
		r.ok(st)
		f, at := rec.HSyncObject, rec.Info.NativeFenceMapping
		b := r.bell()
		r.ok(b.connect())
		kept := func() (n int) {
			for _, v := range r.p.table.Get(b.queue).(*hwQueue).logs.history.since(0) {
				if v.handle == f {
					n++
				}
			}
			return n
		}
		fd, e := r.event()
		r.ok(waitEvent(r.p, r.d, 0, fd, handles(f), values(3)))
		signal := func(v uint64) {
			b.put(cmdbuf.New().SignalNative(at.CurrentValueGpuVa, v, at.MonitoredValueGpuVa, uint32(f)))
			r.run(short)
		}
		signal(1)
		signal(2)
		if e.sets != 0 || kept() != 0 {
			t.Errorf("%v: before anybody was to be told: %d, %d read", interrupt, e.sets, kept())
		}
		signal(3)
		if e.sets != 1 || kept() != 3 {
			t.Errorf("%v: the wait ended %d times, %d events were read", interrupt, e.sets, kept())
		}
	}
}
