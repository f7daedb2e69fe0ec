/* A paging queue that is destroyed while operations are queued. The daemon's clock stands
 * still until the test is told so, and then does them. */
#include "check.h"

#include <pthread.h>

enum { PENDING = 0x103 };

struct args {
	D3DKMT_HANDLE device, queue, fence;
	uint64_t value;
};

static void *destroy_queue(void *a) {
	D3DDDI_DESTROYPAGINGQUEUE q = {.hPagingQueue = ((struct args *)a)->queue};
	return (void *)(uintptr_t)(uint32_t)D3DKMTDestroyPagingQueue(&q);
}

static void *wait_for_value(void *arg) {
	struct args *a = arg;
	return (void *)(uintptr_t)(uint32_t)wait_fence(a->device, a->fence, a->value);
}

static uint32_t end(pthread_t t) {
	void *st;
	CHECK(!pthread_join(t, &st));
	return (uint32_t)(uintptr_t)st;
}

int main(void) {
	D3DKMT_HANDLE d = open_device();
	D3DKMT_CREATEPAGINGQUEUE q = {.hDevice = d};
	OK(D3DKMTCreatePagingQueue(&q));
	const volatile uint64_t *value = (const volatile uint64_t *)q.FenceValueCPUVirtualAddress;
	uint64_t first = *value;
	D3DDDI_MAPGPUVIRTUALADDRESS m = {.hPagingQueue = q.hPagingQueue, .SizeInPages = 1};
	m.Protection.NoAccess = 1;
	STATUS(D3DKMTMapGpuVirtualAddress(&m), PENDING);
	struct args a = {d, q.hPagingQueue, q.hSyncObject, m.PagingFenceValue};
	pthread_t waiter, destroyer;
	CHECK(!pthread_create(&waiter, NULL, wait_for_value, &a));
	CHECK(!pthread_create(&destroyer, NULL, destroy_queue, &a));
	/* As soon as it has begun, the queue is none any more. */
	D3DDDI_RESERVEGPUVIRTUALADDRESS r = {.hPagingQueue = q.hPagingQueue, .Size = 0x10000};
	while (D3DKMTReserveGpuVirtualAddress(&r) == 0) {}
	/* The fence still is one, and shows that nothing was done. */
	OK(wait_fence(d, q.hSyncObject, first));
	EQUAL(*value, first);
	puts("draining");
	fflush(stdout);
	OK(end(destroyer));
	uint32_t st = end(waiter);
	CHECK(st == 0 || st == INVALID_PARAMETER); /* the latter when it began too late */
	STATUS(wait_fence(d, q.hSyncObject, first), INVALID_PARAMETER);
	OK(destroy_device(d));
	return 0;
}
