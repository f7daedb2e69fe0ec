package dxgsync

import "github.com/dxgsync/dxgsync/abi"

// ShareObjects makes an NT handle, a descriptor that the caller must close, for
// objects; attributes may be nil. A name that is too long is
// StatusInvalidParameter.
func (s *Session) ShareObjects(r *abi.ShareObjects, objects []abi.Handle, attributes *Attributes) (fd int, st abi.Status) {
	r.ObjectCount = uint32(len(objects))
	record, name, security := attributes.arrays()
	var handle [8]byte
	return s.handle(request(abi.OpShareObjects, r, bytesOf(objects), record, handle[:], name, security), attributes)
}

// OpenSyncObjectNtHandleFromName makes an NT handle, a descriptor that the caller must
// close, for the synchronization object of a name.
func (s *Session) OpenSyncObjectNtHandleFromName(r *abi.OpenSyncObjectNtHandleFromName, attributes *Attributes) (fd int, st abi.Status) {
	record, name, security := attributes.arrays()
	return s.handle(request(abi.OpOpenSyncObjectNtHandleFromName, r, record, name, security), attributes)
}

// OpenNtHandleFromName makes an NT handle, a descriptor that the caller must close, for
// the resource of a name.
func (s *Session) OpenNtHandleFromName(r *abi.OpenNtHandleFromName, attributes *Attributes) (fd int, st abi.Status) {
	record, name, security := attributes.arrays()
	return s.handle(request(abi.OpOpenNtHandleFromName, r, record, name, security), attributes)
}

// OpenSyncObjectFromNtHandle opens the object behind an NT handle.
func (s *Session) OpenSyncObjectFromNtHandle(r *abi.OpenSyncObjectFromNtHandle) abi.Status {
	req := request(abi.OpOpenSyncObjectFromNtHandle, r)
	req.Files[0] = descriptor(r.HNtHandle)
	return s.granted(req, s.Do(req), &r.HSyncObject)
}

// OpenSynchronizationObject opens the object of a global handle.
func (s *Session) OpenSynchronizationObject(r *abi.OpenSynchronizationObject) abi.Status {
	req := request(abi.OpOpenSynchronizationObject, r)
	return s.granted(req, s.Do(req), &r.HSyncObject)
}
