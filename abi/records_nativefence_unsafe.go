package abi

import "unsafe"

// FirstFreeEntryIndex is the union as FirstFreeEntryIndex.
func (r *NativeFenceLogHeader) FirstFreeEntryIndex() *uint32 {
	return (*uint32)(unsafe.Pointer(&r.Union))
}

// WraparoundCount is the union as WraparoundCount.
func (r *NativeFenceLogHeader) WraparoundCount() *uint32 {
	return (*uint32)(unsafe.Add(unsafe.Pointer(&r.Union), 4))
}

// AtomicWraparoundAndEntryIndex is the union as AtomicWraparoundAndEntryIndex.
func (r *NativeFenceLogHeader) AtomicWraparoundAndEntryIndex() *uint64 {
	return (*uint64)(unsafe.Pointer(&r.Union))
}
