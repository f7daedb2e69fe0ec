package page

import (
	"math"
	"slices"
	"testing"
)

// Every relation of the value to the signal, with every kind of want word.
func TestRaise(t *testing.T) {
	for _, want := range []uint64{0, 1, 1 << 61, WantLocal, WantKernel, WantKernel | 5} {
		for _, c := range []struct {
			cur, v, after uint64
			lower         bool
		}{
			{5, 6, 6, false},
			{5, 5, 5, false},
			{5, 4, 5, true},
			{0, 0, 0, false},
			{0, math.MaxUint64, math.MaxUint64, false},
			{math.MaxUint64, math.MaxUint64, math.MaxUint64, false},
			{math.MaxUint64, 0, math.MaxUint64, true},
			{1 << 63, 1<<63 - 1, 1 << 63, true}, // unsigned
			{1<<63 - 1, 1 << 63, 1 << 63, false},
		} {
			v := newHeapPage(c.cur)
			v.Cell.want.Store(want)
			got, lower := v.Cell.Raise(c.v)
			wantBack := want
			if c.lower {
				wantBack = 0
			}
			if got != wantBack || lower != c.lower || v.Cell.Value() != c.after {
				t.Errorf("at %d Raise(%d) = %#x, %v, value %d; want %#x, %v, %d",
					c.cur, c.v, got, lower, v.Cell.Value(), wantBack, c.lower, c.after)
			}
		}
	}
}

// A page that asks, or requests, is not written, whatever the signal; only the kernel
// raises it.
func TestRaiseAsks(t *testing.T) {
	for _, set := range []func(View){View.SetAsk, View.SetRequest} {
		for _, to := range []uint64{4, 5, 6, math.MaxUint64} {
			v := newHeapPage(5)
			v.Claim(9)
			set(v)
			if want, ask := v.Cell.Raise(to); want != 0 || !ask || v.Cell.Value() != 5 {
				t.Errorf("Raise(%d) = %#x, %v, value %d", to, want, ask, v.Cell.Value())
			}
			v.Raise(to)
			if v.Cell.Value() != max(to, 5) || v.Sleepers() != 1 {
				t.Errorf("the kernel's Raise(%d): value %d, %d sleepers", to, v.Cell.Value(), v.Sleepers())
			}
		}
	}
}

// What requests may be believed until it asks.
func TestRequests(t *testing.T) {
	v := newHeapPage(5)
	if v.Cell.Requests() || v.Cell.Asks() {
		t.Error("a new page requests")
	}
	v.SetRequest()
	if !v.Cell.Requests() || v.Cell.Asks() {
		t.Errorf("requests %v, asks %v", v.Cell.Requests(), v.Cell.Asks())
	}
	v.SetAsk()
	if !v.Cell.Requests() || !v.Cell.Asks() {
		t.Errorf("with both: requests %v, asks %v", v.Cell.Requests(), v.Cell.Asks())
	}
}

func TestWantsNews(t *testing.T) {
	for _, c := range []struct {
		want, mval, value uint64
		news              bool
	}{
		{0, 4, 5, false},
		{7, 4, 5, false},
		{WantKernel, 4, 5, true},
		{WantKernel | 7, 4, 5, true},
		{WantKernel, 5, 5, false},
		{WantKernel, 6, 5, false},
		{WantKernel, 0, 1, true}, // tracing: every signal tells
		{WantKernel, MvalNone, math.MaxUint64, false},
	} {
		v := newHeapPage(c.value)
		v.Cell.mval.Store(c.mval)
		if got := v.Cell.WantsNews(c.want); got != c.news {
			t.Errorf("want %#x, mval %d, value %d: %v", c.want, c.mval, c.value, got)
		}
	}
}

// Slots run out at their number, each is taken once, and one given back is the next
// one taken.
func TestClaimToTheLimit(t *testing.T) {
	for _, slots := range []int{0, CellSlots, PageSlots} {
		v := newHeapPage(0)
		v.Slots = slots
		for i := range slots {
			if slot, ok := v.Claim(uint32(100 + i)); !ok || slot != i {
				t.Fatalf("%d slots: claim %d: %d, %v", slots, i, slot, ok)
			}
		}
		if slot, ok := v.Claim(7); ok || slot != -1 {
			t.Fatalf("%d slots: one more: %d, %v", slots, slot, ok)
		}
		if v.Sleepers() != slots {
			t.Fatalf("%d sleepers, want %d", v.Sleepers(), slots)
		}
		for i := range slots {
			v.Leave(i)
			if slot, ok := v.Claim(uint32(200 + i)); !ok || slot != i || v.slot(i).Load() != uint32(200+i) {
				t.Fatalf("%d slots: claim again %d: %d, %v", slots, i, slot, ok)
			}
		}
		for i := range slots {
			v.Leave(i)
		}
		if w := v.Cell.want.Load(); w != 0 {
			t.Fatalf("want word %#x after all left", w)
		}
	}
}

// A signal rings the bells whose bit and slot are both there, and no others.
func TestWakeSlots(t *testing.T) {
	v, bells, seen := newHeapPage(0), newHeapBells(80), map[uint32]uint32{}
	for i := range PageSlots {
		v.slot(i).Store(uint32(i + 1))
	}
	v.slot(3).Store(0) // a waiter that is just leaving
	for _, c := range []struct {
		want uint64
		own  uint32
		rung []uint32
	}{
		{0, 0, nil},
		{WantKernel | WantLocal, 0, nil},
		{1, 0, []uint32{1}},
		{1 << 61, 0, []uint32{62}},
		{1<<61 | 1<<8 | WantKernel, 0, []uint32{9, 62}},
		{1<<61 | 1<<8, 9, []uint32{62}},
		{1 << 3, 0, nil},
	} {
		v.WakeSlots(c.want, bells, c.own)
		if rung := ringing(bells, seen); !slices.Equal(rung, c.rung) {
			t.Errorf("WakeSlots(%#x, own %d) rang %d, want %d", c.want, c.own, rung, c.rung)
		}
	}
	v.Slots = CellSlots // bits beyond the slots are somebody's mistake
	v.WakeSlots(1<<CellSlots|1<<40|1, bells, 0)
	if rung := ringing(bells, seen); !slices.Equal(rung, []uint32{1}) {
		t.Errorf("a cell of a slab: rang %d, want 1", rung)
	}
}

func TestSatisfied(t *testing.T) {
	for _, c := range []struct {
		value, peak uint64
		flags       uint32
		want        bool
	}{
		{4, 0, 0, false},
		{5, 0, 0, true},
		{6, 0, 0, true},
		{0, 5, Lowered, true},
		{0, 4, Lowered, false},
		{0, 5, 0, false}, // no peak without the flag
		{0, 5, Gone, false},
		{math.MaxUint64, 0, 0, true},
	} {
		v := newHeapPage(c.value)
		v.Cell.peak.Store(c.peak)
		v.Cell.flags.Store(c.flags)
		if got := v.Cell.Satisfied(5); got != c.want {
			t.Errorf("value %d peak %d flags %d: %v", c.value, c.peak, c.flags, got)
		}
	}
}

func TestWantLocal(t *testing.T) {
	v := newHeapPage(0)
	v.Cell.WantLocal()
	if want, _ := v.Cell.Raise(1); want != WantLocal || v.Sleepers() != 0 {
		t.Fatalf("want %#x, %d sleepers", want, v.Sleepers())
	}
	v.Arm(4)
	v.Cell.UnwantLocal()
	if want, _ := v.Cell.Raise(2); want != WantKernel {
		t.Fatalf("want %#x: the kernel's bit must stay", want)
	}
}
