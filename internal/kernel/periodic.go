package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// createPeriodic makes a periodic monitored fence: its memory starts at 0, and the
// driver's notifications advance it. Its users may wait and never signal.
// Source: objects.md §5.6; OQ-14.
func (p *Process) createPeriodic(r *abi.Request, rec *abi.CreateSynchronizationObject2) abi.Status {
	info := rec.Info.PeriodicMonitoredFence()
	k := p.k
	k.lock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	h, known := object.Get[*adapterHandle](&p.table, info.HAdapter)
	k.unlock()
	// The target's adapter must be the device's: none here is paired with another.
	if !ok || !known || h.adapter != d.adapter {
		return abi.StatusInvalidParameter
	}
	m, st := k.host.PrivateMemory(p, 0)
	if !st.OK() {
		return st
	}
	n, st := d.adapter.newNotice(p.Info.UID, info.VidPnTargetId, info.Time)
	if !st.OK() {
		m.Free()
		return st
	}
	k.lock()
	defer k.unlock()
	st = abi.StatusInvalidParameter // destroyed since it was looked up
	var l *local
	if _, alive := p.devices[d]; alive {
		l, st = p.place(new(FenceRoom), d, rec.Info.Flags, m)
	}
	if !st.OK() {
		n.end()
		k.fx.wakes.Free(m)
		return st
	}
	l.rights &^= abi.GrantSignal
	n.begin(l.fence)
	l.mapFence(info.EngineAffinity)
	if st := l.grant(r, m); !st.OK() {
		return st
	}
	rec.HSyncObject = l.handle
	info.FenceValueCPUVirtualAddress = 0 // the client's library knows it
	info.FenceValueGPUVirtualAddress = l.gpu
	return abi.StatusSuccess
}
