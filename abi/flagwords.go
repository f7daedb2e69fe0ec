package abi

// AdapterType is D3DKMT_ADAPTERTYPE.
type AdapterType uint32

// ConnectDoorbellFlags is D3DKMT_CONNECT_DOORBELL_FLAGS.
type ConnectDoorbellFlags uint32

// CreateAllocationFlags is D3DKMT_CREATEALLOCATIONFLAGS.
type CreateAllocationFlags uint32

// CreateDoorbellFlags is D3DKMT_CREATE_DOORBELL_FLAGS.
type CreateDoorbellFlags uint32

// CreateHwContextFlags is D3DDDI_CREATEHWCONTEXTFLAGS.
type CreateHwContextFlags uint32

// CreateKeyedMutex2Flags is D3DKMT_CREATEKEYEDMUTEX2_FLAGS.
type CreateKeyedMutex2Flags uint32

// CreateNativeFenceFlags is D3DKMT_CREATENATIVEFENCE_FLAGS.
type CreateNativeFenceFlags uint32

// CreateStandardAllocationFlags is D3DKMT_CREATESTANDARDALLOCATIONFLAGS.
type CreateStandardAllocationFlags uint32

// DestroyAllocation2Flags is D3DDDICB_DESTROYALLOCATION2FLAGS.
type DestroyAllocation2Flags uint32

// DeviceResetState is D3DKMT_DEVICERESET_STATE.
type DeviceResetState uint32

// DisplayModeFlags is D3DKMDT_DISPLAYMODE_FLAGS.
type DisplayModeFlags uint64

// EnumAdaptersFilter is D3DKMT_ENUMADAPTERS_FILTER.
type EnumAdaptersFilter uint64

// EscapeFlags is D3DDDI_ESCAPEFLAGS.
type EscapeFlags uint32

// EvictFlags is D3DDDI_EVICT_FLAGS.
type EvictFlags uint32

// FlipInfoFlags is D3DKMT_FLIPINFOFLAGS.
type FlipInfoFlags uint32

// GetNativeFenceLogDetailFlags is D3DKMT_GETNATIVEFENCELOGDETAIL_FLAGS.
type GetNativeFenceLogDetailFlags uint32

// GpuVirtualAddressProtectionType is D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE.
type GpuVirtualAddressProtectionType uint64

// Lock2Flags is D3DDDICB_LOCK2FLAGS.
type Lock2Flags uint32

// MakeResidentFlags is D3DDDI_MAKERESIDENT_FLAGS.
type MakeResidentFlags uint32

// NotifyWorkSubmissionFlags is D3DKMT_NOTIFY_WORK_SUBMISSION_FLAGS.
type NotifyWorkSubmissionFlags uint32

// OfferFlags is D3DKMT_OFFER_FLAGS.
type OfferFlags uint32

// QueryRegistryFlags is D3DDDI_QUERYREGISTRY_FLAGS.
type QueryRegistryFlags uint32

// QueryStatisticsAdapterInformationFlags is D3DKMT_QUERYSTATISTICS_ADAPTER_INFORMATION_FLAGS.
type QueryStatisticsAdapterInformationFlags uint64

// RenderFlags is D3DKMT_RENDERFLAGS.
type RenderFlags uint32

// SegmentPreference is D3DDDI_SEGMENTPREFERENCE.
type SegmentPreference uint32

// TrimResidencySetFlags is D3DDDI_TRIMRESIDENCYSET_FLAGS.
type TrimResidencySetFlags uint32

// UpdateAllocPropertyFlags is D3DDDI_UPDATEALLOCPROPERTY_FLAGS.
type UpdateAllocPropertyFlags uint32

// VirtualAddressFlags is D3DKMT_VIRTUALADDRESSFLAGS.
type VirtualAddressFlags uint32

// Wddm31Caps is D3DKMT_WDDM_3_1_CAPS.
type Wddm31Caps uint32

// WorkingSetFlags is D3DKMT_WORKINGSETFLAGS.
type WorkingSetFlags uint32
