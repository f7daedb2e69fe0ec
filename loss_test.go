package dxgsync

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// Calls of a lost device are refused, whatever memory would say; a fence that keeps its
// value goes on for others, and for who waited already.
func TestLostDevice(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		d := w.device(t)
		f := newFence(t, d, FenceOptions{Shared: w.shared, Initial: 5})
		kept := newFence(t, d, FenceOptions{Shared: w.shared, Initial: 5, Flags: abi.SyncObjectNoSignalMaxValueOnTdr})
		healthy := newDevice(t, d.s)
		other := newFence(t, healthy, FenceOptions{Initial: 5})
		waited, patient := make(chan error), make(chan error)
		go func() { waited <- f.Wait(bg, 6) }()
		go func() { patient <- kept.Wait(bg, 8) }()
		untilWaited(f)
		untilWaited(kept)
		want(t, "loss", failure(d.s.MarkDeviceAsError(&abi.MarkDeviceAsError{HDevice: d.Handle(), Reason: abi.DeviceErrorGeneric})), nil)
		want(t, "who waited for what is lost", <-waited, nil)
		wantValue(t, f, Lost)
		wantValue(t, kept, 5)
		for _, f := range []*Fence{f, kept} {
			want(t, "signal", f.Signal(7), abi.StatusDeviceRemoved)
			want(t, "signal of the value", f.Signal(f.Value()), abi.StatusDeviceRemoved)
			want(t, "rewind", f.Rewind(1), abi.StatusDeviceRemoved)
			want(t, "wait", f.Wait(bg, 1), abi.StatusDeviceRemoved)
			want(t, "wait for all", WaitAll(bg, f.At(1)), abi.StatusDeviceRemoved)
			_, err := WaitAny(bg, f.At(1))
			want(t, "wait for any", err, abi.StatusDeviceRemoved)
			_, err = f.SyncFile(1)
			want(t, "sync file", err, abi.StatusDeviceRemoved)
		}
		want(t, "a healthy device", WaitAll(bg, other.At(5)), nil)
		if w.shared { // only then can somebody else go on
			file, err := kept.Share()
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			theirs, err := healthy.OpenShared(file, OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want(t, "signal by another device", theirs.Signal(8), nil)
		} else {
			want(t, "close", kept.Close(), nil)
		}
		want(t, "who waited for what stays", <-patient, nil)
		state, err := d.State()
		if err != nil || state != abi.DeviceExecutionHung {
			t.Errorf("state %v, %v", state, err)
		}
		want(t, "end of the device", d.Close(), nil)
	})
}

// A device can be idle, or held by a wait of the GPU until that ends.
func TestWaitForIdle(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		d := w.device(t)
		idle := func() error { return failure(d.s.WaitForIdle(&abi.WaitForIdle{HDevice: d.Handle()})) }
		want(t, "idle", idle(), nil)
		c, err := d.NewContext(ContextOptions{})
		if err != nil {
			t.Fatal(err)
		}
		f := newFence(t, d, FenceOptions{Shared: w.shared})
		hold := func(v uint64) {
			rec := abi.WaitForSynchronizationObjectFromGpu{HContext: c.Handle()}
			want(t, "wait of the GPU", failure(d.s.WaitForSynchronizationObjectFromGpu(&rec, []abi.Handle{f.Handle()}, []uint64{v})), nil)
		}
		hold(1)
		done := make(chan error)
		go func() { done <- idle() }()
		want(t, "signal", f.Signal(1), nil)
		want(t, "idle after a wait", <-done, nil)
		hold(2)
		go func() { done <- idle() }()
		want(t, "loss", failure(d.s.MarkDeviceAsError(&abi.MarkDeviceAsError{HDevice: d.Handle(), Reason: abi.DeviceErrorGeneric})), nil)
		want(t, "idle of a lost device", <-done, abi.StatusDeviceRemoved)
		want(t, "idle of no device", failure(d.s.WaitForIdle(&abi.WaitForIdle{})), abi.StatusInvalidParameter)
	})
}
