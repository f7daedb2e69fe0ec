package dxgsync

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
)

// heapData is private data by which the software GPU's driver makes an allocation of so
// many bytes (docs/calls/memory.md).
func heapData(size uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32([]byte("heap"), 1), size)
}

// TestMemoryThroughTheDoors: allocate, lock, map, make resident, and take it all down,
// with the queue's end waited for.
func TestMemoryThroughTheDoors(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		if w.shared {
			return // the memory is the same
		}
		dev := w.device(t)
		s, d := dev.s, dev.Handle()
		q := abi.CreatePagingQueue{HDevice: d}
		if st := s.CreatePagingQueue(&q); st != abi.StatusSuccess {
			t.Fatal("CreatePagingQueue:", st)
		}
		infos := make([]abi.AllocationInfo2, 1)
		if st := s.CreateAllocation2(&abi.CreateAllocation2{HDevice: d}, infos, AllocationData{Each: [][]byte{heapData(100 << 10)}}); st != abi.StatusSuccess {
			t.Fatal("CreateAllocation2:", st)
		}
		a := infos[0].HAllocation
		first, st := s.Lock2(&abi.Lock2{HDevice: d, HAllocation: a})
		second, st2 := s.Lock2(&abi.Lock2{HDevice: d, HAllocation: a})
		if st != abi.StatusSuccess || st2 != abi.StatusSuccess || len(first) != 100<<10 || unsafe.SliceData(first) != unsafe.SliceData(second) {
			t.Fatalf("Lock2: %v, %v, %d bytes", st, st2, len(first))
		}
		first[len(first)-1] = 7
		m := abi.MapGpuVirtualAddress{HPagingQueue: q.HPagingQueue, HAllocation: a, SizeInPages: 25, Protection: abi.GpuProtectionWrite}
		if st := s.MapGpuVirtualAddress(&m); st != abi.StatusPending || m.VirtualAddress == 0 {
			t.Fatal("MapGpuVirtualAddress:", st)
		}
		r := abi.MakeResident{HPagingQueue: q.HPagingQueue}
		if st := s.MakeResident(&r, []abi.Handle{a}, nil); st != abi.StatusPending {
			t.Fatal("MakeResident:", st)
		}
		wait := abi.WaitForSynchronizationObjectFromCpu{HDevice: d}
		if st := s.WaitForSynchronizationObjectFromCpu(&wait, []abi.Handle{q.HSyncObject}, []uint64{r.PagingFenceValue}); st != abi.StatusSuccess {
			t.Fatal("wait:", st)
		}
		state := make([]abi.AllocationResidencyStatus, 1)
		if st := s.QueryAllocationResidency(&abi.QueryAllocationResidency{HDevice: d}, []abi.Handle{a}, state); st != abi.StatusSuccess || state[0] != abi.ResidencyResidentInSharedMemory {
			t.Errorf("QueryAllocationResidency: %v, %v", st, state[0])
		}
		if st := s.Unlock2(&abi.Unlock2{HDevice: d, HAllocation: a}); st != abi.StatusSuccess || second[len(second)-1] != 7 {
			t.Errorf("Unlock2: %v", st)
		}
		if st := s.Unlock2(&abi.Unlock2{HDevice: d, HAllocation: a}); st != abi.StatusSuccess {
			t.Errorf("Unlock2: %v", st)
		}
		if st := s.Unlock2(&abi.Unlock2{HDevice: d, HAllocation: a}); st != abi.StatusInvalidParameter {
			t.Errorf("Unlock2 of what is not locked: %v", st)
		}
		again, st := s.Lock2(&abi.Lock2{HDevice: d, HAllocation: a})
		if st != abi.StatusSuccess || again[len(again)-1] != 7 {
			t.Errorf("Lock2 again: %v", st)
		}
		own := make([]byte, 4096)
		infos[0] = abi.AllocationInfo2{}
		*infos[0].PSystemMem() = uint64(uintptr(unsafe.Pointer(&own[0])))
		if st := s.CreateAllocation2(&abi.CreateAllocation2{HDevice: d, Flags: abi.AllocationExistingSysMem}, infos, AllocationData{Each: [][]byte{heapData(4096)}}); st != abi.StatusSuccess {
			t.Fatal("CreateAllocation2 of existing memory:", st)
		}
		lock := abi.Lock2{HDevice: d, HAllocation: infos[0].HAllocation}
		if b, st := s.Lock2(&lock); st != abi.StatusSuccess || b != nil || lock.PData != *infos[0].PSystemMem() {
			t.Errorf("Lock2 of existing memory: %v, %#x", st, lock.PData)
		}
		for range 100 {
			if st := s.MapGpuVirtualAddress(&m); st != abi.StatusPending {
				t.Fatal("MapGpuVirtualAddress:", st)
			}
		}
		if st := s.DestroyPagingQueue(&abi.DestroyPagingQueue{HPagingQueue: q.HPagingQueue}); st != abi.StatusSuccess {
			t.Error("DestroyPagingQueue:", st)
		}
		if st := s.DestroyPagingQueue(&abi.DestroyPagingQueue{HPagingQueue: q.HPagingQueue}); st != abi.StatusInvalidParameter {
			t.Error("DestroyPagingQueue again:", st)
		}
		if st := s.DestroyAllocation2(&abi.DestroyAllocation2{HDevice: d}, []abi.Handle{a}); st != abi.StatusSuccess {
			t.Error("DestroyAllocation2:", st)
		}
	})
}

