package adapter

import "github.com/dxgsync/dxgsync/abi"

// Query types, KMTQAITYPE_…. Source: d3dkmthk.h; calls.md §2 and clients.md §4 of
// the behaviour notes say which ones programs ask for.
const (
	qUMDriverPrivate       = 0
	qUMDriverName          = 1
	qGetSegmentSize        = 3
	qAdapterGUID           = 4
	qAdapterAddress        = 6
	qAdapterRegistryInfo   = 8
	qCheckDriverUpdate     = 11
	qDriverVersion         = 13
	qAdapterType           = 15
	qWDDM12                = 17
	qUMDDriverVersion      = 18
	qWDDM13                = 22
	qWDDM20                = 24
	qNodeMetadata          = 25
	qPhysicalAdapterCount  = 30
	qPhysicalAdapterIDs    = 31
	qGpuMmuCaps            = 34
	qQueryRegistry         = 48
	qKMDDriverVersion      = 49
	qAdapterGUIDRender     = 52
	qAdapterAddressRender  = 53
	qAdapterRegistryRender = 54
	qCheckDriverUpdateRndr = 55
	qDriverVersionRender   = 56
	qAdapterTypeRender     = 57
	qWDDM12Render          = 58
	qWDDM13Render          = 59
	qAdapterUniqueGUID     = 60
	qDriverDescription     = 65
	qDriverDescriptionRndr = 66
	qWDDM27                = 70
	qWDDM29                = 75
	qCrossAdapterSupport   = 76
	qWDDM30                = 77
	qWDDM31                = 80
	queryTypes             = 81
)

// A query is one type of D3DKMTQueryAdapterInfo.
type query struct {
	name   string
	size   int // least bytes of the payload, kernel form
	answer func(p *Profile, b payload) abi.Status
}

// queries is indexed by type. A type without an answer is refused like one that
// does not exist.
var queries = [queryTypes]query{
	qUMDriverPrivate:       {"UMDRIVERPRIVATE", 0, (*Profile).umDriverPrivate},
	qUMDriverName:          {"UMDRIVERNAME", 524, (*Profile).umDriverName},
	qGetSegmentSize:        {"GETSEGMENTSIZE", 24, (*Profile).segmentSize},
	qAdapterGUID:           {"ADAPTERGUID", 16, (*Profile).adapterGUID},
	qAdapterAddress:        {"ADAPTERADDRESS", 12, (*Profile).adapterAddress},
	qAdapterRegistryInfo:   {"ADAPTERREGISTRYINFO", 2080, (*Profile).registryInfo},
	qCheckDriverUpdate:     {"CHECKDRIVERUPDATESTATUS", 4, word(func(*Profile) uint32 { return 0 })},
	qDriverVersion:         {"DRIVERVERSION", 4, word(func(p *Profile) uint32 { return uint32(p.WDDM) })},
	qAdapterType:           {"ADAPTERTYPE", 4, word(func(p *Profile) uint32 { return uint32(p.Type) })},
	qWDDM12:                {"WDDM_1_2_CAPS", 12, (*Profile).wddm12},
	qUMDDriverVersion:      {"UMD_DRIVER_VERSION", 8, (*Profile).driverVersion},
	qWDDM13:                {"WDDM_1_3_CAPS", 4, word(func(p *Profile) uint32 { return p.Caps.word(qWDDM13) })},
	qWDDM20:                {"WDDM_2_0_CAPS", 4, word(func(p *Profile) uint32 { return p.Caps.word(qWDDM20) })},
	qNodeMetadata:          {"NODEMETADATA", 78, (*Profile).nodeMetadata},
	qPhysicalAdapterCount:  {"PHYSICALADAPTERCOUNT", 4, word(func(p *Profile) uint32 { return uint32(p.PhysicalAdapters) })},
	qPhysicalAdapterIDs:    {"PHYSICALADAPTERDEVICEIDS", 28, (*Profile).deviceIDs},
	qGpuMmuCaps:            {"QUERY_GPUMMU_CAPS", 12, (*Profile).gpuMmuCaps},
	qQueryRegistry:         {"QUERYREGISTRY", regSize, (*Profile).queryRegistry},
	qKMDDriverVersion:      {"KMD_DRIVER_VERSION", 8, (*Profile).driverVersion},
	qAdapterGUIDRender:     {"ADAPTERGUID_RENDER", 16, (*Profile).adapterGUID},
	qAdapterAddressRender:  {"ADAPTERADDRESS_RENDER", 12, (*Profile).adapterAddress},
	qAdapterRegistryRender: {"ADAPTERREGISTRYINFO_RENDER", 2080, (*Profile).registryInfo},
	qCheckDriverUpdateRndr: {"CHECKDRIVERUPDATESTATUS_RENDER", 4, word(func(*Profile) uint32 { return 0 })},
	qDriverVersionRender:   {"DRIVERVERSION_RENDER", 4, word(func(p *Profile) uint32 { return uint32(p.WDDM) })},
	qAdapterTypeRender:     {"ADAPTERTYPE_RENDER", 4, word(func(p *Profile) uint32 { return uint32(p.Type) })},
	qWDDM12Render:          {"WDDM_1_2_CAPS_RENDER", 12, (*Profile).wddm12},
	qWDDM13Render:          {"WDDM_1_3_CAPS_RENDER", 4, word(func(p *Profile) uint32 { return p.Caps.word(qWDDM13) })},
	qAdapterUniqueGUID:     {"QUERY_ADAPTER_UNIQUE_GUID", 80, (*Profile).uniqueGUID},
	qDriverDescription:     {"DRIVER_DESCRIPTION", 8192, (*Profile).driverDescription},
	qDriverDescriptionRndr: {"DRIVER_DESCRIPTION_RENDER", 8192, (*Profile).driverDescription},
	qWDDM27:                {"WDDM_2_7_CAPS", 4, word((*Profile).wddm27)},
	qWDDM29:                {"WDDM_2_9_CAPS", 4, word((*Profile).wddm29)},
	qCrossAdapterSupport:   {"CROSSADAPTERRESOURCE_SUPPORT", 4, word(func(p *Profile) uint32 { return uint32(p.CrossAdapter) })},
	qWDDM30:                {"WDDM_3_0_CAPS", 4, word((*Profile).wddm30)},
	qWDDM31:                {"WDDM_3_1_CAPS", 4, word(func(p *Profile) uint32 { return p.Caps.word(qWDDM31) })},
}

// Query answers D3DKMTQueryAdapterInfo of type typ into data, which holds the
// caller's payload and is as long as the caller said. Strings in it have 16-bit
// characters. SUCCESS: the answer is in place, bytes behind it are untouched.
// INVALID_PARAMETER: data is nil or too short, the type is reserved, unknown or not
// answered by this adapter, or an index in the payload is out of range; data is then
// untouched.
func (p *Profile) Query(typ uint32, data []byte) abi.Status {
	if data == nil || typ >= queryTypes {
		return abi.StatusInvalidParameter
	}
	q := &queries[typ]
	if q.answer == nil || len(data) < q.size {
		return abi.StatusInvalidParameter
	}
	return q.answer(p, data)
}

// word makes the answer of a query whose payload is one 32-bit word.
func word(value func(p *Profile) uint32) func(*Profile, payload) abi.Status {
	return func(p *Profile, b payload) abi.Status {
		b.put32(0, value(p))
		return abi.StatusSuccess
	}
}
