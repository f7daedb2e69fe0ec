package kernel

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// ask asks for statistics and returns the result.
func (p owner) ask(kind uint32, luid abi.LUID, process uint64, segment uint32) (statistics, abi.Status) {
	var rec abi.QueryStatistics
	rec.Raw[0] = uint64(kind) | uint64(luid.LowPart)<<32
	rec.Raw[1] = uint64(uint32(luid.HighPart))
	rec.Raw[2] = process
	for i := 3; i < 100; i++ {
		rec.Raw[i] = 0xABABABABABABABAB // what was there does not stay
	}
	rec.Raw[100] = uint64(segment)
	r, st := do(p.Process, 0x43, &rec, nil)
	return statistics(r.Record[statisticsResult:statisticsRequest]), st
}

func (s statistics) get32(off int) uint32 { return binary.LittleEndian.Uint32(s[off:]) }
func (s statistics) get64(off int) uint64 { return binary.LittleEndian.Uint64(s[off:]) }

func TestStatistics(t *testing.T) {
	r := newRig(t, "nvidia", "intel")
	p := r.owner()
	discrete, integrated := r.k.adapters[0], r.k.adapters[1]
	own := (discrete.Profile.Memory.DedicatedVideo + discrete.Profile.Memory.DedicatedSystem) << 20
	want := func(what string, got, want uint64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	s, st := p.ask(statisticsAdapter, discrete.LUID, 0, 0)
	r.ok(st)
	want("segments", uint64(s.get32(0)), 2)
	want("nodes", uint64(s.get32(4)), uint64(len(discrete.Profile.Nodes)))
	want("sources", uint64(s.get32(8)), uint64(discrete.Profile.Sources()))
	want("recoveries", uint64(s.get32(16)), 0)
	want("the rest", s.get64(768), 0)
	if _, st := r.k.Provoke(abi.ProvokeFault{Kind: abi.FaultReset, AdapterLuid: discrete.LUID}); !st.OK() {
		t.Fatal(st)
	}
	s, _ = p.ask(statisticsAdapter, discrete.LUID, currentProcess, 0)
	want("recoveries", uint64(s.get32(16)), 1)
	for i, size := range []uint64{own, discrete.Profile.Memory.SharedSystem << 20} {
		s, st = p.ask(statisticsSegment, discrete.LUID, 0, uint32(i))
		r.ok(st)
		want("commit limit", s.get64(0), size)
		want("aperture", uint64(s.get32(40)), uint64(i))
	}
	for kind := range uint32(statisticsProcessSegment + 1) {
		if _, st := p.ask(kind, integrated.LUID, 0, 0); !st.OK() {
			t.Errorf("type %d: %v", kind, st)
		}
	}
	for what, c := range map[string]struct {
		kind    uint32
		luid    abi.LUID
		process uint64
		segment uint32
		want    abi.Status
	}{
		"no such type":       {statisticsLast + 1, discrete.LUID, 0, 0, abi.StatusInvalidParameter},
		"no such adapter":    {statisticsAdapter, abi.LUID{LowPart: 7}, 0, 0, abi.StatusInvalidParameter},
		"another process":    {statisticsProcess, discrete.LUID, 4711, 0, abi.StatusInvalidHandle},
		"nobody counts":      {5, discrete.LUID, 0, 0, abi.StatusNotSupported},
		"no such segment":    {statisticsSegment, discrete.LUID, 0, 2, abi.StatusInvalidParameter},
		"nor of the process": {statisticsProcessSegment, discrete.LUID, 0, 1 << 31, abi.StatusInvalidParameter},
	} {
		s, st := p.ask(c.kind, c.luid, c.process, c.segment)
		if st != c.want || s.get64(0) != 0xABABABABABABABAB {
			t.Errorf("%s: %v, record %#x", what, st, s.get64(0))
		}
	}
	r.provokeRemoval(discrete)
	if _, st := p.ask(statisticsAdapter, discrete.LUID, 0, 0); st != abi.StatusInvalidParameter {
		t.Errorf("of a removed adapter: %v", st)
	}
}

func (r *rig) provokeRemoval(a *Adapter) {
	r.t.Helper()
	if _, st := r.k.Provoke(abi.ProvokeFault{Kind: abi.FaultRemove, AdapterLuid: a.LUID}); !st.OK() {
		r.t.Fatal(st)
	}
}

func TestClockCalibration(t *testing.T) {
	r := newClockRig(t)
	r.now = 5_000_000_000
	p := r.process
	open := abi.OpenAdapterFromLuid{AdapterLuid: r.k.adapters[0].LUID}
	_, st := do(p, 0x01, &open, nil)
	r.ok(st)
	ask := func(h abi.Handle, node, physical uint32) (*abi.QueryClockCalibration, abi.Status) {
		rec := &abi.QueryClockCalibration{}
		rec.HAdapter.Set(uint32(h))
		rec.NodeOrdinal.Set(node)
		rec.PhysicalAdapterIndex.Set(physical)
		_, st := do(p, 0x3D, rec, nil)
		return rec, st
	}
	rec, st := ask(open.HAdapter, 1, 0)
	r.ok(st)
	hz, ticks := rec.ClockData.GpuFrequency.Get(), rec.ClockData.GpuClockCounter.Get()
	if cpu := rec.ClockData.CpuClockCounter.Get(); cpu != 5_000_000_000 || hz == 0 || ticks != 5*hz {
		t.Errorf("%d Hz, at %d when the CPU is at %d", hz, ticks, cpu)
	}
	for what, c := range map[string][3]uint32{"no handle": {0, 0, 0}, "a device": {uint32(r.device(p, 0)), 0, 0}, "no such node": {uint32(open.HAdapter), 99, 0}, "no such GPU": {uint32(open.HAdapter), 0, 1}} {
		if _, st := ask(abi.Handle(c[0]), c[1], c[2]); st != abi.StatusInvalidParameter {
			t.Errorf("%s: %v", what, st)
		}
	}
	r.provokeRemoval(r.k.adapters[0])
	if _, st := ask(open.HAdapter, 0, 0); st != abi.StatusDeviceRemoved {
		t.Errorf("of a removed adapter: %v", st)
	}
}

// A driver without a clock says so, and the record stays.
func TestNoClock(t *testing.T) {
	r := newRig(t)
	k, err := New(Config{Host: r.host, Driver: func(*adapter.Profile) ddi.Driver { return &plainDriver{} }})
	if err != nil {
		t.Fatal(err)
	}
	r.k = k
	p := r.process()
	open := abi.OpenAdapterFromLuid{AdapterLuid: k.adapters[0].LUID}
	_, st := do(p, 0x01, &open, nil)
	r.ok(st)
	rec := &abi.QueryClockCalibration{}
	rec.HAdapter.Set(uint32(open.HAdapter))
	rec.ClockData.GpuFrequency.Set(7)
	if _, st := do(p, 0x3D, rec, nil); st != abi.StatusNotSupported || rec.ClockData.GpuFrequency.Get() != 7 {
		t.Errorf("%v, %+v", st, rec)
	}
}

// Processes that use an adapter are listed to their user, and to root.
func TestEnumProcesses(t *testing.T) {
	r := newRig(t, "neutral", "amd")
	attach := func(pid int, uid uint32) *Process {
		p, st := r.k.Attach(ProcessInfo{PID: pid, UID: uid})
		r.ok(st)
		return p
	}
	root, a, b, other, idle := attach(1, 0), attach(20, 5), attach(10, 5), attach(30, 6), attach(40, 5)
	for _, p := range []*Process{a, b, other} {
		r.device(p, 0)
		r.device(p, 0)
	}
	luid := r.k.adapters[0].LUID
	list := func(p *Process, luid abi.LUID, room uint64) ([]uint32, abi.Status) {
		rec := abi.EnumProcesses{AdapterLuid: luid, BufferCount: room}
		var buf []byte
		if room > 0 {
			buf = make([]byte, 4*room)
		}
		_, st := do(p, 0x48, &rec, nil, buf)
		if !st.OK() {
			if rec.BufferCount != room {
				t.Errorf("a refusal writes %d", rec.BufferCount)
			}
			return nil, st
		}
		got := make([]uint32, rec.BufferCount)
		for i := range got {
			if buf != nil {
				got[i] = binary.LittleEndian.Uint32(buf[4*i:])
			}
		}
		return got, st
	}
	for what, c := range map[string]struct {
		p    *Process
		luid abi.LUID
		room uint64
		want []uint32
		st   abi.Status
	}{
		"root":            {root, luid, 16, []uint32{10, 20, 30}, 0},
		"a user":          {idle, luid, 2, []uint32{10, 20}, 0},
		"another":         {other, luid, 9, []uint32{30}, 0},
		"another adapter": {root, r.k.adapters[1].LUID, 4, []uint32{}, 0},
		"the number":      {a, luid, 0, []uint32{0, 0}, 0},
		"too small":       {a, luid, 1, nil, abi.StatusBufferTooSmall},
		"no such adapter": {a, abi.LUID{LowPart: 3}, 4, nil, abi.StatusInvalidParameter},
	} {
		if got, st := list(c.p, c.luid, c.room); st != c.st || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v, %v", what, got, st, c.want, c.st)
		}
	}
	rec := abi.EnumProcesses{AdapterLuid: luid, BufferCount: 1 << 32}
	if _, st := do(a, 0x48, &rec, nil, nil); st != abi.StatusInvalidParameter {
		t.Errorf("an enormous array: %v", st)
	}
}
