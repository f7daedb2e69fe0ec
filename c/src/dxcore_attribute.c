/* Which adapters belong into a list, and in which order. */
#include "dxcore.h"

#include <dxg/d3dkmthk.h>

static bool has_node(const struct dxcore_facts *f, uint32_t engine) {
	for (uint32_t i = 0; i < f->nodes; i++)
		if (f->node[i].engine == engine) return true;
	return false;
}

static bool computes(const struct dxcore_facts *f) { return f->renders; }
static bool draws(const struct dxcore_facts *f) { return f->renders && !f->compute_only && has_node(f, DXGK_ENGINE_TYPE_3D); }
static bool accelerates(const struct dxcore_facts *f) { return f->compute_only; }
static bool is_gpu(const struct dxcore_facts *f) { return !f->compute_only; }

static bool plays(const struct dxcore_facts *f) {
	return f->renders && (has_node(f, DXGK_ENGINE_TYPE_VIDEO_DECODE) || has_node(f, DXGK_ENGINE_TYPE_VIDEO_ENCODE) || has_node(f, DXGK_ENGINE_TYPE_VIDEO_PROCESSING));
}

/* Those of machine learning and media, and further kinds of hardware, are for drivers
 * to claim: no adapter has them. */
static const struct {
	const GUID *attribute;
	bool (*has)(const struct dxcore_facts *);
} attributes[] = {
	{&DXCORE_ADAPTER_ATTRIBUTE_D3D11_GRAPHICS, draws},
	{&DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS, draws},
	{&DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE, computes},
	{&DXCORE_HARDWARE_TYPE_ATTRIBUTE_GPU, is_gpu},
	{&DXCORE_HARDWARE_TYPE_ATTRIBUTE_COMPUTE_ACCELERATOR, accelerates},
};

bool dxcore_has(const struct dxcore_facts *f, const GUID *attribute) {
	for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
		if (dxcore_same(attribute, attributes[i].attribute)) return attributes[i].has(f);
	return false;
}

static bool suits(const struct dxcore_facts *f, uint32_t workload) {
	switch (workload) {
	case DXCoreWorkload_Graphics: return draws(f);
	case DXCoreWorkload_Media: return plays(f);
	default: return computes(f);
	}
}

/* Of several flags one is enough; none asks for nothing. */
bool dxcore_passes(const struct dxcore_facts *f, const struct dxcore_filter *filter) {
	if (!filter->attributes) {
		const uint32_t runtime = (draws(f) ? DXCoreRuntimeFilterFlags_D3D11 : 0) | (computes(f) ? DXCoreRuntimeFilterFlags_D3D12 : 0);
		const uint32_t hardware = is_gpu(f) ? DXCoreHardwareTypeFilterFlags_GPU : DXCoreHardwareTypeFilterFlags_ComputeAccelerator;
		return suits(f, filter->workload) && (!filter->runtime || filter->runtime & runtime) && (!filter->hardware || filter->hardware & hardware);
	}
	for (uint32_t i = 0; i < filter->count; i++)
		if (!dxcore_has(f, &filter->attributes[i])) return false;
	return true;
}

/* Below 0: a is preferred. Of two that are equally integrated, more memory of its own
 * stands for more of everything. */
static int compare(const struct dxcore_facts *a, const struct dxcore_facts *b, uint32_t preference) {
	int power = b->integrated - a->integrated;
	if (!power) power = (a->dedicated_adapter > b->dedicated_adapter) - (a->dedicated_adapter < b->dedicated_adapter);
	switch (preference) {
	case DXCoreAdapterPreference_Hardware: return b->hardware - a->hardware;
	case DXCoreAdapterPreference_MinimumPower: return power;
	case DXCoreAdapterPreference_HighPerformance: return -power;
	default: return 0;
	}
}

bool dxcore_before(const struct dxcore_facts *a, const struct dxcore_facts *b, uint32_t count, const DXCoreAdapterPreference *preferences) {
	int order = 0;
	for (uint32_t i = 0; !order && i < count; i++) order = compare(a, b, preferences[i]);
	return order < 0;
}
