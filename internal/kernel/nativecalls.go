package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// createNativeFence makes a native fence. Source: native-fence.md §3.1; OQ-34.
func (p *Process) createNativeFence(r *abi.Request) abi.Status {
	rec := abi.View[abi.CreateNativeFence](r.Record)
	k, info := p.k, &rec.Info
	k.lock()
	d, st := p.checkCreateNative(rec)
	k.unlock()
	if !st.OK() {
		return st
	}
	var m Memory
	switch {
	case info.Type == abi.NativeFenceIntraGPU:
		m = newHeapCell()
	case info.Flags&abi.SyncObjectShared != 0:
		m, st = k.host.SharedMemory(p, info.InitialFenceValue)
	default:
		m, st = k.host.PrivateMemory(p, info.InitialFenceValue)
	}
	if !st.OK() {
		return st
	}
	data := rec.PrivateDriverData
	l, st := p.makeNative(d, info, m, &data)
	if !st.OK() {
		return st
	}
	defer k.unlock()
	if st := l.grant(r, m); !st.OK() {
		return st
	}
	rec.HSyncObject, rec.PrivateDriverData = l.handle, data
	info.NativeFenceMapping = l.mappedAt()
	return abi.StatusSuccess
}

// mappedAt is where GPUs see l. The client's library knows where the CPU does.
func (l *local) mappedAt() abi.NativeFenceMapping {
	return abi.NativeFenceMapping{CurrentValueGpuVa: l.gpu, MonitoredValueGpuVa: l.native.view.mvalVa}
}

// checkCreateNative checks what can be refused before anything is made. The lock is held.
func (p *Process) checkCreateNative(rec *abi.CreateNativeFence) (*device, abi.Status) {
	info := &rec.Info
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok || rec.Flags != 0 || info.Type > abi.NativeFenceIntraGPU {
		return nil, abi.StatusInvalidParameter
	}
	if st := d.knowsNative(); !st.OK() {
		return nil, st
	}
	if _, ok := abi.SyncObjectFlagRules.Check(uint32(info.Flags), abi.NativeFence, d.adapter.Profile.WDDM); !ok {
		return nil, abi.StatusInvalidParameter
	}
	intra := info.Type == abi.NativeFenceIntraGPU
	if intra && info.Flags&abi.SyncObjectCrossAdapter != 0 {
		return nil, abi.StatusInvalidParameter
	}
	if st := d.canNative(); !st.OK() {
		return nil, st
	}
	if intra && !d.adapter.Profile.NativeFence.IntraGPU {
		return nil, abi.StatusNotSupported
	}
	return d, d.usable()
}

// makeNative makes a fence with its first local object, and the driver's side of both. With
// success the lock is held when it returns; otherwise the memory is freed.
func (p *Process) makeNative(d *device, info *abi.NativeFenceInfo, m Memory, data *[privateData]byte) (*local, abi.Status) {
	k := p.k
	k.lock()
	st := d.usable() // destroyed or lost since it was looked up
	var l *local
	if st.OK() {
		l, st = p.placeWide(new(FenceRoom), d, info.Flags, m)
	}
	if !st.OK() {
		k.fx.wakes.Free(m)
		k.unlock()
		return nil, st
	}
	l.fence.makeNative(info.Type, true)
	return l.toldDriver(info.EngineAffinity, data)
}

// tellDriver is toldDriver without the lock, before and after, and without private data.
func (l *local) tellDriver(engines uint32) (*local, abi.Status) {
	l.device.process.k.lock()
	var data [privateData]byte
	told, st := l.toldDriver(engines, &data)
	if st.OK() {
		l.device.process.k.unlock()
	}
	return told, st
}

// driverFence is the driver's handle of the fence behind l, 0 if it knows none.
func (l *local) driverFence() ddi.KmdNativeFence {
	if l.native == nil {
		return 0
	}
	return l.native.on.kmd
}

