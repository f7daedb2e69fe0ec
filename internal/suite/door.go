package suite

import (
	"errors"
	"os"
	"time"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/softgpu"
)

// A Door is one way into an implementation: in process, over the socket, through
// the C library. Each scenario gets a world of its own from it.
type Door interface {
	// Name is the short name that scenarios and users know it by.
	Name() string
	// Open makes a fresh world. The caller closes it.
	Open(spec WorldSpec) (World, error)
}

// A WorldSpec is what a scenario asks of its world.
type WorldSpec struct {
	Profiles []*adapter.Profile // of the adapters, in order
	Clock    *Clock             // of the kernel; nil: the machine's
	TDR      Settings           // how engines are watched; nil: as Windows does
}

// errForeign is the answer to commands for a world that belongs to somebody else.
var errForeign = errors.New("another implementation's clock and drivers cannot be told")

// A World is one kernel with its processes.
type World interface {
	// Process starts a process.
	Process(name string) (Process, error)
	// Waiters is how many CPU waits are registered now, by all processes: a thread
	// that blocks is counted before it falls asleep. known is false when the world
	// cannot tell.
	Waiters() (n int, known bool)
	// Processes is how many processes the kernel knows now, 0 when it cannot tell.
	Processes() int
	// Advance lets time pass in a world with a clock of its own, GPU is the driver of an
	// adapter, Provoke breaks one on purpose. The error is errForeign where nobody can.
	Advance(d time.Duration) error
	GPU(adapter uint64) (*softgpu.GPU, error)
	Provoke(adapter uint64, f abi.ProvokeFault) error
	// Close ends everything that is left. Its error is something that the
	// implementation did wrong at the end, such as a crash.
	Close() error
}

// An otherWorld can start processes of other users than the one who runs it.
type otherWorld interface {
	ProcessOf(name string, user User) (Process, error)
}

// A Process is a process of a world. Its methods are called from one goroutine.
// An error is no status: it says that the door itself or the implementation broke.
type Process interface {
	// Call runs a call on the main thread and answers in the frame's place.
	Call(f *Frame) (status uint32, err error)
	// Start begins a call on a thread of its own, which is made when first named.
	Start(thread string, f *Frame) error
	// State tells about the call that Start began.
	State(thread string) (State, uint32, error)
	// File makes a descriptor of a kind: event (an eventfd), pipe, memory, null.
	File(kind string) (fd uint64, err error)
	// Dup and CloseFile are what dup and close do.
	Dup(fd uint64) (uint64, error)
	CloseFile(fd uint64) error
	// Send gives out a copy of a descriptor, Receive takes one in and owns it.
	Send(fd uint64) (*os.File, error)
	Receive(f *os.File) (fd uint64, err error)
	// Ready reports whether an event is set; Take reads and clears its count.
	Ready(fd uint64) (bool, error)
	Take(fd uint64) (uint64, error)
	// Peek reads the 64-bit word at an address that a call answered; false when that
	// faults, as it must once the address is taken away.
	Peek(address uint64) (n uint64, readable bool, err error)
	// Poke tries to write there; false when that faults, as it must.
	Poke(address uint64) (bool, error)
	// Write writes memory that a call answered the address of; false when that faults.
	Write(address uint64, data []byte) (bool, error)
	// Exit ends the process as a return from main does, Kill as SIGKILL does. Both
	// return when the process is gone; the kernel may learn of it later.
	Exit() error
	Kill() error
}

// State is what a thread of a process is doing.
type State uint8

// The states of a thread.
const (
	Running State = iota // its call may end or fall asleep any moment
	Asleep               // its call sleeps until somebody wakes it
	Done                 // its call has answered
)
