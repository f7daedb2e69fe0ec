package kernel

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// standardData is the private data that the driver makes for a standard allocation:
// what it is, its version, its size in bytes. A program that knows this driver brings
// the same for allocations of memory that is not its own.
func standardData(size uint64) []byte {
	b := binary.LittleEndian.AppendUint32([]byte("heap"), 1)
	return binary.LittleEndian.AppendUint64(b, size)
}

// standardSize is the size in such private data. 0: it is another driver's, who alone
// knows what it means. INVALID_PARAMETER: a version or a size that there is not.
func standardSize(data []byte) (uint64, abi.Status) {
	if len(data) != 16 || string(data[:4]) != "heap" {
		return 0, abi.StatusSuccess
	}
	size := binary.LittleEndian.Uint64(data[8:])
	if binary.LittleEndian.Uint32(data[4:]) != 1 || size == 0 {
		return 0, abi.StatusInvalidParameter
	}
	return size, abi.StatusSuccess
}

// createAllocation2 makes allocations, alone or as a resource: of existing memory of
// the caller as the standard kind, or as the driver's private data says.
// Source: calls.md §4, sharing.md §3.2; OQ-62.
func (p *Process) createAllocation2(r *abi.Request) abi.Status {
	rec := abi.View[abi.CreateAllocation2](r.Record)
	infos := r.Arrays[3]
	if !abi.AllocationFlagRules.Known(uint32(rec.Flags)) || rec.NumAllocations == 0 {
		return abi.StatusInvalidParameter
	}
	if infos == nil || rec.PrivateRuntimeDataSize != 0 && r.Arrays[0] == nil {
		return abi.StatusInvalidParameter
	}
	made, st := p.describe(rec, r.Arrays[1], r.Arrays[2], infos, r.Arrays[4])
	if !st.OK() {
		return st
	}
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	if _, ok := abi.AllocationFlagRules.Check(uint32(rec.Flags), 0, d.adapter.Profile.WDDM); !ok {
		return abi.StatusInvalidParameter
	}
	switch {
	case rec.Flags&abi.AllocationCreateResource != 0:
		return d.createResource(rec, r, made)
	case rec.HResource != 0:
		return d.addToResource(rec, infos, made)
	}
	return d.createAllocations(rec, infos, made)
}

// describe reads what is to be made. INVALID_PARAMETER: existing memory without an
// address or size, private data that is not there or makes no sense. NOT_SUPPORTED:
// sections, other standard kinds. NO_MEMORY: larger than an allocation can be.
func (p *Process) describe(rec *abi.CreateAllocation2, standard, driver, infos, data []byte) ([]*allocation, abi.Status) {
	if rec.Flags&abi.AllocationExistingSection != 0 {
		return nil, abi.StatusNotSupported
	}
	existing := rec.Flags&abi.AllocationExistingSysMem != 0
	size := uint64(0)
	if rec.Flags&abi.AllocationStandard != 0 {
		if standard == nil || rec.NumAllocations != 1 {
			return nil, abi.StatusInvalidParameter
		}
		switch abi.StandardAllocationType(binary.LittleEndian.Uint32(standard)) {
		case abi.StandardAllocationTypeExistingHeap:
		case abi.StandardAllocationTypeInternalBackingStore:
			return nil, abi.StatusNotSupported
		default:
			return nil, abi.StatusInvalidParameter
		}
		if size = binary.LittleEndian.Uint64(standard[8:]); size == 0 || !existing {
			return nil, abi.StatusInvalidParameter
		}
	} else if rec.PrivateDriverDataSize != 0 && driver == nil {
		return nil, abi.StatusInvalidParameter
	}
	made := make([]*allocation, rec.NumAllocations)
	for i := range made {
		info := infos[i*abi.SizeofAllocationInfo2:]
		a := &allocation{size: size}
		if existing {
			if a.system = binary.LittleEndian.Uint64(info[8:]); a.system == 0 {
				return nil, abi.StatusInvalidParameter
			}
		}
		n := int(binary.LittleEndian.Uint32(info[24:]))
		if n > len(data) {
			return nil, abi.StatusInvalidParameter
		}
		a.driver, data = clone(data[:n]), data[n:]
		if size != 0 && n == 0 {
			a.driver = standardData(size)
		} else if size == 0 {
			var st abi.Status
			if a.size, st = standardSize(a.driver); !st.OK() {
				return nil, st
			}
		}
		if a.size > maxHeap {
			return nil, abi.StatusNoMemory
		}
		a.priority = defaultPriority
		a.owner, a.heap = p, &heap{kernel: p.k, uid: p.Info.UID, size: pages(a.size), fixed: a.size != 0}
		if existing {
			a.heap.back = p.k.host.ClientMemory(p, a.system)
		}
		made[i] = a
	}
	return made, abi.StatusSuccess
}

