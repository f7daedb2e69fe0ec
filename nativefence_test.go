package dxgsync

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
)

func newNative(t testing.TB, d *Device, opts NativeFenceOptions) *NativeFence {
	t.Helper()
	f, err := d.NewNativeFence(opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newHwQueue(t testing.TB, d *Device, node uint32) *HwQueue {
	t.Helper()
	q, err := d.NewHwQueue(HwQueueOptions{Node: node})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// For CPUs a native fence is a fence.
func TestNativeFenceOnTheCPU(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		d := w.device(t)
		f, plain := newNative(t, d, NativeFenceOptions{Initial: 5, Shared: w.shared}), newFence(t, d, FenceOptions{})
		wantValue(t, &f.Fence, 5)
		want(t, "a wait for less", f.Wait(bg, 4), nil)
		want(t, "a lower signal", f.Signal(4), abi.StatusInvalidParameter)
		done := make(chan error)
		go func() { done <- f.Wait(bg, 7) }()
		want(t, "signal", f.Signal(6), nil)
		want(t, "signal", f.Signal(7), nil)
		want(t, "the wait", <-done, nil)
		want(t, "rewind", f.Rewind(1), nil)
		wantValue(t, &f.Fence, 1)
		go func() { done <- second(WaitAny(bg, plain.At(1), f.At(2))) }()
		want(t, "signal", f.Signal(2), nil)
		want(t, "the wait for any", <-done, nil)
		ctx, cancel := context.WithCancel(bg)
		go func() { done <- f.Wait(ctx, 3) }()
		cancel()
		want(t, "a cancelled wait", <-done, context.Canceled)
		event, err := f.Notify(3)
		want(t, "notify", err, nil)
		defer event.Close()
		want(t, "signal", d.Signal(f.At(3), plain.At(1)), nil)
		if n, err := event.Read(make([]byte, 8)); n != 8 || err != nil {
			t.Errorf("the event: %d, %v", n, err)
		}
		if f.Type() != abi.NativeFenceDefault || f.GPUAddress() == 0 || f.MonitoredGPUAddress() == 0 || f.MonitoredGPUAddress() == f.GPUAddress() {
			t.Errorf("%v at %#x, %#x", f.Type(), f.GPUAddress(), f.MonitoredGPUAddress())
		}
		want(t, "close", f.Close(), nil)
		want(t, "close again", f.Close(), ErrClosed)
		want(t, "signal after close", f.Signal(9), ErrClosed)
		want(t, "wait after close", f.Wait(bg, 9), ErrClosed)
	})
}

// Two engines hand each other a turn, and nobody else has a part in it: the first signal
// and the last wait are the CPU's.
func TestEnginesTakeTurns(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		f, b := newNative(t, d, NativeFenceOptions{}), newBuffer(t, d, 4)
		queues := []queue{newHwQueue(t, d, 0), newContext(t, d, 2)}
		const turns = 100
		for v := range uint64(turns) {
			submit(t, queues[v%2], commands().WaitNative(f, v+1).Fill(b, uint32(v)).SignalNative(f, v+2))
		}
		wantValue(t, &f.Fence, 0)
		want(t, "the first turn", f.Signal(1), nil)
		want(t, "the last turn", f.Wait(bg, turns+1), nil)
		if got := b.Bytes()[0]; got != turns-1 {
			t.Errorf("the last to write was %d", got)
		}
		wantValue(t, &f.Fence, turns+1)
	})
}

// A wait of one queue holds no other of its engine, and a CPU signal ends it.
func TestNativeWaitHoldsItsQueueOnly(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		f := newNative(t, d, NativeFenceOptions{})
		held, free := newHwQueue(t, d, 1), newHwQueue(t, d, 1)
		last := submit(t, held, commands().WaitNative(f, 1))
		want(t, "the other queue", submit(t, free, commands()).Wait(bg), nil)
		wantValue(t, held.Progress(), 0)
		want(t, "signal", f.Signal(1), nil)
		want(t, "the queue", last.Wait(bg), nil)
	})
}

// The progress fence of a hardware queue is native: another queue waits for it on the GPU.
func TestNativeProgress(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		f := newNative(t, d, NativeFenceOptions{})
		first, then := newHwQueue(t, d, 0), newHwQueue(t, d, 2)
		progress := first.NativeProgress()
		if progress == nil || &progress.Fence != first.Progress() {
			t.Fatalf("the progress fence is %v", progress)
		}
		last := submit(t, then, commands().WaitNative(progress, 1))
		want(t, "signal of progress", commands().SignalNative(progress, 7).Err(), abi.StatusAccessDenied)
		want(t, "close of progress", progress.Close(), abi.StatusInvalidParameter)
		submit(t, first, commands().WaitNative(f, 3))
		wantValue(t, then.Progress(), 0)
		want(t, "signal", f.Signal(3), nil)
		want(t, "the second queue", last.Wait(bg), nil)
		wantValue(t, first.Progress(), 1)
	})
}

