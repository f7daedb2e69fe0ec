/* Properties: a table of where each is among an adapter's facts. */
#include "dxcore.h"

#include <string.h>

enum {
	DESCRIPTION = DXCoreAdapterProperty_DriverDescription,
	ENGINE_COUNT = DXCoreAdapterProperty_AdapterEngineCount,
	ENGINE_NAME = DXCoreAdapterProperty_AdapterEngineName,
	PROPERTIES
};

#define FACT(field) {offsetof(struct dxcore_facts, field), sizeof ((struct dxcore_facts *)0)->field}
static const struct {
	uint16_t at, size;
} properties[PROPERTIES] = {
	[DXCoreAdapterProperty_InstanceLuid] = FACT(luid),
	[DXCoreAdapterProperty_DriverVersion] = FACT(driver_version),
	[DXCoreAdapterProperty_HardwareID] = FACT(id),
	[DXCoreAdapterProperty_KmdModelVersion] = FACT(model),
	[DXCoreAdapterProperty_ComputePreemptionGranularity] = FACT(compute_preemption),
	[DXCoreAdapterProperty_GraphicsPreemptionGranularity] = FACT(graphics_preemption),
	[DXCoreAdapterProperty_DedicatedAdapterMemory] = FACT(dedicated_adapter),
	[DXCoreAdapterProperty_DedicatedSystemMemory] = FACT(dedicated_system),
	[DXCoreAdapterProperty_SharedSystemMemory] = FACT(shared_system),
	[DXCoreAdapterProperty_AcgCompatible] = FACT(acg),
	[DXCoreAdapterProperty_IsHardware] = FACT(hardware),
	[DXCoreAdapterProperty_IsIntegrated] = FACT(integrated),
	[DXCoreAdapterProperty_IsDetachable] = FACT(detachable),
	[DXCoreAdapterProperty_HardwareIDParts] = FACT(parts),
	[DXCoreAdapterProperty_PhysicalAdapterCount] = FACT(physical),
	[ENGINE_COUNT] = FACT(nodes),
	[ENGINE_NAME] = {0, sizeof(DXCoreEngineNamePropertyOutput)},
};

static size_t size_of(const struct dxcore_facts *f, uint32_t property) {
	return property == DESCRIPTION ? strlen(f->description) + 1 : properties[property].size;
}

static HRESULT give(void *data, size_t size, const void *value, size_t n) {
	if (size < n) return E_INVALIDARG;
	memset(data, 0, size);
	memcpy(data, value, n);
	return S_OK;
}

bool dxcore_property_known(uint32_t property) { return property < PROPERTIES; }

HRESULT dxcore_property_size(const struct dxcore_facts *f, uint32_t property, size_t *size) {
	if (!size) return E_POINTER;
	if (!dxcore_property_known(property)) return DXGI_ERROR_INVALID_CALL;
	*size = size_of(f, property);
	return S_OK;
}

HRESULT dxcore_property(const struct dxcore_facts *f, uint32_t property, size_t size, void *data) {
	if (!data) return E_POINTER;
	if (!dxcore_property_known(property)) return DXGI_ERROR_INVALID_CALL;
	if (property == ENGINE_COUNT || property == ENGINE_NAME) return E_INVALIDARG; /* they need an input */
	const void *value = property == DESCRIPTION ? f->description : (const char *)f + properties[property].at;
	return give(data, size, value, size_of(f, property));
}

/* Only the length if there is no room for the name. */
static HRESULT engine_name(const struct dxcore_facts *f, const DXCoreEngineNamePropertyInput *in, size_t size, void *data) {
	if (in->adapterEngineIndex.physicalAdapterIndex >= f->physical || in->adapterEngineIndex.engineIndex >= f->nodes) return E_INVALIDARG;
	const wchar_t *name = f->node[in->adapterEngineIndex.engineIndex].name;
	DXCoreEngineNamePropertyOutput out = {1};
	while (name[out.engineNameLength - 1]) out.engineNameLength++;
	HRESULT hr = give(data, size, &out, sizeof out);
	if (FAILED(hr) || !in->engineName || !in->engineNameLength) return hr;
	if (in->engineNameLength < out.engineNameLength) return E_INVALIDARG;
	memcpy(in->engineName, name, out.engineNameLength * sizeof *name);
	return S_OK;
}

HRESULT dxcore_property_with_input(const struct dxcore_facts *f, uint32_t property, size_t in_size, const void *in, size_t size, void *data) {
	DXCoreEngineNamePropertyInput engine;
	uint32_t physical;
	if (property != ENGINE_COUNT && property != ENGINE_NAME) return dxcore_property(f, property, size, data);
	if (!data || !in) return E_POINTER;
	if (in_size < (property == ENGINE_NAME ? sizeof engine : sizeof physical)) return E_INVALIDARG;
	if (property == ENGINE_NAME) {
		memcpy(&engine, in, sizeof engine);
		return engine_name(f, &engine, size, data);
	}
	memcpy(&physical, in, sizeof physical);
	return physical < f->physical ? give(data, size, &f->nodes, sizeof f->nodes) : E_INVALIDARG;
}
