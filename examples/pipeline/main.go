// Command pipeline is three stages on two nodes of a GPU, in one process: the copy node
// uploads a frame while the compute node works on the one before, and a function shows
// what is done. All of it is queued ahead; fences pace it. Each line is an event:
// microseconds since the start, the stage, the frame.
//
//	pipeline --frames 8
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/dxgsync/dxgsync"
)

const (
	slots     = 2
	frameSize = 64 << 10
	maxFrames = 10_000
)

func main() {
	frames := flag.Uint64("frames", 8, "how many frames")
	flag.Parse()
	if *frames == 0 || *frames > maxFrames || flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "usage: pipeline [--frames N], with N from 1 to %d\n", maxFrames)
		os.Exit(2)
	}
	if err := run(*frames); err != nil {
		fmt.Fprintf(os.Stderr, "pipeline: %v\n", err)
		os.Exit(1)
	}
}

func run(frames uint64) error {
	session, err := dxgsync.Open()
	if err != nil {
		return err
	}
	defer session.Close()
	device, err := session.NewDevice()
	if err != nil {
		return err
	}
	p, err := newPipeline(device)
	if err != nil {
		return err
	}
	var shown []*dxgsync.Job
	for n := uint64(1); n <= frames; n++ {
		job, err := p.queue(n)
		if err != nil {
			return fmt.Errorf("queue frame %d: %w", n, err)
		}
		shown = append(shown, job)
	}
	for _, job := range shown {
		if err := job.Wait(context.Background()); err != nil {
			return err
		}
	}
	return device.WaitIdle(context.Background())
}

// A pipeline has a context for each stage and a fence behind each.
type pipeline struct {
	upload, compute, present  *dxgsync.Context
	uploaded, computed, shown *dxgsync.Fence
	picture, memory, result   *dxgsync.Buffer // the latter two have a place for each slot
	start                     time.Time
}

// The nodes of the neutral adapter.
const (
	nodeCompute = 1
	nodeCopy    = 2
)

func newPipeline(d *dxgsync.Device) (*pipeline, error) {
	p := &pipeline{start: time.Now()}
	for c, node := range map[**dxgsync.Context]uint32{&p.upload: nodeCopy, &p.compute: nodeCompute, &p.present: nodeCompute} {
		var err error
		if *c, err = d.NewContext(dxgsync.ContextOptions{Node: node}); err != nil {
			return nil, err
		}
	}
	for _, f := range []**dxgsync.Fence{&p.uploaded, &p.computed, &p.shown} {
		var err error
		if *f, err = d.NewFence(dxgsync.FenceOptions{}); err != nil {
			return nil, err
		}
	}
	for b, size := range map[**dxgsync.Buffer]int{&p.picture: frameSize, &p.memory: slots * frameSize, &p.result: slots * frameSize} {
		var err error
		if *b, err = d.NewBuffer(size); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// queue queues all stages of a frame and returns the last.
func (p *pipeline) queue(n uint64) (*dxgsync.Job, error) {
	place := func(b *dxgsync.Buffer) dxgsync.Range { return b.Range(int(n%slots)*frameSize, frameSize) }
	if n > slots {
		if err := p.upload.Wait(p.shown.At(n - slots)); err != nil {
			return nil, err
		}
	}
	cb := new(dxgsync.CommandBuffer).Fill(p.picture, 0x01010101*uint32(n&0xFF)).Copy(place(p.memory), p.picture)
	if err := p.stage(p.upload, cb, p.uploaded, n, "uploaded"); err != nil {
		return nil, err
	}
	if err := p.compute.Wait(p.uploaded.At(n)); err != nil {
		return nil, err
	}
	if err := p.stage(p.compute, new(dxgsync.CommandBuffer).Copy(place(p.result), place(p.memory)), p.computed, n, "computed"); err != nil {
		return nil, err
	}
	if err := p.present.Wait(p.computed.At(n)); err != nil {
		return nil, err
	}
	job, err := p.present.Do(func(context.Context) error {
		p.say(n, "shown")
		if b := p.result.Bytes()[int(n%slots)*frameSize]; b != byte(n) {
			return fmt.Errorf("frame %d: the first byte is %d", n, b)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return job, p.present.Signal(p.shown.At(n))
}

// stage queues the work of a stage on a frame, what to say then, and a signal.
func (p *pipeline) stage(c *dxgsync.Context, cb *dxgsync.CommandBuffer, f *dxgsync.Fence, n uint64, event string) error {
	if _, err := c.Submit(cb.Delay(100 * time.Microsecond)); err != nil {
		return err
	}
	if _, err := c.Do(func(context.Context) error { p.say(n, event); return nil }); err != nil {
		return err
	}
	return c.Signal(f.At(n))
}

func (p *pipeline) say(n uint64, event string) {
	fmt.Printf("%8d us  %s %d\n", time.Since(p.start).Microseconds(), event, n)
}
