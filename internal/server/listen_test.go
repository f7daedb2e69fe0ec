package server

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/wire"
)

// serve serves s on l until the test ends.
func serve(t *testing.T, s *Server, l *Listener) {
	t.Helper()
	var work sync.WaitGroup
	work.Go(func() {
		if err := s.Serve(l); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		s.Close()
		work.Wait()
		l.Close()
	})
}

// reach connects to address and says Hello.
func reach(t *testing.T, address string) *client {
	t.Helper()
	link, err := wire.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	c := &client{t: t, link: link}
	if st, _ := c.hello(1); !st.OK() {
		t.Fatal(st)
	}
	return c
}

func TestListen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "socket")
	l, err := Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{path: os.ModeSocket | 0o600, filepath.Dir(path): os.ModeDir | 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want mode %v", name, info.Mode(), err, want)
		}
	}
	if _, err := Listen(path, 0o600); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("a second listener: %v", err)
	}
	serve(t, newServer(t, newFakeKernel(t), Limits{}), l)
	reach(t, path).must(request(abi.OpCancelWait), abi.StatusSuccess)
}

func TestListenOverStaleSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	dead, err := Listen(path, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(dead.fd) // as its process died
	l, err := Listen(path, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("mode %v, %v: the umask must not matter", info.Mode(), err)
	}
	dead.fd = -1
	dead.Close() // must not remove what is another's now
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	l.Close()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket file stayed: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path, 0o600); !errors.Is(err, unix.EEXIST) {
		t.Errorf("over a plain file: %v", err)
	}
}

func TestListenAbstractAndPassed(t *testing.T) {
	name := "@dxgsync-test-" + filepath.Base(t.TempDir()) + t.Name()
	l, err := Listen(name, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := unix.Dup(l.fd)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	passed, err := Passed(copied)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, newServer(t, newFakeKernel(t), Limits{}), passed)
	reach(t, name).must(request(abi.OpCancelWait), abi.StatusSuccess)
	for _, fd := range []int{0, -1} {
		if _, err := Passed(fd); err == nil {
			t.Errorf("descriptor %d was taken for a listener", fd)
		}
	}
}

// TestNoDescriptorsLeft: whoever connects while the server has no descriptors is
// told so; the queue is emptied, and afterwards it goes on.
func TestNoDescriptorsLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	l, err := Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, newServer(t, newFakeKernel(t), Limits{}), l)
	inside := reach(t, path)

	var links []*wire.Link
	sa, _ := wire.Sockaddr(path)
	for range 3 {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		links = append(links, wire.NewLink(fd))
	}
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	var fill []int
	top := highest(t)
	for {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		fill = append(fill, fd)
		if fd > top {
			top = fd
			break
		}
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(top + 1), Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if err := unix.Connect(link.FD(), sa); err != nil {
			t.Error(err)
			continue
		}
		c := &client{t: t, link: link}
		if st, err := c.answer(request(abi.OpHello)); err != nil || st != abi.StatusNoMemory {
			t.Errorf("told %v, %v", st, err)
		}
	}
	inside.must(request(abi.OpCancelWait), abi.StatusSuccess)
	share := request(abi.OpShareObjects)
	inside.must(share, abi.StatusNoMemory) // the fake kernel makes a descriptor
	wait := request(abi.OpWaitForSynchronizationObjectFromCpu)
	wait.Files[0] = 0
	inside.must(wait, abi.StatusNoMemory) // the server has no number for it
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	wire.CloseAll(fill)
	for _, link := range links {
		link.Close()
	}
	reach(t, path).must(wait, abi.StatusSuccess)
}

// highest is the highest descriptor number in use.
func highest(t *testing.T) (top int) {
	t.Helper()
	for fd := range 4096 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			top = fd
		}
	}
	return top
}
