package kernel

import (
	"encoding/binary"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// An owner is a process with a device, to make what a bundle is made of.
type owner struct {
	*Process
	device abi.Handle
}

func (r *rig) owner() owner {
	p := r.process()
	return owner{p, r.device(p, 0)}
}

func (p owner) allocate(rec *abi.CreateAllocation2, n int) (*abi.Request, abi.Status) {
	rec.HDevice, rec.NumAllocations = p.device, uint32(n)
	return do(p.Process, 0x06, rec, nil, nil, nil, nil, make([]byte, n*abi.SizeofAllocationInfo2), nil)
}

func (p owner) resource(t *testing.T, flags abi.CreateAllocationFlags, allocations int) abi.Handle {
	t.Helper()
	r, st := p.allocate(&abi.CreateAllocation2{Flags: flags | abi.AllocationCreateResource}, allocations)
	if !st.OK() {
		t.Fatal(st)
	}
	return abi.View[abi.CreateAllocation2](r.Record).HResource
}

func (p owner) mutex(t *testing.T, flags abi.CreateKeyedMutex2Flags, data []byte) abi.Handle {
	t.Helper()
	r, st := do(p.Process, 0x8005, &abi.CreateKeyedMutex2{Flags: flags, PrivateRuntimeDataSize: uint32(len(data))}, nil, data)
	if !st.OK() {
		t.Fatal(st)
	}
	return abi.View[abi.CreateKeyedMutex2](r.Record).HKeyedMutex
}

func (p owner) acquire(h abi.Handle) abi.Status {
	_, st := do(p.Process, 0x8009, &abi.AcquireKeyedMutex{HKeyedMutex: h}, nil, nil)
	return st
}

func (p owner) destroyMutex(h abi.Handle) abi.Status {
	_, st := do(p.Process, 0x800D, &abi.DestroyKeyedMutex{HKeyedMutex: h}, nil)
	return st
}

// Views of a bundle's keyed mutex come and go; the mutex stays, and its data counts
// once.
func TestBundledMutexIsCounted(t *testing.T) {
	r := newRig(t)
	creator, other := r.owner(), r.owner()
	const nt = abi.AllocationCreateShared | abi.AllocationNtSecuritySharing
	res, mutex := creator.resource(t, nt, 1), creator.mutex(t, abi.KeyedMutexNtSecuritySharing, []byte("data"))
	sync := r.fence(creator.Process, creator.device, shareable, 0)
	share := abi.ShareObjects{ObjectCount: 3, DesiredAccess: uint32(object.GenericAll)}
	shared, st := do(creator.Process, 0x3F, &share, nil, handles(res, mutex, sync), nil, make([]byte, 8), nil, nil)
	if !st.OK() {
		t.Fatal(st)
	}
	before := r.k.data[creator.Info.UID]
	fd := shared.Out[0].FD
	for i := range 5 {
		rec := abi.OpenResourceFromNtHandle{HDevice: other.device, NumAllocations: 1}
		opened, st := do(other.Process, 0x42, &rec, []int{fd}, make([]byte, abi.SizeofOpenAllocationInfo2), nil, nil, nil, nil)
		if !st.OK() {
			t.Fatal(i, st)
		}
		if st := other.destroyMutex(abi.View[abi.OpenResourceFromNtHandle](opened.Record).HKeyedMutex); !st.OK() {
			t.Error(i, st)
		}
	}
	if n := r.k.data[creator.Info.UID]; n != before {
		t.Errorf("%d bytes count, want %d", n, before)
	}
	if st := creator.acquire(mutex); st != abi.StatusSuccess {
		t.Errorf("the creator's mutex: %v", st)
	}
	r.k.NTClosed(r.host.files[fd].(object.Key))
	creator.Exit()
	other.Exit()
	if len(r.k.data) != 0 {
		t.Errorf("left behind: %v bytes by user", r.k.data)
	}
}

// Who destroys what it owns, over and over, holds nothing of it.
func TestOwnersForget(t *testing.T) {
	r := newRig(t)
	p := r.owner()
	for range 10 {
		h := p.mutex(t, 0, []byte("data"))
		if st := p.acquire(h); st != abi.StatusSuccess {
			t.Fatal(st)
		}
		if st := p.destroyMutex(h); !st.OK() {
			t.Fatal(st)
		}
	}
	if len(p.owned)+len(p.mutexes)+len(r.k.data)+r.k.globals.Len() != 0 {
		t.Errorf("%d owned, %d views, data %v, %d global handles", len(p.owned), len(p.mutexes), r.k.data, r.k.globals.Len())
	}
}

// Allocations count though they have no private data, as long as something can lead to
// them, and no longer.
func TestAllocationsCount(t *testing.T) {
	r := newRig(t)
	r.k.limits.Data = 10 * allocationBytes
	p := r.owner()
	res := p.resource(t, 0, 4)
	for range 10 {
		made, st := p.allocate(&abi.CreateAllocation2{HResource: res}, 6)
		if !st.OK() {
			t.Fatal(st)
		}
		if _, st := p.allocate(&abi.CreateAllocation2{HResource: res}, 1); st != abi.StatusNoMemory {
			t.Errorf("one too many of the resource: %v", st)
		}
		if _, st := p.allocate(&abi.CreateAllocation2{}, 1); st != abi.StatusNoMemory {
			t.Errorf("one too many: %v", st)
		}
		var list []abi.Handle
		for i := range 6 {
			list = append(list, abi.Handle(binary.LittleEndian.Uint32(made.Arrays[3][i*abi.SizeofAllocationInfo2:])))
		}
		if _, st := do(p.Process, 0x13, &abi.DestroyAllocation2{HDevice: p.device, AllocationCount: 6}, nil, handles(list...)); !st.OK() {
			t.Fatal(st)
		}
		if n := r.k.data[p.Info.UID]; n != 4*allocationBytes {
			t.Errorf("%d bytes count, want %d", n, 4*allocationBytes)
		}
	}
	if _, st := do(p.Process, 0x13, &abi.DestroyAllocation2{HDevice: p.device, HResource: res}, nil, nil); !st.OK() {
		t.Fatal(st)
	}
	if len(r.k.data) != 0 {
		t.Errorf("left behind: %v", r.k.data)
	}
}
