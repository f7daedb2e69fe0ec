package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync"
)

// fdFlags name the descriptors on the consumer's command line, in order.
var fdFlags = [...]string{"ready-fd", "done-fd", "quit-fd", "memory-fd"}

// fences are what the two processes share, each through a device of its own.
type fences struct {
	ready, done, quit *dxgsync.Fence
}

var errLost = errors.New("the other side is lost")

// lost reports whether any of the fences is.
func (f *fences) lost() bool { return f.ready.Lost() || f.done.Lost() || f.quit.Lost() }

const (
	slotSize = 4096
	slots    = 2
)

// A picture is the memory with the frames.
type picture []byte

func mapPicture(file *os.File) (picture, error) {
	b, err := unix.Mmap(int(file.Fd()), 0, slots*slotSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the frames: %w", err)
	}
	return b, nil
}

// newPicture makes the memory and the file that stands for it.
func newPicture() (picture, *os.File, error) {
	fd, err := unix.MemfdCreate("frames", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("make the frames: %w", err)
	}
	file := os.NewFile(uintptr(fd), "frames")
	if err := file.Truncate(slots * slotSize); err != nil {
		return nil, nil, err
	}
	p, err := mapPicture(file)
	return p, file, err
}

func (p picture) slot(frame uint64) []byte {
	at := frame % slots * slotSize
	return p[at : at+slotSize]
}

func (p picture) fill(frame uint64) {
	for i, s := 0, p.slot(frame); i < len(s); i++ {
		s[i] = byte(frame + uint64(i))
	}
}

func (p picture) check(frame uint64) error {
	for i, b := range p.slot(frame) {
		if want := byte(frame + uint64(i)); b != want {
			return fmt.Errorf("frame %d: byte %d is %#x, want %#x", frame, i, b, want)
		}
	}
	return nil
}

// log writes one line of the timeline, in one write.
func log(role, event string, frame uint64, keys ...string) {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	line := fmt.Sprintf("%d %s %s %d", now.Nano(), role, event, frame)
	_, _ = os.Stdout.WriteString(strings.Join(append([]string{line}, keys...), " ") + "\n")
}
