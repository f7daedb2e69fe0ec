package dxgsync

import (
	"sync"
	"unsafe"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/page"
)

// A heapFence is a fence of this process alone, on a kernel in this process: the
// Fence and its cell in one piece of ordinary memory. Nothing is mapped, no
// descriptor is used, and the garbage collector frees it, for a goroutine may
// still signal it when it is closed. The kernel's part is used again at once.
type heapFence struct {
	Fence
	cell page.Cell
	room *kernel.FenceRoom
}

// heapStock is what a device has ready for its next heap fences.
type heapStock struct {
	mu     sync.Mutex
	fences []heapFence         // never used
	rooms  []*kernel.FenceRoom // given back
	fresh  []kernel.FenceRoom  // never used
}

// How many are allocated at a time, and how many rooms are kept.
const (
	fencesPerChunk = 4096 / int(unsafe.Sizeof(heapFence{}))
	roomsPerChunk  = 4096 / int(unsafe.Sizeof(kernel.FenceRoom{}))
	roomsKept      = 1024
)

func (k *heapStock) take() *heapFence {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.fences) == 0 {
		k.fences = make([]heapFence, fencesPerChunk)
	}
	h := &k.fences[0]
	k.fences = k.fences[1:]
	if last := len(k.rooms) - 1; last >= 0 {
		h.room, k.rooms = k.rooms[last], k.rooms[:last]
		return h
	}
	if len(k.fresh) == 0 {
		k.fresh = make([]kernel.FenceRoom, roomsPerChunk)
	}
	h.room, k.fresh = &k.fresh[0], k.fresh[1:]
	return h
}

func (k *heapStock) give(room *kernel.FenceRoom) {
	k.mu.Lock()
	if len(k.rooms) < roomsKept {
		k.rooms = append(k.rooms, room)
	}
	k.mu.Unlock()
}

// newHeapFence makes the fence where the session's kernel is in this process;
// otherwise it returns neither fence nor error.
func (d *Device) newHeapFence(opts *FenceOptions) (*Fence, error) {
	l, ok := d.s.door.(*local)
	if !ok || opts.Flags&abi.SyncObjectShared != 0 {
		return nil, nil
	}
	h := d.stock.take()
	h.cell.Init(opts.Initial)
	f := &h.Fence
	f.dev, f.heap, f.flags = d, h, opts.Flags
	f.rights = abi.GrantSignal | abi.GrantWait
	f.val.Store(&h.cell)
	if opts.Flags&abi.SyncObjectNoSignal != 0 {
		f.rights &^= abi.GrantSignal
		f.sig.Store(&dead)
	} else {
		f.sig.Store(&h.cell)
	}
	if opts.Flags&abi.SyncObjectNoWait != 0 {
		f.rights &^= abi.GrantWait
		f.wat.Store(&dead)
	} else {
		f.wat.Store(&h.cell)
	}
	handle, st := l.process.CreateFence(h.room, d.handle, opts.Flags, h)
	if st != abi.StatusSuccess {
		if d.closed.Load() {
			return nil, ErrClosed
		}
		return nil, d.failure(st)
	}
	f.handle, f.gpu = handle, h.room.GPUAddress()
	return f, nil
}

// close is Fence.Close. The kernel calls Free on the way.
func (h *heapFence) close() error {
	if h.closed.Load() || h.dev.s.door.(*local).process.DestroyFence(h.handle) != abi.StatusSuccess {
		return ErrClosed
	}
	return nil
}

// View, WakeAll and Free make h the kernel's memory for the fence.
func (h *heapFence) View() page.View { return page.View{Cell: &h.cell} }

// WakeAll makes the goroutines that wait look again. When the fence has gone, Free
// is about to tell them why.
func (h *heapFence) WakeAll() {
	if g := h.gate.Load(); g != nil && !h.cell.Gone() {
		g.Look()
	}
}

// Free ends the fence: its handle, its device or its session is gone.
func (h *heapFence) Free() {
	st := abi.StatusSuccess
	if h.dev.closed.Load() || h.dev.s.closed.Load() {
		st = abi.StatusDeviceRemoved
	}
	h.retire(st)
	h.dev.stock.give(h.room)
	h.room = nil
}
