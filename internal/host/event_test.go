package host

import (
	"encoding/binary"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
)

func newEventfd(t *testing.T, flags int) int {
	t.Helper()
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|flags)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close1(fd) })
	return fd
}

// counter reads an eventfd, which must be set.
func counter(t *testing.T, fd int) uint64 {
	t.Helper()
	var b [8]byte
	if n, err := unix.Read(fd, b[:]); n != 8 {
		t.Fatalf("read %d bytes: %v", n, err)
	}
	return binary.LittleEndian.Uint64(b[:])
}

func fill(t *testing.T, fd int) {
	t.Helper()
	b := binary.LittleEndian.AppendUint64(nil, math.MaxUint64-1)
	if _, err := unix.Write(fd, b); err != nil {
		t.Fatal(err)
	}
}

// both runs a test with each of the two ways of adding 1.
func both(t *testing.T, test func(t *testing.T, h *Host)) {
	t.Run("asynchronous read", func(t *testing.T) {
		h, _ := newHost(t)
		h.setter.set(newEventfd(t, 0))
		if h.setter.quick == nil {
			t.Fatal("the system has no asynchronous reads")
		}
		test(t, h)
	})
	t.Run("write", func(t *testing.T) {
		h, _ := newHost(t)
		h.setter.once.Do(func() {})
		test(t, h)
	})
}

func TestEventSet(t *testing.T) {
	both(t, func(t *testing.T, h *Host) {
		for _, flags := range []int{0, unix.EFD_NONBLOCK, unix.EFD_SEMAPHORE} {
			fd := newEventfd(t, flags)
			e, st := h.Event(process(1000), fd)
			if !st.OK() {
				t.Fatal(st)
			}
			const times = 3*aioRoom + 1
			for range times {
				e.Set()
			}
			if flags != unix.EFD_SEMAPHORE {
				if n := counter(t, fd); n != times {
					t.Errorf("flags %#x: counter %d, want %d", flags, n, times)
				}
			}
			e.Close()
		}
	})
}

// The reference is the host's own: the client may close its descriptor, and the number may
// mean another file.
func TestEventOutlivesTheNumber(t *testing.T) {
	both(t, func(t *testing.T, h *Host) {
		fd := newEventfd(t, 0)
		mine := dup(t, fd)
		e, st := h.Event(process(1000), mine)
		if !st.OK() {
			t.Fatal(st)
		}
		other := newEventfd(t, unix.EFD_NONBLOCK)
		if err := unix.Dup3(other, mine, unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		e.Set()
		e.Close()
		close1(mine)
		if n := counter(t, fd); n != 1 {
			t.Errorf("counter %d", n)
		}
		if _, err := unix.Read(other, make([]byte, 8)); err != unix.EAGAIN {
			t.Errorf("the other event: %v, want EAGAIN", err)
		}
	})
}

// A full counter of a blocking eventfd does not stop whoever sets it.
func TestEventFull(t *testing.T) {
	both(t, func(t *testing.T, h *Host) {
		fd := newEventfd(t, 0)
		e, st := h.Event(process(1000), fd)
		if !st.OK() {
			t.Fatal(st)
		}
		defer e.Close()
		fill(t, fd)
		e.Set()
		e.Set()
		if n := counter(t, fd); n < math.MaxUint64-1 {
			t.Errorf("counter %d", n)
		}
		e.Set()
		if n := counter(t, fd); n != 1 {
			t.Errorf("counter %d after it was read, want 1", n)
		}
	})
}

// A hostile client fills the counter again and again while it is being set: no set
// blocks, whatever it meets.
func TestEventFilledMeanwhile(t *testing.T) {
	h, _ := newHost(t)
	fd := newEventfd(t, 0)
	e, st := h.Event(process(1000), fd)
	if !st.OK() {
		t.Fatal(st)
	}
	defer e.Close()
	var filled atomic.Bool
	var hostile sync.WaitGroup
	hostile.Go(func() {
		defer filled.Store(true)
		b := binary.LittleEndian.AppendUint64(nil, math.MaxUint64-1)
		for range 500 {
			if _, err := unix.Write(fd, b); err != nil && err != unix.EINTR { // blocks until it is read
				t.Error(err)
			}
		}
	})
	hostile.Go(func() {
		for !filled.Load() {
			look := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			if n, _ := unix.Poll(look, 0); n == 1 {
				_, _ = unix.Read(fd, make([]byte, 8))
			}
		}
	})
	for sets := 0; sets < 5000 || !filled.Load(); sets++ {
		e.Set()
	}
	hostile.Wait()
}

func TestEventIdentity(t *testing.T) {
	h, _ := newHost(t)
	before := openFiles(t)
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer close1(pipe[0])
	defer close1(pipe[1])
	memfd, err := unix.MemfdCreate("anon_inode:[eventfd]", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer close1(memfd)
	timer, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer close1(timer)
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer close1(epoll)
	inotify, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer close1(inotify)
	pidfd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer close1(pidfd)
	directory := t.TempDir() + "/anon_inode:[eventfd]"
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	named, err := unix.Open(directory, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer close1(named)
	held := openFiles(t)
	for name, row := range map[string]struct {
		fd   int
		want abi.Status
	}{
		"read end":           {pipe[0], abi.StatusObjectTypeMismatch},
		"write end":          {pipe[1], abi.StatusObjectTypeMismatch},
		"memfd of that name": {memfd, abi.StatusObjectTypeMismatch},
		"timerfd":            {timer, abi.StatusObjectTypeMismatch},
		"epoll":              {epoll, abi.StatusObjectTypeMismatch},
		"inotify":            {inotify, abi.StatusObjectTypeMismatch},
		"pidfd":              {pidfd, abi.StatusObjectTypeMismatch},
		"file of that name":  {named, abi.StatusObjectTypeMismatch},
		"negative":           {-1, abi.StatusInvalidHandle},
		"not open":           {1 << 20, abi.StatusInvalidHandle},
	} {
		_, st := h.Event(process(1000), row.fd)
		status(t, name, st, row.want)
	}
	if n := openFiles(t); n != held || held <= before {
		t.Errorf("%d descriptors, want %d", n, held)
	}
}
