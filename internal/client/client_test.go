package client

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/server"
)

const highest = 1<<64 - 1

// must stops the test on an error.
func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestFenceOverTheSocket(t *testing.T) {
	_, address := newDaemon(t, server.Limits{})
	c := dial(t, address)
	if c.KernelID() != 5 || c.MaxObjects() != 65536 {
		t.Errorf("kernel %d, %d objects", c.KernelID(), c.MaxObjects())
	}
	device := must(newDevice(c))(t)
	for name, flags := range map[string]abi.SyncObjectFlags{"private": 0, "shared": sharable} {
		t.Run(name, func(t *testing.T) {
			f := must(newFence(c, device, flags, 3))(t)
			if got := f.view.Cell.Value(); got != 3 {
				t.Fatalf("value %d", got)
			}
			if st := f.signal(5); st != abi.StatusSuccess || f.view.Cell.Value() != 5 {
				t.Errorf("signal: %v, value %d", st, f.view.Cell.Value())
			}
			if st := f.signal(4); st != abi.StatusInvalidParameter {
				t.Errorf("lower: %v", st)
			}
			if st := f.await(5); st != abi.StatusSuccess {
				t.Errorf("satisfied wait: %v", st)
			}
			done := make(chan abi.Status)
			go func() { done <- f.await(9) }()
			if st := f.raise(9); !st.OK() {
				t.Errorf("raise: %v", st)
			}
			if st := <-done; st != abi.StatusSuccess {
				t.Errorf("wait: %v", st)
			}
			f.release()
			if st := destroy(c, f.handle); !st.OK() {
				t.Errorf("destroy: %v", st)
			}
			if st := f.signal(10); st != abi.StatusInvalidParameter {
				t.Errorf("signal after destroy: %v", st)
			}
		})
	}
}

func destroy(c *Conn, h abi.Handle) abi.Status {
	_, st := call(c, abi.OpDestroySynchronizationObject, &abi.DestroySynchronizationObject{HSyncObject: h}, nil)
	return st
}

// TestAsyncEvent: the eventfd crosses the socket, and the daemon keeps its own copy.
func TestAsyncEvent(t *testing.T) {
	_, address := newDaemon(t, server.Limits{})
	c := dial(t, address)
	device := must(newDevice(c))(t)
	f := must(newFence(c, device, 0, 0))(t)
	event := must(unix.Eventfd(0, unix.EFD_CLOEXEC))(t)
	defer unix.Close(event)
	wait := func(v uint64, fd int) abi.Status {
		rec := abi.WaitForSynchronizationObjectFromCpu{HDevice: device, ObjectCount: 1}
		_, st := call(c, abi.OpWaitForSynchronizationObjectFromCpu, &rec, [][]byte{f.handles(), binary.LittleEndian.AppendUint64(nil, v)}, fd)
		return st
	}
	if st := wait(2, event); st != abi.StatusSuccess {
		t.Fatalf("wait: %v", st)
	}
	if st := f.raise(2); !st.OK() {
		t.Fatalf("raise: %v", st)
	}
	var b [8]byte
	if _, err := unix.Read(event, b[:]); err != nil || b[0] != 1 {
		t.Errorf("event: %v, %v", b, err)
	}
	if st := wait(3, 12345); st != abi.StatusInvalidHandle {
		t.Errorf("no descriptor: %v", st)
	}
	if st := f.signal(3); st != abi.StatusSuccess {
		t.Errorf("the session after it: %v", st)
	}
}

