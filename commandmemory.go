package dxgsync

import "github.com/dxgsync/dxgsync/abi"

// Sizes of command memory, in bytes.
const (
	commandChunk = 64 << 10
	// maxCommandMemory is what one stream may have queued.
	maxCommandMemory = 16 << 20
)

// commandMemory is where a stream keeps command buffers for the GPU until they are
// complete: one may be preempted, and is then read again. The zero one is ready to use.
type commandMemory struct {
	chunks []*commandPart
	size   int // of all chunks
}

// A commandPart is filled from its beginning, and used again when the last of its
// command buffers is complete.
type commandPart struct {
	buffer *Buffer
	used   int
	last   uint64 // progress value of the last command buffer in it
}

// put copies commands there and returns their address. They are in use until the stream's
// progress is value; it is at reached now.
func (m *commandMemory) put(d *Device, commands []byte, value, reached uint64) (uint64, error) {
	part, err := m.room(d, len(commands), reached)
	if err != nil {
		return 0, err
	}
	at := part.used
	copy(part.buffer.mem[at:], commands)
	part.used = (at + len(commands) + 7) &^ 7
	part.last = value
	return part.buffer.gpu + uint64(at), nil
}

// room finds where n bytes fit: the chunk that is being filled stands last.
func (m *commandMemory) room(d *Device, n int, reached uint64) (*commandPart, error) {
	if last := len(m.chunks) - 1; last >= 0 {
		if p := m.chunks[last]; len(p.buffer.mem)-p.used >= n {
			return p, nil
		}
	}
	for i, p := range m.chunks {
		if p.last <= reached && len(p.buffer.mem) >= n {
			m.chunks = append(append(m.chunks[:i:i], m.chunks[i+1:]...), p)
			p.used = 0
			return p, nil
		}
	}
	size := max(commandChunk, n)
	if m.size+size > maxCommandMemory {
		return nil, abi.StatusNoMemory
	}
	b, err := d.NewBuffer(size)
	if err != nil {
		return nil, err
	}
	p := &commandPart{buffer: b}
	m.chunks = append(m.chunks, p)
	m.size += size
	return p, nil
}

func (m *commandMemory) close() {
	for _, p := range m.chunks {
		_ = p.buffer.Close() // it may have gone with its device
	}
	m.chunks, m.size = nil, 0
}
