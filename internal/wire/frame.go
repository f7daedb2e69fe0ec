// Package wire turns requests into messages and back, and moves messages with
// descriptors over a Unix SOCK_SEQPACKET socket. It knows no call: records,
// arrays and descriptors of every operation are read off the table in package abi.
//
// One message is one frame, little endian, at most MaxFrame bytes:
//
//	request: u16 op | u16 version | u32 record bytes | u32 array bytes | u32 files | u32 bell | u32 ticket
//	         then the record, then the arrays
//	reply:   u32 status | u16 op | u16 files | u32 record bytes | u32 array bytes | u32 grant bytes | u32 0
//	         then, only of a success, the record, the arrays that are answered, the grant
//	array:   u32 bytes (NullArray: the pointer is NULL) | u32 0 | data, padded to 8
//
// docs/protocol-wire.md has the whole contract between the two ends.
package wire

import (
	"encoding/binary"
	"errors"

	"github.com/dxgsync/dxgsync/abi"
)

const (
	// Version is the protocol version of every request frame.
	Version = 1
	// MaxFrame is the largest frame, in bytes.
	MaxFrame = 128 << 10
	// HeaderSize is the size of either header, in bytes.
	HeaderSize = 24
	// NullArray is the length that stands for a NULL pointer.
	NullArray = 0xFFFF_FFFF
	// MaxFiles is the largest number of descriptors that travel with one frame.
	MaxFiles = 8
)

// ErrMalformed says that a frame breaks the form above. Whoever receives one
// closes the connection: the two ends no longer agree about where things are.
var ErrMalformed = errors.New("malformed frame")

// What the two bits per inward descriptor field say.
const (
	fileNone = 0 // the field was 0
	fileSent = 1 // the next descriptor of the message
	fileBad  = 2 // the field named no descriptor of the sender
)

var le = binary.LittleEndian

// pad8 rounds n up to a multiple of 8.
func pad8(n int) int { return (n + 7) &^ 7 }

// arraySize is the room of an array that travels with n bytes of data.
func arraySize(n int) int { return 8 + pad8(n) }

// putArrayHead writes the head of an array of n bytes, or of NULL for n < 0.
func putArrayHead(b []byte, n int) {
	le.PutUint32(b, uint32(n)) // -1 is NullArray
	le.PutUint32(b[4:], 0)
}

// getArrayHead reads the head of an array: its bytes, -1 for NULL.
func getArrayHead(b []byte) (n int, err error) {
	length := le.Uint32(b)
	switch {
	case le.Uint32(b[4:]) != 0:
		return 0, ErrMalformed
	case length == NullArray:
		return -1, nil
	case length > MaxFrame:
		return 0, ErrMalformed
	}
	return int(length), nil
}

// putData writes the data of an array and zeroes its padding.
func putData(b, data []byte) {
	n := copy(b, data)
	clear(b[n:pad8(n)])
}

// lengthOf is the length of an array as its head says it.
func lengthOf(data []byte) int {
	if data == nil {
		return -1
	}
	return len(data)
}

// goesIn and goesOut say whether data of an array travels with the request and
// with the reply.
func goesIn(d abi.Dir) bool  { return d != abi.Out }
func goesOut(d abi.Dir) bool { return d != abi.In }

// arrayFits is the rule for a pointer that is not NULL: the array has exactly as
// many bytes as the record's own count says, and no more elements than may travel.
// One that is reached through another array has no count in the record.
func arrayFits(a *abi.Array, record []byte, n int) bool {
	if a.From != abi.FromRecord {
		return n <= int(a.Max*a.Elem) && n%int(a.Elem) == 0
	}
	count := uint64(a.Fixed)
	if a.Fixed == 0 {
		count = uint64(le.Uint32(record[a.Count:]))
	}
	return count <= uint64(a.Max) && uint64(n) == count*uint64(a.Elem)
}
