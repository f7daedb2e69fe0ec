package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/syncobj"
)

// A plain object is a synchronization object without memory: a mutex, a semaphore, a
// fence of Windows 7, a CPU notification. Only packets wait for it and signal it.
type plain struct {
	syncobj.Object
	adapter *Adapter
	serial  uint64     // number of the object, for listings
	global  abi.Handle // of one shared by a global handle; 0: none
	kernel  *Kernel
	driver  driverEvent // of a CPU notification that the driver signals
}

// A plainLocal is a process's own view of a plain object. It belongs to the adapter
// side of the process: it survives the device that it was made through, and goes when
// the process has neither a device on the adapter nor an open handle of it.
// Source: objects.md §4.1-4.
type plainLocal struct {
	object   *plain
	process  *Process
	device   *device // through which it was made; nil: through none
	handle   abi.Handle
	created  bool
	unshared bool // opened by the first version of the NT-handle opener (OQ-19)
	since    int64
}

// drop ends a reference; with the last one the global handle goes too.
func (o *plain) drop() {
	o.Unref(&o.kernel.fx.wakes)
	if o.State() == syncobj.Gone {
		o.kernel.removeGlobal(o.global)
		o.driver.destroy()
	}
}

func (o *plain) opensOn(d *device) bool {
	return o.adapter == d.adapter || o.CreateFlags()&abi.SyncObjectCrossAdapter != 0
}

// add makes a view with a handle; nil at the handle limit. The reference is the
// caller's to give.
func (o *plain) add(p *Process, d *device) *plainLocal {
	l := &plainLocal{object: o, process: p, device: d, since: p.k.now()}
	if l.handle = p.add(l); l.handle == 0 {
		return nil
	}
	p.plains[l] = struct{}{}
	return l
}

func (l *plainLocal) destroy() {
	delete(l.process.plains, l)
	l.process.table.Remove(l.handle)
	l.object.drop()
}

// createPlain makes a plain object of a checked kind with checked flags.
// Source: objects.md §2.1, §5.1 to §5.4; OQ-7, OQ-10, OQ-18, OQ-43.
func (p *Process) createPlain(r *abi.Request, rec *abi.CreateSynchronizationObject2) abi.Status {
	info := &rec.Info
	if info.Type == abi.Semaphore {
		if s := info.Semaphore(); !syncobj.CheckSemaphore(s.MaxCount, s.InitialCount).OK() {
			return abi.StatusInvalidParameter
		}
	}
	o := &plain{kernel: p.k}
	// The event is referenced before the lock is taken.
	if info.Type == abi.CPUNotification {
		event, st := p.eventOf(r)
		if !st.OK() {
			return st
		}
		n := new(syncobj.CPUNotification)
		n.Init(info.Flags, event)
		o.Object = n
	}
	st := p.placePlain(rec, o)
	if !st.OK() && o.Object != nil {
		var wakes syncobj.Wakes
		o.Unref(&wakes)
		wakes.Run()
	}
	return st
}

// eventOf references the event of a request's first descriptor field, which must name
// one.
func (p *Process) eventOf(r *abi.Request) (Event, abi.Status) {
	if r.Files[0] < 0 {
		return nil, abi.StatusInvalidHandle
	}
	return p.k.host.Event(p, r.Files[0])
}

func (p *Process) placePlain(rec *abi.CreateSynchronizationObject2, o *plain) abi.Status {
	k, info := p.k, &rec.Info
	byDriver := info.Flags&abi.SyncObjectSignalByKmd != 0
	var kmd driverEvent
	if byDriver {
		a, device, st := p.adapterOf(rec.HDevice)
		if !st.OK() {
			return st
		}
		if kmd, st = k.createDriverEvent(a, device, o.Object.(*syncobj.CPUNotification)); !st.OK() {
			return st
		}
	}
	k.lock()
	defer k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		kmd.destroy()
		return abi.StatusInvalidParameter // destroyed since it was looked up
	}
	if st := d.usable(); !st.OK() {
		kmd.destroy()
		return st
	}
	global := info.Flags&(abi.SyncObjectShared|abi.SyncObjectNtSecuritySharing) == abi.SyncObjectShared
	if global && k.noGlobals {
		return abi.StatusNotSupported
	}
	switch info.Type {
	case abi.SynchronizationMutex:
		m := new(syncobj.Mutex)
		m.Init(info.Flags, info.SynchronizationMutex().InitialState != 0)
		o.Object = m
	case abi.Semaphore:
		s := new(syncobj.Semaphore)
		s.Init(info.Flags, info.Semaphore().MaxCount, info.Semaphore().InitialCount)
		o.Object = s
	case abi.Fence:
		f := new(syncobj.Fence)
		f.Init(info.Flags, info.Fence().FenceValue)
		o.Object = f
	}
	o.adapter, o.driver = d.adapter, kmd
	l := o.add(p, d)
	if l == nil {
		kmd.destroy()
		return abi.StatusNoMemory
	}
	if global {
		if o.global = k.addGlobal(o, p.Info.UID); o.global == 0 {
			delete(p.plains, l)
			p.table.Remove(l.handle)
			return abi.StatusNoMemory
		}
		info.SharedHandle = o.global
	}
	l.created = true
	k.objects++
	o.serial = k.objects
	rec.HSyncObject = l.handle
	return abi.StatusSuccess
}

// openSynchronizationObject opens an object by its global handle, for the process and
// for no device in particular. Source: calls.md §4, sharing.md §2.
func (p *Process) openSynchronizationObject(r *abi.Request) abi.Status {
	rec := abi.View[abi.OpenSynchronizationObject](r.Record)
	p.k.lock()
	defer p.k.unlock()
	o, ok := p.k.globals.Get(rec.HSharedHandle).(*plain)
	if !ok {
		return abi.StatusInvalidParameter
	}
	l := o.add(p, nil)
	if l == nil {
		return abi.StatusNoMemory
	}
	o.Ref()
	rec.HSyncObject = l.handle
	return abi.StatusSuccess
}

// openSyncObjectFromNtHandle is the first version of the NT-handle opener: without a
// device, so that a fence in memory cannot be mapped.
// Source: calls.md §4, sharing.md §3.3, §3.4; OQ-19.
func (p *Process) openSyncObjectFromNtHandle(r *abi.Request) abi.Status {
	rec := abi.View[abi.OpenSyncObjectFromNtHandle](r.Record)
	key, keyStatus := p.identify(r)
	p.k.lock()
	defer p.k.unlock()
	nt, st := p.k.ntHandle(key, keyStatus, object.SyncObject)
	if !st.OK() {
		return st
	}
	o, ok := nt.Object.(*plain)
	if !ok {
		return abi.StatusInvalidParameter
	}
	if !nt.Access.Opens() {
		return abi.StatusAccessDenied
	}
	l := o.add(p, nil)
	if l == nil {
		return abi.StatusNoMemory
	}
	l.unshared = true
	o.Ref()
	rec.HSyncObject = l.handle
	return abi.StatusSuccess
}

// leaveAdapter destroys the plain objects that were made through devices on a and what
// its GPU sees, if the process has neither a device on it nor an open handle any more.
func (p *Process) leaveAdapter(a *Adapter) {
	if p.uses[a]--; p.uses[a] > 0 {
		return
	}
	delete(p.uses, a)
	p.closeSpace(a)
	for _, l := range inOrderOf(p.plains) {
		if l.device != nil && l.device.adapter == a {
			l.destroy()
		}
	}
}
