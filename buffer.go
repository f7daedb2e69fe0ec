package dxgsync

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
)

// A Buffer is memory that the GPU works on and that the program reads and writes as
// bytes. Nothing orders the two but fences.
type Buffer struct {
	dev      *Device
	handle   abi.Handle
	resource abi.Handle // 0: it is not shared
	gpu      uint64
	pages    uint64
	mem      []byte
	closed   atomic.Bool
}

// NewBuffer makes a buffer of size bytes, all zero, that is resident and mapped for the
// GPU and the program. It returns when that is done, which takes the memory manager a
// moment.
//
// Errors: [abi.StatusInvalidParameter] for a size below 1; [abi.StatusNoMemory] at a
// limit, or when the adapter's memory is full; a [LossError] when the device is lost;
// [abi.StatusDeviceRemoved] after the loss of the daemon; [ErrClosed].
//
// D3DKMTCreateAllocation2, D3DKMTMapGpuVirtualAddress, D3DKMTMakeResident, D3DKMTLock2.
func (d *Device) NewBuffer(size int) (*Buffer, error) { return d.newBuffer(size, 0) }

func (d *Device) newBuffer(size int, flags abi.CreateAllocationFlags) (*Buffer, error) {
	if d.closed.Load() {
		return nil, ErrClosed
	}
	if size <= 0 {
		return nil, abi.StatusInvalidParameter
	}
	create := abi.CreateAllocation2{HDevice: d.handle, Flags: flags}
	var made [1]abi.AllocationInfo2
	if st := d.s.CreateAllocation2(&create, made[:], AllocationData{Each: [][]byte{heapDescription(size)}}); st != abi.StatusSuccess {
		return nil, d.failure(st)
	}
	return d.place(&Buffer{dev: d, handle: made[0].HAllocation, resource: create.HResource}, size)
}

// place gives the GPU and the program their addresses of a buffer's allocation. If that
// fails, the allocation is destroyed.
func (d *Device) place(b *Buffer, size int) (*Buffer, error) {
	b.pages = (uint64(size) + pageSize - 1) / pageSize
	err := d.paging.open(d)
	if err == nil {
		err = d.failure(b.place(size))
	}
	if err != nil {
		_ = b.Close()
		return nil, err
	}
	return b, nil
}

// pageSize is what GPU virtual addresses are counted in.
const pageSize = 4096

// heapSize is where a heap's description has its size.
const heapSize = 8

// heapDescription is the private data by which the software GPU's driver learns of the
// size of an allocation: what it is, its version, its size in bytes.
func heapDescription(size int) []byte {
	data := binary.LittleEndian.AppendUint32([]byte("heap"), 1)
	return binary.LittleEndian.AppendUint64(data, uint64(size))
}

func (b *Buffer) place(size int) abi.Status {
	d := b.dev
	mapping := abi.MapGpuVirtualAddress{
		HPagingQueue: d.paging.queue, HAllocation: b.handle, SizeInPages: b.pages, Protection: abi.GpuProtectionWrite,
	}
	if st := d.s.MapGpuVirtualAddress(&mapping); !st.OK() {
		return st
	}
	b.gpu = mapping.VirtualAddress
	resident := abi.MakeResident{HPagingQueue: d.paging.queue}
	if st := d.s.MakeResident(&resident, []abi.Handle{b.handle}, nil); !st.OK() {
		return st
	}
	if st := d.paging.wait(d, max(mapping.PagingFenceValue, resident.PagingFenceValue)); st != abi.StatusSuccess {
		return st
	}
	mem, st := d.s.Lock2(&abi.Lock2{HDevice: d.handle, HAllocation: b.handle})
	if st == abi.StatusSuccess {
		b.mem = mem[:size:size]
	}
	return st
}

// Bytes is the buffer's memory. It may be used until the buffer, its device or its
// session is closed; using it later ends the program.
func (b *Buffer) Bytes() []byte { return b.mem }

// Size is the length of the buffer in bytes.
func (b *Buffer) Size() int { return len(b.mem) }

// GPUAddress is the GPU virtual address of its first byte, the same for all devices of
// the process on this adapter.
func (b *Buffer) GPUAddress() uint64 { return b.gpu }

// Handle returns the D3DKMT handle of the allocation, for use with the raw calls of
// [Session].
func (b *Buffer) Handle() abi.Handle { return b.handle }

// Close gives the memory back. Commands of the GPU that still use it fault. A second
// Close, or one after the device's, returns [ErrClosed].
//
// D3DKMTDestroyAllocation2, D3DKMTFreeGpuVirtualAddress.
func (b *Buffer) Close() error {
	if !b.closed.CompareAndSwap(false, true) || b.dev.closed.Load() {
		return ErrClosed
	}
	d := b.dev
	if b.mem != nil {
		d.s.Unlock2(&abi.Unlock2{HDevice: d.handle, HAllocation: b.handle})
	}
	destroy, list := abi.DestroyAllocation2{HDevice: d.handle, HResource: b.resource}, []abi.Handle{b.handle}
	if b.resource != 0 {
		list = nil
	}
	st := d.s.DestroyAllocation2(&destroy, list)
	if b.gpu != 0 {
		d.paging.free(d, b.gpu, b.pages*pageSize)
	}
	return d.s.failure(st)
}

// Range is the part of the buffer with n bytes from offset on. A part that the buffer
// does not have makes the commands fail that name it.
func (b *Buffer) Range(offset, n int) Range {
	if b == nil || offset < 0 || n < 0 || offset > len(b.mem) || n > len(b.mem)-offset {
		return Range{}
	}
	return Range{b, offset, n}
}

func (b *Buffer) span() Range { return b.Range(0, len(b.mem)) }

// A Range is a part of a [Buffer], made by [Buffer.Range].
type Range struct {
	buffer       *Buffer
	offset, size int
}

// Address is the GPU virtual address of the first byte; 0 of a part that there is not.
func (r Range) Address() uint64 {
	if r.buffer == nil {
		return 0
	}
	return r.buffer.gpu + uint64(r.offset)
}

func (r Range) span() Range { return r }
