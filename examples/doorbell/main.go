// Command doorbell submits the same command buffers to two hardware queues: to one by a call
// each, to the other by a store into a doorbell that the GPU looks at. It says how long it
// takes either way from the submission until the commands have run.
//
//	dxgsync run -- doorbell --buffers 2000
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/dxgsync/dxgsync"
)

const maxBuffers = 1_000_000

func main() {
	buffers := flag.Int("buffers", 2000, "how many command buffers each way")
	flag.Parse()
	if *buffers < 1 || *buffers > maxBuffers || flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "usage: doorbell [--buffers N], with N from 1 to %d\n", maxBuffers)
		os.Exit(2)
	}
	if err := run(*buffers); err != nil {
		fmt.Fprintf(os.Stderr, "doorbell: %v\n", err)
		os.Exit(1)
	}
}

func run(buffers int) error {
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
	memory, err := device.NewBuffer(4)
	if err != nil {
		return fmt.Errorf("make a buffer: %w", err)
	}
	called, err := device.NewHwQueue(dxgsync.HwQueueOptions{})
	if err != nil {
		return fmt.Errorf("make a queue: %w", err)
	}
	rung, err := device.NewUserQueue(dxgsync.UserQueueOptions{})
	if err != nil {
		return fmt.Errorf("make a queue with a doorbell: %w", err)
	}
	defer rung.Close()
	fmt.Printf("a new doorbell: %v\n", rung.Status())
	for _, way := range []struct {
		name string
		queue
	}{{"by a call", called}, {"by the doorbell", rung}} {
		took, err := submit(way.queue, memory, buffers)
		if err != nil {
			return fmt.Errorf("submit %s: %w", way.name, err)
		}
		fmt.Printf("%d buffers %s: %.1f us\n", buffers, way.name, took.Seconds()*1e6)
	}
	return nil
}

// A queue is either kind.
type queue interface {
	Submit(*dxgsync.CommandBuffer) (dxgsync.Point, error)
}

// submit submits one buffer after the other, each when the one before has run, and returns
// how long that takes, by the median: now and then other programs are in between.
func submit(q queue, memory *dxgsync.Buffer, buffers int) (time.Duration, error) {
	took := make([]time.Duration, buffers)
	for n := range uint32(buffers) {
		begin := time.Now()
		done, err := q.Submit(new(dxgsync.CommandBuffer).Fill(memory, n))
		if err != nil {
			return 0, err
		}
		for done.Fence.Value() < done.Value { // looking is cheap, and interrupts nobody
			runtime.Gosched()
		}
		took[n] = time.Since(begin)
		if b := memory.Bytes()[0]; b != byte(n) {
			return 0, fmt.Errorf("buffer %d has written %d", n, b)
		}
	}
	slices.Sort(took)
	return took[buffers/2], nil
}
