package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
)

// The measurements between processes, on a daemon. Side 0 measures; the peer, if
// there is one, answers on the second fence what it sees on the first.
var pairs = map[string]pair{
	"P.signal_daemon.same.rtt":             {measure: signalDaemon, same: true},
	"P.submit_daemon.same.rtt":             {measure: submitDaemon, same: true},
	"P.submit_hwqueue":                     {measure: submitToRun},
	"P.doorbell.submit":                    {measure: ringToRun},
	"P.share_open.same.rtt":                {measure: shareOpen, same: true},
	"P.pingpong_proc.same.rtt":             {measure: pingpong, peer: echo, same: true},
	"P.pingpong_spin_proc.diff.rtt":        {measure: pingpong, peer: echo},
	"P.wait_any32_proc.same.rtt":           {measure: pingpongAny, peer: echoAny, same: true},
	"P.waiters10k_proc.same.until_ran_rtt": {measure: manyWaitersProc, peer: onDemand, same: true},
}

type pair struct {
	measure func(d *dxgsync.Device, f [2]*dxgsync.Fence) (float64, error)
	peer    func(d *dxgsync.Device, f [2]*dxgsync.Fence) error
	same    bool // all on one processor
}

const stopValue = 1 << 60 // of the first fence: the peer ends

// signalDaemon signals one value by request, over and over: the same value again
// changes nothing, so this is the way to the kernel and back.
func signalDaemon(d *dxgsync.Device, _ [2]*dxgsync.Fence) (float64, error) {
	f, err := d.NewFence(dxgsync.FenceOptions{Shared: true})
	if err != nil {
		return 0, err
	}
	v := uint64(0)
	var failed error
	ns := loop(func(n int) {
		for range n {
			v++
			if err := d.Signal(f.At(v)); err != nil {
				failed = err
			}
		}
	})
	return ns, failed
}

// submitDaemon submits a buffer that signals a fence, and waits for it.
func submitDaemon(d *dxgsync.Device, _ [2]*dxgsync.Fence) (float64, error) { return submitToWake(d) }

// shareOpen opens a shared fence, reads it, closes it: beside the floor's request,
// descriptor and mapping that is one more request, to destroy, which is measured
// apart and taken off.
func shareOpen(d *dxgsync.Device, f [2]*dxgsync.Fence) (float64, error) {
	file, err := f[0].Share()
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var failed error
	var destroying time.Duration
	opened := 0
	ns := loop(func(n int) {
		destroying, opened = 0, n
		for range n {
			g, err := d.OpenShared(file, dxgsync.OpenOptions{})
			if err != nil {
				failed = err
				return
			}
			sink.Add(g.Value())
			begin := time.Now()
			if err := g.Close(); err != nil {
				failed = err
			}
			destroying += time.Since(begin)
		}
	})
	return ns - float64(destroying.Nanoseconds())/float64(opened), failed
}

func pingpong(_ *dxgsync.Device, f [2]*dxgsync.Fence) (float64, error) {
	ctx := context.Background()
	v := uint64(0)
	step := func() error {
		v++
		if err := f[0].Signal(v); err != nil {
			return err
		}
		return f[1].Wait(ctx, v)
	}
	return play(step)
}

func play(step func() error) (float64, error) {
	var failed error
	for range 500 {
		if err := step(); err != nil {
			return 0, err
		}
	}
	ns := loop(func(n int) {
		for range n {
			if err := step(); err != nil {
				failed = err
				return
			}
		}
	})
	return ns, failed
}

func echo(_ *dxgsync.Device, f [2]*dxgsync.Fence) error {
	ctx := context.Background()
	for v := uint64(1); ; v++ {
		if err := f[0].Wait(ctx, v); err != nil {
			return err
		}
		if f[0].Value() >= stopValue {
			return nil
		}
		if err := f[1].Signal(v); err != nil {
			return err
		}
	}
}

// any32 is a point on f behind 31 on fences that nobody signals.
func any32(d *dxgsync.Device, f *dxgsync.Fence) ([]dxgsync.Point, error) {
	ps := make([]dxgsync.Point, 32)
	for i := range ps {
		ps[i] = f.At(0)
		if i < 31 {
			idle, err := d.NewFence(dxgsync.FenceOptions{Shared: true})
			if err != nil {
				return nil, err
			}
			ps[i] = idle.At(1)
		}
	}
	return ps, nil
}

func pingpongAny(d *dxgsync.Device, f [2]*dxgsync.Fence) (float64, error) {
	ps, err := any32(d, f[1])
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	v := uint64(0)
	return play(func() error {
		v++
		if err := f[0].Signal(v); err != nil {
			return err
		}
		ps[31].Value = v
		_, err := dxgsync.WaitAny(ctx, ps...)
		return err
	})
}

