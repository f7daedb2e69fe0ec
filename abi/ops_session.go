package abi

// sessionOps are what clients and the daemon say to each other beside calls.
var sessionOps = []Op{
	{Nr: 0xf001, Name: "Hello", Record: "Hello", Size: 56, Support: Supported, Out: []Span{{24, 32}}, Files: []FileField{{Dir: Out, Kind: FileMemory, Array: -1}}},
	{Nr: 0xf002, Name: "GrantBells", Record: "GrantBells", Size: 8, Support: Supported, Out: []Span{{4, 4}}},
	{Nr: 0xf003, Name: "Ring", Record: "Ring", Size: 16, Support: Supported, Arrays: []Array{{Pointer: 8, Count: 0, Elem: 4, Dir: In, Max: 4096}}},
	{Nr: 0xf005, Name: "CancelWait", Record: "CancelWait", Size: 4, Support: Supported},
	{Nr: 0xf006, Name: "ReturnBells", Record: "ReturnBells", Size: 8, Support: Supported},
	{Nr: 0xf007, Name: "SlabFile", Record: "SlabFile", Size: 16, Support: Supported, Files: []FileField{{Off: 8, Dir: Out, Kind: FileMemory, Array: -1}}},
	{Nr: 0xf008, Name: "EndThread", Record: "EndThread", Size: 4, Support: Supported},
	{Nr: 0xf010, Name: "Snapshot", Record: "Snapshot", Size: 16, Support: Supported, Files: []FileField{{Off: 8, Dir: Out, Kind: FileMemory, Array: -1}}},
}

// Hello begins a session. Sessions of one process id and nonce share one handle
// table.
type Hello struct {
	Version uint32 // 1
	Flags   uint32 // 0
	Nonce   [16]byte
	// Answered:
	PID        uint32
	UID        uint32
	Bells      uint32 // lines of the user's bell table
	FirstBell  uint32 // lines granted with the answer, 0 if none
	BellCount  uint32
	MaxObjects uint32 // handles that the process may hold
	KernelID   uint64 // differs from kernel to kernel
}

// GrantBells asks for neighbouring lines of the bell table.
type GrantBells struct {
	Count uint32
	First uint32 // answered
}

// ReturnBells gives lines back for this process to be granted again.
type ReturnBells struct{ First, Count uint32 }

// Ring asks the kernel to look at fences whose value the caller stored.
type Ring struct {
	Count   uint32
	_       uint32
	Handles uint64 // array of Handle
}

// CancelWait takes back a kernel-side wait by its ticket.
type CancelWait struct{ Ticket uint32 }

// SlabFile asks for the memory of a slab once more. A grant brings it only the first
// time, and that answer may have come to another session, or not at all.
type SlabFile struct {
	Slab uint32 // number, as in the grant
	_    uint32
	FD   uint64 // answered
}

// EndThread tells that the thread with a line of the bell table has ended. Keyed mutexes
// that it owns are abandoned.
type EndThread struct{ Ticket uint32 }

// Snapshot asks for a listing of what the kernel holds, as JSON in a memory file.
type Snapshot struct {
	What uint32 // 0
	_    uint32
	FD   uint64 // answered
}
