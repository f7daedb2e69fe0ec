package dxgsync

import (
	"sync"

	"github.com/dxgsync/dxgsync/abi"
)

// paging is a device's hidden paging queue, on which its buffers are mapped, and the
// adapter, which addresses are given back to. It opens with the first buffer and goes
// with the device.
type paging struct {
	mu      sync.Mutex
	adapter *Adapter // nil: not open
	queue   abi.Handle
	fence   abi.Handle
}

// open makes the queue if there is none yet. Only then are the fields above set.
func (p *paging) open(d *Device) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.adapter != nil {
		return nil
	}
	rec := abi.CreatePagingQueue{HDevice: d.handle, Priority: abi.PagingQueueNormal}
	if st := d.s.CreatePagingQueue(&rec); st != abi.StatusSuccess {
		return d.failure(st)
	}
	a, err := d.s.OpenAdapter(d.luid)
	if err != nil {
		d.s.DestroyPagingQueue(&abi.DestroyPagingQueue{HPagingQueue: rec.HPagingQueue})
		return err
	}
	p.adapter, p.queue, p.fence = a, rec.HPagingQueue, rec.HSyncObject
	return nil
}

// wait parks the goroutine until an operation is done.
func (p *paging) wait(d *Device, value uint64) abi.Status {
	if value == 0 {
		return abi.StatusSuccess // it was done at once
	}
	return d.s.WaitForSynchronizationObjectFromCpu(&abi.WaitForSynchronizationObjectFromCpu{HDevice: d.handle}, []abi.Handle{p.fence}, []uint64{value})
}

// free gives addresses back.
func (p *paging) free(d *Device, address, size uint64) {
	do(d.s, abi.OpFreeGpuVirtualAddress, &abi.FreeGpuVirtualAddress{HAdapter: p.adapter.handle, BaseAddress: address, Size: size})
}

// close ends the use of the adapter; the queue has gone with the device.
func (p *paging) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.adapter != nil {
		_ = p.adapter.Close()
	}
}
