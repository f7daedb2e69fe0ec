package torture

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/dxgsync/dxgsync"
)

var (
	rounds = flag.Int("rounds", defaultRounds, "how often to kill somebody")
	seed   = flag.Uint64("seed", 1, "who is killed when")
)

// patience is how long a survivor may take before it counts as stuck. The backstop
// that would free it after a second is off.
const patience = 30 * time.Second

// A stage is a daemon, two fences of ours, and the two actors on them.
type stage struct {
	t         *testing.T
	socket    string
	daemon    *exec.Cmd
	session   *dxgsync.Session
	work, ack *dxgsync.Fence
	files     []*os.File
	actors    map[string]*exec.Cmd
}

func start(t *testing.T, role, socket string, files ...*os.File) *exec.Cmd {
	t.Helper()
	c := exec.Command("/proc/self/exe", "-test.run=^$")
	c.Env = append(os.Environ(), "TORTURE_ROLE="+role, "TORTURE_SOCKET="+socket, "DXGSYNC_BACKSTOP=off", "GOMAXPROCS=2")
	c.ExtraFiles = files
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

func startDaemon(t *testing.T, socket string) *exec.Cmd {
	t.Helper()
	ready, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	c := start(t, "daemon", socket, theirs)
	theirs.Close()
	if _, err := ready.Read(make([]byte, 1)); err != io.EOF {
		t.Fatal("daemon:", err)
	}
	return c
}

func kill(c *exec.Cmd) {
	_ = c.Process.Kill()
	_ = c.Wait()
}

// set puts up a daemon and fences.
func (s *stage) set() {
	t := s.t
	t.Helper()
	s.daemon = startDaemon(t, s.socket)
	var err error
	if s.session, err = dxgsync.Open(dxgsync.WithDaemon(s.socket)); err != nil {
		t.Fatal(err)
	}
	d, err := s.session.NewDevice()
	if err != nil {
		t.Fatal(err)
	}
	s.files = nil
	for _, f := range []**dxgsync.Fence{&s.work, &s.ack} {
		if *f, err = d.NewFence(dxgsync.FenceOptions{Shared: true}); err != nil {
			t.Fatal(err)
		}
		file, err := (*f).Share()
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, file)
	}
	for _, role := range []string{"signaller", "waiter"} {
		s.actors[role] = start(t, role, s.socket, s.files...)
	}
}

// strike takes down what set put up.
func (s *stage) strike() {
	for _, c := range s.actors {
		kill(c)
	}
	_ = s.session.Close()
	for _, f := range s.files {
		_ = f.Close()
	}
	kill(s.daemon)
}

// reach waits until the play has gone on to v.
func (s *stage) reach(f *dxgsync.Fence, v uint64) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := f.Wait(ctx, v); err != nil {
		return fmt.Errorf("stuck before %d: work at %d, acknowledged %d: %w", v, s.work.Value(), s.ack.Value(), err)
	}
	return nil
}

// A signaller, a waiter or the daemon is killed at a random moment, over and over.
// After the signaller's death every value that it stored is acknowledged; after the
// waiter's, a new one carries on; after the daemon's, everybody ends by himself at
// once with all fences at the maximum.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(*seed, 0))
	t.Logf("seed %d, %d rounds", *seed, *rounds)
	s := &stage{t: t, socket: filepath.Join(dir, "socket"), actors: map[string]*exec.Cmd{}}
	s.set()
	defer func() { s.strike() }()
	killed := map[string]int{}
	for round := range *rounds {
		if err := s.reach(s.ack, s.ack.Value()+1+rng.Uint64N(40)); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		victim := [...]string{"signaller", "waiter", "signaller", "waiter", "daemon"}[rng.IntN(5)]
		killed[victim]++
		if victim == "daemon" {
			s.loseDaemon(round)
			continue
		}
		kill(s.actors[victim])
		if victim == "signaller" {
			if err := s.reach(s.ack, s.work.Value()); err != nil {
				t.Fatalf("round %d: after the signaller's death: %v", round, err)
			}
		}
		s.actors[victim] = start(t, victim, s.socket, s.files...)
	}
	t.Logf("killed: %v", killed)
}

func (s *stage) loseDaemon(round int) {
	t := s.t
	t.Helper()
	asleep := make(chan error, 1)
	go func() { asleep <- s.work.Wait(context.Background(), dxgsync.Lost-1) }()
	kill(s.daemon)
	select {
	case err := <-asleep:
		if s.work.Value() != dxgsync.Lost || s.ack.Value() != dxgsync.Lost {
			t.Fatalf("round %d: after the daemon's death our wait ended with %v, and the fences read %d and %d", round, err, s.work.Value(), s.ack.Value())
		}
	case <-time.After(patience):
		t.Fatalf("round %d: our wait outlived the daemon", round)
	}
	for role, c := range s.actors {
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("round %d: %s after the daemon's death: %v", round, role, err)
			}
		case <-time.After(patience):
			t.Fatalf("round %d: the %s is stuck after the daemon's death", round, role)
		}
	}
	_ = s.session.Close()
	for _, f := range s.files {
		_ = f.Close()
	}
	if err := os.Remove(s.socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	s.set()
}
