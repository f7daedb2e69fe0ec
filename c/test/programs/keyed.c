/* Keyed mutexes from several threads: hand-over, timeouts, private data, and what is
 * left when a thread ends that owns one. */
#include <pthread.h>
#include <stdbool.h>

#include "check.h"

enum { MINUTE = 600000000 }; /* in units of 100 ns */

struct job {
	D3DKMT_HANDLE mutex;
	uint64_t key, fence;
	int64_t timeout;
	NTSTATUS status;
	bool keep; /* end as owner */
};

static NTSTATUS acquire(D3DKMT_HANDLE mutex, uint64_t key, int64_t timeout, uint64_t *fence) {
	LARGE_INTEGER t = {.QuadPart = timeout};
	D3DKMT_ACQUIREKEYEDMUTEX a = {.hKeyedMutex = mutex, .Key = key, .pTimeout = &t, .FenceValue = 77};
	NTSTATUS st = D3DKMTAcquireKeyedMutex(&a);
	if (fence) *fence = a.FenceValue;
	return st;
}

static NTSTATUS release(D3DKMT_HANDLE mutex, uint64_t key, uint64_t fence) {
	D3DKMT_RELEASEKEYEDMUTEX r = {.hKeyedMutex = mutex, .Key = key, .FenceValue = fence};
	return D3DKMTReleaseKeyedMutex(&r);
}

static void *take(void *argument) {
	struct job *j = argument;
	j->status = acquire(j->mutex, j->key, j->timeout, &j->fence);
	if (j->status == 0 && !j->keep) OK(release(j->mutex, j->key + 1, j->fence + 1));
	return NULL;
}

static D3DKMT_HANDLE make(uint64_t key, D3DKMT_HANDLE *global) {
	D3DKMT_CREATEKEYEDMUTEX c = {.InitialValue = key};
	OK(D3DKMTCreateKeyedMutex(&c));
	CHECK(c.hKeyedMutex && c.hSharedHandle);
	if (global) *global = c.hSharedHandle;
	return c.hKeyedMutex;
}

static void alone(void) {
	uint64_t fence;
	D3DKMT_HANDLE m = make(5, NULL);
	STATUS(acquire(m, 6, 0, &fence), TIMEOUT);
	EQUAL(fence, 77);
	STATUS(acquire(m, 6, -10000, &fence), TIMEOUT); /* 1 ms */
	STATUS(acquire(m, 6, 1, &fence), TIMEOUT);      /* 1601 */
	EQUAL(fence, 77);
	STATUS(release(m, 5, 1), INVALID_PARAMETER);
	OK(acquire(m, 5, -MINUTE, &fence));
	EQUAL(fence, 0);
	STATUS(acquire(m, 5, 0, NULL), INVALID_PARAMETER); /* it is ours already */
	OK(release(m, 9, 123));
	OK(acquire(m, 9, 0, &fence));
	EQUAL(fence, 123);
	OK(release(m, 0, 0));
	D3DKMT_DESTROYKEYEDMUTEX d = {m};
	OK(D3DKMTDestroyKeyedMutex(&d));
	STATUS(D3DKMTDestroyKeyedMutex(&d), INVALID_PARAMETER);
}

/* A chain of threads, each waiting for the key that the one before releases. */
static void chain(void) {
	enum { THREADS = 8 };
	struct job job[THREADS];
	pthread_t thread[THREADS];
	D3DKMT_HANDLE m = make(0, NULL);
	OK(acquire(m, 0, 0, NULL));
	for (int i = THREADS - 1; i >= 0; i--) {
		job[i] = (struct job){.mutex = m, .key = 1 + (uint64_t)i, .timeout = -MINUTE};
		pthread_create(&thread[i], NULL, take, &job[i]);
	}
	OK(release(m, 1, 100));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		OK(job[i].status);
		EQUAL(job[i].fence, 100 + (uint64_t)i);
	}
	OK(acquire(m, 1 + THREADS, 0, NULL));
}

static void abandoned(void) {
	D3DKMT_HANDLE global, m = make(0, &global);
	D3DKMT_OPENKEYEDMUTEX o = {.hSharedHandle = global};
	OK(D3DKMTOpenKeyedMutex(&o));
	struct job owner = {.mutex = m, .keep = true}, waiter = {.mutex = o.hKeyedMutex, .key = 1, .timeout = -MINUTE};
	pthread_t first, second;
	pthread_create(&second, NULL, take, &waiter); /* waits before or after: both are told */
	pthread_create(&first, NULL, take, &owner);
	pthread_join(first, NULL);
	OK(owner.status);
	pthread_join(second, NULL);
	STATUS(waiter.status, ABANDONED);
	STATUS(acquire(m, 0, 0, NULL), ABANDONED);
	STATUS(release(m, 0, 0), ABANDONED);
}

static void data(void) {
	char text[16] = "private", got[16] = "................";
	D3DKMT_CREATEKEYEDMUTEX2 c = {.pPrivateRuntimeData = text, .PrivateRuntimeDataSize = sizeof text, .Flags.NtSecuritySharing = 1, .hSharedHandle = 7};
	OK(D3DKMTCreateKeyedMutex2(&c));
	EQUAL(c.hSharedHandle, 0);
	LARGE_INTEGER now = {.QuadPart = 0};
	D3DKMT_ACQUIREKEYEDMUTEX2 a = {.hKeyedMutex = c.hKeyedMutex, .Key = 1, .pTimeout = &now, .pPrivateRuntimeData = got, .PrivateRuntimeDataSize = sizeof got};
	STATUS(D3DKMTAcquireKeyedMutex2(&a), TIMEOUT);
	CHECK(got[0] == '.');
	a.Key = 0;
	a.PrivateRuntimeDataSize = 15;
	STATUS(D3DKMTAcquireKeyedMutex2(&a), INVALID_PARAMETER);
	a.PrivateRuntimeDataSize = sizeof got;
	OK(D3DKMTAcquireKeyedMutex2(&a));
	CHECK(!strcmp(got, text));
	strcpy(text, "changed");
	D3DKMT_RELEASEKEYEDMUTEX2 r = {.hKeyedMutex = c.hKeyedMutex, .pPrivateRuntimeData = text, .PrivateRuntimeDataSize = sizeof text};
	OK(D3DKMTReleaseKeyedMutex2(&r));
	OK(D3DKMTAcquireKeyedMutex2(&a));
	CHECK(!strcmp(got, text));
	a.pPrivateRuntimeData = (void *)1;
	STATUS(D3DKMTAcquireKeyedMutex2(&a), INVALID_PARAMETER);
}

int main(void) {
	STATUS(D3DKMTCreateKeyedMutex(NULL), INVALID_PARAMETER);
	alone();
	chain();
	abandoned();
	data();
	return 0;
}
