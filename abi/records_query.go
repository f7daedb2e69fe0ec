package abi

// DriverEscapeCpuEventUsage is D3DDDI_DRIVERESCAPE_CPUEVENTUSAGE, 48 bytes.
type DriverEscapeCpuEventUsage struct {
	EscapeType   uint32
	HSyncObject  Handle
	HKmdCpuEvent uint64
	Usage        [8]uint32
}

// QueryRegistryInfo is D3DDDI_QUERYREGISTRY_INFO, 1072 bytes.
type QueryRegistryInfo struct {
	QueryType            QueryRegistryType
	QueryFlags           QueryRegistryFlags
	ValueName            [260]uint32
	ValueType            uint32
	PhysicalAdapterIndex uint32
	OutputValueSize      uint32
	Status               QueryRegistryStatus
	Union                [1]uint64 // OutputDword, OutputQword, OutputString, OutputBinary
}

// QueryRegistryInfoWchar16 is D3DDDI_QUERYREGISTRY_INFO_WCHAR16, 552 bytes.
type QueryRegistryInfoWchar16 struct {
	QueryType            QueryRegistryType
	QueryFlags           QueryRegistryFlags
	ValueName            [260]uint16
	ValueType            uint32
	PhysicalAdapterIndex uint32
	OutputValueSize      uint32
	Status               QueryRegistryStatus
	Union                [1]uint64 // OutputDword, OutputQword, OutputString, OutputBinary
}

// Rational is D3DDDI_RATIONAL, 8 bytes.
type Rational struct {
	Numerator   uint32
	Denominator uint32
}

// AdapterAddress is D3DKMT_ADAPTERADDRESS, 12 bytes.
type AdapterAddress struct {
	BusNumber      uint32
	DeviceNumber   uint32
	FunctionNumber uint32
}

// AdapterInfo is D3DKMT_ADAPTERINFO, 20 bytes.
type AdapterInfo struct {
	HAdapter                        Handle
	AdapterLuid                     LUID
	NumOfSources                    uint32
	BPrecisePresentRegionsPreferred uint32
}

// AdapterRegistryInfo is D3DKMT_ADAPTERREGISTRYINFO, 4160 bytes.
type AdapterRegistryInfo struct {
	AdapterString [260]uint32
	BiosString    [260]uint32
	DacType       [260]uint32
	ChipType      [260]uint32
}

// AdapterRegistryInfoWchar16 is D3DKMT_ADAPTERREGISTRYINFO_WCHAR16, 2080 bytes.
type AdapterRegistryInfoWchar16 struct {
	AdapterString [260]uint16
	BiosString    [260]uint16
	DacType       [260]uint16
	ChipType      [260]uint16
}

// BlocklistInfo is D3DKMT_BLOCKLIST_INFO, 8 bytes.
type BlocklistInfo struct {
	Size      uint32
	BlockList [1]uint32
}

// CloseAdapter is D3DKMT_CLOSEADAPTER, 4 bytes, the argument of D3DKMTCloseAdapter.
type CloseAdapter struct {
	HAdapter Handle
}

// CpDriverName is D3DKMT_CPDRIVERNAME, 1040 bytes.
type CpDriverName struct {
	ContentProtectionFileName [260]uint32
}

// DisplayUmdFilenameInfo is D3DKMT_DISPLAY_UMD_FILENAMEINFO, 1044 bytes.
type DisplayUmdFilenameInfo struct {
	Version     uint32
	UmdFileName [260]uint32
}

// DlistDriverName is D3DKMT_DLIST_DRIVER_NAME, 1040 bytes.
type DlistDriverName struct {
	DListFileName [260]uint32
}

// DriverDescription is D3DKMT_DRIVER_DESCRIPTION, 16384 bytes.
type DriverDescription struct {
	DriverDescription [4096]uint32
}

// DriverDescriptionWchar16 is D3DKMT_DRIVER_DESCRIPTION_WCHAR16, 8192 bytes.
type DriverDescriptionWchar16 struct {
	DriverDescription [4096]uint16
}

// EnumAdapters is D3DKMT_ENUMADAPTERS, 324 bytes.
type EnumAdapters struct {
	NumAdapters uint32
	Adapters    [16]AdapterInfo
}

// EnumAdapters2 is D3DKMT_ENUMADAPTERS2, 16 bytes, the argument of
// D3DKMTEnumAdapters2.
type EnumAdapters2 struct {
	NumAdapters uint32 // answered
	_           [4]byte
	PAdapters   uint64 // array of NumAdapters, out
}

