package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

func TestLock(t *testing.T) {
	g := newGPURig(t)
	a := g.heap(vidmm.PageSize)
	lock := func(flags abi.Lock2Flags, d, h abi.Handle) (*abi.Request, abi.Lock2, abi.Status) {
		rec := abi.Lock2{HDevice: d, HAllocation: h, Flags: flags}
		q, st := do(g.p, 0x25, &rec, nil)
		return q, rec, st
	}
	unlock := func(h abi.Handle) abi.Status {
		_, st := do(g.p, 0x37, &abi.Unlock2{HDevice: g.d, HAllocation: h}, nil)
		return st
	}
	for _, bad := range []struct {
		flags abi.Lock2Flags
		d, a  abi.Handle
	}{{1, g.d, a}, {0, 0, a}, {0, g.d, 0}, {0, g.device(g.p, 0), a}, {0, g.d, g.queue.HSyncObject}} {
		if _, _, st := lock(bad.flags, bad.d, bad.a); st != abi.StatusInvalidParameter {
			t.Errorf("%+v: %v", bad, st)
		}
	}
	if st := unlock(a); st != abi.StatusInvalidParameter {
		t.Errorf("unlock what is not locked: %v", st)
	}
	for range 2 {
		q, rec, st := lock(0, g.d, a)
		if !st.OK() || rec.PData != 0 || len(q.Out) != 1 {
			t.Fatalf("%v, %#x, %d descriptors", st, rec.PData, len(q.Out))
		}
	}
	if a, b, c := unlock(a), unlock(a), unlock(a); !a.OK() || !b.OK() || c != abi.StatusInvalidParameter {
		t.Errorf("locked twice: %v, %v, %v", a, b, c)
	}
	own, st := g.allocate(abi.AllocationExistingSysMem, 0x1234000, standardData(vidmm.PageSize))
	if !st.OK() {
		t.Fatal(st)
	}
	if q, rec, st := lock(0, g.d, own); !st.OK() || rec.PData != 0x1234000 || len(q.Out) != 0 {
		t.Errorf("memory of the caller's: %v, %#x", st, rec.PData)
	}
	for _, c := range []struct {
		rec abi.InvalidateCache
		st  abi.Status
	}{
		{abi.InvalidateCache{HDevice: g.d, HAllocation: a, Length: vidmm.PageSize}, abi.StatusSuccess},
		{abi.InvalidateCache{HDevice: g.d, HAllocation: a, Offset: 1, Length: vidmm.PageSize}, abi.StatusInvalidParameter},
		{abi.InvalidateCache{HDevice: g.d, HAllocation: a, Offset: 1 << 63, Length: 1 << 63}, abi.StatusInvalidParameter},
		{abi.InvalidateCache{HDevice: g.d}, abi.StatusInvalidParameter},
	} {
		if _, st := do(g.p, 0x24, &c.rec, nil); st != c.st {
			t.Errorf("%+v: %v", c.rec, st)
		}
	}
}
