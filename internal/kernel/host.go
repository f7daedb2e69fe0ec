package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/syncobj"
)

// A Host is what the kernel asks of the machine it runs on. Its methods return
// at once and, but for Settle, never call back into the kernel; they are safe for concurrent use.
// Package host implements it with descriptors; the simulator with plain memory.
type Host interface {
	// PrivateMemory makes the cell of a fence that only process p uses, its value
	// already initial. NO_MEMORY at a limit.
	PrivateMemory(p *Process, initial uint64) (Memory, abi.Status)
	// SharedMemory makes a page of its own for a fence that others may open, its
	// value already initial. NO_MEMORY at a limit.
	SharedMemory(p *Process, initial uint64) (Memory, abi.Status)
	// NewNTHandle makes a descriptor that stands for a kernel object. The host
	// tells Kernel.NTClosed(key) once when the last copy of it anywhere is closed.
	// The caller owns fd.
	NewNTHandle() (key object.Key, fd int, st abi.Status)
	// Identify says which NT handle fd is a copy of. INVALID_HANDLE: fd is no
	// descriptor; OBJECT_TYPE_MISMATCH: it is something else; NO_MEMORY: it cannot be
	// told now. Other holders of a handle can delay the answer, so the kernel asks
	// without its lock.
	Identify(p *Process, fd int) (object.Key, abi.Status)
	// Settle returns when NTClosed has been told of every NT handle whose last copy was
	// closed before the call: a name is gone at once. It is called without the kernel's
	// lock.
	Settle()
	// Event takes a reference of its own, for process p, on the CPU event fd. INVALID_HANDLE: fd is
	// no descriptor; OBJECT_TYPE_MISMATCH: it is no eventfd.
	Event(p *Process, fd int) (Event, abi.Status)
	// NewAllocationMemory makes memory for an allocation, of so many bytes, a multiple of
	// pages, all zero. It counts for a user. NO_MEMORY at a limit. It takes no lock that
	// is held while the kernel is called.
	NewAllocationMemory(uid uint32, size uint64) (AllocationMemory, abi.Status)
	// ClientMemory is what p has at an address of its own, from there on. What cannot be
	// had shows when it is used.
	ClientMemory(p *Process, address uint64) AllocationMemory

	// NewDoorbell makes the memory of a doorbell for p, all zero. It counts for p's user.
	// NO_MEMORY at a limit.
	NewDoorbell(p *Process) (DoorbellMemory, abi.Status)
	// NewSyncFile makes a descriptor fd, which the caller owns, that is readable when what
	// comes with it was set or closed. NO_MEMORY at a limit.
	NewSyncFile(p *Process) (file SyncFile, fd int, st abi.Status)
	// Close closes a descriptor that the host made.
	Close(fd int)
	// Bells is the bell table of a user.
	Bells(uid uint32) (*page.Bells, abi.Status)
	// Detach drops what the host keeps for p itself, after the process is gone.
	Detach(p *Process)
	// Alarm tells that Kernel.Next may have come nearer. Whoever drives the kernel asks
	// again. It is called without the kernel's lock.
	Alarm()
	// Due tells that something is due now, which the caller would rather not wait for:
	// the host may call Kernel.Tick before it returns. It is called without the kernel's
	// lock, and not inside a callback of a driver.
	Due()
}

// Memory is the backing of a fence as the host hands it out.
type Memory interface {
	syncobj.Backing
	// Grant describes the memory to process p, with the descriptor that p's door
	// must send along, if any. Writable is set when p may signal by memory.
	Grant(p *Process) (abi.Grant, []abi.OutFile, abi.Status)
	// Sweep cleans up after p, which had the memory and is ending: it frees the slots
	// that hold bells for which dead is true, if p could write them, and makes every
	// remaining sleeper look again.
	Sweep(p *Process, dead func(bell uint32) bool)
}

// AllocationMemory is memory behind an allocation. It is safe for concurrent use; the
// first four methods are those of vidmm.Memory.
type AllocationMemory interface {
	Read(offset uint64, b []byte) int
	Write(offset uint64, b []byte) int
	Load(offset uint64, size int) (uint64, bool)
	Store(offset uint64, size int, v uint64) bool
	// File makes a descriptor by which others can map it, for the caller to close.
	// NO_MEMORY: none is left; INVALID_PARAMETER: it is no such memory.
	File() (fd int, st abi.Status)
	// Free ends its use. It comes once, after everything else.
	Free()
}

// DoorbellMemory is the memory of a doorbell: a page that a program writes, and one that
// only the kernel does. docs/protocol-wire.md has their layout.
type DoorbellMemory interface {
	// Words are where the words are until Free.
	Words() DoorbellWords
	// Files makes descriptors for the process that it was made for: of the first page for
	// writing, of the second for reading. None for a process of this address space.
	// NO_MEMORY: none are left.
	Files() ([]abi.OutFile, abi.Status)
	// Free ends its use here. Who has it mapped elsewhere keeps it. It comes once.
	Free()
}

// An Event is a CPU event that the kernel holds a reference on.
type Event interface {
	// Set signals the event once: an eventfd is incremented by 1. It never blocks.
	Set()
	// Close drops the reference.
	Close()
}

// A SyncFile is an Event that says how: Set tells whoever reads the descriptor SUCCESS,
// or the status of Fail.
type SyncFile interface {
	Event
	// Fail is called before Set, once at most.
	Fail(st abi.Status)
}
