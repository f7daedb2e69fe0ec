package page

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestArmDisarm(t *testing.T) {
	v := newHeapPage(3)
	v.Claim(1)
	if got := v.Arm(7); got != 3 || v.Cell.Monitored() != 7 || !v.Cell.WantsKernel() {
		t.Fatalf("Arm: value %d, mval %d, bit %v", got, v.Cell.Monitored(), v.Cell.WantsKernel())
	}
	v.Disarm()
	if v.Cell.Monitored() != MvalNone || v.Cell.WantsKernel() || v.Sleepers() != 1 {
		t.Fatalf("Disarm: mval %d, bit %v, %d sleepers", v.Cell.Monitored(), v.Cell.WantsKernel(), v.Sleepers())
	}
}

// Lower judges exactly the value that goes, also when signals come between, and peak
// never falls.
func TestLower(t *testing.T) {
	v := newHeapPage(10)
	var judged []uint64
	v.Lower(2, func(cur uint64) {
		judged = append(judged, cur)
		if len(judged) < 3 {
			v.Cell.Raise(cur + 1) // somebody signals between judge and store
		}
	})
	if !slices.Equal(judged, []uint64{10, 11, 12}) || v.Cell.Value() != 2 || v.Cell.Peak() != 12 || !v.Cell.Lowered() {
		t.Fatalf("judged %d, value %d, peak %d, lowered %v", judged, v.Cell.Value(), v.Cell.Peak(), v.Cell.Lowered())
	}
	v.Lower(1, func(uint64) {})
	if v.Cell.Value() != 1 || v.Cell.Peak() != 12 {
		t.Fatalf("again: value %d, peak %d", v.Cell.Value(), v.Cell.Peak())
	}
	if !v.Cell.Satisfied(12) || v.Cell.Satisfied(13) {
		t.Fatal("a sleeper from before must be satisfied up to the peak and no further")
	}
}

// What Satisfied sees in the middle of Lower is never less than before it.
func TestSatisfiedDuringLower(t *testing.T) {
	v := newHeapPage(5)
	v.Lower(0, func(uint64) {
		if !v.Cell.Satisfied(5) {
			t.Error("lost before the value is lowered")
		}
	})
	if !v.Cell.Satisfied(5) {
		t.Error("lost after")
	}
}

func TestSaturateAndGone(t *testing.T) {
	v := newHeapPage(5)
	v.Saturate()
	v.SetGone()
	if v.Cell.Value() != math.MaxUint64 || !v.Cell.Gone() || v.Cell.Lowered() {
		t.Fatalf("value %d, gone %v, lowered %v", v.Cell.Value(), v.Cell.Gone(), v.Cell.Lowered())
	}
	if _, lower := v.Cell.Raise(6); !lower {
		t.Fatal("no signal is above the highest value")
	}
}

// A page with any garbage in it neither harms the kernel nor keeps it busy: numbers
// that are no bells are passed by, and every step ends.
func TestKernelOnGarbage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	bells := newHeapBells(16)
	for range 2000 {
		v := newHeapPage(rng.Uint64())
		v.Cell.want.Store(rng.Uint64())
		v.Cell.mval.Store(rng.Uint64())
		v.Cell.peak.Store(rng.Uint64())
		v.Cell.flags.Store(rng.Uint32())
		for i := range PageSlots {
			v.slot(i).Store(rng.Uint32() >> rng.UintN(32))
		}
		v.WakeAll(bells)
		judged := 0
		v.Lower(rng.Uint64(), func(uint64) { judged++ })
		v.Arm(rng.Uint64())
		v.Sweep(func(b uint32) bool { return b%2 == 0 }, bells)
		for i := range PageSlots {
			if b := v.slot(i).Load(); b != 0 && b%2 == 0 {
				t.Fatalf("slot %d still holds %d", i, b)
			}
		}
		if judged != 1 {
			t.Fatalf("judged %d times with nobody else there", judged)
		}
	}
	if bells.lines[0].bell.Load() != 0 {
		t.Fatal("line 0 was rung")
	}
}

func TestReset(t *testing.T) {
	v := newHeapPage(9)
	v.Claim(3)
	v.Arm(2)
	v.Lower(1, func(uint64) {})
	v.SetGone()
	v.Reset(4)
	c := v.Cell
	if c.Value() != 4 || c.want.Load() != 0 || c.Monitored() != MvalNone || c.Peak() != 0 || c.flags.Load() != 0 || v.slot(0).Load() != 0 {
		t.Fatalf("a used cell shows through: %+v", c)
	}
}
