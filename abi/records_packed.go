package abi

// FaultErrorCode is DXGK_FAULT_ERROR_CODE, 4 bytes, packed. Bit 0: the other 31 bits
// are a code of the device's own, not a DXGK_GENERAL_ERROR_CODE.
type FaultErrorCode struct {
	Bits Packed32 // IsDeviceSpecificCode:1, GeneralErrorCode or DeviceSpecificCode:31
}

// DisplayCaps is D3DKMT_DISPLAY_CAPS, 8 bytes, packed.
type DisplayCaps struct {
	Value Packed64 // PreferPhysicallyContiguous:1
}

// DriverCapsExt is D3DKMT_DRIVERCAPS_EXT, 4 bytes, packed.
type DriverCapsExt struct {
	Value Packed32 // VirtualModeSupport:1, Usb4MonitorSupport:1
}

// NodeMetadataFlags is DXGK_NODEMETADATA_FLAGS, 4 bytes, packed.
type NodeMetadataFlags struct {
	// ContextSchedulingSupported:1, RingBufferFenceRelease:1,
	// SupportTrackedWorkload:1, 13 reserved, MaxInFlightHwQueueBuffers:16.
	Value Packed32
}

// DxgkNodeMetadata is DXGK_NODEMETADATA, 138 bytes, packed: what a node is, with the
// caller's 32-bit characters.
type DxgkNodeMetadata struct {
	EngineType      Packed32
	FriendlyName    [32]Packed32
	Flags           NodeMetadataFlags
	GpuMmuSupported int8
	IoMmuSupported  int8
}

// NodeMetadata is D3DKMT_NODEMETADATA, 142 bytes, packed.
type NodeMetadata struct {
	NodeOrdinalAndAdapterIndex Packed32 // node in the low half, physical adapter in the high
	NodeData                   DxgkNodeMetadata
}

// DxgkNodeMetadataWchar16 is DXGK_NODEMETADATA_WCHAR16, 74 bytes, packed: as it
// travels, with 16-bit characters.
type DxgkNodeMetadataWchar16 struct {
	EngineType      Packed32
	FriendlyName    [32]Packed16
	Flags           NodeMetadataFlags
	GpuMmuSupported int8
	IoMmuSupported  int8
}

// NodeMetadataWchar16 is D3DKMT_NODEMETADATA_WCHAR16, 78 bytes, packed.
type NodeMetadataWchar16 struct {
	NodeOrdinalAndAdapterIndex Packed32 // node in the low half, physical adapter in the high
	NodeData                   DxgkNodeMetadataWchar16
}

// GpuClockDataFlags is DXGK_GPUCLOCKDATA_FLAGS, 4 bytes, packed.
type GpuClockDataFlags struct {
	Value Packed32 // ContextManagementProcessor:1
}

// GpuClockData is DXGK_GPUCLOCKDATA, 28 bytes, packed.
type GpuClockData struct {
	GpuFrequency    Packed64 // Hz
	GpuClockCounter Packed64
	CpuClockCounter Packed64
	Flags           GpuClockDataFlags
}

// QueryClockCalibration is D3DKMT_QUERYCLOCKCALIBRATION, 40 bytes, packed, the
// argument of D3DKMTQueryClockCalibration.
type QueryClockCalibration struct {
	HAdapter             Packed32 // Handle
	NodeOrdinal          Packed32
	PhysicalAdapterIndex Packed32
	ClockData            GpuClockData // answered
}

// TrackedWorkloadSupport is D3DKMT_TRACKEDWORKLOAD_SUPPORT, 12 bytes, packed.
type TrackedWorkloadSupport struct {
	PhysicalAdapterIndex Packed32
	EngineType           Packed32
	Support              Packed32 // BOOL
}

// Wddm13Caps is D3DKMT_WDDM_1_3_CAPS, 4 bytes, packed.
type Wddm13Caps struct {
	// SupportMiracast:1, IsHybridIntegratedGPU:1, IsHybridDiscreteGPU:1,
	// SupportPowerManagementPStates:1, SupportVirtualModes:1,
	// SupportCrossAdapterResource:1.
	Value Packed32
}

// Wddm20Caps is D3DKMT_WDDM_2_0_CAPS, 4 bytes, packed.
type Wddm20Caps struct {
	// Support64BitAtomics:1, GpuMmuSupported:1, IoMmuSupported:1,
	// FlipOverwriteSupported:1, SupportContextlessPresent:1, SupportSurpriseRemoval:1.
	Value Packed32
}

// Wddm27Caps is D3DKMT_WDDM_2_7_CAPS, 4 bytes, packed.
type Wddm27Caps struct {
	// HwSchSupported:1, HwSchEnabled:1, HwSchEnabledByDefault:1,
	// IndependentVidPnVSyncControl:1.
	Value Packed32
}

// Wddm29Caps is D3DKMT_WDDM_2_9_CAPS, 4 bytes, packed.
type Wddm29Caps struct {
	Value Packed32 // HwSchSupportState:2, HwSchEnabled:1, SelfRefreshMemorySupported:1
}

// Wddm30Caps is D3DKMT_WDDM_3_0_CAPS, 4 bytes, packed.
type Wddm30Caps struct {
	Value Packed32 // HwFlipQueueSupportState:2, HwFlipQueueEnabled:1, DisplayableSupported:1
}
