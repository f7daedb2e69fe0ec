package abi

// PreemptionCaps is D3DKMDT_PREEMPTION_CAPS, 8 bytes.
type PreemptionCaps struct {
	GraphicsPreemptionGranularity uint32
	ComputePreemptionGranularity  uint32
}

// AdapterPerfData is D3DKMT_ADAPTER_PERFDATA, 64 bytes.
type AdapterPerfData struct {
	PhysicalAdapterIndex uint32
	_                    [4]byte
	MemoryFrequency      uint64
	MaxMemoryFrequency   uint64
	MaxMemoryFrequencyOC uint64
	MemoryBandwidth      uint64
	PCIEBandwidth        uint64
	FanRPM               uint32
	Power                uint32
	Temperature          uint32
	PowerStateOverride   uint8
	_                    [3]byte
}

// AdapterPerfDataCaps is D3DKMT_ADAPTER_PERFDATACAPS, 40 bytes.
type AdapterPerfDataCaps struct {
	PhysicalAdapterIndex uint32
	_                    [4]byte
	MaxMemoryBandwidth   uint64
	MaxPCIEBandwidth     uint64
	MaxFanRPM            uint32
	TemperatureMax       uint32
	TemperatureWarning   uint32
	_                    [4]byte
}

// DirectflipSupport is D3DKMT_DIRECTFLIP_SUPPORT, 4 bytes.
type DirectflipSupport struct {
	Supported uint32
}

// GetProcessDeviceRemovalSupport is D3DKMT_GETPROCESSDEVICEREMOVALSUPPORT, 24 bytes.
type GetProcessDeviceRemovalSupport struct {
	HProcess    uint64
	AdapterLuid LUID
	Support     int8
	_           [7]byte
}

// GpuMmuCaps is D3DKMT_GPUMMU_CAPS, 8 bytes.
type GpuMmuCaps struct {
	Flags                  [1]uint32
	VirtualAddressBitCount uint32
}

// GpuVersion is D3DKMT_GPUVERSION, 260 bytes.
type GpuVersion struct {
	PhysicalAdapterIndex uint32
	BiosVersion          [32]uint32
	GpuArchitecture      [32]uint32
}

// HwDrmSupport is D3DKMT_HWDRM_SUPPORT, 1 byte.
type HwDrmSupport struct {
	Supported int8
}

// HybridDlistDllSupport is D3DKMT_HYBRID_DLIST_DLL_SUPPORT, 4 bytes.
type HybridDlistDllSupport struct {
	Supported uint32
}

// IndependentFlipSecondarySupport is D3DKMT_INDEPENDENTFLIP_SECONDARY_SUPPORT, 4
// bytes.
type IndependentFlipSecondarySupport struct {
	Supported uint32
}

// IndependentFlipSupport is D3DKMT_INDEPENDENTFLIP_SUPPORT, 4 bytes.
type IndependentFlipSupport struct {
	Supported uint32
}

// KmdDriverVersion is D3DKMT_KMD_DRIVER_VERSION, 8 bytes.
type KmdDriverVersion struct {
	DriverVersion int64
}

// Mpo3ddiSupport is D3DKMT_MPO3DDI_SUPPORT, 4 bytes.
type Mpo3ddiSupport struct {
	Supported uint32
}

// MpoKernelCapsSupport is D3DKMT_MPOKERNELCAPS_SUPPORT, 4 bytes.
type MpoKernelCapsSupport struct {
	Supported uint32
}

// MultiplaneOverlayDecodeSupport is D3DKMT_MULTIPLANEOVERLAY_DECODE_SUPPORT, 4 bytes.
type MultiplaneOverlayDecodeSupport struct {
	Supported uint32
}

// MultiplaneOverlayHudSupport is D3DKMT_MULTIPLANEOVERLAY_HUD_SUPPORT, 16 bytes.
type MultiplaneOverlayHudSupport struct {
	VidPnSourceId   uint32
	Update          uint32
	KernelSupported uint32
	HudSupported    uint32
}

// MultiplaneOverlaySecondarySupport is D3DKMT_MULTIPLANEOVERLAY_SECONDARY_SUPPORT, 4
// bytes.
type MultiplaneOverlaySecondarySupport struct {
	Supported uint32
}

// MultiplaneOverlaySupport is D3DKMT_MULTIPLANEOVERLAY_SUPPORT, 4 bytes.
type MultiplaneOverlaySupport struct {
	Supported uint32
}

// NodePerfData is D3DKMT_NODE_PERFDATA, 56 bytes.
type NodePerfData struct {
	NodeOrdinal          uint32
	PhysicalAdapterIndex uint32
	Frequency            uint64
	MaxFrequency         uint64
	MaxFrequencyOC       uint64
	Voltage              uint32
	VoltageMax           uint32
	VoltageMaxOC         uint32
	_                    [4]byte
	MaxTransitionLatency uint64
}

// PanelFitterSupport is D3DKMT_PANELFITTER_SUPPORT, 4 bytes.
type PanelFitterSupport struct {
	Supported uint32
}

// QueryGpuMmuCaps is D3DKMT_QUERY_GPUMMU_CAPS, 12 bytes.
type QueryGpuMmuCaps struct {
	PhysicalAdapterIndex uint32
	Caps                 GpuMmuCaps
}

// QueryScanoutCaps is D3DKMT_QUERY_SCANOUT_CAPS, 8 bytes.
type QueryScanoutCaps struct {
	VidPnSourceId uint32
	Caps          uint32
}

// UmdDriverVersion is D3DKMT_UMD_DRIVER_VERSION, 8 bytes.
type UmdDriverVersion struct {
	DriverVersion int64
}

// Wddm12Caps is D3DKMT_WDDM_1_2_CAPS, 12 bytes.
type Wddm12Caps struct {
	PreemptionCaps PreemptionCaps
	Value          uint32 // SupportNonVGA:1, SupportSmoothRotation:1, SupportPerEngineTDR:1, SupportKernelModeCommandBuffer:1, SupportCCD:1, SupportSoftwareDeviceBitmaps:1, SupportGammaRamp:1, SupportHWCursor:1, SupportHWVSync:1, SupportSurpriseRemovalInHibernation:1, Reserved:22
}
