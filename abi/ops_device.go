package abi

// deviceOps are the calls of devices, contexts and queues, and those that submit
// work to them.
var deviceOps = []Op{
	{
		Nr: 0x02, Name: "D3DKMTCreateDevice", Record: "D3DKMT_CREATEDEVICE", Size: 64, Request: 0xC0404702, Support: Supported,
		Out: []Span{{0x0C, 0x34}},
	},
	{
		Nr: 0x03, Name: "D3DKMTCreateContext", Record: "D3DKMT_CREATECONTEXT", Size: 96, Request: 0xC0604703,
		Out:    []Span{{0x20, 4}, {0x28, 0x38}},
		Arrays: []Array{privateData(0x10, 0x18, In)},
	},
	{
		Nr: 0x04, Name: "D3DKMTCreateContextVirtual", Record: "D3DKMT_CREATECONTEXTVIRTUAL", Size: 40, Request: 0xC0284704, Support: Supported,
		Out:    []Span{{0x20, 4}},
		Arrays: []Array{privateData(0x10, 0x18, In)},
	},
	{Nr: 0x05, Name: "D3DKMTDestroyContext", Record: "D3DKMT_DESTROYCONTEXT", Size: 4, Request: 0xC0044705, Support: Supported},
	{
		Nr: 0x07, Name: "D3DKMTCreatePagingQueue", Record: "D3DKMT_CREATEPAGINGQUEUE", Size: 32, Request: 0xC0204707, Support: Supported,
		Out: []Span{{8, 0x10}},
	},
	{
		Nr: 0x0D, Name: "D3DKMTEscape", Record: "D3DKMT_ESCAPE", Size: 32, Request: 0xC020470D,
		Arrays: []Array{privateData(0x10, 0x18, InOut)},
	},
	{
		Nr: 0x0E, Name: "D3DKMTGetDeviceState", Record: "D3DKMT_GETDEVICESTATE", Size: 56, Request: 0xC038470E, Support: Supported,
		Out: []Span{{8, 0x30}},
	},
	{
		Nr: 0x0F, Name: "D3DKMTSubmitCommand", Record: "D3DKMT_SUBMITCOMMAND", Size: 384, Request: 0xC180470F, Support: Supported,
		Arrays: []Array{privateData(0x120, 0x128, In), handles(0x178, 0x170, In, maxHistoryBuffers)},
	},
	{
		Nr: 0x17, Name: "D3DKMTCreateHwContext", Record: "D3DKMT_CREATEHWCONTEXT", Size: 40, Request: 0xC0284717, Support: NotImplemented,
		Out:    []Span{{0x20, 4}},
		Arrays: []Array{privateData(0x18, 0x10, InOut)},
	},
	{
		Nr: 0x18, Name: "D3DKMTCreateHwQueue", Record: "D3DKMT_CREATEHWQUEUE", Size: 48, Request: 0xC0304718, Support: Supported,
		Out:    []Span{{4, 4}, {0x18, 0x18}},
		Arrays: []Array{privateData(0x10, 8, InOut)},
	},
	{Nr: 0x19, Name: "D3DKMTDestroyDevice", Record: "D3DKMT_DESTROYDEVICE", Size: 4, Request: 0xC0044719, Support: Supported},
	{Nr: 0x1A, Name: "D3DKMTDestroyHwContext", Record: "D3DKMT_DESTROYHWCONTEXT", Size: 4, Request: 0xC004471A, Support: NotImplemented},
	{Nr: 0x1B, Name: "D3DKMTDestroyHwQueue", Record: "D3DKMT_DESTROYHWQUEUE", Size: 4, Request: 0xC004471B, Support: Supported},
	{Nr: 0x1C, Name: "D3DKMTDestroyPagingQueue", Record: "D3DDDI_DESTROYPAGINGQUEUE", Size: 4, Request: 0xC004471C, Support: Supported},
	{
		Nr: 0x21, Name: "D3DKMTGetContextInProcessSchedulingPriority", Record: "D3DKMT_GETCONTEXTINPROCESSSCHEDULINGPRIORITY", Size: 8, Request: 0xC0084721, Support: Supported,
		Out: []Span{{4, 4}},
	},
	{
		Nr: 0x22, Name: "D3DKMTGetContextSchedulingPriority", Record: "D3DKMT_GETCONTEXTSCHEDULINGPRIORITY", Size: 8, Request: 0xC0084722, Support: Supported,
		Out: []Span{{4, 4}},
	},
	{Nr: 0x26, Name: "D3DKMTMarkDeviceAsError", Record: "D3DKMT_MARKDEVICEASERROR", Size: 8, Request: 0xC0084726, Support: Supported},
	{
		Nr: 0x2D, Name: "D3DKMTRender", Record: "D3DKMT_RENDER", Size: 368, Request: 0xC170472D,
		Out:    []Span{{0x18, 0x2C}, {0x154, 0x0C}},
		Arrays: []Array{privateData(0x160, 0x168, In)},
	},
	{Nr: 0x2F, Name: "D3DKMTSetContextInProcessSchedulingPriority", Record: "D3DKMT_SETCONTEXTINPROCESSSCHEDULINGPRIORITY", Size: 8, Request: 0xC008472F, Support: Supported},
	{Nr: 0x30, Name: "D3DKMTSetContextSchedulingPriority", Record: "D3DKMT_SETCONTEXTSCHEDULINGPRIORITY", Size: 8, Request: 0xC0084730, Support: Supported},
	{
		Nr: 0x34, Name: "D3DKMTSubmitCommandToHwQueue", Record: "D3DKMT_SUBMITCOMMANDTOHWQUEUE", Size: 56, Request: 0xC0384734, Support: Supported,
		Arrays: []Array{privateData(0x20, 0x1C, In), handles(0x30, 0x28, In, maxPrimaries)},
	},
	{Nr: 0x8015, Name: "D3DKMTWaitForIdle", Record: "D3DKMT_WAITFORIDLE", Size: 4, Support: Supported},
}
