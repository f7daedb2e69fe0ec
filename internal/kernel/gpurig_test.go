package kernel

import (
	"encoding/binary"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// gpuRig is a process with a device, a paging queue and short forms of the calls.
type gpuRig struct {
	*rig
	p     *Process
	d     abi.Handle
	queue abi.CreatePagingQueue
	space *vidmm.Space
}

func newGPURig(t *testing.T) *gpuRig {
	t.Helper()
	g := &gpuRig{rig: newRig(t)}
	g.p = g.process()
	g.d = g.device(g.p, 0)
	g.queue = abi.CreatePagingQueue{HDevice: g.d}
	if _, st := do(g.p, 0x07, &g.queue, nil); !st.OK() {
		t.Fatal("CreatePagingQueue:", st)
	}
	g.space = spaceOf(g.rig, g.p)
	return g
}

// adapter opens the adapter.
func (g *gpuRig) adapter() abi.Handle {
	g.t.Helper()
	a := abi.OpenAdapterFromLuid{AdapterLuid: g.k.adapters[0].LUID}
	if _, st := do(g.p, 0x01, &a, nil); !st.OK() {
		g.t.Fatal(st)
	}
	return a.HAdapter
}

// heap makes an allocation of so many bytes.
func (g *gpuRig) heap(size uint64) abi.Handle {
	g.t.Helper()
	h, st := g.allocate(0, 0, standardData(size))
	if !st.OK() {
		g.t.Fatal("CreateAllocation2:", st)
	}
	return h
}

func (g *gpuRig) allocate(flags abi.CreateAllocationFlags, system uint64, data []byte) (abi.Handle, abi.Status) {
	info := make([]byte, abi.SizeofAllocationInfo2)
	binary.LittleEndian.PutUint64(info[8:], system)
	binary.LittleEndian.PutUint32(info[24:], uint32(len(data)))
	rec := abi.CreateAllocation2{HDevice: g.d, NumAllocations: 1, Flags: flags}
	_, st := do(g.p, 0x06, &rec, nil, nil, nil, nil, info, data)
	return abi.Handle(binary.LittleEndian.Uint32(info)), st
}

func (g *gpuRig) destroyAllocation(h abi.Handle) abi.Status {
	_, st := do(g.p, 0x13, &abi.DestroyAllocation2{HDevice: g.d, AllocationCount: 1}, nil, handles(h))
	return st
}

func (g *gpuRig) mapAt(base uint64, h abi.Handle, offset, size uint64, protection abi.GpuVirtualAddressProtectionType) (abi.MapGpuVirtualAddress, abi.Status) {
	rec := abi.MapGpuVirtualAddress{HPagingQueue: g.queue.HPagingQueue, BaseAddress: base, HAllocation: h, OffsetInPages: offset, SizeInPages: size, Protection: protection}
	_, st := do(g.p, 0x0C, &rec, nil)
	return rec, st
}

func (g *gpuRig) resident(flags abi.MakeResidentFlags, hs ...abi.Handle) (abi.MakeResident, abi.Status) {
	rec := abi.MakeResident{HPagingQueue: g.queue.HPagingQueue, NumAllocations: uint32(len(hs)), Flags: flags}
	_, st := do(g.p, 0x0B, &rec, nil, handles(hs...))
	return rec, st
}

func (g *gpuRig) paged() uint64 { return g.value(g.p, g.queue.HSyncObject) }

func (g *gpuRig) sees(va uint64) bool {
	_, fault := g.space.Load64(0, va)
	return fault == nil
}
