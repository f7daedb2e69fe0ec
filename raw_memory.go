package dxgsync

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
)

// AllocationData is what CreateAllocation2 takes besides the allocations themselves.
type AllocationData struct {
	Runtime []byte // PrivateRuntimeData
	// Standard is used with the flag StandardAllocation, Driver without it.
	Standard *abi.CreateStandardAllocation
	Driver   []byte   // PrivateDriverData
	Each     [][]byte // private data of each allocation; nil: none has any
}

// standardAllocation is D3DKMT_CREATEALLOCATION.Flags.StandardAllocation.
const standardAllocation = 1 << 16

// CreateAllocation2 makes allocations, which are answered in place. The elements'
// private data is that of data.Each, of which there must be as many.
func (s *Session) CreateAllocation2(r *abi.CreateAllocation2, allocations []abi.AllocationInfo2, data AllocationData) abi.Status {
	if data.Each != nil && len(data.Each) != len(allocations) {
		return abi.StatusInvalidParameter
	}
	var standard, driver []byte
	if r.PrivateDriverDataSize = 0; uint32(r.Flags)&standardAllocation == 0 {
		driver = data.Driver
		r.PrivateDriverDataSize = uint32(len(driver))
	} else if data.Standard != nil {
		standard = bytesOf([]abi.CreateStandardAllocation{*data.Standard})
	}
	r.PrivateRuntimeDataSize, r.NumAllocations = uint32(len(data.Runtime)), uint32(len(allocations))
	var all []byte
	if allocations != nil {
		all = append([]byte{}, slices.Concat(data.Each...)...)
	}
	for i := range allocations {
		allocations[i].PrivateDriverDataSize = 0
		if data.Each != nil {
			allocations[i].PrivateDriverDataSize = uint32(len(data.Each[i]))
		}
	}
	return do(s, abi.OpCreateAllocation2, r, data.Runtime, standard, driver, bytesOf(allocations), all)
}

// DestroyAllocation2 destroys allocations, or with none given all those of a resource.
func (s *Session) DestroyAllocation2(r *abi.DestroyAllocation2, allocations []abi.Handle) abi.Status {
	r.AllocationCount = uint32(len(allocations))
	s.locking.Lock()
	defer s.locking.Unlock()
	st := do(s, abi.OpDestroyAllocation2, r, bytesOf(allocations))
	if st == abi.StatusSuccess {
		for _, h := range allocations {
			s.forgetLock(h)
		}
	}
	return st
}

// QueryResourceInfo tells how much there is to open of the resource of a global
// handle. The runtime's private data is not answered, only its size.
func (s *Session) QueryResourceInfo(r *abi.QueryResourceInfo) abi.Status {
	return do(s, abi.OpQueryResourceInfo, r)
}

// QueryResourceInfoFromNtHandle is QueryResourceInfo for an NT handle.
func (s *Session) QueryResourceInfoFromNtHandle(r *abi.QueryResourceInfoFromNtHandle) abi.Status {
	req := request(abi.OpQueryResourceInfoFromNtHandle, r)
	req.Files[0] = descriptor(r.HNtHandle)
	return s.Do(req)
}

// ResourceData is room for the private data of a resource that is opened; nil: none.
type ResourceData struct {
	Runtime     []byte
	Resource    []byte
	Allocations []byte // of all allocations; each one's PPrivateDriverData is an offset in it
	KeyedMutex  []byte // for OpenResourceFromNtHandle
}

// OpenResource opens the resource of a global handle; its allocations are answered in
// place.
func (s *Session) OpenResource(r *abi.OpenResource, allocations []abi.OpenAllocationInfo2, data ResourceData) abi.Status {
	r.NumAllocations = uint32(len(allocations))
	r.PrivateRuntimeDataSize, r.ResourcePrivateDriverDataSize = uint32(len(data.Runtime)), uint32(len(data.Resource))
	r.TotalPrivateDriverDataBufferSize = uint32(len(data.Allocations))
	return do(s, abi.OpOpenResource, r, bytesOf(allocations), data.Runtime, data.Resource, data.Allocations)
}

// OpenResourceFromNtHandle opens the resource behind an NT handle, with the keyed mutex
// and the synchronization object that were shared along with it.
func (s *Session) OpenResourceFromNtHandle(r *abi.OpenResourceFromNtHandle, allocations []abi.OpenAllocationInfo2, data ResourceData) abi.Status {
	r.NumAllocations = uint32(len(allocations))
	r.PrivateRuntimeDataSize, r.ResourcePrivateDriverDataSize = uint32(len(data.Runtime)), uint32(len(data.Resource))
	r.TotalPrivateDriverDataBufferSize = uint32(len(data.Allocations))
	r.KeyedMutexPrivateRuntimeDataSize = uint32(len(data.KeyedMutex))
	req := request(abi.OpOpenResourceFromNtHandle, r, bytesOf(allocations), data.Runtime, data.Resource, data.Allocations, data.KeyedMutex)
	req.Files[0] = descriptor(r.HNtHandle)
	return s.Do(req)
}
