/* Two engines hand each other a turn by a native fence: the waits and signals are commands,
 * and no CPU has a part in it but for the first signal. All turns are queued ahead; the
 * program looks at the value, which interrupts nobody, and says when each turn was over.
 *
 *     dxgsync run -- build/examples/native-c
 */
#include "gpu.h"

enum { TURNS = 8, TURN_TIME = 1000000 /* ns */ };

int main(void) {
	open_device();
	D3DKMT_CREATENATIVEFENCE turn = {.hDevice = device};
	check(D3DKMTCreateNativeFence(&turn), "make a native fence");
	const D3DDDI_NATIVEFENCEMAPPING *at = &turn.Info.NativeFenceMapping;
	static const UINT nodes[] = {0, 1};
	D3DKMT_CREATEHWQUEUE queues[2];
	for (int i = 0; i < 2; i++) queues[i] = make_queue(nodes[i], 0);

	struct memory commands = make_memory(TURNS);
	for (uint64_t n = 1; n <= TURNS; n++) {
		D3DKMT_CREATEHWQUEUE *q = &queues[n % 2];
		uint64_t place = (n - 1) * PAGE, progress = (n + 1) / 2;
		struct dxgsync_cmdbuf b;
		dxgsync_cmdbuf_begin(&b, commands.data + place, PAGE);
		dxgsync_cmdbuf_wait(&b, at->CurrentValueGpuVa, n, turn.hSyncObject);
		dxgsync_cmdbuf_delay(&b, TURN_TIME, 0);
		dxgsync_cmdbuf_signal_native(&b, at->CurrentValueGpuVa, n + 1, at->MonitoredValueGpuVa, turn.hSyncObject);
		dxgsync_cmdbuf_signal(&b, q->HwQueueProgressFenceGPUVirtualAddress, progress);
		D3DKMT_SUBMITCOMMANDTOHWQUEUE s = {
			.hHwQueue = q->hHwQueue, .HwQueueProgressFenceId = progress,
			.CommandBuffer = commands.address + place, .CommandLength = (UINT)dxgsync_cmdbuf_size(&b)};
		check(D3DKMTSubmitCommandToHwQueue(&s), "queue a turn");
	}

	uint64_t one = 1;
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU first = {.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &turn.hSyncObject, .FenceValueArray = &one};
	int64_t start = nanoseconds();
	check(D3DKMTSignalSynchronizationObjectFromCpu(&first), "signal the first turn");
	for (uint64_t seen = 1; seen <= TURNS;) {
		uint64_t now = look(at->CurrentValueCpuVa);
		if (now == UINT64_MAX) {
			fprintf(stderr, "the device is lost\n");
			return 1;
		}
		for (; seen < now; seen++)
			printf("%8.1f us  engine %u  turn %d\n", (double)(nanoseconds() - start) / 1000, nodes[seen % 2], (int)seen);
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
	}
	for (int i = 0; i < 2; i++) wait_for(queues[i].hHwQueueProgressFence, TURNS / 2, "wait for a queue");
	check(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){.hDevice = device}), "destroy the device");
	return 0;
}
