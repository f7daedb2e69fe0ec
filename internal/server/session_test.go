package server

import (
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/wire"
)

func TestHello(t *testing.T) {
	k := newFakeKernel(t)
	s := newServer(t, k, Limits{BellsAtHello: 4, Objects: 99})
	c, err := connect(t, s)
	if err != nil {
		t.Fatal(err)
	}
	r := request(abi.OpHello)
	rec := abi.View[abi.Hello](r.Record)
	rec.Version = 2
	c.must(r, abi.StatusInvalidParameter)
	rec.Version, rec.Flags = 1, 1
	c.must(r, abi.StatusInvalidParameter)
	rec.Flags, rec.Nonce = 0, [16]byte{1, 2, 3}
	c.must(r, abi.StatusSuccess)
	want := abi.Hello{
		Version: 1, Nonce: [16]byte{1, 2, 3}, PID: uint32(os.Getpid()), UID: uint32(os.Getuid()),
		Bells: tableLines, FirstBell: 1, BellCount: 4, MaxObjects: 99, KernelID: 77,
	}
	if *rec != want {
		t.Errorf("got %+v, want %+v", *rec, want)
	}
	var a, b unix.Stat_t
	if len(r.Out) != 1 || unix.Fstat(r.Out[0].FD, &a) != nil || unix.Fstat(k.bellFile, &b) != nil || a.Ino != b.Ino {
		t.Errorf("the bell table did not come: %v", r.Out)
	}
	c.drop(r)
	c.must(r, abi.StatusInvalidParameter) // a second time
}

