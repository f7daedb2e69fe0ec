package dxgsync

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/dxgsync/dxgsync/abi"
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
