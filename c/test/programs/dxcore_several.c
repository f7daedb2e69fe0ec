/* DXCore among several adapters: lists, orders and workloads. The daemon has neutral,
 * amd, a compute-only one and a software one, in this order. */
#include "dxcore.h"

static void lists(IDXCoreAdapterList *l, const char *want) {
	char got[16] = "";
	for (uint32_t i = 0; i < IDXCoreAdapterList_GetAdapterCount(l); i++) {
		IDXCoreAdapter *a = get(l, i);
		got[i] = (char)('0' + (luid_of(a).LowPart - 0x10000));
		IDXCoreAdapter_Release(a);
	}
	if (strcmp(got, want)) fprintf(stderr, "have %s, want %s\n", got, want);
	CHECK(!strcmp(got, want));
}

static void sorts(IDXCoreAdapterList *l, uint32_t count, const DXCoreAdapterPreference *by, const char *want) {
	FINE(IDXCoreAdapterList_Sort(l, count, by));
	lists(l, want);
}

int main(void) {
	IDXCoreAdapterFactory *f = open_factory();
	static const struct {
		const GUID *attribute;
		const char *want;
	} attributes[] = {
		{&DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE, "0123"}, {&DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS, "013"},
		{&DXCORE_ADAPTER_ATTRIBUTE_D3D11_GRAPHICS, "013"},      {&DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML, ""},
		{&DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_MEDIA, ""},    {&DXCORE_HARDWARE_TYPE_ATTRIBUTE_GPU, "013"},
		{&DXCORE_HARDWARE_TYPE_ATTRIBUTE_COMPUTE_ACCELERATOR, "2"}, {&DXCORE_HARDWARE_TYPE_ATTRIBUTE_NPU, ""},
		{&DXCORE_HARDWARE_TYPE_ATTRIBUTE_MEDIA_ACCELERATOR, ""},
	};
	IDXCoreAdapterList *l = list_of(f, COMPUTE);
	for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
		IDXCoreAdapterList *m = list_of(f, attributes[i].attribute);
		lists(m, attributes[i].want);
		IDXCoreAdapterList_Release(m);
		for (uint32_t j = 0; j < 4; j++) { /* an adapter says the same of itself */
			IDXCoreAdapter *a = get(l, j);
			EQUAL(IDXCoreAdapter_IsAttributeSupported(a, attributes[i].attribute), strchr(attributes[i].want, (int)('0' + j)) != NULL);
			IDXCoreAdapter_Release(a);
		}
	}
	const GUID both[] = {DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE, DXCORE_HARDWARE_TYPE_ATTRIBUTE_COMPUTE_ACCELERATOR, DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS};
	void *p;
	FINE(IDXCoreAdapterFactory_CreateAdapterList(f, 2, both, &IID_IDXCoreAdapterList, &p));
	lists(p, "2");
	IDXCoreAdapterList_Release((IDXCoreAdapterList *)p);
	FINE(IDXCoreAdapterFactory_CreateAdapterList(f, 3, both, &IID_IDXCoreAdapterList, &p));
	lists(p, "");
	IDXCoreAdapterList_Release((IDXCoreAdapterList *)p);

	const DXCoreAdapterPreference hardware = DXCoreAdapterPreference_Hardware, saving = DXCoreAdapterPreference_MinimumPower, fast = DXCoreAdapterPreference_HighPerformance;
	sorts(l, 1, &fast, "1023");
	sorts(l, 1, &saving, "3201");   /* 3 is integrated */
	sorts(l, 1, &hardware, "2013"); /* the rest as it was */
	sorts(l, 2, (const DXCoreAdapterPreference[]){hardware, fast}, "1023");
	sorts(l, 3, (const DXCoreAdapterPreference[]){77, hardware, saving}, "2013");
	IDXCoreAdapterList_Release(l);

	l = list_of(f, COMPUTE);
	IDXCoreAdapter *a = get(l, 1);
	describes(a, "AMD Radeon\xE2\x84\xA2 \xF0\x9F\x9A\x80"); /* UTF-8 of two and of one unit */
	EQUAL(number(a, DXCoreAdapterProperty_PhysicalAdapterCount, 4), 2);
	IDXCoreAdapter_Release(a);
	a = get(l, 3);
	EQUAL(number(a, DXCoreAdapterProperty_IsHardware, 1), 0);
	EQUAL(number(a, DXCoreAdapterProperty_IsIntegrated, 1), 1);
	EQUAL(number(a, DXCoreAdapterProperty_IsDetachable, 1), 1);
	EQUAL(number(a, DXCoreAdapterProperty_AcgCompatible, 1), 1);
	IDXCoreAdapter_Release(a);
	IDXCoreAdapterList_Release(l);

	/* Workloads: what is made for nothing else comes first. */
	static const struct {
		uint32_t workload, runtime, hardware;
		const char *want;
	} workloads[] = {
		{DXCoreWorkload_Graphics, 0, 0, "013"}, {DXCoreWorkload_Compute, 0, 0, "2013"}, {DXCoreWorkload_MachineLearning, 0, 0, "2013"},
		{DXCoreWorkload_Media, 0, 0, "1"}, {DXCoreWorkload_Compute, 1, 0, "013"}, {DXCoreWorkload_Compute, 3, 0, "2013"},
		{DXCoreWorkload_Compute, 2, 1, "013"}, {DXCoreWorkload_Compute, 0, 2, "2"}, {DXCoreWorkload_Compute, 0, 12, ""},
	};
	FINE(IDXCoreAdapterFactory_QueryInterface(f, &IID_IDXCoreAdapterFactory1, &p));
	IDXCoreAdapterFactory1 *f1 = p;
	for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
		FINE(IDXCoreAdapterFactory1_CreateAdapterListByWorkload(f1, workloads[i].workload, workloads[i].runtime, workloads[i].hardware, &IID_IDXCoreAdapterList, &p));
		lists(p, workloads[i].want);
		IDXCoreAdapterList_Release((IDXCoreAdapterList *)p);
	}
	RESULT(IDXCoreAdapterFactory1_CreateAdapterListByWorkload(f1, 4, 0, 0, &IID_IDXCoreAdapterList, &p), E_INVALIDARG);
	RESULT(IDXCoreAdapterFactory1_CreateAdapterListByWorkload(f1, 0, 4, 0, &IID_IDXCoreAdapterList, &p), E_INVALIDARG);
	RESULT(IDXCoreAdapterFactory1_CreateAdapterListByWorkload(f1, 0, 0, 16, &IID_IDXCoreAdapterList, &p), E_INVALIDARG);
	RESULT(IDXCoreAdapterFactory1_CreateAdapterListByWorkload(f1, 0, 0, 0, &IID_IDXCoreAdapter, &p), E_NOINTERFACE);
	RESULT(IDXCoreAdapterFactory1_CreateAdapterListByWorkload(f1, 0, 0, 0, &IID_IDXCoreAdapterList, NULL), E_POINTER);
	IDXCoreAdapterFactory1_Release(f1);
	EQUAL(IDXCoreAdapterFactory_Release(f), 0);
}
