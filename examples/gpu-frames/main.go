// Command gpu-frames is a GPU pipeline over two processes. The first, upload, has the
// copy node bring frames into shared memory; the second, render, has the compute node
// work on them. Two fences pace the GPU's queues, and no program waits between frames:
//
//	upload   waits for done = n-2, copies frame n into its slot, signals ready = n
//	render   waits for ready = n, works on the slot, signals done = n
//
// With --hang N the work of frame N hangs, once. The engine is reset, render's device is
// lost, and render makes another and goes on with frame N. Upload has a device of its
// own and notices a pause: render opened done with NoSignalMaxValueOnTdr, so that its
// value outlives the device, and ready without the right to signal it.
//
//	dxgsync run --tdr TdrDelay=50ms -- gpu-frames --frames 6 --hang 3
//
// Each line of output is one event: nanoseconds of CLOCK_MONOTONIC, who, what, and which
// frame.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

// options are what both roles are told.
type options struct {
	frames uint64
	hang   uint64 // the frame whose work hangs; 0: none
	fds    [len(fdFlags)]int
}

const maxFrames = 10_000

var errUsage = fmt.Errorf("usage: gpu-frames [--frames N] [--hang FRAME], with N up to %d", maxFrames)

func main() {
	err := run(os.Args[1:])
	switch {
	case err == nil:
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "gpu-frames: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var o options
	set := flag.NewFlagSet("gpu-frames", flag.ContinueOnError)
	set.SetOutput(os.Stderr)
	set.Usage = func() {}
	set.Uint64Var(&o.frames, "frames", 6, "")
	set.Uint64Var(&o.hang, "hang", 0, "")
	child := set.Bool("render", false, "")
	for i, name := range fdFlags {
		set.IntVar(&o.fds[i], name, -1, "")
	}
	if err := set.Parse(args); err != nil || o.frames == 0 || o.frames > maxFrames || o.hang > o.frames || set.NArg() > 0 {
		return errUsage
	}
	if *child {
		return render(o)
	}
	return upload(o)
}
