package kernel

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// Types of D3DKMT_QUERYSTATISTICS_TYPE that are answered, and what the others end with.
const (
	statisticsAdapter        = 0
	statisticsProcess        = 1
	statisticsProcessAdapter = 2
	statisticsSegment        = 3
	statisticsProcessSegment = 4
	statisticsLast           = 10
)

// Where things are in D3DKMT_QUERYSTATISTICS.
const (
	statisticsType    = 0
	statisticsLuid    = 4
	statisticsHandle  = 16
	statisticsResult  = 24
	statisticsRequest = 800 // of a segment, a node and so on: its number
)

// statistics is the QueryResult of D3DKMT_QUERYSTATISTICS.
type statistics []byte

func (s statistics) put32(off int, v uint32) { binary.LittleEndian.PutUint32(s[off:], v) }
func (s statistics) put64(off int, v uint64) { binary.LittleEndian.PutUint64(s[off:], v) }

// queryStatistics answers how large adapters are and what processes use of them. What is
// not counted is 0. INVALID_PARAMETER: no such type, adapter, segment; INVALID_HANDLE:
// another process than the caller's; NOT_SUPPORTED: a type that nobody counts for.
func (p *Process) queryStatistics(r *abi.Request) abi.Status {
	get := func(off int) uint32 { return binary.LittleEndian.Uint32(r.Record[off:]) }
	kind, request := get(statisticsType), get(statisticsRequest)
	luid := abi.LUID{LowPart: get(statisticsLuid), HighPart: int32(get(statisticsLuid + 4))}
	process := binary.LittleEndian.Uint64(r.Record[statisticsHandle:])
	if kind > statisticsLast {
		return abi.StatusInvalidParameter
	}
	k := p.k
	k.lock()
	defer k.unlock()
	i := slices.IndexFunc(k.adapters, func(a *Adapter) bool { return a.LUID == luid && !a.stopped })
	if i < 0 {
		return abi.StatusInvalidParameter
	}
	a := k.adapters[i]
	if process != 0 && process != currentProcess {
		return abi.StatusInvalidHandle
	}
	if kind > statisticsProcessSegment {
		return abi.StatusNotSupported
	}
	segments := a.segments()
	if (kind == statisticsSegment || kind == statisticsProcessSegment) && uint64(request) >= uint64(len(segments)) {
		return abi.StatusInvalidParameter
	}
	s := statistics(r.Record[statisticsResult:statisticsRequest])
	clear(s)
	nodes, sources := uint32(len(a.Profile.Nodes)), uint32(a.Profile.Sources())
	switch kind {
	case statisticsAdapter:
		s.put32(0, uint32(len(segments)))
		s.put32(4, nodes)
		s.put32(8, sources)
		s.put32(16, a.recoveries)
	case statisticsProcess:
		s.put32(0, nodes)
		s.put32(4, sources)
		s.put64(8, p.residentOn(a)) // SystemMemory.BytesAllocated
	case statisticsProcessAdapter:
		s.put32(0, uint32(len(segments)))
		s.put32(4, nodes)
		s.put32(8, sources)
		s.put64(48, p.residentOn(a)) // CommitmentData.BytesBySegmentPreference[0]
	case statisticsSegment:
		s.put64(0, segments[request].size)
		if request == 0 { // all that is resident counts as local
			for q := range k.processes {
				s.put64(8, binary.LittleEndian.Uint64(s[8:])+q.residentOn(a))
			}
			s.put64(16, binary.LittleEndian.Uint64(s[8:]))
		}
		if segments[request].aperture {
			s.put32(40, 1)
		}
	case statisticsProcessSegment:
		if request == 0 {
			s.put64(0, p.residentOn(a))
		}
	}
	return abi.StatusSuccess
}

// A segment is memory that a GPU can use: its own, or the system's through an aperture.
type segment struct {
	size     uint64 // bytes
	aperture bool
}

// segments are those of an adapter: first what counts as local.
func (a *Adapter) segments() []segment {
	m := a.Profile.Memory
	system := segment{m.SharedSystem << 20, true}
	if own := (m.DedicatedVideo + m.DedicatedSystem) << 20; own > 0 {
		return []segment{{size: own}, system}
	}
	return []segment{system}
}

// queryClockCalibration reads the clock of an engine beside the CPU's, which counts
// nanoseconds as CLOCK_MONOTONIC does. INVALID_PARAMETER: no such adapter, node, physical
// adapter; DEVICE_REMOVED: the adapter has stopped; NOT_SUPPORTED: it has no clock.
func (p *Process) queryClockCalibration(r *abi.Request) abi.Status {
	rec := abi.View[abi.QueryClockCalibration](r.Record)
	p.k.lock()
	h, ok := object.Get[*adapterHandle](&p.table, abi.Handle(rec.HAdapter.Get()))
	stopped := ok && h.adapter.stopped
	p.k.unlock()
	engine := ddi.Engine{NodeOrdinal: rec.NodeOrdinal.Get(), EngineOrdinal: rec.PhysicalAdapterIndex.Get()}
	switch {
	case !ok,
		uint64(engine.NodeOrdinal) >= uint64(len(h.adapter.Profile.Nodes)),
		uint64(engine.EngineOrdinal) >= uint64(h.adapter.Profile.Engines()):
		return abi.StatusInvalidParameter
	case stopped:
		return abi.StatusDeviceRemoved
	}
	c, st := h.adapter.driver.CalibrateGpuClock(engine)
	if !st.OK() {
		return st
	}
	rec.ClockData.GpuFrequency.Set(c.GpuFrequency)
	rec.ClockData.GpuClockCounter.Set(c.GpuClockCounter)
	rec.ClockData.CpuClockCounter.Set(c.CpuClockCounter)
	rec.ClockData.Flags = abi.GpuClockDataFlags{}
	return abi.StatusSuccess
}

// enumProcesses lists the processes that use an adapter, by id: of the caller's user, or
// of all for root. With a NULL array it answers how many there are. INVALID_PARAMETER: no
// such adapter; BUFFER_TOO_SMALL: the array does not take all.
func (p *Process) enumProcesses(r *abi.Request) abi.Status {
	rec := abi.View[abi.EnumProcesses](r.Record)
	if rec.BufferCount>>32 != 0 {
		return abi.StatusInvalidParameter
	}
	k := p.k
	k.lock()
	defer k.unlock()
	i := slices.IndexFunc(k.adapters, func(a *Adapter) bool { return a.LUID == rec.AdapterLuid && !a.stopped })
	if i < 0 {
		return abi.StatusInvalidParameter
	}
	var pids []int
	for q := range k.processes {
		if q.uses[k.adapters[i]] > 0 && (q.Info.UID == p.Info.UID || p.Info.UID == 0) && !slices.Contains(pids, q.Info.PID) {
			pids = append(pids, q.Info.PID)
		}
	}
	slices.SortFunc(pids, cmp.Compare[int])
	if out := r.Arrays[0]; out != nil {
		if len(out)/4 < len(pids) {
			return abi.StatusBufferTooSmall
		}
		for i, pid := range pids {
			binary.LittleEndian.PutUint32(out[4*i:], uint32(pid))
		}
	}
	rec.BufferCount = uint64(len(pids))
	return abi.StatusSuccess
}
