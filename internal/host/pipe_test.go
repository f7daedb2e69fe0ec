package host

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// Every way to hold a handle keeps it; the end of the last one is reported, once.
func TestLastCloseAnywhere(t *testing.T) {
	h, closed := newHost(t)
	holds := []struct {
		name string
		hold func(t *testing.T, fd int) (drop func())
	}{
		{"duplicate", func(t *testing.T, fd int) func() {
			n := dup(t, fd)
			return func() { close1(n) }
		}},
		{"child process", startChild},
		{"reopened through /proc", func(t *testing.T, fd int) func() {
			n, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_WRONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			return func() { close1(n) }
		}},
		{"in flight, discarded", func(t *testing.T, fd int) func() {
			a, b := sendOver(t, fd)
			return func() { close1(a); close1(b) }
		}},
		{"in flight, received", func(t *testing.T, fd int) func() {
			a, b := sendOver(t, fd)
			n := receive(t, b)
			close1(a)
			close1(b)
			return func() { close1(n) }
		}},
		{"in flight in a socket in flight", func(t *testing.T, fd int) func() {
			a, b := sendOver(t, fd)
			c, d := sendOver(t, b)
			close1(a)
			close1(b)
			return func() { close1(c); close1(d) }
		}},
	}
	for _, row := range holds {
		t.Run(row.name, func(t *testing.T) {
			key, fd := handle(t, h)
			drop := row.hold(t, fd)
			close1(fd)
			closed.none(t, h, "held otherwise")
			drop()
			closed.want(t, key)
			closed.none(t, h, "reported again")
		})
	}
}

func sendOver(t *testing.T, fd int) (a, b int) {
	t.Helper()
	s, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Sendmsg(s[0], []byte{1}, unix.UnixRights(fd), nil, 0); err != nil {
		t.Fatal(err)
	}
	return s[0], s[1]
}

func receive(t *testing.T, socket int) int {
	t.Helper()
	oob := make([]byte, 64)
	_, n, _, _, err := unix.Recvmsg(socket, make([]byte, 8), oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil {
		t.Fatal(err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		t.Fatal(err)
	}
	return fds[0]
}

// What holders write is nobody's business, full pipes included.
func TestGarbageInAHandle(t *testing.T) {
	h, closed := newHost(t)
	key, fd := handle(t, h)
	for {
		if _, err := unix.Write(fd, make([]byte, 512)); err != nil {
			if err != unix.EAGAIN {
				t.Fatal(err)
			}
			break
		}
	}
	closed.none(t, h, "full of garbage")
	got, st := h.Identify(process(uint32(os.Geteuid())), fd)
	status(t, "identify", st, abi.StatusSuccess)
	if got != key {
		t.Errorf("identified as %v, want %v", got, key)
	}
	close1(fd)
	closed.want(t, key)
}

func TestIdentify(t *testing.T) {
	h, _ := newHost(t)
	self := process(uint32(os.Geteuid()))
	key, fd := handle(t, h)
	defer close1(fd)
	reopened := func(flags int) int {
		n, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), flags|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { close1(n) })
		return n
	}
	null, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer close1(event)
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer close1(socket)
	gone, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 900) // nobody gets that number soon
	if err != nil {
		t.Fatal(err)
	}
	close1(gone)
	copied := dup(t, fd)
	defer close1(copied)
	for _, row := range []struct {
		name string
		fd   int
		want abi.Status
	}{
		{"the handle", fd, abi.StatusSuccess},
		{"a duplicate", copied, abi.StatusSuccess},
		{"reopened for writing", reopened(unix.O_WRONLY), abi.StatusSuccess},
		{"reopened for both", reopened(unix.O_RDWR), abi.StatusSuccess},
		{"reopened for reading", reopened(unix.O_RDONLY), abi.StatusObjectTypeMismatch},
		{"reopened as a path", reopened(unix.O_PATH), abi.StatusObjectTypeMismatch},
		{"/dev/null", int(null.Fd()), abi.StatusObjectTypeMismatch},
		{"an eventfd", event, abi.StatusObjectTypeMismatch},
		{"a socket", socket, abi.StatusObjectTypeMismatch},
		{"no descriptor", gone, abi.StatusInvalidHandle},
		{"a negative number", -1, abi.StatusInvalidHandle},
		{"a huge number", 1 << 30, abi.StatusInvalidHandle},
	} {
		for who, p := range map[string]uint32{"same user": self.Info.UID, "another user": self.Info.UID + 4711} {
			got, st := h.Identify(process(p), row.fd)
			status(t, row.name+", "+who, st, row.want)
			if st.OK() && got != key {
				t.Errorf("%s, %s: %v, want %v", row.name, who, got, key)
			}
		}
	}
	if size, err := pipeSizeOf(fd); err != nil || size != pipeSize {
		t.Errorf("after the proofs the pipe has %d bytes, %v; want %d", size, err, pipeSize)
	}
}

