package object

import (
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf16"

	"github.com/dxgsync/dxgsync/abi"
)

// MaxNameUnits is how long a name may be, its directory included, in UTF-16 units:
// as much as a UNICODE_STRING can say.
const MaxNameUnits = 32767

// A Name is the name of an NT object: a directory and a name in it, compared without
// regard to letter case, and the spelling of whoever gave it. The zero Name is
// that of an object without one.
//
// The directories are \BaseNamedObjects, and \Sessions\n\BaseNamedObjects for n from
// 0 to 2^31-1, each its own. Inside them Global\ leads to \BaseNamedObjects and
// Local\ stays. There are no others. Source: sharing.md §5; OQ-21, OQ-60.
type Name struct {
	spelling string // UTF-16LE, as given
	place    place
}

// A place is what a name stands for: two names that differ in letter case or in the
// way to the directory are one place.
type place struct {
	directory int32  // number of the session, or global
	base      string // UTF-16LE in upper case; "" = the directory itself, or one above it
}

// global is the directory \BaseNamedObjects.
const global = -1

// ParseName reads a full name in UTF-16LE. It fails, looking in this order, with
//
//	STATUS_INVALID_PARAMETER       an odd number of bytes
//	STATUS_OBJECT_NAME_INVALID     nothing, or more than MaxNameUnits
//	STATUS_OBJECT_PATH_SYNTAX_BAD  no backslash at the front
//	STATUS_OBJECT_NAME_INVALID     an empty component, a backslash at the end, a NUL
//	STATUS_OBJECT_PATH_NOT_FOUND   a directory that does not exist
//
// Unpaired surrogates are units like others. Source: sharing.md §5, OQ-21.
func ParseName(utf16le []byte) (Name, abi.Status) {
	n := len(utf16le) / 2
	switch {
	case len(utf16le)%2 != 0:
		return Name{}, abi.StatusInvalidParameter
	case n == 0 || n > MaxNameUnits:
		return Name{}, abi.StatusObjectNameInvalid
	case binary.LittleEndian.Uint16(utf16le) != '\\':
		return Name{}, abi.StatusObjectPathSyntaxBad
	}
	p := make(path, n)
	for i := range p {
		p[i] = upper(binary.LittleEndian.Uint16(utf16le[2*i:]))
		if p[i] == 0 || i > 0 && p[i] == '\\' && p[i-1] == '\\' {
			return Name{}, abi.StatusObjectNameInvalid
		}
	}
	if p[n-1] == '\\' {
		return Name{}, abi.StatusObjectNameInvalid
	}
	at, ok := p[1:].resolve()
	if !ok {
		return Name{}, abi.StatusObjectPathNotFound
	}
	return Name{string(utf16le), at}, abi.StatusSuccess
}

// Named reports whether there is a name at all.
func (n Name) Named() bool { return n.spelling != "" }

// Global reports whether the name is in \BaseNamedObjects itself, where making one
// may need a right (sharing.md §5).
func (n Name) Global() bool { return n.Named() && n.place.directory == global }

// UTF16 returns the name as it was given, in UTF-16LE without a terminator.
func (n Name) UTF16() []byte { return []byte(n.spelling) }

// String returns the name as it was given, with U+FFFD for unpaired surrogates. It
// can hold any character but NUL.
func (n Name) String() string {
	units := make([]uint16, len(n.spelling)/2)
	for i := range units {
		units[i] = uint16(n.spelling[2*i]) | uint16(n.spelling[2*i+1])<<8
	}
	return string(utf16.Decode(units))
}

// upper is simple upper-casing: one unit for one unit, no locale, no
// normalisation. Surrogates, and so all characters beyond U+FFFF, stay as they are.
func upper(u uint16) uint16 { return uint16(unicode.ToUpper(rune(u))) }

// A path is components in upper case with backslashes between them, none empty.
type path []uint16

// resolve follows a path from the root to its place. A path that ends before it has
// left the directories leads to one of them.
func (p path) resolve() (place, bool) {
	at := place{directory: global}
	switch {
	case p.take("BASENAMEDOBJECTS"):
	case p.take("SESSIONS"):
		if len(p) == 0 {
			return at, true
		}
		var ok bool
		if at.directory, ok = p.takeSession(); !ok {
			return at, false
		}
		if len(p) > 0 && !p.take("BASENAMEDOBJECTS") {
			return at, false
		}
	default:
		return at, false
	}
	for {
		if p.take("GLOBAL") {
			at.directory = global
		} else if !p.take("LOCAL") {
			break
		}
	}
	if slices.Contains(p, '\\') {
		return at, false
	}
	base := make([]byte, 0, 2*len(p))
	for _, u := range p {
		base = binary.LittleEndian.AppendUint16(base, u)
	}
	at.base = string(base)
	return at, true
}

// first returns the first component.
func (p path) first() path {
	if i := slices.Index(p, '\\'); i >= 0 {
		return p[:i]
	}
	return p
}

// drop removes the first component, n units long.
func (p *path) drop(n int) { *p = (*p)[min(n+1, len(*p)):] }

// take removes the first component if it is word.
func (p *path) take(word string) bool {
	f := p.first()
	if len(f) != len(word) {
		return false
	}
	for i, u := range f {
		if u != uint16(word[i]) {
			return false
		}
	}
	p.drop(len(f))
	return true
}

// takeSession removes the first component, which must be the number of a session in
// the one way to write it.
func (p *path) takeSession() (int32, bool) {
	f, n := p.first(), int64(0)
	for i, u := range f {
		if u < '0' || u > '9' || i > 0 && n == 0 {
			return 0, false
		}
		if n = n*10 + int64(u-'0'); n > 1<<31-1 {
			return 0, false
		}
	}
	p.drop(len(f))
	return int32(n), true
}
