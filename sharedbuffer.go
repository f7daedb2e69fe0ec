package dxgsync

import (
	"encoding/binary"
	"math"
	"os"

	"github.com/dxgsync/dxgsync/abi"
)

// NewSharedBuffer is [Device.NewBuffer] for memory that [Buffer.Share] can hand to other
// processes. It is a resource with one allocation.
func (d *Device) NewSharedBuffer(size int) (*Buffer, error) {
	return d.newBuffer(size, abi.AllocationCreateResource|abi.AllocationCreateShared|abi.AllocationNtSecuritySharing)
}

// Share returns a file that stands for the buffer, as [Fence.Share] does for a fence.
// The memory lives until the last copy is closed and the last view too. The caller
// closes it.
//
// Errors: [abi.StatusInvalidParameter] for a buffer made without NewSharedBuffer;
// [abi.StatusNoMemory] at a limit; [abi.StatusDeviceRemoved] after the loss of the
// daemon; [ErrClosed].
//
// D3DKMTShareObjects.
func (b *Buffer) Share() (*os.File, error) {
	if b.closed.Load() || b.dev.closed.Load() {
		return nil, ErrClosed
	}
	if b.resource == 0 {
		return nil, abi.StatusInvalidParameter
	}
	s := b.dev.s
	fd, st := s.ShareObjects(&abi.ShareObjects{DesiredAccess: uint32(AccessAll)}, []abi.Handle{b.resource}, nil)
	if st != abi.StatusSuccess {
		return nil, s.failure(st)
	}
	return os.NewFile(uintptr(fd), "buffer"), nil
}

// OpenBuffer opens the buffer that another process, or this one, has shared: the same
// memory, at addresses of this process. The file stays the caller's.
//
// Errors: [abi.StatusInvalidHandle] when file is closed or its kernel gone;
// [abi.StatusObjectTypeMismatch] when it stands for something else;
// [abi.StatusInvalidParameter] for a device of another adapter, and for a resource that
// is no buffer; else as [Device.NewBuffer].
//
// D3DKMTQueryResourceInfoFromNtHandle, D3DKMTOpenResourceFromNtHandle.
func (d *Device) OpenBuffer(file *os.File) (*Buffer, error) {
	if d.closed.Load() {
		return nil, ErrClosed
	}
	open := abi.OpenResourceFromNtHandle{HDevice: d.handle}
	var opened [1]abi.OpenAllocationInfo2
	data := heapDescription(0)
	st := withFile(file, func(fd int) abi.Status {
		info := abi.QueryResourceInfoFromNtHandle{HDevice: d.handle, HNtHandle: uint64(fd)}
		if st := d.s.QueryResourceInfoFromNtHandle(&info); st != abi.StatusSuccess {
			return st
		}
		if info.NumAllocations != 1 || int(info.TotalPrivateDriverDataSize) != len(data) ||
			info.PrivateRuntimeDataSize != 0 || info.ResourcePrivateDriverDataSize != 0 {
			return abi.StatusInvalidParameter
		}
		open.HNtHandle = uint64(fd)
		return d.s.OpenResourceFromNtHandle(&open, opened[:], ResourceData{Allocations: data})
	})
	if st != abi.StatusSuccess {
		return nil, d.failure(st)
	}
	b := &Buffer{dev: d, handle: opened[0].HAllocation, resource: open.HResource}
	size := binary.LittleEndian.Uint64(data[heapSize:])
	if string(data[:heapSize]) != string(heapDescription(0)[:heapSize]) || size == 0 || size > math.MaxInt {
		_ = b.Close()
		return nil, abi.StatusInvalidParameter
	}
	return d.place(b, int(size))
}