// TestGPUUsesMemory: a command buffer in an allocation copies and writes, to memory of
// the kernel's making and of the program's own, and signals a fence.
func TestGPUUsesMemory(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		dev := w.device(t)
		s, d := dev.s, dev.Handle()
		q := abi.CreatePagingQueue{HDevice: d}
		if st := s.CreatePagingQueue(&q); st != abi.StatusSuccess {
			t.Fatal("CreatePagingQueue:", st)
		}
		last := uint64(0)
		place := func(data []byte, existing []byte) (abi.Handle, uint64) {
			infos := make([]abi.AllocationInfo2, 1)
			c := abi.CreateAllocation2{HDevice: d}
			if existing != nil {
				c.Flags = abi.AllocationExistingSysMem
				*infos[0].PSystemMem() = uint64(uintptr(unsafe.Pointer(&existing[0])))
			}
			if st := s.CreateAllocation2(&c, infos, AllocationData{Each: [][]byte{data}}); st != abi.StatusSuccess {
				t.Fatal("CreateAllocation2:", st)
			}
			m := abi.MapGpuVirtualAddress{HPagingQueue: q.HPagingQueue, HAllocation: infos[0].HAllocation, SizeInPages: 1, Protection: abi.GpuProtectionWrite}
			if st := s.MapGpuVirtualAddress(&m); st != abi.StatusPending {
				t.Fatal("MapGpuVirtualAddress:", st)
			}
			last = m.PagingFenceValue
			return infos[0].HAllocation, m.VirtualAddress
		}
		own, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Munmap(own)
		commands, code := place(heapData(4096), nil)
		heap, data := place(heapData(4096), nil)
		_, mine := place([]byte("any driver's"), own)
		fence := abi.CreateSynchronizationObject2{HDevice: d}
		fence.Info.Type = abi.MonitoredFence
		if w.shared {
			fence.Info.Flags = abi.SyncObjectShared | abi.SyncObjectNtSecuritySharing
		}
		if st := s.CreateSynchronizationObject2(&fence); st != abi.StatusSuccess {
			t.Fatal("CreateSynchronizationObject2:", st)
		}
		bytes, st := s.Lock2(&abi.Lock2{HDevice: d, HAllocation: commands})
		if st != abi.StatusSuccess {
			t.Fatal("Lock2:", st)
		}
		n := copy(bytes, cmdbuf.New().Write64(data, 42).Copy(mine+8, data, 8).Signal(fence.Info.MonitoredFence().FenceValueGPUVirtualAddress, 3).Bytes())
		context := abi.CreateContextVirtual{HDevice: d}
		if st := s.CreateContextVirtual(&context, nil); st != abi.StatusSuccess {
			t.Fatal("CreateContextVirtual:", st)
		}
		wait := abi.WaitForSynchronizationObjectFromGpu{HContext: context.HContext}
		if st := s.WaitForSynchronizationObjectFromGpu(&wait, []abi.Handle{q.HSyncObject}, []uint64{last}); st != abi.StatusSuccess {
			t.Fatal("WaitForSynchronizationObjectFromGpu:", st)
		}
		submit := abi.SubmitCommand{Commands: code, CommandLength: uint32(n), BroadcastContextCount: 1}
		submit.BroadcastContext[0] = context.HContext
		if st := s.SubmitCommand(&submit, nil, nil); st != abi.StatusSuccess {
			t.Fatal("SubmitCommand:", st)
		}
		if st := s.WaitForSynchronizationObjectFromCpu(&abi.WaitForSynchronizationObjectFromCpu{HDevice: d}, []abi.Handle{fence.HSyncObject}, []uint64{3}); st != abi.StatusSuccess {
			t.Fatal("WaitForSynchronizationObjectFromCpu:", st)
		}
		got, st := s.Lock2(&abi.Lock2{HDevice: d, HAllocation: heap})
		if st != abi.StatusSuccess || got[0] != 42 || own[8] != 42 {
			t.Errorf("Lock2: %v; the GPU wrote %d and %d", st, got[0], own[8])
		}
		state := abi.GetDeviceState{HDevice: d, StateType: abi.DeviceStateExecution}
		if st := s.GetDeviceState(&state); st != abi.StatusSuccess || abi.DeviceExecutionState(state.State[0]) != abi.DeviceExecutionActive {
			t.Errorf("GetDeviceState: %v, %d", st, state.State[0])
		}
	})
}
