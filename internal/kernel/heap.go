package kernel

import (
	"sync"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// maxHeap is the most bytes that one allocation may have.
const maxHeap = 1 << 40

// A heap is the memory of an allocation (vidmm.Memory). Memory of the host's making is
// made when it is first needed: to be locked, or when a GPU uses it. It goes when the
// allocation is gone and no access is under way; whoever has it mapped keeps it.
type heap struct {
	kernel *Kernel
	uid    uint32 // whom it counts for

	mu    sync.Mutex
	size  uint64           // bytes, a multiple of pages; 0: not known yet
	fixed bool             // the size is the allocation's own
	back  AllocationMemory // nil: not needed yet
	holds int
	gone  bool
}

// need makes the memory. The heap's lock is held. INVALID_PARAMETER: it is gone, or
// nobody knows how much it is; else what the host says.
func (h *heap) need() (AllocationMemory, abi.Status) {
	if h.back != nil {
		return h.back, abi.StatusSuccess
	}
	if h.gone || h.size == 0 {
		return nil, abi.StatusInvalidParameter
	}
	back, st := h.kernel.host.NewAllocationMemory(h.uid, h.size)
	if st.OK() {
		h.back = back
	}
	return back, st
}

// use returns the memory for one access of a holder; nil: it cannot be had.
func (h *heap) use() AllocationMemory {
	h.mu.Lock()
	defer h.mu.Unlock()
	back, _ := h.need()
	return back
}

// Hold implements vidmm.Memory.
func (h *heap) Hold() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone {
		return false
	}
	h.holds++
	return true
}

// Drop implements vidmm.Memory.
func (h *heap) Drop() {
	h.mu.Lock()
	h.holds--
	back := h.leave()
	h.mu.Unlock()
	if back != nil {
		back.Free()
	}
}

// end takes the memory away as soon as nobody holds it. Without the kernel's lock: it
// may take long.
func (h *heap) end() {
	h.mu.Lock()
	h.gone = true
	back := h.leave()
	h.mu.Unlock()
	if back != nil {
		back.Free()
	}
}

// leave returns memory that nobody needs any more, to be freed without the heap's lock:
// who asks whether it can be held must not wait for that.
func (h *heap) leave() (back AllocationMemory) {
	if h.gone && h.holds == 0 {
		back, h.back = h.back, nil
	}
	return back
}

// reaches reports whether the allocation has so many bytes. If its driver alone knows
// how many it has, somebody who asks for them tells us too, until the memory is made;
// of a client's own memory there may be any number.
func (h *heap) reaches(size uint64, clients bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.fixed:
		return size <= h.size
	case size > maxHeap || h.back != nil && !clients && size > h.size:
		return false
	}
	h.size = max(h.size, size)
	return true
}

// made is how many bytes there are by now.
func (h *heap) made() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.back == nil {
		return 0
	}
	return h.size
}

// file is a descriptor to map the memory by.
func (h *heap) file() (int, abi.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	back, st := h.need()
	if !st.OK() {
		return -1, st
	}
	return back.File()
}

// Read implements vidmm.Memory.
func (h *heap) Read(offset uint64, b []byte) int {
	if m := h.use(); m != nil {
		return m.Read(offset, b)
	}
	return 0
}

// Write implements vidmm.Memory.
func (h *heap) Write(offset uint64, b []byte) int {
	if m := h.use(); m != nil {
		return m.Write(offset, b)
	}
	return 0
}

// Load implements vidmm.Memory.
func (h *heap) Load(offset uint64, size int) (uint64, bool) {
	if m := h.use(); m != nil {
		return m.Load(offset, size)
	}
	return 0, false
}

// Store implements vidmm.Memory.
func (h *heap) Store(offset uint64, size int, v uint64) bool {
	m := h.use()
	return m != nil && m.Store(offset, size, v)
}

// pages rounds bytes up to pages; 0 for more than there can be.
func pages(bytes uint64) uint64 {
	if bytes > maxHeap {
		return 0
	}
	return (bytes + vidmm.PageSize - 1) &^ (vidmm.PageSize - 1)
}
