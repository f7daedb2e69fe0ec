package dxgsync

import (
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
)

func syncFile(t *testing.T, f *Fence, v uint64) *os.File {
	t.Helper()
	file, err := f.SyncFile(v)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func readable(t *testing.T, file *os.File) bool {
	t.Helper()
	look := []unix.PollFd{{Fd: int32(file.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(look, 0)
	if err != nil {
		t.Fatal(err)
	}
	return n == 1
}

func TestSyncFile(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		d := w.device(t)
		f := newFence(t, d, FenceOptions{Shared: w.shared, Initial: 1})
		want(t, "reached", SyncFileStatus(syncFile(t, f, 1)), nil)
		file := syncFile(t, f, 3)
		want(t, "signal", f.Signal(2), nil)
		if readable(t, file) {
			t.Error("readable too early")
		}
		status := make(chan error)
		go func() { status <- SyncFileStatus(file) }()
		want(t, "signal", f.Signal(3), nil)
		want(t, "status", <-status, nil)
		want(t, "second status", SyncFileStatus(file), io.ErrUnexpectedEOF)
		if !readable(t, file) {
			t.Error("not readable after it was read")
		}
		never := syncFile(t, f, 9)
		want(t, "end of the device", d.Close(), nil)
		want(t, "status", SyncFileStatus(never), abi.StatusDeviceRemoved)
		_, err := f.SyncFile(9)
		want(t, "after the end", err, ErrClosed)
	})
}

// The end of the daemon leaves nobody waiting.
func TestSyncFileEndOfKernel(t *testing.T) {
	address := "@dxgsync-test-syncfile"
	daemon, err := startDaemon(address)
	if err != nil {
		t.Fatal(err)
	}
	f := newFence(t, openDevice(t, WithDaemon(address)), FenceOptions{})
	file := syncFile(t, f, 1)
	daemon.Close()
	if err := SyncFileStatus(file); err != abi.StatusDeviceRemoved && err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
}
