package dxgsync

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// roles are what the test binary plays when it is started again. Its daemon is
// $DXGSYNC_SOCKET, its fences are descriptors 3 and up.
var roles = map[string]func() error{
	"echo":     playEcho,
	"stay":     playStay,
	"daemon":   playDaemon,
	"named":    playNamed,
	"turns":    playTurns,
	"own":      playOwn,
	"native":   playNative,
	"doorbell": playDoorbell,
}

// A process is the test binary in a role. It ends when its input is closed.
type process struct {
	cmd    *exec.Cmd
	input  io.Closer
	output *bufio.Reader
}

// start starts a role with fences to open and returns after it has said a line.
func start(t *testing.T, role, address string, fences ...*Fence) *process {
	t.Helper()
	p := &process{cmd: exec.Command("/proc/self/exe")}
	p.cmd.Env = append(os.Environ(), "DXGSYNC_TEST_ROLE="+role, "DXGSYNC_SOCKET="+address)
	for _, f := range fences {
		file, err := f.Share()
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, file)
	}
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.input, p.output = in, bufio.NewReader(out)
	t.Cleanup(p.kill)
	if line, err := p.output.ReadString('\n'); err != nil {
		t.Fatalf("%s said %q, %v", role, line, err)
	}
	return p
}

func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // "signal: killed"
	}
}

func say(line string) { fmt.Println(line) }

// opened opens the fences that this process was given.
func opened(n int) (*Device, []*Fence, error) {
	s, err := Open(WithDaemon(DefaultAddress))
	if err != nil {
		return nil, nil, err
	}
	d, err := s.NewDevice()
	if err != nil {
		return nil, nil, err
	}
	var fs []*Fence
	for i := range n {
		f, err := d.OpenShared(os.NewFile(uintptr(3+i), "fence"), OpenOptions{})
		if err != nil {
			return nil, nil, err
		}
		fs = append(fs, f)
	}
	return d, fs, nil
}

// playEcho answers each value of the first fence on the second until it is lost.
func playEcho() error {
	_, fs, err := opened(2)
	if err != nil {
		return err
	}
	say("ready")
	for v := uint64(1); ; v++ {
		if err := fs[0].Wait(bg, v); err != nil {
			return err
		}
		if fs[0].Lost() {
			return nil
		}
		if err := fs[1].Signal(v); err != nil {
			return err
		}
	}
}

// playStay waits on a fence that nobody signals until it is killed.
func playStay() error {
	_, fs, err := opened(1)
	if err != nil {
		return err
	}
	done := make(chan error)
	go func() { done <- fs[0].Wait(bg, 1<<40) }()
	for !fs[0].asleep() {
	}
	say("ready")
	return <-done
}

// playNamed answers 1 with 2 on the fence of a name.
func playNamed() error {
	d, _, err := opened(0)
	if err != nil {
		return err
	}
	f, err := d.OpenNamed("Frames of the test", AccessAll, OpenOptions{})
	if err != nil {
		return err
	}
	say("ready")
	if err := f.Wait(bg, 1); err != nil {
		return err
	}
	return f.Signal(2)
}

// sharedMutex opens the keyed mutex that $DXGSYNC_TEST_MUTEX names.
func sharedMutex() (*KeyedMutex, error) {
	shared, err := strconv.ParseUint(os.Getenv("DXGSYNC_TEST_MUTEX"), 0, 32)
	if err != nil {
		return nil, err
	}
	s, err := Open(WithDaemon(DefaultAddress))
	if err != nil {
		return nil, err
	}
	return s.OpenSharedKeyedMutex(abi.Handle(shared), KeyedMutexOptions{})
}

// playTurns takes each turn of key 1 and adds 1 to its fence, until it is abandoned.
func playTurns() error {
	m, err := sharedMutex()
	if err != nil {
		return err
	}
	say("ready")
	for {
		fence, err := m.Acquire(bg, 1)
		if err == abi.StatusAbandoned {
			return nil
		}
		if err == nil {
			err = m.Release(0, fence+1)
		}
		if err != nil {
			return err
		}
	}
}

