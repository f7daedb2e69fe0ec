package dxgsync

import (
	"context"
	"runtime"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// From the moment that a page asks, the kernel judges every signal and every wait, also
// those that memory would have let pass; who waits already is still woken.
func TestPageThatAsks(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		d := w.device(t)
		f, other := newFence(t, d, FenceOptions{Shared: w.shared}), newFence(t, d, FenceOptions{Shared: w.shared})
		before := make(chan error)
		go func() { before <- f.Wait(bg, 3) }()
		untilWaited(f)
		f.view().SetAsk()
		after := make(chan error)
		go func() { after <- f.Wait(bg, 3) }()
		want(t, "signal", f.Signal(1), nil)
		wantValue(t, f, 1)
		want(t, "the same", f.Signal(1), nil)
		want(t, "lower", f.Signal(0), abi.StatusInvalidParameter)
		want(t, "satisfied wait", f.Wait(bg, 1), nil)
		if i, err := WaitAny(bg, other.At(1), f.At(1)); i != 1 || err != nil {
			t.Errorf("any: %d, %v", i, err)
		}
		want(t, "all", WaitAll(bg, other.At(0), f.At(1)), nil)
		ctx, cancel := context.WithCancel(bg)
		cancel()
		want(t, "wait in vain", f.Wait(ctx, 9), context.Canceled)
		want(t, "signal whom they wait for", f.Signal(3), nil)
		want(t, "who waited before", <-before, nil)
		want(t, "who waited after", <-after, nil)
		want(t, "the maximum", f.Signal(Lost), nil)
		want(t, "wait for the maximum", f.Wait(bg, Lost), nil)
		want(t, "close", f.Close(), nil)
		want(t, "signal a closed one", f.Signal(Lost), ErrClosed)
	})
}

// From the moment that a page requests, the kernel makes every signal, and a wait that has
// to wait is its own; one that is satisfied is not. Asking, later, counts for more.
func TestPageThatRequests(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		d := w.device(t)
		f := newFence(t, d, FenceOptions{Shared: w.shared})
		over, cancel := context.WithCancel(bg)
		cancel()
		before := make(chan error)
		go func() { before <- f.Wait(bg, 3) }()
		untilWaited(f)
		f.view().SetRequest()
		after := make(chan error)
		go func() { after <- f.Wait(bg, 3) }()
		for !f.view().Cell.WantsKernel() {
			runtime.Gosched()
		}
		want(t, "signal", f.Signal(1), nil)
		wantValue(t, f, 1)
		want(t, "lower", f.Signal(0), abi.StatusInvalidParameter)
		// Nobody is asked: that would find the context over.
		want(t, "satisfied wait", f.Wait(over, 1), nil)
		want(t, "all", WaitAll(over, f.At(0), f.At(1)), nil)
		if i, err := WaitAny(over, f.At(9), f.At(1)); i != 1 || err != nil {
			t.Errorf("any: %d, %v", i, err)
		}
		want(t, "wait in vain", f.Wait(over, 9), context.Canceled)
		want(t, "signal whom they wait for", f.Signal(3), nil)
		want(t, "who waited before", <-before, nil)
		want(t, "who waited after", <-after, nil)
		if n := f.view().Sleepers(); n != 0 {
			t.Errorf("%d sleepers are left", n)
		}
		f.view().SetAsk()
		want(t, "wait on a page that asks", f.Wait(over, 1), context.Canceled)
		want(t, "close", f.Close(), nil)
		want(t, "signal a closed one", f.Signal(Lost), ErrClosed)
	})
}

// untilWaited returns when somebody waits in the page.
func untilWaited(f *Fence) {
	for f.view().Sleepers() == 0 && (f.gate.Load() == nil || f.gate.Load().Len() == 0) {
		runtime.Gosched()
	}
}
