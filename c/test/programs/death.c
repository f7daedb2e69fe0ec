/* The daemon dies while threads of this process sleep on everything there is to
 * sleep on. All wake, every fence reads all ones, every call says DEVICE_REMOVED.
 *
 * With an argument, the library gets no thread to watch the daemon with.
 * Writes a line when it is ready and reads one when the daemon is dead. */
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static int refused; /* threads that are still to be refused */

/* Comes before the system's for the library, too. */
int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*f)(void *), void *arg) {
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
	return refused-- > 0 ? EAGAIN : next(t, attr, f, arg);
}

static D3DKMT_HANDLE device, fence[3];
static _Atomic int ready;

static void *sleeper(void *arg) {
	int i = (int)(intptr_t)arg;
	uint64_t v[3] = {50, 50, 50};
	atomic_fetch_add(&ready, 1);
	STATUS(i < 3 ? wait_fence(device, fence[i], 50) : waits(device, 3, fence, v, 0, 0), DEVICE_REMOVED);
	return NULL;
}

int main(int argc, char **argv) {
	enum { SLEEPERS = 4 };
	volatile uint64_t *view[3];
	char line[8];
	pthread_t t[SLEEPERS];
	(void)argv;
	refused = argc > 1;
	device = open_device();
	if (argc > 1) EQUAL(refused, 0);
	fence[0] = make_fence(device, PRIVATE, 5, &view[0]);
	fence[1] = make_fence(device, SHARED, 5, &view[1]);
	fence[2] = make_fence(device, SHARED, 5, &view[2]);
	OK(rewind_fence(device, fence[2], 1)); /* its waits are the kernel's */
	for (int i = 0; i < SLEEPERS; i++) CHECK(!pthread_create(&t[i], NULL, sleeper, (void *)(intptr_t)i));
	while (atomic_load(&ready) < SLEEPERS) sched_yield();
	CHECK(puts("ready") >= 0 && fflush(stdout) == 0);
	CHECK(fgets(line, sizeof line, stdin));
	for (int i = 0; i < SLEEPERS; i++) CHECK(!pthread_join(t[i], NULL));
	for (int i = 0; i < 3; i++) EQUAL(*view[i], UINT64_MAX);
	STATUS(signal_fence(device, fence[0], UINT64_MAX), DEVICE_REMOVED);
	STATUS(wait_fence(device, fence[1], 1), DEVICE_REMOVED);
	STATUS(destroy_fence(fence[2]), DEVICE_REMOVED);
	STATUS(destroy_device(device), DEVICE_REMOVED);
	D3DKMT_ENUMADAPTERS2 e = {0};
	uint32_t st = (uint32_t)D3DKMTEnumAdapters2(&e);
	CHECK(puts(st == 0 ? "again" : st == DEVICE_REMOVED ? "removed" : "other") >= 0);
	if (st == 0) { /* a new daemon has come: everything begins anew */
		D3DKMT_HANDLE d = open_device();
		D3DKMT_HANDLE f = make_fence(d, PRIVATE, 5, view);
		OK(signal_fence(d, f, 6));
		EQUAL(*view[0], 6);
	}
	return 0;
}
