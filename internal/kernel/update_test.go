package kernel

import (
	"encoding/binary"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// change is an operation of UpdateGpuVirtualAddress as bytes.
func changeBytes(kind abi.UpdateGpuVirtualAddressOperationType, fields ...uint64) []byte {
	b := make([]byte, 64)
	binary.LittleEndian.PutUint32(b, uint32(kind))
	for i, f := range fields {
		binary.LittleEndian.PutUint64(b[8+8*i:], f)
	}
	return b
}

func (g *gpuRig) context() abi.Handle {
	g.t.Helper()
	c := abi.CreateContextVirtual{HDevice: g.d}
	if _, st := do(g.p, 0x04, &c, nil); !st.OK() {
		g.t.Fatal(st)
	}
	return c.HContext
}

// TestUpdate: the changes wait for the fence, and the fence tells that they are done.
func TestUpdate(t *testing.T) {
	g := newGPURig(t)
	a, f, c := g.heap(4*vidmm.PageSize), g.fence(g.p, g.d, 0, 0), g.context()
	r := abi.ReserveGpuVirtualAddress{Size: vidmm.Granule}
	*r.HAdapter() = g.adapter()
	do(g.p, 0x08, &r, nil)
	va := r.VirtualAddress
	update := func(value uint64, flags uint32, ops ...byte) abi.Status {
		rec := abi.UpdateGpuVirtualAddress{HDevice: g.d, HContext: c, HFenceObject: f, NumOperations: uint32(len(ops) / 64), FenceValue: value, Flags: [1]uint32{flags}}
		_, st := do(g.p, 0x39, &rec, nil, ops)
		return st
	}
	mapped := changeBytes(abi.UpdateGpuVirtualAddressMap, va, 2*vidmm.PageSize, uint64(a), vidmm.PageSize, 0)
	copied := changeBytes(abi.UpdateGpuVirtualAddressCopy, va, vidmm.PageSize, va+4*vidmm.PageSize)
	if st := update(5, 0, append(mapped, copied...)...); !st.OK() {
		t.Fatal(st)
	}
	g.k.Tick()
	if g.sees(va) || g.value(g.p, f) != 0 {
		t.Error("the changes did not wait")
	}
	signal(g.p, g.d, 0, handles(f), values(5))
	if g.sees(va) {
		t.Error("the changes came before the kernel was driven")
	}
	g.k.Tick()
	if !g.sees(va) || !g.sees(va+4*vidmm.PageSize) || g.sees(va+5*vidmm.PageSize) || g.value(g.p, f) != 6 {
		t.Errorf("seen %v, %v, value %d", g.sees(va), g.sees(va+4*vidmm.PageSize), g.value(g.p, f))
	}
	_ = g.space.Store64(0, va, 9)
	if v, fault := g.space.Load64(0, va+4*vidmm.PageSize); fault != nil || v != 9 {
		t.Errorf("the copy shows %d, %v", v, fault)
	}
	protect := changeBytes(abi.UpdateGpuVirtualAddressMapProtect, va, vidmm.PageSize, uint64(a), 0, 0, 0)
	unmap := changeBytes(abi.UpdateGpuVirtualAddressUnmap, va+vidmm.PageSize, vidmm.PageSize, uint64(abi.GpuProtectionNoAccess))
	if st := update(100, abi.UpdateGpuVirtualAddressDoNotWait, append(protect, unmap...)...); !st.OK() {
		t.Fatal(st)
	}
	g.k.Tick()
	if g.space.Store64(0, va, 1) == nil || !g.sees(va) || g.sees(va+vidmm.PageSize) || g.value(g.p, f) != 101 {
		t.Errorf("without waiting: value %d", g.value(g.p, f))
	}
	for name, op := range map[string][]byte{
		"no operation":         {},
		"a kind there is not":  changeBytes(4, va, vidmm.PageSize),
		"what is not reserved": changeBytes(abi.UpdateGpuVirtualAddressUnmap, va+vidmm.Granule, vidmm.PageSize),
		"odd":                  changeBytes(abi.UpdateGpuVirtualAddressUnmap, va+1, vidmm.PageSize),
		"odd size":             changeBytes(abi.UpdateGpuVirtualAddressUnmap, va, 1),
		"nothing":              changeBytes(abi.UpdateGpuVirtualAddressUnmap, va, 0),
		"no allocation":        changeBytes(abi.UpdateGpuVirtualAddressMap, va, vidmm.PageSize, 0),
		"more than it has":     changeBytes(abi.UpdateGpuVirtualAddressMap, va, vidmm.PageSize, uint64(a), 4*vidmm.PageSize),
		"an odd part":          changeBytes(abi.UpdateGpuVirtualAddressMap, va, vidmm.PageSize, uint64(a), 1),
		"all numbers":          changeBytes(abi.UpdateGpuVirtualAddressMap, va, 1<<64-vidmm.PageSize, uint64(a), vidmm.PageSize),
		"a copy from nowhere":  changeBytes(abi.UpdateGpuVirtualAddressCopy, 1<<40, vidmm.PageSize, va),
		"a copy to nowhere":    changeBytes(abi.UpdateGpuVirtualAddressCopy, va, vidmm.PageSize, 1<<40),
	} {
		if st := update(0, 0, op...); st != abi.StatusInvalidParameter {
			t.Errorf("%s: %v", name, st)
		}
	}
	if st := update(0, 2, mapped...); st != abi.StatusInvalidParameter {
		t.Errorf("flags: %v", st)
	}
	f = g.fence(g.p, g.d, abi.SyncObjectNoSignal, 0)
	if st := update(0, 0, mapped...); st != abi.StatusAccessDenied {
		t.Errorf("a fence that may not be signalled: %v", st)
	}
	f = g.fence(g.p, g.d, abi.SyncObjectNoWait, 0)
	if st := update(0, 0, mapped...); st != abi.StatusAccessDenied {
		t.Errorf("a fence that may not be waited for: %v", st)
	}
	if st := update(0, abi.UpdateGpuVirtualAddressDoNotWait, mapped...); !st.OK() {
		t.Errorf("nor is: %v", st)
	}
	f = g.fence(g.p, g.d, 0, 0)
	if st := update(7, 0, mapped...); !st.OK() {
		t.Error(st)
	}
	if _, st := do(g.p, 0x19, &abi.DestroyDevice{HDevice: g.d}, nil); !st.OK() {
		t.Error(st)
	}
	g.k.Tick()
	if g.p.paging != 0 || g.host.live != 0 || len(g.k.adapters[0].paging) != 0 {
		t.Errorf("%d operations, %d memories left", g.p.paging, g.host.live)
	}
}
