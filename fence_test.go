package dxgsync

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// open returns a session with a device, both closed at the end of the test.
func openDevice(t testing.TB, opts ...Option) *Device {
	t.Helper()
	s, err := Open(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return newDevice(t, s)
}

func newDevice(t testing.TB, s *Session) *Device {
	t.Helper()
	d, err := s.NewDevice()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func newFence(t testing.TB, d *Device, opts FenceOptions) *Fence {
	t.Helper()
	f, err := d.NewFence(opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func want(t testing.TB, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("%s: %v, want %v", what, err, target)
	}
}

func wantValue(t testing.TB, f *Fence, v uint64) {
	t.Helper()
	if got := f.Value(); got != v {
		t.Fatalf("value %d, want %d", got, v)
	}
}

var bg = context.Background()

func TestSignalRaisesAndRefusesToLower(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		f := newFence(t, w.device(t), FenceOptions{Initial: 3, Shared: w.shared})
		wantValue(t, f, 3)
		want(t, "signal 5", f.Signal(5), nil)
		wantValue(t, f, 5)
		want(t, "signal the same", f.Signal(5), nil)
		want(t, "signal lower", f.Signal(4), abi.StatusInvalidParameter)
		wantValue(t, f, 5)
		want(t, "satisfied wait", f.Wait(bg, 5), nil)
		want(t, "wait for 0", f.Wait(bg, 0), nil)
		want(t, "signal the maximum", f.Signal(Lost), nil)
		if !f.Lost() {
			t.Fatal("a fence at the maximum must read as lost")
		}
		want(t, "wait for the maximum", f.Wait(bg, Lost), nil)
		want(t, "maximum again", f.Signal(Lost), nil)
	})
}

func TestRewind(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		f := newFence(t, w.device(t), FenceOptions{Initial: 9, Shared: w.shared})
		want(t, "rewind", f.Rewind(2), nil)
		wantValue(t, f, 2)
		want(t, "wait for what is there", f.Wait(bg, 2), nil)
		done := make(chan error)
		go func() { done <- f.Wait(bg, 5) }()
		want(t, "signal 4", f.Signal(4), nil)
		want(t, "signal 5", f.Signal(5), nil)
		want(t, "wait after a rewind", <-done, nil)
		want(t, "rewind upwards", f.Rewind(8), nil)
		wantValue(t, f, 8)
	})
}

func TestClosed(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		d := w.device(t)
		f := newFence(t, d, FenceOptions{Initial: 5, Shared: w.shared})
		want(t, "close", f.Close(), nil)
		for what, err := range map[string]error{
			"second close": f.Close(), "signal": f.Signal(9), "signal maximum": f.Signal(Lost),
			"wait": f.Wait(bg, 1), "rewind": f.Rewind(1), "batch": d.Signal(f.At(9)),
			"wait any": second(WaitAny(bg, f.At(1))), "wait all": WaitAll(bg, f.At(1)),
			"share": second(f.Share()), "notify": second(f.Notify(1)),
		} {
			want(t, what, err, ErrClosed)
			want(t, what, err, os.ErrClosed)
		}
		want(t, "close device", d.Close(), nil)
		want(t, "close device again", d.Close(), ErrClosed)
		want(t, "new fence", second(d.NewFence(FenceOptions{Shared: w.shared})), ErrClosed)
		want(t, "state", second(d.State()), ErrClosed)
		s := d.s
		want(t, "close session", s.Close(), nil)
		want(t, "close session again", s.Close(), ErrClosed)
		want(t, "adapters", second(s.Adapters()), ErrClosed)
	})
}

func second[T any](_ T, err error) error { return err }

// Whoever waits when a view, its device or the session is closed gets what WDDM says.
func TestWaitersOfWhatIsClosed(t *testing.T) {
	for what, c := range map[string]struct {
		close func(f *Fence) error
		want  error
	}{
		"fence":   {(*Fence).Close, nil},
		"device":  {func(f *Fence) error { return f.dev.Close() }, abi.StatusDeviceRemoved},
		"session": {func(f *Fence) error { return f.dev.s.Close() }, abi.StatusDeviceRemoved},
		"raw fence": {func(f *Fence) error {
			return failure(f.dev.s.DestroySynchronizationObject(&abi.DestroySynchronizationObject{HSyncObject: f.handle}))
		}, nil},
	} {
		everywhere(t, func(t *testing.T, w where) {
			d := w.device(t)
			f := newFence(t, d, FenceOptions{Shared: w.shared})
			other := newFence(t, d, FenceOptions{Shared: !w.shared})
			one, all, kernelSide := make(chan error), make(chan error), make(chan error)
			rewound := newFence(t, d, FenceOptions{Initial: 1, Shared: w.shared})
			want(t, "rewind", rewound.Rewind(0), nil)
			go func() { one <- f.Wait(bg, 1) }()
			go func() { all <- WaitAll(bg, f.At(1), other.At(1)) }()
			go func() { kernelSide <- rewound.Wait(bg, 1) }()
			waitFor(f, 2)
			waitFor(rewound, 1)
			want(t, "close "+what, c.close(f), nil)
			if c.want == nil {
				want(t, "close rewound", c.close(rewound), nil)
			}
			want(t, "wait", <-one, c.want)
			want(t, "kernel-side wait", <-kernelSide, c.want)
			if c.want == nil {
				want(t, "signal the other", other.Signal(1), nil)
			}
			want(t, "wait for all", <-all, c.want)
		})
	}
}

// A hostile holder of a page can set any bit of its want word; a signal wakes those
// who sleep and nobody else.
func TestForeignWantBits(t *testing.T) {
	d := openDevice(t)
	f := newFence(t, d, FenceOptions{Shared: true})
	f.mem.view.Cell.WantLocal()
	if err := f.Signal(1); err != nil || f.Value() != 1 {
		t.Errorf("signal: %v, value %d", err, f.Value())
	}
}

// The event of a notification is set also when what it was asked of is closed.
func TestNotifyOfWhatIsClosed(t *testing.T) {
	for what, end := range map[string]func(f *Fence) error{
		"fence":  (*Fence).Close,
		"device": func(f *Fence) error { return f.dev.Close() },
	} {
		everywhere(t, func(t *testing.T, w where) {
			f := newFence(t, w.device(t), FenceOptions{Shared: w.shared})
			event, err := f.Notify(1)
			want(t, "notify", err, nil)
			defer event.Close()
			want(t, "close "+what, end(f), nil)
			if n, err := event.Read(make([]byte, 8)); n != 8 || err != nil {
				t.Errorf("read %d bytes, %v", n, err)
			}
		})
	}
}

func TestNotifyOnRefuses(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		f := newFence(t, w.device(t), FenceOptions{Shared: w.shared})
		file, err := os.Open(os.DevNull)
		want(t, "open", err, nil)
		want(t, "no eventfd", f.NotifyOn(file, 1), abi.StatusObjectTypeMismatch)
		want(t, "close", file.Close(), nil)
		want(t, "closed", f.NotifyOn(file, 1), abi.StatusInvalidHandle)
	})
}
