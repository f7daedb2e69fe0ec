package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
)

// limits are the bounds of one kernel and its door. They are also the value of the
// repeatable flag --limit NAME=NUMBER.
type limits struct {
	kernel kernel.Limits
	server server.Limits
}

// A limit is one bound by its name on the command line.
type limit struct {
	name     string
	field    func(l *limits) *int
	standard int
	about    string
}

// perProcess is the standard bound on the handles of a process that is served.
const perProcess = 65536

var limitTable = []limit{
	{"sessions", func(l *limits) *int { return &l.server.Sessions }, 4096, "connections at once"},
	{"sessions-per-user", func(l *limits) *int { return &l.server.SessionsPerUser }, 3072, "of them, one user's"},
	{"sessions-per-process", func(l *limits) *int { return &l.server.SessionsPerProcess }, 64, "of them, one process's"},
	{"processes", func(l *limits) *int { return &l.kernel.Processes }, 4096, "processes at once"},
	{"processes-per-user", func(l *limits) *int { return &l.server.ProcessesPerUser }, 1024, "of them, one user's"},
	{"handles-per-process", func(l *limits) *int { return &l.kernel.Handles }, perProcess, "objects and other handles of a process"},
	{"waits-per-process", func(l *limits) *int { return &l.kernel.Waits }, 65536, "waits in the kernel of a process"},
	{"points-per-process", func(l *limits) *int { return &l.kernel.Points }, 262144, "objects that those waits name"},
	{"bells-per-process", func(l *limits) *int { return &l.server.BellsPerProcess }, 8192, "blocked threads of a process"},
	{"nt-handles", func(l *limits) *int { return &l.kernel.NTHandles }, 8192, "shared objects with a descriptor, in all"},
	{"global-handles", func(l *limits) *int { return &l.kernel.GlobalHandles }, 65536, "objects with a global handle, in all"},
	{"data-per-user", func(l *limits) *int { return &l.kernel.Data }, 64 << 20, "bytes of private data of one user"},
	{"queued-per-user", func(l *limits) *int { return &l.kernel.Queued }, 256 << 20, "bytes of queued GPU work of one user"},
	{"gpu-objects", func(l *limits) *int { return &l.kernel.GPUObjects }, 65536, "devices, contexts, hardware queues of an adapter, each, in all"},
	{"adapters", func(l *limits) *int { return &l.kernel.MaxAdapters }, 34, "what an enumeration with a NULL array answers"},
}

// String is empty: help lists the standard values.
func (l *limits) String() string { return "" }

// Type names the form of the flag's value in help.
func (l *limits) Type() string { return "NAME=NUMBER" }

// Set reads one NAME=NUMBER.
func (l *limits) Set(text string) error {
	name, number, _ := strings.Cut(text, "=")
	for _, k := range limitTable {
		if k.name != name {
			continue
		}
		n, err := strconv.Atoi(number)
		if err != nil || n <= 0 {
			return fmt.Errorf("limit %s: want a number above 0", name)
		}
		*k.field(l) = n
		return nil
	}
	return fmt.Errorf("unknown limit %q: use one of %s", name, limitNames())
}

func limitNames() string {
	var names []string
	for _, k := range limitTable {
		names = append(names, k.name)
	}
	return strings.Join(names, ", ")
}

// agreed fills in what door and kernel must agree about.
func (l limits) agreed() limits {
	if l.kernel.Handles == 0 {
		l.kernel.Handles = perProcess
	}
	l.server.Objects = l.kernel.Handles
	return l
}

// limitHelp lists the limits for the help of serve.
func limitHelp() string {
	var b strings.Builder
	for _, k := range limitTable {
		fmt.Fprintf(&b, "    %-22s %8d  %s\n", k.name, k.standard, k.about)
	}
	return b.String()
}
