package page

import (
	"fmt"
	"testing"
)

// A thread is a list of steps; a step returns the index of the next one, or -1.
type thread []func() int

// interleave runs every order of the threads' steps on a fresh state each and calls
// check at the end of each.
func interleave(t *testing.T, setup func() (threads []thread, check func() error)) (runs int) {
	// A run is a list of choices among the threads that can go on; the next run
	// changes the last choice that can be changed.
	var choices, limits []int
	for {
		threads, check := setup()
		at := make([]int, len(threads))
		var trace []int
		for depth := 0; ; depth++ {
			var ready []int
			for i := range threads {
				if at[i] >= 0 {
					ready = append(ready, i)
				}
			}
			if len(ready) == 0 {
				break
			}
			if depth == len(choices) {
				choices, limits = append(choices, 0), append(limits, 0)
			}
			limits[depth] = len(ready)
			i := ready[choices[depth]]
			trace = append(trace, i)
			if at[i] = threads[i][at[i]](); at[i] >= len(threads[i]) {
				at[i] = -1
			}
		}
		runs++
		if err := check(); err != nil {
			t.Fatalf("order %v: %v", trace, err)
		}
		n := len(choices)
		for n > 0 && choices[n-1]+1 >= limits[n-1] {
			n--
		}
		if n == 0 {
			return runs
		}
		choices, limits = choices[:n], limits[:n]
		choices[n-1]++
	}
}

// sleeper is a wait on a page, step by step. It stops where it would go to sleep;
// whether it would wake again is for the check to see.
type sleeper struct {
	bell   uint32
	target uint64
	slot   int
	seen   uint32
	state  string // "", "asleep", "satisfied", "full"
}

func (s *sleeper) thread(v View, bells *Bells, split bool) thread {
	look := func() int {
		if v.Cell.Satisfied(s.target) {
			return 3
		}
		s.state = "asleep"
		return -1
	}
	read := func() int { s.seen = bells.Value(s.bell); return 2 }
	claim := func() int {
		var ok bool
		if s.slot, ok = v.Claim(s.bell); !ok {
			s.state = "full"
			return -1
		}
		return 1
	}
	if !split {
		leave := func() int { v.Leave(s.slot); s.state = "satisfied"; return -1 }
		return thread{claim, read, look, leave}
	}
	// The halves of Leave, apart.
	return thread{
		claim, read, look,
		func() int { v.Cell.want.And(^(uint64(1) << s.slot)); return 4 },
		func() int { v.slot(s.slot).Store(0); s.state = "satisfied"; return -1 },
	}
}

// stuck reports a sleeper whose target was reached and who would sleep on.
func (s *sleeper) stuck(v View, bells *Bells) error {
	if s.state == "asleep" && v.Cell.Satisfied(s.target) && bells.Value(s.bell) == s.seen {
		return fmt.Errorf("sleeper on bell %d for %d sleeps on at %d", s.bell, s.target, v.Cell.Value())
	}
	return nil
}

func signaller(v View, bells *Bells, value uint64) thread {
	var want uint64
	return thread{
		func() int { v.Cell.value.Store(max(value, v.Cell.Value())); return 1 },
		func() int { want, _ = v.Cell.Raise(max(value, v.Cell.Value())); return 2 },
		func() int { v.WakeSlots(want, bells, 0); return -1 },
	}
}

// Two sleepers, a signaller, one or two slots: in no order does anybody sleep
// whose value has come.
func TestEveryOrderOfClaimLeaveAndWake(t *testing.T) {
	for _, slots := range []int{1, 2} {
		for _, split := range []bool{false, true} {
			runs := interleave(t, func() ([]thread, func() error) {
				v, bells := newHeapPage(0), newHeapBells(4)
				v.Slots = slots
				a, b := &sleeper{bell: 1, target: 1}, &sleeper{bell: 2, target: 2}
				return []thread{a.thread(v, bells, split), b.thread(v, bells, false), signaller(v, bells, 2)}, func() error {
					for _, s := range []*sleeper{a, b} {
						if err := s.stuck(v, bells); err != nil {
							return err
						}
						if s.state == "full" && slots == 2 {
							return fmt.Errorf("bell %d found no slot", s.bell)
						}
					}
					return nil
				}
			})
			if runs < 500 {
				t.Errorf("only %d orders", runs)
			}
		}
	}
}

// A kernel-side wait, a lowering and a signaller: in no order is the wait missed when
// its value was there, or ended when it was not.
func TestEveryOrderOfArmLowerAndSignal(t *testing.T) {
	interleave(t, func() ([]thread, func() error) {
		v := newHeapPage(0)
		var reached, armed, released, early bool
		judge := func(cur uint64) {
			if armed && cur >= 2 {
				released = true
				early = early || !reached
			}
		}
		var want uint64
		rings := 0
		kernel := thread{
			func() int { v.Cell.mval.Store(1); armed = true; reached = v.Cell.Value() >= 2; return 1 },
			func() int { v.Cell.want.Or(WantKernel); return 2 },
			func() int { judge(v.Cell.Value()); return 3 },
			func() int { v.Lower(0, judge); return -1 },
		}
		ring := func() int { // the kernel looks; after Lower it finds the new value
			rings++
			judge(v.Cell.Value())
			return -1
		}
		signaller := thread{
			func() int { v.Cell.value.CompareAndSwap(0, 2); reached = reached || armed; return 1 },
			func() int { want = v.Cell.want.Load(); return 2 },
			func() int {
				if v.Cell.WantsNews(want) {
					return 3
				}
				return -1
			},
			ring,
		}
		return []thread{kernel, signaller}, func() error {
			if reached && !released {
				return fmt.Errorf("the wait was missed (%d rings)", rings)
			}
			if early {
				return fmt.Errorf("the wait ended too early")
			}
			return nil
		}
	})
}
