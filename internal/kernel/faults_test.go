package kernel

import (
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/syncobj"
)

// pass lets time go by, from one moment when something is due to the next.
func (r *clockRig) pass(d int64) {
	r.t.Helper()
	r.rig.pass(&r.now, d)
}

// A worker is a process with a device and a context on a node, and a fence that it
// signals from there.
type worker struct {
	stream
	fence abi.Handle
	value uint64
}

func (r *clockRig) worker(pid int, node uint32) *worker {
	r.t.Helper()
	p, st := r.k.Attach(ProcessInfo{PID: pid, Name: "worker", UID: uint32(pid)})
	if !st.OK() {
		r.t.Fatal(st)
	}
	s := stream{p: p, d: r.device(p, 0)}
	s.c = r.context(p, s.d, node, 0)
	return &worker{stream: s, fence: r.rig.fence(p, s.d, 0, 0)}
}

// work submits an empty command buffer and a signal behind it.
func (r *clockRig) work(p *worker) {
	r.t.Helper()
	p.value++
	rec := abi.SubmitCommand{BroadcastContextCount: 1}
	rec.BroadcastContext[0] = p.c
	_, st := do(p.p, 0x0F, &rec, nil, nil, nil)
	r.ok(st)
	r.ok(p.signalGpu(handles(p.fence), values(p.value)))
}

func (r *clockRig) wantState(p *worker, want abi.DeviceExecutionState) {
	r.t.Helper()
	if got := p.state(); got != want {
		r.t.Errorf("process %d: %v, want %v", p.p.Info.PID, got, want)
	}
}

func (r *clockRig) provoke(f abi.ProvokeFault) FaultReport {
	r.t.Helper()
	report, st := r.k.Provoke(f)
	r.ok(st)
	return report
}

const (
	quantum  = 20_000_000
	tdrDelay = 2_000_000_000
)

// One hung process never delays another beyond what the specification says: behind it on
// the same engine for a quantum and TdrDelay, elsewhere not at all.
func TestHangOfAProcess(t *testing.T) {
	r := newClockRig(t)
	guilty, behind, elsewhere := r.worker(10, 0), r.worker(11, 0), r.worker(12, 1)
	report := r.provoke(abi.ProvokeFault{Kind: abi.FaultHang, PID: 10})
	if len(report.Queues) != 1 || report.Queues[0].Handle != guilty.c || report.Kind != "hang" {
		t.Errorf("%+v", report)
	}
	r.work(guilty)
	for range 3 {
		r.work(behind)
		r.work(elsewhere)
	}
	r.pass(0)
	r.wantValue(elsewhere.p, elsewhere.fence, 3)
	r.pass(quantum + tdrDelay - 1)
	r.work(elsewhere)
	r.pass(0)
	r.wantValue(elsewhere.p, elsewhere.fence, 4)
	r.wantValue(behind.p, behind.fence, 0)
	r.wantState(guilty, abi.DeviceExecutionActive)
	r.pass(1)
	r.wantValue(behind.p, behind.fence, 3)
	r.wantValue(guilty.p, guilty.fence, syncobj.Max)
	r.wantState(guilty, abi.DeviceExecutionHung)
	r.wantState(behind, abi.DeviceExecutionActive)
	s := r.k.Snapshot()
	if len(s.Incidents) != 1 {
		t.Fatalf("%+v", s.Incidents)
	}
	if i := s.Incidents[0]; i.What != "engine reset" || i.Code != 0x141 || i.Engine != "0.0" || i.PID != 10 || i.Name != "worker" {
		t.Errorf("%+v", i)
	}
	if i := s.Of(11).Incidents[0]; i.PID != 0 || i.Name != "" || i.Code != 0x141 {
		t.Errorf("another user sees %+v", i)
	}
}

// A hang of an engine takes whoever is there next.
func TestHangOfAnEngine(t *testing.T) {
	r := newClockRig(t)
	p := r.worker(10, 0)
	a := r.k.adapters[0].LUID
	if got := r.provoke(abi.ProvokeFault{Kind: abi.FaultHang, AdapterLuid: a, Node: 1}).Engines; !slices.Equal(got, []string{"1.0"}) {
		t.Errorf("%q", got)
	}
	r.work(p)
	r.pass(0)
	r.wantValue(p.p, p.fence, 1)
	if got := r.provoke(abi.ProvokeFault{Kind: abi.FaultHang, AdapterLuid: a, Node: abi.FaultEveryNode}).Engines; len(got) != len(r.k.adapters[0].Profile.Nodes) {
		t.Errorf("%q", got)
	}
	r.work(p)
	r.pass(quantum + tdrDelay)
	r.wantState(p, abi.DeviceExecutionHung)
}