// toldDriver opens l, which was just made, on its native fence and has the driver answer.
// The lock is held; with success it is held when it returns, else l is gone. Nobody can
// destroy l meanwhile but with its device.
func (l *local) toldDriver(engines uint32, data *[privateData]byte) (*local, abi.Status) {
	k, d := l.device.process.k, l.device
	l.making = true
	k.unlock()
	n := l.fence.native
	n.making.Lock()
	defer n.making.Unlock()
	k.lock()
	if d.process.table.Get(l.handle) != any(l) {
		k.unlock()
		return nil, abi.StatusInvalidParameter
	}
	if st := l.openNative(engines); !st.OK() {
		l.destroy()
		k.unlock()
		return nil, st
	}
	nl := l.native
	k.unlock()
	st := nl.tell(data)
	k.lock()
	if nl.made(st) {
		if st = d.usable(); st.OK() {
			l.making = false
			return l, abi.StatusSuccess
		}
	}
	if !nl.ended {
		l.destroy()
	} else if st.OK() {
		st = abi.StatusInvalidParameter // its device was destroyed
	}
	k.unlock()
	return nil, st
}

// openNativeFenceFromNtHandle opens a native fence, or a monitored one of another adapter.
// Source: native-fence.md §3.2, §7; OQ-38.
func (p *Process) openNativeFenceFromNtHandle(r *abi.Request) abi.Status {
	rec := abi.View[abi.OpenNativeFenceFromNtHandle](r.Record)
	k := p.k
	key, keyStatus := p.identify(r)
	k.lock()
	d, f, access, st := p.checkOpenNative(rec, key, keyStatus)
	if !st.OK() {
		k.unlock()
		return st
	}
	l := &local{fence: f, device: d, flags: rec.Flags, since: k.now()}
	mayWait, maySignal := access.Rights()
	l.rights = rights(rec.Flags, mayWait, maySignal)
	if !l.link() {
		k.unlock()
		return abi.StatusNoMemory
	}
	f.Ref()
	if f.native == nil {
		f.makeNative(abi.NativeFenceDefault, false)
	}
	data := rec.PrivateDriverData
	if l, st = l.toldDriver(rec.EngineAffinity, &data); !st.OK() {
		return st
	}
	defer k.unlock()
	if st := l.grant(r, f.Backing().(Memory)); !st.OK() {
		return st
	}
	rec.HSyncObject, rec.PrivateDriverData = l.handle, data
	rec.NativeFenceMapping = l.mappedAt()
	return abi.StatusSuccess
}

// checkOpenNative finds what is to be opened. The lock is held.
func (p *Process) checkOpenNative(rec *abi.OpenNativeFenceFromNtHandle, key object.Key, keyStatus abi.Status) (*device, *fence, object.Access, abi.Status) {
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return nil, nil, 0, abi.StatusInvalidParameter
	}
	if st := d.knowsNative(); !st.OK() {
		return nil, nil, 0, st
	}
	if st := abi.CheckOpenFlags(abi.NativeFence, rec.Flags, d.adapter.Profile.WDDM); !st.OK() {
		return nil, nil, 0, st
	}
	if st := d.canNative(); !st.OK() {
		return nil, nil, 0, st
	}
	nt, st := p.k.ntHandle(key, keyStatus, object.SyncObject)
	if !st.OK() {
		return nil, nil, 0, st
	}
	f, ok := nt.Object.(*fence)
	if !ok || !f.opensOn(d) || f.Kind() != abi.NativeFence && f.adapter == d.adapter || f.Wide() != abi.StatusSuccess {
		return nil, nil, 0, abi.StatusInvalidParameter
	}
	if st := d.usable(); !st.OK() {
		return nil, nil, 0, st
	}
	if !nt.Access.Opens() {
		return nil, nil, 0, abi.StatusAccessDenied
	}
	return d, f, nt.Access, abi.StatusSuccess
}

// isFeatureEnabled answers for one feature of an adapter. Source: calls.md §9;
// native-fence.md §8.
func (p *Process) isFeatureEnabled(r *abi.Request) abi.Status {
	rec := abi.View[abi.IsFeatureEnabled](r.Record)
	p.k.lock()
	defer p.k.unlock()
	h, ok := object.Get[*adapterHandle](&p.table, rec.HAdapter)
	if !ok {
		return abi.StatusInvalidParameter
	}
	if h.adapter.stopped {
		return abi.StatusDeviceRemoved
	}
	enabled, known, byDriver, configured, version := h.adapter.Profile.Feature(rec.FeatureId)
	rec.Result.Version = version
	*rec.Result.Value() = 0
	for i, on := range []bool{enabled, known, byDriver, configured} {
		if on {
			*rec.Result.Value() |= 1 << i
		}
	}
	return abi.StatusSuccess
}
