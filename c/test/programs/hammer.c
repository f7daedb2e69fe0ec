/* Many threads at once: fences are made, shared, opened, signalled, waited for,
 * rewound and destroyed under each other's hands. Every thread must come to its end,
 * and the sanitizers must have nothing to say. Argument: rounds. */
#include "check.h"

#include <dxgsync/dxgsync.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { PAIRS = 3, BATCH = 8 };

static D3DKMT_HANDLE device;
static unsigned rounds = 200;

/* Two threads hand a number to and fro. */
struct pair {
	D3DKMT_HANDLE ping, pong;
};

static void *left(void *arg) {
	const struct pair *p = arg;
	for (unsigned i = 1; i <= 20 * rounds; i++) {
		OK(signal_fence(device, p->ping, i));
		OK(wait_fence(device, p->pong, i));
	}
	return NULL;
}

static void *right(void *arg) {
	const struct pair *p = arg;
	for (unsigned i = 1; i <= 20 * rounds; i++) {
		OK(wait_fence(device, p->ping, i));
		OK(signal_fence(device, p->pong, i));
	}
	return NULL;
}

/* Makes and destroys fences while another thread uses whatever handle was last
 * published: it must work or be refused, and never touch a stranger's fence. */
static _Atomic D3DKMT_HANDLE published;
static _Atomic int churning = 1;

static void *churn(void *arg) {
	(void)arg;
	for (unsigned i = 0; i < 5 * rounds; i++) {
		volatile uint64_t *view;
		D3DKMT_HANDLE f = make_fence(device, i & 1 ? SHARED : PRIVATE, 1000, &view);
		atomic_store(&published, f);
		OK(signal_fence(device, f, 2000));
		CHECK(*view >= 2000);
		OK(destroy_fence(f));
	}
	atomic_store(&churning, 0);
	return NULL;
}

static void *use(void *arg) {
	(void)arg;
	while (atomic_load(&churning)) {
		D3DKMT_HANDLE f = atomic_load(&published);
		uint32_t st = (uint32_t)signal_fence(device, f, 1500);
		CHECK(st == 0 || st == INVALID_PARAMETER);
		st = (uint32_t)wait_fence(device, f, 1500); /* destroyed meanwhile: released */
		CHECK(st == 0 || st == INVALID_PARAMETER);
	}
	return NULL;
}

/* Waits for any and for all of several fences that another thread signals. */
static D3DKMT_HANDLE batch[BATCH], batch_done;

static void *wait_batches(void *arg) {
	uint64_t v[BATCH];
	(void)arg;
	for (unsigned i = 1; i <= rounds; i++) {
		for (int n = 0; n < BATCH; n++) v[n] = i;
		OK(waits(device, BATCH, batch, v, ANY, 0));
		OK(waits(device, BATCH, batch, v, 0, 0));
		OK(signal_fence(device, batch_done, i));
	}
	return NULL;
}

static void *signal_batches(void *arg) {
	uint64_t v[BATCH];
	(void)arg;
	for (unsigned i = 1; i <= rounds; i++) {
		for (int n = 0; n < BATCH; n++) v[n] = i;
		OK(signals(device, 1, batch + i % BATCH, v, 0));
		OK(signals(device, BATCH, batch, v, 0));
		OK(wait_fence(device, batch_done, i));
	}
	return NULL;
}

/* Destroying a fence releases whoever waits for it; destroying a device says so. */
static void *wait_for_ever(void *arg) {
	D3DKMT_HANDLE *h = arg;
	return (void *)(uintptr_t)(uint32_t)wait_fence(h[0], h[1], UINT64_MAX);
}

static void *destroyer(void *arg) {
	(void)arg;
	for (unsigned i = 0; i < rounds / 4; i++) {
		pthread_t t;
		void *st;
		D3DKMT_HANDLE h[2] = {open_device(), 0};
		h[1] = make_fence(h[0], i & 1 ? SHARED : PRIVATE, 0, NULL);
		if (i & 2) { /* lowered: its waits are the kernel's */
			OK(signal_fence(h[0], h[1], 5));
			OK(rewind_fence(h[0], h[1], 1));
		}
		CHECK(!pthread_create(&t, NULL, wait_for_ever, h));
		bool device_first = i & 4;
		if (device_first) OK(destroy_device(h[0]));
		else OK(destroy_fence(h[1]));
		CHECK(!pthread_join(t, &st));
		uint32_t got = (uint32_t)(uintptr_t)st;
		/* The waiter may have come too late. */
		if (got != INVALID_PARAMETER) EQUAL(got, device_first ? DEVICE_REMOVED : 0);
		if (!device_first) OK(destroy_device(h[0]));
	}
	return NULL;
}

