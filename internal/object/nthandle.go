package object

import "github.com/dxgsync/dxgsync/abi"

// A Key is the identity of an NT handle's object: the device and inode number of
// the pipe whose write end the holders have.
type Key struct{ Dev, Ino uint64 }

// An NTHandle is the kernel's side of what ShareObjects made: the object, the
// access that its holders have, whose it counts as. It lives until the last descriptor anywhere is
// closed. Two ShareObjects calls on one object make two of them (sharing.md §5.1-5).
type NTHandle struct {
	Key    Key
	Object any
	Access Access
	UID    uint32 // of the user who made it
}

// NTHandles is the system-wide table of NT handles. The zero table is not ready;
// use make.
type NTHandles map[Key]*NTHandle

// An Access is an NT access mask.
type Access uint32

// Access bits of a shared synchronization object, and the generic ones.
// Source: sharing.md §4.1.
const (
	AccessWait      Access = 0x1 // D3DDDI_SYNC_OBJECT_WAIT
	AccessSignal    Access = 0x2 // D3DDDI_SYNC_OBJECT_SIGNAL
	ReadControl     Access = 0x00020000
	Synchronize     Access = 0x00100000
	MaximumAllowed  Access = 0x02000000
	GenericAll      Access = 0x10000000
	GenericExecute  Access = 0x20000000
	GenericWrite    Access = 0x40000000
	GenericRead     Access = 0x80000000
	SyncObjectAll   Access = 0x001F0003 // D3DDDI_SYNC_OBJECT_ALL_ACCESS
	genericAnything        = GenericAll | GenericExecute | GenericWrite | GenericRead
)

// SyncObjectAccess turns a desired access into the access that a handle on a
// synchronization object gets: generic bits mapped (sharing.md §4.2),
// MAXIMUM_ALLOWED taken as everything. It fails with STATUS_ACCESS_DENIED when
// nothing is asked for or a bit outside the valid mask is (sharing.md §4.3).
func SyncObjectAccess(desired Access) (Access, abi.Status) {
	a := desired &^ (genericAnything | MaximumAllowed)
	for _, g := range [...]struct{ generic, means Access }{
		{GenericRead, ReadControl | AccessWait},
		{GenericWrite, ReadControl | AccessSignal},
		{GenericExecute, ReadControl | Synchronize},
		{GenericAll | MaximumAllowed, SyncObjectAll},
	} {
		if desired&g.generic != 0 {
			a |= g.means
		}
	}
	if a == 0 || a&^SyncObjectAll != 0 {
		return 0, abi.StatusAccessDenied
	}
	return a, abi.StatusSuccess
}

// Opens reports whether a handle with this access may be opened at all: it needs
// READ_CONTROL or one of the specific bits (sharing.md §4.3).
func (a Access) Opens() bool { return a&(ReadControl|AccessWait|AccessSignal) != 0 }

// Rights returns whether a local object opened through a handle with this access
// may be waited on and signalled. A handle granted neither specific bit gives
// both (OQ-20).
func (a Access) Rights() (wait, signal bool) {
	if a&(AccessWait|AccessSignal) == 0 {
		return true, true
	}
	return a&AccessWait != 0, a&AccessSignal != 0
}
