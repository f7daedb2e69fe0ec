package page

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// On the heap the race detector watches: what a signaller wrote before its signal is
// plain memory that the waiter reads. Mapped pages are the real thing, with real
// futexes between two mappings.
func TestHammer(t *testing.T) {
	t.Run("heap", func(t *testing.T) {
		v := newHeapPage(0)
		hammer(t, v, v, newHeapBells(64), true)
	})
	t.Run("mapped", func(t *testing.T) {
		m, err := NewPage()
		if err != nil {
			t.Fatal(err)
		}
		defer m.CloseFD()
		other, err := Map(m.FD(), PageSize, true)
		if err != nil {
			t.Fatal(err)
		}
		m.View().Cell.Init(0)
		hammer(t, m.View(), other.View(), newMappedBells(t), false)
	})
	t.Run("slab cell", func(t *testing.T) {
		m, err := NewSlab()
		if err != nil {
			t.Fatal(err)
		}
		defer m.CloseFD()
		v := m.CellView(7 * CellSize)
		v.Reset(0)
		hammer(t, v, v, newMappedBells(t), false)
	})
}

// hammer has sleepers wait for every value in turn, those that find no slot through
// the kernel, while signallers race each other upwards.
func hammer(t *testing.T, mine, theirs View, bells *Bells, plain bool) {
	const sleepers, signallers, top = 12, 4, 1500
	var data [top + 1]int // data[v] is written before v is signalled by signaller v%signallers
	k := &kernelSide{view: mine, bells: bells, targets: map[uint32]uint64{}}
	var wg sync.WaitGroup
	for i := range signallers {
		wg.Go(func() {
			for v := uint64(1); v <= top; v++ {
				if plain && int(v)%signallers == i {
					data[v] = int(v)
				}
				if plain && int(v)%signallers != i {
					continue
				}
				want, lower := theirs.Cell.Raise(v)
				if lower {
					continue // others are ahead
				}
				theirs.WakeSlots(want, bells, 0)
				if theirs.Cell.WantsNews(want) {
					k.look()
				}
			}
		})
	}
	for i := range sleepers {
		wg.Go(func() {
			bell := uint32(i + 1)
			rng := rand.New(rand.NewPCG(uint64(i), 0))
			for target := uint64(1); target <= top; target += 1 + rng.Uint64N(3) {
				if slot, ok := mine.Claim(bell); ok {
					sleepOn(bells, bell, func() bool { return mine.Cell.Satisfied(target) })
					mine.Leave(slot)
				} else {
					bells.Issue(bell)
					k.register(bell, target)
					sleepOn(bells, bell, func() bool { _, ok := bells.Ticket(bell); return ok })
				}
				if v := mine.Cell.Value(); v < target {
					t.Errorf("woken for %d at %d", target, v)
					return
				}
				if plain && mine.Cell.Value() == target && data[target] != int(target) {
					t.Errorf("at %d the signaller's write is missing", target)
					return
				}
			}
		})
	}
	wg.Wait()
	if w := mine.Cell.want.Load(); w != 0 {
		t.Errorf("want word %#x is left", w)
	}
	for i := range mine.Slots {
		if b := mine.slot(i).Load(); b != 0 {
			t.Errorf("slot %d still holds %d", i, b)
		}
	}
	if mine.Cell.Monitored() != MvalNone {
		t.Errorf("mval %d is left", mine.Cell.Monitored())
	}
}

// kernelSide is what a kernel does for the waits that memory cannot decide.
type kernelSide struct {
	view  View
	bells *Bells

	mu      sync.Mutex
	targets map[uint32]uint64 // by ticket
}

func (k *kernelSide) register(ticket uint32, target uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.targets[ticket] = target
	k.judge(k.arm())
	k.arm()
}

func (k *kernelSide) look() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.judge(k.view.Cell.Value())
	k.arm()
}

func (k *kernelSide) judge(value uint64) {
	for ticket, target := range k.targets {
		if value >= target {
			delete(k.targets, ticket)
			k.bells.EndTicket(ticket, 0, ticket)
		}
	}
}

func (k *kernelSide) arm() (value uint64) {
	lowest := uint64(MvalNone)
	for _, target := range k.targets {
		lowest = min(lowest, target-1)
	}
	if lowest == MvalNone {
		k.view.Disarm()
		return k.view.Cell.Value()
	}
	return k.view.Arm(lowest)
}

// Two sleepers fight for one slot, again and again, while a third process's death is
// swept over and over: nobody loses a slot or a wake.
func TestHammerOneSlot(t *testing.T) {
	v, bells := newHeapPage(0), newHeapBells(8)
	v.Slots = 1
	const rounds = 3000
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for bell := uint32(1); bell <= 2; bell++ {
		wg.Go(func() {
			for range rounds {
				slot, ok := v.Claim(bell)
				if !ok {
					continue
				}
				if got := v.slot(slot).Load(); got != bell {
					t.Errorf("bell %d finds %d in its slot", bell, got)
				}
				if v.Cell.want.Load()&1 == 0 {
					t.Errorf("bell %d's bit is gone", bell)
				}
				v.Leave(slot)
			}
		})
	}
	var sweeper sync.WaitGroup
	sweeper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				v.Sweep(func(b uint32) bool { return b > 2 }, bells)
			}
		}
	})
	wg.Wait()
	close(stop)
	sweeper.Wait()
}
