package page

import (
	"math"
	"sync"
	"testing"
)

// sleepOn waits as a waiter does: read the bell, look, sleep.
func sleepOn(b *Bells, n uint32, done func() bool) {
	for {
		seen := b.Value(n)
		if done() {
			return
		}
		b.Sleep(n, seen)
	}
}

// A ring reaches a sleeper through another mapping of the same table.
func TestRingAcrossMappings(t *testing.T) {
	mine := newMappedBells(t)
	other, err := MapBells(mine.Memory().FD())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Memory().Unmap()
	v := newMappedPage(t, 0)
	var wg sync.WaitGroup
	for n := uint32(1); n <= 4; n++ {
		wg.Go(func() {
			slot, ok := v.Claim(n)
			if !ok {
				t.Error("no slot")
				return
			}
			sleepOn(mine, n, func() bool { return v.Cell.Satisfied(1) })
			v.Leave(slot)
		})
	}
	want, _ := v.Cell.Raise(1)
	v.WakeSlots(want, other, 0)
	// Whoever claims after the raise sees the value; nobody can miss both.
	wg.Wait()
	if w := v.Cell.want.Load(); w != 0 {
		t.Fatalf("want word %#x after all left", w)
	}
}

// Numbers that name no line do nothing, in every method.
func TestLinesOutOfRange(t *testing.T) {
	b := newMappedBells(t)
	for _, n := range []uint32{0, BellLines, BellLines + 1, math.MaxUint32} {
		b.Ring(n)
		b.Issue(n)
		b.Sleep(n, 0) // must not sleep
		b.EndTicket(n, 5, n)
		if v := b.Value(n); v != 0 {
			t.Errorf("line %d has value %d", n, v)
		}
		if _, ok := b.Ticket(n); ok {
			t.Errorf("ticket %d has ended", n)
		}
	}
	b.Ring(BellLines - 1)
	if b.Value(BellLines-1) != 1 || b.lines[0] != (bellLine{}) {
		t.Error("the last line must ring, line 0 must stay zero")
	}
}

func TestTicket(t *testing.T) {
	b := newMappedBells(t)
	const ticket, bell = 9, 4
	for _, status := range []uint32{0, 0xC00002B6, 0x102} {
		b.Issue(ticket)
		if _, ok := b.Ticket(ticket); ok {
			t.Fatal("issued and ended at once")
		}
		var wg sync.WaitGroup
		wg.Go(func() { sleepOn(b, bell, func() bool { _, ok := b.Ticket(ticket); return ok }) })
		b.EndTicket(ticket, status, bell)
		wg.Wait()
		if got, ok := b.Ticket(ticket); !ok || got != status {
			t.Fatalf("ticket says %#x, %v; want %#x", got, ok, status)
		}
	}
}

// Sleep returns at once when the bell was rung since it was read.
func TestSleepReturns(t *testing.T) {
	b := newMappedBells(t)
	seen := b.Value(1)
	b.Ring(1)
	b.Sleep(1, seen)
}

func TestWakeCounts(t *testing.T) {
	b := newMappedBells(t)
	if n := Wake(&b.line(1).bell); n != 0 {
		t.Fatalf("woke %d of nobody", n)
	}
}