func TestPageFaultOnRequest(t *testing.T) {
	for what, f := range map[string]func(p *worker) abi.ProvokeFault{
		"process": func(*worker) abi.ProvokeFault { return abi.ProvokeFault{PID: 10} },
		"device":  func(p *worker) abi.ProvokeFault { return abi.ProvokeFault{PID: 10, Handle: p.d} },
		"context": func(p *worker) abi.ProvokeFault { return abi.ProvokeFault{PID: 10, Handle: p.c} },
		"engine":  func(*worker) abi.ProvokeFault { return abi.ProvokeFault{AdapterLuid: abi.LUID{LowPart: luidBase}} },
	} {
		t.Run(what, func(t *testing.T) {
			r := newClockRig(t)
			p, other := r.worker(10, 0), r.worker(11, 0)
			q := f(p)
			q.Kind, q.Address = abi.FaultPage, 0xdead000
			r.provoke(q)
			r.work(p)
			r.work(other)
			r.pass(0)
			r.wantState(p, abi.DeviceExecutionDMAPageFault)
			r.wantState(other, abi.DeviceExecutionActive)
			r.wantValue(other.p, other.fence, 1)
			rows := r.k.Snapshot().Devices
			i := slices.IndexFunc(rows, func(d DeviceRow) bool { return d.PID == 10 })
			if rows[i].State != "ERROR_DMAPAGEFAULT" || rows[i].FaultAddress != 0xdead000 {
				t.Errorf("%+v", rows[i])
			}
		})
	}
}

func TestResetOnRequest(t *testing.T) {
	r := newClockRig(t)
	p, other := r.worker(10, 0), r.worker(11, 0)
	a := r.k.adapters[0].LUID
	if got := r.provoke(abi.ProvokeFault{Kind: abi.FaultReset, PID: 10}).Devices; len(got) != 1 || got[0].PID != 10 || got[0].State != "HUNG" {
		t.Errorf("%+v", got)
	}
	r.wantState(p, abi.DeviceExecutionHung)
	r.wantState(other, abi.DeviceExecutionActive)
	for range 20 { // more than TdrLimitCount: they do not count
		if got := r.provoke(abi.ProvokeFault{Kind: abi.FaultReset, AdapterLuid: a}).Devices; len(got) != 1 || got[0].PID != 11 || got[0].State != "RESET" {
			t.Fatalf("%+v", got)
		}
		other = r.worker(11, 0)
		r.work(other)
		r.pass(0)
		r.wantValue(other.p, other.fence, 1)
	}
	if got := r.provoke(abi.ProvokeFault{Kind: abi.FaultRemove, AdapterLuid: a}).Devices; len(got) != 1 || got[0].State != "STOPPED" {
		t.Errorf("%+v", got)
	}
	r.wantState(other, abi.DeviceExecutionStopped)
	s := r.k.Snapshot()
	if i := s.Incidents[len(s.Incidents)-1]; i.What != "adapter removed" || i.Code != 0 || !s.Adapters[0].Stopped || s.Engines[0].State != "stopped" {
		t.Errorf("%+v, %+v, %+v", i, s.Adapters, s.Engines)
	}
}

// What is asked for and cannot be is refused, and changes nothing.
func TestFaultsRefused(t *testing.T) {
	r := newClockRig(t)
	p := r.worker(10, 0)
	bare, st := r.k.Attach(ProcessInfo{PID: 20})
	r.ok(st)
	luid := r.k.adapters[0].LUID
	invalid := map[string]abi.ProvokeFault{
		"no kind":                     {AdapterLuid: luid},
		"an unknown kind":             {Kind: 6, AdapterLuid: luid},
		"no adapter":                  {Kind: abi.FaultReset},
		"an unknown adapter":          {Kind: abi.FaultHang, AdapterLuid: abi.LUID{LowPart: 1}},
		"no such node":                {Kind: abi.FaultHang, AdapterLuid: luid, Node: 99},
		"no such engine":              {Kind: abi.FaultPage, AdapterLuid: luid, Engine: 1},
		"no such process":             {Kind: abi.FaultHang, PID: 77},
		"no such handle":              {Kind: abi.FaultHang, PID: 10, Handle: 0x4},
		"a fence":                     {Kind: abi.FaultReset, PID: 10, Handle: p.fence},
		"a handle without process":    {Kind: abi.FaultReset, Handle: p.c},
		"another process's handle":    {Kind: abi.FaultReset, PID: 20, Handle: p.c},
		"removing a process":          {Kind: abi.FaultRemove, PID: 10},
		"resetting one without any":   {Kind: abi.FaultReset, PID: 20},
		"hanging one without context": {Kind: abi.FaultHang, PID: 30},
	}
	without := r.worker(30, 0)
	r.ok(without.end())
	for what, f := range invalid {
		if report, st := r.k.Provoke(f); st != abi.StatusInvalidParameter || report.Kind != "" {
			t.Errorf("%s: %v, %+v", what, st, report)
		}
	}
	r.work(p)
	r.pass(hour)
	r.wantValue(p.p, p.fence, 1)
	r.wantState(p, abi.DeviceExecutionActive)
	bare.Exit()

	r.provoke(abi.ProvokeFault{Kind: abi.FaultReset, PID: 10, Handle: p.c})
	for _, kind := range []abi.FaultKind{abi.FaultReset, abi.FaultHang, abi.FaultPage} {
		if _, st := r.k.Provoke(abi.ProvokeFault{Kind: kind, PID: 10}); st != abi.StatusDeviceRemoved {
			t.Errorf("%v of what is lost: %v", kind, st)
		}
	}
	r.provoke(abi.ProvokeFault{Kind: abi.FaultRemove, AdapterLuid: luid})
	for _, kind := range []abi.FaultKind{abi.FaultReset, abi.FaultHang, abi.FaultPage, abi.FaultRemove} {
		if _, st := r.k.Provoke(abi.ProvokeFault{Kind: kind, AdapterLuid: luid}); st != abi.StatusDeviceRemoved {
			t.Errorf("%v of an adapter that is removed: %v", kind, st)
		}
	}
}

