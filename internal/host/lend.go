package host

import (
	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/internal/page"
)

// spare refuses descriptors that were just made, with unix.EMFILE, when fewer than
// reserve would be left for others: for the door, which must be able to accept a
// connection in order to refuse it. New descriptors get the lowest free number, so
// a number that high says how many there are, whoever has them.
func (h *Host) spare(fds ...int) error {
	for _, fd := range fds {
		if fd >= h.limit {
			return unix.EMFILE
		}
	}
	return nil
}

// makeMemory makes memory unless that would leave too few descriptors or mappings.
func (h *Host) makeMemory(make func() (*page.Memory, error)) (*page.Memory, error) {
	if !h.maps.room() {
		return nil, unix.ENOMEM
	}
	m, err := make()
	if err != nil {
		return nil, err
	}
	if err := h.spare(m.FD()); err != nil {
		m.CloseFD()
		m.Unmap()
		return nil, err
	}
	return m, nil
}

// lend makes a descriptor for a process to map m. It is a descriptor of its own: m
// may be freed, and its number belong to another file, before the answer is sent.
func (h *Host) lend(m *page.Memory, writable bool) (fd int, err error) {
	if writable {
		fd, err = unix.FcntlInt(uintptr(m.FD()), unix.F_DUPFD_CLOEXEC, 0)
	} else {
		fd, err = m.ReadOnly()
	}
	if err != nil {
		return -1, err
	}
	if err := h.spare(fd); err != nil {
		close1(fd)
		return -1, err
	}
	return fd, nil
}

// Close closes a descriptor that the host made and that will not be sent.
func (h *Host) Close(fd int) { close1(fd) }
