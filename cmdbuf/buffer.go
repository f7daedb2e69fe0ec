package cmdbuf

import "encoding/binary"

// A Buffer is a command buffer that is being written. Its methods append a command and
// return it; the types of the same names say what the commands do. What the GPU would
// refuse can be written too.
type Buffer struct{ b []byte }

// New begins a buffer with its header.
func New() *Buffer {
	b := binary.LittleEndian.AppendUint32(nil, Magic)
	return &Buffer{binary.LittleEndian.AppendUint32(b, Version)}
}

// Bytes are the buffer so far. They are the Buffer's own: the next command may write
// behind them.
func (b *Buffer) Bytes() []byte { return b.b }

// Len is the length of the buffer so far, in bytes.
func (b *Buffer) Len() int { return len(b.b) }

// Add appends commands.
func (b *Buffer) Add(commands ...Command) *Buffer {
	for _, c := range commands {
		l, words := layoutOf(c.Opcode()), c.words()
		b.b = binary.LittleEndian.AppendUint32(b.b, uint32(c.Opcode()))
		b.b = binary.LittleEndian.AppendUint32(b.b, uint32(l.size()))
		for i := range l.fields {
			b.b = binary.LittleEndian.AppendUint64(b.b, words[i])
		}
	}
	return b
}

// Nop appends Nop.
func (b *Buffer) Nop() *Buffer { return b.Add(Nop{}) }

// Write64 appends Write64.
func (b *Buffer) Write64(va, value uint64) *Buffer { return b.Add(Write64{va, value}) }

// Write32 appends Write32.
func (b *Buffer) Write32(va uint64, value uint32) *Buffer { return b.Add(Write32{va, value}) }

// Copy appends Copy.
func (b *Buffer) Copy(dst, src, bytes uint64) *Buffer { return b.Add(Copy{dst, src, bytes}) }

// Fill appends Fill.
func (b *Buffer) Fill(dst uint64, pattern uint32, bytes uint64) *Buffer {
	return b.Add(Fill{dst, pattern, bytes})
}

// Delay appends Delay.
func (b *Buffer) Delay(nanoseconds uint64, flags DelayFlags) *Buffer {
	return b.Add(Delay{nanoseconds, flags})
}

// Signal appends Signal.
func (b *Buffer) Signal(va, value uint64) *Buffer { return b.Add(Signal{va, value}) }

// Signal32 appends Signal32.
func (b *Buffer) Signal32(va uint64, value uint32) *Buffer { return b.Add(Signal32{va, value}) }

// Wait appends Wait.
func (b *Buffer) Wait(va, value uint64, fence uint32) *Buffer { return b.Add(Wait{va, value, fence}) }

// SignalNative appends SignalNative.
func (b *Buffer) SignalNative(va, value, monitored uint64, fence uint32) *Buffer {
	return b.Add(SignalNative{va, value, monitored, fence})
}

// Fault appends Fault.
func (b *Buffer) Fault(kind FaultKind, address uint64) *Buffer { return b.Add(Fault{kind, address}) }

// Hang appends Hang.
func (b *Buffer) Hang() *Buffer { return b.Add(Hang{}) }
