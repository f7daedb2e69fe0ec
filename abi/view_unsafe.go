package abi

import "unsafe"

// View returns the bytes of a record as the record. It panics when they are too
// few or not aligned as T needs: both are mistakes of ours, never a caller's.
func View[T any](record []byte) *T {
	var t T
	if len(record) < int(unsafe.Sizeof(t)) {
		panic("abi: record too short")
	}
	p := unsafe.Pointer(unsafe.SliceData(record))
	if uintptr(p)%unsafe.Alignof(t) != 0 {
		panic("abi: record not aligned")
	}
	return (*T)(p)
}

// SizeofAdapterInfo is the size of an AdapterInfo, an element of an enumeration.
const SizeofAdapterInfo = int(unsafe.Sizeof(AdapterInfo{}))

// Sizes of the elements of allocation arrays.
const (
	SizeofAllocationInfo2     = int(unsafe.Sizeof(AllocationInfo2{}))
	SizeofOpenAllocationInfo2 = int(unsafe.Sizeof(OpenAllocationInfo2{}))
)
