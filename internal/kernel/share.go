package kernel

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// maxObjectsPerHandle is D3DKMT_MAX_OBJECTS_PER_HANDLE.
const maxObjectsPerHandle = 3

// shareObjects makes an NT handle for one synchronization object.
// Source: calls.md §4, sharing.md §3, §4; OQ-19, OQ-20.
func (p *Process) shareObjects(r *abi.Request) abi.Status {
	rec := abi.View[abi.ShareObjects](r.Record)
	handles, attributes, out := r.Arrays[0], r.Arrays[1], r.Arrays[2]
	if rec.ObjectCount == 0 || rec.ObjectCount > maxObjectsPerHandle || handles == nil || out == nil {
		return abi.StatusInvalidParameter
	}
	named, st := checkAttributes(attributes)
	if !st.OK() {
		return st
	}
	k := p.k
	l, st := p.shareable(rec.ObjectCount, handles)
	if !st.OK() {
		return st
	}
	access, st := object.SyncObject.Access(object.Access(rec.DesiredAccess))
	if !st.OK() {
		return st
	}
	if named {
		return abi.StatusNotSupported
	}
	// The descriptor is made before the lock is taken: it takes microseconds.
	key, fd, st := k.host.NewNTHandle()
	if !st.OK() {
		return st
	}
	k.lock()
	defer k.unlock()
	if again, ok := object.Get[*local](&p.table, l.handle); !ok || again != l || !k.roomToShare(p.Info.UID) {
		k.host.Close(fd) // the host will report its end; nobody knows the key
		if !ok || again != l {
			return abi.StatusInvalidParameter
		}
		return abi.StatusNoMemory
	}
	l.fence.Ref()
	nt := &object.NTObject{Type: object.SyncObject, Object: l.fence, UID: p.Info.UID}
	k.handles[key] = nt.Open(key, access, p.Info.UID)
	k.shared[p.Info.UID]++
	r.Out = append(r.Out, abi.OutFile{FD: fd})
	return abi.StatusSuccess
}

// roomToShare reports whether a user may make one more NT handle: the last quarter
// of all is for other users.
func (k *Kernel) roomToShare(uid uint32) bool {
	most := k.limits.NTHandles
	return len(k.handles) < most && k.shared[uid] < most-most/4
}

// shareable looks up what one handle may be shared as: exactly one local object
// made with Shared and NtSecuritySharing. Bundles need resources, which nobody
// can make yet, so no list of several handles can be right.
func (p *Process) shareable(count uint32, handles []byte) (*local, abi.Status) {
	p.k.lock()
	defer p.k.unlock()
	l, ok := object.Get[*local](&p.table, abi.Handle(binary.LittleEndian.Uint32(handles)))
	const nt = abi.SyncObjectShared | abi.SyncObjectNtSecuritySharing
	if count != 1 || !ok || l.fence.Flags&nt != nt {
		return nil, abi.StatusInvalidParameter
	}
	return l, abi.StatusSuccess
}

// OBJECT_ATTRIBUTES fields and attribute bits. Source: sharing.md §5.
const (
	attributesLength = 0x30
	objRefused       = 0x10 | 0x20 | 0x80 | 0x200 // PERMANENT, EXCLUSIVE, OPENIF, KERNEL_HANDLE
)

// checkAttributes checks pObjectAttributes as far as it goes without a name, and
// says whether there is one.
func checkAttributes(a []byte) (named bool, st abi.Status) {
	if a == nil {
		return false, abi.StatusSuccess
	}
	length, bits := binary.LittleEndian.Uint32(a), binary.LittleEndian.Uint32(a[0x18:])
	if length != attributesLength || bits&objRefused != 0 {
		return false, abi.StatusInvalidParameter
	}
	return binary.LittleEndian.Uint64(a[0x10:]) != 0, abi.StatusSuccess
}

// openSyncObjectFromNtHandle2 makes a local object of device hDevice on the
// object behind an NT handle.
// Source: calls.md §4, objects.md §2.3, sharing.md §3.3, §4.3; OQ-4, OQ-6, OQ-59.
func (p *Process) openSyncObjectFromNtHandle2(r *abi.Request) abi.Status {
	rec := abi.View[abi.OpenSyncObjectFromNtHandle2](r.Record)
	k := p.k
	// The handle is looked at before the lock is taken, and judged in its turn.
	key, keyStatus := object.Key{}, abi.StatusInvalidHandle
	if fd := r.Files[0]; fd >= 0 {
		key, keyStatus = k.host.Identify(p, fd)
	}
	k.lock()
	defer k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	if st := abi.CheckOpenFlags(abi.MonitoredFence, rec.Flags, d.adapter.Profile.WDDM); !st.OK() {
		return st
	}
	if !keyStatus.OK() {
		return keyStatus
	}
	nt, ok := k.handles[key]
	if !ok {
		return abi.StatusObjectTypeMismatch // a pipe of somebody else's (OQ-56)
	}
	f := nt.Object.(*fence)
	if f.adapter != d.adapter && f.Flags&abi.SyncObjectCrossAdapter == 0 {
		return abi.StatusInvalidParameter
	}
	if !nt.Access.Opens() {
		return abi.StatusAccessDenied
	}
	l := &local{fence: f, device: d, flags: rec.Flags, since: k.now()}
	mayWait, maySignal := nt.Access.Rights()
	l.rights = rights(rec.Flags, mayWait, maySignal)
	if !l.link() {
		return abi.StatusNoMemory
	}
	f.Ref()
	l.gpu = p.gpuAddress(f.Flags)
	if st := l.grant(r, f.Backing().(Memory)); !st.OK() {
		return st
	}
	rec.HSyncObject = l.handle
	info := rec.MonitoredFence()
	info.FenceValueCPUVirtualAddress = 0 // the client's library knows it
	info.FenceValueGPUVirtualAddress = l.gpu
	return abi.StatusSuccess
}
