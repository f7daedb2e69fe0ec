package server

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/wire"
)

// roles are what the test binary plays when it is started again.
var roles = map[string]func(args []string) error{
	"holder": holder,
	"idle":   idle,

	"somebody": beSomebody,
}

// holder opens a session, starts a child that inherits the socket, says so, and
// waits to be killed.
func holder(args []string) error {
	link, err := wire.Connect(args[0])
	if err != nil {
		return err
	}
	r := request(abi.OpHello)
	abi.View[abi.Hello](r.Record).Version = 1
	c := &client{link: link}
	if st, err := c.do(r); err != nil || !st.OK() {
		return fmt.Errorf("hello: %v, %v", st, err)
	}
	socket, err := unix.Dup(link.FD())
	if err != nil {
		return err
	}
	child := exec.Command("/proc/self/exe")
	child.Env = append(os.Environ(), "DXGSYNC_TEST_ROLE=idle")
	child.ExtraFiles = []*os.File{os.NewFile(uintptr(socket), "socket")}
	child.Stdin = os.Stdin // ends when the test does
	child.Stdout = os.Stdout
	if err := child.Start(); err != nil {
		return err
	}
	return child.Wait()
}

// idle says that it is there and stays until its standard input ends.
func idle([]string) error {
	fmt.Println("ready")
	_, err := bufio.NewReader(os.Stdin).ReadByte()
	_ = err // the end of input is what it waits for
	return nil
}

// TestForkedChildHoldsTheSocket: the session ends with the process that made it,
// although its socket stays open in a child.
func TestForkedChildHoldsTheSocket(t *testing.T) {
	k := newFakeKernel(t)
	k.exited = make(chan *fakeProcess, 1)
	path := filepath.Join(t.TempDir(), "socket")
	l, err := Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, newServer(t, k, Limits{}), l)

	hold, input, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	output, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	parent := exec.Command("/proc/self/exe", path)
	parent.Env = append(os.Environ(), "DXGSYNC_TEST_ROLE=holder")
	parent.Stdin, parent.Stdout, parent.Stderr = hold, theirs, os.Stderr
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	hold.Close()
	theirs.Close()
	if line, err := bufio.NewReader(output).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the child said %q, %v", line, err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if p := <-k.exited; p.peer.PID != parent.Process.Pid {
		t.Errorf("process %d ended, want %d", p.peer.PID, parent.Process.Pid)
	}
	if err := parent.Wait(); err == nil {
		t.Error("the parent was not killed")
	}
}

// TestCloseLeavesNothing: sessions in every state, then Close.
func TestCloseLeavesNothing(t *testing.T) {
	before := openFiles(t)
	func() {
		k := newFakeKernel(t)
		s, err := New(Config{Backend: k})
		if err != nil {
			t.Fatal(err)
		}
		var links []*wire.Link
		for i := range 20 {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			c := &client{t: t, link: wire.NewLink(fds[0])}
			links = append(links, c.link)
			if err := s.Adopt(fds[1]); err != nil {
				t.Fatal(err)
			}
			switch i % 4 {
			case 0: // never says Hello
			case 1:
				c.hello(byte(i))
			case 2: // asks and does not read
				c.hello(1)
				n, _, _ := wire.EncodeRequest(c.buf[:], nil, request(abi.OpShareObjects))
				_ = c.link.Send(c.buf[:n], nil)
			case 3: // has left
				c.hello(2)
				c.link.Shutdown()
			}
		}
		s.Close()
		s.Close()
		if got := s.Sessions(); got != 0 {
			t.Errorf("%d sessions after Close", got)
		}
		if c, err := connect(t, s); err != ErrClosed {
			t.Errorf("Adopt after Close: %v", err)
		} else {
			c.link.Shutdown()
		}
		for _, l := range links {
			l.Close()
		}
	}()
	if got := openFiles(t); got != before+2 { // the fake's bell file, the refused link
		t.Errorf("%d descriptors before, %d after; want 2 more", before, got)
	}
}
