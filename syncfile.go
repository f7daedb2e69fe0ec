package dxgsync

import (
	"encoding/binary"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
)

// CreateSyncFile makes a sync file, a descriptor that the caller must close, for a value
// of a fence. See [Fence.SyncFile] for what can be done with it.
func (s *Session) CreateSyncFile(r *abi.CreateSyncFile) (fd int, st abi.Status) {
	return s.handle(request(abi.OpCreateSyncFile, r), nil)
}

// SyncFile returns a file that is readable when the fence has reached v, at once if it
// has, and when that can no longer be told. It can be polled, and passed to any process,
// whether that knows of fences or not; [SyncFileStatus] says how it came out. The caller
// closes it. Until v is reached it costs the kernel a wait and a descriptor, also when it
// is closed before.
//
// Errors: [abi.StatusAccessDenied] when this view may not wait;
// [abi.StatusInvalidParameter] on an adapter without 64-bit atomics when v is more than
// 0x7FFFFFFF away from the value; [abi.StatusNoMemory] at a limit;
// [abi.StatusDeviceRemoved] after the loss of the device or of the daemon; [ErrClosed].
//
// D3DKMTCreateSyncFile.
func (f *Fence) SyncFile(v uint64) (*os.File, error) {
	if f.closed.Load() {
		return nil, ErrClosed
	}
	fd, st := f.dev.s.CreateSyncFile(&abi.CreateSyncFile{HDevice: f.dev.handle, HMonitoredFence: f.handle, FenceValue: v})
	if st != abi.StatusSuccess {
		return nil, f.dev.s.failure(st)
	}
	_ = unix.SetNonblock(fd, true) // so that reading blocks a goroutine, not a thread
	return os.NewFile(uintptr(fd), "sync file"), nil
}

// SyncFileStatus reads a sync file until it says how it came out: nil when the value was
// reached or the view of the fence was closed; [abi.StatusDeviceRemoved] when a device
// was lost or closed, or a process ended, before. It can be read once; whoever reads
// after that, and whoever reads after the end of the kernel, gets [io.ErrUnexpectedEOF].
func SyncFileStatus(file *os.File) error {
	var b [4]byte
	if _, err := io.ReadFull(file, b[:]); err != nil {
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	if st := abi.Status(binary.LittleEndian.Uint32(b[:])); !st.OK() {
		return st
	}
	return nil
}
