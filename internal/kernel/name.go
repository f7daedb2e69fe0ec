package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

func (p *Process) openSyncObjectNtHandleFromName(r *abi.Request) abi.Status {
	rec := abi.View[abi.OpenSyncObjectNtHandleFromName](r.Record)
	return p.openName(r, object.Access(rec.DwDesiredAccess), object.SyncObject)
}

func (p *Process) openNtHandleFromName(r *abi.Request) abi.Status {
	rec := abi.View[abi.OpenNtHandleFromName](r.Record)
	return p.openName(r, object.Access(rec.DwDesiredAccess), object.Resource)
}

// openName makes a new NT handle on the NT object of a name. The name is looked up
// before the rights are (measured). Source: sharing.md §5.1, §5.2; calls.md §4, §7.
func (p *Process) openName(r *abi.Request, desired object.Access, t object.Type) abi.Status {
	if r.Arrays[0] == nil {
		return abi.StatusInvalidParameter
	}
	attributes, st := object.ParseAttributes(r.Arrays[0], r.Arrays[1], r.Arrays[2], p.Info.UID, p.Info.GID)
	if !st.OK() {
		return st
	}
	if !attributes.Name.Named() {
		return abi.StatusInvalidParameter // a NULL ObjectName (calls.md §1.1 step 3)
	}
	k := p.k
	k.host.Settle() // a name goes with its last handle, at once
	k.lock()
	_, _, st = p.lookUp(attributes.Name, desired, t)
	k.unlock()
	if !st.OK() {
		return st
	}
	key, fd, st := k.host.NewNTHandle() // before the lock is taken: it takes microseconds
	if !st.OK() {
		return st
	}
	k.lock()
	defer k.unlock()
	o, access, st := p.lookUp(attributes.Name, desired, t)
	if st.OK() && !k.roomToShare(p.Info.UID) {
		st = abi.StatusNoMemory
	}
	if !st.OK() {
		k.host.Close(fd) // the host will report its end; nobody knows the key
		return st
	}
	k.addNTHandle(o.Open(key, access, p.Info.UID))
	r.Out = append(r.Out, abi.OutFile{FD: fd})
	return abi.StatusSuccess
}

// lookUp finds the NT object of a name and what the process may have of it.
func (p *Process) lookUp(n object.Name, desired object.Access, t object.Type) (*object.NTObject, object.Access, abi.Status) {
	o, st := p.k.names.Lookup(n, t)
	if !st.OK() {
		return nil, 0, st
	}
	access, st := o.Grant(p.Info.UID, p.Info.Groups, desired)
	return o, access, st
}
