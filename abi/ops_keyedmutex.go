package abi

// keyedMutexOps are the calls of keyed mutexes. /dev/dxg has no request for them;
// their numbers are ours, far from the public ones, as docs/protocol-wire.md lists them.
// An acquire may answer TIMEOUT, which is a success that leaves the buffer alone: so
// the buffer travels both ways. An open from an NT handle never succeeds, and what is
// wrong with its buffer is not looked at (OQ-28).
var keyedMutexOps = []Op{
	{
		Nr: 0x8004, Name: "D3DKMTCreateKeyedMutex", Record: "D3DKMT_CREATEKEYEDMUTEX", Size: 16, Support: Supported,
		Out: []Span{{8, 8}},
	},
	{
		Nr: 0x8005, Name: "D3DKMTCreateKeyedMutex2", Record: "D3DKMT_CREATEKEYEDMUTEX2", Size: 32, Support: Supported,
		Out:    []Span{{8, 8}},
		Arrays: []Array{privateData(0x10, 0x18, In)},
	},
	{
		Nr: 0x8006, Name: "D3DKMTOpenKeyedMutex", Record: "D3DKMT_OPENKEYEDMUTEX", Size: 8, Support: Supported,
		Out: []Span{{4, 4}},
	},
	{
		Nr: 0x8007, Name: "D3DKMTOpenKeyedMutex2", Record: "D3DKMT_OPENKEYEDMUTEX2", Size: 24, Support: Supported,
		Out:    []Span{{4, 4}},
		Arrays: []Array{privateData(8, 0x10, In)},
	},
	{
		Nr: 0x8008, Name: "D3DKMTOpenKeyedMutexFromNtHandle", Record: "D3DKMT_OPENKEYEDMUTEXFROMNTHANDLE", Size: 32, Support: Supported,
		Out:   []Span{{8, 4}},
		Files: []FileField{ntHandle(0)},
	},
	{
		Nr: 0x8009, Name: "D3DKMTAcquireKeyedMutex", Record: "D3DKMT_ACQUIREKEYEDMUTEX", Size: 32, Support: Supported,
		Out:    []Span{{0x18, 8}},
		Arrays: []Array{timeout(0x10)},
	},
	{
		Nr: 0x800A, Name: "D3DKMTAcquireKeyedMutex2", Record: "D3DKMT_ACQUIREKEYEDMUTEX2", Size: 48, Support: Supported,
		Out:    []Span{{0x18, 8}},
		Arrays: []Array{timeout(0x10), privateData(0x20, 0x28, InOut)},
	},
	{Nr: 0x800B, Name: "D3DKMTReleaseKeyedMutex", Record: "D3DKMT_RELEASEKEYEDMUTEX", Size: 24, Support: Supported},
	{
		Nr: 0x800C, Name: "D3DKMTReleaseKeyedMutex2", Record: "D3DKMT_RELEASEKEYEDMUTEX2", Size: 40, Support: Supported,
		Arrays: []Array{privateData(0x18, 0x20, In)},
	},
	{Nr: 0x800D, Name: "D3DKMTDestroyKeyedMutex", Record: "D3DKMT_DESTROYKEYEDMUTEX", Size: 4, Support: Supported},
}
