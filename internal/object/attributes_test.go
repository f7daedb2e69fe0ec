package object

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// attributes builds an OBJECT_ATTRIBUTES.
func attributes(length uint32, root uint64, bits uint32) []byte {
	b := make([]byte, 0x30)
	binary.LittleEndian.PutUint32(b, length)
	binary.LittleEndian.PutUint64(b[8:], root)
	binary.LittleEndian.PutUint32(b[0x18:], bits)
	return b
}

// Source: sharing.md §5, OQ-21; the order, calls.md §1.1.
func TestAttributesStatus(t *testing.T) {
	const (
		parameter = abi.StatusInvalidParameter
		handle    = abi.StatusInvalidHandle
	)
	good := wide(`\BaseNamedObjects\x`)
	broken := []byte{2}
	for i, c := range []struct {
		record, name, descriptor []byte
		st                       abi.Status
	}{
		{nil, nil, nil, 0},
		{attributes(0x30, 0, 0), nil, nil, 0},
		{attributes(0x30, 0, 0), good, nil, 0},
		{attributes(0x30, 0, 0x2), good, nil, 0},
		{attributes(0x30, 0, 0x40), good, nil, 0},
		{attributes(0x30, 0, 0x42), good, MakeDescriptor(1000, 100, 0o640), 0},
		{attributes(0x30, 8, 0), nil, nil, 0},

		{attributes(0, 0, 0), nil, nil, parameter},
		{attributes(0x18, 0, 0), nil, nil, parameter},
		{attributes(0x2F, 0, 0), nil, nil, parameter},
		{attributes(0x31, 0, 0), nil, nil, parameter},
		{attributes(0x30, 0, 0)[:0x2F], nil, nil, parameter},
		{[]byte{}, nil, nil, parameter},
		{attributes(0x30, 0, 0), good[:len(good)-1], nil, parameter},
		{attributes(0x30, 0, 0), good, broken, parameter},
		{attributes(0x30, 0, 0), nil, []byte{}, parameter},

		{attributes(0x30, 8, 0), good, nil, handle},
		{attributes(0x30, 8, 0), wide(`x`), nil, handle},
		{attributes(0x30, 1<<63, 0), good, nil, handle},

		{attributes(0x30, 0, 0), []byte{}, nil, abi.StatusObjectNameInvalid},
		{attributes(0x30, 0, 0), wide(`x`), nil, abi.StatusObjectPathSyntaxBad},
		{attributes(0x30, 0, 0), wide(`\x`), nil, abi.StatusObjectPathNotFound},

		// Plain values before the handle, the handle before the name.
		{attributes(0x30, 8, 0x80), good, nil, parameter},
		{attributes(0x30, 8, 0), good[:1], nil, parameter},
		{attributes(0x30, 8, 0), good, broken, parameter},
		{attributes(0x30, 8, 0), []byte{}, nil, handle},
		{attributes(0x30, 0, 0), wide(`x`), broken, parameter},
	} {
		a, st := ParseAttributes(c.record, c.name, c.descriptor, 1000, 100)
		if st != c.st {
			t.Errorf("%d: %v, want %v", i, st, c.st)
			continue
		}
		if st != 0 {
			continue
		}
		if a.Name.Named() != (c.name != nil) || !bytes.Equal(a.Name.UTF16(), c.name) {
			t.Errorf("%d: name %q", i, a.Name)
		}
		want := "1000:100 rw-------"
		if c.descriptor != nil {
			want = "1000:100 rw-r-----"
		}
		if got := a.Security.String(); got != want {
			t.Errorf("%d: security %s, want %s", i, got, want)
		}
	}
	// Every attribute bit: two are taken, of which one has an effect.
	for i := range 32 {
		bit := uint32(1) << i
		a, st := ParseAttributes(attributes(0x30, 0, bit), good, nil, 1000, 100)
		if want := bit == 0x2 || bit == 0x40; st.OK() != want || !want && st != parameter {
			t.Errorf("attribute %#x: %v", bit, st)
		}
		if a.Inherit != (bit == 0x2) {
			t.Errorf("attribute %#x: Inherit = %v", bit, a.Inherit)
		}
	}
}

// FuzzAttributes: never a panic, and what is taken keeps the rules.
func FuzzAttributes(f *testing.F) {
	name, descriptor := wide(`\BaseNamedObjects\x`), MakeDescriptor(1000, 100, 0o664)
	f.Add(attributes(0x30, 0, 0x42), name, descriptor)
	f.Add(attributes(0x30, 4, 0), []byte(nil), []byte(nil))
	f.Add([]byte(nil), []byte(nil), []byte(nil))
	f.Fuzz(func(t *testing.T, record, name, descriptor []byte) {
		a, st := ParseAttributes(record, name, descriptor, 1000, 100)
		if st != 0 {
			if a.Name.Named() || a.Inherit || a.Security.aces != nil || a.Security.everybody {
				t.Fatalf("refused with %v, and yet %+v", st, a)
			}
			return
		}
		if a.Security.UID != 1000 {
			t.Fatalf("owned by %d", a.Security.UID)
		}
		if record != nil && a.Name.Named() != (name != nil) {
			t.Fatalf("name %x: %q", name, a.Name)
		}
	})
}
