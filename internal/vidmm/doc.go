// Package vidmm is the video memory manager's model of GPU virtual addresses: what a
// GPU sees of one process. A Space has the layout of the addresses, which the members
// of a link share, and a page table for each of them; fences are words in it, with a
// place of their own.
//
// The kernel changes spaces under its lock; GPUs read and write through them at any
// time without it. So a Space has a lock of its own, which nobody holds for longer than
// it takes to find or change an entry: what is behind an address is used after it was
// dropped, and a Memory is held meanwhile.
//
// Lock order: the kernel's lock, then Space.mu. Memory and Word are called with
// Space.mu only where their methods say so.
//
// Source: gpu.md §5, §9; the pages of D3DDDI_RESERVEGPUVIRTUALADDRESS,
// D3DDDI_MAPGPUVIRTUALADDRESS, D3DKMTFreeGpuVirtualAddress.
package vidmm

// Memory is what allocations are made of. It is safe for concurrent use.
type Memory interface {
	// Hold keeps the memory there until Drop; false: it is gone. It is called under the
	// lock of a Space and must not block.
	Hold() bool
	// Drop ends a Hold.
	Drop()
	// Read copies from offset to b and returns how many bytes there were. Write is the
	// other way round. Fewer than len(b): the rest cannot be had.
	Read(offset uint64, b []byte) int
	Write(offset uint64, b []byte) int
	// Load reads a naturally aligned word of 4 or 8 bytes, in one piece if the machine
	// can; false: it cannot be had. Store writes one.
	Load(offset uint64, size int) (uint64, bool)
	Store(offset uint64, size int, v uint64) bool
}

// A Word is the value of a fence as a GPU sees it.
type Word interface {
	// Load reads it. Called under the lock of a Space; must not block.
	Load() uint64
	// Raise stores v unless the word is higher, and reports whether it did. Called
	// under the lock of a Space; must not block.
	Raise(v uint64) bool
	// Replace stores v whatever the word is. It is called under the lock of whoever
	// changes the Space, and no other.
	Replace(v uint64)
}
