#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frames.h"

/* Make a fence that can be shared, and the NT handle for it: a descriptor. */
static struct fence make_shared(D3DKMT_HANDLE device, int *fd) {
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.hDevice = device};
	c.Info.Type = D3DDDI_MONITORED_FENCE;
	c.Info.Flags.Shared = 1;
	c.Info.Flags.NtSecuritySharing = 1;
	check(D3DKMTCreateSynchronizationObject2(&c), "create a fence");
	struct fence f = {c.hSyncObject, c.Info.MonitoredFence.FenceValueCPUVirtualAddress};
	HANDLE shared;
	check(D3DKMTShareObjects(1, &f.handle, 0, 0x10000000 /* GENERIC_ALL */, &shared), "share a fence");
	*fd = (int)(intptr_t)shared;
	return f;
}

/* Start the consumer with four inherited descriptors. */
static pid_t start_consumer(const struct options *o, const int fds[4]) {
	static const char *const names[4] = {"--ready-fd", "--done-fd", "--quit-fd", "--memory-fd"};
	size_t given = 0;
	while (o->consumer[given]) given++;
	char **argv = calloc(given + 12, sizeof *argv), text[5][24];
	if (!argv) fail("allocate");
	memcpy(argv, o->consumer, given * sizeof *argv);
	char **next = argv + given;
	*next++ = (char *)"consumer";
	*next++ = (char *)"--frames";
	snprintf(text[4], sizeof text[4], "%lu", o->frames);
	*next++ = text[4];
	for (int i = 0; i < 4; i++) {
		*next++ = (char *)names[i];
		snprintf(text[i], sizeof text[i], "%d", fds[i]);
		*next++ = text[i];
	}
	pid_t pid = fork();
	if (pid < 0) fail("fork");
	if (pid == 0) {
		for (int i = 0; i < 4; i++) fcntl(fds[i], F_SETFD, 0);
		execvp(argv[0], argv);
		fprintf(stderr, "frames: start %s: %s\n", argv[0], strerror(errno));
		_exit(1);
	}
	free(argv);
	return pid;
}

/* Wait for done ≥ frames with an event, and notice a consumer that ends before. */
static void drain(D3DKMT_HANDLE device, const struct fence *done, uint64_t frames, pid_t consumer) {
	int event = eventfd(0, EFD_CLOEXEC), end = (int)syscall(SYS_pidfd_open, consumer, 0);
	if (event < 0 || end < 0) fail("make descriptors to poll");
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU w = {
		.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &done->handle, .FenceValueArray = &frames};
	w.hAsyncEvent = (HANDLE)(intptr_t)event;
	check(D3DKMTWaitForSynchronizationObjectFromCpu(&w), "wait with an event");
	struct pollfd set[2] = {{.fd = event, .events = POLLIN}, {.fd = end, .events = POLLIN}};
	while (poll(set, 2, -1) < 0)
		if (errno != EINTR) fail("poll");
	if (!set[0].revents && fence_value(done) < frames) {
		fprintf(stderr, "frames: the consumer ended early\n");
		exit(1);
	}
	close(event);
	close(end);
}

static void pace(unsigned long microseconds) {
	struct timespec t = {(time_t)(microseconds / 1000000), (long)(microseconds % 1000000) * 1000};
	while (nanosleep(&t, &t) && errno == EINTR) {
	}
}

int produce(const struct options *o) {
	D3DKMT_HANDLE device = open_device();
	int fds[4];
	struct fence ready = make_shared(device, &fds[0]);
	struct fence done = make_shared(device, &fds[1]);
	struct fence quit = make_shared(device, &fds[2]);
	fds[3] = memfd_create("frames", MFD_CLOEXEC);
	if (fds[3] < 0 || ftruncate(fds[3], SLOTS * SLOT_SIZE)) fail("make the memory of the frames");
	unsigned char *memory = mmap(0, SLOTS * SLOT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fds[3], 0);
	if (memory == MAP_FAILED) fail("map the memory of the frames");

	say("producer", "start", 0, "frames=%lu lang=c", o->frames);
	pid_t consumer = start_consumer(o, fds);
	for (int i = 0; i < 4; i++) close(fds[i]);
	for (uint64_t n = 1; n <= o->frames; n++) {
		if (n > SLOTS) fence_wait(device, &done, n - SLOTS);
		pace(o->pace_us);
		unsigned char *slot = memory + n % SLOTS * SLOT_SIZE;
		for (unsigned i = 0; i < SLOT_SIZE; i++) slot[i] = (unsigned char)(n + i);
		say("producer", "wrote", (unsigned long)n, "slot=%d", (int)(n % SLOTS));
		fence_signal(device, &ready, n);
	}
	drain(device, &done, o->frames, consumer);
	say("producer", "drained", o->frames, "%s", "");
	fence_signal(device, &quit, 1);
	int status;
	if (waitpid(consumer, &status, 0) < 0) fail("wait for the consumer");
	D3DKMT_DESTROYDEVICE destroy = {device};
	check(D3DKMTDestroyDevice(&destroy), "destroy the device");
	say("producer", "exit", o->frames, "%s", "");
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}
