package page

import (
	"slices"
	"testing"
)

// The death table of docs/protocol-pages.md, as far as a page shows it: somebody does
// only the first steps of what he was about to do and is then dead. After the sweep no
// step of his is left, every living sleeper looks again, and the kernel sees the value.
func TestSweepAfterDeathAtEachStep(t *testing.T) {
	const dead, alive = 7, 8 // bells
	rows := []struct {
		name  string
		steps func(v View, bells *Bells)
		value uint64
	}{
		{"signaller before the store", func(v View, _ *Bells) { v.Cell.Value() }, 0},
		{"signaller after the store", func(v View, _ *Bells) { v.Cell.value.CompareAndSwap(0, 5) }, 5},
		{"signaller after reading want", func(v View, _ *Bells) { v.Cell.Raise(5) }, 5},
		{"signaller between bell and wake", func(v View, bells *Bells) {
			v.Cell.Raise(5)
			bells.line(alive).bell.Add(1)
		}, 5},
		{"signaller before the ring", func(v View, bells *Bells) {
			want, _ := v.Cell.Raise(5)
			v.WakeSlots(want, bells, 0)
			if !v.Cell.WantsNews(want) {
				panic("the kernel waits")
			}
		}, 5},
		{"waiter after slot, before want", func(v View, _ *Bells) { v.slot(1).CompareAndSwap(0, dead) }, 0},
		{"waiter asleep", func(v View, _ *Bells) { v.Claim(dead) }, 0},
		{"waiter in two slots", func(v View, _ *Bells) { v.Claim(dead); v.Claim(dead) }, 0},
		{"waiter after want, before slot, leaving", func(v View, _ *Bells) {
			slot, _ := v.Claim(dead)
			v.Cell.want.And(^(uint64(1) << slot))
		}, 0},
		{"waiter after leaving", func(v View, _ *Bells) {
			slot, _ := v.Claim(dead)
			v.Leave(slot)
		}, 0},
	}
	for _, row := range rows {
		v, bells := newMappedPage(t, 0), newMappedBells(t)
		v.Claim(alive)
		v.Arm(3)
		seen := bells.Value(alive)
		row.steps(v, bells)
		stale := bells.Value(alive)
		v.Sweep(func(b uint32) bool { return b == dead }, bells)
		if bells.Value(alive) == seen || bells.Value(alive) == stale {
			t.Errorf("%s: the living sleeper's bell is %d, was %d: it may sleep on", row.name, bells.Value(alive), stale)
		}
		if w := v.Cell.want.Load(); w != WantKernel|1 {
			t.Errorf("%s: want word %#x, want the kernel and slot 0", row.name, w)
		}
		for i := range PageSlots {
			if b := v.slot(i).Load(); b == dead || (b == alive) != (i == 0) {
				t.Errorf("%s: slot %d holds %d", row.name, i, b)
			}
		}
		if v.Cell.Value() != row.value {
			t.Errorf("%s: value %d, want %d", row.name, v.Cell.Value(), row.value)
		}
	}
}

// The kernel dies between any two steps of Lower: the watcher of a process that can
// write the page saturates it, and every sleeper is satisfied.
func TestWatcherAfterDeathInLower(t *testing.T) {
	for died := range 4 {
		v := newMappedPage(t, 5)
		steps := []func(){
			func() { v.Cell.peak.Store(5) },
			func() { v.Cell.flags.Or(Lowered) },
			func() { v.Cell.value.CompareAndSwap(5, 0) },
		}
		for _, step := range steps[:died] {
			step()
		}
		v.Saturate()
		if !v.Cell.Satisfied(1 << 60) {
			t.Errorf("dead after %d steps: a sleeper is not satisfied", died)
		}
	}
}

// A sweep in the middle of a living sleeper's Claim or Leave does it no harm.
func TestSweepAroundTheLiving(t *testing.T) {
	const alive = 8
	notMine := func(b uint32) bool { return b != alive }
	v, bells := newMappedPage(t, 0), newMappedBells(t)
	v.slot(0).CompareAndSwap(0, alive) // first half of Claim
	v.Sweep(notMine, bells)
	v.Cell.want.Or(1) // second half
	before := bells.Value(alive)
	want, _ := v.Cell.Raise(1)
	v.WakeSlots(want, bells, 0)
	if bells.Value(alive) != before+1 {
		t.Fatal("not rung after a sweep inside Claim")
	}
	v.Cell.want.And(^uint64(1)) // first half of Leave
	v.Sweep(notMine, bells)
	v.slot(0).Store(0)
	if slot, ok := v.Claim(9); !ok || slot != 0 {
		t.Fatalf("after a sweep inside Leave: %d, %v", slot, ok)
	}
}

// Sweep asks about each bell that is there and no other number.
func TestSweepAsks(t *testing.T) {
	v, bells := newHeapPage(0), newHeapBells(8)
	v.Claim(3)
	v.Claim(5)
	var asked []uint32
	v.Sweep(func(b uint32) bool { asked = append(asked, b); return false }, bells)
	if !slices.Equal(asked, []uint32{3, 5}) {
		t.Fatalf("asked about %d", asked)
	}
}
