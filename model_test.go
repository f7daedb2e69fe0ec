package dxgsync

import (
	"cmp"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dxgsync/dxgsync/abi"
)

// A model of some fences and the waits on them, beside the real ones.
type model struct {
	d      *Device
	fences []*Fence
	values []uint64
	waits  []*modelWait
}

type modelWait struct {
	points []Point
	met    []bool // latched
	all    bool
	done   chan error
}

func (m *model) fence(t *rapid.T) int { return rapid.IntRange(0, len(m.fences)-1).Draw(t, "fence") }

// settle does what a change of fence i does to the waits in the model, and expects
// the same of the real ones.
func (m *model) settle(t *rapid.T) {
	left := m.waits[:0]
	for _, w := range m.waits {
		met := 0
		for i, p := range w.points {
			for j, f := range m.fences {
				if f == p.Fence && m.values[j] >= p.Value {
					w.met[i] = true
				}
			}
			if w.met[i] {
				met++
			}
		}
		if met == len(w.points) || !w.all && met > 0 {
			if err := <-w.done; err != nil {
				t.Fatalf("wait ended with %v", err)
			}
			continue
		}
		left = append(left, w)
	}
	m.waits = left
}

// stand returns when exactly those points that the model's waits still need are
// waited for: a wait that has just begun stands, and none has ended too early.
func (m *model) stand() {
	for _, f := range m.fences {
		n := 0
		for _, w := range m.waits {
			for i, p := range w.points {
				if p.Fence == f && !w.met[i] {
					n++
				}
			}
		}
		for waiters(f) != n {
			runtime.Gosched()
		}
	}
}

// Signals, rewinds and waits at random: a real wait ends exactly when the model's
// does.
func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{d: openDevice(t)}
		for i := range 4 {
			f := newFence(t, m.d, FenceOptions{Shared: i%2 == 0})
			m.fences, m.values = append(m.fences, f), append(m.values, 0)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"signal": func(t *rapid.T) {
				i, v := m.fence(t), rapid.Uint64Range(0, 8).Draw(t, "value")
				err := m.fences[i].Signal(v)
				if (err == abi.StatusInvalidParameter) != (v < m.values[i]) || err != nil && err != abi.StatusInvalidParameter {
					t.Fatalf("signal %d at %d: %v", v, m.values[i], err)
				}
				m.values[i] = max(v, m.values[i])
			},
			"rewind": func(t *rapid.T) {
				i, v := m.fence(t), rapid.Uint64Range(0, 8).Draw(t, "value")
				if err := m.fences[i].Rewind(v); err != nil {
					t.Fatalf("rewind: %v", err)
				}
				m.values[i] = v
			},
			"wait": func(t *rapid.T) {
				w := &modelWait{all: rapid.Bool().Draw(t, "all"), done: make(chan error, 1)}
				for range rapid.IntRange(1, 3).Draw(t, "points") {
					w.points = append(w.points, m.fences[m.fence(t)].At(rapid.Uint64Range(1, 8).Draw(t, "target")))
				}
				// Those that are reached already first: the wait stands when the others do.
				slices.SortStableFunc(w.points, func(a, b Point) int {
					reached := func(p Point) int { return cmp.Compare(p.Fence.Value(), p.Value) }
					return min(reached(b), 0) - min(reached(a), 0)
				})
				w.met = make([]bool, len(w.points))
				go func() {
					if w.all {
						w.done <- WaitAll(bg, w.points...)
					} else {
						w.done <- second(WaitAny(bg, w.points...))
					}
				}()
				m.waits = append(m.waits, w)
			},
			"": func(t *rapid.T) {
				m.settle(t)
				m.stand()
				for i, f := range m.fences {
					if got := f.Value(); got != m.values[i] {
						t.Fatalf("value %d, want %d", got, m.values[i])
					}
				}
			},
		})
		for _, w := range m.waits {
			select {
			case err := <-w.done:
				rt.Fatalf("a wait ended that should not have: %v", err)
			default:
			}
		}
		if err := m.d.s.Close(); err != nil {
			rt.Fatal(err)
		}
		for _, w := range m.waits {
			if err := <-w.done; err != abi.StatusDeviceRemoved {
				rt.Fatalf("wait ended with %v", err)
			}
		}
	})
}
