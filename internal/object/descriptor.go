package object

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
)

// MaxACEs is how many entries of an access control list are kept; those that can be
// for nobody here do not count.
const MaxACEs = 64

// A self-relative SECURITY_DESCRIPTOR: 20 bytes, then SIDs and lists anywhere.
// Source: [MS-DTYP] 2.4.6.
const (
	descriptorLength = 20
	daclPresent      = 0x0004 // SE_DACL_PRESENT
	saclPresent      = 0x0010 // SE_SACL_PRESENT
	selfRelative     = 0x8000 // SE_SELF_RELATIVE

	aclHeader      = 8 // revision, Sbz1, size u16, count u16, Sbz2. [MS-DTYP] 2.4.5
	aclRevision    = 2
	aclRevisionDS  = 4
	aceHeader      = 8 // type, flags, size u16, mask u32. [MS-DTYP] 2.4.4
	aceAllowed     = 0
	aceDenied      = 1
	aceInheritOnly = 0x08 // not for this object
)

// ParseSecurity reads a self-relative security descriptor, nil for none, of an object
// that user uid of group gid makes. What a descriptor leaves out is the maker's and the
// default; a list that is present but NULL lets everybody do everything, an
// empty one nobody anything. The system list is for audits and integrity labels, which
// nobody keeps here: it is only checked to be there.
//
// Users and groups are SIDs like S-1-22-1-1000 and S-1-22-2-100 (see identify). An
// entry for anybody else is for nobody.
//
// It fails with STATUS_INVALID_PARAMETER (the package abi has no closer status)
// for a descriptor that is malformed or has pointers; for entries other than allowed
// and denied, for leaving one out could let somebody in; and for an owner who is not
// the maker, except when root makes it (STATUS_INVALID_OWNER in NT): nobody gives
// objects away. It fails with STATUS_NO_MEMORY beyond MaxACEs.
// Source: [MS-DTYP] 2.4.2 to 2.4.6; sharing.md §4.4; OQ-21.
func ParseSecurity(b []byte, uid, gid uint32) (Security, abi.Status) {
	if b == nil {
		return DefaultSecurity(uid, gid), abi.StatusSuccess
	}
	if len(b) < descriptorLength || b[0] != 1 {
		return Security{}, abi.StatusInvalidParameter
	}
	control := binary.LittleEndian.Uint16(b[2:])
	owner, hasOwner, ok1 := sidAt(b, 4)
	group, hasGroup, ok2 := sidAt(b, 8)
	_, ok3 := aclAt(b, 12, control&saclPresent != 0)
	list, ok4 := aclAt(b, 16, control&daclPresent != 0)
	if control&selfRelative == 0 || !ok1 || !ok2 || !ok3 || !ok4 {
		return Security{}, abi.StatusInvalidParameter
	}
	s := Security{UID: uid, GID: gid}
	if hasOwner {
		w, id := identify(owner)
		if isRoot(owner) {
			w, id = whoUser, 0
		}
		if w != whoUser || id != uid && uid != 0 {
			return Security{}, abi.StatusInvalidParameter
		}
		s.UID = id
	}
	if hasGroup {
		s.GID = NoGroup
		if w, id := identify(group); w == whoGroup {
			s.GID = id
		}
	}
	switch {
	case control&daclPresent == 0:
		s.aces = DefaultSecurity(uid, gid).aces
	case list == nil:
		s.everybody = true
	default:
		if st := s.read(list); !st.OK() {
			return Security{}, st
		}
	}
	return s, abi.StatusSuccess
}

