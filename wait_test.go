package dxgsync

import (
	"context"
	"runtime"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// waitFor returns when n waits on f have begun.
func waitFor(f *Fence, n int) {
	for waiters(f) < n {
		runtime.Gosched()
	}
}

// waiters counts the waits that go through this view of a fence.
func waiters(f *Fence) int {
	n := 0
	if g := f.gate.Load(); g != nil {
		n = g.Len()
	}
	for _, w := range kernelOf(f.dev.s).Snapshot().Waits {
		for _, p := range w.Points {
			if p.Handle == f.handle {
				n++
			}
		}
	}
	return n
}

func TestWaitAnyAndAll(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		d := w.device(t)
		var fs [5]*Fence
		var points []Point
		for i := range fs {
			fs[i] = newFence(t, d, FenceOptions{Shared: w.shared && i%2 == 0})
			points = append(points, fs[i].At(10))
		}
		anyDone, allDone := make(chan int), make(chan error)
		go func() {
			i, err := WaitAny(bg, points...)
			want(t, "wait any", err, nil)
			anyDone <- i
		}()
		go func() { allDone <- WaitAll(bg, points...) }()
		for _, f := range fs {
			waitFor(f, 2)
		}
		for i, f := range []int{3, 0, 4, 1, 2} {
			want(t, "signal", fs[f].Signal(9), nil)
			want(t, "signal", fs[f].Signal(10+uint64(i)), nil)
			if i == 0 {
				if got := <-anyDone; got != 3 {
					t.Fatalf("WaitAny says %d, want 3", got)
				}
			}
		}
		want(t, "wait all", <-allDone, nil)
		for i, f := range fs {
			if n := waiters(f); n != 0 {
				t.Fatalf("%d waiters left on fence %d", n, i)
			}
		}
		if i, err := WaitAny(bg, fs[1].At(99), fs[2].At(10), fs[3].At(10)); i != 1 || err != nil {
			t.Fatalf("satisfied WaitAny: %d, %v", i, err)
		}
	})
}

// A fence that is rewound after it was seen counts for a wait for all.
func TestWaitAllLatches(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		d := w.device(t)
		a, b := newFence(t, d, FenceOptions{Shared: w.shared}), newFence(t, d, FenceOptions{})
		done := make(chan error)
		go func() { done <- WaitAll(bg, a.At(1), b.At(1)) }()
		waitFor(a, 1)
		waitFor(b, 1)
		want(t, "signal a", a.Signal(1), nil)
		want(t, "rewind a", a.Rewind(0), nil)
		want(t, "signal b", b.Signal(1), nil)
		want(t, "wait all", <-done, nil)
	})
}

// Signalled and rewound at once: who waited for the value is released all the same.
func TestRewindReleasesFirst(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		d := w.device(t)
		for range 200 {
			f := newFence(t, d, FenceOptions{Shared: w.shared})
			done := make(chan error)
			go func() { done <- f.Wait(bg, 5) }()
			waitFor(f, 1)
			want(t, "signal", f.Signal(5), nil)
			want(t, "rewind", f.Rewind(0), nil)
			want(t, "wait", <-done, nil)
			want(t, "close", f.Close(), nil)
		}
	})
}

func TestWaitRefused(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		d, stranger := w.device(t), w.device(t)
		f := newFence(t, d, FenceOptions{Shared: w.shared, Initial: 1})
		deaf := newFence(t, d, FenceOptions{Shared: w.shared, Initial: 1, Flags: abi.SyncObjectNoWait})
		mute := newFence(t, d, FenceOptions{Shared: w.shared, Initial: 1, Flags: abi.SyncObjectNoSignal})
		other := newFence(t, stranger, FenceOptions{})
		wantValue(t, deaf, 1)
		wantValue(t, mute, 1)
		want(t, "NoWait", deaf.Wait(bg, 1), abi.StatusAccessDenied)
		want(t, "NoWait but signal", deaf.Signal(2), nil)
		wantValue(t, deaf, 2)
		want(t, "NoSignal", mute.Signal(2), abi.StatusAccessDenied)
		want(t, "NoSignal maximum", mute.Signal(Lost), abi.StatusAccessDenied)
		want(t, "NoSignal rewind", mute.Rewind(0), abi.StatusAccessDenied)
		want(t, "NoSignal batch", d.Signal(f.At(5), mute.At(5)), abi.StatusAccessDenied)
		wantValue(t, f, 1)
		want(t, "NoSignal but wait", mute.Wait(bg, 1), nil)
		want(t, "any with NoWait", second(WaitAny(bg, f.At(1), deaf.At(1))), abi.StatusAccessDenied)
		want(t, "all with NoWait", WaitAll(bg, deaf.At(1), f.At(1)), abi.StatusAccessDenied)
		want(t, "any of nothing", second(WaitAny(bg)), abi.StatusInvalidParameter)
		want(t, "all of nothing", WaitAll(bg), abi.StatusInvalidParameter)
		want(t, "nil fence", second(WaitAny(bg, Point{})), abi.StatusInvalidParameter)
		want(t, "two sessions", second(WaitAny(bg, f.At(9), other.At(9))), abi.StatusInvalidParameter)
		want(t, "other device", d.Signal(other.At(9)), abi.StatusInvalidParameter)
		want(t, "empty batch", d.Signal(), abi.StatusInvalidParameter)
		many := make([]Point, MaxPoints+1)
		for i := range many {
			many[i] = f.At(1)
		}
		want(t, "too many", second(WaitAny(bg, many...)), abi.StatusInvalidParameter)
		want(t, "too many", WaitAll(bg, many...), abi.StatusInvalidParameter)
		want(t, "as many as can be", WaitAll(bg, many[1:]...), nil)
	})
}

func TestContextEndsWait(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		d := w.device(t)
		f := newFence(t, d, FenceOptions{Shared: w.shared})
		rewound := newFence(t, d, FenceOptions{Shared: w.shared, Initial: 1})
		want(t, "rewind", rewound.Rewind(0), nil)
		reason := errReason{}
		for _, points := range [][]Point{{f.At(1)}, {f.At(1), rewound.At(1)}, {rewound.At(1)}} {
			ctx, cancel := context.WithCancelCause(bg)
			done := make(chan error)
			go func() { done <- second(WaitAny(ctx, points...)) }()
			for _, p := range points {
				waitFor(p.Fence, 1)
			}
			cancel(reason)
			want(t, "cancelled wait", <-done, reason)
			want(t, "wait with ended context", WaitAll(ctx, points...), reason)
			want(t, "satisfied wait with ended context", f.Wait(ctx, 0), nil)
			for _, p := range points {
				if n := waiters(p.Fence); n != 0 {
					t.Fatalf("%d waiters left", n)
				}
			}
		}
	})
}

type errReason struct{}

func (errReason) Error() string { return "the reason" }
