package object

import "github.com/dxgsync/dxgsync/abi"

// An NTObject is what one call of ShareObjects makes: it stands for the shared
// thing, and has the name and the rights. It lives while an NT handle on it is open
// anywhere, and its name with it, whoever else keeps the shared thing itself
// alive. Two calls for one thing make two NT objects (sharing.md §5.1).
type NTObject struct {
	Type     Type
	Object   any
	Name     Name // the zero name when it has none
	Security Security
	UID      uint32 // of the user who made it, and pays for its name

	handles int
}

// An NTHandle is one NT handle, that is one pipe whose write end the holders have:
// duplicates of a descriptor are the same handle. It ends with the last descriptor
// anywhere.
type NTHandle struct {
	*NTObject
	Key    Key
	Access Access
	UID    uint32 // of the user who made the handle
}

// A Key is the identity of an NT handle: the device and inode number of its pipe.
type Key struct{ Dev, Ino uint64 }

// NTHandles is the system-wide table of NT handles. The zero table is not ready;
// use make.
type NTHandles map[Key]*NTHandle

// Open makes one more handle on o. Every handle must be closed once.
func (o *NTObject) Open(key Key, access Access, uid uint32) *NTHandle {
	o.handles++
	return &NTHandle{NTObject: o, Key: key, Access: access, UID: uid}
}

// Close ends a handle whose last descriptor was closed. It reports whether the
// handle was the last of its object: then the name goes (Namespace.Remove) and the
// reference to the shared thing.
func (h *NTHandle) Close() (last bool) {
	h.handles--
	if h.handles < 0 {
		panic("object: an NT object was closed more often than opened")
	}
	return h.handles == 0
}

// Grant decides what a handle opened by name gets: Security.Grant, and for
// synchronization objects one thing more. A handle with neither specific bit gives
// full rights (Access.Rights), which must not be a way around the descriptor; so who
// asks for neither asks for what the descriptor allows him of the two, and is refused
// with STATUS_ACCESS_DENIED when that is nothing.
// Source: sharing.md §4.3, §4.4, §5.2; OQ-20, OQ-21.
func (o *NTObject) Grant(uid uint32, gids []uint32, desired Access) (Access, abi.Status) {
	granted, st := o.Security.Grant(uid, gids, desired, o.Type)
	const specific = AccessWait | AccessSignal
	if !st.OK() || o.Type != SyncObject || granted&specific != 0 || !granted.Opens() {
		return granted, st
	}
	most, _ := o.Security.Grant(uid, gids, MaximumAllowed, o.Type)
	if most&specific == 0 {
		return 0, abi.StatusAccessDenied
	}
	return granted | most&specific, abi.StatusSuccess
}
