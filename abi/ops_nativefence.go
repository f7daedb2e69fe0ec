package abi

// nativeFenceOps are the calls of native fences and doorbells. /dev/dxg has no
// request for them; their numbers are ours, as docs/protocol-wire.md lists them.
var nativeFenceOps = []Op{
	{
		Nr: 0x800E, Name: "D3DKMTCreateNativeFence", Record: "D3DKMT_CREATENATIVEFENCE", Size: 216, Support: Supported,
		Out: []Span{{4, 0x44}, {0x60, 0x18}},
	},
	{
		Nr: 0x800F, Name: "D3DKMTOpenNativeFenceFromNtHandle", Record: "D3DKMT_OPENNATIVEFENCEFROMNTHANDLE", Size: 176, Support: Supported,
		Out:   []Span{{0x14, 0x1C}, {0x50, 0x40}},
		Files: []FileField{ntHandle(0)},
	},
	{
		Nr: 0x8010, Name: "D3DKMTGetNativeFenceLogDetail", Record: "D3DKMT_GETNATIVEFENCELOGDETAIL", Size: 96, Support: Supported,
		Out: []Span{{8, 0x18}},
	},
	{
		Nr: 0x8011, Name: "D3DKMTCreateDoorbell", Record: "D3DKMT_CREATE_DOORBELL", Size: 72,
		Support: Supported,
		Out:     []Span{{0x20, 0x24}},
		Arrays:  []Array{privateData(0x18, 0x10, InOut)},
		Files:   []FileField{memoryFile(0x20), memoryFile(0x30)},
	},
	{Nr: 0x8012, Name: "D3DKMTConnectDoorbell", Record: "D3DKMT_CONNECT_DOORBELL", Size: 8, Support: Supported},
	{Nr: 0x8013, Name: "D3DKMTDestroyDoorbell", Record: "D3DKMT_DESTROY_DOORBELL", Size: 4, Support: Supported},
	{Nr: 0x8014, Name: "D3DKMTNotifyWorkSubmission", Record: "D3DKMT_NOTIFY_WORK_SUBMISSION", Size: 8, Support: Supported},
	{
		Nr: 0x8016, Name: "D3DKMTCreateHwQueueForUserModeSubmission", Record: "D3DKMT_CREATEHWQUEUEFORUSERMODESUBMISSION", Size: 320,
		Support: Supported,
		Out:     []Span{{0x50, 4}, {0x58, 0x0C}, {0x68, 0x98}},
		Files:   []FileField{memoryFile(0xA0), memoryFile(0x58)},
	},
}