// A pipe that has a handle's inode number but is another pipe is found out, whatever
// its size: nothing that happens to it is seen at our end.
func TestProofAgainstForgery(t *testing.T) {
	h, closed := newHost(t)
	key, fd := handle(t, h)
	defer close1(fd)
	var forged [2]int
	if err := unix.Pipe2(forged[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	defer close1(forged[0])
	defer close1(forged[1])
	for _, size := range []int{pipeSize, 2 * pipeSize, 16 * pipeSize} {
		for _, ours := range []int{pipeSize, 2 * pipeSize} {
			if _, err := unix.FcntlInt(uintptr(forged[1]), unix.F_SETPIPE_SZ, size); err != nil {
				t.Fatal(err)
			}
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, ours); err != nil {
				t.Fatal(err)
			}
			if same, _ := h.watch.same(key, forged[1]); same {
				t.Errorf("forged of %d bytes against ours of %d: believed", size, ours)
			}
			if same, err := h.watch.same(key, fd); !same {
				t.Errorf("ours of %d bytes: not believed: %v", ours, err)
			}
		}
	}
	// A holder fills the pipe to make proofs of others fail.
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, 2*pipeSize); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := unix.Write(fd, make([]byte, pipeSize)); err != nil {
			break
		}
	}
	if same, err := h.watch.same(key, fd); !same {
		t.Error("ours, full: not believed:", err)
	}
	closed.none(t, h, "after proofs")
}

// A number of handles made and dropped at the same time: each is reported exactly once
// and leaves no descriptor behind.
func TestHandleHammer(t *testing.T) {
	h, closed := newHost(t)
	before := openFiles(t)
	const workers, each = 8, 200
	var mu sync.Mutex
	made := map[any]int{}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				key, fd, st := h.NewNTHandle()
				if !st.OK() {
					t.Error(st)
					return
				}
				mu.Lock()
				made[key]++
				mu.Unlock()
				copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
				if err != nil {
					t.Error(err)
					return
				}
				close1(fd)
				close1(copied)
			}
		})
	}
	wg.Wait()
	for range workers * each {
		mu.Lock()
		key := <-closed
		if made[key]--; made[key] == 0 {
			delete(made, key)
		}
		mu.Unlock()
	}
	if len(made) != 0 {
		t.Errorf("%d handles were not reported the right number of times", len(made))
	}
	closed.none(t, h, "more reports than handles")
	closed.settle(t, h, before)
}

// settle waits until the watch has closed its ends: the report comes before that.
func (c closings) settle(t *testing.T, h *Host, files int) {
	t.Helper()
	for openFiles(t) > files {
		c.none(t, h, "while settling")
		if h.watch.count() == 0 && openFiles(t) > files {
			t.Fatalf("%d descriptors, want %d", openFiles(t), files)
		}
	}
}

func (w *watch) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.ends)
}

func TestStopClosesEverything(t *testing.T) {
	before := openFiles(t)
	h, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if _, st := h.Bells(1); !st.OK() {
		t.Fatal(st)
	}
	_, fd := handle(t, h) // its end is never reported: the watch was not started
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	e, st := h.Event(process(1000), event)
	if !st.OK() {
		t.Fatal(st)
	}
	e.Set()
	e.Close()
	close1(event)
	h.Stop()
	close1(fd)
	if n := openFiles(t); n != before {
		t.Errorf("%d descriptors after Stop, %d before New", n, before)
	}
}

// Settle tells of every handle that was closed before, and only of those, while others
// make, close and settle at once: numbers of descriptors come round all the time.
func TestSettleHammer(t *testing.T) {
	h, err := New()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	closed := map[object.Key]bool{}
	h.Start(func(k object.Key) {
		mu.Lock()
		defer mu.Unlock()
		closed[k] = true
	})
	defer h.Stop()
	gone := func(k object.Key) bool {
		mu.Lock()
		defer mu.Unlock()
		return closed[k]
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 2000 {
				key, fd, st := h.NewNTHandle()
				if !st.OK() {
					t.Error(st)
					return
				}
				mu.Lock()
				delete(closed, key) // of an earlier pipe with this inode
				mu.Unlock()
				h.Settle()
				if gone(key) {
					t.Error("told of a handle that is open")
				}
				h.Close(fd)
				h.Settle()
				if !gone(key) {
					t.Error("not told of a handle that was closed")
				}
			}
		})
	}
	all.Wait()
}
