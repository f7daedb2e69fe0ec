package kernel

import (
	"cmp"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// A FenceLogReport is what GPUs have signalled and waited for by themselves, as far as it was
// read and kept: the last 1,024 events of each queue.
type FenceLogReport struct {
	Queues []FenceLogRow   `json:"queues"`
	Events []FenceEventRow `json:"events"` // in the order of their times
	// Last is the number of the last event that there is.
	Last uint64 `json:"last"`
}

// FenceLogRow is a hardware queue with logs.
type FenceLogRow struct {
	Queue   abi.Handle `json:"queue"`
	PID     int        `json:"pid"`
	Process uint64     `json:"process"`
	Name    string     `json:"name"` // of the process
	Adapter string     `json:"adapter"`
	Engine  string     `json:"engine"`  // node.engine
	Entries uint32     `json:"entries"` // of each log
	Lost    uint64     `json:"lost"`    // events that were written over before they were read
	Wrong   uint64     `json:"wrong"`   // what the program wrote there and is no event
}

// FenceEventRow is a signal or the end of a wait. What it says is what the program wrote.
type FenceEventRow struct {
	Seq       uint64     `json:"seq"` // number, among all
	PID       int        `json:"pid"`
	Process   uint64     `json:"process"`
	Queue     abi.Handle `json:"queue"`
	Operation string     `json:"operation"` // SIGNAL_EXECUTED, WAIT_UNBLOCKED
	Object    uint64     `json:"object"`    // number of the fence; 0: the process had none with this handle
	Fence     abi.Handle `json:"fence"`
	Value     uint64     `json:"value"`
	// Observed and End are ticks of the GPU's clock: when a wait was first looked at, and
	// when it happened; 0: unknown.
	Observed uint64 `json:"observed_ticks"`
	End      uint64 `json:"end_ticks"`
	// Time is End on the CPU's clock, in nanoseconds; 0: unknown. Waited is how long a wait
	// took, Age how long ago it was.
	Time   int64 `json:"time_ns"`
	Waited int64 `json:"waited_ns"`
	Age    int64 `json:"age_ns"`
}

// FenceLog reads the logs of one queue, a process or all, and reports what is kept of them
// that is newer than an event. Of another user's nothing is seen unless all.
//
// INVALID_PARAMETER: no such process, or no such hardware queue of it with logs; a queue
// without a process. ACCESS_DENIED: logs are to be made larger, and not all is seen.
// NO_MEMORY: there are no addresses for larger ones.
func (k *Kernel) FenceLog(q abi.FenceLog, uid uint32, all bool) (FenceLogReport, abi.Status) {
	k.lock()
	list, st := k.logsOf(q, uid, all)
	if st.OK() && q.Entries > 0 && !all {
		st = abi.StatusAccessDenied
	}
	for _, l := range list {
		if st.OK() && q.Entries > 0 {
			st = l.enlarge(int(min(q.Entries, 1<<20)))
		}
		l.adapter().readLogs(l)
	}
	k.unlock() // they are read when this returns
	if !st.OK() {
		return FenceLogReport{}, st
	}
	clocks := map[logClock]ddi.Calibration{}
	for _, l := range list {
		at := logClock{l.adapter(), l.queue.context.engine}
		if _, ok := clocks[at]; !ok {
			clocks[at], _ = at.adapter.driver.CalibrateGpuClock(at.engine)
		}
	}
	k.lock()
	defer k.unlock()
	r := FenceLogReport{Queues: []FenceLogRow{}, Events: []FenceEventRow{}, Last: k.logged}
	for _, l := range list {
		if l.ended {
			continue
		}
		r.Queues = append(r.Queues, l.row())
		clock := clocks[logClock{l.adapter(), l.queue.context.engine}]
		for _, v := range l.history.since(q.After) {
			r.Events = append(r.Events, l.event(v, clock))
		}
	}
	slices.SortFunc(r.Events, func(x, y FenceEventRow) int {
		// A signal comes before the wait that it ends.
		return cmp.Or(cmp.Compare(x.Time, y.Time), cmp.Compare(x.Operation, y.Operation), cmp.Compare(x.Seq, y.Seq))
	})
	return r, abi.StatusSuccess
}

// A logClock says whose clock times of a log are on.
type logClock struct {
	adapter *Adapter
	engine  ddi.Engine
}

// logsOf finds logs, by process and handle. The lock is held.
func (k *Kernel) logsOf(q abi.FenceLog, uid uint32, all bool) (list []*fenceLogs, st abi.Status) {
	if q.PID == 0 && q.Handle != 0 {
		return nil, abi.StatusInvalidParameter
	}
	known := q.PID == 0
	for p := range k.processes {
		if q.PID != 0 && p.Info.PID != int(q.PID) || !all && p.Info.UID != uid {
			continue
		}
		known = known || q.Handle == 0
		for l := range p.logs {
			if q.Handle == 0 || l.queue.handle == q.Handle {
				list, known = append(list, l), true
			}
		}
	}
	if !known {
		return nil, abi.StatusInvalidParameter
	}
	slices.SortFunc(list, func(x, y *fenceLogs) int {
		return cmp.Or(cmp.Compare(x.process().id, y.process().id), cmp.Compare(x.queue.handle, y.queue.handle))
	})
	return list, abi.StatusSuccess
}

func (l *fenceLogs) row() FenceLogRow {
	a, p := l.adapter(), l.process()
	return FenceLogRow{
		Queue: l.queue.handle, PID: p.Info.PID, Process: p.id, Name: p.Info.Name, Adapter: a.LUID.String(), Engine: l.queue.context.engine.String(),
		Entries: l.signals.entries, Lost: l.history.lost, Wrong: l.history.wrong,
	}
}

func (l *fenceLogs) event(v logged, c ddi.Calibration) FenceEventRow {
	p := l.process()
	r := FenceEventRow{
		Seq: v.seq, PID: p.Info.PID, Process: p.id, Queue: l.queue.handle, Operation: v.operation.String(), Object: v.object, Fence: v.handle,
		Value: v.value, Observed: v.observed, End: v.end,
	}
	if c.GpuFrequency == 0 || v.end == 0 {
		return r
	}
	r.Age = nanoseconds(c.GpuClockCounter-v.end, c.GpuFrequency)
	r.Time = int64(c.CpuClockCounter) - r.Age
	if v.observed != 0 && v.operation == abi.NativeFenceLogWaitUnblocked {
		r.Waited = nanoseconds(v.end-v.observed, c.GpuFrequency)
	}
	return r
}

// nanoseconds turns a difference of ticks, which may be negative, into time.
func nanoseconds(ticks, frequency uint64) int64 {
	d, f := int64(ticks), int64(frequency)
	return d/f*1e9 + int64(float64(d%f)*1e9/float64(f))
}
