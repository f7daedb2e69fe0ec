package abi

// QueryRegistryType is D3DDDI_QUERYREGISTRY_TYPE: it says which key or path a
// registry query is about.
type QueryRegistryType uint32

// Values of QueryRegistryType.
const (
	QueryRegistryServiceKey      QueryRegistryType = 0
	QueryRegistryAdapterKey      QueryRegistryType = 1
	QueryRegistryDriverStorePath QueryRegistryType = 2
	QueryRegistryDriverImagePath QueryRegistryType = 3
)

// String returns the end of the value's public name.
func (v QueryRegistryType) String() string { return queryRegistryTypes.format(int64(v)) }

var queryRegistryTypes = Enum{"D3DDDI_QUERYREGISTRY_TYPE", "D3DDDI_QUERYREGISTRY_", []EnumValue{
	{int64(QueryRegistryServiceKey), "SERVICEKEY"},
	{int64(QueryRegistryAdapterKey), "ADAPTERKEY"},
	{int64(QueryRegistryDriverStorePath), "DRIVERSTOREPATH"},
	{int64(QueryRegistryDriverImagePath), "DRIVERIMAGEPATH"},
}}

// QueryRegistryStatus is D3DDDI_QUERYREGISTRY_STATUS: it is the outcome of a
// registry query.
type QueryRegistryStatus uint32

// Values of QueryRegistryStatus.
const (
	QueryRegistryStatusSuccess        QueryRegistryStatus = 0
	QueryRegistryStatusBufferOverflow QueryRegistryStatus = 1
	QueryRegistryStatusFail           QueryRegistryStatus = 2
)

// String returns the end of the value's public name.
func (v QueryRegistryStatus) String() string { return queryRegistryStatuses.format(int64(v)) }

var queryRegistryStatuses = Enum{"D3DDDI_QUERYREGISTRY_STATUS", "D3DDDI_QUERYREGISTRY_STATUS_", []EnumValue{
	{int64(QueryRegistryStatusSuccess), "SUCCESS"},
	{int64(QueryRegistryStatusBufferOverflow), "BUFFER_OVERFLOW"},
	{int64(QueryRegistryStatusFail), "FAIL"},
}}

// CrossAdapterResourceTier is D3DKMT_CROSSADAPTERRESOURCE_SUPPORT_TIER: it says what
// an adapter can do with resources of another.
type CrossAdapterResourceTier uint32

// Values of CrossAdapterResourceTier.
const (
	CrossAdapterResourceNone    CrossAdapterResourceTier = 0
	CrossAdapterResourceCopy    CrossAdapterResourceTier = 1
	CrossAdapterResourceTexture CrossAdapterResourceTier = 2
	CrossAdapterResourceScanout CrossAdapterResourceTier = 3
)

// String returns the end of the value's public name.
func (v CrossAdapterResourceTier) String() string { return crossAdapterResourceTiers.format(int64(v)) }

var crossAdapterResourceTiers = Enum{"D3DKMT_CROSSADAPTERRESOURCE_SUPPORT_TIER", "D3DKMT_CROSSADAPTERRESOURCE_SUPPORT_TIER_", []EnumValue{
	{int64(CrossAdapterResourceNone), "NONE"},
	{int64(CrossAdapterResourceCopy), "COPY"},
	{int64(CrossAdapterResourceTexture), "TEXTURE"},
	{int64(CrossAdapterResourceScanout), "SCANOUT"},
}}
