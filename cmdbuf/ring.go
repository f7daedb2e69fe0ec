package cmdbuf

import "encoding/binary"

// The ring buffer of a queue that programs submit to by ringing a doorbell.
// docs/doorbells.md has the protocol.
const (
	// RingEntrySize is the size of an entry in bytes: the GPU virtual address of a command
	// buffer, and its length in bytes, 64 bits each.
	RingEntrySize = 16
	// MaxRingEntries is how many entries the GPU takes.
	MaxRingEntries = 65536
)

// A RingEntry is a command buffer in a ring buffer.
type RingEntry struct {
	VA     uint64 // GPU virtual address
	Length uint64 // bytes
}

// ParseRingEntry reads an entry, RingEntrySize bytes.
func ParseRingEntry(b []byte) RingEntry {
	return RingEntry{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

// A Ring is a ring buffer that is being written.
type Ring struct {
	memory  []byte
	written uint64
}

// NewRing writes to memory, from its first entry on: at least RingEntrySize bytes, of
// which whole entries are used, at most MaxRingEntries.
func NewRing(memory []byte) *Ring { return &Ring{memory: memory} }

// Entries is how many entries there are.
func (r *Ring) Entries() uint64 { return min(uint64(len(r.memory))/RingEntrySize, MaxRingEntries) }

// Room is how many entries can be written when so many were fetched.
func (r *Ring) Room(fetched uint64) uint64 { return r.Entries() - (r.written - fetched) }

// Put writes the next entry and returns the number to ring: that of all entries written
// so far. The caller sees to it that there is room.
func (r *Ring) Put(e RingEntry) (ring uint64) {
	at := r.memory[r.written%r.Entries()*RingEntrySize:]
	binary.LittleEndian.PutUint64(at, e.VA)
	binary.LittleEndian.PutUint64(at[8:], e.Length)
	r.written++
	return r.written
}
