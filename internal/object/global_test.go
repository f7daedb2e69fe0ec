package object

import (
	"math/rand/v2"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// Source: sharing.md §1, OQ-46.
func TestGlobalHandlesAreWellFormedAndUnique(t *testing.T) {
	tab := NewGlobalTable(rand.New(rand.NewPCG(1, 2)).Uint32, MaxGlobals)
	var local Table
	tops := map[abi.Handle]bool{}
	seen := map[abi.Handle]int{}
	for i := range 30_000 {
		h := tab.Add(i, 1000)
		if !h.Global() || h.Local() {
			t.Fatalf("%v is not the form of a global handle", h)
		}
		if _, again := seen[h]; again {
			t.Fatalf("%v twice", h)
		}
		seen[h] = i
		tops[h>>30] = true
		if local.Get(h) != nil {
			t.Fatalf("%v is a local handle", h)
		}
	}
	if len(tops) != 3 {
		t.Errorf("top bits seen: %v, want 1, 2 and 3", tops)
	}
	for h, i := range seen {
		for _, bad := range []abi.Handle{h &^ 2, h | 1, h ^ 1<<30, h ^ 1<<31} {
			if tab.Get(bad) != nil || tab.Remove(bad) != nil {
				t.Fatalf("%v stands for something, made from %v", bad, h)
			}
		}
		if tab.Get(h) != i || tab.Remove(h) != i || tab.Get(h) != nil || tab.Remove(h) != nil {
			t.Fatalf("%v does not stand for %d, or after its end for something", h, i)
		}
	}
	if tab.Len() != 0 || tab.Get(0) != nil {
		t.Errorf("%d left", tab.Len())
	}
}

// The source of randomness may say anything: a taken index and index 0 are drawn again,
// and a source that never says anything else ends the search.
func TestGlobalCollision(t *testing.T) {
	draws := []uint32{5, 5, 0, 0xFF000000, 0x01000005, 6}
	tab := NewGlobalTable(func() uint32 {
		d := draws[0]
		if len(draws) > 1 {
			draws = draws[1:]
		}
		return d
	}, MaxGlobals)
	if h := tab.Add("a", 0); h != 1<<30|5<<6|2 {
		t.Errorf("first: %v", h)
	}
	if h := tab.Add("b", 0); h != 1<<30|6<<6|2 {
		t.Errorf("second: %v", h)
	}
	if h := tab.Add("c", 0); h != 0 {
		t.Errorf("third: %v from a source that always says the same", h)
	}
	if tab.Len() != 2 {
		t.Errorf("%d live, want 2", tab.Len())
	}
}

func TestGlobalLimits(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4)).Uint32
	for _, c := range []struct{ most, one, all int }{
		{0, 0, 0}, // turned off (OQ-46)
		{-1, 0, 0},
		{1, 1, 1},
		{8, 6, 8},
		{MaxGlobals, MaxGlobals / 4 * 3, MaxGlobals},
		{MaxGlobals + 1, MaxGlobals / 4 * 3, MaxGlobals},
	} {
		tab := NewGlobalTable(random, c.most)
		tab.Remove(0) // gives nothing back
		fill := func(uid uint32) (last abi.Handle) {
			for h := tab.Add("x", uid); h != 0; h = tab.Add("x", uid) {
				last = h
			}
			return last
		}
		last := fill(1)
		if tab.Len() != c.one {
			t.Errorf("most %d: one user had %d, want %d", c.most, tab.Len(), c.one)
		}
		fill(2)
		if tab.Len() != c.all {
			t.Errorf("most %d: two users had %d, want %d", c.most, tab.Len(), c.all)
		}
		if last != 0 {
			tab.Remove(last)
			if tab.Add("y", 1) == 0 {
				t.Errorf("most %d: given back and not to be had", c.most)
			}
		}
	}
}