// TestTwoProcesses: a fence goes back and forth between two processes, one waiting in
// the kernel, the other signalling by memory, and the other way round.
func TestTwoProcesses(t *testing.T) {
	_, address := newDaemon(t, server.Limits{})
	c := dial(t, address)
	device := must(newDevice(c))(t)
	f := must(newFence(c, device, sharable, 0))(t)
	fd := must(f.share())(t)
	file := os.NewFile(uintptr(fd), "fence")
	p, _ := start(t, "signaler", []*os.File{file}, address)
	file.Close()
	for v := uint64(1); v < 2000; v += 2 {
		if st := f.raise(v); !st.OK() {
			t.Fatalf("signal %d: %v", v, st)
		}
		if st := f.await(v + 1); !st.OK() {
			t.Fatalf("wait for %d: %v", v+1, st)
		}
	}
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestClientKilled: the fences of a process that is killed go to the highest value,
// and whoever waits is released.
func TestClientKilled(t *testing.T) {
	_, address := newDaemon(t, server.Limits{})
	c := dial(t, address)
	device := must(newDevice(c))(t)
	for range 20 {
		fds := must(unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0))(t)
		theirs := os.NewFile(uintptr(fds[1]), "socket")
		p, _ := start(t, "creator", []*os.File{theirs}, address)
		theirs.Close()
		oob := make([]byte, 64)
		_, n, _, _, err := unix.Recvmsg(fds[0], make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		messages := must(unix.ParseSocketControlMessage(oob[:n]))(t)
		got := must(unix.ParseUnixRights(&messages[0]))(t)
		f := must(openFence(c, device, got[0]))(t)
		_ = unix.Close(got[0])
		_ = unix.Close(fds[0])
		done := make(chan abi.Status)
		go func() { done <- f.await(100) }()
		p.kill()
		if st := <-done; st != abi.StatusSuccess || f.view.Cell.Value() != highest {
			t.Fatalf("wait: %v, value %#x", st, f.view.Cell.Value())
		}
		f.release()
	}
}

// TestDaemonKilled: every waiter is released, every value is the highest, read-only
// views included, and every call answers DEVICE_REMOVED.
func TestDaemonKilled(t *testing.T) {
	for range 10 {
		address := filepath.Join(t.TempDir(), "socket")
		p, _ := start(t, "daemon", nil, address)
		c := dial(t, address)
		device := must(newDevice(c))(t)
		private := must(newFence(c, device, 0, 0))(t)
		shared := must(newFence(c, device, sharable, 0))(t)
		released := must(newFence(c, device, sharable, 7))(t)
		released.release()
		viewed := viewOnly(t, shared)

		told := make(chan struct{})
		c.OnDeath(func() { close(told) })
		done := make(chan abi.Status)
		for _, f := range []*fence{private, shared} {
			go func() { done <- f.await(10) }()
		}
		p.kill()
		for range 2 {
			if st := <-done; st != abi.StatusDeviceRemoved {
				t.Errorf("wait: %v", st)
			}
		}
		<-told
		<-c.Dead()
		for name, f := range map[string]*fence{"private": private, "shared": shared, "read-only": viewed} {
			if got := f.view.Cell.Value(); got != highest {
				t.Errorf("%s value %#x", name, got)
			}
		}
		if got := released.view.Cell.Value(); got != 7 {
			t.Errorf("a released view has value %#x, must be left alone", got)
		}
		if st := private.signal(highest); st != abi.StatusDeviceRemoved {
			t.Errorf("signal: %v", st)
		}
		late := false
		c.OnDeath(func() { late = true })
		if !c.IsDead() || !late {
			t.Error("a late listener was not called")
		}
		if err := c.Close(); err != ErrClosed {
			t.Errorf("close: %v", err)
		}
	}
}

// viewOnly maps the page of f as a process of another user would get it.
func viewOnly(t *testing.T, f *fence) *fence {
	t.Helper()
	rec := abi.OpenSyncObjectFromNtHandle2{HDevice: f.device}
	fd := must(f.share())(t)
	defer unix.Close(fd)
	r, st := call(f.c, abi.OpOpenSyncObjectFromNtHandle2, &rec, nil, fd)
	if !st.OK() {
		t.Fatal(st)
	}
	r.Grant.Writable = 0
	return must(mapFence(f.c, f.device, rec.HSyncObject, r))(t)
}

func TestClose(t *testing.T) {
	_, address := newDaemon(t, server.Limits{})
	if err := dial(t, address).Close(); err != nil { // the daemon has its bell table now
		t.Error(err)
	}
	before := openFiles(t)
	c := dial(t, address)
	f := must(newFence(c, must(newDevice(c))(t), sharable, 0))(t)
	done := make(chan abi.Status)
	go func() { done <- f.await(10) }()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if st := <-done; st != abi.StatusDeviceRemoved {
		t.Errorf("wait: %v", st)
	}
	if st := f.signal(1); st != abi.StatusDeviceRemoved {
		t.Errorf("signal: %v", st)
	}
	// The daemon, in this process too, closes its ends just after ours.
	for range 1_000_000 {
		if openFiles(t) <= before {
			return
		}
	}
	t.Errorf("%d descriptors before, %d after", before, openFiles(t))
}

func openFiles(t testing.TB) int {
	t.Helper()
	return len(must(os.ReadDir("/proc/self/fd"))(t))
}

// TestSlabAskedFor: the answer that brought a slab may be another caller's, who has
// not looked at it yet.
func TestSlabAskedFor(t *testing.T) {
	_, address := newDaemon(t, server.Limits{})
	c := dial(t, address)
	device := must(newDevice(c))(t)
	before := must(newFence(c, device, 0, 1))(t)
	c.memory.mu.Lock()
	clear(c.memory.slabs)
	c.memory.mu.Unlock()
	after := must(newFence(c, device, 0, 2))(t)
	if got := after.view.Cell.Value(); got != 2 {
		t.Errorf("value %d", got)
	}
	if st := before.signal(3); !st.OK() || after.view.Cell.Value() != 2 {
		t.Errorf("the fence before it: %v, and value %d after it", st, after.view.Cell.Value())
	}
	if _, st := call(c, abi.OpSlabFile, &abi.SlabFile{Slab: 1}, nil); st != abi.StatusInvalidParameter {
		t.Errorf("no such slab: %v", st)
	}
}

// TestManyCallers: calls of many goroutines, rings among them, on few sessions.
func TestManyCallers(t *testing.T) {
	d, address := newDaemon(t, server.Limits{})
	c := dial(t, address)
	device := must(newDevice(c))(t)
	var work sync.WaitGroup
	for range 16 {
		work.Go(func() {
			f, err := newFence(c, device, 0, 0)
			if err != nil {
				t.Error(err)
				return
			}
			for v := uint64(1); v < 200; v++ {
				if st := f.signal(v); !st.OK() {
					t.Errorf("signal: %v", st)
				}
				if _, st := call(c, abi.OpRing, &abi.Ring{Count: 1}, [][]byte{f.handles()}); !st.OK() {
					t.Errorf("ring: %v", st)
				}
				if got := f.view.Cell.Value(); got != v {
					t.Errorf("value %d, want %d", got, v)
				}
			}
			if st := destroy(c, f.handle); !st.OK() {
				t.Errorf("destroy: %v", st)
			}
		})
	}
	work.Wait()
	if n := d.Sessions(); n > callSessions+1 {
		t.Errorf("%d sessions", n)
	}
}

// TestOneSessionAllowed: a daemon that allows no more sessions is served by one.
func TestOneSessionAllowed(t *testing.T) {
	d, address := newDaemon(t, server.Limits{Sessions: 1})
	c := dial(t, address)
	device := must(newDevice(c))(t)
	f := must(newFence(c, device, 0, 0))(t)
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for range 50 {
				if st := f.signal(1); !st.OK() {
					t.Errorf("signal: %v", st)
				}
			}
		})
	}
	work.Wait()
	if n := d.Sessions(); n != 1 {
		t.Errorf("%d sessions", n)
	}
	if _, err := Dial(address); !errors.Is(err, abi.StatusNoMemory) {
		t.Errorf("another process: %v", err)
	}
}

