package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/syncobj"
)

// createSyncFile makes a descriptor that polls readable when a fence has reached a value,
// and when nobody can tell any more: its device is lost or destroyed, or its process has
// ended. Source: calls.md §6, objects.md §8; OQ-45.
func (p *Process) createSyncFile(r *abi.Request) abi.Status {
	rec := abi.View[abi.CreateSyncFile](r.Record)
	k := p.k
	k.lock()
	_, st := p.checkSyncFile(rec)
	k.unlock()
	if !st.OK() {
		return st
	}
	// The descriptor is made before the lock is taken again: it takes microseconds.
	file, fd, st := k.host.NewSyncFile(p)
	if !st.OK() {
		return st
	}
	k.lock()
	defer k.unlock()
	l, st := p.checkSyncFile(rec) // it may have gone meanwhile
	if st.OK() && (len(p.waits)+len(p.turns) >= k.limits.Waits || p.points >= k.limits.Points) {
		st = abi.StatusNoMemory
	}
	if !st.OK() {
		k.host.Close(fd)
		k.fx.events = append(k.fx.events, eventEnd{file, false})
		return st
	}
	w := &cpuWait{process: p, device: l.device, points: make([]point, 1), event: file, since: k.now()}
	w.enlist([]*local{l}, []uint64{rec.FenceValue})
	r.Out = append(r.Out, abi.OutFile{FD: fd})
	return abi.StatusSuccess
}

// checkSyncFile finds the fence for a sync file. The lock is held.
func (p *Process) checkSyncFile(rec *abi.CreateSyncFile) (*local, abi.Status) {
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	l, isLocal := object.Get[*local](&p.table, rec.HMonitoredFence)
	if !ok || !isLocal || l.device != d || l.fence.intra() {
		return nil, abi.StatusInvalidParameter
	}
	if st := d.usable(); !st.OK() {
		return nil, st
	}
	if !l.mayWait() {
		return nil, abi.StatusAccessDenied
	}
	return l, l.fence.CheckTarget(rec.FenceValue)
}

// tell has the event of a wait that ended, or is taken away, say how, if it can: a value
// that was raised by loss did not arrive.
func (w *cpuWait) tell(st abi.Status) {
	file, ok := w.event.(SyncFile)
	if !ok {
		return
	}
	if st.OK() && w.points[0].local.fence.State() == syncobj.Lost {
		st = abi.StatusDeviceRemoved
	}
	if !st.OK() {
		file.Fail(st)
	}
}

// failSyncFiles ends the sync files that were made through a device that is lost,
// before its fences are raised.
func (d *device) failSyncFiles() {
	for _, w := range inOrderOf(d.waits) {
		if _, ok := w.event.(SyncFile); ok {
			w.End(abi.StatusDeviceRemoved)
		}
	}
}
