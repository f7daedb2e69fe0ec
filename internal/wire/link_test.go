package wire

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// pair makes two connected links.
func pair(t *testing.T) (a, b *Link) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, b = NewLink(fds[0]), NewLink(fds[1])
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// openFiles counts the descriptors of this process.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestLinkMovesFrames(t *testing.T) {
	a, b := pair(t)
	buf := make([]byte, MaxFrame)
	for _, n := range []int{1, HeaderSize, 4096, MaxFrame} {
		sent := bytes.Repeat([]byte{byte(n), 3}, n)[:n]
		done := make(chan error)
		go func() { done <- a.Send(sent, nil) }()
		got, files, err := b.Receive(buf, nil)
		if err != nil || len(files) != 0 || !bytes.Equal(buf[:got], sent) {
			t.Fatalf("%d bytes: got %d, descriptors %v, %v", n, got, files, err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

func TestLinkMovesDescriptors(t *testing.T) {
	a, b := pair(t)
	before := openFiles(t)
	var sent []int
	for range MaxFiles {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, fd)
	}
	for count := range MaxFiles + 1 {
		if err := a.Send([]byte{1}, sent[:count]); err != nil {
			t.Fatal(err)
		}
		n, files, err := b.Receive(make([]byte, 16), nil)
		if n != 1 || len(files) != count || err != nil {
			t.Fatalf("%d descriptors: got %d bytes, %v, %v", count, n, files, err)
		}
		for i, fd := range files {
			var want, got unix.Stat_t
			flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
			if err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("descriptor %d of %d: flags %#x, %v", i, count, flags, err)
			}
			if unix.Fstat(sent[i], &want) != nil || unix.Fstat(fd, &got) != nil || want.Ino != got.Ino {
				t.Errorf("descriptor %d of %d is another file", i, count)
			}
		}
		CloseAll(files)
	}
	if err := a.Send([]byte{1}, make([]int, MaxFiles+1)); err != unix.EINVAL {
		t.Errorf("too many descriptors: %v", err)
	}
	CloseAll(sent)
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// TestLinkTruncation: what does not fit is an error and leaves no descriptor.
func TestLinkTruncation(t *testing.T) {
	a, b := pair(t)
	before := openFiles(t)
	fd := int(os.Stderr.Fd())
	send := func(size, files int) {
		t.Helper()
		fds := make([]int, files)
		for i := range fds {
			fds[i] = fd
		}
		if err := unix.Sendmsg(a.FD(), make([]byte, size), unix.UnixRights(fds...), nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, 64)
	send(65, 2)
	if _, files, err := b.Receive(buf, nil); err != ErrTruncated || len(files) != 0 {
		t.Errorf("long frame: %v, %v", files, err)
	}
	send(64, MaxFiles+1)
	if _, files, err := b.Receive(buf, nil); err != ErrTruncated || len(files) != 0 {
		t.Errorf("many descriptors: %v, %v", files, err)
	}
	if err := a.Send(nil, []int{fd}); err != nil {
		t.Fatal(err)
	}
	if _, files, err := b.Receive(buf, nil); err != io.EOF || len(files) != 0 {
		t.Errorf("empty message with a descriptor: %v, %v", files, err)
	}
	send(64, 1)
	if n, files, err := b.Receive(buf, nil); n != 64 || len(files) != 1 || err != nil {
		t.Errorf("a good one after them: %d, %v, %v", n, files, err)
	} else {
		CloseAll(files)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// TestLinkNoDescriptorsLeft: a process without free numbers gets the frame, knows
// that it lost descriptors, and has none of them open.
func TestLinkNoDescriptorsLeft(t *testing.T) {
	a, b := pair(t)
	fd := int(os.Stderr.Fd())
	before := openFiles(t)
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	// All numbers up to the highest in use are taken but one.
	top, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 200)
	if err != nil {
		t.Fatal(err)
	}
	var fill []int
	for {
		f, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if f > top {
			CloseAll([]int{f})
			break
		}
		fill = append(fill, f)
	}
	CloseAll(fill[len(fill)-1:])
	fill = fill[:len(fill)-1]
	if err := a.Send([]byte("frame"), []int{fd, fd, fd}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(top + 1), Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	n, files, err := b.Receive(buf, nil)
	if e := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); e != nil {
		t.Fatal(e)
	}
	if string(buf[:n]) != "frame" || len(files) != 0 || err != ErrFilesLost {
		t.Errorf("got %q, %v, %v", buf[:n], files, err)
	}
	CloseAll(append(fill, top))
	if after := openFiles(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// TestLinkEnds: hang-up, Shutdown from elsewhere, and a send that nobody reads.
func TestLinkEnds(t *testing.T) {
	t.Run("hang-up", func(t *testing.T) {
		a, b := pair(t)
		if err := a.Send([]byte("last"), nil); err != nil {
			t.Fatal(err)
		}
		a.Shutdown()
		buf := make([]byte, 8)
		if n, _, err := b.Receive(buf, nil); n != 4 || err != nil {
			t.Errorf("what was sent before: %d, %v", n, err)
		}
		if _, _, err := b.Receive(buf, nil); err != io.EOF {
			t.Errorf("after it: %v", err)
		}
		if err := b.Send(buf, nil); err != unix.EPIPE {
			t.Errorf("send: %v", err)
		}
	})
	t.Run("shutdown under a receiver", func(t *testing.T) {
		a, _ := pair(t)
		done := make(chan error)
		go func() {
			_, _, err := a.Receive(make([]byte, 8), nil)
			done <- err
		}()
		a.Shutdown()
		if err := <-done; err != io.EOF {
			t.Errorf("got %v", err)
		}
	})
	t.Run("shutdown under a sender", func(t *testing.T) {
		a, _ := pair(t)
		full, done := make(chan struct{}, 1), make(chan error)
		go func() {
			frame := make([]byte, 4096)
			for {
				if unread, _ := unix.IoctlGetInt(a.FD(), unix.SIOCOUTQ); unread > 100000 {
					select {
					case full <- struct{}{}:
					default:
					}
				}
				if err := a.Send(frame, nil); err != nil {
					done <- err
					return
				}
			}
		}()
		<-full
		a.Shutdown()
		if err := <-done; err != unix.EPIPE {
			t.Errorf("got %v", err)
		}
	})
}

func TestAddress(t *testing.T) {
	for _, c := range []struct{ socket, runtime, want string }{
		{"@name", "/run/user/1", "@name"},
		{"/x/y", "", "/x/y"},
		{"", "/run/user/1", "/run/user/1/dxgsync/socket"},
		{"", "", "/run/dxgsync/socket"},
	} {
		t.Setenv(SocketEnv, c.socket)
		t.Setenv("XDG_RUNTIME_DIR", c.runtime)
		if got := Address(); got != c.want {
			t.Errorf("%s=%q, XDG_RUNTIME_DIR=%q: got %s, want %s", SocketEnv, c.socket, c.runtime, got, c.want)
		}
	}
	for _, bad := range []string{"", string(make([]byte, 108))} {
		if _, err := Sockaddr(bad); !errors.Is(err, unix.EINVAL) {
			t.Errorf("address of %d bytes: %v", len(bad), err)
		}
	}
	if _, err := Connect(filepath.Join(t.TempDir(), "nobody")); !errors.Is(err, unix.ENOENT) {
		t.Errorf("connect to nobody: %v", err)
	}
}
