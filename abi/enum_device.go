package abi

// DeviceStateType is D3DKMT_DEVICESTATE_TYPE: it says what GetDeviceState asks for.
type DeviceStateType uint32

// Values of DeviceStateType.
const (
	DeviceStateExecution    DeviceStateType = 1
	DeviceStatePresent      DeviceStateType = 2
	DeviceStateReset        DeviceStateType = 3
	DeviceStatePresentDWM   DeviceStateType = 4
	DeviceStatePageFault    DeviceStateType = 5
	DeviceStatePresentQueue DeviceStateType = 6
)

// String returns the end of the value's public name.
func (v DeviceStateType) String() string { return deviceStateTypes.format(int64(v)) }

var deviceStateTypes = Enum{"D3DKMT_DEVICESTATE_TYPE", "D3DKMT_DEVICESTATE_", []EnumValue{
	{int64(DeviceStateExecution), "EXECUTION"},
	{int64(DeviceStatePresent), "PRESENT"},
	{int64(DeviceStateReset), "RESET"},
	{int64(DeviceStatePresentDWM), "PRESENT_DWM"},
	{int64(DeviceStatePageFault), "PAGE_FAULT"},
	{int64(DeviceStatePresentQueue), "PRESENT_QUEUE"},
}}

// DeviceExecutionState is D3DKMT_DEVICEEXECUTION_STATE: it says whether a device can
// go on: all but active mean that it cannot.
type DeviceExecutionState uint32

// Values of DeviceExecutionState.
const (
	DeviceExecutionActive       DeviceExecutionState = 1
	DeviceExecutionReset        DeviceExecutionState = 2
	DeviceExecutionHung         DeviceExecutionState = 3
	DeviceExecutionStopped      DeviceExecutionState = 4
	DeviceExecutionOutOfMemory  DeviceExecutionState = 5
	DeviceExecutionDMAFault     DeviceExecutionState = 6
	DeviceExecutionDMAPageFault DeviceExecutionState = 7
)

// String returns the end of the value's public name.
func (v DeviceExecutionState) String() string { return deviceExecutionStates.format(int64(v)) }

var deviceExecutionStates = Enum{"D3DKMT_DEVICEEXECUTION_STATE", "D3DKMT_DEVICEEXECUTION_", []EnumValue{
	{int64(DeviceExecutionActive), "ACTIVE"},
	{int64(DeviceExecutionReset), "RESET"},
	{int64(DeviceExecutionHung), "HUNG"},
	{int64(DeviceExecutionStopped), "STOPPED"},
	{int64(DeviceExecutionOutOfMemory), "ERROR_OUTOFMEMORY"},
	{int64(DeviceExecutionDMAFault), "ERROR_DMAFAULT"},
	{int64(DeviceExecutionDMAPageFault), "ERROR_DMAPAGEFAULT"},
}}

// DeviceErrorReason is D3DKMT_DEVICE_ERROR_REASON: it says why a device is marked as
// in error.
type DeviceErrorReason uint32

// Values of DeviceErrorReason.
const (
	DeviceErrorGeneric     DeviceErrorReason = 0x80000000
	DeviceErrorDriverError DeviceErrorReason = 0x80000006
)

// String returns the end of the value's public name.
func (v DeviceErrorReason) String() string { return deviceErrorReasons.format(int64(v)) }

var deviceErrorReasons = Enum{"D3DKMT_DEVICE_ERROR_REASON", "D3DKMT_DEVICE_ERROR_REASON_", []EnumValue{
	{int64(DeviceErrorGeneric), "GENERIC"},
	{int64(DeviceErrorDriverError), "DRIVER_ERROR"},
}}

// ClientHint is D3DKMT_CLIENTHINT: it says which programming interface a context is
// for; nothing depends on it.
type ClientHint uint32

// Values of ClientHint.
const (
	ClientHintUnknown       ClientHint = 0
	ClientHintOpenGL        ClientHint = 1
	ClientHintCDD           ClientHint = 2
	ClientHintOpenCL        ClientHint = 3
	ClientHintVulkan        ClientHint = 4
	ClientHintCUDA          ClientHint = 5
	ClientHintReserved      ClientHint = 6
	ClientHintDX7           ClientHint = 7
	ClientHintDX8           ClientHint = 8
	ClientHintDX9           ClientHint = 9
	ClientHintDX10          ClientHint = 10
	ClientHintDX11          ClientHint = 11
	ClientHintDX12          ClientHint = 12
	ClientHint9On12         ClientHint = 13
	ClientHint11On12        ClientHint = 14
	ClientHintMFTEncode     ClientHint = 15
	ClientHintGLOn12        ClientHint = 16
	ClientHintCLOn12        ClientHint = 17
	ClientHintDMLTensorFlow ClientHint = 18
	ClientHintOneAPILevel0  ClientHint = 19
	ClientHintDMLPyTorch    ClientHint = 20
	ClientHintVKOn12        ClientHint = 21
	ClientHintFastRPC       ClientHint = 22
	ClientHintSNPE          ClientHint = 23
	ClientHintQNN           ClientHint = 24
	ClientHintVitis         ClientHint = 25
	ClientHintFFmpeg        ClientHint = 26
	ClientHintOpenVino      ClientHint = 27
	ClientHintDMLWebNN      ClientHint = 28
)

