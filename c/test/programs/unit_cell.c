/* The page protocol, step by step, against a kernel played by this program: one fence
 * in plain memory, a table of bells, and a socket whose other end we hold. */
#include "frame.h"
#include "inside.h"
#include "records.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHECK(condition)                                                                  \
	do {                                                                                  \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);       \
			exit(1);                                                                      \
		}                                                                                 \
	} while (0)

int32_t D3DKMTSignalSynchronizationObjectFromCpu(const struct signal_from_cpu *);
int32_t D3DKMTWaitForSynchronizationObjectFromCpu(const struct wait_from_cpu *);

enum { DEVICE = 0x40000040, FENCE = 0x40000080, BELLS = 128 };

static int kernel;               /* our end of the session */
static struct cell *cell;
static struct dxg_image *img;
static struct dxg_fence *fence;

static void set_up(void) {
	int pair[2];
	CHECK(dxg_thread());
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
	kernel = pair[1];
	CHECK((img = calloc(1, sizeof *img)));
	img->watched = true;
	img->epoll = img->poke = -1;
	img->bell_lines = BELLS;
	img->bells = aligned_alloc(64, BELLS * sizeof *img->bells);
	memset(img->bells, 0, BELLS * sizeof *img->bells);
	pthread_mutex_init(&img->lock, NULL);
	pthread_mutex_init(&img->session[0].lock, NULL);
	img->session[0].image = img;
	img->session[0].fd = pair[0];
	img->session[0].cookie = dxg_cookie(pair[0]);
	dxg_bells_add(img, 1, BELLS - 1);
	dxg_root.image = img;
	cell = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(cell != MAP_FAILED);
	cell->mval = UINT64_MAX;
	CHECK((fence = calloc(1, sizeof *fence)));
	*fence = (struct dxg_fence){.cell = cell, .refs = 1, .handle = FENCE, .device = DEVICE, .rights = 3, .writable = 1, .slots = CELL_SLOTS_PAGE};
	CHECK(dxg_fence_add(img, fence));
}

static uint32_t signal_to(uint64_t v) {
	const uint32_t f = FENCE;
	const struct signal_from_cpu a = {.device = DEVICE, .count = 1, .handles = &f, .values = &v};
	return (uint32_t)D3DKMTSignalSynchronizationObjectFromCpu(&a);
}

static void *wait_for(void *target) {
	const uint32_t f = FENCE;
	const uint64_t v = (uintptr_t)target;
	const struct wait_from_cpu a = {.device = DEVICE, .count = 1, .handles = &f, .values = &v};
	return (void *)(uintptr_t)(uint32_t)D3DKMTWaitForSynchronizationObjectFromCpu(&a);
}

static pthread_t begin(uintptr_t target) {
	pthread_t t;
	CHECK(!pthread_create(&t, NULL, wait_for, (void *)target));
	return t;
}
static uint32_t end(pthread_t t) {
	void *st;
	CHECK(!pthread_join(t, &st));
	return (uint32_t)(uintptr_t)st;
}
static void until_wanted(int sleepers) {
	while (__builtin_popcountll(atomic_load(&cell->want) & WANT_SLOTS) != sleepers) sched_yield();
}

/* As the kernel rings: whoever is in a slot. */
static void ring_all(void) {
	for (int i = 0; i < CELL_SLOTS_PAGE; i++)
		if (cell->slot[i]) dxg_ring(img, cell->slot[i]);
}

/* One request as the kernel gets it; the answer is a bare status or the record. */
static void serve(uint16_t nr, uint32_t st, unsigned char *frame, size_t room) {
	const struct dxg_op *op = dxg_op(nr);
	ssize_t n = recv(kernel, frame, room, 0);
	CHECK(n >= DXG_HEADER + (ssize_t)op->size);
	uint32_t head[6];
	memcpy(head, frame, sizeof head);
	CHECK((head[0] & 0xFFFF) == nr);
	unsigned char reply[DXG_HEADER + DXG_RECORD_MAX];
	const uint32_t answer[6] = {st, nr, ST_OK(st) ? op->size : 0, 0, 0, 0};
	memcpy(reply, answer, sizeof answer);
	memcpy(reply + DXG_HEADER, frame + DXG_HEADER, op->size);
	CHECK(send(kernel, reply, DXG_HEADER + answer[2], 0) > 0);
}

static uint32_t word(const unsigned char *at) {
	uint32_t v;
	memcpy(&v, at, sizeof v);
	return v;
}