/* Opens one fence and destroys what it has opened, beside another thread that does the
 * same: the mapping that they share comes and goes under both. */
static int shared_file;

static void *reopen(void *arg) {
	(void)arg;
	for (unsigned i = 1; i <= 2 * rounds; i++) {
		volatile uint64_t *view, *again;
		D3DKMT_HANDLE f = open_fence(device, shared_file, 0, &view), g = open_fence(device, shared_file, i & 1 ? NO_SIGNAL : 0, &again);
		CHECK(view == again);
		uint32_t st = (uint32_t)signal_fence(device, f, i); /* the other may be further */
		CHECK(st == 0 || st == INVALID_PARAMETER);
		CHECK(*again >= i);
		OK(wait_fence(device, g, i));
		OK(destroy_fence(i & 2 ? f : g));
		CHECK(*view >= i);
		OK(destroy_fence(i & 2 ? g : f));
	}
	return NULL;
}

/* Ending waits from outside. */
static _Atomic uint64_t token;

static void *cancelled(void *arg) {
	D3DKMT_HANDLE *h = arg;
	atomic_store(&token, dxgsync_wait_token());
	for (unsigned i = 0; i < rounds; i++) STATUS(wait_fence(device, h[i & 1], UINT64_MAX), CANCELLED);
	atomic_store(&token, UINT64_MAX);
	return NULL;
}

static void *canceller(void *arg) {
	(void)arg;
	for (uint64_t t; (t = atomic_load(&token)) != UINT64_MAX;) {
		if (t) dxgsync_cancel_wait(t);
		sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv) {
	if (argc > 1) rounds = (unsigned)atoi(argv[1]);
	device = open_device();
	struct pair pair[PAIRS];
	pthread_t t[2 * PAIRS + 10];
	int n = 0;
	for (int i = 0; i < PAIRS; i++) {
		pair[i] = (struct pair){make_fence(device, i & 1 ? SHARED : PRIVATE, 0, NULL), make_fence(device, PRIVATE, 0, NULL)};
		CHECK(!pthread_create(&t[n++], NULL, left, &pair[i]));
		CHECK(!pthread_create(&t[n++], NULL, right, &pair[i]));
	}
	for (int i = 0; i < BATCH; i++) batch[i] = make_fence(device, i & 1 ? SHARED : PRIVATE, 0, NULL);
	batch_done = make_fence(device, PRIVATE, 0, NULL);
	D3DKMT_HANDLE never[2] = {make_fence(device, PRIVATE, 0, NULL), make_fence(device, SHARED, 9, NULL)};
	OK(rewind_fence(device, never[1], 1));
	CHECK(!pthread_create(&t[n++], NULL, churn, NULL));
	CHECK(!pthread_create(&t[n++], NULL, use, NULL));
	CHECK(!pthread_create(&t[n++], NULL, wait_batches, NULL));
	CHECK(!pthread_create(&t[n++], NULL, signal_batches, NULL));
	CHECK(!pthread_create(&t[n++], NULL, destroyer, NULL));
	CHECK(!pthread_create(&t[n++], NULL, destroyer, NULL));
	CHECK(!pthread_create(&t[n++], NULL, cancelled, never));
	CHECK(!pthread_create(&t[n++], NULL, canceller, NULL));
	D3DKMT_HANDLE shared = make_fence(device, SHARED, 0, NULL);
	shared_file = share_fence(shared, ALL_ACCESS);
	OK(destroy_fence(shared));
	CHECK(!pthread_create(&t[n++], NULL, reopen, NULL));
	CHECK(!pthread_create(&t[n++], NULL, reopen, NULL));
	for (int i = 0; i < n; i++) CHECK(!pthread_join(t[i], NULL));
	OK(destroy_device(device));
	return 0;
}