// playOwn owns a mutex until it is killed.
func playOwn() error {
	m, err := sharedMutex()
	if err != nil {
		return err
	}
	if _, err := m.Acquire(bg, 0); err != nil {
		return err
	}
	say("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// asleep reports whether a wait through f stands in the page.
func (f *Fence) asleep() bool {
	g := f.gate.Load()
	return g != nil && g.Len() > 0
}

func playDaemon() error {
	d, err := startDaemon(os.Getenv("DXGSYNC_SOCKET"))
	if err != nil {
		return err
	}
	say("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	d.Close()
	return nil
}

func TestPingpongBetweenProcesses(t *testing.T) {
	w := where{remote: true, shared: true}
	d := w.device(t)
	ping, pong := newFence(t, d, FenceOptions{Shared: true}), newFence(t, d, FenceOptions{Shared: true})
	p := start(t, "echo", daemon(t), ping, pong)
	quit := newFence(t, d, FenceOptions{})
	for v := uint64(1); v <= 3000; v++ {
		want(t, "signal", ping.Signal(v), nil)
		if v%2 == 0 {
			want(t, "wait", pong.Wait(bg, v), nil)
		} else if i, err := WaitAny(bg, quit.At(1), pong.At(v)); i != 1 || err != nil {
			t.Fatalf("wait any: %d, %v", i, err)
		}
	}
	want(t, "signal", ping.Signal(Lost), nil)
	if err := p.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

func TestNameBetweenProcesses(t *testing.T) {
	d := where{remote: true, shared: true}.device(t)
	f := newFence(t, d, FenceOptions{Shared: true})
	defer share(t, f, ShareOptions{Name: "frames of the test"}).Close()
	p := start(t, "named", daemon(t))
	want(t, "signal", f.Signal(1), nil)
	want(t, "wait", f.Wait(bg, 2), nil)
	if err := p.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// setMutex tells processes to be started of a keyed mutex.
func setMutex(t *testing.T, m *KeyedMutex) {
	t.Setenv("DXGSYNC_TEST_MUTEX", fmt.Sprint(uint32(m.SharedHandle())))
}

func TestKeyedMutexBetweenProcesses(t *testing.T) {
	d := where{remote: true}.device(t)
	m := newMutex(t, d.s, KeyedMutexOptions{})
	setMutex(t, m)
	p := start(t, "turns", daemon(t))
	for turn := range uint64(1000) {
		fence, err := m.Acquire(bg, 0)
		wantFence(t, "acquire", fence, err, 2*turn)
		want(t, "release", m.Release(1, fence+1), nil)
	}
	want(t, "last turn", second(m.Acquire(bg, 0)), nil)
	want(t, "close", m.Close(), nil) // abandoned by its owner
	if err := p.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// A keyed mutex whose owner is killed is abandoned: for those who wait, and for good.
func TestKeyedMutexOwnerKilled(t *testing.T) {
	for range 10 {
		d := where{remote: true}.device(t)
		m := newMutex(t, d.s, KeyedMutexOptions{})
		setMutex(t, m)
		p := start(t, "own", daemon(t))
		want(t, "owned", second(m.TryAcquire(0)), abi.StatusTimeout)
		done := make(chan error)
		go func() { done <- second(m.Acquire(bg, 0)) }()
		waitTurns(d.s, 1)
		p.kill()
		want(t, "wait", <-done, abi.StatusAbandoned)
		want(t, "acquire", second(m.TryAcquire(0)), abi.StatusAbandoned)
		want(t, "release", m.Release(0, 0), abi.StatusAbandoned)
		want(t, "close", d.s.Close(), nil)
	}
}

// With the daemon gone there is nothing to acquire.
func TestKeyedMutexDaemonKilled(t *testing.T) {
	address := fmt.Sprintf("@dxgsync-test-kill-mutex-%d", os.Getpid())
	p := start(t, "daemon", address)
	s, err := Open(WithDaemon(address))
	if err != nil {
		t.Fatal(err)
	}
	m := newMutex(t, s, KeyedMutexOptions{})
	want(t, "acquire", second(m.Acquire(bg, 0)), nil)
	done := make(chan error)
	go func() { done <- second(m.Acquire(bg, 0)) }()
	for m.asleep() == 0 {
	}
	p.kill()
	want(t, "wait", <-done, abi.StatusDeviceRemoved)
	want(t, "acquire", second(m.TryAcquire(0)), abi.StatusDeviceRemoved)
	want(t, "release", m.Release(0, 0), abi.StatusDeviceRemoved)
	want(t, "close", m.Close(), abi.StatusDeviceRemoved)
	want(t, "close session", s.Close(), nil)
}

// asleep counts the acquires that wait through m.
func (m *KeyedMutex) asleep() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiting)
}

// A waiter that is killed leaves nothing behind that would keep others from waking.
func TestWaiterKilled(t *testing.T) {
	w := where{remote: true, shared: true}
	d := w.device(t)
	f := newFence(t, d, FenceOptions{Shared: true})
	for v := uint64(1); v <= 10; v++ {
		p := start(t, "stay", daemon(t), f)
		done := make(chan error)
		go func() { done <- f.Wait(bg, v) }()
		waitFor(f, 1)
		p.kill()
		want(t, "signal", f.Signal(v), nil)
		want(t, "wait", <-done, nil)
	}
}

// With the daemon gone every wait ends at once and every value is lost.
func TestDaemonKilled(t *testing.T) {
	address := fmt.Sprintf("@dxgsync-test-kill-%d", os.Getpid())
	for round := range 10 {
		p := start(t, "daemon", address)
		s, err := Open(WithDaemon(address))
		if err != nil {
			t.Fatal(err)
		}
		d := newDevice(t, s)
		shared, private := newFence(t, d, FenceOptions{Shared: true}), newFence(t, d, FenceOptions{})
		rewound := newFence(t, d, FenceOptions{Shared: true, Initial: 1})
		want(t, "rewind", rewound.Rewind(0), nil)
		done := make(chan error)
		for _, f := range []*Fence{shared, private, rewound} {
			for range 3 {
				go func() { done <- f.Wait(bg, 5) }()
			}
		}
		if round%2 == 0 { // kill it in the middle of the waits' beginning, or after
			for !shared.asleep() || !private.asleep() {
			}
		}
		p.kill()
		for range 9 {
			want(t, "wait", <-done, abi.StatusDeviceRemoved)
		}
		for _, f := range []*Fence{shared, private, rewound} {
			if !f.Lost() {
				t.Fatalf("value %d, want the maximum", f.Value())
			}
			want(t, "late wait", f.Wait(bg, 5), abi.StatusDeviceRemoved)
			want(t, "late signal", f.Signal(9), abi.StatusDeviceRemoved)
		}
		want(t, "new fence", second(d.NewFence(FenceOptions{})), abi.StatusDeviceRemoved)
		want(t, "close", s.Close(), nil)
	}
}

// The fences of a process that dies are lost for the others, whatever they wait for.
func TestSessionLost(t *testing.T) {
	w := where{remote: true, shared: true}
	d := w.device(t)
	other := openDevice(t, WithDaemon(daemon(t)))
	kernels.Store(other.s, kernelOf(d.s))
	kept := newFence(t, d, FenceOptions{Shared: true, Flags: abi.SyncObjectNoSignalMaxValueOnTdr})
	lost := newFence(t, d, FenceOptions{Shared: true})
	open := func(f *Fence) *Fence {
		file, err := f.Share()
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		g, err := other.OpenShared(file, OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	k, l := open(kept), open(lost)
	want(t, "signal", kept.Signal(3), nil)
	wantValue(t, k, 3)
	done := make(chan error)
	go func() { done <- l.Wait(bg, 100) }()
	waitFor(l, 1)
	want(t, "close session", d.s.Close(), nil)
	want(t, "wait", <-done, nil)
	if !l.Lost() {
		t.Fatal("the fence of a session that is gone must be lost")
	}
	wantValue(t, k, 3)
}
