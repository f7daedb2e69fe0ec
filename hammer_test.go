package dxgsync

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
)

// Relay: each goroutine waits for its number on one fence, writes a variable that
// the next reads, and signals on. The race detector checks that the fence orders
// the accesses.
func TestHammerRelay(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		const runners, laps = 32, 50
		f := newFence(t, w.device(t), FenceOptions{Shared: w.shared})
		total := 0
		var wg sync.WaitGroup
		for r := range runners {
			wg.Go(func() {
				for lap := range laps {
					turn := uint64(lap*runners + r)
					if err := f.Wait(bg, turn); err != nil {
						t.Errorf("wait for %d: %v", turn, err)
					}
					total++
					if err := f.Signal(turn + 1); err != nil {
						t.Errorf("signal %d: %v", turn+1, err)
					}
				}
			})
		}
		wg.Wait()
		if total != runners*laps {
			t.Fatalf("total %d, want %d", total, runners*laps)
		}
		if n := waiters(f); n != 0 {
			t.Fatalf("%d waiters left", n)
		}
	})
}

// Many signallers, many waiters for random values of random sets of fences.
func TestHammerMany(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		const fences, waiting, each, top = 6, 24, 40, 400
		d := w.device(t)
		var fs [fences]*Fence
		for i := range fs {
			fs[i] = newFence(t, d, FenceOptions{Shared: w.shared && i%3 != 0})
		}
		var wg sync.WaitGroup
		for w := range waiting {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(w), 1))
				for range each {
					var points []Point
					for range 1 + rng.IntN(4) {
						points = append(points, fs[rng.IntN(fences)].At(rng.Uint64N(top)))
					}
					if w%2 == 0 {
						i, err := WaitAny(bg, points...)
						if err != nil || points[i].Fence.Value() < points[i].Value {
							t.Errorf("any: %d, %v", i, err)
						}
						continue
					}
					if err := WaitAll(bg, points...); err != nil {
						t.Errorf("all: %v", err)
					}
					for _, p := range points {
						if p.Fence.Value() < p.Value {
							t.Errorf("all: %d below %d", p.Fence.Value(), p.Value)
						}
					}
				}
			})
		}
		for _, f := range fs {
			for range 2 {
				wg.Go(func() {
					for v := range uint64(top) {
						// The other signaller of this fence may be ahead.
						if err := f.Signal(v + 1); err != nil && f.Value() <= v {
							t.Errorf("signal %d: %v", v+1, err)
						}
					}
				})
			}
		}
		wg.Wait()
		for i, f := range fs {
			wantValue(t, f, top)
			if n := waiters(f); n != 0 {
				t.Errorf("%d waiters left on fence %d", n, i)
			}
		}
	})
}

// Contexts that end while values arrive: each wait ends once, for one of the two
// reasons, and nothing is left behind.
func TestHammerCancel(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		d := w.device(t)
		a, b := newFence(t, d, FenceOptions{Shared: w.shared}), newFence(t, d, FenceOptions{Shared: w.shared})
		want(t, "rewind", b.Rewind(0), nil)
		const rounds, waiting = 100, 8
		for round := uint64(1); round <= rounds; round++ {
			if round == rounds/2 { // from here on b's waits are the kernel's
				want(t, "signal b", b.Signal(1), nil)
				want(t, "rewind b", b.Rewind(0), nil)
			}
			var wg sync.WaitGroup
			for range waiting {
				ctx, cancel := context.WithCancel(bg)
				wg.Go(func() {
					i, err := WaitAny(ctx, b.At(1000), a.At(round))
					if err == nil && (i != 1 || a.Value() < round) {
						t.Errorf("ended with %d at %d, want 1 at %d", i, a.Value(), round)
					} else if err != nil && err != context.Canceled {
						t.Errorf("ended with %v", err)
					}
				})
				wg.Go(cancel)
			}
			wg.Go(func() {
				if err := a.Signal(round); err != nil {
					t.Errorf("signal: %v", err)
				}
			})
			wg.Wait()
		}
		if n := waiters(a) + waiters(b); n != 0 {
			t.Fatalf("%d waiters left", n)
		}
	})
}

// Fences, devices and sessions closed under everybody's feet.
func TestHammerClose(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		d := w.device(t)
		for round := range 60 {
			dev := newDevice(t, d.s)
			f := newFence(t, dev, FenceOptions{Shared: w.shared})
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { _ = f.Wait(bg, 1<<40) })
				wg.Go(func() { _, _ = WaitAny(bg, f.At(1<<41), f.At(1<<42)) })
				wg.Go(func() {
					for v := uint64(1); f.Signal(v) != ErrClosed && v < 1<<30; v++ {
						f.Value()
					}
				})
			}
			wg.Go(func() {
				if round%2 == 0 {
					_ = f.Close()
				} else {
					_ = dev.Close()
				}
			})
			wg.Wait()
		}
	})
}
