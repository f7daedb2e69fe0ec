package torture

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/internal/kernel"
)

const (
	cyclers    = 8
	cycleSteps = 20   // of each cycler, so often it reports at least
	stepCycles = 8000 // of a step at most
	cycleKills = 3
)

// cyclesEnv is how many cycles there are in all, for a soak or a glance.
const cyclesEnv = "DXGSYNC_CYCLES"

// snapshotFile is how it calls the descriptor of a listing.
const snapshotFile = "descriptor /memfd:dxgsync-snapshot (deleted)"

// fenceMapping is how holdings calls the mapping of a fence with a page of its own.
const fenceMapping = "mapping dxgsync-fence (deleted)"

// holdings counts what a process holds of the system, by kind: descriptors, and
// mappings of memory files.
func holdings(pid string) (map[string]int, error) {
	held := map[string]int{}
	dir := "/proc/" + pid + "/fd"
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if to, err := os.Readlink(filepath.Join(dir, n.Name())); err == nil {
			held["descriptor "+inode.ReplaceAllString(to, "")]++
		}
	}
	text, err := os.ReadFile("/proc/" + pid + "/maps")
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Split(string(text), "\n") {
		if _, what, ok := strings.Cut(line, "/memfd:"); ok {
			held["mapping "+what]++
		}
	}
	delete(held, "descriptor "+dir) // our own look
	return held, nil
}

var inode = regexp.MustCompile(`:?\[?[0-9]+\]?|/proc/.*`)

// same compares what a process holds with what it held: there is nothing more. Less may
// be, of what the collector had not yet taken then.
func same(before map[string]int, pid string) error {
	now, err := holdings(pid)
	more := func(what string, n int) bool { return n <= before[what] }
	left := maps.Clone(now)
	maps.DeleteFunc(left, more)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("process %s held %v, and now %v", pid, before, now)
	}
	return err
}

// until tries until there is no error any more, or patience is over: the daemon
// notices hang-ups in its own time.
func until(try func() error) error {
	for deadline := time.Now().Add(patience); ; {
		err := try()
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// nothing says what there is in a listing, beside processes, that should not be.
func nothing(s kernel.Snapshot, processes int) error {
	if len(s.Processes) == processes && len(s.Objects)+len(s.Waits)+len(s.NTObjects)+s.NTHandles+s.Globals == 0 {
		return nil
	}
	return fmt.Errorf("%d processes, want %d; left behind: objects %v, waits %v, NT objects %v, %d NT handles, %d global handles",
		len(s.Processes), processes, s.Objects, s.Waits, s.NTObjects, s.NTHandles, s.Globals)
}

// A ring is cyclers of whom each can pass something on to the next.
type ring struct {
	t      *testing.T
	socket string
	job    cyclerJob
	ends   [cyclers][2]*os.File // what cycler i reads, and what it writes
	report *os.File             // for writing
	cmds   [cyclers]*exec.Cmd
	orders [cyclers]*os.File
	steps  [cyclers]uint32 // done
}

func (r *ring) start(i int) {
	theirs, orders, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	r.cmds[i] = start(r.t, "cycler", r.socket, r.ends[i][0], r.ends[i][1], r.report, theirs)
	theirs.Close()
	if r.orders[i] != nil {
		r.orders[i].Close()
	}
	r.orders[i] = orders
	job := cyclerJob{uint32(i), r.job.steps - r.steps[i], r.job.cycles}
	if _, err := orders.Write(job.encode()); err != nil {
		r.t.Fatal(err)
	}
}

// A million times something is made, shared, opened and let go of, in eight processes
// of which some are killed. Nothing is left of it: not in the kernel, not in the
// daemon's descriptors and mappings, not in those of who survived.
func TestCycles(t *testing.T) {
	total := defaultCycles
	if testing.Short() {
		total /= 10
	}
	if text := os.Getenv(cyclesEnv); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s is %q, want a number of cycles", cyclesEnv, text)
		}
		total = n
	}
	r := &ring{t: t, socket: filepath.Join(t.TempDir(), "socket")}
	steps := max(cycleSteps, total/cyclers/stepCycles)
	r.job = cyclerJob{steps: uint32(steps), cycles: uint32((total + cyclers*steps - 1) / (cyclers * steps))}
	daemon := startDaemon(t, r.socket)
	defer kill(daemon)
	pid := strconv.Itoa(daemon.Process.Pid)
	s, err := dxgsync.Open(dxgsync.WithDaemon(r.socket))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	listing(t, s)
	var before map[string]int
	if err := until(func() (err error) { // the first listing may still be on its way out
		if before, err = holdings(pid); err == nil && before[snapshotFile] != 0 {
			err = errors.New("a snapshot stays open")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for i := range cyclers {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		r.ends[i][1], r.ends[(i+1)%cyclers][0] = os.NewFile(uintptr(fds[0]), "out"), os.NewFile(uintptr(fds[1]), "in")
	}
	reports, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reports.Close()
	r.report = theirs
	for i := range cyclers {
		r.start(i)
	}
	began := time.Now()
	r.run(reports, total)
	for _, o := range r.orders { // let go, and compare
		if _, err := o.Write([]byte{0}); err != nil {
			t.Fatal(err)
		}
	}
	for range cyclers {
		r.next(reports)
	}
	if err := until(func() error { return nothing(listing(t, s), 1+cyclers) }); err != nil {
		t.Error("all have let go, and are there:", err)
	}
	for i, c := range r.cmds {
		r.orders[i].Close()
		if err := c.Wait(); err != nil {
			t.Errorf("cycler %d: %v", i, err)
		}
		r.ends[i][0].Close()
		r.ends[i][1].Close()
	}
	r.report.Close()
	if err := until(func() error { return nothing(listing(t, s), 1) }); err != nil {
		t.Error("all have left:", err)
	}
	if err := until(func() error { return same(before, pid) }); err != nil {
		t.Error("the daemon:", err)
	}
	t.Logf("%d cycles in %v", total, time.Since(began).Round(time.Millisecond))
}

// next waits for a report.
func (r *ring) next(reports *os.File) int {
	r.t.Helper()
	b := make([]byte, 1)
	_ = reports.SetReadDeadline(time.Now().Add(2 * patience))
	if _, err := reports.Read(b); err != nil {
		r.t.Fatal("no report:", err)
	}
	if b[0] == cycleFailed {
		r.t.Fatal("a cycler failed, and says why")
	}
	return int(b[0])
}

// run waits until all steps are done. In the middle of it some are killed; what they
// had begun is done again by another.
func (r *ring) run(reports *os.File, total int) {
	all := cyclers * int(r.job.steps)
	killed := 0
	for done := 0; done < all; done++ {
		i := r.next(reports)
		r.steps[i]++
		if done%(all/10) == 0 {
			r.t.Logf("%d of %d cycles", done*int(r.job.cycles), total)
		}
		if done > (killed+1)*all/(cycleKills+2) && killed < cycleKills && r.steps[i] < r.job.steps {
			kill(r.cmds[i])
			r.start(i)
			killed++
		}
	}
	if killed != cycleKills {
		r.t.Error(errors.New("nobody was left to be killed"))
	}
}