// Every view of a fence in one process has the same addresses.
func TestOpenSharedNative(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		f := newNative(t, d, NativeFenceOptions{Shared: true, Initial: 2})
		file, err := f.Share()
		want(t, "share", err, nil)
		defer file.Close()
		other := newDevice(t, d.s)
		g, err := other.OpenSharedNative(file, OpenNativeOptions{})
		want(t, "open", err, nil)
		if g.GPUAddress() != f.GPUAddress() || g.MonitoredGPUAddress() != f.MonitoredGPUAddress() || g.GPUAddress() == 0 {
			t.Errorf("at %#x and %#x; at %#x and %#x", f.GPUAddress(), f.MonitoredGPUAddress(), g.GPUAddress(), g.MonitoredGPUAddress())
		}
		submit(t, newHwQueue(t, other, 0), commands().WaitNative(g, 3).SignalNative(g, 4))
		want(t, "signal", f.Signal(3), nil)
		want(t, "wait", f.Wait(bg, 4), nil)
		wantValue(t, &g.Fence, 4)

		mute, err := other.OpenSharedNative(file, OpenNativeOptions{Flags: abi.SyncObjectNoSignal})
		want(t, "open without signals", err, nil)
		want(t, "signal command", commands().SignalNative(mute, 5).Err(), abi.StatusAccessDenied)
		want(t, "signal", mute.Signal(5), abi.StatusAccessDenied)

		plain, err := other.OpenShared(file, OpenOptions{})
		want(t, "open as a monitored fence", err, nil)
		wantValue(t, plain, 4)
		private := newNative(t, d, NativeFenceOptions{})
		want(t, "share of a private one", second(private.Share()), abi.StatusInvalidParameter)
		monitored := newFence(t, d, FenceOptions{Shared: true})
		wrong := share(t, monitored, ShareOptions{})
		defer wrong.Close()
		want(t, "open of a monitored one", second(d.OpenSharedNative(wrong, OpenNativeOptions{})), abi.StatusInvalidParameter)
		want(t, "close", other.Close(), nil)
		want(t, "open on a closed device", second(other.OpenSharedNative(file, OpenNativeOptions{})), ErrClosed)
	})
}

const sharedTurns = 20

// Engines of two processes hand each other a turn.
func TestEnginesOfProcessesTakeTurns(t *testing.T) {
	address := daemon(t)
	d := openDevice(t, WithDaemon(address))
	f := newNative(t, d, NativeFenceOptions{Shared: true})
	p := start(t, "native", address, &f.Fence)
	q := newHwQueue(t, d, 0)
	for v := uint64(1); v < 2*sharedTurns; v += 2 {
		submit(t, q, commands().WaitNative(f, v).SignalNative(f, v+1))
	}
	want(t, "signal", f.Signal(1), nil)
	want(t, "wait", f.Wait(bg, 2*sharedTurns+1), nil)
	_ = p.input.Close()
	want(t, "the other", p.cmd.Wait(), nil)
	wantValue(t, &f.Fence, 2*sharedTurns+1)
}

// playNative has the even turns on another node.
func playNative() error {
	return playEvenTurns(func(d *Device) (submitter, error) { return d.NewHwQueue(HwQueueOptions{Node: 2}) })
}

// A submitter is a queue of any kind.
type submitter interface {
	Submit(*CommandBuffer) (Point, error)
	Close() error
}

