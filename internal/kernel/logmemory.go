package kernel

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// A logMemory is the memory of a log (vidmm.Memory): GPUs and the kernel use it at once,
// nobody else does. Words of 64 bits are never seen in halves. It is made when a GPU first
// uses it.
type logMemory struct {
	pages int
	typ   abi.NativeFenceLogType
	made  sync.Mutex
	words atomic.Pointer[[]atomic.Uint64]
	wrote func() // the head, with or without the kernel's lock
}

// Sizes of DXGK_NATIVE_FENCE_LOG_BUFFER, in bytes. Source: native-fence.md §10; OQ-33.
const (
	logHeader = 40
	logEntry  = 48
)

// logEntries is how many entries there are in so many pages.
func logEntries(pages int) int { return (pages*vidmm.PageSize - logHeader) / logEntry }

// logPages is how many pages so many entries need.
func logPages(entries int) int {
	return (logHeader + entries*logEntry + vidmm.PageSize - 1) / vidmm.PageSize
}

func newLogMemory(pages int, typ abi.NativeFenceLogType, wrote func()) *logMemory {
	return &logMemory{pages: pages, typ: typ, wrote: wrote}
}

// need is the memory, which is made if there is none yet.
func (m *logMemory) need() []atomic.Uint64 {
	if w := m.words.Load(); w != nil {
		return *w
	}
	m.made.Lock()
	defer m.made.Unlock()
	if w := m.words.Load(); w != nil {
		return *w
	}
	words := make([]atomic.Uint64, m.pages*vidmm.PageSize/8)
	words[1].Store(uint64(m.typ))
	words[2].Store(uint64(logEntries(m.pages)))
	m.words.Store(&words)
	return words
}

// head is FirstFreeEntryIndex and WraparoundCount, read at once.
func (m *logMemory) head() (index, wraps uint32) {
	w := m.words.Load()
	if w == nil {
		return 0, 0
	}
	v := (*w)[0].Load()
	return uint32(v), uint32(v >> 32)
}

// entry copies an entry.
func (m *logMemory) entry(i uint64) abi.NativeFenceLogEntry {
	w := m.need()[(logHeader+i*logEntry)/8:]
	what := w[1].Load()
	return abi.NativeFenceLogEntry{
		FenceValue: w[0].Load(), HNativeFence: abi.Handle(what), OperationType: abi.NativeFenceLogOperation(what >> 32),
		FenceObservedGpuTimestamp: w[3].Load(), FenceEndGpuTimestamp: w[5].Load(),
	}
}

// Hold implements vidmm.Memory. It is there as long as anybody can see it.
func (m *logMemory) Hold() bool { return true }

// Drop implements vidmm.Memory.
func (m *logMemory) Drop() {}

// Read implements vidmm.Memory.
func (m *logMemory) Read(offset uint64, b []byte) (n int) {
	words := m.need()
	for n < len(b) && offset/8 < uint64(len(words)) {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], words[offset/8].Load())
		c := copy(b[n:], word[offset%8:])
		n, offset = n+c, offset+uint64(c)
	}
	return n
}

// Write implements vidmm.Memory. What of a word is not written stays.
func (m *logMemory) Write(offset uint64, b []byte) (n int) {
	if offset < 8 {
		defer m.wrote()
	}
	words := m.need()
	for n < len(b) && offset/8 < uint64(len(words)) {
		w, at, c := &words[offset/8], offset%8, 0
		for {
			old := w.Load()
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], old)
			c = copy(word[at:], b[n:])
			if w.CompareAndSwap(old, binary.LittleEndian.Uint64(word[:])) {
				break
			}
		}
		n, offset = n+c, offset+uint64(c)
	}
	return n
}

// Load implements vidmm.Memory.
func (m *logMemory) Load(offset uint64, size int) (uint64, bool) {
	words := m.need()
	if offset/8 >= uint64(len(words)) {
		return 0, false
	}
	v := words[offset/8].Load() >> (offset % 8 * 8)
	if size == 4 {
		v = uint64(uint32(v))
	}
	return v, true
}

// Store implements vidmm.Memory.
func (m *logMemory) Store(offset uint64, size int, v uint64) bool {
	words := m.need()
	switch {
	case offset/8 >= uint64(len(words)):
		return false
	case size == 8:
		words[offset/8].Store(v)
		if offset == 0 {
			m.wrote()
		}
		return true
	}
	return m.Write(offset, binary.LittleEndian.AppendUint32(nil, uint32(v))) == 4
}

var _ vidmm.Memory = (*logMemory)(nil)
