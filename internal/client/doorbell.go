package client

import (
	"runtime"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// A Doorbell is the mapped memory of a doorbell. It stays mapped until nobody can reach
// the Doorbell any more.
type Doorbell struct {
	conn            *Conn
	program, status *page.Memory
}

// Doorbell maps the two pages of a doorbell that was just made: files are their
// descriptors, which are closed whatever happens. NO_MEMORY: they cannot be mapped; the
// caller destroys the doorbell.
func (c *Conn) Doorbell(files []abi.OutFile) (*Doorbell, abi.Status) {
	if len(files) != 2 {
		closeOut(files)
		return nil, abi.StatusNoMemory
	}
	defer closeOut(files)
	program, err := page.Map(files[0].FD, page.PageSize, true)
	if err != nil {
		return nil, abi.StatusNoMemory
	}
	status, err := page.Map(files[1].FD, page.PageSize, false)
	if err != nil {
		program.Unmap()
		return nil, abi.StatusNoMemory
	}
	return &Doorbell{c, program, status}, abi.StatusSuccess
}

// Ring says that the buffers up to entry have been queued, the last of which makes a
// progress.
func (d *Doorbell) Ring(entry, progress uint64) {
	d.word(page.DoorbellLastQueuedAt).Store(progress)
	d.word(page.DoorbellAt).Store(entry)
	runtime.KeepAlive(d)
}

func (d *Doorbell) word(offset int) *atomic.Uint64 { return d.program.Word64(offset) }

// Status is what the kernel says of the doorbell; without a kernel it is over.
func (d *Doorbell) Status() abi.DoorbellStatus {
	st := abi.DoorbellStatus(d.status.Word64(0).Load())
	runtime.KeepAlive(d)
	if d.conn.IsDead() {
		return abi.DoorbellDisconnectedAbort
	}
	return st
}
