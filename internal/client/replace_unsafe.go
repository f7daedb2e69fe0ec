package client

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/internal/page"
)

// replace puts a private page with the highest value in the place of one that can
// only be read. The page is made elsewhere and moved there in one step, so a reader
// sees the old value or the highest, and never faults. Without memory for it the old
// page stays: readers then learn of the death from the connection only.
func replace(mem *page.Memory) {
	size := uintptr(mem.Size())
	fresh, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return
	}
	cell := (*page.Cell)(fresh)
	cell.Init(1<<64 - 1)
	page.View{Cell: cell}.SetAsk()
	_, _, e := unix.Syscall(unix.SYS_MPROTECT, uintptr(fresh), size, unix.PROT_READ)
	if e == 0 {
		_, _, e = unix.Syscall6(unix.SYS_MREMAP, uintptr(fresh), size, size, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, mem.Base(), 0)
	}
	if e != 0 {
		_ = unix.MunmapPtr(unsafe.Pointer(cell), size)
	}
}
