package adapter

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// ID is a PCI id, written "0x10de" in JSON and read as that or as a number.
type ID uint32

// String returns the id as 0x10de.
func (id ID) String() string { return fmt.Sprintf("0x%04x", uint32(id)) }

// MarshalJSON writes the id as a string.
func (id ID) MarshalJSON() ([]byte, error) { return json.Marshal(id.String()) }

// UnmarshalJSON reads a number or a string such as "0x10de".
func (id *ID) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `"`)
	v, err := strconv.ParseUint(text, 0, 32)
	if err != nil {
		return fmt.Errorf("id %s: want a number or a string such as \"0x10de\"", data)
	}
	*id = ID(v)
	return nil
}

// GUID is a globally unique id in the order of its bytes in memory.
type GUID [16]byte

// String returns the id as {xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}.
func (g GUID) String() string {
	le := binary.LittleEndian
	return fmt.Sprintf("{%08x-%04x-%04x-%x-%x}", le.Uint32(g[0:]), le.Uint16(g[4:]), le.Uint16(g[6:]), g[8:10], g[10:16])
}

// MarshalText writes the id in its usual form.
func (g GUID) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads the usual form, braces optional.
func (g *GUID) UnmarshalText(text []byte) error {
	s := strings.TrimSuffix(strings.TrimPrefix(string(text), "{"), "}")
	fields := strings.Split(s, "-")
	b, err := hex.DecodeString(strings.Join(fields, ""))
	if err != nil || len(b) != 16 || len(fields) != 5 || len(s) != 36 {
		return fmt.Errorf("guid %q: want {xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}", text)
	}
	le, be := binary.LittleEndian, binary.BigEndian
	le.PutUint32(g[0:], be.Uint32(b[0:]))
	le.PutUint16(g[4:], be.Uint16(b[4:]))
	le.PutUint16(g[6:], be.Uint16(b[6:]))
	copy(g[8:], b[8:])
	return nil
}

// Version is a driver version of four numbers, highest part first.
type Version [4]uint16

// String returns the version as "32.0.15.6094".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d.%d", v[0], v[1], v[2], v[3]) }

// MarshalText writes the version.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads four numbers of 16 bits with dots between.
func (v *Version) UnmarshalText(text []byte) error {
	parts := strings.Split(string(text), ".")
	if len(parts) != len(v) {
		return fmt.Errorf("driver version %q: want four numbers such as 32.0.15.6094", text)
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return fmt.Errorf("driver version %q: %q is no number of 16 bits", text, part)
		}
		v[i] = uint16(n)
	}
	return nil
}

// quad is the version as one number, as LARGE_INTEGER answers carry it.
func (v Version) quad() uint64 {
	return uint64(v[0])<<48 | uint64(v[1])<<32 | uint64(v[2])<<16 | uint64(v[3])
}

// Bytes are binary data, hexadecimal in JSON.
type Bytes []byte

// MarshalText writes hexadecimal digits.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(b)), nil }

// UnmarshalText reads hexadecimal digits; white space is ignored.
func (b *Bytes) UnmarshalText(text []byte) error {
	v, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		return fmt.Errorf("want hexadecimal digits: %w", err)
	}
	*b = v
	return nil
}
