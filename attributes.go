package dxgsync

import (
	"encoding/binary"
	"unicode/utf16"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
)

// Attributes are what OBJECT_ATTRIBUTES say of an NT handle. nil stands for none.
type Attributes struct {
	// Name is the object's name, such as `\BaseNamedObjects\Frames`, at most 32767
	// UTF-16 units; "": none.
	Name string
	// Inherit leaves the descriptor open in programs that this process starts.
	Inherit bool
	// Security is a security descriptor in self-relative form; nil: the default.
	Security []byte
	// Bits are further bits of OBJECT_ATTRIBUTES.Attributes.
	Bits uint32
}

// objInherit is OBJ_INHERIT.
const objInherit = 0x2

// elsewhere stands for an address: what is there travels by itself.
const elsewhere = 1

// arrays are the record, the name and the security descriptor as they travel.
func (a *Attributes) arrays() (record, name, security []byte) {
	if a == nil {
		return nil, nil, nil
	}
	rec := abi.ObjectAttributes{Length: 0x30, Attributes: a.Bits}
	if a.Inherit {
		rec.Attributes |= objInherit
	}
	if a.Name != "" {
		rec.ObjectName = elsewhere
		for _, unit := range utf16.Encode([]rune(a.Name)) {
			name = binary.LittleEndian.AppendUint16(name, unit)
		}
	}
	if a.Security != nil {
		rec.SecurityDescriptor = elsewhere
	}
	return bytesOf([]abi.ObjectAttributes{rec}), name, a.Security
}

// handle makes a request that answers an NT handle, whose descriptor is the caller's.
func (s *Session) handle(r *abi.Request, a *Attributes) (fd int, st abi.Status) {
	for i := range r.Op.Arrays {
		if row := &r.Op.Arrays[i]; row.From != abi.FromRecord && len(r.Arrays[i]) > int(row.Max*row.Elem) {
			return -1, abi.StatusInvalidParameter
		}
	}
	if st = s.Do(r); st != abi.StatusSuccess {
		closeFiles(r)
		return -1, st
	}
	fd, st = ownFile(r.Out[0])
	if st == abi.StatusSuccess && a != nil && (a.Inherit || a.Bits&objInherit != 0) {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0) // it is ours and open
	}
	return fd, st
}
