package cmdbuf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrForeign: the buffer does not begin with Magic. It was written for another GPU.
var ErrForeign = errors.New("no command buffer of the software GPU: it begins with something else")

// An Error is a command that cannot be executed.
type Error struct {
	Offset int    // of the command, in bytes from the start of the buffer
	Reason string // in words, such as "unknown opcode 77"
}

// Error says where and why.
func (e *Error) Error() string { return fmt.Sprintf("at %#x: %s", e.Offset, e.Reason) }

// A Reader reads the commands of a buffer, one after the other. It reads nothing twice,
// and its copies go on independently. The bytes must not change meanwhile.
type Reader struct {
	b  []byte
	at int
}

// NewReader begins behind the header. ErrForeign: there is none; an *Error: its version
// is unknown.
func NewReader(b []byte) (Reader, error) {
	if len(b) < HeaderSize || binary.LittleEndian.Uint32(b) != Magic {
		return Reader{}, ErrForeign
	}
	if v := binary.LittleEndian.Uint32(b[4:]); v != Version {
		return Reader{}, &Error{0, fmt.Sprintf("unknown version %d", v)}
	}
	return Reader{b, HeaderSize}, nil
}

// Offset is where the next command begins, in bytes from the start of the buffer.
func (r *Reader) Offset() int { return r.at }

// Done reports whether there is no further command.
func (r *Reader) Done() bool { return r.at >= len(r.b) }

// Next reads a command. io.EOF: the buffer ends here. An *Error: the command crosses the
// end, its opcode is unknown, its size wrong, or a field has a value that the command
// does not take; a range of addresses may end at 2^64 but not go beyond. Errors come
// again when it is called again.
func (r *Reader) Next() (Command, error) {
	if r.Done() {
		return nil, io.EOF
	}
	rest := r.b[r.at:]
	if len(rest) < HeadSize {
		return nil, r.fail("a command crosses the end of the buffer")
	}
	op, size := Opcode(binary.LittleEndian.Uint32(rest)), binary.LittleEndian.Uint32(rest[4:])
	l := layoutOf(op)
	switch {
	case l == nil:
		return nil, r.fail("unknown opcode %d", uint32(op))
	case uint64(size) != uint64(l.size()):
		return nil, r.fail("%v has the size %d instead of %d", op, size, l.size())
	case len(rest) < l.size():
		return nil, r.fail("%v crosses the end of the buffer", op)
	}
	var words [maxFields]uint64
	for i, f := range l.fields {
		words[i] = binary.LittleEndian.Uint64(rest[HeadSize+8*i:])
		if words[i] > f.max {
			return nil, r.fail("%v: %s is %#x, at most %#x is allowed", op, f.name, words[i], f.max)
		}
	}
	c := l.make(words)
	if at, bytes, ok := beyond(c); ok {
		return nil, r.fail("%v: %d bytes from %#x on go beyond the last address", op, bytes, at)
	}
	r.at += l.size()
	return c, nil
}

func (r *Reader) fail(format string, args ...any) error {
	return &Error{r.at, fmt.Sprintf(format, args...)}
}

// beyond finds a range of the command that no address space has.
func beyond(c Command) (at, bytes uint64, ok bool) {
	over := func(at, bytes uint64) bool { return bytes > 0 && at+(bytes-1) < at }
	switch c := c.(type) {
	case Copy:
		if over(c.Src, c.Bytes) {
			return c.Src, c.Bytes, true
		}
		return c.Dst, c.Bytes, over(c.Dst, c.Bytes)
	case Fill:
		return c.Dst, c.Bytes, over(c.Dst, c.Bytes)
	}
	return 0, 0, false
}

// A Line is a command with its place in the buffer.
type Line struct {
	Offset  int
	Command Command
}

// Decode reads a whole buffer. With an error, which is one of NewReader or Next, come
// the commands before it: those that the GPU executes before it faults.
func Decode(b []byte) ([]Line, error) {
	r, err := NewReader(b)
	if err != nil {
		return nil, err
	}
	var lines []Line
	for {
		at := r.Offset()
		switch c, err := r.Next(); {
		case err == io.EOF:
			return lines, nil
		case err != nil:
			return lines, err
		default:
			lines = append(lines, Line{at, c})
		}
	}
}
