package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// A logRig is a nativeRig with a hardware queue that has logs, and a GPU that writes them.
type logRig struct {
	*nativeRig
	p     *Process
	d     abi.Handle
	queue *hwQueue
}

func newLogRig(t *testing.T) *logRig {
	t.Helper()
	r := &logRig{nativeRig: newNativeRig(t, "native")}
	r.p = r.process()
	r.d = r.device(r.p, 0)
	r.queue = r.hwQueue()
	return r
}

// hwQueue makes a queue with logs.
func (r *logRig) hwQueue() *hwQueue {
	r.t.Helper()
	c := abi.CreateContextVirtual{HDevice: r.d, Flags: abi.ContextHwQueueSupported}
	_, st := do(r.p, 0x04, &c, nil)
	r.ok(st)
	q := abi.CreateHwQueue{HHwContext: c.HContext}
	_, st = do(r.p, 0x18, &q, nil)
	r.ok(st)
	r.trace = nil
	r.k.lock()
	h := r.p.table.Get(q.HHwQueue).(*hwQueue)
	st = newFenceLogs(h, h.sched.Kmd)
	r.k.unlock()
	r.ok(st)
	return h
}

func (r *logRig) detail() abi.GetNativeFenceLogDetail {
	r.t.Helper()
	rec := abi.GetNativeFenceLogDetail{HHwQueue: r.queue.handle}
	_, st := do(r.p, 0x8010, &rec, nil)
	r.ok(st)
	return rec
}

// log does what a GPU does: an entry, then the head. Times are the number of the entry.
func (r *logRig) log(space *vidmm.Space, va uint64, entries uint32, e abi.NativeFenceLogEntry) {
	r.t.Helper()
	head, fault := space.Load64(0, va)
	if fault != nil {
		r.t.Fatal(fault)
	}
	index, wraps := uint32(head), uint32(head>>32)
	at := va + logHeader + uint64(index)*logEntry
	for i, v := range []uint64{e.FenceValue, uint64(e.HNativeFence) | uint64(e.OperationType)<<32, 0, e.FenceObservedGpuTimestamp, 0, e.FenceEndGpuTimestamp} {
		if fault := space.Store64(0, at+8*uint64(i), v); fault != nil {
			r.t.Fatal(fault)
		}
	}
	if index++; index == entries {
		index, wraps = 0, wraps+1
	}
	space.Store64(0, va, uint64(index)|uint64(wraps)<<32)
}

// signals writes an entry into the queue's signals log.
func (r *logRig) signals(h abi.Handle, v uint64) {
	r.t.Helper()
	d := r.detail()
	r.log(spaceOf(r.rig, r.p), d.SignalLogGpuBaseAddress, d.SignalLogNumberOfEntries, abi.NativeFenceLogEntry{FenceValue: v, HNativeFence: h, FenceEndGpuTimestamp: 10 * v})
}

// store stores a value as hardware does that the kernel does not see.
func (r *logRig) store(h abi.Handle, v uint64) {
	view, _ := r.p.FenceView(h)
	view.RaiseOnly(v)
}

func (r *logRig) interrupt(q ddi.KmdHwQueue) {
	r.drivers[0].cb.NotifyInterrupt(ddi.NativeFenceSignaled{HwQueue: q})
	r.k.drain()
}
