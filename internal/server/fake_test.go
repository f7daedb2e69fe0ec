package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/wire"
)

// A fakeKernel is the smallest backend: it answers a few calls and checks that the
// server keeps its promises. What breaks one is in errs.
type fakeKernel struct {
	bellFile int

	mu        sync.Mutex
	live      map[*fakeProcess]struct{}
	attached  int // ever
	refuse    abi.Status
	exited    chan *fakeProcess // every Exit, if not nil
	listing   string
	errs      []error
	eventSeen []uint64 // inodes of descriptors that came with a wait
}

type fakeProcess struct {
	k     *fakeKernel
	peer  Peer
	bells lines
	gone  bool
}

func newFakeKernel(t *testing.T) *fakeKernel {
	t.Helper()
	fd, err := unix.MemfdCreate("bells", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	k := &fakeKernel{bellFile: fd, live: map[*fakeProcess]struct{}{}, listing: "{}"}
	t.Cleanup(func() {
		_ = unix.Close(fd)
		k.mu.Lock()
		defer k.mu.Unlock()
		if len(k.live) != 0 {
			k.errs = append(k.errs, fmt.Errorf("%d processes never ended", len(k.live)))
		}
		for _, err := range k.errs {
			t.Error(err)
		}
	})
	return k
}

func (k *fakeKernel) failf(format string, args ...any) {
	k.errs = append(k.errs, fmt.Errorf(format, args...))
}

// with runs f while the kernel stands still.
func (k *fakeKernel) with(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f()
}

func (k *fakeKernel) Attach(p Peer) (Process, abi.Status) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.refuse.OK() {
		return nil, k.refuse
	}
	f := &fakeProcess{k: k, peer: p}
	k.live[f] = struct{}{}
	k.attached++
	return f, abi.StatusSuccess
}

func (k *fakeKernel) BellFile(uint32) (int, abi.Status) { return k.bellFile, abi.StatusSuccess }

func (k *fakeKernel) Snapshot(uid uint32, all bool) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.listing == "" {
		return nil, errors.New("nothing to list")
	}
	return fmt.Appendf(nil, "%s %d %v", k.listing, uid, all), nil
}

func (k *fakeKernel) Provoke(f abi.ProvokeFault) ([]byte, abi.Status) {
	if f.Kind != abi.FaultReset {
		return nil, abi.StatusInvalidParameter
	}
	return fmt.Appendf(nil, "%v %d %v", f.Kind, f.PID, f.Handle), abi.StatusSuccess
}

func (k *fakeKernel) FenceLog(q abi.FenceLog, uid uint32, all bool) ([]byte, abi.Status) {
	if q.PID == 0 && q.Handle != 0 {
		return nil, abi.StatusInvalidParameter
	}
	return fmt.Appendf(nil, "log %d %v %d %v", q.PID, q.Handle, uid, all), abi.StatusSuccess
}

func (p *fakeProcess) Bells(first, count uint32) {
	p.k.mu.Lock()
	defer p.k.mu.Unlock()
	for q := range p.k.live {
		for n := first; n < first+count; n++ {
			if q.bells.has(n) || n == 0 {
				p.k.failf("bell %d was granted twice", n)
			}
		}
	}
	p.bells.addRange(first, count)
}

func (p *fakeProcess) Exit() {
	p.k.mu.Lock()
	defer p.k.mu.Unlock()
	if p.gone {
		p.k.failf("a process ended twice")
	}
	p.gone = true
	delete(p.k.live, p)
	if p.k.exited != nil {
		p.k.exited <- p
	}
}

// Do: a wait tells which descriptor came, ShareObjects answers a new one, enumeration
// writes its array, CancelWait is the empty call. Everything else is NOT_SUPPORTED.
func (p *fakeProcess) Do(r *abi.Request) abi.Status {
	p.k.mu.Lock()
	defer p.k.mu.Unlock()
	if p.gone {
		p.k.failf("a request after the end")
	}
	for _, fd := range r.Files {
		var st unix.Stat_t
		if fd >= 0 {
			if err := unix.Fstat(fd, &st); err != nil {
				p.k.failf("descriptor %d of %s: %w", fd, r.Op.Name, err)
			}
			p.k.eventSeen = append(p.k.eventSeen, st.Ino)
		}
	}
	switch r.Op {
	case abi.OpCancelWait, abi.OpWaitForSynchronizationObjectFromCpu:
		return abi.StatusSuccess
	case abi.OpShareObjects:
		fd, err := unix.Eventfd(7, unix.EFD_CLOEXEC)
		if err != nil {
			return abi.StatusNoMemory
		}
		r.Out = append(r.Out, abi.OutFile{FD: fd})
		return abi.StatusSuccess
	case abi.OpEnumAdapters2:
		for i := range r.Arrays[0] {
			r.Arrays[0][i] = byte(i)
		}
		binary.LittleEndian.PutUint32(r.Record, 1)
		return abi.StatusSuccess
	}
	return abi.StatusNotSupported
}

