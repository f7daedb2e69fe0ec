package cmdbuf

import (
	"bytes"
	"testing"
)

// A ring of three entries into which five were put, in Go and in C.
func TestRing(t *testing.T) {
	memory := make([]byte, 56) // half an entry more, which is not used
	r := NewRing(memory)
	var rung uint64
	for i := uint64(1); i <= 5; i++ {
		rung = r.Put(RingEntry{0x1000 * i, i})
	}
	if r.Entries() != 3 || rung != 5 || r.Room(2) != 0 || r.Room(4) != 2 {
		t.Errorf("%d entries, rung %d, room %d and %d", r.Entries(), rung, r.Room(2), r.Room(4))
	}
	for i, want := range []RingEntry{{0x4000, 4}, {0x5000, 5}, {0x3000, 3}} {
		if e := ParseRingEntry(memory[i*RingEntrySize:]); e != want {
			t.Errorf("entry %d is %x, want %x", i, e, want)
		}
	}
	if !bytes.Equal(memory[48:], make([]byte, 8)) {
		t.Errorf("behind the entries: %x", memory[48:])
	}
	for _, c := range compilers {
		if got := runC(t, c, "testdata/ring.c"); !bytes.Equal(got, memory[:48]) {
			t.Errorf("%s wrote\n%x\nwant\n%x", c[0], got, memory[:48])
		}
	}
}

func TestRingIsBounded(t *testing.T) {
	if n := NewRing(make([]byte, 2<<20)).Entries(); n != MaxRingEntries {
		t.Errorf("%d entries", n)
	}
}
