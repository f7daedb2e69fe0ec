package wire

import "golang.org/x/sys/unix"

// A Room is the memory of one session: where frames arrive and leave. It lives
// outside the Go heap, so only the pages that were ever used cost memory.
type Room struct {
	// In is for DecodeRequest and for replies: 2*MaxFrame bytes, 8-aligned.
	In []byte
	// Out is for EncodeReply and EncodeRequest: MaxFrame bytes.
	Out []byte

	all []byte
}

// NewRoom maps a Room. The error is the system's, normally ENOMEM.
func NewRoom() (*Room, error) {
	all, err := unix.Mmap(-1, 0, 3*MaxFrame, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	return &Room{In: all[:2*MaxFrame], Out: all[2*MaxFrame:], all: all}, nil
}

// Free unmaps the Room. Nothing that points into it may be used afterwards.
func (r *Room) Free() {
	_ = unix.Munmap(r.all)
	*r = Room{}
}

// CloseAll closes descriptors.
func CloseAll(files []int) {
	for _, fd := range files {
		_ = unix.Close(fd)
	}
}
