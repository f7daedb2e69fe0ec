package suite

import (
	"encoding/binary"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// descriptors is the descriptor table of a process that has none of its own
// because it lives in this one. Its numbers are its own, are never given out
// twice, and mean nothing to other processes.
type descriptors struct {
	real map[uint64]int
	next uint64
}

// firstDescriptor is where numbers begin, as after the three standard files.
const firstDescriptor = 3

func newDescriptors() *descriptors {
	return &descriptors{real: map[uint64]int{}, next: firstDescriptor}
}

// add takes a real descriptor over and numbers it.
func (d *descriptors) add(fd int) uint64 {
	n := d.next
	d.next++
	d.real[n] = fd
	return n
}

func (d *descriptors) get(n uint64) (int, error) {
	if fd, ok := d.real[n]; ok {
		return fd, nil
	}
	return -1, fmt.Errorf("descriptor %d: %w", n, unix.EBADF)
}

func (d *descriptors) closeAll() {
	for n, fd := range d.real {
		_ = unix.Close(fd)
		delete(d.real, n)
	}
}

// File implements Process.
func (d *descriptors) File(kind string) (uint64, error) {
	fd, err := makeFile(kind)
	if err != nil {
		return 0, err
	}
	return d.add(fd), nil
}

// makeFile makes a descriptor of a kind that scenarios can name.
func makeFile(kind string) (fd int, err error) {
	switch kind {
	case "event":
		fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	case "memory":
		fd, err = unix.MemfdCreate("dxgsync-suite", unix.MFD_CLOEXEC)
	case "null":
		fd, err = unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	case "pipe":
		var ends [2]int
		if err = unix.Pipe2(ends[:], unix.O_CLOEXEC); err == nil {
			_ = unix.Close(ends[0])
			fd = ends[1]
		}
	default:
		return -1, fmt.Errorf("%q is no kind of file: use event, pipe, memory or null", kind)
	}
	if err != nil {
		return -1, fmt.Errorf("make %s: %w", kind, err)
	}
	return fd, nil
}

// Dup implements Process.
func (d *descriptors) Dup(n uint64) (uint64, error) {
	fd, err := d.copied(n)
	if err != nil {
		return 0, err
	}
	return d.add(fd), nil
}

func (d *descriptors) copied(n uint64) (int, error) {
	fd, err := d.get(n)
	if err != nil {
		return -1, err
	}
	fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("duplicate descriptor %d: %w", n, err)
	}
	return fd, nil
}

// CloseFile implements Process.
func (d *descriptors) CloseFile(n uint64) error {
	fd, err := d.get(n)
	if err != nil {
		return err
	}
	delete(d.real, n)
	return unix.Close(fd)
}

// Send implements Process.
func (d *descriptors) Send(n uint64) (*os.File, error) {
	fd, err := d.copied(n)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "sent"), nil
}

// Receive implements Process.
func (d *descriptors) Receive(f *os.File) (uint64, error) {
	defer func() { _ = f.Close() }()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("receive descriptor: %w", err)
	}
	return d.add(fd), nil
}

// Ready implements Process.
func (d *descriptors) Ready(n uint64) (bool, error) {
	fd, err := d.get(n)
	if err != nil {
		return false, err
	}
	set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	k, err := unix.Poll(set, 0)
	if err == unix.EINTR {
		return false, nil
	}
	return k == 1 && set[0].Revents&unix.POLLIN != 0, err
}

// Take implements Process.
func (d *descriptors) Take(n uint64) (uint64, error) {
	ready, err := d.Ready(n)
	if err != nil || !ready {
		return 0, err
	}
	fd, err := d.get(n)
	if err != nil {
		return 0, err
	}
	var count [8]byte
	if _, err := unix.Read(fd, count[:]); err != nil {
		return 0, fmt.Errorf("read event %d: %w", n, err)
	}
	return binary.NativeEndian.Uint64(count[:]), nil
}