// newServer makes a server on a fake kernel that is closed, and all it held gone,
// when the test ends.
func newServer(t *testing.T, k *fakeKernel, limits Limits) *Server {
	t.Helper()
	s, err := New(Config{Backend: k, Limits: limits, KernelID: 77})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// A client is the other end of a session, by hand.
type client struct {
	t    testing.TB
	link *wire.Link
	buf  [wire.MaxFrame]byte
}

// connect makes a session without Hello.
func connect(t testing.TB, s *Server) (*client, error) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, link: wire.NewLink(fds[0])}
	t.Cleanup(c.link.Close)
	return c, s.Adopt(fds[1])
}

// dial makes a session and says Hello.
func dial(t testing.TB, s *Server, n byte) *client {
	t.Helper()
	c, err := connect(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if st, _ := c.hello(n); !st.OK() {
		t.Fatal(st)
	}
	return c
}

// hello says Hello with a nonce of n's.
func (c *client) hello(n byte) (abi.Status, abi.Hello) {
	c.t.Helper()
	r := helloRequest(n)
	st, err := c.do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	c.drop(r)
	return st, *abi.View[abi.Hello](r.Record)
}

// helloRequest is Hello with a nonce of n's.
func helloRequest(n byte) *abi.Request {
	r := request(abi.OpHello)
	rec := abi.View[abi.Hello](r.Record)
	rec.Version, rec.Nonce[0] = 1, n
	return r
}

// drop closes what a request answered.
func (c *client) drop(r *abi.Request) {
	for _, f := range r.Out {
		_ = unix.Close(f.FD)
	}
	r.Out = nil
}

// request makes a request with empty arrays and no descriptors.
func request(op *abi.Op) *abi.Request {
	r := &abi.Request{Op: op, Record: make([]byte, op.Size), Arrays: make([][]byte, len(op.Arrays))}
	for _, f := range op.Files {
		if f.Dir != abi.Out {
			r.Files = append(r.Files, abi.FileNone)
		}
	}
	return r
}

// do sends a request and reads its answer.
func (c *client) do(r *abi.Request) (abi.Status, error) {
	n, files, st := wire.EncodeRequest(c.buf[:], nil, r)
	if !st.OK() {
		return st, nil
	}
	if err := c.link.Send(c.buf[:n], files); err != nil {
		return 0, err
	}
	return c.answer(r)
}

func (c *client) answer(r *abi.Request) (abi.Status, error) {
	n, files, err := c.link.Receive(c.buf[:], nil)
	if err != nil {
		return 0, err
	}
	return wire.DecodeReply(c.buf[:n], files, r)
}

// must does a request and wants its status.
func (c *client) must(r *abi.Request, want abi.Status) {
	c.t.Helper()
	if st, err := c.do(r); err != nil || st != want {
		c.t.Fatalf("%s: %v, %v; want %v", r.Op.Name, st, err, want)
	}
}

// ends wants the server to have hung up.
func (c *client) ends() {
	c.t.Helper()
	for {
		_, files, err := c.link.Receive(c.buf[:], nil)
		wire.CloseAll(files)
		if err != nil && err != wire.ErrFilesLost {
			return
		}
	}
}

// openFiles lists the descriptors of this process.
func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// SlabFile knows one slab, 0.
func (p *fakeProcess) SlabFile(slab uint32) (int, abi.Status) {
	if slab != 0 {
		return -1, abi.StatusInvalidParameter
	}
	fd, err := unix.MemfdCreate("slab", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, abi.StatusNoMemory
	}
	return fd, abi.StatusSuccess
}
