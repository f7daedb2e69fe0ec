package object

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
