package host

import (
	"io"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/object"
)

const childVariable = "DXGSYNC_HOST_TEST_CHILD"

// A child holds the descriptors it inherited until its input ends.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		_, _ = os.Stdout.WriteString("here\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startChild starts a child that has fd; stop ends it.
func startChild(t *testing.T, fd int) (stop func()) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childVariable+"=1", "GOCOVERDIR=")
	file := os.NewFile(uintptr(dup(t, fd)), "handle")
	cmd.ExtraFiles = []*os.File{file}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	if _, err := io.ReadFull(out, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
}

// closings are the NT handles whose end the host has reported, in order.
type closings chan object.Key

func newHost(t *testing.T) (*Host, closings) {
	h, err := New()
	if err != nil {
		t.Fatal(err)
	}
	c := make(closings, 4096)
	h.Start(func(key object.Key) { c <- key })
	t.Cleanup(h.Stop)
	return h, c
}

func process(uid uint32) *kernel.Process {
	return &kernel.Process{Info: kernel.ProcessInfo{UID: uid}}
}

func handle(t *testing.T, h *Host) (object.Key, int) {
	t.Helper()
	key, fd, st := h.NewNTHandle()
	if !st.OK() {
		t.Fatal(st)
	}
	return key, fd
}

// none fails when any handle has been reported closed: one that is made and closed
// now is reported after everything that happened before.
func (c closings) none(t *testing.T, h *Host, when string) {
	t.Helper()
	key, fd := handle(t, h)
	close1(fd)
	if got := <-c; got != key {
		t.Fatalf("%s: %v was reported closed", when, got)
	}
}

func (c closings) want(t *testing.T, key object.Key) {
	t.Helper()
	if got := <-c; got != key {
		t.Fatalf("%v was reported closed, want %v", got, key)
	}
}

func dup(t *testing.T, fd int) int {
	t.Helper()
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// openFiles counts this process's descriptors.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func status(t *testing.T, what string, got, want abi.Status) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