func playEvenTurns(queue func(*Device) (submitter, error)) error {
	s, err := Open(WithDaemon(DefaultAddress))
	if err != nil {
		return err
	}
	d, err := s.NewDevice()
	if err != nil {
		return err
	}
	f, err := d.OpenSharedNative(os.NewFile(3, "fence"), OpenNativeOptions{})
	if err != nil {
		return err
	}
	q, err := queue(d)
	if err != nil {
		return err
	}
	say("ready")
	for v := uint64(2); v <= 2*sharedTurns; v += 2 {
		if _, err := q.Submit(commands().WaitNative(f, v).SignalNative(f, v+1)); err != nil {
			return err
		}
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func TestIntraGPUFence(t *testing.T) {
	profiles, err := adapter.LoadAll([]string{"native"})
	want(t, "load", err, nil)
	address := "@dxgsync-test-intra-" + t.Name()
	server, err := server.NewDaemon(kernel.Config{Profiles: profiles}, server.Config{KernelID: 1})
	want(t, "daemon", err, nil)
	want(t, "daemon", server.Open(address), nil)
	defer server.Close()
	for name, at := range map[string]Option{"here": WithAdapter("native"), "daemon": WithDaemon(address)} {
		t.Run(name, func(t *testing.T) {
			d := openDevice(t, at)
			f := newNative(t, d, NativeFenceOptions{Type: abi.NativeFenceIntraGPU, Initial: 9})
			done := newNative(t, d, NativeFenceOptions{})
			q, c := newHwQueue(t, d, 0), newContext(t, d, 1)
			submit(t, c, commands().WaitNative(f, 4).SignalNative(done, 1))
			submit(t, q, commands().SignalNative(f, 4))
			want(t, "wait", done.Wait(bg, 1), nil)
			if f.Value() != 0 || f.Lost() || f.Type() != abi.NativeFenceIntraGPU {
				t.Errorf("value %d, lost %v, %v", f.Value(), f.Lost(), f.Type())
			}
			for what, err := range map[string]error{
				"signal": f.Signal(5), "rewind": f.Rewind(0), "wait": f.Wait(bg, 1), "wait for what it has": f.Wait(bg, 0),
				"wait for any": second(WaitAny(bg, done.At(2), f.At(1))), "notify": second(f.Notify(1)),
				"wait of a queue": q.Wait(f.At(1)), "signal of a queue": q.Signal(f.At(5)),
				"wait of a context": c.Wait(f.At(1)), "signal of a context": c.Signal(f.At(5)),
			} {
				if !errors.Is(err, abi.StatusInvalidParameter) {
					t.Errorf("%s: %v", what, err)
				}
			}
			want(t, "close", f.Close(), nil)
			want(t, "wait after close", f.Wait(bg, 1), ErrClosed)
		})
	}
}

func TestNativeFenceErrors(t *testing.T) {
	d := openDevice(t)
	f := newNative(t, d, NativeFenceOptions{})
	for _, c := range []struct {
		what   string
		opts   NativeFenceOptions
		target error
	}{
		{"a type", NativeFenceOptions{Type: 2}, abi.StatusInvalidParameter},
		{"a type that is not there", NativeFenceOptions{Type: abi.NativeFenceIntraGPU}, abi.StatusNotSupported},
		{"reserved flags", NativeFenceOptions{Flags: 1 << 30}, abi.StatusInvalidParameter},
		{"an adapter for the GPU alone", NativeFenceOptions{Type: abi.NativeFenceIntraGPU, Shared: true, Flags: abi.SyncObjectCrossAdapter}, abi.StatusInvalidParameter},
	} {
		want(t, c.what, second(d.NewNativeFence(c.opts)), c.target)
	}
	want(t, "nothing to wait for", commands().WaitNative(nil, 1).Err(), abi.StatusInvalidParameter)
	want(t, "nothing to signal", commands().SignalNative(nil, 1).Err(), abi.StatusInvalidParameter)
	elsewhere := openDevice(t)
	want(t, "a wait elsewhere", second(newHwQueue(t, elsewhere, 0).Submit(commands().WaitNative(f, 0))), abi.StatusInvalidParameter)
	want(t, "a signal elsewhere", second(newContext(t, elsewhere, 0).Submit(commands().SignalNative(f, 1))), abi.StatusInvalidParameter)
	kept := commands().WaitNative(f, 0)
	want(t, "close", f.Close(), nil)
	want(t, "a wait for a closed one", second(newContext(t, d, 0).Submit(kept)), ErrClosed)
	want(t, "a signal of a closed one", commands().SignalNative(f, 1).Err(), ErrClosed)
	want(t, "close", d.Close(), nil)
	want(t, "on a closed device", second(d.NewNativeFence(NativeFenceOptions{})), ErrClosed)

	old := openDevice(t, WithAdapter("amd"))
	want(t, "an adapter without", second(old.NewNativeFence(NativeFenceOptions{})), abi.StatusNotSupported)
}

// What was to be signalled by work that is lost counts as signalled.
func TestLossOfANativeFence(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		f := newNative(t, d, NativeFenceOptions{})
		q := newHwQueue(t, d, 0)
		submit(t, q, commands().WaitNative(f, 1))
		want(t, "lose", failure(d.s.MarkDeviceAsError(&abi.MarkDeviceAsError{HDevice: d.handle, Reason: abi.DeviceErrorGeneric})), nil)
		if !f.Lost() {
			t.Errorf("the fence is at %d", f.Value())
		}
		want(t, "another fence", second(d.NewNativeFence(NativeFenceOptions{})), ErrLost)
	})
}

func TestFeature(t *testing.T) {
	for preset, has := range map[string]bool{"neutral": true, "native": true, "amd": false} {
		s, err := Open(WithAdapter(preset))
		want(t, "open", err, nil)
		defer s.Close()
		all, err := s.Adapters()
		want(t, "adapters", err, nil)
		a := all[0]
		for _, id := range []abi.FeatureID{abi.FeatureNativeFence, abi.FeatureUserModeSubmission} {
			f, err := a.Feature(id)
			if wanted := (Feature{has, true, has, has, 1}); f != wanted || err != nil {
				t.Errorf("%s: %v is %+v, %v; want %+v", preset, id, f, err, wanted)
			}
		}
		if f, err := a.Feature(999); f != (Feature{}) || err != nil {
			t.Errorf("a feature that nobody knows: %+v, %v", f, err)
		}
		want(t, "close", a.Close(), nil)
		want(t, "of a closed adapter", second(a.Feature(abi.FeatureNativeFence)), ErrClosed)
	}
}