// read appends the entries of a list, header included.
func (s *Security) read(list []byte) abi.Status {
	count := binary.LittleEndian.Uint16(list[4:])
	list = list[aclHeader:]
	for range count {
		if len(list) < aceHeader {
			return abi.StatusInvalidParameter
		}
		kind, flags, size := list[0], list[1], int(binary.LittleEndian.Uint16(list[2:]))
		if kind != aceAllowed && kind != aceDenied || size < aceHeader || size > len(list) {
			return abi.StatusInvalidParameter
		}
		id, ok := sid(list[aceHeader:size])
		if !ok {
			return abi.StatusInvalidParameter
		}
		a := ace{deny: kind == aceDenied, mask: Access(binary.LittleEndian.Uint32(list[4:]))}
		list = list[size:]
		if a.who, a.id = identify(id); a.who == whoNobody || flags&aceInheritOnly != 0 {
			continue
		}
		if isOwnerRights(id) {
			s.ownerTold = true
		}
		if len(s.aces) == MaxACEs {
			return abi.StatusNoMemory
		}
		s.aces = append(s.aces, a)
	}
	return abi.StatusSuccess
}

// sidAt returns the SID that the offset at field leads to; there is none where it
// is 0.
func sidAt(b []byte, field int) (id []byte, present, ok bool) {
	at := binary.LittleEndian.Uint32(b[field:])
	if at == 0 {
		return nil, false, true
	}
	if at < descriptorLength || uint64(at) > uint64(len(b)) {
		return nil, false, false
	}
	id, ok = sid(b[at:])
	return id, true, ok
}

// aclAt returns the list that the offset at field leads to, nil where it is 0 or not
// said to be present.
func aclAt(b []byte, field int, present bool) (list []byte, ok bool) {
	at := binary.LittleEndian.Uint32(b[field:])
	if at == 0 || !present {
		return nil, true
	}
	if at < descriptorLength || uint64(at)+aclHeader > uint64(len(b)) {
		return nil, false
	}
	list = b[at:]
	size := int(binary.LittleEndian.Uint16(list[2:]))
	if list[0] < aclRevision || list[0] > aclRevisionDS || size < aclHeader || size > len(list) {
		return nil, false
	}
	return list[:size], true
}

// MakeDescriptor builds a self-relative security descriptor for owner, group and
// nine mode bits as of a file, 0o640 for "rw-r-----". As there, only the first that
// fits counts: the owner's bits for the owner, the group's for its members, the
// others' for everybody else. r is GENERIC_READ, w is GENERIC_WRITE, both together are
// GENERIC_ALL, which is what programs ask for; x and higher bits mean nothing.
//
// Programs in C can build the same bytes, or pass fewer entries:
// a descriptor with control 0x8004 and one entry {allowed, GENERIC_ALL, S-1-1-0} is for
// everybody.
func MakeDescriptor(uid, gid uint32, mode uint16) []byte {
	owner, group := unixSID(sidUnixUser, uid), unixSID(sidUnixGroup, gid)
	b := make([]byte, descriptorLength, 256)
	b[0] = 1
	binary.LittleEndian.PutUint16(b[2:], selfRelative|daclPresent)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)))
	b = append(b, owner...)
	binary.LittleEndian.PutUint32(b[8:], uint32(len(b)))
	b = append(b, group...)
	acl := len(b)
	binary.LittleEndian.PutUint32(b[16:], uint32(acl))
	b = append(b, aclRevision, 0, 0, 0, 0, 0, 0, 0)
	count := uint16(0)
	add := func(kind byte, mask Access, id []byte) {
		b = append(b, kind, 0)
		b = binary.LittleEndian.AppendUint16(b, uint16(aceHeader+len(id)))
		b = binary.LittleEndian.AppendUint32(b, uint32(mask))
		b = append(b, id...)
		count++
	}
	// Each class is first given what it has and then denied the rest, so that no later
	// entry is for it.
	for i, id := range [...][]byte{owner, group, sidEverybody} {
		if allowed := [...]Access{0, GenericWrite, GenericRead, GenericAll}[mode>>(7-3*i)&3]; allowed != 0 {
			add(aceAllowed, allowed, id)
		}
		add(aceDenied, GenericAll, id)
	}
	binary.LittleEndian.PutUint16(b[acl+2:], uint16(len(b)-acl))
	binary.LittleEndian.PutUint16(b[acl+4:], count)
	return b
}