static void *signal_in_thread(void *v) { return (void *)(uintptr_t)signal_to((uintptr_t)v); }

static void *lose(void *unused) {
	dxg_image_end(img, ST_DEVICE_REMOVED, true);
	return unused;
}

/* The daemon is gone: whoever is told so finds every fence raised. */
static void the_end(void) {
	enum { MANY = 5000 };
	static struct cell cells[MANY];
	pthread_t t;
	for (uint32_t i = 0; i < MANY; i++) {
		struct dxg_fence *f = calloc(1, sizeof *f);
		CHECK(f);
		*f = (struct dxg_fence){.cell = &cells[i], .refs = 1, .handle = FENCE + 0x40 * (i + 1), .device = DEVICE, .rights = 3, .writable = 1};
		CHECK(dxg_fence_add(img, f));
	}
	CHECK(!pthread_create(&t, NULL, lose, NULL));
	while (!dxg_ended(img)) {}
	for (int i = 0; i < MANY; i++) CHECK(atomic_load(&cells[i].value) == UINT64_MAX);
	CHECK(signal_to(200) == ST_DEVICE_REMOVED);
	CHECK(!pthread_join(t, NULL));
}

static void *destroy(void *unused) {
	(void)unused;
	return (void *)(uintptr_t)dxg_fence_destroy(&img->session[0], FENCE);
}

/* A page that requests: signals are the kernel's, and waits that have to wait. It is
 * believed where it says that a wait is over, until it asks. The value is 30. */
static void requests(unsigned char *frame, size_t room) {
	pthread_t sleeper = begin(31), t;
	until_wanted(1);
	cell->flags = CELL_REQUEST;
	for (uintptr_t v = 30; v <= 31; v++) {
		CHECK(!pthread_create(&t, NULL, signal_in_thread, (void *)v));
		serve(OP_SIGNAL_FROM_CPU, ST_SUCCESS, frame, room);
		CHECK(end(t) == 0 && cell->value == 30);
	}
	CHECK(wait_for((void *)30) == 0); /* nobody answers */
	t = begin(31);
	serve(OP_WAIT_FROM_CPU, ST_SUCCESS, frame, room);
	CHECK(end(t) == 0 && cell->want == 1);
	cell->value = 31; /* as a GPU would store it; the kernel wakes who is in a slot */
	ring_all();
	CHECK(end(sleeper) == 0 && cell->want == 0);
	cell->flags |= CELL_ASK;
	t = begin(30);
	serve(OP_WAIT_FROM_CPU, ST_DEVICE_REMOVED, frame, room);
	CHECK(end(t) == ST_DEVICE_REMOVED);
	cell->flags = 0;
}

