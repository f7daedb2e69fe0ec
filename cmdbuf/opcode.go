package cmdbuf

import "fmt"

// The header, and the bounds of a buffer.
const (
	Magic      uint32 = 0x42475844 // "DXGB" in memory
	Version    uint32 = 1
	HeaderSize        = 8 // bytes: magic, version
	HeadSize          = 8 // bytes of a command before its fields: opcode, size
	// MaxSize is the longest buffer that the GPU takes, in bytes. Foreign buffers have
	// no such bound.
	MaxSize = 1 << 20
)

// An Opcode says which command it is. 0 is none, so that memory that nobody wrote is
// not executed.
type Opcode uint32

// Opcodes.
const (
	OpNop          Opcode = 1
	OpWrite64      Opcode = 2
	OpWrite32      Opcode = 3
	OpCopy         Opcode = 4
	OpFill         Opcode = 5
	OpDelay        Opcode = 6
	OpSignal       Opcode = 7
	OpSignal32     Opcode = 8
	OpWait         Opcode = 9
	OpFault        Opcode = 10
	OpHang         Opcode = 11
	OpSignalNative Opcode = 12
)

// A layout is a row of the table of commands, by which they are written, read and shown.
type layout struct {
	name   string
	fields []field
	make   func(f [maxFields]uint64) Command
}

// maxFields is the most that a command has.
const maxFields = 4

// A field is one of a command's words of 64 bits.
type field struct {
	name string
	// max is the greatest value that it may have.
	max  uint64
	show func(v uint64) string
}

const any64 = ^uint64(0)

func hex(v uint64) string     { return fmt.Sprintf("%#x", v) }
func decimal(v uint64) string { return fmt.Sprint(v) }

// layouts has what is known of each opcode, by its number.
var layouts = [...]layout{
	OpNop:          {"NOP", nil, func([maxFields]uint64) Command { return Nop{} }},
	OpWrite64:      {"WRITE64", []field{{"va", any64, hex}, {"value", any64, decimal}}, func(f [maxFields]uint64) Command { return Write64{f[0], f[1]} }},
	OpWrite32:      {"WRITE32", []field{{"va", any64, hex}, {"value", 1<<32 - 1, decimal}}, func(f [maxFields]uint64) Command { return Write32{f[0], uint32(f[1])} }},
	OpCopy:         {"COPY", []field{{"dst", any64, hex}, {"src", any64, hex}, {"bytes", any64, decimal}}, func(f [maxFields]uint64) Command { return Copy{f[0], f[1], f[2]} }},
	OpFill:         {"FILL", []field{{"dst", any64, hex}, {"pattern", 1<<32 - 1, hex}, {"bytes", any64, decimal}}, func(f [maxFields]uint64) Command { return Fill{f[0], uint32(f[1]), f[2]} }},
	OpDelay:        {"DELAY", []field{{"ns", any64, decimal}, {"flags", uint64(NotPreemptible), showDelay}}, func(f [maxFields]uint64) Command { return Delay{f[0], DelayFlags(f[1])} }},
	OpSignal:       {"SIGNAL", []field{{"va", any64, hex}, {"value", any64, decimal}}, func(f [maxFields]uint64) Command { return Signal{f[0], f[1]} }},
	OpSignal32:     {"SIGNAL32", []field{{"va", any64, hex}, {"value", 1<<32 - 1, decimal}}, func(f [maxFields]uint64) Command { return Signal32{f[0], uint32(f[1])} }},
	OpWait:         {"WAIT", []field{{"va", any64, hex}, {"value", any64, decimal}, {"fence", 1<<32 - 1, hex}}, func(f [maxFields]uint64) Command { return Wait{f[0], f[1], uint32(f[2])} }},
	OpFault:        {"FAULT", []field{{"kind", uint64(len(faultWords) - 1), showFault}, {"address", any64, hex}}, func(f [maxFields]uint64) Command { return Fault{FaultKind(f[0]), f[1]} }},
	OpHang:         {"HANG", nil, func([maxFields]uint64) Command { return Hang{} }},
	OpSignalNative: {"SIGNAL_NATIVE", []field{{"va", any64, hex}, {"value", any64, decimal}, {"monitored", any64, hex}, {"fence", 1<<32 - 1, hex}}, func(f [maxFields]uint64) Command { return SignalNative{f[0], f[1], f[2], uint32(f[3])} }},
}

// layoutOf is the row of an opcode, nil if there is none.
func layoutOf(op Opcode) *layout {
	if op == 0 || uint64(op) >= uint64(len(layouts)) {
		return nil
	}
	return &layouts[op]
}

// size is what the command takes in a buffer, in bytes.
func (l *layout) size() int { return HeadSize + 8*len(l.fields) }

// Opcodes lists all opcodes, in the order of their numbers.
func Opcodes() []Opcode {
	all := make([]Opcode, 0, len(layouts)-1)
	for op := OpNop; layoutOf(op) != nil; op++ {
		all = append(all, op)
	}
	return all
}

// String returns the command's name, such as "WRITE64".
func (op Opcode) String() string {
	if l := layoutOf(op); l != nil {
		return l.name
	}
	return fmt.Sprintf("opcode %d", uint32(op))
}

// Size is how many bytes the command takes in a buffer; 0 for an unknown one.
func (op Opcode) Size() int {
	if l := layoutOf(op); l != nil {
		return l.size()
	}
	return 0
}
