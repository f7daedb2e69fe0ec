package kernel

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// maxObjectsPerHandle is D3DKMT_MAX_OBJECTS_PER_HANDLE.
const maxObjectsPerHandle = 3

// A syncObject is what of a synchronization object an NT handle keeps: of a fence in
// memory or a plain one.
type syncObject interface {
	Ref()
	drop()
	opensOn(d *device) bool
}

// A bundle is what an NT handle on a resource keeps: the resource alone, or with a
// keyed mutex and a synchronization object.
type bundle struct {
	resource *resource
	mutex    *keyedMutex
	sync     syncObject
}

func (b *bundle) ref() {
	b.resource.Ref()
	if b.mutex != nil {
		b.mutex.Ref()
		b.sync.Ref()
	}
}

func (b *bundle) drop() {
	b.resource.drop()
	if b.mutex != nil {
		b.mutex.drop()
		b.sync.drop()
	}
}

// shareObjects makes an NT handle for one synchronization object, one resource, or
// {resource, keyed mutex, synchronization object}.
// Source: calls.md §4, sharing.md §3, §4, §5; OQ-19, OQ-20, OQ-21.
func (p *Process) shareObjects(r *abi.Request) abi.Status {
	rec := abi.View[abi.ShareObjects](r.Record)
	handles, out := r.Arrays[0], r.Arrays[2]
	if rec.ObjectCount == 0 || rec.ObjectCount > maxObjectsPerHandle || handles == nil || out == nil {
		return abi.StatusInvalidParameter
	}
	attributes, st := object.ParseAttributes(r.Arrays[1], r.Arrays[3], r.Arrays[4], p.Info.UID, p.Info.GID)
	if !st.OK() {
		return st
	}
	if attributes.Name.Named() {
		p.k.host.Settle() // the name may have been given up just now
	}
	list := make([]abi.Handle, rec.ObjectCount)
	for i := range list {
		list[i] = abi.Handle(binary.LittleEndian.Uint32(handles[4*i:]))
	}
	k := p.k
	k.lock()
	typ, _, st := p.shareable(list)
	k.unlock()
	if !st.OK() {
		return st
	}
	if k.noGlobalNames && attributes.Name.Global() && p.Info.UID != 0 {
		return abi.StatusAccessDenied
	}
	access, st := typ.Access(object.Access(rec.DesiredAccess))
	if !st.OK() {
		return st
	}
	// The descriptor is made before the lock is taken: it takes microseconds.
	key, fd, st := k.host.NewNTHandle()
	if !st.OK() {
		return st
	}
	k.lock()
	defer k.unlock()
	_, shared, st := p.shareable(list) // they may have gone meanwhile
	if st.OK() {
		o := &object.NTObject{Type: typ, Object: shared, Name: attributes.Name, Security: attributes.Security, UID: p.Info.UID}
		st = k.addNTObject(o)
		if st.OK() {
			hold(shared)
			k.addNTHandle(o.Open(key, access, p.Info.UID))
		}
	}
	if !st.OK() {
		k.host.Close(fd) // the host will report its end; nobody knows the key
		return st
	}
	r.Out = append(r.Out, abi.OutFile{FD: fd})
	return abi.StatusSuccess
}

// addNTObject finds room for an object with its first handle, and gives it its name.
func (k *Kernel) addNTObject(o *object.NTObject) abi.Status {
	if !k.roomToShare(o.UID) {
		return abi.StatusNoMemory
	}
	if !o.Name.Named() {
		return abi.StatusSuccess
	}
	return k.names.Insert(o)
}

// hold takes the reference of an NT object on what it stands for.
func hold(shared any) {
	switch s := shared.(type) {
	case syncObject:
		s.Ref()
	case *bundle:
		s.ref()
	}
}

func (k *Kernel) addNTHandle(h *object.NTHandle) {
	k.handles[h.Key] = h
	k.shared[h.UID]++
}

// roomToShare reports whether a user may make one more NT handle: the last quarter
// of all is for other users.
func (k *Kernel) roomToShare(uid uint32) bool {
	most := k.limits.NTHandles
	return len(k.handles) < most && k.shared[uid] < most-most/4
}

// NTClosed tells that the last descriptor of an NT handle was closed, anywhere. With
// the last handle of an NT object its name goes; what it stands for lives on while
// something else refers to it (sharing.md §5.1, §6).
func (k *Kernel) NTClosed(key object.Key) {
	k.lock()
	defer k.unlock()
	h, ok := k.handles[key]
	if !ok {
		return
	}
	delete(k.handles, key)
	if k.shared[h.UID]--; k.shared[h.UID] == 0 {
		delete(k.shared, h.UID)
	}
	if !h.Close() {
		return
	}
	k.names.Remove(h.NTObject)
	switch s := h.Object.(type) {
	case syncObject:
		s.drop()
	case *bundle:
		s.drop()
	}
}

