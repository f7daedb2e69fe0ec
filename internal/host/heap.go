package host

import (
	"encoding/binary"
	"math"
	"os"
	"sync"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/page"
)

// heapFile is the memory of an allocation: a file in memory, mapped here for the GPU,
// and wherever the allocation is locked.
type heapFile struct {
	host *Host
	uid  uint32
	mem  *page.Memory

	mu    sync.Mutex // of the descriptor
	freed bool
}

// maxHeapBytes is how much memory of allocations one user may have: of the addresses of
// this process, in which all of it is mapped, no user gets more than a small part.
const maxHeapBytes = 1 << 40

// takeHeap counts memory of allocations for a user; false at the limit. What is given
// back is negative.
func (h *Host) takeHeap(uid uint32, size int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if size > maxHeapBytes-h.heaps[uid] {
		return false
	}
	if h.heaps[uid] += size; h.heaps[uid] == 0 {
		delete(h.heaps, uid)
	}
	return true
}

// NewAllocationMemory makes memory, all zero, that counts for a user like any other.
// NO_MEMORY at a limit, or when it is more than can be mapped.
func (h *Host) NewAllocationMemory(uid uint32, size uint64) (kernel.AllocationMemory, abi.Status) {
	if size > maxHeapBytes || !h.takeHeap(uid, int64(size)) {
		return nil, abi.StatusNoMemory
	}
	if !h.takeFor(uid, 1) {
		h.takeHeap(uid, -int64(size))
		return nil, abi.StatusNoMemory
	}
	m, err := h.makeMemory(func() (*page.Memory, error) { return page.NewHeap(int(size)) })
	if err != nil {
		h.giveFor(uid, 1)
		h.takeHeap(uid, -int64(size))
		return nil, abi.StatusNoMemory
	}
	return &heapFile{host: h, uid: uid, mem: m}, abi.StatusSuccess
}

// part is what of n bytes from offset on there is.
func (m *heapFile) part(offset uint64, n int) []byte {
	all := m.mem.Bytes()
	if offset >= uint64(len(all)) {
		return nil
	}
	return all[offset:min(uint64(len(all)), offset+uint64(n))]
}

func (m *heapFile) Read(offset uint64, b []byte) int  { return copy(b, m.part(offset, len(b))) }
func (m *heapFile) Write(offset uint64, b []byte) int { return copy(m.part(offset, len(b)), b) }

func (m *heapFile) Load(offset uint64, size int) (uint64, bool) {
	if len(m.part(offset, size)) < size {
		return 0, false
	}
	if size == 4 {
		return uint64(m.mem.Word32(int(offset)).Load()), true
	}
	return m.mem.Word64(int(offset)).Load(), true
}

func (m *heapFile) Store(offset uint64, size int, v uint64) bool {
	if len(m.part(offset, size)) < size {
		return false
	}
	if size == 4 {
		m.mem.Word32(int(offset)).Store(uint32(v))
	} else {
		m.mem.Word64(int(offset)).Store(v)
	}
	return true
}

// File makes a descriptor to map the memory by, which the caller closes.
func (m *heapFile) File() (int, abi.Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.freed {
		return -1, abi.StatusInvalidParameter
	}
	fd, err := m.host.lend(m.mem, true)
	if err != nil {
		return -1, abi.StatusNoMemory
	}
	return fd, abi.StatusSuccess
}

// Free ends the use of the memory here. Who has it mapped elsewhere keeps it.
func (m *heapFile) Free() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.freed = true
	m.mem.CloseFD()
	m.mem.Unmap()
	m.host.giveFor(m.uid, 1)
	m.host.takeHeap(m.uid, -int64(m.mem.Size()))
}

// clientMemory is memory of a client itself, which the system moves for us as for a
// debugger. It is there for as long as the client has it mapped.
type clientMemory struct {
	pid     int
	address uint64
}

// noMemory is memory that cannot be had.
type noMemory struct{}

// ClientMemory is what a process has at an address of its own. Only memory of this
// process's own user is touched: a daemon of root could be led to write into a program
// that has more rights than its client had when it came.
func (h *Host) ClientMemory(p *kernel.Process, address uint64) kernel.AllocationMemory {
	if p.Info.InProcess {
		return clientMemory{os.Getpid(), address}
	}
	if p.Info.UID != h.user || p.Info.PID <= 0 {
		return noMemory{}
	}
	return clientMemory{p.Info.PID, address}
}

func (m clientMemory) fits(offset uint64) bool { return offset <= math.MaxInt-m.address }

func (m clientMemory) Read(offset uint64, b []byte) int {
	if m.address > math.MaxInt || !m.fits(offset) {
		return 0
	}
	return page.ReadProcess(m.pid, m.address+offset, b)
}

func (m clientMemory) Write(offset uint64, b []byte) int {
	if m.address > math.MaxInt || !m.fits(offset) {
		return 0
	}
	return page.WriteProcess(m.pid, m.address+offset, b)
}

func (m clientMemory) Load(offset uint64, size int) (uint64, bool) {
	var b [8]byte
	n := m.Read(offset, b[:size])
	return binary.LittleEndian.Uint64(b[:]), n == size
}

func (m clientMemory) Store(offset uint64, size int, v uint64) bool {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	return m.Write(offset, b[:size]) == size
}

func (clientMemory) File() (int, abi.Status) { return -1, abi.StatusInvalidParameter }
func (clientMemory) Free()                   {}

func (noMemory) Read(uint64, []byte) int         { return 0 }
func (noMemory) Write(uint64, []byte) int        { return 0 }
func (noMemory) Load(uint64, int) (uint64, bool) { return 0, false }
func (noMemory) Store(uint64, int, uint64) bool  { return false }
func (noMemory) File() (int, abi.Status)         { return -1, abi.StatusInvalidParameter }
func (noMemory) Free()                           {}
