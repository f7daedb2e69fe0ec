package abi

// memoryOps are the calls of allocations, resources, GPU virtual addresses and
// residency. D3DKMTOpenResource2 is the request of D3DKMTOpenResource, whose older
// array the client library exchanges. Elements of allocation arrays point on: their
// private data travels in the call's buffer. Buffers may be larger than what is
// answered, so they travel both ways. What QueryResourceInfo tells of the runtime's
// data is its size alone, so that its buffer does not travel (measured).
var memoryOps = []Op{
	{
		Nr: 0x06, Name: "D3DKMTCreateAllocation2", Record: "D3DKMT_CREATEALLOCATION", Size: 72, Request: 0xC0484706, Support: Supported,
		Out: []Span{{4, 8}},
		Arrays: []Array{
			privateData(0x10, 0x18, In),
			{Pointer: 0x20, Fixed: 1, Elem: 24, Dir: In, Max: 1, When: standardAllocation},
			{Pointer: 0x20, Count: 0x28, Elem: 1, Dir: In, Max: maxPrivateData, When: driverAllocation},
			{Pointer: 0x30, Count: 0x2C, Elem: 96, Dir: InOut, Max: maxAllocationInfos},
			elementData(3, 0x10, 0x18),
		},
	},
	{
		Nr: 0x08, Name: "D3DKMTReserveGpuVirtualAddress", Record: "D3DDDI_RESERVEGPUVIRTUALADDRESS", Size: 72, Request: 0xC0484708, Support: Supported,
		Out: []Span{{0x38, 0x10}},
	},
	{
		Nr: 0x0B, Name: "D3DKMTMakeResident", Record: "D3DDDI_MAKERESIDENT", Size: 48, Request: 0xC030470B, Support: Supported,
		Out:    []Span{{0x20, 0x10}},
		Arrays: []Array{handles(8, 4, In, maxResident), handles(0x10, 4, In, maxResident)},
	}, // the second array: priorities
	{
		Nr: 0x0C, Name: "D3DKMTMapGpuVirtualAddress", Record: "D3DDDI_MAPGPUVIRTUALADDRESS", Size: 104, Request: 0xC068470C, Support: Supported,
		Out: []Span{{0x58, 0x10}},
	},
	{
		Nr: 0x13, Name: "D3DKMTDestroyAllocation2", Record: "D3DKMT_DESTROYALLOCATION2", Size: 24, Request: 0xC0184713, Support: Supported,
		Arrays: []Array{handles(8, 0x10, In, maxObjects)},
	},
	{
		Nr: 0x1E, Name: "D3DKMTEvict", Record: "D3DKMT_EVICT", Size: 32, Request: 0xC020471E, Support: Supported,
		Out:    []Span{{0x18, 8}},
		Arrays: []Array{handles(8, 4, In, maxResident)},
	},
	{Nr: 0x20, Name: "D3DKMTFreeGpuVirtualAddress", Record: "D3DKMT_FREEGPUVIRTUALADDRESS", Size: 24, Request: 0xC0184720, Support: Supported},
	{
		Nr: 0x23, Name: "D3DKMTGetSharedResourceAdapterLuid", Record: "D3DKMT_GETSHAREDRESOURCEADAPTERLUID", Size: 24, Request: 0xC0184723,
		Out:   []Span{{0x10, 8}},
		Files: []FileField{ntHandle(8)},
	},
	{Nr: 0x24, Name: "D3DKMTInvalidateCache", Record: "D3DKMT_INVALIDATECACHE", Size: 24, Request: 0xC0184724, Support: Supported},
	{
		Nr: 0x25, Name: "D3DKMTLock2", Record: "D3DKMT_LOCK2", Size: 24, Request: 0xC0184725, Support: Supported,
		Out:   []Span{{0x10, 8}},
		Files: []FileField{{Off: 0x10, Dir: Out, Kind: FileMemory, Array: -1}},
	},
	{
		Nr: 0x27, Name: "D3DKMTOfferAllocations", Record: "D3DKMT_OFFERALLOCATIONS", Size: 40, Request: 0xC0284727, Support: Supported,
		Arrays: []Array{handles(8, 0x18, In, maxObjects), handles(0x10, 0x18, In, maxObjects)},
	},
	{
		Nr: 0x28, Name: "D3DKMTOpenResource", Record: "D3DKMT_OPENRESOURCE", Size: 72, Request: 0xC0484728, Support: Supported,
		Out: []Span{{0x40, 8}},
		Arrays: []Array{
			openAllocations(0x10, 8, 3),
			privateData(0x18, 0x20, InOut),
			privateData(0x28, 0x30, InOut),
			allocationData(0x38, 0x40),
		},
	},
	{
		Nr: 0x2A, Name: "D3DKMTQueryAllocationResidency", Record: "D3DKMT_QUERYALLOCATIONRESIDENCY", Size: 32, Request: 0xC020472A, Support: Supported,
		Arrays: []Array{handles(8, 0x10, In, maxObjects), handles(0x18, 0x10, Out, maxObjects)},
	}, // the second array: residency states
	{
		Nr: 0x2B, Name: "D3DKMTQueryResourceInfo", Record: "D3DKMT_QUERYRESOURCEINFO", Size: 32, Request: 0xC020472B, Support: Supported,
		Out: []Span{{0x10, 0x10}},
	},
	{
		Nr: 0x2C, Name: "D3DKMTReclaimAllocations2", Record: "D3DKMT_RECLAIMALLOCATIONS2", Size: 40, Request: 0xC028472C, Support: Supported,
		Out:    []Span{{0x20, 8}},
		Arrays: []Array{handles(8, 4, In, maxObjects), handles(0x10, 4, In, maxObjects), handles(0x18, 4, Out, maxObjects)},
	}, // the third array: results
	{
		Nr: 0x2E, Name: "D3DKMTSetAllocationPriority", Record: "D3DKMT_SETALLOCATIONPRIORITY", Size: 32, Request: 0xC020472E, Support: Supported,
		Arrays: []Array{handles(8, 0x10, In, maxObjects), handles(0x18, 0x10, In, maxObjects)},
	}, // the second array: priorities
	{Nr: 0x37, Name: "D3DKMTUnlock2", Record: "D3DKMT_UNLOCK2", Size: 8, Request: 0xC0084737, Support: Supported},
	{
		Nr: 0x38, Name: "D3DKMTUpdateAllocationProperty", Record: "D3DDDI_UPDATEALLOCPROPERTY", Size: 40, Request: 0xC0284738,
		Out: []Span{{0x18, 8}},
	},
	{
		Nr: 0x39, Name: "D3DKMTUpdateGpuVirtualAddress", Record: "D3DKMT_UPDATEGPUVIRTUALADDRESS", Size: 56, Request: 0xC0384739, Support: Supported,
		Arrays: []Array{{Pointer: 0x10, Count: 0x0C, Elem: 64, Dir: In, Max: maxOperations}},
	},
	{
		Nr: 0x3C, Name: "D3DKMTGetAllocationPriority", Record: "D3DKMT_GETALLOCATIONPRIORITY", Size: 32, Request: 0xC020473C, Support: Supported,
		Arrays: []Array{handles(8, 0x10, In, maxObjects), handles(0x18, 0x10, Out, maxObjects)},
	}, // the second array: priorities
	{
		Nr: 0x41, Name: "D3DKMTQueryResourceInfoFromNtHandle", Record: "D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE", Size: 40, Request: 0xC0284741, Support: Supported,
		Out:   []Span{{0x18, 0x10}},
		Files: []FileField{ntHandle(8)},
	},
	{
		Nr: 0x42, Name: "D3DKMTOpenResourceFromNtHandle", Record: "D3DKMT_OPENRESOURCEFROMNTHANDLE", Size: 104, Request: 0xC0684742, Support: Supported,
		Out: []Span{{0x40, 4}, {0x50, 8}, {0x64, 4}},
		Arrays: []Array{
			openAllocations(0x18, 0x10, 3),
			privateData(0x28, 0x20, InOut),
			privateData(0x38, 0x30, InOut),
			allocationData(0x48, 0x40),
			privateData(0x58, 0x60, InOut),
		},
		Files: []FileField{ntHandle(8)},
	},
}
