package page

import "testing"

func BenchmarkValue(b *testing.B) {
	v := newMappedPage(b, 1)
	for b.Loop() {
		_ = v.Cell.Value()
	}
}

// A signal nobody waits for: one load, one compare-and-swap, one load.
func BenchmarkRaise(b *testing.B) {
	v := newMappedPage(b, 0)
	n := uint64(0)
	for b.Loop() {
		n++
		if want, lower := v.Cell.Raise(n); want != 0 || lower {
			b.Fatal("somebody is there")
		}
	}
}

func BenchmarkRaiseEqual(b *testing.B) {
	v := newMappedPage(b, 1)
	for b.Loop() {
		if want, lower := v.Cell.Raise(1); want != 0 || lower {
			b.Fatal("somebody is there")
		}
	}
}

// BenchmarkFloor is the bare pair of instructions that a signal cannot do without.
func BenchmarkFloor(b *testing.B) {
	c := newMappedPage(b, 0).Cell
	n := uint64(0)
	for b.Loop() {
		if !c.value.CompareAndSwap(n, n+1) || c.want.Load() != 0 {
			b.Fatal("somebody is there")
		}
		n++
	}
}

func BenchmarkSatisfied(b *testing.B) {
	v := newMappedPage(b, 5)
	for b.Loop() {
		if !v.Cell.Satisfied(5) {
			b.Fatal("not satisfied")
		}
	}
}

func BenchmarkClaimLeave(b *testing.B) {
	v := newMappedPage(b, 0)
	for b.Loop() {
		slot, _ := v.Claim(1)
		v.Leave(slot)
	}
}

func BenchmarkArmDisarm(b *testing.B) {
	v := newMappedPage(b, 0)
	for b.Loop() {
		v.Arm(5)
		v.Disarm()
	}
}

func BenchmarkSweepIdlePage(b *testing.B) {
	v, bells := newMappedPage(b, 0), newMappedBells(b)
	for b.Loop() {
		v.Sweep(func(uint32) bool { return false }, bells)
	}
}

// The system call for a wake that finds nobody, as the Go runtime is not told of it,
// and as a call that might block.
func BenchmarkWakeNobody(b *testing.B) {
	bell := &newMappedBells(b).line(1).bell
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			Wake(bell)
		}
	})
	b.Run("blocking", func(b *testing.B) {
		for b.Loop() {
			wakeBlocking(bell)
		}
	})
}

// A round trip between two threads that sleep: two rings, two sleeps.
func BenchmarkPingPong(b *testing.B) {
	bells := newMappedBells(b)
	there, back := newMappedPage(b, 0), newMappedPage(b, 0)
	wait := func(v View, bell uint32, target uint64) {
		if v.Cell.Satisfied(target) {
			return
		}
		slot, _ := v.Claim(bell)
		sleepOn(bells, bell, func() bool { return v.Cell.Satisfied(target) })
		v.Leave(slot)
	}
	signal := func(v View, n uint64) {
		want, _ := v.Cell.Raise(n)
		v.WakeSlots(want, bells, 0)
	}
	rounds := uint64(b.N)
	done := make(chan struct{})
	go func() {
		for n := uint64(1); n <= rounds; n++ {
			wait(there, 1, n)
			signal(back, n)
		}
		close(done)
	}()
	b.ResetTimer()
	for n := uint64(1); n <= rounds; n++ {
		signal(there, n)
		wait(back, 2, n)
	}
	<-done
}

func BenchmarkNewPage(b *testing.B) {
	for b.Loop() {
		m, err := NewPage()
		if err != nil {
			b.Fatal(err)
		}
		m.View().Cell.Init(1)
		m.CloseFD()
		m.Unmap()
	}
}

func BenchmarkReadOnly(b *testing.B) {
	m, err := NewPage()
	if err != nil {
		b.Fatal(err)
	}
	defer m.CloseFD()
	for b.Loop() {
		fd, err := m.ReadOnly()
		if err != nil {
			b.Fatal(err)
		}
		closeFD(fd)
	}
}

func BenchmarkReset(b *testing.B) {
	v := newMappedPage(b, 0)
	v.Slots = CellSlots
	for b.Loop() {
		v.Reset(1)
	}
}