func echoAny(d *dxgsync.Device, f [2]*dxgsync.Fence) error {
	ps, err := any32(d, f[0])
	if err != nil {
		return err
	}
	ctx := context.Background()
	for v := uint64(1); ; v++ {
		ps[31].Value = v
		if _, err := dxgsync.WaitAny(ctx, ps...); err != nil {
			return err
		}
		if f[0].Value() >= stopValue {
			return nil
		}
		if err := f[1].Signal(v); err != nil {
			return err
		}
	}
}

// manyWaitersProc has 10,000 goroutines wait for 10,000 values of a fence that the
// peer signals one at a time; whoever ran asks for the next.
func manyWaitersProc(_ *dxgsync.Device, f [2]*dxgsync.Fence) (float64, error) {
	ctx := context.Background()
	var asleep atomic.Int64
	var failed atomic.Pointer[error]
	var running sync.WaitGroup
	for i := range uint64(crowd) {
		running.Go(func() {
			asleep.Add(1)
			err := f[1].Wait(ctx, i+1)
			if err == nil {
				err = f[0].Signal(i + 2)
			}
			if err != nil {
				failed.Store(&err)
			}
		})
	}
	settle(&asleep)
	runtime.GC() // what making them left behind
	begin := time.Now()
	if err := f[0].Signal(1); err != nil {
		return 0, err
	}
	running.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(time.Since(begin).Nanoseconds()) / crowd, nil
}

func onDemand(d *dxgsync.Device, f [2]*dxgsync.Fence) error { return echo(d, f) }

// Side is the program of a measuring process: "local NAME", "floor NAME", "pair
// NAME SOCKET", "peer NAME SOCKET", "daemon SOCKET". It prints the result.
func Side(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("bench side: want a role and a name")
	}
	switch role, name := args[0], args[1]; role {
	case "local":
		return report(local[name]())
	case "floor":
		return report(goFloors[name](), nil)
	case "daemon":
		return daemon(name)
	case "pair":
		return measurePair(name, args[2])
	case "peer":
		d, f, err := joined(args[2])
		if err != nil {
			return err
		}
		return pairs[name].peer(d, f)
	default:
		return fmt.Errorf("bench side: no role %q", role)
	}
}

func report(x float64, err error) error {
	if err == nil {
		fmt.Println(strconv.FormatFloat(x, 'g', 6, 64))
	}
	return err
}

func daemon(socket string) error {
	d, err := server.NewDaemon(kernel.Config{}, server.Config{})
	if err != nil {
		return err
	}
	l, err := server.Listen(socket, 0o600)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return d.Serve(l)
}

func measurePair(name, socket string) error {
	p := pairs[name]
	s, d, err := open(dxgsync.WithDaemon(socket))
	if err != nil {
		return err
	}
	defer s.Close()
	var f [2]*dxgsync.Fence
	var files []*os.File
	for i := range f {
		if f[i], err = d.NewFence(dxgsync.FenceOptions{Shared: true}); err != nil {
			return err
		}
		file, err := f[i].Share()
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	var peer *exec.Cmd
	if p.peer != nil {
		peer = command(nil, "peer", name, socket)
		peer.ExtraFiles = files
		if err := peer.Start(); err != nil {
			return err
		}
	}
	x, err := p.measure(d, f)
	if err != nil {
		return err
	}
	if peer != nil {
		if err := f[0].Signal(stopValue); err != nil {
			return err
		}
		if err := peer.Wait(); err != nil {
			return fmt.Errorf("the other side: %w", err)
		}
	}
	return report(x, nil)
}

func joined(socket string) (*dxgsync.Device, [2]*dxgsync.Fence, error) {
	var f [2]*dxgsync.Fence
	_, d, err := open(dxgsync.WithDaemon(socket))
	if err != nil {
		return nil, f, err
	}
	for i := range f {
		if f[i], err = d.OpenShared(os.NewFile(uintptr(3+i), "fence"), dxgsync.OpenOptions{}); err != nil {
			return nil, f, err
		}
	}
	return d, f, nil
}

// command starts this program again as a measuring process; it inherits the
// affinity of the calling thread.
func command(env []string, args ...string) *exec.Cmd {
	c := exec.Command("/proc/self/exe", append([]string{"bench-side"}, args...)...)
	// A program that happens to share a processor was not pinned to it: its runtime
	// counts all of the machine's.
	c.Env = append(append(os.Environ(), "GOMAXPROCS=2"), env...)
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// pinned runs f on a thread bound to processor 0, so that what it starts is too.
func pinned(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, zero unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	zero.Set(0)
	if err := unix.SchedSetaffinity(0, &zero); err != nil {
		return err
	}
	defer func() { _ = unix.SchedSetaffinity(0, &before) }()
	return f()
}
