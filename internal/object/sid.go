package object

import (
	"bytes"
	"encoding/binary"
)

// A SID: revision 1, count of subauthorities, authority in 6 bytes big-endian,
// subauthorities u32. Source: [MS-DTYP] 2.4.2.
const (
	sidHeader         = 8
	maxSubAuthorities = 15
)

// The SIDs that mean something here. Source: [MS-DTYP] 2.4.2.4; those of Unix users and
// groups are the convention of Samba, S-1-22-1-uid and S-1-22-2-gid.
var (
	sidEverybody      = makeSID(1, 0)             // S-1-1-0, Everyone
	sidCreatorOwner   = makeSID(3, 0)             // S-1-3-0
	sidCreatorGroup   = makeSID(3, 1)             // S-1-3-1
	sidOwnerRights    = makeSID(3, 4)             // S-1-3-4
	sidAuthenticated  = makeSID(5, 11)            // S-1-5-11: everybody, for the kernel knows every peer
	sidSystem         = makeSID(5, 18)            // S-1-5-18: root
	sidAdministrators = makeSID(5, 32, 544)       // S-1-5-32-544: root
	sidUnixUser       = makeSID(authorityUnix, 1) // S-1-22-1, a prefix
	sidUnixGroup      = makeSID(authorityUnix, 2) // S-1-22-2, a prefix
)

const authorityUnix = 22

func makeSID(authority byte, sub ...uint32) []byte {
	b := []byte{1, byte(len(sub)), 0, 0, 0, 0, 0, authority}
	for _, s := range sub {
		b = binary.LittleEndian.AppendUint32(b, s)
	}
	return b
}

// unixSID is the SID of a user or group.
func unixSID(prefix []byte, id uint32) []byte {
	b := binary.LittleEndian.AppendUint32(bytes.Clone(prefix), id)
	b[1]++
	return b
}

// sid returns the SID at the front of b.
func sid(b []byte) (id []byte, ok bool) {
	if len(b) < sidHeader || b[0] != 1 || b[1] > maxSubAuthorities {
		return nil, false
	}
	n := sidHeader + 4*int(b[1])
	if n > len(b) {
		return nil, false
	}
	return b[:n], true
}

// identify says who a SID is. Root is nobody: no entry can give him more or take
// anything away. So are users and groups that cannot exist on Linux.
func identify(id []byte) (who, uint32) {
	switch {
	case bytes.Equal(id, sidEverybody), bytes.Equal(id, sidAuthenticated):
		return whoEverybody, 0
	case bytes.Equal(id, sidCreatorOwner), isOwnerRights(id):
		return whoOwner, 0
	case bytes.Equal(id, sidCreatorGroup):
		return whoOwnerGroup, 0
	}
	if n, ok := unixID(id, sidUnixUser); ok {
		return whoUser, n
	}
	if n, ok := unixID(id, sidUnixGroup); ok {
		return whoGroup, n
	}
	return whoNobody, 0
}

// unixID returns the number of a user or group. The largest is none: it means "no id"
// to Linux.
func unixID(id, prefix []byte) (uint32, bool) {
	if len(id) != len(prefix)+4 || !bytes.Equal(id[2:len(prefix)], prefix[2:]) {
		return 0, false
	}
	n := binary.LittleEndian.Uint32(id[len(prefix):])
	return n, n != ^uint32(0)
}

// isRoot reports whether a SID is one that root acts as.
func isRoot(id []byte) bool {
	return bytes.Equal(id, sidSystem) || bytes.Equal(id, sidAdministrators)
}

func isOwnerRights(id []byte) bool { return bytes.Equal(id, sidOwnerRights) }
