package vidmm

import (
	"sync"
	"testing"
)

// TestAccessWhileChanging: GPUs use addresses that come and go. Whatever they hit, it
// is a whole value or a fault, and what they raised is not lost.
func TestAccessWhileChanging(t *testing.T) {
	var changes sync.Mutex
	s := NewSpace(&changes, 2, 48, true)
	const rounds = 2000
	var f Fence
	w := &word{}
	fence := s.MapFence(&f, w, 0, true)
	m := &plain{bytes: make([]byte, 2*PageSize)}
	va, _ := s.Reserve(Place{}, 2*PageSize, false)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			b := make([]byte, 64)
			for i := range rounds {
				_ = s.Write(uint32(g%2), va+PageSize-32, b)
				_ = s.Read(uint32(g%2), va+PageSize-32, b)
				if v, fault := s.Load64(uint32(g%2), va); fault == nil && v != 0 && v != 0x0101010101010101 {
					t.Errorf("half a value: %#x", v)
				}
				_ = s.Store64(uint32(g%2), va, uint64(i%2)*0x0101010101010101)
				_ = s.Store64(uint32(g%2), fence, uint64(i))
			}
		})
	}
	for i := range rounds {
		s.Map(uint32(1+i%3), va, 2*PageSize, Mapping{Memory: m, Writable: true, Owner: m})
		if i%3 == 0 {
			s.Unmap(3, va, PageSize, i%2 == 0)
		}
		if i%5 == 0 {
			s.Forget(func(any) bool { return true })
		}
		if i%7 == 0 {
			changes.Lock()
			s.UnmapFence(&f)
			if fence != s.MapFence(&f, w, 0, true) {
				s.UnmapFence(&f)
				s.mu.Lock()
				s.fences.next = 0
				s.mu.Unlock()
				s.MapFence(&f, w, 0, true)
			}
			changes.Unlock()
		}
	}
	s.Clear()
	wg.Wait()
	if m.held != 0 {
		t.Errorf("memory is held %d times", m.held)
	}
}

// BenchmarkFence is what a fence's mapping costs.
func BenchmarkFence(b *testing.B) {
	s := NewSpace(&sync.Mutex{}, 1, 48, true)
	var f Fence
	w := &word{}
	for b.Loop() {
		s.MapFence(&f, w, 0, true)
		s.UnmapFence(&f)
	}
}
