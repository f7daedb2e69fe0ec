package dxgsync

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/dxgsync/dxgsync/abi"
)

func newPeriodic(t testing.TB, d *Device, opts PeriodicFenceOptions) *Fence {
	t.Helper()
	f, err := d.NewPeriodicFence(opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// It advances by itself, for whoever waits in whatever way.
func TestPeriodicFenceAdvances(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		f := newPeriodic(t, d, PeriodicFenceOptions{})
		late := newPeriodic(t, d, PeriodicFenceOptions{Before: 5 * time.Millisecond})
		quit := newFence(t, d, FenceOptions{})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 5 {
					next := f.Value() + 1
					if err := f.Wait(bg, next); err != nil || f.Value() < next || f.Lost() {
						t.Errorf("wait for %d: %v, value %d", next, err, f.Value())
					}
				}
			})
		}
		wg.Wait()
		if i, err := WaitAny(bg, quit.At(1), late.At(late.Value()+2)); i != 1 || err != nil {
			t.Errorf("wait any: %d, %v", i, err)
		}
		want(t, "wait all", WaitAll(bg, f.At(f.Value()+1), late.At(late.Value()+1)), nil)
		event, err := f.Notify(f.Value() + 1)
		want(t, "notify", err, nil)
		defer event.Close()
		if n, err := event.Read(make([]byte, 8)); n != 8 || err != nil {
			t.Errorf("read %d bytes, %v", n, err)
		}
		ctx, cancel := context.WithCancel(bg)
		cancel()
		want(t, "context", f.Wait(ctx, 1<<40), context.Canceled)
	})
}

func TestPeriodicFenceRefuses(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		f := newPeriodic(t, d, PeriodicFenceOptions{})
		want(t, "signal", f.Signal(1<<40), abi.StatusAccessDenied)
		want(t, "signal the maximum", f.Signal(Lost), abi.StatusAccessDenied)
		want(t, "rewind", f.Rewind(0), abi.StatusAccessDenied)
		want(t, "batch", d.Signal(f.At(1<<40)), abi.StatusAccessDenied)
		want(t, "share", second(f.Share()), abi.StatusInvalidParameter)
		if f.Value() >= 1<<40 {
			t.Errorf("value %d", f.Value())
		}
		for what, opts := range map[string]PeriodicFenceOptions{
			"target":           {Target: 1},
			"negative":         {Before: -1},
			"too early":        {Before: time.Second},
			"far too early":    {Before: math.MaxInt64},
			"shared":           {Flags: abi.SyncObjectShared | abi.SyncObjectNtSecuritySharing},
			"top of pipeline":  {Flags: abi.SyncObjectTopOfPipeline},
			"no GPU access":    {Flags: abi.SyncObjectNoGPUAccess},
			"neither of the 2": {Flags: abi.SyncObjectNoSignal | abi.SyncObjectNoWait},
		} {
			want(t, what, second(d.NewPeriodicFence(opts)), abi.StatusInvalidParameter)
		}
	})
}

// Whoever waits is told what became of the fence, and what is closed is closed.
func TestPeriodicFenceClosed(t *testing.T) {
	for what, c := range map[string]struct {
		close func(f *Fence) error
		want  error
	}{
		"fence":   {(*Fence).Close, nil},
		"device":  {func(f *Fence) error { return f.dev.Close() }, abi.StatusDeviceRemoved},
		"session": {func(f *Fence) error { return f.dev.s.Close() }, abi.StatusDeviceRemoved},
	} {
		doors(t, func(t *testing.T, d *Device) {
			f := newPeriodic(t, d, PeriodicFenceOptions{})
			done := make(chan error)
			go func() { done <- f.Wait(bg, 1<<40) }()
			waitFor(f, 1)
			want(t, "close "+what, c.close(f), nil)
			want(t, "wait", <-done, c.want)
			want(t, "wait", f.Wait(bg, 1<<41), ErrClosed)
			want(t, "signal", f.Signal(1<<41), ErrClosed)
			if err := f.Close(); !errors.Is(err, ErrClosed) {
				t.Errorf("close: %v", err)
			}
			if what != "fence" {
				want(t, "new", second(d.NewPeriodicFence(PeriodicFenceOptions{})), ErrClosed)
			}
		})
	}
}
