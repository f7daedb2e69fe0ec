/* Ending a blocked wait from another thread: in memory and in the kernel, before and
 * while the thread sleeps. */
#include "check.h"

#include <dxgsync/dxgsync.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static D3DKMT_HANDLE device;
static _Atomic uint64_t token;

static void *sleeper(void *fence) {
	atomic_store(&token, dxgsync_wait_token());
	return (void *)(uintptr_t)(uint32_t)wait_fence(device, *(D3DKMT_HANDLE *)fence, 100);
}

int main(void) {
	device = open_device();
	D3DKMT_HANDLE f[3] = {make_fence(device, PRIVATE, 5, NULL), make_fence(device, SHARED, 5, NULL), make_fence(device, SHARED, 5, NULL)};
	OK(rewind_fence(device, f[2], 1)); /* its waits are the kernel's */
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 3; i++) {
			pthread_t t;
			void *st;
			atomic_store(&token, 0);
			CHECK(!pthread_create(&t, NULL, sleeper, &f[i]));
			while (!atomic_load(&token)) sched_yield();
			EQUAL(dxgsync_cancel_wait(atomic_load(&token)), 1);
			CHECK(!pthread_join(t, &st));
			EQUAL((uintptr_t)st, CANCELLED);
			EQUAL(dxgsync_cancel_wait(atomic_load(&token)), 0); /* the thread is gone */
		}
	}
	/* Asked for in advance: a satisfied wait does not use it up, the next blocking one does. */
	uint64_t me = dxgsync_wait_token();
	CHECK(me != 0);
	EQUAL(dxgsync_wait_token(), me);
	EQUAL(dxgsync_cancel_wait(me), 1);
	EQUAL(dxgsync_cancel_wait(me), 1);
	OK(wait_fence(device, f[0], 5));
	STATUS(wait_fence(device, f[0], 6), CANCELLED);
	EQUAL(dxgsync_forget_cancel(), 0);
	EQUAL(dxgsync_cancel_wait(me), 1);
	EQUAL(dxgsync_forget_cancel(), 1);
	EQUAL(dxgsync_cancel_wait(0), 0);
	/* The fence is none the worse. */
	OK(signal_fence(device, f[1], 6));
	OK(wait_fence(device, f[1], 6));
	return 0;
}
