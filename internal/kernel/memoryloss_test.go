package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// TestDeviceTakesItsMemoryAlong: nothing of it is left, nothing of others goes.
func TestDeviceTakesItsMemoryAlong(t *testing.T) {
	g := newGPURig(t)
	a := g.heap(vidmm.PageSize)
	m, _ := g.mapAt(0, a, 0, 1, abi.GpuProtectionWrite)
	g.resident(0, a)
	g.k.Tick()
	if g.space.Store64(0, m.VirtualAddress, 1) != nil {
		t.Fatal("a fault")
	}
	g.mapAt(0, a, 0, 1, 0)
	g.resident(0, g.heap(vidmm.PageSize))
	if _, st := do(g.p, 0x19, &abi.DestroyDevice{HDevice: g.d}, nil); !st.OK() {
		t.Fatal(st)
	}
	g.k.Tick()
	if g.sees(m.VirtualAddress) || g.p.paging != 0 || g.k.adapters[0].resident != 0 || g.host.live != 0 {
		t.Errorf("seen %v, %d operations, %d bytes resident, %d memories", g.sees(m.VirtualAddress), g.p.paging, g.k.adapters[0].resident, g.host.live)
	}
}

// TestLostDevice: what could not be made resident though it had to loses the device.
// Then nothing new is done, what ends something still is, and nobody waits in vain.
func TestLostDevice(t *testing.T) {
	g := newGPURig(t)
	a := g.heap(vidmm.PageSize)
	big := g.heap(g.k.adapters[0].budget() + vidmm.PageSize)
	m, _ := g.mapAt(0, a, 0, 1, 0)
	if _, st := g.resident(abi.MakeResidentMustSucceed|abi.MakeResidentCantTrimFurther, big); st != abi.StatusNoMemory {
		t.Fatal(st)
	}
	state := abi.GetDeviceState{HDevice: g.d, StateType: abi.DeviceStateExecution}
	if _, st := do(g.p, 0x0E, &state, nil); !st.OK() || abi.DeviceExecutionState(state.State[0]) != abi.DeviceExecutionOutOfMemory {
		t.Errorf("%v, state %d", st, state.State[0])
	}
	if g.paged() != 1<<64-1 {
		t.Errorf("the paging fence shows %d", g.paged())
	}
	g.k.Tick()
	if _, st := g.mapAt(0, a, 0, 1, 0); st != abi.StatusDeviceRemoved {
		t.Errorf("map: %v", st)
	}
	if _, st := g.resident(0, a); st != abi.StatusDeviceRemoved {
		t.Errorf("make resident: %v", st)
	}
	if _, st := do(g.p, 0x07, &abi.CreatePagingQueue{HDevice: g.d}, nil); st != abi.StatusDeviceRemoved {
		t.Errorf("another queue: %v", st)
	}
	if _, st := do(g.p, 0x25, &abi.Lock2{HDevice: g.d, HAllocation: a}, nil); st != abi.StatusDeviceRemoved {
		t.Errorf("lock: %v", st)
	}
	if _, st := do(g.p, 0x20, &abi.FreeGpuVirtualAddress{HAdapter: g.adapter(), BaseAddress: m.VirtualAddress, Size: vidmm.PageSize}, nil); !st.OK() {
		t.Errorf("free: %v", st)
	}
	if _, st := do(g.p, 0x1C, &abi.DestroyPagingQueue{HPagingQueue: g.queue.HPagingQueue}, nil); !st.OK() {
		t.Errorf("destroy the queue: %v", st)
	}
	if st := g.destroyAllocation(a); !st.OK() {
		t.Errorf("destroy the allocation: %v", st)
	}
}
