package abi

// adapterOps are the calls that find, open, close and ask adapters.
var adapterOps = []Op{
	{
		Nr: 0x01, Name: "D3DKMTOpenAdapterFromLuid", Record: "D3DKMT_OPENADAPTERFROMLUID", Size: 12, Request: 0xC00C4701, Support: Supported,
		Out: []Span{{8, 4}},
	},
	{
		Nr: 0x09, Name: "D3DKMTQueryAdapterInfo", Record: "D3DKMT_QUERYADAPTERINFO", Size: 24, Request: 0xC0184709, Support: Supported,
		Arrays: []Array{{Pointer: 8, Count: 0x10, Elem: 1, Dir: InOut, Max: maxQuery}},
	},
	{
		Nr: 0x0A, Name: "D3DKMTQueryVideoMemoryInfo", Record: "D3DKMT_QUERYVIDEOMEMORYINFO", Size: 56, Request: 0xC038470A, Support: Supported,
		Out: []Span{{0x10, 0x20}},
	},
	{
		Nr: 0x14, Name: "D3DKMTEnumAdapters2", Record: "D3DKMT_ENUMADAPTERS2", Size: 16, Request: 0xC0104714, Support: Supported,
		Out:    []Span{{0, 4}},
		Arrays: []Array{{Pointer: 8, Count: 0, Elem: uint32(SizeofAdapterInfo), Dir: Out, Max: maxAdapters}},
	},
	{Nr: 0x15, Name: "D3DKMTCloseAdapter", Record: "D3DKMT_CLOSEADAPTER", Size: 4, Request: 0xC0044715, Support: Supported},
	{Nr: 0x16, Name: "D3DKMTChangeVideoMemoryReservation", Record: "D3DKMT_CHANGEVIDEOMEMORYRESERVATION", Size: 32, Request: 0xC0204716, Support: Supported},
	{Nr: 0x1F, Name: "D3DKMTFlushHeapTransitions", Record: "D3DKMT_FLUSHHEAPTRANSITIONS", Size: 4, Request: 0xC004471F},
	{
		Nr: 0x3D, Name: "D3DKMTQueryClockCalibration", Record: "D3DKMT_QUERYCLOCKCALIBRATION", Size: 40, Request: 0xC028473D, Support: Supported,
		Out: []Span{{0x0C, 0x1C}},
	},
	{
		Nr: 0x3E, Name: "D3DKMTEnumAdapters3", Record: "D3DKMT_ENUMADAPTERS3", Size: 24, Request: 0xC018473E, Support: Supported,
		Out:    []Span{{8, 4}},
		Arrays: []Array{{Pointer: 0x10, Count: 8, Elem: uint32(SizeofAdapterInfo), Dir: Out, Max: maxAdapters}},
	},
	{
		Nr: 0x43, Name: "D3DKMTQueryStatistics", Record: "D3DKMT_QUERYSTATISTICS", Size: 808, Request: 0xC3284743, Support: Supported,
		Out: []Span{{0x18, 0x308}},
	},
	{
		Nr: 0x48, Name: "D3DKMTEnumProcesses", Record: "D3DKMT_ENUMPROCESSES", Size: 24, Request: 0xC0184748, Support: Supported,
		Out:    []Span{{0x10, 8}},
		Arrays: []Array{handles(8, 0x10, Out, maxProcesses)},
	}, // process ids; their count is the low half of a 64-bit number
	{
		Nr: 0x49, Name: "D3DKMTIsFeatureEnabled", Record: "D3DKMT_ISFEATUREENABLED", Size: 12, Request: 0xC00C4749, Support: Supported,
		Out: []Span{{8, 4}},
	},
}
