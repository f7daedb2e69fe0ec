package object

import "github.com/dxgsync/dxgsync/abi"

// What one namespace holds at most. One user may have three quarters of each.
const (
	// MaxNames is how many names there can be.
	MaxNames = 8192
	// MaxNameBytes is how many bytes of UTF-16 they can have together.
	MaxNameBytes = 16 << 20
)

// A Namespace holds the named NT objects of all types and users. A look-up costs no
// more than the length of the name. The zero Namespace is not ready; use
// NewNamespace.
type Namespace struct {
	objects      map[place]*NTObject
	names, bytes quota
}

// NewNamespace makes an empty namespace.
func NewNamespace() *Namespace {
	return &Namespace{objects: map[place]*NTObject{}, names: newQuota(MaxNames), bytes: newQuota(MaxNameBytes)}
}

// Lookup returns the object of a name. It fails with STATUS_OBJECT_NAME_NOT_FOUND,
// and with STATUS_OBJECT_TYPE_MISMATCH when the name is that of another type or of a
// directory. Source: sharing.md §5, §5.2.
func (s *Namespace) Lookup(n Name, t Type) (*NTObject, abi.Status) {
	o, ok := s.objects[n.place]
	switch {
	case n.place.base == "" || ok && o.Type != t:
		return nil, abi.StatusObjectTypeMismatch
	case !ok:
		return nil, abi.StatusObjectNameNotFound
	}
	return o, abi.StatusSuccess
}

// Insert makes o known by its name, which it must have. It fails with
// STATUS_OBJECT_NAME_COLLISION when the name exists, for an object of either type or
// a directory, and with STATUS_NO_MEMORY at a limit. Source: sharing.md §5.
func (s *Namespace) Insert(o *NTObject) abi.Status {
	p, size := o.Name.place, len(o.Name.spelling)
	if _, taken := s.objects[p]; taken || p.base == "" {
		return abi.StatusObjectNameCollision
	}
	if !s.names.room(o.UID, 1) || !s.bytes.room(o.UID, size) {
		return abi.StatusNoMemory
	}
	s.objects[p] = o
	s.names.add(o.UID, 1)
	s.bytes.add(o.UID, size)
	return abi.StatusSuccess
}

// Remove forgets the name of o, when it has one that was inserted. It may then be
// given again (sharing.md §5.1).
func (s *Namespace) Remove(o *NTObject) {
	if !o.Name.Named() || s.objects[o.Name.place] != o {
		return
	}
	delete(s.objects, o.Name.place)
	s.names.add(o.UID, -1)
	s.bytes.add(o.UID, -len(o.Name.spelling))
}

// Len returns how many names there are.
func (s *Namespace) Len() int { return len(s.objects) }
