package abi

import "unsafe"

// OutputDword is the union as OutputDword.
func (r *QueryRegistryInfo) OutputDword() *uint32 { return (*uint32)(unsafe.Pointer(&r.Union)) }

// OutputQword is the union as OutputQword.
func (r *QueryRegistryInfo) OutputQword() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union)) }

// OutputString is the union as OutputString.
func (r *QueryRegistryInfo) OutputString() *[1]uint32 { return (*[1]uint32)(unsafe.Pointer(&r.Union)) }

// OutputBinary is the union as OutputBinary.
func (r *QueryRegistryInfo) OutputBinary() *[1]uint8 { return (*[1]uint8)(unsafe.Pointer(&r.Union)) }

// OutputDword is the union as OutputDword.
func (r *QueryRegistryInfoWchar16) OutputDword() *uint32 { return (*uint32)(unsafe.Pointer(&r.Union)) }

// OutputQword is the union as OutputQword.
func (r *QueryRegistryInfoWchar16) OutputQword() *uint64 { return (*uint64)(unsafe.Pointer(&r.Union)) }

// OutputString is the union as OutputString.
func (r *QueryRegistryInfoWchar16) OutputString() *[1]uint16 {
	return (*[1]uint16)(unsafe.Pointer(&r.Union))
}

// OutputBinary is the union as OutputBinary.
func (r *QueryRegistryInfoWchar16) OutputBinary() *[1]uint8 {
	return (*[1]uint8)(unsafe.Pointer(&r.Union))
}
