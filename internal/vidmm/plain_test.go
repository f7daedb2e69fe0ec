package vidmm

import (
	"encoding/binary"
	"math"
	"sync"
	"sync/atomic"
)

// plain is memory on the heap.
type plain struct {
	mu    sync.Mutex
	bytes []byte
	held  int
	gone  bool
}

func (p *plain) Hold() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return false
	}
	p.held++
	return true
}

func (p *plain) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held--; p.held < 0 {
		panic("vidmm: memory dropped that nobody held")
	}
}

func (p *plain) Read(offset uint64, b []byte) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return copy(b, p.bytes[min(offset, uint64(len(p.bytes))):])
}

func (p *plain) Write(offset uint64, b []byte) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return copy(p.bytes[min(offset, uint64(len(p.bytes))):], b)
}

func (p *plain) Load(offset uint64, size int) (uint64, bool) {
	var b [8]byte
	n := p.Read(offset, b[:size])
	return binary.LittleEndian.Uint64(b[:]), n == size
}

func (p *plain) Store(offset uint64, size int, v uint64) bool {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	return p.Write(offset, b[:size]) == size
}

// word is a fence that counts how its value was changed.
type word struct {
	value            atomic.Uint64
	raised, replaced atomic.Int64
}

func (w *word) Load() uint64 { return w.value.Load() }

func (w *word) Raise(v uint64) bool {
	for {
		cur := w.value.Load()
		if v < cur {
			return false
		}
		if w.value.CompareAndSwap(cur, v) {
			w.raised.Add(1)
			return true
		}
	}
}

func (w *word) Replace(v uint64) {
	w.value.Store(v)
	w.replaced.Add(1)
}

const none = math.MaxUint64
