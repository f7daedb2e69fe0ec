package object

import "github.com/dxgsync/dxgsync/abi"

// An Access is an NT access mask.
type Access uint32

// Access bits: the specific ones of each type, the standard ones, and those that
// stand for others. Source: sharing.md §4.1.
const (
	AccessWait      Access = 0x1 // D3DDDI_SYNC_OBJECT_WAIT
	AccessSignal    Access = 0x2 // D3DDDI_SYNC_OBJECT_SIGNAL
	AllocationWrite Access = 0x1 // SHARED_ALLOCATION_WRITE

	Delete      Access = 0x00010000
	ReadControl Access = 0x00020000
	WriteDAC    Access = 0x00040000
	WriteOwner  Access = 0x00080000
	Synchronize Access = 0x00100000

	MaximumAllowed Access = 0x02000000
	GenericAll     Access = 0x10000000
	GenericExecute Access = 0x20000000
	GenericWrite   Access = 0x40000000
	GenericRead    Access = 0x80000000

	SyncObjectAll Access = 0x001F0003 // D3DDDI_SYNC_OBJECT_ALL_ACCESS
	ResourceAll   Access = 0x000F0001 // SHARED_ALLOCATION_ALL_ACCESS

	standardAll     = Delete | ReadControl | WriteDAC | WriteOwner | Synchronize
	genericAnything = GenericAll | GenericExecute | GenericWrite | GenericRead
)

// A Type is an NT object type: what ShareObjects can make. Source: sharing.md §3.1.
type Type uint8

const (
	SyncObject Type = iota // one synchronization object
	Resource               // a resource, or {resource, keyed mutex, synchronization object}
)

// types says what a handle of each type can be granted, and what the generic bits
// mean there. Source: sharing.md §3.1, §4.2.
var types = [...]struct {
	name                      string
	valid                     Access
	read, write, execute, all Access
}{
	SyncObject: {
		"DxgkSharedSyncObject", standardAll | AccessWait | AccessSignal,
		ReadControl | AccessWait, ReadControl | AccessSignal, ReadControl | Synchronize, SyncObjectAll,
	},
	Resource: {
		"DxgkSharedResource", standardAll | AllocationWrite,
		ReadControl, ReadControl | AllocationWrite, ReadControl, ResourceAll,
	},
}

// String returns the name of the type as NtQueryObject gives it.
func (t Type) String() string { return types[t].name }

// Access turns the access that a maker of an object desires into the access that
// its handle gets: generic bits mapped (sharing.md §4.2), MAXIMUM_ALLOWED taken as
// GENERIC_ALL, for nothing is withheld from the maker. It fails with
// STATUS_ACCESS_DENIED when nothing is asked for or a bit outside the valid mask is
// (sharing.md §4.3, OQ-20).
func (t Type) Access(desired Access) (Access, abi.Status) {
	a, maximum, st := t.desired(desired)
	if maximum {
		a |= types[t].all
	}
	return a, st
}

// desired checks and maps what somebody asks for; what MAXIMUM_ALLOWED adds is for
// the caller to find.
func (t Type) desired(d Access) (a Access, maximum bool, st abi.Status) {
	a, maximum = t.generic(d&^MaximumAllowed), d&MaximumAllowed != 0
	if a == 0 && !maximum || a&^types[t].valid != 0 {
		return 0, false, abi.StatusAccessDenied
	}
	return a, maximum, abi.StatusSuccess
}

// generic replaces the generic bits by what they mean.
func (t Type) generic(a Access) Access {
	r, d := &types[t], a&^genericAnything
	if a&GenericRead != 0 {
		d |= r.read
	}
	if a&GenericWrite != 0 {
		d |= r.write
	}
	if a&GenericExecute != 0 {
		d |= r.execute
	}
	if a&GenericAll != 0 {
		d |= r.all
	}
	return d
}

// Opens reports whether a handle with this access may be opened at all: it needs
// READ_CONTROL or one of the specific bits (sharing.md §4.3).
func (a Access) Opens() bool { return a&(ReadControl|AccessWait|AccessSignal) != 0 }

// Rights returns whether a local object opened through a handle of type SyncObject
// with this access may be waited on and signalled. A handle granted neither specific
// bit gives both (OQ-20).
func (a Access) Rights() (wait, signal bool) {
	if a&(AccessWait|AccessSignal) == 0 {
		return true, true
	}
	return a&AccessWait != 0, a&AccessSignal != 0
}
