package kernel

import (
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// A queue says what holds it up; an engine, what it runs.
func TestQueuesInListings(t *testing.T) {
	r := newClockRig(t)
	p, busy := r.worker(10, 0), r.worker(11, 1)
	_, st := do(p.p, 0x30, &abi.SetContextSchedulingPriority{HContext: p.c, Priority: 3}, nil)
	r.ok(st)
	_, st = do(p.p, 0x2F, &abi.SetContextInProcessSchedulingPriority{HContext: p.c, Priority: 1}, nil)
	r.ok(st)
	r.ok(signal(p.p, p.d, 0, handles(p.fence), values(5)))
	r.ok(p.waitGpu(handles(p.fence), values(8)))
	r.ok(p.signalGpu(handles(p.fence), values(9)))
	r.provoke(abi.ProvokeFault{Kind: abi.FaultHang, PID: 11})
	r.now += 100
	r.work(busy)
	r.pass(0)
	r.now += 1000

	s := r.k.Snapshot()
	at := func(h abi.Handle) QueueRow {
		i := slices.IndexFunc(s.Queues, func(q QueueRow) bool { return q.Handle == h && q.Process == p.p.id || q.PID == 11 && h == 0 })
		if i < 0 {
			t.Fatalf("no queue %v in %+v", h, s.Queues)
		}
		return s.Queues[i]
	}
	if q := at(p.c); q.Kind != "context" || q.PID != 10 || q.Device != p.d || q.Engine != "0.0" || q.Priority != 3 || !q.InFront || q.Packets != 2 || q.AtGPU != 0 || q.Age != 1100 ||
		len(q.Waits) != 1 || q.Waits[0] != (QueuePointRow{q.Waits[0].Object, "monitored-fence", 5, 8, false}) || q.Waits[0].Object == 0 {
		t.Errorf("%+v", q)
	}
	if q := at(0); q.Packets != 2 || q.AtGPU != 1 || q.Waits != nil {
		t.Errorf("%+v", q)
	}
	if e := s.Engines[1]; e.State != "running" || e.PID != 11 || e.Queue != busy.c || e.Age != 1000 || e.AtGPU != 1 || e.Ready != 0 {
		t.Errorf("%+v", e)
	}
	if e := s.Engines[0]; e.State != "idle" || e.PID != 0 || e.Age != 0 {
		t.Errorf("%+v", e)
	}
	of := s.Of(10)
	if len(of.Queues) != 1 || len(of.Devices) != 1 || of.Engines[1].PID != 0 || of.Engines[1].Queue != 0 || of.Engines[1].State != "running" {
		t.Errorf("another user sees %+v, %+v, %+v", of.Queues, of.Devices, of.Engines)
	}
}

// Hardware queues stand behind their context.
func TestHardwareQueuesInListings(t *testing.T) {
	r := newRig(t, "nvidia")
	p := r.process()
	d := r.device(p, 0)
	c := r.context(p, d, 0, abi.ContextHwQueueSupported)
	rec := abi.CreateHwQueue{HHwContext: c}
	_, st := do(p, 0x18, &rec, nil, nil)
	r.ok(st)
	s := r.k.Snapshot()
	if len(s.Queues) != 2 || s.Queues[0].Kind != "hw-context" || s.Queues[0].Handle != c || s.Queues[1].Kind != "hw-queue" ||
		s.Queues[1].Handle != rec.HHwQueue || s.Queues[1].Context != c {
		t.Errorf("%+v", s.Queues)
	}
	for what, f := range map[string]abi.ProvokeFault{"queue": {PID: 1, Handle: rec.HHwQueue}, "context": {PID: 1, Handle: c}} {
		f.Kind = abi.FaultHang
		report, st := r.k.Provoke(f)
		if want := map[string]int{"queue": 1, "context": 2}[what]; !st.OK() || len(report.Queues) != want {
			t.Errorf("%s: %v, %+v", what, st, report)
		}
	}
}
