/* Contexts, and threads that wait for a fence or, without one, until a device is idle. */
#ifndef STREAM_H
#define STREAM_H
#include "check.h"

#include <pthread.h>

static D3DKMT_HANDLE make_context(D3DKMT_HANDLE device, unsigned flags) {
	D3DKMT_CREATECONTEXTVIRTUAL c = {.hDevice = device};
	c.Flags.Value = flags;
	OK(D3DKMTCreateContextVirtual(&c));
	return c.hContext;
}

static NTSTATUS idle(D3DKMT_HANDLE device) {
	D3DKMT_WAITFORIDLE w = {.hDevice = device};
	return D3DKMTWaitForIdle(&w);
}

struct wait_args {
	D3DKMT_HANDLE device, fence;
	uint64_t value;
};
static void *wait_in_thread(void *a) {
	struct wait_args *w = a;
	return (void *)(uintptr_t)(uint32_t)(w->fence ? wait_fence(w->device, w->fence, w->value) : idle(w->device));
}
static pthread_t begin(struct wait_args *a) {
	pthread_t t;
	CHECK(!pthread_create(&t, NULL, wait_in_thread, a));
	return t;
}
static uint32_t end(pthread_t t) {
	void *st;
	CHECK(!pthread_join(t, &st));
	return (uint32_t)(uintptr_t)st;
}

#endif
