package wire

import (
	"errors"
	"io"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Errors of a Link that are no errno.
var (
	// ErrTruncated: a message was larger than the buffer, or had more than MaxFiles
	// descriptors. Those that arrived are closed.
	ErrTruncated = errors.New("truncated message")
	// ErrFilesLost: the message is whole, but this process has no descriptor numbers
	// left for its descriptors. Those that arrived are closed.
	ErrFilesLost = errors.New("descriptors lost: none left")
)

// A Link is one end of a connected SOCK_SEQPACKET socket. It blocks in the system
// call itself, without Go's poller, which costs half the time of a round trip.
// One goroutine may send while another receives; each direction belongs to one
// goroutine at a time. Shutdown ends both from anywhere.
type Link struct {
	fd      int
	in, out side
}

// side is the argument block of one direction, made once.
type side struct {
	msg     unix.Msghdr
	iov     unix.Iovec
	control [controlSize / 8]uint64
}

// controlSize is the room for MaxFiles descriptors (16 bytes of header and 4 per
// descriptor, on 64-bit hosts), a multiple of 8.
const controlSize = 16 + 4*MaxFiles

// NewLink makes a Link of a blocking SOCK_SEQPACKET descriptor, which it owns
// from now on.
func NewLink(fd int) *Link {
	l := &Link{fd: fd}
	for _, s := range []*side{&l.in, &l.out} {
		s.msg.Iov = &s.iov
		s.msg.SetIovlen(1)
	}
	return l
}

// FD is the descriptor, for poll and socket options.
func (l *Link) FD() int { return l.fd }

// Shutdown ends the connection: whoever is blocked in Receive or Send on either
// end returns. The descriptor stays open until Close.
func (l *Link) Shutdown() { _ = unix.Shutdown(l.fd, unix.SHUT_RDWR) }

// Close closes the descriptor. Nobody may be in Receive, Send or Shutdown then or later.
func (l *Link) Close() { _ = unix.Close(l.fd) }

// Receive waits for one message and returns its size. The descriptors that came
// along, close-on-exec, are appended to files and are the caller's. io.EOF: the
// other end is gone, or sent an empty message, which no frame is. ErrTruncated,
// ErrFilesLost: see there. Other errors are the system's.
func (l *Link) Receive(b []byte, files []int) (n int, out []int, err error) {
	s := &l.in
	s.iov.Base = unsafe.SliceData(b)
	s.iov.SetLen(len(b))
	s.msg.Control = (*byte)(unsafe.Pointer(&s.control))
	for {
		s.msg.SetControllen(controlSize)
		r, _, e := unix.Syscall(unix.SYS_RECVMSG, uintptr(l.fd), uintptr(unsafe.Pointer(&s.msg)), unix.MSG_CMSG_CLOEXEC)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return 0, files, e
		}
		n = int(r)
		break
	}
	old := len(files)
	if s.msg.Controllen != 0 {
		files = s.received(files)
	}
	switch flags := s.msg.Flags; {
	case n == 0:
		err = io.EOF
	case flags&unix.MSG_TRUNC != 0, flags&unix.MSG_CTRUNC != 0 && len(files)-old >= MaxFiles:
		err = ErrTruncated
	case flags&unix.MSG_CTRUNC != 0:
		err = ErrFilesLost
	default:
		return n, files, nil
	}
	CloseAll(files[old:])
	return n, files[:old], err
}

// received appends the descriptors in the control block. Only SCM_RIGHTS can be
// there: no option asks for other control messages.
func (s *side) received(files []int) []int {
	room := unsafe.Slice((*byte)(unsafe.Pointer(&s.control)), controlSize)[:s.msg.Controllen]
	for len(room) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(unsafe.SliceData(room)))
		size := int(h.Len)
		if size < unix.SizeofCmsghdr || size > len(room) {
			break
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_RIGHTS {
			for data := room[unix.SizeofCmsghdr:size]; len(data) >= 4; data = data[4:] {
				files = append(files, int(int32(le.Uint32(data))))
			}
		}
		room = room[min(len(room), pad8(size)):]
	}
	return files
}

// Send sends one message with copies of at most MaxFiles descriptors. It blocks
// while the other end does not read. EPIPE: the other end is gone. Other errors
// are the system's.
func (l *Link) Send(b []byte, files []int) error {
	if len(files) > MaxFiles {
		return unix.EINVAL
	}
	// The first try cannot block, so the scheduler need not hear of it. Without
	// descriptors sendto does, which costs the system less.
	const flags = unix.MSG_NOSIGNAL | unix.MSG_DONTWAIT
	var e unix.Errno
	if len(files) == 0 {
		_, _, e = unix.RawSyscall6(unix.SYS_SENDTO, uintptr(l.fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), flags, 0, 0)
	} else {
		l.out.fill(b, files)
		_, _, e = unix.RawSyscall(unix.SYS_SENDMSG, uintptr(l.fd), uintptr(unsafe.Pointer(&l.out.msg)), flags)
	}
	for e == unix.EINTR || e == unix.EAGAIN {
		l.out.fill(b, files)
		_, _, e = unix.Syscall(unix.SYS_SENDMSG, uintptr(l.fd), uintptr(unsafe.Pointer(&l.out.msg)), unix.MSG_NOSIGNAL)
	}
	if e != 0 {
		return e
	}
	return nil
}

// fill makes the argument block of a message to send.
func (s *side) fill(b []byte, files []int) {
	s.iov.Base = unsafe.SliceData(b)
	s.iov.SetLen(len(b))
	s.msg.Control = nil
	s.msg.SetControllen(0)
	if len(files) == 0 {
		return
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(&s.control))
	h.Level, h.Type = unix.SOL_SOCKET, unix.SCM_RIGHTS
	h.SetLen(unix.CmsgLen(4 * len(files)))
	data := unsafe.Slice((*byte)(unsafe.Pointer(&s.control)), controlSize)[unix.SizeofCmsghdr:]
	for i, fd := range files {
		le.PutUint32(data[4*i:], uint32(fd))
	}
	s.msg.Control = (*byte)(unsafe.Pointer(&s.control))
	s.msg.SetControllen(unix.CmsgSpace(4 * len(files)))
}

// ReceivePlain is Receive for a message that can bring no descriptors; any that
// came are lost. It costs the system less. An empty b must not be given.
func (l *Link) ReceivePlain(b []byte) (n int, err error) {
	for {
		r, _, e := unix.Syscall6(unix.SYS_RECVFROM, uintptr(l.fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
		switch {
		case e == unix.EINTR:
		case e != 0:
			return 0, e
		case r == 0:
			return 0, io.EOF
		default:
			return int(r), nil
		}
	}
}
