// Command frames-go passes frames from a producer process to a consumer process,
// with fences between them. It is the twin of the C program in ../frames, whose
// README.md has the whole agreement between the two roles:
//
//	dxgsync run -- frames-go producer --frames 8 -- frames-go
//
// Either role may be played by the C program.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

// options are what both roles are told.
type options struct {
	frames uint64
	pace   time.Duration // producer
	fds    [4]int        // consumer: ready, done, quit, memory
	rest   []string      // producer: the consumer's command line
}

const maxFrames = 1_000_000

var errUsage = errors.New("usage: frames-go producer [--frames N] [--pace-us U] -- CONSUMER [ARGUMENT...]\n" +
	"       frames-go consumer --frames N --ready-fd R --done-fd D --quit-fd Q --memory-fd M")

func main() {
	err := run(os.Args[1:])
	switch {
	case err == nil:
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "frames-go: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	role := args[0]
	var o options
	set := flag.NewFlagSet(role, flag.ContinueOnError)
	set.SetOutput(os.Stderr)
	set.Usage = func() {}
	set.Uint64Var(&o.frames, "frames", 8, "")
	pace := set.Uint64("pace-us", 0, "")
	for i, name := range fdFlags {
		set.IntVar(&o.fds[i], name, -1, "")
	}
	if err := set.Parse(args[1:]); err != nil || o.frames == 0 || o.frames > maxFrames {
		return errUsage
	}
	o.pace = time.Duration(*pace) * time.Microsecond
	o.rest = set.Args()
	switch {
	case role == "producer" && len(o.rest) > 0:
		return produce(o)
	case role == "consumer" && min(o.fds[0], o.fds[1], o.fds[2], o.fds[3]) >= 0 && len(o.rest) == 0:
		return consume(o)
	}
	return errUsage
}
