package adapter

import (
	"encoding/binary"
	"unicode/utf16"
)

// A payload is the private data of one query, in the kernel's form: little endian,
// 16-bit characters, packed where the headers pack. It is at least as long as the
// query's record, so the offsets below never leave it.
type payload []byte

func (b payload) get32(off int) uint32    { return binary.LittleEndian.Uint32(b[off:]) }
func (b payload) put32(off int, v uint32) { binary.LittleEndian.PutUint32(b[off:], v) }
func (b payload) put64(off int, v uint64) { binary.LittleEndian.PutUint64(b[off:], v) }

func (b payload) putBool(off int, v bool) {
	b[off] = 0
	if v {
		b[off] = 1
	}
}

// putText fills the array of chars 16-bit characters at off: the text, cut to
// leave a NUL, and zeros to the end.
func (b payload) putText(off, chars int, s string) {
	field := b[off : off+2*chars]
	clear(field)
	units := utf16.Encode([]rune(s))
	for i, c := range units[:min(len(units), chars-1)] {
		binary.LittleEndian.PutUint16(field[2*i:], c)
	}
}

// getText reads the array of chars 16-bit characters at off up to its NUL.
func (b payload) getText(off, chars int) string {
	units := make([]uint16, 0, 32)
	for i := range chars {
		c := binary.LittleEndian.Uint16(b[off+2*i:])
		if c == 0 {
			break
		}
		units = append(units, c)
	}
	return string(utf16.Decode(units))
}
