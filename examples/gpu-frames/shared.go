package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
)

// fdFlags name the descriptors on render's command line, in order: two fences and the
// memory with the slots.
var fdFlags = [...]string{"ready-fd", "done-fd", "slots-fd"}

const (
	frameSize = 4096
	slots     = 2
	gpuTime   = 200 * time.Microsecond // that a stage takes for a frame
)

// slot is where a frame is in the shared memory.
func slot(memory *dxgsync.Buffer, frame uint64) dxgsync.Range {
	return memory.Range(int(frame%slots)*frameSize, frameSize)
}

// pattern is what upload fills frame n with, and rendered what render makes of it.
func pattern(n uint64) uint32  { return 0x01010101 * uint32(n&0x7F) }
func rendered(n uint64) uint32 { return pattern(n) | 0x80808080 }

// open begins a session with `dxgsync run`'s kernel, and a device.
func open() (*dxgsync.Session, *dxgsync.Device, error) {
	session, err := dxgsync.Open(dxgsync.WithDaemon(dxgsync.DefaultAddress))
	if err != nil {
		return nil, nil, err
	}
	device, err := session.NewDevice()
	if err != nil {
		_ = session.Close()
		return nil, nil, fmt.Errorf("make a device: %w", err)
	}
	return session, device, nil
}

// onNode makes a context on the first node for which fits is true.
func onNode(d *dxgsync.Device, fits func(dxgsync.Node) bool) (*dxgsync.Context, error) {
	nodes, err := d.Nodes()
	if err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	i := slices.IndexFunc(nodes, fits)
	if i < 0 {
		return nil, fmt.Errorf("the adapter has no such node: %v", nodes)
	}
	c, err := d.NewContext(dxgsync.ContextOptions{Node: nodes[i].Ordinal})
	if err != nil {
		return nil, fmt.Errorf("make a context: %w", err)
	}
	return c, nil
}

func copies(n dxgsync.Node) bool   { return n.Engine == abi.EngineCopy }
func computes(n dxgsync.Node) bool { return n.Engine == abi.EngineOther }

// log writes one line of the timeline, in one write.
func log(role, event string, frame uint64, text string) {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	line := fmt.Sprintf("%d %s %s %d", now.Nano(), role, event, frame)
	if text != "" {
		line += " " + text
	}
	_, _ = os.Stdout.WriteString(line + "\n")
}