// shareable looks up what one handle may be shared as. INVALID_PARAMETER for all that
// was not made with NtSecuritySharing and for every list but the triple.
func (p *Process) shareable(list []abi.Handle) (object.Type, any, abi.Status) {
	switch first := p.table.Get(list[0]); {
	case len(list) == 1:
		if s := shareableSync(first); s != nil {
			return object.SyncObject, s, abi.StatusSuccess
		}
		if l, ok := first.(*resourceLocal); ok && l.resource.ntShared() {
			return object.Resource, &bundle{resource: l.resource}, abi.StatusSuccess
		}
	case len(list) == 3:
		res, isResource := first.(*resourceLocal)
		mutex, isMutex := p.table.Get(list[1]).(*keyedLocal)
		s := shareableSync(p.table.Get(list[2]))
		if isResource && isMutex && s != nil && res.resource.ntShared() && mutex.mutex.nt {
			return object.Resource, &bundle{res.resource, mutex.mutex, s}, abi.StatusSuccess
		}
	}
	return 0, nil, abi.StatusInvalidParameter
}

// shareableSync is the synchronization object behind a local object, if it may be
// shared through NT handles; else nil.
func shareableSync(entry any) syncObject {
	const nt = abi.SyncObjectShared | abi.SyncObjectNtSecuritySharing
	switch l := entry.(type) {
	case *local:
		if l.fence.Flags&nt == nt {
			return l.fence
		}
	case *plainLocal:
		if l.object.CreateFlags()&nt == nt && !l.unshared {
			return l.object
		}
	}
	return nil
}

// identify says which NT handle a request's first descriptor field is a copy of. It
// is asked before the lock is taken, and judged in its turn.
func (p *Process) identify(r *abi.Request) (object.Key, abi.Status) {
	if r.Files[0] < 0 {
		return object.Key{}, abi.StatusInvalidHandle
	}
	return p.k.host.Identify(p, r.Files[0])
}

// ntHandle finds the NT handle of a type that was identified. A pipe of somebody
// else's is of another type (OQ-56).
func (k *Kernel) ntHandle(key object.Key, keyStatus abi.Status, t object.Type) (*object.NTHandle, abi.Status) {
	if !keyStatus.OK() {
		return nil, keyStatus
	}
	nt, ok := k.handles[key]
	if !ok || nt.Type != t {
		return nil, abi.StatusObjectTypeMismatch
	}
	return nt, abi.StatusSuccess
}

// bundleOf finds the resource, or bundle, behind an NT handle.
func (k *Kernel) bundleOf(key object.Key, keyStatus abi.Status) (*bundle, object.Access, abi.Status) {
	nt, st := k.ntHandle(key, keyStatus, object.Resource)
	if !st.OK() {
		return nil, 0, st
	}
	return nt.Object.(*bundle), nt.Access, st
}

// openSyncObjectFromNtHandle2 makes a local object of device hDevice on the
// object behind an NT handle.
// Source: calls.md §4, objects.md §2.3, sharing.md §3.3, §4.3; OQ-4, OQ-6, OQ-59.
func (p *Process) openSyncObjectFromNtHandle2(r *abi.Request) abi.Status {
	rec := abi.View[abi.OpenSyncObjectFromNtHandle2](r.Record)
	k := p.k
	key, keyStatus := p.identify(r)
	k.lock()
	defer k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	if st := abi.CheckOpenFlags(abi.MonitoredFence, rec.Flags, d.adapter.Profile.WDDM); !st.OK() {
		return st
	}
	nt, st := k.ntHandle(key, keyStatus, object.SyncObject)
	if !st.OK() {
		return st
	}
	if f, ok := nt.Object.(*fence); !nt.Object.(syncObject).opensOn(d) || ok && f.intra() {
		return abi.StatusInvalidParameter
	}
	if st := d.usable(); !st.OK() {
		return st
	}
	if !nt.Access.Opens() {
		return abi.StatusAccessDenied
	}
	switch o := nt.Object.(type) {
	case *plain:
		l := o.add(p, d)
		if l == nil {
			return abi.StatusNoMemory
		}
		o.Ref()
		rec.HSyncObject = l.handle
	case *fence:
		l, st := o.open(r, d, rec.Flags, rec.MonitoredFence().EngineAffinity, nt.Access)
		if !st.OK() {
			return st
		}
		rec.HSyncObject = l.handle
		info := rec.MonitoredFence()
		info.FenceValueCPUVirtualAddress = 0 // the client's library knows it
		info.FenceValueGPUVirtualAddress = l.gpu
	}
	return abi.StatusSuccess
}

// openBundled opens the synchronization object of a bundle, whose rights are all.
func (p *Process) openBundled(r *abi.Request, d *device, s syncObject) (abi.Handle, abi.Status) {
	switch o := s.(type) {
	case *plain:
		l := o.add(p, d)
		if l == nil {
			return 0, abi.StatusNoMemory
		}
		o.Ref()
		return l.handle, abi.StatusSuccess
	default:
		l, st := o.(*fence).open(r, d, 0, 0, object.SyncObjectAll)
		if !st.OK() {
			return 0, st
		}
		return l.handle, st
	}
}

// open makes a local object on a fence, with the rights that flags and the access of
// the NT handle leave, which the engines of a mask see.
func (f *fence) open(r *abi.Request, d *device, flags abi.SyncObjectFlags, engines uint32, access object.Access) (*local, abi.Status) {
	l := &local{fence: f, device: d, flags: flags, since: d.process.k.now()}
	mayWait, maySignal := access.Rights()
	l.rights = rights(flags, mayWait, maySignal)
	if !l.link() {
		return nil, abi.StatusNoMemory
	}
	f.Ref()
	l.mapFence(engines)
	return l, l.grant(r, f.Backing().(Memory))
}