int main(void) {
	unsigned char frame[4096];
	set_up();

	/* Nobody waits: the value, and nothing else. */
	CHECK(signal_to(5) == 0 && cell->value == 5 && cell->want == 0);
	CHECK(wait_for((void *)5) == 0 && cell->want == 0);

	/* Sleepers have a slot each and a bit for it; both are gone when they are. */
	pthread_t t[70];
	for (int i = 0; i < CELL_SLOTS_PAGE; i++) t[i] = begin(10 + (uintptr_t)i % 2);
	until_wanted(CELL_SLOTS_PAGE);
	for (int i = 0; i < CELL_SLOTS_PAGE; i++) CHECK(cell->slot[i] != 0);

	/* No slot is left: the kernel's. It answers in the line that the request names. */
	t[69] = begin(11);
	serve(OP_WAIT_FROM_CPU, ST_PENDING, frame, sizeof frame);
	uint32_t bell = word(frame + 16), ticket = word(frame + 20);
	CHECK(bell != 0 && bell == ticket && bell < BELLS);

	CHECK(signal_to(10) == 0); /* wakes all; half of them sleep again */
	for (int i = 0; i < CELL_SLOTS_PAGE; i += 2) CHECK(end(t[i]) == 0);
	until_wanted(CELL_SLOTS_PAGE / 2);
	CHECK(signal_to(11) == 0);
	for (int i = 1; i < CELL_SLOTS_PAGE; i += 2) CHECK(end(t[i]) == 0);
	CHECK(cell->want == 0);
	for (int i = 0; i < CELL_SLOTS_PAGE; i++) CHECK(cell->slot[i] == 0);
	atomic_store(&img->bells[ticket].status, 0x55);
	atomic_store(&img->bells[ticket].done, 1);
	dxg_ring(img, bell);
	CHECK(end(t[69]) == 0x55);

	/* The kernel wants news above 20: told of 21, in a request that is answered. */
	cell->mval = 20;
	cell->want = WANT_KERNEL;
	CHECK(signal_to(20) == 0);
	pthread_t s;
	CHECK(!pthread_create(&s, NULL, signal_in_thread, (void *)21));
	serve(OP_RING, 0, frame, sizeof frame);
	CHECK(word(frame + DXG_HEADER) == 1);                       /* one handle */
	CHECK(word(frame + DXG_HEADER + dxg_op(OP_RING)->size + 8) == FENCE);
	CHECK(end(s) == 0 && cell->value == 21);
	cell->want = 0;
	cell->mval = UINT64_MAX;

	/* A signal below the value, the kernel judges. */
	CHECK(!pthread_create(&s, NULL, signal_in_thread, (void *)3));
	serve(OP_SIGNAL_FROM_CPU, ST_INVALID_PARAMETER, frame, sizeof frame);
	CHECK(end(s) == ST_INVALID_PARAMETER && cell->value == 21);

	/* Lowered while somebody sleeps: the peak satisfies him, though he looks late. */
	t[0] = begin(30);
	until_wanted(1);
	cell->value = 31;
	cell->peak = 31;
	cell->flags = CELL_LOWERED;
	cell->value = 2;
	ring_all();
	CHECK(end(t[0]) == 0 && cell->want == 0 && cell->slot[0] == 0);
	/* From then on every blocking wait is the kernel's. */
	t[0] = begin(30);
	serve(OP_WAIT_FROM_CPU, 0, frame, sizeof frame);
	CHECK(end(t[0]) == 0 && cell->want == 0);
	cell->flags = 0;
	cell->peak = 0;

	/* From now on the page decides nothing: not a signal, nor a wait that looks
	 * satisfied. Who sleeps already goes on by the value. */
	t[0] = begin(30);
	until_wanted(1);
	cell->flags = CELL_ASK;
	for (uintptr_t v = 2; v <= 3; v++) { /* equal, higher */
		CHECK(!pthread_create(&s, NULL, signal_in_thread, (void *)v));
		serve(OP_SIGNAL_FROM_CPU, ST_DEVICE_REMOVED, frame, sizeof frame);
		CHECK(end(s) == ST_DEVICE_REMOVED && cell->value == 2);
	}
	for (uintptr_t v = 1; v <= 3; v++) {
		t[1] = begin(v);
		serve(OP_WAIT_FROM_CPU, ST_DEVICE_REMOVED, frame, sizeof frame);
		CHECK(end(t[1]) == ST_DEVICE_REMOVED && cell->want == 1);
	}
	cell->value = 30;
	ring_all();
	CHECK(end(t[0]) == 0 && cell->want == 0);
	cell->flags = 0;
	requests(frame, sizeof frame);

	/* The object is gone for good. */
	t[0] = begin(99);
	until_wanted(1);
	atomic_fetch_or(&cell->flags, CELL_GONE);
	ring_all();
	CHECK(end(t[0]) == 0);
	cell->flags = 0;

	/* Rubbish in slots is nobody's bell. */
	cell->slot[0] = BELLS;
	cell->slot[1] = UINT32_MAX;
	cell->want = 3;
	CHECK(signal_to(40) == 0 && cell->value == 40);
	cell->want = cell->slot[0] = cell->slot[1] = 0;

	/* The handle is destroyed under a sleeper: released, and only then forgotten. */
	t[0] = begin(99);
	until_wanted(1);
	CHECK(!pthread_create(&s, NULL, destroy, NULL));
	CHECK(end(t[0]) == 0);
	serve(OP_DESTROY_SYNC_OBJECT, 0, frame, sizeof frame);
	CHECK(word(frame + DXG_HEADER) == FENCE && end(s) == 0);
	CHECK(cell->want == 0 && cell->slot[0] == 0);
	CHECK(!pthread_create(&s, NULL, signal_in_thread, (void *)100)); /* unknown here: the kernel's */
	serve(OP_SIGNAL_FROM_CPU, ST_INVALID_PARAMETER, frame, sizeof frame);
	CHECK(end(s) == ST_INVALID_PARAMETER && cell->value == 40);
	the_end();
	return 0;
}
