package object

import (
	"math/rand/v2"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

func TestHandlesAreConsecutiveAndWellFormed(t *testing.T) {
	var tab Table
	prev := abi.Handle(0)
	for i := range 5000 {
		h := tab.Add(i)
		if h&0x3F != 0 || h>>30 == 0 {
			t.Fatalf("handle %#x: low six bits must be 0, top two not both 0", uint32(h))
		}
		if prev != 0 && h != prev+0x40 {
			t.Fatalf("handle %#x after %#x: not the next", uint32(h), uint32(prev))
		}
		prev = h
	}
}

func TestFreedHandleIsNotReusedAndStaysDead(t *testing.T) {
	var tab Table
	a := tab.Add("a")
	if tab.Remove(a) != "a" || tab.Remove(a) != nil || tab.Get(a) != nil {
		t.Fatal("a removed handle must stand for nothing")
	}
	for range 3 * chunkLen {
		h := tab.Add("b")
		if h == a {
			t.Fatalf("handle %#x came back", uint32(a))
		}
		tab.Remove(h)
	}
}

func TestBadHandlesStandForNothing(t *testing.T) {
	var tab Table
	h := tab.Add("x")
	for _, bad := range []abi.Handle{0, h | 1, h | 2, h + 0x40, h &^ (3 << 30), h ^ 3<<30, ^abi.Handle(0), 0x3F} {
		if got := tab.Get(bad); got != nil {
			t.Errorf("Get(%#x) = %v", uint32(bad), got)
		}
		if got := tab.Remove(bad); got != nil {
			t.Errorf("Remove(%#x) = %v", uint32(bad), got)
		}
	}
	if tab.Get(h) != "x" {
		t.Error("the good handle was lost")
	}
}

func TestLapChangesUniquenessAndSkipsTheLiving(t *testing.T) {
	var tab Table
	first := tab.Add("old") // stays alive over the laps
	tab.next = MaxHandles
	seen := map[uint32]bool{uint32(first) >> 30: true}
	for range 3 {
		h := tab.Add("new")
		if i := uint32(h) >> 6 & MaxHandles; i != 2 {
			t.Fatalf("after a lap index %d was given, want 2: index 1 is held", i)
		}
		if h>>30 == 0 {
			t.Fatalf("handle %#x: uniqueness 0", uint32(h))
		}
		seen[uint32(h)>>30] = true
		tab.Remove(h)
		tab.next = MaxHandles
	}
	if len(seen) != 3 {
		t.Errorf("uniqueness values seen: %v, want all three", seen)
	}
	if tab.Get(first) != "old" {
		t.Error("a handle held over the laps was lost")
	}
}

func TestTableAgainstMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var tab Table
	tab.Limit(3000)
	model := map[abi.Handle]int{}
	var held []abi.Handle
	for i := range 50_000 {
		if rng.IntN(5) < 3 {
			h := tab.Add(i)
			if (h == 0) != (len(model) == 3000) {
				t.Fatalf("Add gave %#x with %d of 3000 held", uint32(h), len(model))
			}
			if h != 0 {
				model[h] = i
				held = append(held, h)
			}
		} else if len(held) > 0 {
			k := rng.IntN(len(held))
			h := held[k]
			held[k] = held[len(held)-1]
			held = held[:len(held)-1]
			if got := tab.Remove(h); got != model[h] {
				t.Fatalf("Remove(%#x) = %v, want %v", uint32(h), got, model[h])
			}
			delete(model, h)
		}
		if tab.Len() != len(model) {
			t.Fatalf("Len = %d, want %d", tab.Len(), len(model))
		}
	}
	n := 0
	tab.All(func(h abi.Handle, obj any) bool {
		if model[h] != obj {
			t.Fatalf("All: %#x is %v, want %v", uint32(h), obj, model[h])
		}
		n++
		return true
	})
	if n != len(model) {
		t.Fatalf("All saw %d, want %d", n, len(model))
	}
}
