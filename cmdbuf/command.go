package cmdbuf

import (
	"fmt"
	"strings"
)

// A Command is one command of a buffer. The types below are all there are.
//
// Addresses are GPU virtual addresses of the process whose context the buffer was
// submitted to. An access that no mapping allows is a page fault and ends the buffer.
type Command interface {
	fmt.Stringer
	Opcode() Opcode
	words() [maxFields]uint64
}

// A Field is a field of a command.
type Field struct {
	Name  string
	Value uint64
	Text  string // the value as people write it
}

// Nop does nothing.
type Nop struct{}

// Write64 stores 64 bits in one piece. An address that is no multiple of 8 is a page
// fault.
type Write64 struct{ VA, Value uint64 }

// Write32 stores 32 bits in one piece. An address that is no multiple of 4 is a page
// fault.
type Write32 struct {
	VA    uint64
	Value uint32
}

// Copy moves bytes from Src to Dst. Where the ranges overlap it is as if all had been
// read first. It is done in parts: others may see it half done, and so it stays when a
// part faults.
type Copy struct{ Dst, Src, Bytes uint64 }

// Fill writes the four bytes of Pattern, lowest first, again and again from Dst on. It
// is done in parts, as Copy.
type Fill struct {
	Dst     uint64
	Pattern uint32
	Bytes   uint64
}

// Delay has the engine do nothing for a time, in nanoseconds.
type Delay struct {
	Nanoseconds uint64
	Flags       DelayFlags
}

// DelayFlags are the flags of a delay.
type DelayFlags uint64

// NotPreemptible: the engine answers no request to stop before the delay has ended.
const NotPreemptible DelayFlags = 1

// Signal stores 64 bits as Write64 does and then interrupts the CPU, so that who waits
// for the fence whose value it is hears of it: MONITORED_FENCE_SIGNALED.
type Signal struct{ VA, Value uint64 }

// Signal32 is Signal for fences in 32-bit storage.
type Signal32 struct {
	VA    uint64
	Value uint32
}

// Wait holds its queue until the native fence whose current value is at VA has Value or
// more; the engine goes on with other queues. The queue's log gets an entry with Fence,
// the program's handle of it. Where no native fence is it is a wrong command.
type Wait struct {
	VA, Value uint64
	Fence     uint32
}

// SignalNative stores Value at VA, where the current value of a native fence is, logs it
// with Fence, the program's handle of it, and interrupts the CPU only if Value is above
// the monitored value, which is at Monitored. Waits of GPUs for it end.
type SignalNative struct {
	VA, Value, Monitored uint64
	Fence                uint32
}

// Fault has the engine fault, in the way of its kind.
type Fault struct {
	Kind    FaultKind
	Address uint64 // of a page fault
}

// FaultKind is how Fault goes wrong.
type FaultKind uint64

// Kinds of faults.
const (
	FaultDMA   FaultKind = 0 // as an unknown command: DMA_FAULTED
	FaultRead  FaultKind = 1 // as a read from Address that no mapping allows: DMA_PAGE_FAULTED
	FaultWrite FaultKind = 2 // as a write to it
)

var faultWords = [...]string{"dma", "read", "write"}

// String returns "dma", "read" or "write".
func (k FaultKind) String() string { return showFault(uint64(k)) }

func showFault(v uint64) string {
	if v < uint64(len(faultWords)) {
		return faultWords[v]
	}
	return decimal(v)
}

func showDelay(v uint64) string {
	if DelayFlags(v) == NotPreemptible {
		return "not-preemptible"
	}
	return decimal(v)
}

// Hang never ends. The engine answers nothing until it is reset.
type Hang struct{}

// Opcode returns OpNop.
func (Nop) Opcode() Opcode { return OpNop }

// Opcode returns OpWrite64.
func (Write64) Opcode() Opcode { return OpWrite64 }

// Opcode returns OpWrite32.
func (Write32) Opcode() Opcode { return OpWrite32 }

// Opcode returns OpCopy.
func (Copy) Opcode() Opcode { return OpCopy }

// Opcode returns OpFill.
func (Fill) Opcode() Opcode { return OpFill }

// Opcode returns OpDelay.
func (Delay) Opcode() Opcode { return OpDelay }

// Opcode returns OpSignal.
func (Signal) Opcode() Opcode { return OpSignal }

// Opcode returns OpSignal32.
func (Signal32) Opcode() Opcode { return OpSignal32 }

// Opcode returns OpWait.
func (Wait) Opcode() Opcode { return OpWait }

// Opcode returns OpSignalNative.
func (SignalNative) Opcode() Opcode { return OpSignalNative }

// Opcode returns OpFault.
func (Fault) Opcode() Opcode { return OpFault }

// Opcode returns OpHang.
func (Hang) Opcode() Opcode { return OpHang }

func (Nop) words() (w [maxFields]uint64)   { return w }
func (c Write64) words() [maxFields]uint64 { return [maxFields]uint64{c.VA, c.Value} }
func (c Write32) words() [maxFields]uint64 { return [maxFields]uint64{c.VA, uint64(c.Value)} }
func (c Copy) words() [maxFields]uint64    { return [maxFields]uint64{c.Dst, c.Src, c.Bytes} }
func (c Fill) words() [maxFields]uint64    { return [maxFields]uint64{c.Dst, uint64(c.Pattern), c.Bytes} }

func (c Delay) words() [maxFields]uint64    { return [maxFields]uint64{c.Nanoseconds, uint64(c.Flags)} }
func (c Signal) words() [maxFields]uint64   { return [maxFields]uint64{c.VA, c.Value} }
func (c Signal32) words() [maxFields]uint64 { return [maxFields]uint64{c.VA, uint64(c.Value)} }
func (c Wait) words() [maxFields]uint64     { return [maxFields]uint64{c.VA, c.Value, uint64(c.Fence)} }

func (c SignalNative) words() [maxFields]uint64 {
	return [maxFields]uint64{c.VA, c.Value, c.Monitored, uint64(c.Fence)}
}
func (c Fault) words() [maxFields]uint64  { return [maxFields]uint64{uint64(c.Kind), c.Address} }
func (Hang) words() (w [maxFields]uint64) { return w }

// String returns the command on one line.
func (c Nop) String() string { return text(c) }

// String returns the command on one line.
func (c Write64) String() string { return text(c) }

// String returns the command on one line.
func (c Write32) String() string { return text(c) }

// String returns the command on one line.
func (c Copy) String() string { return text(c) }

// String returns the command on one line.
func (c Fill) String() string { return text(c) }

// String returns the command on one line.
func (c Delay) String() string { return text(c) }

// String returns the command on one line.
func (c Signal) String() string { return text(c) }

// String returns the command on one line.
func (c Signal32) String() string { return text(c) }

// String returns the command on one line.
func (c Wait) String() string { return text(c) }

// String returns the command on one line.
func (c SignalNative) String() string { return text(c) }

// String returns the command on one line.
func (c Fault) String() string { return text(c) }

// String returns the command on one line.
func (c Hang) String() string { return text(c) }

// Fields are the fields of a command, in order.
func Fields(c Command) []Field {
	l, w := layoutOf(c.Opcode()), c.words()
	list := make([]Field, len(l.fields))
	for i, f := range l.fields {
		list[i] = Field{f.name, w[i], f.show(w[i])}
	}
	return list
}

func text(c Command) string {
	var b strings.Builder
	b.WriteString(c.Opcode().String())
	for _, f := range Fields(c) {
		b.WriteString(" " + f.Name + "=" + f.Text)
	}
	return b.String()
}
