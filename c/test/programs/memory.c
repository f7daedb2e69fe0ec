/* Memory of allocations: of the kernel's making and of our own, locked, mapped for the
 * GPU, made resident, and destroyed. */
#include "gpumem.h"

#include <dxgsync/softgpu.h>
#include <stdbool.h>
#include <sys/mman.h>

enum { PAGES = 5, SIZE = PAGES * 4096 };

static int32_t unlock(D3DKMT_HANDLE d, D3DKMT_HANDLE a) {
	D3DKMT_UNLOCK2 u = {d, a};
	return D3DKMTUnlock2(&u);
}

static void destroy(D3DKMT_HANDLE d, D3DKMT_HANDLE a) {
	D3DKMT_DESTROYALLOCATION2 x = {.hDevice = d, .phAllocationList = &a, .AllocationCount = 1};
	OK(D3DKMTDestroyAllocation2(&x));
}

static void locks(D3DKMT_HANDLE d) {
	D3DKMT_HANDLE a = allocate(d, SIZE - 100, NULL);
	unsigned char *p = lock(d, a);
	CHECK(lock(d, a) == p);
	for (int i = 0; i < SIZE; i++) EQUAL(p[i], 0);
	p[SIZE - 1] = 9;
	OK(unlock(d, a));
	EQUAL(p[SIZE - 1], 9);
	OK(unlock(d, a));
	CHECK(!there(p));
	STATUS(unlock(d, a), INVALID_PARAMETER);
	p = lock(d, a);
	EQUAL(p[SIZE - 1], 9);
	destroy(d, a);
	CHECK(!there(p));
	D3DKMT_LOCK2 l = {.hDevice = d, .hAllocation = a, .pData = p};
	STATUS(D3DKMTLock2(&l), INVALID_PARAMETER);
	CHECK(l.pData == p);

	void *own = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	a = allocate(d, SIZE, own);
	CHECK(lock(d, a) == own);
	OK(unlock(d, a));
	destroy(d, a);
	CHECK(there(own));
	munmap(own, SIZE);
}

static void maps(D3DKMT_HANDLE d) {
	D3DKMT_CREATEPAGINGQUEUE q = {.hDevice = d};
	OK(D3DKMTCreatePagingQueue(&q));
	volatile const uint64_t *paged = q.FenceValueCPUVirtualAddress;
	CHECK(q.hPagingQueue && q.hSyncObject && paged);
	uint64_t first = *paged;
	CHECK(first != 0);
	D3DKMT_HANDLE a = allocate(d, SIZE, NULL);
	D3DDDI_MAPGPUVIRTUALADDRESS m = {.hPagingQueue = q.hPagingQueue, .hAllocation = a, .SizeInPages = PAGES};
	m.Protection.Write = 1;
	STATUS(D3DKMTMapGpuVirtualAddress(&m), PENDING);
	CHECK(m.VirtualAddress != 0);
	EQUAL(m.PagingFenceValue, first + 1);
	OK(wait_fence(d, q.hSyncObject, m.PagingFenceValue));
	CHECK(*paged >= first + 1);
	D3DDDI_MAKERESIDENT r = {.hPagingQueue = q.hPagingQueue, .NumAllocations = 1, .AllocationList = &a};
	STATUS(D3DKMTMakeResident(&r), PENDING);
	OK(wait_fence(d, q.hSyncObject, r.PagingFenceValue));
	OK(D3DKMTMakeResident(&r));
	EQUAL(r.PagingFenceValue, 0);
	OK(wait_fence(d, q.hSyncObject, 0));
	D3DKMT_EVICT e = {.hDevice = d, .NumAllocations = 1, .AllocationList = &a};
	OK(D3DKMTEvict(&e));
	D3DKMT_DESTROYSYNCHRONIZATIONOBJECT x = {q.hSyncObject};
	STATUS(D3DKMTDestroySynchronizationObject(&x), INVALID_PARAMETER);
	OK(wait_fence(d, q.hSyncObject, r.PagingFenceValue));
	for (int i = 0; i < 50; i++) STATUS(D3DKMTMapGpuVirtualAddress(&m), PENDING);
	D3DDDI_DESTROYPAGINGQUEUE end = {q.hPagingQueue};
	OK(D3DKMTDestroyPagingQueue(&end));
	STATUS(D3DKMTDestroyPagingQueue(&end), INVALID_PARAMETER);
	STATUS(wait_fence(d, q.hSyncObject, 0), INVALID_PARAMETER);
}

