package vidmm

import (
	"bytes"
	"sync"
	"testing"
)

func TestPages(t *testing.T) {
	for _, bounds := range [][2]uint64{{0, 0}, {0x10_0000, 0x10_6000}} {
		s := NewSpace(&sync.Mutex{}, 2, 48, true)
		s.BoundWords(bounds[0], bounds[1])
		m := &plain{bytes: make([]byte, 5*PageSize)}
		var w word
		var f Fence
		var p, q Pages
		wordVa := s.MapWord(&f, &w, 0, true, WordPlace{Stride: 64})
		va := s.MapPages(&p, m, 3)
		if va == 0 || va%PageSize != 0 || va != p.Address() || va/PageSize == wordVa/PageSize {
			t.Fatalf("pages at %#x, a word at %#x", va, wordVa)
		}
		if bounds[1] != 0 {
			if other := s.MapPages(&q, m, 3); other != 0 {
				t.Errorf("3 more pages of 2 that are left, at %#x", other)
			}
			if other := s.MapPages(&q, m, 7); other != 0 {
				t.Errorf("7 pages of 6, at %#x", other)
			}
		}
		text := []byte("across a page")
		for engine := range uint32(2) {
			if fault := s.Write(engine, va+PageSize-4, text); fault != nil {
				t.Fatal(fault)
			}
			got := make([]byte, len(text))
			if fault := s.Read(engine, va+PageSize-4, got); fault != nil || !bytes.Equal(got, text) {
				t.Errorf("engine %d reads %q, %v", engine, got, fault)
			}
		}
		if fault := s.Store64(0, va+3*PageSize-8, 7); fault != nil {
			t.Error(fault)
		}
		if v, fault := s.Load64(1, va+3*PageSize-8); v != 7 || fault != nil {
			t.Errorf("the last word is %d, %v", v, fault)
		}
		for _, bad := range []uint64{va - 8, va + 3*PageSize} {
			if _, fault := s.Load64(0, bad); fault == nil {
				t.Errorf("%#x can be read", bad)
			}
		}
		if _, fault := s.Load64(2, va); fault == nil {
			t.Error("an engine that is not there reads")
		}
		s.UnmapPages(&p)
		s.UnmapPages(&p)
		if _, fault := s.Load64(0, va); fault == nil || p.Address() != 0 {
			t.Error("unmapped pages can be read")
		}
		if again := s.MapPages(&p, m, 5); bounds[1] != 0 && again != 0x10_1000 {
			t.Errorf("the five pages that are left are at %#x", again)
		}
		if m.held != 0 {
			t.Errorf("the memory is held %d times", m.held)
		}
		s.Clear()
		s.UnmapPages(&p)
		if s.MapPages(&q, m, 1) != 0 {
			t.Error("pages of a process that is gone")
		}
	}
}