// A driver that cannot be made to fail is said to be one; what needs no driver works.
func TestFaultsWithoutADriverForThem(t *testing.T) {
	r := newRig(t)
	k, err := New(Config{Host: r.host, Driver: func(*adapter.Profile) ddi.Driver { return &plainDriver{} }})
	if err != nil {
		t.Fatal(err)
	}
	r.k = k
	s := r.stream()
	for _, f := range []abi.ProvokeFault{{AdapterLuid: k.adapters[0].LUID}, {PID: 1}} {
		for _, kind := range []abi.FaultKind{abi.FaultHang, abi.FaultPage} {
			f.Kind = kind
			if _, st := k.Provoke(f); st != abi.StatusNotSupported {
				t.Errorf("%+v: %v", f, st)
			}
		}
	}
	if _, st := k.Provoke(abi.ProvokeFault{Kind: abi.FaultReset, PID: 1}); !st.OK() || s.state() != abi.DeviceExecutionHung {
		t.Errorf("%v, %v", st, s.state())
	}
}

// A plainDriver has devices and contexts, and nothing happens there.
type plainDriver struct{ ddi.Refusals }

func (*plainDriver) StartDevice(ddi.Callbacks) abi.Status { return abi.StatusSuccess }
func (*plainDriver) StopDevice()                          {}
func (*plainDriver) Caps() ddi.Caps                       { return 0 }
func (*plainDriver) Advance(int64)                        {}
func (*plainDriver) Next() (int64, bool)                  { return 0, false }

// A hardware queue of a worker, which signals the worker's fence.
func (r *clockRig) hwWorker(pid int) (p *worker, work func()) {
	r.t.Helper()
	p = r.worker(pid, 0)
	rec := abi.CreateHwQueue{HHwContext: r.context(p.p, p.d, 0, abi.ContextHwQueueSupported)}
	_, st := do(p.p, 0x18, &rec, nil, nil)
	r.ok(st)
	return p, func() {
		r.t.Helper()
		p.value++
		_, st := do(p.p, 0x34, &abi.SubmitCommandToHwQueue{HHwQueue: rec.HHwQueue, HwQueueProgressFenceId: p.value}, nil, nil, nil)
		r.ok(st)
		signal := abi.SubmitSignalSyncObjectsToHwQueue{ObjectCount: 1, BroadcastHwQueueCount: 1}
		_, st = do(p.p, 0x35, &signal, nil, handles(rec.HHwQueue), handles(p.fence), values(p.value))
		r.ok(st)
	}
}

// The same bound holds between hardware queues, and between them and contexts.
func TestHangOfAHardwareQueue(t *testing.T) {
	r := newClockRig(t)
	guilty, hang := r.hwWorker(10)
	behind, work := r.hwWorker(11)
	software, elsewhere := r.worker(12, 0), r.worker(13, 1)
	r.provoke(abi.ProvokeFault{Kind: abi.FaultHang, PID: 10})
	hang()
	r.pass(0)
	for range 3 {
		work()
		r.work(software)
		r.work(elsewhere)
	}
	r.pass(0)
	r.wantValue(elsewhere.p, elsewhere.fence, 3)
	r.wantValue(behind.p, behind.fence, 0)
	r.pass(quantum + tdrDelay)
	r.wantValue(behind.p, behind.fence, 3)
	r.wantValue(software.p, software.fence, 3)
	r.wantValue(guilty.p, guilty.fence, syncobj.Max)
	r.wantState(guilty, abi.DeviceExecutionHung)
	for _, p := range []*worker{behind, software, elsewhere} {
		r.wantState(p, abi.DeviceExecutionActive)
	}
}
