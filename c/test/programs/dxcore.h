/* What the programs for DXCore share. */
#pragma once

#include "check.h"

#include <dxg/dxcore.h>

#define RESULT(call, want) STATUS(call, want)
#define FINE(call) RESULT(call, S_OK)

#define COMPUTE &DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE
#define GRAPHICS &DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS

static inline IDXCoreAdapterFactory *open_factory(void) {
	void *f = (void *)1;
	FINE(DXCoreCreateAdapterFactory(&IID_IDXCoreAdapterFactory, &f));
	CHECK(f);
	return f;
}

static inline IDXCoreAdapterList *list_of(IDXCoreAdapterFactory *f, const GUID *attribute) {
	void *l = NULL;
	FINE(IDXCoreAdapterFactory_CreateAdapterList(f, 1, attribute, &IID_IDXCoreAdapterList, &l));
	return l;
}

static inline IDXCoreAdapter *get(IDXCoreAdapterList *l, uint32_t i) {
	void *a = NULL;
	FINE(IDXCoreAdapterList_GetAdapter(l, i, &IID_IDXCoreAdapter, &a));
	return a;
}

/* A property through both calls; its size is exact. */
static inline void property(IDXCoreAdapter *a, DXCoreAdapterProperty p, void *value, size_t want) {
	unsigned char more[64];
	size_t size = 0;
	CHECK(IDXCoreAdapter_IsPropertySupported(a, p));
	FINE(IDXCoreAdapter_GetPropertySize(a, p, &size));
	EQUAL(size, want);
	memset(value, 0xEE, size);
	RESULT(IDXCoreAdapter_GetProperty(a, p, size - 1, value), E_INVALIDARG);
	EQUAL(*(unsigned char *)value, 0xEE); /* untouched */
	FINE(IDXCoreAdapter_GetProperty(a, p, size, value));
	if (size < sizeof more) { /* more room is zeroed */
		memset(more, 0xEE, sizeof more);
		FINE(IDXCoreAdapter_GetProperty(a, p, sizeof more, more));
		CHECK(!memcmp(more, value, size));
		for (size_t i = size; i < sizeof more; i++) EQUAL(more[i], 0);
	}
	RESULT(IDXCoreAdapter_GetProperty(a, p, size, NULL), E_POINTER);
}

static inline LUID luid_of(IDXCoreAdapter *a) {
	LUID luid;
	property(a, DXCoreAdapterProperty_InstanceLuid, &luid, sizeof luid);
	return luid;
}

static inline uint64_t number(IDXCoreAdapter *a, DXCoreAdapterProperty p, size_t size) {
	uint64_t v = 0;
	property(a, p, &v, size);
	return size == 8 ? v : v & ((UINT64_C(1) << 8 * size) - 1);
}

static inline void describes(IDXCoreAdapter *a, const char *want) {
	char text[256];
	property(a, DXCoreAdapterProperty_DriverDescription, text, strlen(want) + 1);
	CHECK(!strcmp(text, want));
}
