package client

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
)

// TestNoDescriptorsLeft: a process without free descriptor numbers is told NO_MEMORY
// and has nothing it does not know of.
func TestNoDescriptorsLeft(t *testing.T) {
	address := filepath.Join(t.TempDir(), "socket")
	start(t, "daemon", nil, address)
	c := dial(t, address)
	device := must(newDevice(c))(t)
	first := must(newFence(c, device, sharable, 0))(t)
	shared := must(first.share())(t)
	defer unix.Close(shared)
	before := objects(t, c)
	restore := exhaust(t)
	_, open := openFence(c, device, shared)
	_, create := newFence(c, device, sharable, 0)
	_, private := newFence(c, device, 0, 0)
	_, share := first.share()
	restore()
	for name, err := range map[string]error{"open": open, "create": create, "create private": private, "share": share} {
		if !errors.Is(err, abi.StatusNoMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := objects(t, c); got != before {
		t.Errorf("%d objects, were %d", got, before)
	}
	again := must(openFence(c, device, shared))(t)
	if st := again.raise(4); !st.OK() || first.view.Cell.Value() != 4 {
		t.Errorf("afterwards: %v", st)
	}
	// The slab's memory was sent, and lost; it is asked for.
	f := must(newFence(c, device, 0, 5))(t)
	if got := f.view.Cell.Value(); got != 5 {
		t.Errorf("a private fence afterwards has value %d", got)
	}
}

// objects counts the objects in the daemon's listing.
func objects(t *testing.T, c *Conn) int {
	t.Helper()
	r, st := call(c, abi.OpSnapshot, &abi.Snapshot{}, nil)
	if !st.OK() || len(r.Out) != 1 {
		t.Fatal(st)
	}
	f := os.NewFile(uintptr(r.Out[0].FD), "snapshot")
	defer f.Close()
	var listing kernel.Snapshot
	if err := json.NewDecoder(f).Decode(&listing); err != nil {
		t.Fatal(err)
	}
	return len(listing.Objects)
}

// exhaust leaves this process no free descriptor number until restore.
func exhaust(t *testing.T) (restore func()) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	top := 0
	for fd := range 4096 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			top = fd
		}
	}
	var fill []int
	for len(fill) == 0 || fill[len(fill)-1] <= top {
		fill = append(fill, must(unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0))(t))
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(fill[len(fill)-1] + 1), Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
			t.Fatal(err)
		}
		for _, fd := range fill {
			_ = unix.Close(fd)
		}
	}
}
