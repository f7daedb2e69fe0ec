#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frames.h"

/* Open the fence behind an inherited NT handle, and close the handle. */
static struct fence open_shared(D3DKMT_HANDLE device, int fd) {
	D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 o = {.hDevice = device};
	o.hNtHandle = (HANDLE)(intptr_t)fd;
	check(D3DKMTOpenSyncObjectFromNtHandle2(&o), "open a fence");
	close(fd);
	return (struct fence){o.hSyncObject, o.MonitoredFence.FenceValueCPUVirtualAddress};
}

/* Wait for either; nothing says which it was: the pages do. */
static void wait_any(D3DKMT_HANDLE device, const struct fence *a, uint64_t av, const struct fence *b, uint64_t bv) {
	D3DKMT_HANDLE handles[2] = {a->handle, b->handle};
	UINT64 values[2] = {av, bv};
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU w = {
		.hDevice = device, .ObjectCount = 2, .ObjectHandleArray = handles, .FenceValueArray = values};
	w.Flags.WaitAny = 1;
	check(D3DKMTWaitForSynchronizationObjectFromCpu(&w), "wait for any of two fences");
}

int consume(const struct options *o) {
	D3DKMT_HANDLE device = open_device();
	struct fence ready = open_shared(device, o->ready_fd);
	struct fence done = open_shared(device, o->done_fd);
	struct fence quit = open_shared(device, o->quit_fd);
	const unsigned char *memory = mmap(0, SLOTS * SLOT_SIZE, PROT_READ, MAP_SHARED, o->memory_fd, 0);
	if (memory == MAP_FAILED) fail("map the memory of the frames");
	close(o->memory_fd);

	say("consumer", "start", 0, "lang=c");
	uint64_t n = 1;
	for (;; n++) {
		wait_any(device, &ready, n, &quit, 1);
		uint64_t now = fence_value(&ready);
		if (now < n) {
			fence_value(&quit);
			break;
		}
		const unsigned char *slot = memory + n % SLOTS * SLOT_SIZE;
		for (unsigned i = 0; i < SLOT_SIZE; i++)
			if (slot[i] != (unsigned char)(n + i)) {
				fprintf(stderr, "frames: byte %u of frame %" PRIu64 " is %u\n", i, n, slot[i]);
				return 1;
			}
		say("consumer", "read", (unsigned long)n, "slot=%d lag=%" PRIu64, (int)(n % SLOTS), now - n);
		fence_signal(device, &done, n);
	}
	D3DKMT_DESTROYDEVICE destroy = {device};
	check(D3DKMTDestroyDevice(&destroy), "destroy the device");
	if (n - 1 != o->frames) {
		fprintf(stderr, "frames: %" PRIu64 " frames came, %lu were announced\n", n - 1, o->frames);
		return 1;
	}
	say("consumer", "exit", (unsigned long)(n - 1), "%s", "");
	return 0;
}
