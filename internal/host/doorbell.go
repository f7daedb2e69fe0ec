package host

import (
	"sync"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/page"
)

// doorbellPages is the memory of a doorbell of another process: the page that it writes,
// and the one with the status.
type doorbellPages struct {
	host            *Host
	uid             uint32
	program, status *page.Memory

	mu    sync.Mutex // of the descriptors
	freed bool
}

// doorbellWords is the memory of a doorbell of this address space.
type doorbellWords struct{ bell, secondary, lastQueued, status atomic.Uint64 }

// NewDoorbell makes the memory of a doorbell, which counts as two memories of the user.
func (h *Host) NewDoorbell(p *kernel.Process) (kernel.DoorbellMemory, abi.Status) {
	if p.Info.InProcess {
		return new(doorbellWords), abi.StatusSuccess
	}
	if !h.takeFor(p.Info.UID, 2) {
		return nil, abi.StatusNoMemory
	}
	m := &doorbellPages{host: h, uid: p.Info.UID}
	newPage := func() (*page.Memory, error) { return page.NewHeap(page.PageSize) }
	var err error
	if m.program, err = h.makeMemory(newPage); err == nil {
		if m.status, err = h.makeMemory(newPage); err == nil {
			return m, abi.StatusSuccess
		}
		m.program.CloseFD()
		m.program.Unmap()
	}
	h.giveFor(p.Info.UID, 2)
	return nil, abi.StatusNoMemory
}

func (m *doorbellPages) Words() kernel.DoorbellWords {
	return kernel.DoorbellWords{
		Bell: m.program.Word64(page.DoorbellAt), Secondary: m.program.Word64(page.DoorbellSecondaryAt), LastQueued: m.program.Word64(page.DoorbellLastQueuedAt),
		Status: m.status.Word64(0),
	}
}

func (m *doorbellPages) Files() ([]abi.OutFile, abi.Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.freed {
		return nil, abi.StatusNoMemory
	}
	program, err := m.host.lend(m.program, true)
	if err != nil {
		return nil, abi.StatusNoMemory
	}
	status, err := m.host.lend(m.status, false)
	if err != nil {
		close1(program)
		return nil, abi.StatusNoMemory
	}
	return []abi.OutFile{{FD: program}, {FD: status}}, abi.StatusSuccess
}

func (m *doorbellPages) Free() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.freed = true
	for _, p := range []*page.Memory{m.program, m.status} {
		p.CloseFD()
		p.Unmap()
	}
	m.host.giveFor(m.uid, 2)
}

func (m *doorbellWords) Words() kernel.DoorbellWords {
	return kernel.DoorbellWords{Bell: &m.bell, Secondary: &m.secondary, LastQueued: &m.lastQueued, Status: &m.status}
}

func (*doorbellWords) Files() ([]abi.OutFile, abi.Status) { return nil, abi.StatusSuccess }
func (*doorbellWords) Free()                              {}
