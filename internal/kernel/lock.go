package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// lock2 gives the caller the memory of an allocation: a descriptor to map, or the
// address if it is the caller's own memory. Each lock needs an unlock; the library maps
// once. INVALID_PARAMETER: handles, flags; nobody can know how much it is, or it is
// memory of another process. DEVICE_REMOVED, NO_MEMORY.
func (p *Process) lock2(r *abi.Request) abi.Status {
	rec := abi.View[abi.Lock2](r.Record)
	if rec.Flags != 0 {
		return abi.StatusInvalidParameter
	}
	a, st := p.lockable(rec.HDevice, rec.HAllocation)
	if !st.OK() {
		return st
	}
	if a.allocation.system != 0 {
		if a.allocation.owner != p {
			p.unlockAllocation(a)
			return abi.StatusInvalidParameter
		}
		rec.PData = a.allocation.system
		return abi.StatusSuccess
	}
	// The memory is made without the lock: it takes microseconds.
	fd, st := a.allocation.heap.file()
	if !st.OK() {
		p.unlockAllocation(a)
		return st
	}
	rec.PData = 0 // the client's library knows it
	r.Out = append(r.Out, abi.OutFile{FD: fd})
	return abi.StatusSuccess
}

// lockable finds an allocation and counts a lock.
func (p *Process) lockable(device, allocation abi.Handle) (*allocationLocal, abi.Status) {
	p.k.lock()
	defer p.k.unlock()
	a, st := p.allocationOf(device, allocation)
	if st.OK() {
		st = a.device.usable()
	}
	if st.OK() {
		a.locks++
	}
	return a, st
}

func (p *Process) unlockAllocation(a *allocationLocal) {
	p.k.lock()
	a.locks--
	p.k.unlock()
}

// allocationOf finds an allocation of a device. The lock is held.
func (p *Process) allocationOf(hDevice, hAllocation abi.Handle) (*allocationLocal, abi.Status) {
	d, ok := object.Get[*device](&p.table, hDevice)
	a, known := object.Get[*allocationLocal](&p.table, hAllocation)
	if !ok || !known || a.device != d {
		return nil, abi.StatusInvalidParameter
	}
	return a, abi.StatusSuccess
}

// unlock2 ends a lock. INVALID_PARAMETER: handles, or it is not locked.
func (p *Process) unlock2(r *abi.Request) abi.Status {
	rec := abi.View[abi.Unlock2](r.Record)
	p.k.lock()
	defer p.k.unlock()
	a, st := p.allocationOf(rec.HDevice, rec.HAllocation)
	if !st.OK() {
		return st
	}
	if a.locks == 0 {
		return abi.StatusInvalidParameter
	}
	a.locks--
	return abi.StatusSuccess
}

// invalidateCache has nothing to do: the memory is coherent. INVALID_PARAMETER:
// handles, or a range that is not in the allocation.
func (p *Process) invalidateCache(r *abi.Request) abi.Status {
	rec := abi.View[abi.InvalidateCache](r.Record)
	p.k.lock()
	defer p.k.unlock()
	a, st := p.allocationOf(rec.HDevice, rec.HAllocation)
	if !st.OK() {
		return st
	}
	if size := a.allocation.bytes(); size != 0 && (rec.Offset > size || rec.Length > size-rec.Offset) {
		return abi.StatusInvalidParameter
	}
	return abi.StatusSuccess
}
