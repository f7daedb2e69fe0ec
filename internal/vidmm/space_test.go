package vidmm

import (
	"bytes"
	"encoding/binary"
	"sync"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

func TestPlacesThatAreRefused(t *testing.T) {
	const top = 1 << 48
	for _, c := range []struct {
		name string
		p    Place
		size uint64
		st   abi.Status
	}{
		{"anywhere", Place{}, PageSize, abi.StatusSuccess},
		{"nothing", Place{}, 0, abi.StatusInvalidParameter},
		{"half a page", Place{}, PageSize / 2, abi.StatusInvalidParameter},
		{"all", Place{}, top, abi.StatusInvalidParameter},
		{"more than all", Place{}, 1 << 63, abi.StatusInvalidParameter},
		{"base 4 KiB", Place{Base: HeapBase + PageSize}, PageSize, abi.StatusInvalidParameter},
		{"base 64 KiB", Place{Base: HeapBase + Granule}, PageSize, abi.StatusSuccess},
		{"base below", Place{Base: Granule}, PageSize, abi.StatusSuccess},
		{"base at fences", Place{Base: FenceBase}, PageSize, abi.StatusInvalidParameter},
		{"up to fences", Place{Base: FenceBase - Granule}, Granule, abi.StatusSuccess},
		{"into fences", Place{Base: FenceBase - Granule}, Granule + PageSize, abi.StatusInvalidParameter},
		{"around fences", Place{Base: Granule}, 2 * HeapBase, abi.StatusInvalidParameter},
		{"up to the end", Place{Base: top - Granule}, Granule, abi.StatusSuccess},
		{"behind the end", Place{Base: top - Granule}, Granule + PageSize, abi.StatusInvalidParameter},
		{"far behind", Place{Base: 1 << 63}, PageSize, abi.StatusInvalidParameter},
		{"at the very end", Place{Base: none &^ (Granule - 1)}, Granule, abi.StatusInvalidParameter},
		{"min odd", Place{Min: 1}, PageSize, abi.StatusInvalidParameter},
		{"max odd", Place{Max: top - 1}, PageSize, abi.StatusInvalidParameter},
		{"min behind max", Place{Min: 2 * HeapBase, Max: HeapBase}, PageSize, abi.StatusInvalidParameter},
		{"too narrow", Place{Min: HeapBase, Max: HeapBase + PageSize}, 2 * PageSize, abi.StatusInvalidParameter},
		{"just so", Place{Min: HeapBase + PageSize, Max: HeapBase + 3*PageSize}, 2 * PageSize, abi.StatusSuccess},
		{"low", Place{Max: FenceBase}, PageSize, abi.StatusSuccess},
		{"among fences", Place{Min: FenceBase, Max: HeapBase}, PageSize, abi.StatusNoMemory},
	} {
		s := NewSpace(&sync.Mutex{}, 1, 48, true)
		va, st := s.Reserve(c.p, c.size, false)
		if st != c.st {
			t.Errorf("%s: %v, want %v", c.name, st, c.st)
			continue
		}
		if !st.OK() {
			if bytes, _ := s.Size(); bytes != 0 {
				t.Errorf("%s: %d bytes taken by what was refused", c.name, bytes)
			}
			continue
		}
		if c.p.Base != 0 && va != c.p.Base || va < c.p.Min || c.p.Max != 0 && va+c.size > c.p.Max {
			t.Errorf("%s: at %#x", c.name, va)
		}
		if _, st := s.Reserve(Place{Base: va}, c.size, false); va%Granule == 0 && st != abi.StatusInvalidParameter {
			t.Errorf("%s: taken twice: %v", c.name, st)
		}
		if st := s.Free(va, c.size); !st.OK() {
			t.Errorf("%s: free: %v", c.name, st)
		}
		if st := s.Free(va, c.size); st != abi.StatusInvalidParameter {
			t.Errorf("%s: free again: %v", c.name, st)
		}
	}
}

// TestNarrowAddresses: a GPU whose addresses end before the place of the heap gets
// what is below the fences.
func TestNarrowAddresses(t *testing.T) {
	s := NewSpace(&sync.Mutex{}, 1, 32, true)
	va, st := s.Reserve(Place{}, 16*PageSize, false)
	if !st.OK() || va+16*PageSize > 1<<32 {
		t.Errorf("32 bits: %#x, %v", va, st)
	}
	if _, st := s.Reserve(Place{}, 1<<32-Granule, false); st != abi.StatusNoMemory {
		t.Errorf("all that there is, beside something: %v", st)
	}
}

func TestAllot(t *testing.T) {
	s := NewSpace(&sync.Mutex{}, 1, 48, true)
	va, _ := s.Reserve(Place{}, 4*PageSize, false)
	if _, st := s.Allot(Place{Base: va + PageSize}, PageSize, false); !st.OK() {
		t.Errorf("nothing, where it is reserved: %v", st)
	}
	if _, st := s.Allot(Place{Base: va + 2*PageSize}, 4*PageSize, true); !st.OK() {
		t.Errorf("half reserved, half free: %v", st)
	}
	if _, st := s.Allot(Place{Base: va + 4*PageSize}, PageSize, false); st != abi.StatusInvalidParameter {
		t.Errorf("nothing, where it was allotted: %v", st)
	}
	if _, st := s.Allot(Place{Base: va + 4*PageSize}, PageSize, true); !st.OK() {
		t.Errorf("again: %v", st)
	}
	if !s.Has(va, 6*PageSize) || s.Has(va, 7*PageSize) || s.Has(FenceBase, PageSize) || s.Has(va, 0) || s.Has(none-PageSize, 2*PageSize) {
		t.Error("the space does not know what it has")
	}
	for _, bad := range [][2]uint64{{va, 0}, {va + 1, PageSize}, {va, PageSize + 1}, {va, 7 * PageSize}, {FenceBase, PageSize}, {none &^ (PageSize - 1), PageSize}} {
		if st := s.Free(bad[0], bad[1]); st != abi.StatusInvalidParameter {
			t.Errorf("free %#x: %v", bad, st)
		}
	}
	if st := s.Free(va+PageSize, PageSize); !st.OK() {
		t.Errorf("free a part: %v", st)
	}
	if s.Has(va, 6*PageSize) || !s.Has(va, PageSize) || !s.Has(va+2*PageSize, 4*PageSize) {
		t.Error("a part was freed, and others with it")
	}
}

func TestRangesRunOut(t *testing.T) {
	s := NewSpace(&sync.Mutex{}, 1, 48, true)
	n := 0
	for {
		_, st := s.Reserve(Place{Base: HeapBase + uint64(n)*Granule}, PageSize, false)
		if st == abi.StatusNoMemory {
			break
		}
		if !st.OK() {
			t.Fatal(st)
		}
		n++
	}
	if n > MaxSpans || n < MaxSpans-8 {
		t.Errorf("%d ranges, the limit is %d", n, MaxSpans)
	}
	if st := s.Expect(1); st != abi.StatusNoMemory {
		t.Errorf("expect: %v", st)
	}
	for i := range uint64(8) {
		if st := s.Free(HeapBase+i*Granule, PageSize); !st.OK() {
			t.Errorf("free: %v", st)
		}
	}
	big := HeapBase + uint64(n)*Granule
	if _, st := s.Reserve(Place{Base: big}, 64*PageSize, true); !st.OK() {
		t.Fatal(st)
	}
	st := abi.StatusSuccess
	for i := uint64(1); i < 64 && st.OK(); i += 2 {
		st = s.Free(big+i*PageSize, PageSize)
	}
	if st != abi.StatusNoMemory {
		t.Errorf("free every second page: %v", st)
	}
}

func TestExpectedRoomIsKept(t *testing.T) {
	s := NewSpace(&sync.Mutex{}, 1, 48, true)
	if st := s.Expect(MaxSpans); st != abi.StatusNoMemory {
		t.Errorf("too much: %v", st)
	}
	if st := s.Expect(MaxSpans/perChange - 1); !st.OK() {
		t.Fatal(st)
	}
	if _, st := s.Reserve(Place{}, PageSize, false); st != abi.StatusNoMemory {
		t.Errorf("all room is promised: %v", st)
	}
	s.Expected(MaxSpans/perChange - 1)
	if _, st := s.Reserve(Place{}, PageSize, false); !st.OK() {
		t.Errorf("it is free again: %v", st)
	}
}

func TestFenceIsEightBytes(t *testing.T) {
	s := NewSpace(&sync.Mutex{}, 2, 48, true)
	var f, other Fence
	w := &word{}
	w.value.Store(0x1122334455667788)
	va := s.MapFence(&f, w, 1, true)
	if next := s.MapFence(&other, &word{}, 0, true); next != va+FenceStride || va != FenceBase {
		t.Errorf("at %#x and %#x", va, next)
	}
	if v, fault := s.Load64(0, va); fault != nil || v != 0x1122334455667788 {
		t.Errorf("load: %#x, %v", v, fault)
	}
	if v, fault := s.Load32(0, va+4); fault != nil || v != 0x11223344 {
		t.Errorf("load the upper half: %#x, %v", v, fault)
	}
	for _, at := range []uint64{va - 8, va + 8, va + 56} {
		if _, fault := s.Load64(0, at); fault == nil || *fault != (ddi.Fault{Address: at}) {
			t.Errorf("beside it, at %#x: %v", at, fault)
		}
	}
	if _, fault := s.Load64(1, va); fault == nil {
		t.Error("the other engine sees it")
	}
	if _, fault := s.Load64(7, va); fault == nil {
		t.Error("an engine that does not exist sees it")
	}
	if fault := s.Store64(0, va+4, 1); fault == nil || fault.Flags != ddi.FaultWrite|ddi.FaultUnaligned {
		t.Errorf("unaligned: %v", fault)
	}
	if fault := s.Store32(0, va+4, 0x11223345); fault != nil || w.Load() != 0x1122334555667788 || w.raised.Load() != 1 {
		t.Errorf("raise the upper half: %v, %#x, %d stores", fault, w.Load(), w.raised.Load())
	}
	if fault := s.Store64(0, va, 5); fault != nil || w.Load() != 5 || w.replaced.Load() != 1 {
		t.Errorf("lower: %v, %#x", fault, w.Load())
	}
	if fault := s.Write(0, va+1, []byte{1, 2}); fault != nil || w.Load() != 0x020105 || w.raised.Load() != 2 {
		t.Errorf("two bytes: %v, %#x, %d stores", fault, w.Load(), w.raised.Load())
	}
	if fault := s.Write(0, va, make([]byte, 9)); fault == nil || *fault != (ddi.Fault{Address: va + 8, Flags: ddi.FaultWrite}) || w.Load() != 0 {
		t.Errorf("one byte too many: %v, %#x", fault, w.Load())
	}
	b := make([]byte, 9)
	w.value.Store(7)
	if fault := s.Read(0, va, b); fault == nil || fault.Address != va+8 || binary.LittleEndian.Uint64(b) != 7 {
		t.Errorf("read one byte too many: %v, %x", fault, b)
	}
	s.UnmapFence(&f)
	s.UnmapFence(&f)
	if _, fault := s.Load64(0, va); fault == nil {
		t.Error("it is seen after unmapping")
	}
	if _, n := s.Size(); n != 1 {
		t.Errorf("%d fences", n)
	}
}

func TestReadOnlyFence(t *testing.T) {
	for _, protects := range []bool{true, false} {
		s := NewSpace(&sync.Mutex{}, 1, 48, protects)
		var f Fence
		w := &word{}
		va := s.MapFence(&f, w, 0, false)
		if fault := s.Store64(0, va, 1); (fault != nil) != protects || (w.Load() == 0) != protects {
			t.Errorf("read-only memory %v: %v, value %d", protects, fault, w.Load())
		}
	}
}

// TestFencePlaces: they are not used again until all have been, and those still in use
// are passed by.
func TestFencePlaces(t *testing.T) {
	s := NewSpace(&sync.Mutex{}, 1, 48, true)
	var kept, f Fence
	first := s.MapFence(&kept, &word{}, 0, true)
	for i := range 3 * chunkFences {
		if va := s.MapFence(&f, &word{}, 0, true); va != first+uint64(i+1)*FenceStride {
			t.Fatalf("fence %d is at %#x", i, va)
		}
		s.UnmapFence(&f)
	}
	if n := len(s.fences.chunks); n > 2 {
		t.Errorf("%d chunks for one fence", n)
	}
	s.fences.next = maxFences - 1
	if va := s.MapFence(&f, &word{}, 0, true); va != NativeBase-FenceStride {
		t.Errorf("the last place is %#x", va)
	}
	s.UnmapFence(&f)
	if va := s.MapFence(&f, &word{}, 0, true); va != first+FenceStride {
		t.Errorf("after all: %#x, while %#x is taken", va, first)
	}
}

func TestClear(t *testing.T) {
	s := NewSpace(&sync.Mutex{}, 1, 48, true)
	var f Fence
	at := s.MapFence(&f, &word{}, 0, true)
	m := &plain{bytes: make([]byte, PageSize)}
	va, _ := s.Allot(Place{}, PageSize, true)
	s.Map(1, va, PageSize, Mapping{Memory: m, Writable: true})
	if s.Store64(0, va, 1) != nil || s.Store64(0, at, 1) != nil {
		t.Fatal("faults before")
	}
	s.Clear()
	if s.Store64(0, va, 1) == nil || s.Store64(0, at, 1) == nil {
		t.Error("no faults after")
	}
	s.Map(1, va, PageSize, Mapping{Memory: m, Writable: true})
	if s.Store64(0, va, 1) == nil {
		t.Error("what comes later is mapped")
	}
	s.UnmapFence(&f)
	if s.MapFence(&f, &word{}, 0, true) != 0 {
		t.Error("a fence is mapped")
	}
	if _, st := s.Reserve(Place{}, PageSize, true); st.OK() {
		t.Error("addresses are reserved")
	}
	if _, st := s.Allot(Place{}, PageSize, true); st.OK() {
		t.Error("addresses are allotted")
	}
}

// TestMemoryEndsEarly: who reaches the end of memory in the middle of a mapping has
// moved what came before.
func TestMemoryEndsEarly(t *testing.T) {
	s := NewSpace(&sync.Mutex{}, 1, 48, true)
	m := &plain{bytes: bytes.Repeat([]byte{7}, 100)}
	va, _ := s.Allot(Place{}, PageSize, true)
	s.Map(1, va, PageSize, Mapping{Memory: m, Writable: true})
	b := make([]byte, 20)
	if f := s.Read(0, va+90, b); f == nil || f.Address != va+100 || f.Flags != 0 || b[9] != 7 || b[10] != 0 {
		t.Errorf("read: %v, %d", f, b)
	}
	if f := s.Write(0, va+90, b); f == nil || f.Address != va+100 || f.Flags != ddi.FaultWrite {
		t.Errorf("write: %v", f)
	}
	if _, f := s.Load64(0, va+96); f == nil {
		t.Error("load: no fault")
	}
	if f := s.Store32(0, va+100, 1); f == nil {
		t.Error("store: no fault")
	}
	m.gone = true
	if _, f := s.Load64(0, va); f == nil || m.held != 0 {
		t.Errorf("gone: %v, held %d", f, m.held)
	}
}
