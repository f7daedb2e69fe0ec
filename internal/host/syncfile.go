package host

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
)

// A sync file is the read end of a pipe: readable, and hung up, once the host has written
// a status of 4 bytes into it and closed its own end. A kernel that dies closes its end,
// too; then there is nothing to read.
type syncFile struct {
	host   *Host
	uid    uint32
	fd     int // to write into
	status abi.Status
}

// NewSyncFile makes one for process p, which gets the read end fd. NO_MEMORY at a limit.
func (h *Host) NewSyncFile(p *kernel.Process) (kernel.SyncFile, int, abi.Status) {
	if !h.takeFor(p.Info.UID, 1) {
		return nil, -1, abi.StatusNoMemory
	}
	var ends [2]int
	err := unix.Pipe2(ends[:], unix.O_CLOEXEC)
	if err == nil {
		if err = h.spare(ends[0], ends[1]); err == nil {
			err = unix.SetNonblock(ends[1], true) // a holder may reopen and fill it
		}
		if err != nil {
			close1(ends[0])
			close1(ends[1])
		}
	}
	if err != nil {
		h.giveFor(p.Info.UID, 1)
		return nil, -1, abi.StatusNoMemory
	}
	// A pipe of the usual size would do as well; pages of pipes are limited per user.
	_, _ = unix.FcntlInt(uintptr(ends[1]), unix.F_SETPIPE_SZ, pipeSize)
	return &syncFile{host: h, uid: p.Info.UID, fd: ends[1]}, ends[0], abi.StatusSuccess
}

// Fail implements kernel.SyncFile.
func (f *syncFile) Fail(st abi.Status) { f.status = st }

// Set writes the status. Whoever fills the pipe finds it readable anyway; one that nobody
// has any more cannot be written, and the Go runtime lets such a signal pass.
func (f *syncFile) Set() {
	_, _ = unix.Write(f.fd, binary.LittleEndian.AppendUint32(nil, uint32(f.status)))
}

// Close closes the host's end.
func (f *syncFile) Close() {
	close1(f.fd)
	f.host.giveFor(f.uid, 1)
}
