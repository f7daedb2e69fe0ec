package host

import (
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
)

// ready says whether a descriptor polls readable.
func ready(t *testing.T, fd int) bool {
	t.Helper()
	look := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(look, 0)
	if err != nil {
		t.Fatal(err)
	}
	return n == 1
}

// A sync file is readable from the end on, also for those who did not read it first.
func TestSyncFile(t *testing.T) {
	for _, want := range []abi.Status{abi.StatusSuccess, abi.StatusDeviceRemoved} {
		h, _ := newHost(t)
		p := process(7)
		held, files := h.held, openFiles(t)
		f, fd, st := h.NewSyncFile(p)
		if !st.OK() || ready(t, fd) {
			t.Fatal(st)
		}
		if !want.OK() {
			f.Fail(want)
		}
		f.Set()
		f.Close()
		if !ready(t, fd) || h.held != held {
			t.Errorf("%v: not readable, or %d descriptors are held", want, h.held-held)
		}
		var b [8]byte
		if n, err := unix.Read(fd, b[:]); n != 4 || err != nil || abi.Status(binary.LittleEndian.Uint32(b[:])) != want {
			t.Errorf("%v: read %x, %v", want, b[:max(n, 0)], err)
		}
		if n, err := unix.Read(fd, b[:]); n != 0 || err != nil || !ready(t, fd) {
			t.Errorf("%v: a second reader gets %d bytes, %v", want, n, err)
		}
		close1(fd)
		if n := openFiles(t); n != files {
			t.Errorf("%v: %d descriptors are left", want, n-files)
		}
	}
}

// Who filled the pipe, or closed it, keeps nobody up; and it is no NT handle.
func TestSyncFileOfHostileHolders(t *testing.T) {
	h, _ := newHost(t)
	p := process(h.user)
	f, fd, st := h.NewSyncFile(p)
	if !st.OK() {
		t.Fatal(st)
	}
	if _, st := h.Identify(p, fd); st != abi.StatusObjectTypeMismatch {
		t.Errorf("as an NT handle: %v", st)
	}
	in, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = unix.Write(in, make([]byte, pipeSize))
	}
	f.Set()
	f.Close()
	if !ready(t, fd) {
		t.Error("not readable")
	}
	close1(in)
	close1(fd)
	f, fd, st = h.NewSyncFile(p)
	if !st.OK() {
		t.Fatal(st)
	}
	close1(fd)
	f.Set()
	f.Close()
}

func TestSyncFileLimit(t *testing.T) {
	h, _ := newHost(t)
	h.limit = h.held
	if _, _, st := h.NewSyncFile(process(7)); st != abi.StatusNoMemory {
		t.Error(st)
	}
	h.limit = 3 // numbers below are taken
	h.held = 0
	if _, _, st := h.NewSyncFile(process(7)); st != abi.StatusNoMemory || len(h.mine) != 0 {
		t.Error(st, h.mine)
	}
}
