package server

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/object"
)

// TestGuessing: who tries numbers, at random and beside his own, comes upon nothing of
// anybody else's.
func TestGuessing(t *testing.T) {
	const guesses = 100_000
	handles, numbers := rand.New(rand.NewPCG(1, 0)), rand.New(rand.NewPCG(2, 0))
	_, path := public(t, kernel.Config{Random: handles.Uint32})
	owner, guesser := pair(t, path)
	for range 20 {
		if _, _, st := owner.create(owner.device, abi.Semaphore, abi.SyncObjectShared); !st.OK() {
			t.Fatal(st)
		}
	}
	_, own, st := guesser.create(guesser.device, abi.Semaphore, abi.SyncObjectShared)
	if !st.OK() {
		t.Fatal(st)
	}
	for i := range guesses {
		g := abi.Handle(numbers.Uint32()&^0x3F | 2)
		if i%2 == 0 {
			g = own + abi.Handle(i/2-guesses/4)*0x40
		}
		h, st := guesser.openGlobal(g)
		switch {
		case g == own && st.OK():
			_ = guesser.destroy(h)
		case g == own || st != abi.StatusInvalidParameter:
			t.Fatalf("guess %d, %#x: %v; own is %#x", i, g, st, own)
		}
	}
}

// TestDescriptorsThatAreNone: what is sent as an NT handle and is none, or is one in a
// strange state, or comes twice.
func TestDescriptorsThatAreNone(t *testing.T) {
	_, path := public(t, kernel.Config{})
	owner, other := pair(t, path)
	h, _, _ := owner.create(owner.device, abi.Semaphore, ntShared)
	shared, st := owner.share("", nil, object.GenericAll, h)
	if !st.OK() {
		t.Fatal(st)
	}
	defer unix.Close(shared)
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(event)
	// Only who may open the pipe's inode, the daemon's user, comes by its read end.
	back, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", shared), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(back)
	for what, fd := range map[string]int{"a pipe's write end": pipe[1], "its read end": pipe[0], "an event": event, "the handle's read end": back} {
		if _, _, st := other.open(other.device, fd); st != abi.StatusObjectTypeMismatch {
			t.Errorf("%s: %v", what, st)
		}
	}
	opens := func(when string) {
		t.Helper()
		view, _, st := other.open(other.device, shared)
		if !st.OK() {
			t.Errorf("%s: %v", when, st)
			return
		}
		if st := other.destroy(view); !st.OK() {
			t.Error(st)
		}
	}
	opens("at first")
	opens("a second time")
	for range 100 {
		if _, err := unix.Write(shared, make([]byte, 4096)); err != nil {
			break
		}
	}
	opens("full")
	if _, err := unix.FcntlInt(uintptr(shared), unix.F_SETPIPE_SZ, 1<<18); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := unix.Write(shared, make([]byte, 4096)); err != nil {
			break
		}
	}
	opens("large and full")

	// Two where one is told of: that is no frame, and costs the session.
	r := request(abi.OpOpenSyncObjectFromNtHandle2)
	abi.View[abi.OpenSyncObjectFromNtHandle2](r.Record).HDevice = other.device
	r.Files[0] = shared
	frame := frameOf(t, r)
	if err := other.link.Send(frame, []int{shared, shared}); err != nil {
		t.Fatal(err)
	}
	other.ends()
	if st := owner.destroy(h); !st.OK() {
		t.Error("the owner: ", st)
	}
}

// A greed is a way to take all that there is of something. It answers the status of
// one more, in a process that keeps what it has got.
type greed struct {
	limits kernel.Limits
	take   func(s *someone, i int) abi.Status
	most   int // what one user may have
}

// keep closes a descriptor when the test ends.
func (s *someone) keep(fd int, st abi.Status) abi.Status {
	if st.OK() {
		s.kept = append(s.kept, fd)
	}
	return st
}

