package sim

import (
	"slices"

	"github.com/dxgsync/dxgsync/internal/adapter"
)

// A Program is a list of actions. Each has a seed of its own for its choices, so that
// taking others away changes it as little as can be.
type Program struct {
	World uint64   // seed of what the world can do
	Steps []uint64 // seeds of the actions
}

// New makes the program of a seed, with n actions.
func New(seed uint64, n int) Program {
	s := source(seed)
	p := Program{World: s.next()}
	for range n {
		p.Steps = append(p.Steps, s.next())
	}
	return p
}

// Run runs the program until kernel and model differ, or to its end.
func (p Program) Run(profiles []*adapter.Profile) *World { return p.run(nil, profiles) }

// Trace runs the program and returns everything that happened in order: calls and their
// answers, what drivers were asked, events that were set.
func (p Program) Trace(profiles []*adapter.Profile) []string {
	var t trace
	p.run(&t, profiles)
	return t
}

func (p Program) run(t *trace, profiles []*adapter.Profile) *World {
	s := source(p.World)
	w := newWorld(&s, t, profiles)
	w.start()
	for _, seed := range p.Steps {
		if w.err != "" {
			return w
		}
		s := source(seed)
		w.choose = &s
		w.step()
	}
	if w.err == "" {
		w.end()
	}
	return w
}

// Shrink takes away actions as long as the program still fails: many at once, then
// fewer, until none can go.
func (p Program) Shrink(profiles []*adapter.Profile) Program {
	for n := len(p.Steps) / 2; n > 0; {
		shorter := false
		for i := len(p.Steps) - n; i >= 0; i -= n {
			q := Program{p.World, slices.Delete(slices.Clone(p.Steps), i, i+n)}
			if q.Run(profiles).err != "" {
				p, shorter = q, true
			}
		}
		if !shorter || n > len(p.Steps) {
			n /= 2
		}
	}
	return p
}

// A source is a sequence of numbers that a seed decides (splitmix64).
type source uint64

func (s *source) next() uint64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Int is one of 0 to n-1.
func (s *source) Int(n int) int { return int(s.next() >> 33 % uint64(n)) }
