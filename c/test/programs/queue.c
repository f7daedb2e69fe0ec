/* Hardware queues, as far as this library has a part in them: their progress fences. */
#include "stream.h"

static D3DKMT_CREATEHWQUEUE make_queue(D3DKMT_HANDLE context) {
	D3DKMT_CREATEHWQUEUE q = {.hHwContext = context};
	OK(D3DKMTCreateHwQueue(&q));
	CHECK(q.hHwQueue && q.hHwQueueProgressFence && q.HwQueueProgressFenceCPUVirtualAddress && q.HwQueueProgressFenceGPUVirtualAddress);
	return q;
}

/* A progress fence: waited for in memory, signalled and destroyed by no call, gone with
 * its queue, or with the context of that. */
static void progress(D3DKMT_HANDLE d) {
	for (int by_context = 0; by_context < 2; by_context++) {
		D3DKMT_HANDLE c = make_context(d, 0x10);
		D3DKMT_CREATEHWQUEUE q = make_queue(c);
		const volatile uint64_t *view = (const volatile uint64_t *)q.HwQueueProgressFenceCPUVirtualAddress;
		EQUAL(*view, 0);
		OK(wait_fence(d, q.hHwQueueProgressFence, 0));
		STATUS(signal_fence(d, q.hHwQueueProgressFence, 1), ACCESS_DENIED);
		STATUS(destroy_fence(q.hHwQueueProgressFence), INVALID_PARAMETER);
		OK(wait_fence(d, q.hHwQueueProgressFence, 0));
		struct wait_args a = {d, q.hHwQueueProgressFence, 1};
		pthread_t t = begin(&a);
		/* What is no queue destroys nothing. */
		STATUS(D3DKMTDestroyHwQueue(&(D3DKMT_DESTROYHWQUEUE){.hHwQueue = c}), INVALID_PARAMETER);
		STATUS(D3DKMTDestroyHwQueue(&(D3DKMT_DESTROYHWQUEUE){.hHwQueue = d}), INVALID_PARAMETER);
		STATUS(D3DKMTDestroyContext(&(D3DKMT_DESTROYCONTEXT){.hContext = d}), INVALID_PARAMETER);
		OK(wait_fence(d, q.hHwQueueProgressFence, 0));
		if (by_context) OK(D3DKMTDestroyContext(&(D3DKMT_DESTROYCONTEXT){.hContext = c}));
		else OK(D3DKMTDestroyHwQueue(&(D3DKMT_DESTROYHWQUEUE){.hHwQueue = q.hHwQueue}));
		uint32_t st = end(t);
		CHECK(st == 0 || st == INVALID_PARAMETER); /* the latter when it began too late */
		STATUS(wait_fence(d, q.hHwQueueProgressFence, 0), INVALID_PARAMETER);
		STATUS(D3DKMTDestroyHwQueue(&(D3DKMT_DESTROYHWQUEUE){.hHwQueue = q.hHwQueue}), INVALID_PARAMETER);
		if (!by_context) OK(D3DKMTDestroyContext(&(D3DKMT_DESTROYCONTEXT){.hContext = c}));
	}
}

int main(void) {
	D3DKMT_HANDLE d = open_device();
	progress(d);
	OK(destroy_device(d));
	return 0;
}
