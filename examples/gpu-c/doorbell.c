/* Submits command buffers without a call: each goes into a ring buffer, and a number into a
 * doorbell that the GPU looks at. What is done with the status is the part to copy: a
 * doorbell is not connected at first, and can be taken away at any time.
 *
 *     dxgsync run -- build/examples/doorbell-c
 */
#include "gpu.h"

enum { BUFFERS = 2000 };

static int connects, notices;

/* Have the GPU hear of a ring. */
static void heard(const D3DKMT_CREATE_DOORBELL *bell) {
	for (;;) switch (dxgsync_doorbell_load(bell->DoorbellStatusCPUVirtualAddress)) {
		case D3DDDI_DOORBELLSTATUS_CONNECTED:
			return;
		case D3DDDI_DOORBELLSTATUS_CONNECTED_NOTIFY_KMD:
			notices++;
			if (NT_SUCCESS(D3DKMTNotifyWorkSubmission(&(D3DKMT_NOTIFY_WORK_SUBMISSION){.hDoorbell = bell->hDoorbell}))) return;
			break; /* it was taken away meanwhile */
		case D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY:
			connects++;
			check(D3DKMTConnectDoorbell(&(D3DKMT_CONNECT_DOORBELL){.hDoorbell = bell->hDoorbell}), "connect the doorbell");
			break; /* what was rung counts */
		default:
			fprintf(stderr, "the device is lost\n");
			exit(1);
		}
}

static int by_size(const void *a, const void *b) {
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

int main(void) {
	open_device();
	D3DKMT_CREATEHWQUEUE q = make_queue(0, 1);
	struct memory ring_memory = make_memory(1), commands = make_memory(1), result = make_memory(1);
	D3DKMT_CREATE_DOORBELL bell = {.hHwQueue = q.hHwQueue, .hRingBuffer = ring_memory.allocation};
	check(D3DKMTCreateDoorbell(&bell), "make a doorbell");
	struct dxgsync_ring ring;
	dxgsync_ring_begin(&ring, ring_memory.data, PAGE, NULL);

	static int64_t took[BUFFERS];
	for (uint64_t n = 1; n <= BUFFERS; n++) {
		int64_t begin = nanoseconds();
		struct dxgsync_cmdbuf b;
		dxgsync_cmdbuf_begin(&b, commands.data, PAGE);
		dxgsync_cmdbuf_write64(&b, result.address, n);
		dxgsync_cmdbuf_signal(&b, q.HwQueueProgressFenceGPUVirtualAddress, n);
		uint64_t number = dxgsync_ring_put(&ring, commands.address, dxgsync_cmdbuf_size(&b));
		dxgsync_doorbell_store(bell.HwQueueProgressFenceLastQueuedValueCPUVirtualAddress, n);
		dxgsync_doorbell_store(bell.DoorbellCPUVirtualAddress, number);
		heard(&bell);
		if (n % 100 == 0) wait_for(q.hHwQueueProgressFence, n, "wait for progress"); /* a program may sleep, too */
		while (look(q.HwQueueProgressFenceCPUVirtualAddress) < n) ;
		took[n - 1] = nanoseconds() - begin;
		if (look(result.data) != n) {
			fprintf(stderr, "buffer %d has written %d\n", (int)n, (int)look(result.data));
			return 1;
		}
	}
	qsort(took, BUFFERS, sizeof took[0], by_size);
	printf("%d buffers by the doorbell: %.1f us\n", BUFFERS, (double)took[BUFFERS / 2] / 1000);
	printf("connected %d times, told the driver %d times\n", connects, notices);
	check(D3DKMTDestroyDoorbell(&(D3DKMT_DESTROY_DOORBELL){.hDoorbell = bell.hDoorbell}), "destroy the doorbell");
	check(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){.hDevice = device}), "destroy the device");
	return 0;
}
