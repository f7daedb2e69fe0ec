package page

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// NewHeap makes the memory of an allocation, all zero. Errors as for NewPage. size is a
// multiple of PageSize.
func NewHeap(size int) (*Memory, error) { return create("dxgsync-heap", size) }

// Bytes is the memory as bytes. It does not keep the memory mapped.
func (m *Memory) Bytes() []byte { return unsafe.Slice((*byte)(m.base), m.size) }

// Word64 is the naturally aligned word at an offset, which must lie in the memory.
func (m *Memory) Word64(offset int) *atomic.Uint64 {
	_ = m.Bytes()[offset : offset+8]
	return (*atomic.Uint64)(unsafe.Add(m.base, offset))
}

// Word32 is the same for 4 bytes.
func (m *Memory) Word32(offset int) *atomic.Uint32 {
	_ = m.Bytes()[offset : offset+4]
	return (*atomic.Uint32)(unsafe.Add(m.base, offset))
}

// ReadProcess copies from address of a process to b and returns how many bytes could be
// read; WriteProcess is the other way round. Whoever calls needs the right to trace the
// process.
func ReadProcess(pid int, address uint64, b []byte) int {
	return transfer(unix.ProcessVMReadv, pid, address, b)
}

// WriteProcess copies b to address of a process.
func WriteProcess(pid int, address uint64, b []byte) int {
	return transfer(unix.ProcessVMWritev, pid, address, b)
}

func transfer(call func(int, []unix.Iovec, []unix.RemoteIovec, uint) (int, error), pid int, address uint64, b []byte) int {
	done := 0
	for done < len(b) {
		local := unix.Iovec{Base: &b[done]}
		local.SetLen(len(b) - done)
		remote := unix.RemoteIovec{Base: uintptr(address) + uintptr(done), Len: len(b) - done}
		n, err := call(pid, []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		done += n
	}
	return done
}
