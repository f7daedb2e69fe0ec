package object

import (
	"fmt"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
)

// A Security says who may open an NT object by name: a security descriptor whose
// users and groups are those of Unix. The zero Security belongs to root and lets
// nobody else in.
//
// Possession of an NT handle needs no further check (sharing.md §4.4).
type Security struct {
	UID, GID uint32 // owner and group; NoGroup = none that anybody is in

	everybody bool // no list: everybody may do everything
	ownerTold bool // the list speaks of owner rights: none are implied
	aces      []ace
}

// NoGroup is a group id that nobody has.
const NoGroup = ^uint32(0)

// An ace lets in or keeps out.
type ace struct {
	deny bool
	who  who
	id   uint32 // for whoUser and whoGroup
	mask Access // generic bits not yet mapped
}

// A who is whom an ace is for.
type who uint8

const (
	whoNobody who = iota // somebody who cannot exist here, or root
	whoUser
	whoGroup
	whoOwner
	whoOwnerGroup
	whoEverybody
)

// DefaultSecurity is that of an object whose maker gave none: the owner may do
// everything, and nobody else but root anything (sharing.md §4.4, OQ-21).
func DefaultSecurity(uid, gid uint32) Security {
	return Security{UID: uid, GID: gid, aces: []ace{{who: whoOwner, mask: GenericAll}}}
}

// Grant decides what user uid, in groups gids, gets of the access he desires to an
// object of type t: all of it, with MAXIMUM_ALLOWED all that there is for him, or
// STATUS_ACCESS_DENIED. Nothing desired, or nothing there, is refused as well.
//
// The list is read in its order; for each right the first entry that is for the caller
// and names the right decides. Rights that no entry names are refused. The owner
// has READ_CONTROL and WRITE_DAC whatever the list says, unless it speaks of owner
// rights; root has everything. Source: Microsoft's description of AccessCheck;
// sharing.md §4.3, §4.4; OQ-21.
func (s *Security) Grant(uid uint32, gids []uint32, desired Access, t Type) (Access, abi.Status) {
	want, maximum, st := t.desired(desired)
	if !st.OK() {
		return 0, st
	}
	granted := s.granted(uid, gids, t)
	if maximum {
		want |= granted
	}
	if want == 0 || want&^granted != 0 {
		return 0, abi.StatusAccessDenied
	}
	return want, abi.StatusSuccess
}

// granted returns everything that a user may do.
func (s *Security) granted(uid uint32, gids []uint32, t Type) Access {
	if uid == 0 || s.everybody {
		return types[t].valid
	}
	var granted, denied Access
	if uid == s.UID && !s.ownerTold {
		granted = ReadControl | WriteDAC
	}
	for i := range s.aces {
		a := &s.aces[i]
		if !s.isFor(a, uid, gids) {
			continue
		}
		if mask := t.generic(a.mask) & types[t].valid; a.deny {
			denied |= mask // what was granted before stays so
		} else {
			granted |= mask &^ denied
		}
	}
	return granted
}

func (s *Security) isFor(a *ace, uid uint32, gids []uint32) bool {
	switch a.who {
	case whoUser:
		return uid == a.id
	case whoGroup:
		return slices.Contains(gids, a.id)
	case whoOwner:
		return uid == s.UID
	case whoOwnerGroup:
		return slices.Contains(gids, s.GID)
	case whoEverybody:
		return true
	}
	return false
}

// Mode returns the rights as nine mode bits like those of a file: r where GENERIC_READ
// would be granted, w where GENERIC_WRITE would, for the owner, for members of the
// group, for others. more reports that the list also names other users or groups,
// which the bits do not show. x is never set.
func (s *Security) Mode(t Type) (mode uint16, more bool) {
	// An id that is nobody's stands for those who are neither named nor the owner.
	const nobody = ^uint32(0)
	for _, c := range [...]struct {
		uid  uint32
		gids []uint32
	}{{s.UID, nil}, {nobody, []uint32{s.GID}}, {nobody, nil}} {
		granted := s.granted(c.uid, c.gids, t)
		mode <<= 3
		if granted&types[t].read == types[t].read {
			mode |= 4
		}
		if granted&types[t].write == types[t].write {
			mode |= 2
		}
	}
	for _, a := range s.aces {
		if a.who == whoUser && a.id != s.UID || a.who == whoGroup && a.id != s.GID {
			more = true
		}
	}
	return mode, more
}

// String returns owner, group and mode, "1000:100 rw-r-----", with a + behind when
// the list names others. The letters are those of a synchronization object: r for
// WAIT, w for SIGNAL.
func (s *Security) String() string {
	mode, more := s.Mode(SyncObject)
	letters := []byte("rwxrwxrwx")
	for i := range letters {
		if mode>>(8-i)&1 == 0 {
			letters[i] = '-'
		}
	}
	if more {
		letters = append(letters, '+')
	}
	group := "-"
	if s.GID != NoGroup {
		group = fmt.Sprint(s.GID)
	}
	return fmt.Sprintf("%d:%s %s", s.UID, group, letters)
}
