/* Memory that programs and the GPU share. */
#ifndef GPUMEM_H
#define GPUMEM_H
#include "check.h"

#include <stdbool.h>
#include <sys/mman.h>

enum { PENDING = 0x103 };

struct heap { /* private data of the software GPU's driver */
	char magic[4];
	uint32_t version;
	uint64_t size;
};

static inline D3DKMT_HANDLE allocate(D3DKMT_HANDLE d, uint64_t size, void *existing) {
	struct heap data = {{'h', 'e', 'a', 'p'}, 1, size};
	D3DDDI_ALLOCATIONINFO2 info = {.pPrivateDriverData = &data, .PrivateDriverDataSize = sizeof data, .pSystemMem = existing};
	D3DKMT_CREATEALLOCATION c = {.hDevice = d, .NumAllocations = 1, .pAllocationInfo2 = &info};
	c.Flags.ExistingSysMem = existing != NULL;
	OK(D3DKMTCreateAllocation2(&c));
	CHECK(info.hAllocation != 0);
	return info.hAllocation;
}

static inline unsigned char *lock(D3DKMT_HANDLE d, D3DKMT_HANDLE a) {
	D3DKMT_LOCK2 l = {.hDevice = d, .hAllocation = a};
	OK(D3DKMTLock2(&l));
	CHECK(l.pData != NULL);
	return l.pData;
}

/* Map all of an allocation, and say where. */
static inline uint64_t place(D3DKMT_HANDLE d, const D3DKMT_CREATEPAGINGQUEUE *q, D3DKMT_HANDLE a, uint64_t pages) {
	D3DDDI_MAPGPUVIRTUALADDRESS m = {.hPagingQueue = q->hPagingQueue, .hAllocation = a, .SizeInPages = pages};
	m.Protection.Write = 1;
	STATUS(D3DKMTMapGpuVirtualAddress(&m), PENDING);
	OK(wait_fence(d, q->hSyncObject, m.PagingFenceValue));
	return m.VirtualAddress;
}

/* Whether a page is mapped. */
static inline bool there(const volatile void *p) {
	unsigned char in;
	return mincore((void *)((uintptr_t)p & ~(uintptr_t)4095), 4096, &in) == 0;
}

#endif
