package host

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// increments adds 1 to eventfds without ever blocking. A write would do, but one to
// a full counter blocks unless the file says otherwise; that flag is shared with
// the client, and so is the counter, which a hostile client may fill between a look
// and a write. The completion of an asynchronous read also increments an eventfd,
// inside the system, where nothing blocks: as a driver in the system would do it.
type increments struct {
	mu      sync.Mutex
	context uintptr
	zero    int // /dev/zero, to read from
	pending int // completions not reaped yet
	request iocb
	byte    [1]byte
	reaped  [aioRoom]aioEvent
}

// aioRoom is how many completions may wait to be reaped.
const aioRoom = 64

// iocb and aioEvent are the system's struct iocb and struct io_event, from
// linux/aio_abi.h. What is left at zero has no name here.
type iocb struct {
	_         [2]uint64 // data, key, rw_flags
	opcode    uint16
	_         int16 // reqprio
	file      uint32
	buffer    uint64
	size      uint64
	_         int64  // offset
	_         uint64 // reserved2
	flags     uint32
	resultsTo uint32
}

type aioEvent struct{ _ [4]uint64 }

const (
	aioRead    = 0 // IOCB_CMD_PREAD
	aioTellsTo = 1 // IOCB_FLAG_RESFD
)

func newIncrements() (*increments, error) {
	zero, err := unix.Open("/dev/zero", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/zero: %w", err)
	}
	i := &increments{zero: zero}
	if _, _, errno := unix.Syscall(unix.SYS_IO_SETUP, 2*aioRoom, uintptr(unsafe.Pointer(&i.context)), 0); errno != 0 {
		close1(zero)
		return nil, fmt.Errorf("set up asynchronous reads: %w", errno)
	}
	return i, nil
}

// add adds 1 to the eventfd. It fails where the system does not want it.
func (i *increments) add(fd int) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.pending == aioRoom {
		i.reap()
	}
	i.request = iocb{
		opcode: aioRead, file: uint32(i.zero), buffer: uint64(uintptr(unsafe.Pointer(&i.byte))), size: 1,
		flags: aioTellsTo, resultsTo: uint32(fd),
	}
	list := [1]*iocb{&i.request}
	// A read of /dev/zero is over when the call returns.
	if _, _, errno := unix.RawSyscall(unix.SYS_IO_SUBMIT, i.context, 1, uintptr(unsafe.Pointer(&list))); errno != 0 {
		return errno
	}
	i.pending++
	return nil
}

func (i *increments) reap() {
	_, _, _ = unix.RawSyscall6(unix.SYS_IO_GETEVENTS, i.context, 0, aioRoom, uintptr(unsafe.Pointer(&i.reaped)), 0, 0)
	i.pending = 0
}

func (i *increments) close() {
	_, _, _ = unix.Syscall(unix.SYS_IO_DESTROY, i.context, 0, 0)
	close1(i.zero)
}
