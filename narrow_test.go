package dxgsync

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
)

// noAtomics is the neutral adapter without 64-bit atomics.
const noAtomics = `{"base": "neutral", "name": "narrow", "caps": [
	"SupportNonVGA", "SupportCrossAdapterResource", "GpuMmuSupported", "IndependentVidPnVSyncControl", "DisplayableSupported",
	"NativeGpuFenceSupported"]}`

// narrowDevice is a device on such an adapter.
func narrowDevice(t *testing.T, remote bool) *Device {
	t.Helper()
	path := filepath.Join(t.TempDir(), "narrow.json")
	if err := os.WriteFile(path, []byte(noAtomics), 0o600); err != nil {
		t.Fatal(err)
	}
	if !remote {
		return openDevice(t, WithAdapter(path))
	}
	p, err := adapter.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := server.NewDaemon(kernel.Config{Profiles: []*adapter.Profile{p}}, server.Config{KernelID: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	address := "@dxgsync-test-narrow-" + fmt.Sprint(os.Getpid())
	if err := d.Open(address); err != nil {
		t.Fatal(err)
	}
	return openDevice(t, WithDaemon(address))
}

// A fence with 32-bit storage: memory shows the low half of the value, the whole of it is
// what is signalled and waited for, also past 2^32.
func TestNarrowFence(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		const turn = 1 << 32
		d := narrowDevice(t, w.remote)
		f := newFence(t, d, FenceOptions{Initial: turn - 2, Shared: w.shared})
		wantValue(t, f, turn-2)
		waited := make(chan error)
		go func() { waited <- f.Wait(bg, turn+3) }()
		want(t, "signal past the turn", f.Signal(turn+1), nil)
		wantValue(t, f, 1)
		want(t, "satisfied wait", f.Wait(bg, turn+1), nil)
		want(t, "lower", f.Signal(turn), abi.StatusInvalidParameter)
		want(t, "signal too far", f.Signal(2*turn), abi.StatusInvalidParameter)
		want(t, "wait too far", f.Wait(bg, 2*turn), abi.StatusInvalidParameter)
		want(t, "signal", f.Signal(turn+3), nil)
		want(t, "waiter", <-waited, nil)
		want(t, "rewind", f.Rewind(turn-1), nil)
		wantValue(t, f, turn-1)
		ctx, cancel := context.WithCancel(bg)
		cancel()
		want(t, "wait after a rewind", f.Wait(ctx, turn), context.Canceled)
		if f.Lost() {
			t.Error("a fence at 0xFFFFFFFF is not lost")
		}

		wide := newFence(t, d, FenceOptions{Shared: w.shared, Flags: abi.SyncObjectNoGPUAccess})
		want(t, "signal of 64 bits", wide.Signal(turn+5), nil)
		wantValue(t, wide, turn+5)
	})
}

// A fence with 32-bit storage whose creator is gone satisfies every wait.
func TestNarrowFenceLost(t *testing.T) {
	mine := narrowDevice(t, true)
	f := newFence(t, mine, FenceOptions{Initial: 7, Shared: true})
	file, err := f.Share()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	other := openDevice(t, WithDaemon("@dxgsync-test-narrow-"+fmt.Sprint(os.Getpid())))
	view, err := other.OpenShared(file, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	waited := make(chan error)
	go func() { waited <- view.Wait(bg, Lost) }()
	want(t, "end of the creator", mine.s.Close(), nil)
	want(t, "waiter", <-waited, nil)
	wantValue(t, view, 0xFFFFFFFF)
	if !view.Lost() {
		t.Error("not lost")
	}
	want(t, "wait", view.Wait(bg, 1<<60), nil)
	want(t, "signal", view.Signal(9), abi.StatusInvalidParameter)
	want(t, "rewind", view.Rewind(9), nil)
	wantValue(t, view, 0xFFFFFFFF)
}

// A fence that crosses adapters has the storage of the narrower one from the beginning.
func TestNarrowAcrossAdapters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "narrow.json")
	if err := os.WriteFile(path, []byte(noAtomics), 0o600); err != nil {
		t.Fatal(err)
	}
	d := openDevice(t, WithAdapter("neutral"), WithAdapter(path))
	const turn = 1 << 32
	wide := newFence(t, d, FenceOptions{Shared: true, Initial: turn + 1})
	wantValue(t, wide, turn+1)
	crossing := newFence(t, d, FenceOptions{Shared: true, Initial: turn + 1, Flags: abi.SyncObjectCrossAdapter})
	wantValue(t, crossing, 1)
	want(t, "wait", crossing.Wait(bg, turn+1), nil)
}