func (d *device) createResource(rec *abi.CreateAllocation2, r *abi.Request, made []*allocation) abi.Status {
	p := d.process
	k := p.k
	res := &resource{
		kernel: k, adapter: d.adapter, flags: rec.Flags, runtime: clone(r.Arrays[0]), driver: clone(r.Arrays[2]), allocations: made, uid: p.Info.UID,
	}
	res.bytes = len(res.runtime) + len(res.driver) + bytesOf(made)
	global := res.shared() && !res.ntShared()
	if global && k.noGlobals {
		return abi.StatusNotSupported
	}
	if !p.room(1+len(made)) || !k.takeData(res.uid, res.bytes) {
		return abi.StatusNoMemory
	}
	if global {
		if res.global = k.addGlobal(res, res.uid); res.global == 0 {
			k.giveData(res.uid, res.bytes)
			return abi.StatusNoMemory
		}
		rec.HGlobalShare = res.global
	}
	k.objects++
	res.serial = k.objects
	l, handles := d.openResource(res)
	l.created = true
	answerAllocations(r.Arrays[3], handles)
	rec.HResource = l.handle
	return abi.StatusSuccess
}

// addToResource makes more allocations of a resource that nobody else can have seen.
func (d *device) addToResource(rec *abi.CreateAllocation2, infos []byte, made []*allocation) abi.Status {
	p := d.process
	l, ok := object.Get[*resourceLocal](&p.table, rec.HResource)
	if !ok || l.device != d || l.resource.shared() {
		return abi.StatusInvalidParameter
	}
	n := bytesOf(made)
	if !p.room(len(made)) || !p.k.takeData(l.resource.uid, n) {
		return abi.StatusNoMemory
	}
	l.resource.bytes += n
	handles := make([]abi.Handle, len(made))
	for i, a := range made {
		l.resource.allocations = append(l.resource.allocations, a)
		handles[i] = l.link(a)
	}
	answerAllocations(infos, handles)
	return abi.StatusSuccess
}

func (d *device) createAllocations(rec *abi.CreateAllocation2, infos []byte, made []*allocation) abi.Status {
	p := d.process
	if !p.room(len(made)) || !p.k.takeData(p.Info.UID, bytesOf(made)) {
		return abi.StatusNoMemory
	}
	handles := make([]abi.Handle, len(made))
	for i, a := range made {
		l := d.linkAllocation(a)
		l.uid, l.bytes = p.Info.UID, allocationBytes+len(a.driver)
		handles[i] = l.handle
	}
	answerAllocations(infos, handles)
	return abi.StatusSuccess
}

// allocationBytes is what an allocation counts besides its private data: an NT handle
// can keep thousands of them that have no local handle any more.
const allocationBytes = 64

// bytesOf is what allocations count of their user's data.
func bytesOf(made []*allocation) (n int) {
	for _, a := range made {
		n += allocationBytes + len(a.driver)
	}
	return n
}

func answerAllocations(infos []byte, handles []abi.Handle) {
	for i, h := range handles {
		binary.LittleEndian.PutUint32(infos[i*abi.SizeofAllocationInfo2:], uint32(h))
	}
}
