package page

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Memory is a mapped memfd: a page, a slab, or a bell table. It is unmapped by
// Unmap, or when neither the Memory nor a View or Bells of it is reachable any more,
// so a signal through a fence that is being destroyed cannot fault.
type Memory struct {
	base    unsafe.Pointer
	size    int
	fd      int // -1: not this Memory's
	cleanup runtime.Cleanup
	once    sync.Once
}

// NewPage makes a page for one fence, all zero. Errors are the system's: EMFILE,
// ENFILE, ENOMEM.
func NewPage() (*Memory, error) { return create("dxgsync-fence", PageSize) }

// NewSlab makes a slab of SlabCells cells, all zero. Errors as for NewPage.
func NewSlab() (*Memory, error) { return create("dxgsync-slab", SlabSize) }

// create makes a memfd that can change neither its size nor its seals: a peer that
// shrank it would make everybody else's access a SIGBUS.
func create(name string, size int) (*Memory, error) {
	fd, err := memfd(name)
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", name, err)
	}
	// It is born open to all, and a peer of another user, who gets a descriptor only for
	// reading, could reopen it for writing through /proc. Later the system would make
	// this call wait for any holder's write.
	if err = unix.Fchmod(fd, 0o600); err == nil {
		err = unix.Ftruncate(fd, int64(size))
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("make %s: %w", name, err)
	}
	m, err := Map(fd, size, true)
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	m.fd = fd
	return m, nil
}

func memfd(name string) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	return fd, err
}

// Map maps the first size bytes of a descriptor that another process made. fd stays
// the caller's and may be closed at once. Errors are the system's; EACCES: writable
// was asked of a read-only descriptor.
func Map(fd, size int, writable bool) (*Memory, error) {
	prot := unix.PROT_READ
	if writable {
		prot |= unix.PROT_WRITE
	}
	base, err := unix.MmapPtr(fd, 0, nil, uintptr(size), prot, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", size, err)
	}
	m := &Memory{base: base, size: size, fd: -1}
	mappings.Add(1)
	m.cleanup = runtime.AddCleanup(m, unmap, mapping{base, size})
	return m, nil
}

var mappings atomic.Int64

// Mapped returns how many Memories of this process are mapped. The system limits
// mappings (vm.max_map_count), and the Go runtime cannot live without new ones.
func Mapped() int { return int(mappings.Load()) }

type mapping struct {
	base unsafe.Pointer
	size int
}

func unmap(m mapping) {
	_ = unix.MunmapPtr(m.base, uintptr(m.size))
	mappings.Add(-1)
}

// Unmap unmaps the memory now. Nobody may use a View or Bells of it any more: that
// is a fault. It may be called again.
func (m *Memory) Unmap() {
	m.once.Do(func() {
		m.cleanup.Stop()
		unmap(mapping{m.base, m.size})
	})
}

// Base returns the address of the first byte, as a number.
func (m *Memory) Base() uintptr { return uintptr(m.base) }

// Size returns the number of bytes.
func (m *Memory) Size() int { return m.size }

// FD returns the descriptor of memory that this process made, -1 when it was
// mapped from elsewhere or its descriptor was closed.
func (m *Memory) FD() int { return m.fd }

// CloseFD closes the descriptor. The mapping stays.
func (m *Memory) CloseFD() {
	if m.fd >= 0 {
		_ = unix.Close(m.fd)
	}
	m.fd = -1
}

// ReadOnly opens another descriptor of memory that this process made, through which
// nobody can write, for a peer of another user. The caller closes the descriptor.
// Errors are the system's.
func (m *Memory) ReadOnly() (int, error) {
	fd, err := unix.Open("/proc/self/fd/"+strconv.Itoa(m.fd), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open memory for reading: %w", err)
	}
	return fd, nil
}

// View returns the cell of a page of its own.
func (m *Memory) View() View {
	return View{Cell: (*Cell)(m.base), Slots: PageSlots, mem: m}
}

// CellView returns the cell at a byte offset into a slab. It panics when the offset
// is not that of a cell.
func (m *Memory) CellView(offset int) View {
	if offset < 0 || offset > m.size-CellSize || offset%CellSize != 0 {
		panic("page: no cell at offset " + strconv.Itoa(offset) + " of " + strconv.Itoa(m.size))
	}
	return View{Cell: (*Cell)(unsafe.Add(m.base, offset)), Slots: CellSlots, mem: m}
}

func (m *Memory) bells() *Bells {
	return &Bells{lines: unsafe.Slice((*bellLine)(m.base), m.size/CellSize), mem: m}
}
