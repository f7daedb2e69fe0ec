package object

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
)

// Attributes is what an OBJECT_ATTRIBUTES says.
type Attributes struct {
	Name     Name // the zero name when there is none
	Inherit  bool // the handle is for child processes too: a descriptor without close-on-exec
	Security Security
}

// OBJECT_ATTRIBUTES: its length, and the attribute bits that mean something here.
const (
	attributesLength   = 0x30
	objInherit         = 0x2
	objCaseInsensitive = 0x40 // changes nothing: names always are
)

// ParseAttributes reads an OBJECT_ATTRIBUTES with what its pointers lead to: the bytes
// of ObjectName (nil = NULL, an unnamed object) and a self-relative security
// descriptor (nil = NULL, the default); the pointers themselves are not looked at.
// A nil record stands for no attributes at all. uid and gid are the caller's, who
// will own the object. It fails, looking in this order, with
//
//	STATUS_INVALID_PARAMETER  Length is not 0x30; an attribute other than OBJ_INHERIT
//	                          and OBJ_CASE_INSENSITIVE; a name of an odd number of
//	                          bytes; a malformed descriptor
//	STATUS_NO_MEMORY          a descriptor beyond MaxACEs
//	STATUS_INVALID_HANDLE     a name and a RootDirectory: no call makes a handle on a
//	                          directory, so none can be one. Without a name there is
//	                          nothing to look for in it.
//	what ParseName gives
//
// OBJ_PERMANENT, OBJ_EXCLUSIVE and OBJ_KERNEL_HANDLE are not for user mode, and
// OBJ_OPENIF must not make ShareObjects return another object. All other bits are
// refused as well: each promises something that nobody here would keep.
// Source: sharing.md §5; OQ-21.
func ParseAttributes(record, name, descriptor []byte, uid, gid uint32) (Attributes, abi.Status) {
	if record == nil {
		return Attributes{Security: DefaultSecurity(uid, gid)}, abi.StatusSuccess
	}
	if len(record) < attributesLength || binary.LittleEndian.Uint32(record) != attributesLength {
		return Attributes{}, abi.StatusInvalidParameter
	}
	root, bits := binary.LittleEndian.Uint64(record[8:]), binary.LittleEndian.Uint32(record[0x18:])
	if bits&^(objInherit|objCaseInsensitive) != 0 || len(name)%2 != 0 {
		return Attributes{}, abi.StatusInvalidParameter
	}
	a := Attributes{Inherit: bits&objInherit != 0}
	var st abi.Status
	if a.Security, st = ParseSecurity(descriptor, uid, gid); !st.OK() {
		return Attributes{}, st
	}
	if name == nil {
		return a, abi.StatusSuccess
	}
	if root != 0 {
		return Attributes{}, abi.StatusInvalidHandle
	}
	if a.Name, st = ParseName(name); !st.OK() {
		return Attributes{}, st
	}
	return a, abi.StatusSuccess
}
