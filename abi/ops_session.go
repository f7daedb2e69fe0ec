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
	{Nr: 0xf011, Name: "ProvokeFault", Record: "ProvokeFault", Size: 48, Support: Supported, Files: []FileField{{Off: 40, Dir: Out, Kind: FileMemory, Array: -1}}},
	{Nr: 0xf012, Name: "FenceLog", Record: "FenceLog", Size: 32, Support: Supported, Files: []FileField{{Off: 24, Dir: Out, Kind: FileMemory, Array: -1}}},
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

// FenceLog asks what GPUs have signalled and waited for by themselves in the hardware queues
// that programs fill, as JSON in a memory file.
type FenceLog struct {
	PID    uint32 // 0: of all processes
	Handle Handle // of a hardware queue of it, 0: all of them
	After  uint64 // only events with a higher number
	// Entries, if not 0, is how many each log is to take from now on, at least.
	Entries uint32
	_       uint32
	FD      uint64 // answered
}

// ProvokeFault breaks something on purpose. It answers what it did, as JSON in a memory
// file.
type ProvokeFault struct {
	Kind FaultKind
	// PID, if not 0, is the process; Handle, if not 0, a context or hardware queue of it.
	// Otherwise the adapter is meant.
	PID         uint32
	Handle      Handle
	AdapterLuid LUID
	// Node and Engine are the only engine of the adapter that is meant, for hangs and page
	// faults; with FaultEveryNode all are.
	Node, Engine uint32
	State        PowerState // that an adapter is switched to
	Address      uint64     // of a page fault
	FD           uint64     // answered
}

// FaultEveryNode as ProvokeFault.Node means every engine.
const FaultEveryNode = 0xFFFFFFFF

// FaultKind is what ProvokeFault does.
type FaultKind uint32

// Kinds of faults.
const (
	// FaultHang: an engine does nothing and answers nothing until it is reset; for a
	// process or queue, the engine that runs a packet of it, or will.
	FaultHang FaultKind = 1
	// FaultPage: the packet that an engine runs, or will run, touches what is not mapped.
	FaultPage FaultKind = 2
	// FaultReset: an adapter is reset; a process's devices, or a queue's, are in error.
	FaultReset FaultKind = 3
	// FaultRemove: an adapter is removed.
	FaultRemove FaultKind = 4
	// FaultPower: an adapter is switched to a power state.
	FaultPower FaultKind = 5
)

// String returns the name that the command has for it.
func (k FaultKind) String() string { return faultKinds.format(int64(k)) }

var faultKinds = Enum{"FAULT_KIND", "FAULT_", []EnumValue{
	{int64(FaultHang), "hang"},
	{int64(FaultPage), "page-fault"},
	{int64(FaultReset), "reset"},
	{int64(FaultRemove), "remove"},
	{int64(FaultPower), "power"},
}}

// PowerState is a power state of an adapter.
type PowerState uint32

// Power states.
const (
	PowerD0 PowerState = 0 // on
	PowerD3 PowerState = 1 // off
)

// String returns "D0" or "D3".
func (v PowerState) String() string { return powerStates.format(int64(v)) }

var powerStates = Enum{"PowerState", "", []EnumValue{
	{int64(PowerD0), "D0"},
	{int64(PowerD3), "D3"},
}}