// String returns the end of the value's public name.
func (v ClientHint) String() string { return clientHints.format(int64(v)) }

var clientHints = Enum{"D3DKMT_CLIENTHINT", "D3DKMT_CLIENTHINT_", []EnumValue{
	{int64(ClientHintUnknown), "UNKNOWN"},
	{int64(ClientHintOpenGL), "OPENGL"},
	{int64(ClientHintCDD), "CDD"},
	{int64(ClientHintOpenCL), "OPENCL"},
	{int64(ClientHintVulkan), "VULKAN"},
	{int64(ClientHintCUDA), "CUDA"},
	{int64(ClientHintReserved), "RESERVED"},
	{int64(ClientHintDX7), "DX7"},
	{int64(ClientHintDX8), "DX8"},
	{int64(ClientHintDX9), "DX9"},
	{int64(ClientHintDX10), "DX10"},
	{int64(ClientHintDX11), "DX11"},
	{int64(ClientHintDX12), "DX12"},
	{int64(ClientHint9On12), "9ON12"},
	{int64(ClientHint11On12), "11ON12"},
	{int64(ClientHintMFTEncode), "MFT_ENCODE"},
	{int64(ClientHintGLOn12), "GLON12"},
	{int64(ClientHintCLOn12), "CLON12"},
	{int64(ClientHintDMLTensorFlow), "DML_TENSORFLOW"},
	{int64(ClientHintOneAPILevel0), "ONEAPI_LEVEL0"},
	{int64(ClientHintDMLPyTorch), "DML_PYTORCH"},
	{int64(ClientHintVKOn12), "VKON12"},
	{int64(ClientHintFastRPC), "FASTRPC"},
	{int64(ClientHintSNPE), "SNPE"},
	{int64(ClientHintQNN), "QNN"},
	{int64(ClientHintVitis), "VITIS"},
	{int64(ClientHintFFmpeg), "FFMPEG"},
	{int64(ClientHintOpenVino), "OPEN_VINO"},
	{int64(ClientHintDMLWebNN), "DML_WEBNN"},
}}

// PagingQueuePriority is D3DDDI_PAGINGQUEUE_PRIORITY: it orders paging queues: the
// higher one is processed first.
type PagingQueuePriority int32

// Values of PagingQueuePriority.
const (
	PagingQueueBelowNormal PagingQueuePriority = -1
	PagingQueueNormal      PagingQueuePriority = 0
	PagingQueueAboveNormal PagingQueuePriority = 1
)

// String returns the end of the value's public name.
func (v PagingQueuePriority) String() string { return pagingQueuePriorities.format(int64(v)) }

var pagingQueuePriorities = Enum{"D3DDDI_PAGINGQUEUE_PRIORITY", "D3DDDI_PAGINGQUEUE_PRIORITY_", []EnumValue{
	{int64(PagingQueueBelowNormal), "BELOW_NORMAL"},
	{int64(PagingQueueNormal), "NORMAL"},
	{int64(PagingQueueAboveNormal), "ABOVE_NORMAL"},
}}

// EngineType is DXGK_ENGINE_TYPE: it says what a node does.
type EngineType uint32

// Values of EngineType.
const (
	EngineOther           EngineType = 0
	Engine3D              EngineType = 1
	EngineVideoDecode     EngineType = 2
	EngineVideoEncode     EngineType = 3
	EngineVideoProcessing EngineType = 4
	EngineSceneAssembly   EngineType = 5
	EngineCopy            EngineType = 6
	EngineOverlay         EngineType = 7
	EngineCrypto          EngineType = 8
)

// String returns the end of the value's public name.
func (v EngineType) String() string { return engineTypes.format(int64(v)) }

var engineTypes = Enum{"DXGK_ENGINE_TYPE", "DXGK_ENGINE_TYPE_", []EnumValue{
	{int64(EngineOther), "OTHER"},
	{int64(Engine3D), "3D"},
	{int64(EngineVideoDecode), "VIDEO_DECODE"},
	{int64(EngineVideoEncode), "VIDEO_ENCODE"},
	{int64(EngineVideoProcessing), "VIDEO_PROCESSING"},
	{int64(EngineSceneAssembly), "SCENE_ASSEMBLY"},
	{int64(EngineCopy), "COPY"},
	{int64(EngineOverlay), "OVERLAY"},
	{int64(EngineCrypto), "CRYPTO"},
}}

