// Command native has engines of two processes hand each other a turn, and no CPU has a part
// in it. The first process works on the copy node, the second on the compute node. All is
// queued ahead:
//
//	first    waits for turn = 1, 3, 5, …, works, signals turn = 2, 4, 6, …
//	second   waits for turn = 2, 4, 6, …, works, signals turn = 3, 5, 7, …
//
// The waits and signals are commands, of a fence that GPUs know by themselves. The first
// process signals turn = 1 and then only looks at the value: nobody waits for it, and so the
// GPU interrupts nobody. The second waits for the last turn, as programs do that want to
// sleep.
//
//	dxgsync run -- native --turns 8
//
// Each line of output is one event: nanoseconds of CLOCK_MONOTONIC, who, what, and which
// turn.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
)

const (
	maxTurns = 10_000
	gpuTime  = time.Millisecond // that a turn takes
	lookTime = 50 * time.Microsecond
)

var errUsage = fmt.Errorf("usage: native [--turns N], with N from 1 to %d", maxTurns)

func main() {
	turns := flag.Uint64("turns", 8, "how many turns")
	second := flag.Bool("second", false, "be the second process")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, errUsage) }
	flag.Parse()
	err := errUsage
	if *turns > 0 && *turns <= maxTurns && flag.NArg() == 0 {
		err = run(*turns, *second)
	}
	switch {
	case err == nil:
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "native: %v\n", err)
		os.Exit(1)
	}
}

func run(turns uint64, second bool) error {
	session, err := dxgsync.Open(dxgsync.WithDaemon(dxgsync.DefaultAddress))
	if err != nil {
		return err
	}
	defer session.Close()
	device, err := session.NewDevice()
	if err != nil {
		return fmt.Errorf("make a device: %w", err)
	}
	defer device.Close()
	if second {
		return playSecond(device, turns)
	}
	return playFirst(device, turns)
}

func playFirst(d *dxgsync.Device, turns uint64) error {
	turn, err := d.NewNativeFence(dxgsync.NativeFenceOptions{Shared: true})
	if err != nil {
		return fmt.Errorf("make a native fence: %w", err)
	}
	file, err := turn.Share()
	if err != nil {
		return fmt.Errorf("share the fence: %w", err)
	}
	log("first", "start", 0)
	if err := queueTurns(d, abi.EngineCopy, turn, 1, turns); err != nil {
		return err
	}
	// The first signal is the CPU's. The second process may still be starting.
	if err := turn.Signal(1); err != nil {
		return err
	}
	other := exec.Command("/proc/self/exe", "--second", "--turns", strconv.FormatUint(turns, 10))
	other.ExtraFiles, other.Stdout, other.Stderr = []*os.File{file}, os.Stdout, os.Stderr
	if err := other.Start(); err != nil {
		return err
	}
	for seen := uint64(1); seen <= turns; {
		now := turn.Value()
		if turn.Lost() {
			break // with the other's device; Wait says more
		}
		for ; seen < now; seen++ {
			log([]string{"second", "first"}[seen%2], "turn", seen)
		}
		time.Sleep(lookTime)
	}
	if err := other.Wait(); err != nil {
		return fmt.Errorf("the second process: %w", err)
	}
	log("first", "exit", turn.Value())
	return nil
}

// fenceFD is where the second process has the fence.
const fenceFD = 3

func playSecond(d *dxgsync.Device, turns uint64) error {
	turn, err := d.OpenSharedNative(os.NewFile(fenceFD, "turn"), dxgsync.OpenNativeOptions{})
	if err != nil {
		return fmt.Errorf("open the fence: %w", err)
	}
	log("second", "start", 0)
	if err := queueTurns(d, abi.EngineOther, turn, 2, turns); err != nil {
		return err
	}
	if err := turn.Wait(context.Background(), turns+1); err != nil {
		return err
	}
	log("second", "exit", turn.Value())
	return nil
}

// queueTurns queues every other turn on a node, from one on.
func queueTurns(d *dxgsync.Device, kind abi.EngineType, turn *dxgsync.NativeFence, from, turns uint64) error {
	nodes, err := d.Nodes()
	if err != nil {
		return fmt.Errorf("list the nodes: %w", err)
	}
	node := slices.IndexFunc(nodes, func(n dxgsync.Node) bool { return n.Engine == kind })
	if node < 0 {
		return fmt.Errorf("the adapter has no node of kind %v: %v", kind, nodes)
	}
	queue, err := d.NewHwQueue(dxgsync.HwQueueOptions{Node: nodes[node].Ordinal})
	if err != nil {
		return fmt.Errorf("make a queue: %w", err)
	}
	for n := from; n <= turns; n += 2 {
		cb := new(dxgsync.CommandBuffer).WaitNative(turn, n).Delay(gpuTime).SignalNative(turn, n+1)
		if _, err := queue.Submit(cb); err != nil {
			return fmt.Errorf("queue turn %d: %w", n, err)
		}
	}
	return nil
}

// log writes one line of the timeline, in one write.
func log(who, event string, turn uint64) {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	_, _ = fmt.Printf("%d %s %s %d\n", now.Nano(), who, event, turn)
}
