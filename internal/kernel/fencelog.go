package kernel

import (
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// fenceLogs are the two logs of a hardware queue that the program fills by itself: what the
// GPU waited for and signalled there, which nobody else sees. The kernel reads them when the
// GPU interrupts, and when somebody asks. Source: native-fence.md §10.
type fenceLogs struct {
	queue          *hwQueue
	kmd            ddi.KmdHwQueue
	waits, signals *fenceLog
	asked          bool       // to be read
	of             *fenceLogs // whose logs they are, or will be
	ended          bool
	written        atomic.Bool // in Adapter.logNews
	forgotten      bool        // guarded by that
	history        logHistory
}

// A fenceLog is one log. What is in it is the program's to write, so nothing of it is
// believed.
type fenceLog struct {
	typ             abi.NativeFenceLogType
	entries         uint32
	memory          *logMemory
	process, system vidmm.Pages
	index, wraps    uint32 // how far it was read
}

// How many pages a log has, and may have.
const (
	firstLogPages = 1
	maxLogPages   = 64
)

// newFenceLogs makes the logs of a queue that the driver knows. The driver is told of them
// before anything else that is asked of it. NO_MEMORY: no addresses are left. The lock is
// held.
func newFenceLogs(q *hwQueue, kmd ddi.KmdHwQueue) abi.Status {
	l := &fenceLogs{queue: q, kmd: kmd}
	l.of = l
	if !l.make(firstLogPages) {
		return abi.StatusNoMemory
	}
	a := l.adapter()
	q.logs = l
	a.logs[l.kmd] = l
	l.process().logs[l] = struct{}{}
	waits, signals := l.waits.args(l.kmd), l.signals.args(l.kmd)
	a.sched.Call(func(d ddi.Driver) {
		d.SetNativeFenceLogBuffer(waits)
		d.SetNativeFenceLogBuffer(signals)
	})
	return abi.StatusSuccess
}

func (l *fenceLogs) adapter() *Adapter { return l.queue.context.device.adapter }
func (l *fenceLogs) process() *Process { return l.queue.context.device.process }

// make makes both logs anew; false, and nothing is made: no addresses are left.
func (l *fenceLogs) make(pages int) bool {
	l.waits = &fenceLog{typ: abi.NativeFenceLogWaits}
	l.signals = &fenceLog{typ: abi.NativeFenceLogSignals}
	if l.waits.make(l, pages) && l.signals.make(l, pages) {
		return true
	}
	l.unmap()
	return false
}

func (g *fenceLog) make(l *fenceLogs, pages int) bool {
	a, p := l.adapter(), l.process()
	g.memory, g.entries = newLogMemory(pages, g.typ, l.of.wrote), uint32(logEntries(pages))
	if p.space(a).MapPages(&g.process, g.memory, pages) == 0 {
		return false
	}
	return !a.driver.NativeFenceCaps().MapToGpuSystemProcess || a.system.MapPages(&g.system, g.memory, pages) != 0
}

func (l *fenceLogs) unmap() {
	a, p := l.adapter(), l.process()
	for _, g := range []*fenceLog{l.waits, l.signals} {
		if s := p.spaces[a]; s != nil {
			s.UnmapPages(&g.process)
		}
		a.system.UnmapPages(&g.system)
	}
}

func (g *fenceLog) args(kmd ddi.KmdHwQueue) ddi.SetNativeFenceLogBufferArgs {
	return ddi.SetNativeFenceLogBufferArgs{
		HwQueue: kmd, Type: g.typ, NumberOfEntries: g.entries,
		LogBufferGpuVa: g.process.Address(), LogBufferSystemProcessGpuVa: g.system.Address(),
	}
}

// endFenceLogs takes the logs away, if there are some, when the driver has destroyed the
// queue, which it was told to before. The lock is held.
func (q *hwQueue) endFenceLogs() {
	l := q.logs
	if l == nil || l.ended {
		return
	}
	a := l.adapter()
	l.ended = true
	delete(a.logs, l.kmd)
	a.logNews.forget(l)
	delete(l.process().logs, l)
	l.history.forget(a, l.process().Info.UID)
	a.sched.Call(func(ddi.Driver) {
		a.kernel.lock()
		l.unmap()
		a.kernel.unlockInside()
	})
}

// enlarge makes the logs larger while the queue is used: for at least so many entries each,
// as far as there may be as many. NO_MEMORY: no addresses are left; they stay as they are.
// The lock is held. Source: native-fence.md §10-4.
func (l *fenceLogs) enlarge(entries int) abi.Status {
	pages := min(logPages(min(entries, logEntries(maxLogPages))), maxLogPages)
	if l.ended || logEntries(pages) <= int(l.waits.entries) {
		return abi.StatusSuccess
	}
	larger := &fenceLogs{queue: l.queue, kmd: l.kmd, of: l}
	if !larger.make(pages) {
		return abi.StatusNoMemory
	}
	a := l.adapter()
	waits, signals := larger.waits.args(l.kmd), larger.signals.args(l.kmd)
	a.sched.Call(func(d ddi.Driver) {
		d.SetNativeFenceLogBuffer(waits)
		d.SetNativeFenceLogBuffer(signals)
		d.UpdateNativeFenceLogs([]ddi.KmdHwQueue{l.kmd})
		a.kernel.lock()
		l.take() // what the GPU wrote until then
		l.unmap()
		l.waits, l.signals = larger.waits, larger.signals
		a.kernel.unlockInside()
	})
	return abi.StatusSuccess
}

// getNativeFenceLogDetail tells where the GPU sees the logs of a queue. INVALID_PARAMETER:
// no such queue, flags, or the queue has none, as all that the kernel fills.
// Source: native-fence.md §10-8.
func (p *Process) getNativeFenceLogDetail(r *abi.Request) abi.Status {
	rec := abi.View[abi.GetNativeFenceLogDetail](r.Record)
	p.k.lock()
	defer p.k.unlock()
	q, ok := object.Get[*hwQueue](&p.table, rec.HHwQueue)
	if !ok || rec.Flags != 0 || q.logs == nil {
		return abi.StatusInvalidParameter
	}
	logs := q.logs.detail()
	rec.WaitLogNumberOfEntries, rec.WaitLogGpuBaseAddress = logs.WaitLogNumberOfEntries, logs.WaitLogGpuBaseAddress
	rec.SignalLogNumberOfEntries, rec.SignalLogGpuBaseAddress = logs.SignalLogNumberOfEntries, logs.SignalLogGpuBaseAddress
	return abi.StatusSuccess
}

// detail is where the GPU sees both logs. The lock is held.
func (l *fenceLogs) detail() abi.NativeFenceLogDetail {
	return abi.NativeFenceLogDetail{
		WaitLogNumberOfEntries: l.waits.entries, WaitLogGpuBaseAddress: l.waits.process.Address(),
		SignalLogNumberOfEntries: l.signals.entries, SignalLogGpuBaseAddress: l.signals.process.Address(),
	}
}