func TestHelloMustBeFirst(t *testing.T) {
	s := newServer(t, newFakeKernel(t), Limits{})
	for _, op := range []*abi.Op{abi.OpCancelWait, abi.OpGrantBells, abi.OpSnapshot} {
		c, err := connect(t, s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.do(request(op)); err == nil {
			t.Errorf("%s was answered", op.Name)
		}
	}
}

// TestSessionsShareAProcess: same process id and nonce, one kernel process, which
// ends with the last session.
func TestSessionsShareAProcess(t *testing.T) {
	k := newFakeKernel(t)
	k.exited = make(chan *fakeProcess, 8)
	s := newServer(t, k, Limits{})
	a, b, c := dial(t, s, 1), dial(t, s, 1), dial(t, s, 2)
	attached := func(want int) {
		t.Helper()
		k.with(func() {
			if k.attached != want {
				t.Errorf("%d processes, want %d", k.attached, want)
			}
		})
	}
	attached(2)
	if st, h := dialAgain(t, s, 1); !st.OK() || h.BellCount != 0 || h.FirstBell != 0 {
		t.Errorf("a later session of a process: %v, %+v; the first one's bells are the process's", st, h)
	}
	a.link.Shutdown()
	b.must(request(abi.OpCancelWait), abi.StatusSuccess)
	c.link.Shutdown()
	second := <-k.exited
	b.must(request(abi.OpCancelWait), abi.StatusSuccess)
	b.link.Shutdown()
	if first := <-k.exited; first == second {
		t.Error("one process ended twice")
	}
	dial(t, s, 1)
	attached(3) // it did not join the dead
}

// dialAgain makes a session that hangs up at once.
func dialAgain(t *testing.T, s *Server, n byte) (abi.Status, abi.Hello) {
	t.Helper()
	c, err := connect(t, s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.link.Shutdown()
	return c.hello(n)
}

func TestStatusFromTheDoor(t *testing.T) {
	s := newServer(t, newFakeKernel(t), Limits{})
	c := dial(t, s, 1)
	unknown := &abi.Op{Nr: 0x7FFE, Name: "Unknown", Size: 8}
	c.must(&abi.Request{Op: unknown, Record: make([]byte, 8)}, abi.StatusNotSupported)
	wrong := &abi.Op{Nr: abi.OpCancelWait.Nr, Name: "CancelWait, too long", Size: 8}
	c.must(&abi.Request{Op: wrong, Record: make([]byte, 8)}, abi.StatusInvalidParameter)

	r := request(abi.OpEnumAdapters2)
	r.Arrays[0] = make([]byte, 40)
	r.Record[0] = 2
	c.must(r, abi.StatusSuccess)
	if r.Record[0] != 1 || r.Arrays[0][39] != 39 {
		t.Errorf("answer: %v %v", r.Record, r.Arrays[0])
	}
}

// TestMalformedFramesEndTheSession, and nothing they brought stays open.
func TestMalformedFramesEndTheSession(t *testing.T) {
	s := newServer(t, newFakeKernel(t), Limits{})
	dial(t, s, 9) // stays
	before := openFiles(t)
	for _, frame := range [][]byte{{1}, make([]byte, 24), make([]byte, 200), make([]byte, wire.MaxFrame+1)} {
		c := dial(t, s, 1)
		if err := unix.Sendmsg(c.link.FD(), frame, unix.UnixRights(0, 1, 2), nil, 0); err != nil {
			t.Fatal(err)
		}
		c.ends()
		c.link.Shutdown()
	}
	c := dial(t, s, 1)
	if err := unix.Sendmsg(c.link.FD(), []byte("x"), unix.UnixRights(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), nil, 0); err != nil {
		t.Fatal(err)
	}
	c.ends()
	if got := openFiles(t) - before; got != 5 { // our ends of the five
		t.Errorf("%d descriptors more than before, want 5", got)
	}
}

// TestDescriptors: what comes along is there during the call and closed after it;
// what is answered arrives, and the server keeps no copy.
func TestDescriptors(t *testing.T) {
	k := newFakeKernel(t)
	s := newServer(t, k, Limits{})
	c := dial(t, s, 1)
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(event)
	before := openFiles(t)
	wait := request(abi.OpWaitForSynchronizationObjectFromCpu)
	for range 3 {
		wait.Files[0] = event
		c.must(wait, abi.StatusSuccess)
	}
	var want unix.Stat_t
	if err := unix.Fstat(event, &want); err != nil {
		t.Fatal(err)
	}
	k.with(func() {
		if len(k.eventSeen) != 3 || k.eventSeen[0] != want.Ino {
			t.Errorf("the kernel saw %v, want %d three times", k.eventSeen, want.Ino)
		}
	})
	share := request(abi.OpShareObjects)
	for range 3 {
		c.must(share, abi.StatusSuccess)
		var b [8]byte
		if _, err := unix.Read(share.Out[0].FD, b[:]); err != nil || b[0] != 7 {
			t.Errorf("the answered descriptor: %v %v", b, err)
		}
		c.drop(share)
	}
	c.must(request(abi.OpCancelWait), abi.StatusSuccess) // everything before is done with
	if got := openFiles(t); got != before {
		t.Errorf("%d descriptors before, %d after", before, got)
	}
}

// TestNobodyReads: a peer that never reads blocks its own session only, and
// Close ends it all the same.
func TestNobodyReads(t *testing.T) {
	s := newServer(t, newFakeKernel(t), Limits{})
	bad, good := dial(t, s, 1), dial(t, s, 2)
	frame := make([]byte, wire.MaxFrame)
	n, _, _ := wire.EncodeRequest(frame, nil, request(abi.OpCancelWait))
	for { // until the server's answers fill its socket and our requests ours
		err := unix.Sendto(bad.link.FD(), frame[:n], unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, nil)
		if err == unix.EAGAIN {
			if unread, _ := unix.IoctlGetInt(bad.link.FD(), unix.SIOCINQ); unread > 0 && full(bad.link.FD()) {
				break
			}
			good.must(request(abi.OpCancelWait), abi.StatusSuccess)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		good.must(request(abi.OpCancelWait), abi.StatusSuccess)
	}
	s.Close()
	if _, err := good.do(request(abi.OpCancelWait)); err == nil {
		t.Error("answered after Close")
	}
}

// full reports whether a socket takes nothing more.
func full(fd int) bool {
	set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	n, err := unix.Poll(set, 0)
	return n == 0 && err == nil
}

// TestUnreadAnswers: descriptors do not pile up for a peer that asks on without
// reading.
func TestUnreadAnswers(t *testing.T) {
	s := newServer(t, newFakeKernel(t), Limits{})
	c := dial(t, s, 1)
	before := openFiles(t)
	frame := make([]byte, wire.MaxFrame)
	n, _, _ := wire.EncodeRequest(frame, nil, request(abi.OpShareObjects))
	for {
		if err := c.link.Send(frame[:n], nil); err != nil {
			break // hung up
		}
	}
	answers := 0
	for {
		_, files, err := c.link.Receive(c.buf[:], nil)
		wire.CloseAll(files)
		if err == unix.ECONNRESET {
			continue // it left while requests were unread; the answers follow
		}
		if err != nil {
			break
		}
		answers++
	}
	if answers != 1 {
		t.Errorf("%d answers with descriptors, want the first only", answers)
	}
	s.Close()
	if got := openFiles(t); got >= before {
		t.Errorf("%d descriptors before, %d after", before, got)
	}
}

func TestHalfClosed(t *testing.T) {
	k := newFakeKernel(t)
	k.exited = make(chan *fakeProcess, 2)
	s := newServer(t, k, Limits{})
	a := dial(t, s, 1)
	if err := unix.Shutdown(a.link.FD(), unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	<-k.exited
	b := dial(t, s, 1)
	if err := unix.Shutdown(b.link.FD(), unix.SHUT_RD); err != nil {
		t.Fatal(err)
	}
	if _, err := b.do(request(abi.OpCancelWait)); err != io.EOF && err != unix.EPIPE {
		t.Errorf("got %v", err)
	}
	<-k.exited
}
