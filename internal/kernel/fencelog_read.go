package kernel

import (
	"cmp"
	"slices"
	"sync"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// readLogs has logs read soon: the driver is asked first to make visible what the GPU has
// written, for all of them at once. The lock is held.
func (a *Adapter) readLogs(list ...*fenceLogs) {
	for _, l := range list {
		if l.asked || l.ended {
			continue
		}
		if len(a.logsAsked) == 0 {
			a.sched.Call(a.updateLogs)
		}
		l.asked = true
		a.logsAsked = append(a.logsAsked, l)
	}
}

// readLogsOf has the log of a queue read, or with 0 all that there is news in. A queue
// without logs has nothing more to say than what was stored.
func (a *Adapter) readLogsOf(queue ddi.KmdHwQueue) {
	if queue == 0 {
		a.readLogs(a.logNews.take()...)
	} else if l := a.logs[queue]; l != nil {
		a.readLogs(l)
	}
}

// logNews are the logs that somebody has written to since they were last taken, so that an
// interrupt costs no look at those of all queues.
type logNews struct {
	mu   sync.Mutex // below the kernel's lock
	logs map[*fenceLogs]struct{}
}

// wrote notes that there may be news in a log. With or without the kernel's lock.
func (l *fenceLogs) wrote() {
	if l.written.Load() || l.written.Swap(true) {
		return
	}
	n := &l.adapter().logNews
	n.mu.Lock()
	defer n.mu.Unlock()
	if l.forgotten {
		return
	}
	if n.logs == nil {
		n.logs = map[*fenceLogs]struct{}{}
	}
	n.logs[l] = struct{}{}
}

// take empties it.
func (n *logNews) take() (list []*fenceLogs) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for l := range n.logs {
		l.written.Store(false) // before it is read
		list = append(list, l)
	}
	clear(n.logs)
	return list
}

// forget takes out a log that is gone.
func (n *logNews) forget(l *fenceLogs) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l.forgotten = true
	delete(n.logs, l)
}

// updateLogs reads the logs that there is news in. Without the lock, in the turn of the
// adapter's calls.
func (a *Adapter) updateLogs(d ddi.Driver) {
	k := a.kernel
	k.lock()
	var news []*fenceLogs
	var queues []ddi.KmdHwQueue
	for _, l := range a.logsAsked {
		l.asked = false
		if !l.ended && (l.waits.news() || l.signals.news()) {
			news, queues = append(news, l), append(queues, l.kmd)
		}
	}
	a.logsAsked = nil
	k.unlockInside()
	if len(news) == 0 {
		return
	}
	slices.Sort(queues)
	slices.SortFunc(news, func(x, y *fenceLogs) int { return cmp.Compare(x.kmd, y.kmd) })
	d.UpdateNativeFenceLogs(queues)
	k.lock()
	for _, l := range news {
		l.take()
	}
	k.unlockInside()
}

// take reads both logs, writes down what they say and looks at the fences that they name;
// if that is not all that happened, at all fences of the process that CPUs wait for. The
// lock is held.
func (l *fenceLogs) take() {
	if l.ended {
		return
	}
	a, p := l.adapter(), l.process()
	all := false
	for _, g := range []*fenceLog{l.waits, l.signals} {
		lost, broken := g.read(func(e abi.NativeFenceLogEntry) {
			if e.OperationType > abi.NativeFenceLogWaitUnblocked {
				l.history.wrong++
				return
			}
			fence, ok := p.table.Get(e.HNativeFence).(*local)
			ok = ok && fence.native != nil && fence.native.on.adapter == a
			l.history.add(a, p, e, fence, ok)
			if ok && e.OperationType == abi.NativeFenceLogSignalExecuted {
				fence.native.on.look()
			}
		})
		l.history.lost += lost
		if broken {
			l.history.wrong++
		}
		all = all || lost > 0 || broken
	}
	if all {
		l.lookAtOwn()
	}
}

// lookAtOwn looks at every native fence of the process that a CPU waits for. Others' are
// not signalled from its queues, and it can break its logs as often as it likes.
func (l *fenceLogs) lookAtOwn() {
	a := l.adapter()
	for _, d := range inOrderOf(l.process().devices) {
		for x := d.locals; x != nil; x = x.next {
			if n := x.native; n != nil && n.on.adapter == a && n.on.wanted != page.MvalNone && n.on.Load() > n.on.wanted {
				n.on.look()
			}
		}
	}
}

// news reports whether somebody has written since the log was read.
func (g *fenceLog) news() bool {
	index, wraps := g.memory.head()
	return index != g.index || wraps != g.wraps
}

// read calls f for every entry that was written since the last time and is there yet, in
// order. lost is how many are not: the GPU waits for no reader. broken: the head is none
// that a GPU writes, or it went back; what was written is not known then.
// Source: native-fence.md §10-2 to §10-4.
func (g *fenceLog) read(f func(abi.NativeFenceLogEntry)) (lost uint64, broken bool) {
	n := int64(g.entries)
	index, wraps := g.memory.head()
	written, ok := g.since(index, wraps)
	if !ok {
		if int64(index) < n { // else it would never be right again
			g.index, g.wraps = index, wraps
		}
		return 0, true
	}
	first := max(written-n, 0)
	list := make([]abi.NativeFenceLogEntry, 0, written-first)
	for i := first; i < written; i++ {
		list = append(list, g.memory.entry(uint64((int64(g.index)+i)%n)))
	}
	// Of those, the GPU may have written over the first ones meanwhile.
	if now, ok := g.since(g.memory.head()); ok && now > written {
		over := min(max(now-n-first, 0), int64(len(list)))
		list, first = list[over:], first+over
	}
	g.index, g.wraps = index, wraps
	for _, e := range list {
		f(e)
	}
	return uint64(first), false
}

// since is how many entries were written since the log was read, if the head is this.
func (g *fenceLog) since(index, wraps uint32) (written int64, ok bool) {
	if index >= g.entries {
		return 0, false
	}
	n := int64(g.entries)
	written = int64(int32(wraps-g.wraps))*n + int64(index) - int64(g.index)
	return written, written >= 0
}