var greeds = map[string]greed{
	"NT handles": {kernel.Limits{NTHandles: 16}, func(s *someone, _ int) abi.Status {
		return s.keep(s.share("", nil, object.GenericAll, s.one))
	}, 12},
	"NT handles by name": {kernel.Limits{NTHandles: 16}, func(s *someone, i int) abi.Status {
		if i == 0 {
			return s.keep(s.share(fmt.Sprint("name ", s.uid, s.cmd.Process.Pid), nil, object.GenericAll, s.one))
		}
		return s.keep(s.byName(fmt.Sprint("name ", s.uid, s.cmd.Process.Pid), object.GenericAll))
	}, 12},
	"bytes of names": {kernel.Limits{}, func(s *someone, i int) abi.Status {
		name := fmt.Sprint(s.uid, " ", s.cmd.Process.Pid, " ", i, " ")
		name += strings.Repeat("x", object.MaxNameUnits-len(`\BaseNamedObjects\`)-len(name))
		return s.keep(s.share(name, nil, object.GenericAll, s.one))
	}, object.MaxNameBytes / 4 * 3 / (2 * object.MaxNameUnits)},
	"global handles": {kernel.Limits{GlobalHandles: 16}, func(s *someone, _ int) abi.Status {
		_, _, st := s.create(s.device, abi.SynchronizationMutex, abi.SyncObjectShared)
		return st
	}, 12},
	"keyed mutexes": {kernel.Limits{GlobalHandles: 16}, func(s *someone, _ int) abi.Status {
		return s.ask(request(abi.OpCreateKeyedMutex))
	}, 12},
	"shared resources": {kernel.Limits{GlobalHandles: 16}, func(s *someone, _ int) abi.Status {
		return resourceOf(s, abi.AllocationCreateShared, 0)
	}, 12},
	"private data": {kernel.Limits{Data: 10 * (1000 + 64)}, func(s *someone, _ int) abi.Status {
		return resourceOf(s, 0, 1000)
	}, 10},
	"allocations": {kernel.Limits{Data: 10 * 64}, func(s *someone, _ int) abi.Status {
		return resourceOf(s, 0, 0)
	}, 10},
	"handles": {kernel.Limits{Handles: 12}, func(s *someone, _ int) abi.Status {
		_, _, st := s.create(s.device, abi.Semaphore, 0)
		return st
	}, 12 - 2}, // less the device and the first object
	"native fences": {kernel.Limits{GPUObjects: 16}, func(s *someone, _ int) abi.Status {
		return s.keep(func() (int, abi.Status) {
			_, memory, st := s.createNative(s.device, ntShared)
			return memory, st
		}())
	}, 12},
	"packed native fences": {kernel.Limits{GPUObjects: 16}, func(s *someone, _ int) abi.Status {
		_, _, st := s.createNative(s.device, 0)
		return st
	}, 12},
	"doorbells": {kernel.Limits{GPUObjects: 32}, func(s *someone, i int) abi.Status {
		if i == 0 {
			s.gpu = makeGPUSet(s.openAdapter(), s.mustDo)
			paged(s.daemon)
		}
		r := request(abi.OpCreateHwQueueForUserModeSubmission)
		rec := abi.View[abi.CreateHwQueueForUserModeSubmission](r.Record)
		rec.HHwContext, rec.HRingBuffer = s.gpu.home, s.gpu.allocation
		st := s.ask(r)
		closeFiles(r)
		return st
	}, 24 - 2}, // less the two queues of the set
	"turns": {kernel.Limits{Waits: 5}, func(s *someone, i int) abi.Status {
		r := request(abi.OpAcquireKeyedMutex)
		rec := abi.View[abi.AcquireKeyedMutex](r.Record)
		rec.HKeyedMutex, rec.Key = s.mutex, 1 // which nobody ever releases
		r.Bell, r.Ticket = s.bell+uint32(i), s.bell+uint32(i)
		if st := s.ask(r); st != abi.StatusPending {
			return st
		}
		return abi.StatusSuccess
	}, 5},
}

// all takes until there is nothing more.
func (g greed) all(s *someone) (n int) {
	for ; n <= g.most; n++ {
		if st := g.take(s, n); st != abi.StatusSuccess {
			if st != abi.StatusNoMemory {
				s.t.Errorf("number %d: %v", n, st)
			}
			return n
		}
	}
	return n
}

// TestGreed: of everything that there is a limit to, one user gets what he may have and
// leaves another his share; and when he has ended all of it is there again.
func TestGreed(t *testing.T) {
	for name, g := range greeds {
		t.Run(name, func(t *testing.T) {
			d, path := public(t, kernel.Config{Limits: g.limits})
			greedy, modest := pair(t, path)
			for _, s := range []*someone{greedy, modest} {
				s.daemon = d
				s.prepare(name == "turns")
			}
			if n := g.all(greedy); n != g.most {
				t.Errorf("one user gets %d, want %d", n, g.most)
			}
			if greedy.uid != modest.uid {
				for i := range min(g.most, 3) {
					if st := g.take(modest, i); st != abi.StatusSuccess {
						t.Errorf("the other's number %d: %v", i, st)
					}
				}
			}
			pid := greedy.cmd.Process.Pid
			greedy.end()
			for { // the daemon hears of it in its own time
				left := 0
				for _, p := range d.Kernel.Snapshot().Processes {
					if p.PID == pid {
						left++
					}
				}
				if s := d.Kernel.Snapshot().Of(greedy.uid); left == 0 && (greedy.uid == modest.uid || s.NTHandles+s.Globals+len(s.Objects)+len(s.Waits) == 0) {
					break
				}
			}
			if greedy.uid == modest.uid {
				modest.end()
			}
			again := somebody(t, path, greedy.uid, greedy.uid)
			again.daemon = d
			again.prepare(name == "turns")
			for { // what the NT handles were is given back last
				if n := g.all(again); n == g.most {
					break
				}
				again.end()
				again = somebody(t, path, greedy.uid, greedy.uid)
				again.daemon = d
				again.prepare(name == "turns")
			}
			again.end()
		})
	}
}

// prepare makes what greed is about.
func (s *someone) prepare(turns bool) {
	s.t.Helper()
	if !turns {
		var st abi.Status
		if s.one, _, st = s.create(s.device, abi.Semaphore, ntShared); !st.OK() {
			s.t.Fatal(st)
		}
		return
	}
	r := request(abi.OpCreateKeyedMutex)
	s.must(r, abi.StatusSuccess)
	s.mutex = abi.View[abi.CreateKeyedMutex](r.Record).HKeyedMutex
}

// end kills the process, with the descriptors that it would have.
func (s *someone) end() {
	for _, fd := range s.kept {
		_ = unix.Close(fd)
	}
	s.kept = nil
	s.die()
}

// TestTurnsOfAStranger: a line of those who wait for a key that never comes is in nobody's
// way, and goes with them.
func TestTurnsOfAStranger(t *testing.T) {
	d, path := public(t, kernel.Config{})
	owner, stranger := pair(t, path)
	r := request(abi.OpCreateKeyedMutex)
	owner.must(r, abi.StatusSuccess)
	rec := abi.View[abi.CreateKeyedMutex](r.Record)
	opened := request(abi.OpOpenKeyedMutex)
	abi.View[abi.OpenKeyedMutex](opened.Record).HSharedHandle = rec.HSharedHandle
	stranger.must(opened, abi.StatusSuccess)
	stranger.mutex = abi.View[abi.OpenKeyedMutex](opened.Record).HKeyedMutex
	for i := range 8 {
		if st := greeds["turns"].take(stranger, i); st != abi.StatusSuccess {
			t.Fatal(st)
		}
	}
	acquire := request(abi.OpAcquireKeyedMutex)
	abi.View[abi.AcquireKeyedMutex](acquire.Record).HKeyedMutex = rec.HKeyedMutex
	acquire.Bell, acquire.Ticket = owner.bell, owner.bell
	release := request(abi.OpReleaseKeyedMutex)
	abi.View[abi.ReleaseKeyedMutex](release.Record).HKeyedMutex = rec.HKeyedMutex
	release.Bell, release.Ticket = owner.bell, owner.bell
	for range 10 {
		owner.must(acquire, abi.StatusSuccess)
		owner.must(release, abi.StatusSuccess)
	}
	stranger.end()
	for len(d.Kernel.Snapshot().Waits) != 0 {
	}
	owner.must(acquire, abi.StatusSuccess)
}