/* The GPU copies and writes, to memory of both kinds, and signals a fence. */
static void gpu(D3DKMT_HANDLE d) {
	D3DKMT_CREATEPAGINGQUEUE q = {.hDevice = d};
	OK(D3DKMTCreatePagingQueue(&q));
	uint64_t *own = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	D3DKMT_HANDLE commands = allocate(d, SIZE, NULL), heap = allocate(d, SIZE, NULL), mine = allocate(d, SIZE, own);
	uint64_t code = place(d, &q, commands, PAGES), data = place(d, &q, heap, PAGES), there = place(d, &q, mine, PAGES);
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 f = {.hDevice = d};
	f.Info.Type = D3DDDI_MONITORED_FENCE;
	OK(D3DKMTCreateSynchronizationObject2(&f));
	D3DKMT_CREATECONTEXTVIRTUAL c = {.hDevice = d};
	OK(D3DKMTCreateContextVirtual(&c));
	own[0] = 0x0123456789ABCDEF;
	struct dxgsync_cmdbuf b;
	dxgsync_cmdbuf_begin(&b, lock(d, commands), SIZE);
	dxgsync_cmdbuf_write64(&b, data, 42);
	dxgsync_cmdbuf_copy(&b, data + SIZE - 8, there, 8);
	dxgsync_cmdbuf_copy(&b, there + 4096 - 4, data, 8);
	dxgsync_cmdbuf_signal(&b, f.Info.MonitoredFence.FenceValueGPUVirtualAddress, 3);
	D3DKMT_SUBMITCOMMAND submit = {.Commands = code, .CommandLength = (UINT)dxgsync_cmdbuf_size(&b), .BroadcastContextCount = 1, .BroadcastContext = {c.hContext}};
	OK(D3DKMTSubmitCommand(&submit));
	OK(wait_fence(d, f.hSyncObject, 3));
	uint64_t *seen = (uint64_t *)lock(d, heap);
	EQUAL(seen[0], 42);
	EQUAL(seen[SIZE / 8 - 1], 0x0123456789ABCDEF);
	EQUAL(((uint32_t *)own)[1023], 42);
	/* Memory that has gone is a page fault, of this device alone. */
	munmap(own, SIZE);
	OK(D3DKMTSubmitCommand(&submit));
	uint32_t st = (uint32_t)wait_fence(d, f.hSyncObject, UINT64_MAX);
	CHECK(st == 0 || st == 0xC00002B6); /* DEVICE_REMOVED: it was lost before we asked */
	D3DKMT_GETDEVICESTATE state = {.hDevice = d, .StateType = D3DKMT_DEVICESTATE_EXECUTION};
	OK(D3DKMTGetDeviceState(&state));
	EQUAL(state.ExecutionState, D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT);
	D3DKMT_DESTROYDEVICE x = {d};
	OK(D3DKMTDestroyDevice(&x));
}

int main(void) {
	gpu(open_device());
	D3DKMT_HANDLE d = open_device();
	locks(d);
	maps(d);
	D3DKMT_HANDLE a = allocate(d, SIZE, NULL);
	unsigned char *p = lock(d, a);
	D3DKMT_DESTROYDEVICE x = {d};
	OK(D3DKMTDestroyDevice(&x));
	CHECK(!there(p));
	return 0;
}
