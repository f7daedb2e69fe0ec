/* What the programs of this folder share: a device of the first adapter, memory that CPU
 * and GPU see, and hardware queues. */
#ifndef GPU_H
#define GPU_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <dxg/d3dkmthk.h>
#include <dxgsync/softgpu.h>

#define PAGE 4096u

static D3DKMT_HANDLE device, paging_queue, paging_fence;

static inline void check(NTSTATUS status, const char *what) {
	if (NT_SUCCESS(status)) return;
	fprintf(stderr, "%s: status %#x\n", what, (unsigned)status);
	exit(1);
}

static inline int64_t nanoseconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A value that somebody else stores. */
static inline uint64_t look(const volatile void *at) { return __atomic_load_n((const volatile uint64_t *)at, __ATOMIC_SEQ_CST); }

static inline void wait_for(D3DKMT_HANDLE fence, uint64_t value, const char *what) {
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU w = {.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &fence, .FenceValueArray = &value};
	check(D3DKMTWaitForSynchronizationObjectFromCpu(&w), what);
}

static inline void open_device(void) {
	D3DKMT_ENUMADAPTERS2 all = {0};
	check(D3DKMTEnumAdapters2(&all), "count the adapters");
	D3DKMT_ADAPTERINFO *info = calloc(all.NumAdapters, sizeof *info);
	if (!info) exit(1);
	all.pAdapters = info;
	check(D3DKMTEnumAdapters2(&all), "list the adapters");
	D3DKMT_CREATEDEVICE d = {.hAdapter = info[0].hAdapter};
	check(D3DKMTCreateDevice(&d), "make a device");
	free(info);
	device = d.hDevice;
	D3DKMT_CREATEPAGINGQUEUE q = {.hDevice = device};
	check(D3DKMTCreatePagingQueue(&q), "make a paging queue");
	paging_queue = q.hPagingQueue;
	paging_fence = q.hSyncObject;
}

struct memory {
	D3DKMT_HANDLE allocation;
	uint64_t address; /* for the GPU */
	unsigned char *data;
};

static inline struct memory make_memory(uint64_t pages) {
	struct { /* how the software GPU's driver wants to have it described */
		char name[4];
		uint32_t version;
		uint64_t size;
	} data = {{'h', 'e', 'a', 'p'}, 1, pages * PAGE};
	D3DDDI_ALLOCATIONINFO2 a = {.pPrivateDriverData = &data, .PrivateDriverDataSize = sizeof data};
	D3DKMT_CREATEALLOCATION c = {.hDevice = device, .NumAllocations = 1, .pAllocationInfo2 = &a};
	check(D3DKMTCreateAllocation2(&c), "make memory");
	D3DDDI_MAPGPUVIRTUALADDRESS m = {.hPagingQueue = paging_queue, .hAllocation = a.hAllocation, .SizeInPages = pages};
	m.Protection.Write = 1;
	check(D3DKMTMapGpuVirtualAddress(&m), "map memory");
	D3DDDI_MAKERESIDENT r = {.hPagingQueue = paging_queue, .NumAllocations = 1, .AllocationList = &a.hAllocation};
	check(D3DKMTMakeResident(&r), "make memory resident");
	uint64_t done = m.PagingFenceValue > r.PagingFenceValue ? m.PagingFenceValue : r.PagingFenceValue;
	wait_for(paging_fence, done, "wait for memory");
	D3DKMT_LOCK2 l = {.hDevice = device, .hAllocation = a.hAllocation};
	check(D3DKMTLock2(&l), "lock memory");
	return (struct memory){a.hAllocation, m.VirtualAddress, l.pData};
}

/* A hardware queue on a node, with a context of its own. */
static inline D3DKMT_CREATEHWQUEUE make_queue(UINT node, int rings) {
	D3DKMT_CREATECONTEXTVIRTUAL c = {.hDevice = device, .NodeOrdinal = node};
	c.Flags.HwQueueSupported = 1;
	check(D3DKMTCreateContextVirtual(&c), "make a context");
	D3DKMT_CREATEHWQUEUE q = {.hHwContext = c.hContext};
	q.Flags.UserModeSubmission = rings ? 1 : 0;
	check(D3DKMTCreateHwQueue(&q), "make a hardware queue");
	return q;
}

#endif
