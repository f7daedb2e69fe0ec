package torture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
	"github.com/dxgsync/dxgsync/internal/softgpu"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// resetsEnv is how many hangs there are in all.
const resetsEnv = "DXGSYNC_RESETS"

// A theatre is a daemon in this process, to look into, whose GPUs are found hung soon.
type theatre struct {
	t      *testing.T
	daemon *server.Daemon
	socket string
	report *os.File // for writing
	hangs  *os.File // for reading
}

// quick are settings under which a hang is over in some milliseconds, as often as one
// likes.
var quick = vidsch.TDR{Quantum: int64(time.Millisecond), Delay: int64(3 * time.Millisecond), DdiDelay: int64(patience), LimitCount: math.MaxInt32}

func newTheatre(t *testing.T, tdr vidsch.TDR) *theatre {
	t.Helper()
	var profiles []*adapter.Profile
	for range 2 {
		p, err := adapter.Load("neutral")
		if err != nil {
			t.Fatal(err)
		}
		profiles = append(profiles, p)
	}
	profiles[1].Caps &^= adapter.SupportPerEngineTDR
	d, err := server.NewDaemon(kernel.Config{Profiles: profiles, TDR: tdr}, server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	th := &theatre{t: t, daemon: d, socket: filepath.Join(t.TempDir(), "socket")}
	if err := d.Open(th.socket); err != nil {
		t.Fatal(err)
	}
	if th.hangs, th.report, err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	return th
}

// An actor is a process with a pipe of orders.
type actor struct {
	cmd    *exec.Cmd
	orders *os.File
}

// act starts one; its report and orders come after files.
func (th *theatre) act(role string, first byte, files ...*os.File) actor {
	th.t.Helper()
	theirs, orders, err := os.Pipe()
	if err != nil {
		th.t.Fatal(err)
	}
	c := start(th.t, role, th.socket, append(files, th.report, theirs)...)
	theirs.Close()
	if _, err := orders.Write([]byte{first}); err != nil {
		th.t.Fatal(err)
	}
	return actor{c, orders}
}

// leave lets it end by itself.
func (a actor) leave(t *testing.T, what string) {
	t.Helper()
	a.orders.Close()
	if err := a.cmd.Wait(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// next waits for a report.
func (th *theatre) next() byte {
	th.t.Helper()
	b := make([]byte, 1)
	_ = th.hangs.SetReadDeadline(time.Now().Add(patience))
	if _, err := th.hangs.Read(b); err != nil {
		th.t.Fatalf("no report: %v\n%+v", err, th.daemon.Kernel.Snapshot())
	}
	return b[0]
}

// empty says what there is of GPUs that should not be; beside held by the drivers.
func (th *theatre) empty(processes int, held [2]softgpu.Holdings) error {
	s := th.daemon.Kernel.Snapshot()
	if err := nothing(s, processes); err != nil {
		return err
	}
	if len(s.Devices)+len(s.Queues) != 0 {
		return fmt.Errorf("left behind: devices %+v, queues %+v", s.Devices, s.Queues)
	}
	for _, e := range s.Engines {
		if e.State != "idle" || e.AtGPU+e.Ready != 0 {
			return fmt.Errorf("an engine is left busy: %+v", e)
		}
	}
	for i, want := range held {
		if got := th.gpu(i).Holdings(); got != want {
			return fmt.Errorf("the GPU of adapter %d has %+v, and had %+v", i, got, want)
		}
	}
	return nil
}

func (th *theatre) gpu(i int) *softgpu.GPU { return th.daemon.Kernel.Driver(i).(*softgpu.GPU) }

// A chain is two processes whose GPU work waits for each other's.
type chain struct {
	fences [2]*dxgsync.Fence
	links  [2]actor
	goal   uint64
}

func (th *theatre) chain(d *dxgsync.Device, hardware byte) *chain {
	th.t.Helper()
	c := &chain{}
	var files []*os.File
	for i := range c.fences {
		var err error
		if c.fences[i], err = d.NewFence(dxgsync.FenceOptions{Shared: true}); err != nil {
			th.t.Fatal(err)
		}
		file, err := c.fences[i].Share()
		if err != nil {
			th.t.Fatal(err)
		}
		files = append(files, file)
	}
	for i := range c.links {
		c.links[i] = th.act("link", byte(i)|hardware, files...)
	}
	for _, f := range files {
		f.Close()
	}
	return c
}

// A thousand hangs, by contexts and hardware queues, of processes that recover and of
// processes that are killed, with resets of engines and of adapters. Nothing is left of
// them, and chains of innocent processes on the same engine come to their end.
func TestResets(t *testing.T) {
	total := defaultResets
	if testing.Short() {
		total /= 10
	}
	if text := os.Getenv(resetsEnv); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s is %q, want a number of hangs", resetsEnv, text)
		}
		total = n
	}
	th := newTheatre(t, quick)
	defer th.hangs.Close()
	held := [2]softgpu.Holdings{th.gpu(0).Holdings(), th.gpu(1).Holdings()}
	first := th.act("victim", hangsContext) // whatever is made once, is made now
	th.next()
	first.leave(t, "the first victim")
	if err := until(func() error { return th.empty(0, held) }); err != nil {
		t.Fatal(err)
	}
	goroutines := runtime.NumGoroutine()
	before, err := holdings("self")
	if err != nil {
		t.Fatal(err)
	}

	s, err := dxgsync.Open(dxgsync.WithDaemon(th.socket))
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.NewDevice()
	if err != nil {
		t.Fatal(err)
	}
	chains := []*chain{th.chain(d, 0), th.chain(d, 2)}
	var victims [victimKinds]actor
	for kind := range victims {
		victims[kind] = th.act("victim", byte(kind))
	}
	began, count := time.Now(), [victimKinds]int{}
	for n := 0; n < total; {
		kind := th.next()
		count[kind]++
		if kind != isInTheWay {
			n++
		}
		if kind == dies && count[dies]%2 == 0 { // the other time it sees what happened
			kill(victims[dies].cmd)
			victims[dies].orders.Close()
			victims[dies] = th.act("victim", dies)
		}
	}
	t.Logf("%d hangs in %v: by kind %v", total, time.Since(began).Round(time.Millisecond), count)
	for kind, v := range victims {
		v.leave(t, fmt.Sprintf("victim of kind %d", kind))
	}
	th.finish(chains)
	if err := errors.Join(d.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if err := until(func() error { return th.empty(0, held) }); err != nil {
		t.Error("all have left:", err)
	}
	if err := until(func() error {
		runtime.GC()
		if n := runtime.NumGoroutine(); n > goroutines {
			stacks := make([]byte, 1<<20)
			return fmt.Errorf("%d goroutines, there were %d\n%s", n, goroutines, stacks[:runtime.Stack(stacks, true)])
		}
		return same(before, "self")
	}); err != nil {
		t.Error(err)
	}
	_ = th.report.Close()
}

// finish gives the chains a goal, waits until they have reached it, and lets them go.
func (th *theatre) finish(chains []*chain) {
	for _, c := range chains {
		c.goal = c.fences[1].Value() + 200
		for _, l := range c.links {
			if _, err := l.orders.Write(binary.LittleEndian.AppendUint64(nil, c.goal)); err != nil {
				th.t.Fatal(err)
			}
		}
	}
	for done := 0; done < 2*len(chains); {
		if th.next() == linkDone { // others are of victims that were quick
			done++
		}
	}
	for i, c := range chains {
		if v := c.fences[1].Value(); v < c.goal || v == dxgsync.Lost {
			th.t.Errorf("chain %d is at %d, and should be at %d", i, v, c.goal)
		}
		th.t.Logf("chain %d came to %d", i, c.goal)
		for j, l := range c.links {
			l.leave(th.t, fmt.Sprintf("link %d of chain %d", j, i))
		}
		for _, f := range c.fences {
			_ = f.Close()
		}
	}
}