// FeatureID is DXGK_FEATURE_ID: it names a feature of driver and system,
// native-fence.md §8.
type FeatureID uint32

// Values of FeatureID.
const (
	FeatureHWSch                    FeatureID = 0
	FeatureHWFlipQueue              FeatureID = 1
	FeatureLDAGPUPV                 FeatureID = 2
	FeatureKMDSignalCPUEvent        FeatureID = 3
	FeatureUserModeSubmission       FeatureID = 4
	FeatureShareBackingStoreWithKMD FeatureID = 5
	FeatureSample                   FeatureID = 31
	FeaturePageBasedMemoryManager   FeatureID = 32
	FeatureKernelModeTesting        FeatureID = 33
	Feature64KPTDemotionFix         FeatureID = 34
	FeatureGPUPVPresentHWQueue      FeatureID = 35
	FeatureGPUVAIOMMU               FeatureID = 36
	FeatureNativeFence              FeatureID = 37
)

// String returns the end of the value's public name.
func (v FeatureID) String() string { return featureIDs.format(int64(v)) }

var featureIDs = Enum{"DXGK_FEATURE_ID", "DXGK_FEATURE_", []EnumValue{
	{int64(FeatureHWSch), "HWSCH"},
	{int64(FeatureHWFlipQueue), "HWFLIPQUEUE"},
	{int64(FeatureLDAGPUPV), "LDA_GPUPV"},
	{int64(FeatureKMDSignalCPUEvent), "KMD_SIGNAL_CPU_EVENT"},
	{int64(FeatureUserModeSubmission), "USER_MODE_SUBMISSION"},
	{int64(FeatureShareBackingStoreWithKMD), "SHARE_BACKING_STORE_WITH_KMD"},
	{int64(FeatureSample), "SAMPLE"},
	{int64(FeaturePageBasedMemoryManager), "PAGE_BASED_MEMORY_MANAGER"},
	{int64(FeatureKernelModeTesting), "KERNEL_MODE_TESTING"},
	{int64(Feature64KPTDemotionFix), "64K_PT_DEMOTION_FIX"},
	{int64(FeatureGPUPVPresentHWQueue), "GPUPV_PRESENT_HWQUEUE"},
	{int64(FeatureGPUVAIOMMU), "GPUVAIOMMU"},
	{int64(FeatureNativeFence), "NATIVE_FENCE"},
}}

// RenderPipelineStage is DXGK_RENDER_PIPELINE_STAGE: it says where in the pipeline a
// page fault was.
type RenderPipelineStage uint32

// Values of RenderPipelineStage.
const (
	PipelineStageUnknown        RenderPipelineStage = 0
	PipelineStageInputAssembler RenderPipelineStage = 1
	PipelineStageVertexShader   RenderPipelineStage = 2
	PipelineStageGeometryShader RenderPipelineStage = 3
	PipelineStageStreamOutput   RenderPipelineStage = 4
	PipelineStageRasterizer     RenderPipelineStage = 5
	PipelineStagePixelShader    RenderPipelineStage = 6
	PipelineStageOutputMerger   RenderPipelineStage = 7
)

// String returns the end of the value's public name.
func (v RenderPipelineStage) String() string { return renderPipelineStages.format(int64(v)) }

var renderPipelineStages = Enum{"DXGK_RENDER_PIPELINE_STAGE", "DXGK_RENDER_PIPELINE_STAGE_", []EnumValue{
	{int64(PipelineStageUnknown), "UNKNOWN"},
	{int64(PipelineStageInputAssembler), "INPUT_ASSEMBLER"},
	{int64(PipelineStageVertexShader), "VERTEX_SHADER"},
	{int64(PipelineStageGeometryShader), "GEOMETRY_SHADER"},
	{int64(PipelineStageStreamOutput), "STREAM_OUTPUT"},
	{int64(PipelineStageRasterizer), "RASTERIZER"},
	{int64(PipelineStagePixelShader), "PIXEL_SHADER"},
	{int64(PipelineStageOutputMerger), "OUTPUT_MERGER"},
}}

// GeneralErrorCode is DXGK_GENERAL_ERROR_CODE: it says what kind of fault it was.
type GeneralErrorCode uint32

// Values of GeneralErrorCode.
const (
	GeneralErrorPageFault          GeneralErrorCode = 0
	GeneralErrorInvalidInstruction GeneralErrorCode = 1
)

// String returns the end of the value's public name.
func (v GeneralErrorCode) String() string { return generalErrorCodes.format(int64(v)) }

var generalErrorCodes = Enum{"DXGK_GENERAL_ERROR_CODE", "DXGK_GENERAL_ERROR_", []EnumValue{
	{int64(GeneralErrorPageFault), "PAGE_FAULT"},
	{int64(GeneralErrorInvalidInstruction), "INVALID_INSTRUCTION"},
}}