// EnumAdapters3 is D3DKMT_ENUMADAPTERS3, 24 bytes, the argument of
// D3DKMTEnumAdapters3.
type EnumAdapters3 struct {
	Filter      EnumAdaptersFilter
	NumAdapters uint32 // answered
	_           [4]byte
	PAdapters   uint64 // array of NumAdapters, out
}

// FlipQueueInfo is D3DKMT_FLIPQUEUEINFO, 12 bytes.
type FlipQueueInfo struct {
	MaxHardwareFlipQueueLength uint32
	MaxSoftwareFlipQueueLength uint32
	FlipFlags                  FlipInfoFlags
}

// IsBadDriverForHwProtectionDisabled is D3DKMT_ISBADDRIVERFORHWPROTECTIONDISABLED, 4
// bytes.
type IsBadDriverForHwProtectionDisabled struct {
	Disabled uint32
}

// MiracastCompanionDriverName is D3DKMT_MIRACASTCOMPANIONDRIVERNAME, 1040 bytes.
type MiracastCompanionDriverName struct {
	MiracastCompanionDriverName [260]uint32
}

// OpenAdapterFromLuid is D3DKMT_OPENADAPTERFROMLUID, 12 bytes, the argument of
// D3DKMTOpenAdapterFromLuid.
type OpenAdapterFromLuid struct {
	AdapterLuid LUID
	HAdapter    Handle // answered
}

// OpenglInfo is D3DKMT_OPENGLINFO, 1048 bytes.
type OpenglInfo struct {
	UmdOpenGlIcdFileName [260]uint32
	Version              uint32
	Flags                uint32
}

// OpenglInfoWchar16 is D3DKMT_OPENGLINFO_WCHAR16, 528 bytes.
type OpenglInfoWchar16 struct {
	UmdOpenGlIcdFileName [260]uint16
	Version              uint32
	Flags                uint32
}

// Paravirtualization is D3DKMT_PARAVIRTUALIZATION, 1 byte.
type Paravirtualization struct {
	SecureContainer int8
}

// PhysicalAdapterCount is D3DKMT_PHYSICAL_ADAPTER_COUNT, 4 bytes.
type PhysicalAdapterCount struct {
	Count uint32
}

// QueryAdapterInfo is D3DKMT_QUERYADAPTERINFO, 24 bytes, the argument of
// D3DKMTQueryAdapterInfo.
type QueryAdapterInfo struct {
	HAdapter              Handle
	Type                  uint32
	PPrivateDriverData    uint64 // PrivateDriverDataSize bytes, in and out
	PrivateDriverDataSize uint32
	_                     [4]byte
}

// QueryStatistics is D3DKMT_QUERYSTATISTICS, 808 bytes, the argument of
// D3DKMTQueryStatistics.
type QueryStatistics struct {
	Raw [101]uint64
}

// QueryAdapterUniqueGuid is D3DKMT_QUERY_ADAPTER_UNIQUE_GUID, 160 bytes.
type QueryAdapterUniqueGuid struct {
	AdapterUniqueGUID [40]uint32
}

// QueryAdapterUniqueGuidWchar16 is D3DKMT_QUERY_ADAPTER_UNIQUE_GUID_WCHAR16, 80
// bytes.
type QueryAdapterUniqueGuidWchar16 struct {
	AdapterUniqueGUID [40]uint16
}

// QueryDeviceIds is D3DKMT_QUERY_DEVICE_IDS, 28 bytes.
type QueryDeviceIds struct {
	PhysicalAdapterIndex uint32
	DeviceIds            DeviceIds
}

// QueryMiracastDriverType is D3DKMT_QUERY_MIRACAST_DRIVER_TYPE, 4 bytes.
type QueryMiracastDriverType struct {
	MiracastDriverType uint32
}

// QueryPhysicalAdapterPnpKey is D3DKMT_QUERY_PHYSICAL_ADAPTER_PNP_KEY, 24 bytes.
type QueryPhysicalAdapterPnpKey struct {
	PhysicalAdapterIndex uint32
	PnPKeyType           uint32
	PDest                uint64
	PCchDest             uint64
}

// UmdFilenameInfo is D3DKMT_UMDFILENAMEINFO, 1044 bytes.
type UmdFilenameInfo struct {
	Version     uint32
	UmdFileName [260]uint32
}

// UmdFilenameInfoWchar16 is D3DKMT_UMDFILENAMEINFO_WCHAR16, 524 bytes.
type UmdFilenameInfoWchar16 struct {
	Version     uint32
	UmdFileName [260]uint16
}

// Unlock2 is D3DKMT_UNLOCK2, 8 bytes, the argument of D3DKMTUnlock2.
type Unlock2 struct {
	HDevice     Handle
	HAllocation Handle
}

// Xbox is D3DKMT_XBOX, 4 bytes.
type Xbox struct {
	IsXBOX uint32
}
