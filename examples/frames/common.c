#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "frames.h"

_Noreturn void fail(const char *what) {
	fprintf(stderr, "frames: %s: %s\n", what, strerror(errno));
	exit(1);
}

void check(NTSTATUS status, const char *what) {
	if (NT_SUCCESS(status)) return;
	fprintf(stderr, "frames: %s: status %#x\n", what, (unsigned)status);
	exit(1);
}

void say(const char *role, const char *event, unsigned long frame, const char *more, ...) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	char line[256];
	int n = snprintf(line, sizeof line, "%lld %s %s %lu",
	                 (long long)t.tv_sec * 1000000000 + t.tv_nsec, role, event, frame);
	if (*more) {
		line[n++] = ' ';
		va_list args;
		va_start(args, more);
		n += vsnprintf(line + n, sizeof line - (size_t)n - 1, more, args);
		va_end(args);
	}
	line[n++] = '\n';
	if (write(STDOUT_FILENO, line, (size_t)n) != n) fail("write the log");
}

D3DKMT_HANDLE open_device(void) {
	D3DKMT_ENUMADAPTERS2 all = {0};
	check(D3DKMTEnumAdapters2(&all), "count adapters");
	D3DKMT_ADAPTERINFO *info = calloc(all.NumAdapters, sizeof *info);
	if (!info) fail("allocate");
	all.pAdapters = info;
	check(D3DKMTEnumAdapters2(&all), "list adapters");
	if (all.NumAdapters == 0) {
		fprintf(stderr, "frames: there is no adapter\n");
		exit(1);
	}
	D3DKMT_CREATEDEVICE device = {.hAdapter = info[0].hAdapter};
	check(D3DKMTCreateDevice(&device), "create a device");
	for (UINT i = 0; i < all.NumAdapters; i++) {
		D3DKMT_CLOSEADAPTER close_it = {info[i].hAdapter};
		check(D3DKMTCloseAdapter(&close_it), "close an adapter");
	}
	free(info);
	return device.hDevice;
}

uint64_t fence_value(const struct fence *f) {
	uint64_t v = __atomic_load_n(f->value, __ATOMIC_ACQUIRE);
	if (v == UINT64_MAX) {
		fprintf(stderr, "frames: the other side is lost\n");
		exit(1);
	}
	return v;
}

void fence_signal(D3DKMT_HANDLE device, const struct fence *f, uint64_t value) {
	fence_value(f);
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU s = {
		.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &f->handle, .FenceValueArray = &value};
	check(D3DKMTSignalSynchronizationObjectFromCpu(&s), "signal a fence");
}

void fence_wait(D3DKMT_HANDLE device, const struct fence *f, uint64_t value) {
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU w = {
		.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &f->handle, .FenceValueArray = &value};
	check(D3DKMTWaitForSynchronizationObjectFromCpu(&w), "wait for a fence");
	fence_value(f);
}