func TestBells(t *testing.T) {
	_, address := newDaemon(t, server.Limits{BellsPerProcess: 100})
	c := dial(t, address)
	seen := map[uint32]bool{}
	for range 100 {
		n, st := c.AllocBell()
		if !st.OK() || n == 0 || seen[n] {
			t.Fatalf("line %d after %d others: %v", n, len(seen), st)
		}
		seen[n] = true
	}
	if _, st := c.AllocBell(); st != abi.StatusNoMemory {
		t.Errorf("one more: %v", st)
	}
	c.FreeBell(17)
	if n, st := c.AllocBell(); n != 17 || !st.OK() {
		t.Errorf("a line given back: got %d, %v", n, st)
	}
}

// TestRingNeverWaits: with every session for calls in use there is one for Ring; a
// call waits for its turn, and learns of the death of the daemon there too.
func TestRingNeverWaits(t *testing.T) {
	_, address := newDaemon(t, server.Limits{})
	c := dial(t, address)
	f := must(newFence(c, must(newDevice(c))(t), 0, 0))(t)
	var used []*session
	for range callSessions {
		used = append(used, c.take(false))
	}
	for range 3 {
		if _, st := call(c, abi.OpRing, &abi.Ring{Count: 1}, [][]byte{f.handles()}); !st.OK() {
			t.Errorf("ring: %v", st)
		}
	}
	done := make(chan abi.Status)
	go func() { done <- f.signal(1) }()
	c.put(used[0])
	if st := <-done; !st.OK() {
		t.Errorf("signal: %v", st)
	}
	used[0] = c.take(false)
	go func() { done <- f.signal(2) }()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if st := <-done; st != abi.StatusDeviceRemoved {
		t.Errorf("signal of a closed connection: %v", st)
	}
	for _, s := range used {
		c.put(s)
	}
	if len(c.open)+len(c.idle) != 0 {
		t.Errorf("%d sessions open, %d idle", len(c.open), len(c.idle))
	}
}
