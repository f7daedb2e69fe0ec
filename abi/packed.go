package abi

import "encoding/binary"

// Numbers at any address, as in records of the header section that is packed to
// single bytes. They are little endian, as everything here.
type (
	Packed16 [2]byte
	Packed32 [4]byte
	Packed64 [8]byte
)

// Get returns the number.
func (p *Packed16) Get() uint16 { return binary.LittleEndian.Uint16(p[:]) }

// Set stores a number.
func (p *Packed16) Set(v uint16) { binary.LittleEndian.PutUint16(p[:], v) }

// Get returns the number.
func (p *Packed32) Get() uint32 { return binary.LittleEndian.Uint32(p[:]) }

// Set stores a number.
func (p *Packed32) Set(v uint32) { binary.LittleEndian.PutUint32(p[:], v) }

// Get returns the number.
func (p *Packed64) Get() uint64 { return binary.LittleEndian.Uint64(p[:]) }

// Set stores a number.
func (p *Packed64) Set(v uint64) { binary.LittleEndian.PutUint64(p[:], v) }
