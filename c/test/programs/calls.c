/* The statuses of calls as one thread sees them: what is decided in memory and what
 * the kernel decides must answer alike. */
#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <wchar.h>

static void signals_and_waits(D3DKMT_HANDLE d) {
	volatile uint64_t *view;
	D3DKMT_HANDLE f = make_fence(d, PRIVATE, 7, &view);
	EQUAL(*view, 7);
	OK(wait_fence(d, f, 7));
	OK(wait_fence(d, f, 0));
	OK(signal_fence(d, f, 9));
	EQUAL(*view, 9);
	OK(signal_fence(d, f, 9));
	STATUS(signal_fence(d, f, 8), INVALID_PARAMETER);
	EQUAL(*view, 9);
	OK(rewind_fence(d, f, 3));
	EQUAL(*view, 3);
	OK(rewind_fence(d, f, 4));
	OK(signal_fence(d, f, 5));
	OK(wait_fence(d, f, 5));
	EQUAL(*view, 5);
	uint64_t v = 6;
	STATUS(signals(d, 1, &f, &v, 8), INVALID_PARAMETER);
	STATUS(signals(d, 1, &f, &v, 1), INVALID_PARAMETER);
	STATUS(signals(d, 0, &f, &v, 0), INVALID_PARAMETER);
	STATUS(signals(d, 1, NULL, &v, 0), INVALID_PARAMETER);
	STATUS(signals(d, 1, &f, NULL, 0), INVALID_PARAMETER);
	STATUS(signals(d + 0x40, 1, &f, &v, 0), INVALID_PARAMETER);
	STATUS(signals(d, 4097, &f, &v, 0), INVALID_PARAMETER);
	STATUS(waits(d, 1, &f, &v, 2, 0), INVALID_PARAMETER);
	STATUS(waits(d, 0, &f, &v, 0, 0), INVALID_PARAMETER);
	STATUS(D3DKMTSignalSynchronizationObjectFromCpu(NULL), INVALID_PARAMETER);
	STATUS(D3DKMTWaitForSynchronizationObjectFromCpu(NULL), INVALID_PARAMETER);
	EQUAL(*view, 5);
	OK(destroy_fence(f));
	STATUS(destroy_fence(f), INVALID_PARAMETER);
	STATUS(signal_fence(d, f, 10), INVALID_PARAMETER);
	STATUS(wait_fence(d, f, 1), INVALID_PARAMETER);
}

/* A batch is done whole or not at all. */
static void batches(D3DKMT_HANDLE d) {
	volatile uint64_t *view[3];
	D3DKMT_HANDLE f[4];
	for (int i = 0; i < 3; i++) f[i] = make_fence(d, i == 1 ? SHARED : PRIVATE, 5, &view[i]);
	OK(signals(d, 3, f, (uint64_t[]){6, 7, 8}, 0));
	EQUAL(*view[0] * 100 + *view[1] * 10 + *view[2], 678);
	STATUS(signals(d, 3, f, (uint64_t[]){9, 9, 1}, 0), INVALID_PARAMETER);
	f[3] = 0xC0000040;
	STATUS(signals(d, 4, f, (uint64_t[]){9, 9, 9, 9}, 0), INVALID_PARAMETER);
	f[3] = f[0];
	STATUS(signals(d, 4, f, (uint64_t[]){9, 9, 9, 8}, 0), INVALID_PARAMETER);
	EQUAL(*view[0] * 100 + *view[1] * 10 + *view[2], 678);
	OK(signals(d, 4, f, (uint64_t[]){7, 7, 8, 9}, 0));
	EQUAL(*view[0], 9);
	OK(waits(d, 3, f, (uint64_t[]){9, 7, 8}, 0, 0));
	OK(waits(d, 3, f, (uint64_t[]){99, 99, 8}, ANY, 0));
	STATUS(waits(d, 4, (D3DKMT_HANDLE[]){f[0], f[1], f[2], 0x40}, (uint64_t[]){0, 0, 0, 0}, ANY, 0), INVALID_PARAMETER);
	D3DKMT_HANDLE denied = make_fence(d, NO_SIGNAL, 5, NULL);
	STATUS(signals(d, 2, (D3DKMT_HANDLE[]){f[0], denied}, (uint64_t[]){50, 50}, 0), ACCESS_DENIED);
	EQUAL(*view[0], 9);
	/* More objects than are handled in memory. */
	D3DKMT_HANDLE many[100];
	uint64_t values[100];
	for (int i = 0; i < 100; i++) {
		many[i] = f[0];
		values[i] = 100 + (uint64_t)i;
	}
	OK(signals(d, 100, many, values, 0));
	EQUAL(*view[0], 199);
	OK(waits(d, 100, many, values, 0, 0));
}

/* Arrays that cannot be read are refused before anything is done, wherever the good
 * ones are; all of one array must be there. */
static void *at_the_end(char *page, size_t n) { return page + 4096 - n; }

static void unreadable(D3DKMT_HANDLE d) {
	enum { PAGES = 64 };
	volatile uint64_t *view;
	D3DKMT_HANDLE f = make_fence(d, PRIVATE, 5, &view), two[2] = {f, f}, *handles;
	uint64_t v[2] = {6, 6}, *values;
	char *page = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED && mprotect(page + 4096, 4096, PROT_NONE) == 0);
	void *bad[] = {(void *)16, page + 4096, (void *)-8, (void *)(UINT64_C(1) << 63)};
	for (int i = 0; i < 4; i++) {
		for (unsigned n = 1; n <= 2; n++) {
			STATUS(signals(d, n, bad[i], v, 0), INVALID_PARAMETER);
			STATUS(signals(d, n, two, bad[i], 0), INVALID_PARAMETER);
			STATUS(waits(d, n, bad[i], v, 0, 0), INVALID_PARAMETER);
			STATUS(waits(d, n, two, bad[i], ANY, 0), INVALID_PARAMETER);
		}
	}
	handles = at_the_end(page, sizeof *handles);
	values = at_the_end(page, sizeof *values);
	*handles = f;
	STATUS(signals(d, 2, handles, v, 0), INVALID_PARAMETER); /* the second is behind the end */
	STATUS(waits(d, 2, handles, v, 0, 0), INVALID_PARAMETER);
	*values = 6;
	STATUS(signals(d, 2, two, values, 0), INVALID_PARAMETER);
	STATUS(waits(d, 2, two, values, 0, 0), INVALID_PARAMETER);
	STATUS(signals(d, 1, two, at_the_end(page, 4), 0), INVALID_PARAMETER); /* half of it is */
	STATUS(waits(d, 1, two, at_the_end(page, 4), 0, 0), INVALID_PARAMETER);
	EQUAL(*view, 5);
	/* The last words of a page, and many pages in turn. */
	OK(signals(d, 1, two, values, 0));
	*handles = f;
	OK(signals(d, 1, handles, v, 0));
	OK(waits(d, 1, handles, v, 0, 0));
	for (int i = 2; i < PAGES; i++) {
		handles = (D3DKMT_HANDLE *)(page + i * 4096);
		values = (uint64_t *)(page + (PAGES + 1 - i) * 4096 + 8);
		*handles = f;
		*values = 100 + (uint64_t)i;
		OK(signals(d, 1, handles, values, 0));
		OK(waits(d, 1, handles, values, 0, 0));
		EQUAL(*view, 100 + i);
	}
	CHECK(munmap(page, PAGES * 4096) == 0);
	OK(destroy_fence(f));
}

/* The same on a stack that is not the thread's own, below or above it. */
static ucontext_t outside, inside;
static D3DKMT_HANDLE inside_device;

static void on_another_stack(void) {
	volatile uint64_t *view;
	D3DKMT_HANDLE f = make_fence(inside_device, PRIVATE, 5, &view);
	OK(signal_fence(inside_device, f, 6));
	OK(wait_fence(inside_device, f, 6));
	STATUS(signals(inside_device, 1, &f, (void *)16, 0), INVALID_PARAMETER);
	EQUAL(*view, 6);
	unreadable(inside_device);
}

static void *on_two_stacks(void *arg) {
	enum { STACK = 256 << 10 };
	inside_device = *(D3DKMT_HANDLE *)arg;
	void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(stack != MAP_FAILED && getcontext(&inside) == 0);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = STACK;
	inside.uc_link = &outside;
	makecontext(&inside, on_another_stack, 0);
	CHECK(swapcontext(&outside, &inside) == 0);
	CHECK(munmap(stack, STACK) == 0);
	unreadable(inside_device);
	return NULL;
}

static void stacks(D3DKMT_HANDLE d) {
	pthread_t t;
	on_two_stacks(&d);
	CHECK(!pthread_create(&t, NULL, on_two_stacks, &d)); /* its first call is on the other one */
	CHECK(!pthread_join(t, NULL));
}

/* A wait for all of several, of which one is satisfied and one is the kernel's. */
static void mixed(D3DKMT_HANDLE d) {
	D3DKMT_HANDLE f[2] = {make_fence(d, PRIVATE, 0, NULL), make_fence(d, SHARED, 9, NULL)};
	OK(rewind_fence(d, f[1], 1));
	int fd = share_fence(f[1], ALL_ACCESS);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		D3DKMT_HANDLE own = open_device();
		OK(signal_fence(own, open_fence(own, fd, 0, NULL), 5));
		_exit(0);
	}
	OK(waits(d, 2, f, (uint64_t[]){0, 5}, 0, 0));
	EQUAL(end_of(pid), 0);
	close(fd);
}

static uint64_t count_of(int event) {
	uint64_t n = 0;
	struct pollfd p = {.fd = event, .events = POLLIN};
	CHECK(poll(&p, 1, 0) >= 0);
	if (p.revents) CHECK(read(event, &n, sizeof n) == sizeof n);
	return n;
}

static void events(D3DKMT_HANDLE d) {
	int event = eventfd(0, EFD_CLOEXEC), pipes[2];
	CHECK(pipe(pipes) == 0);
	D3DKMT_HANDLE f[2] = {make_fence(d, PRIVATE, 0, NULL), make_fence(d, SHARED, 0, NULL)};
	OK(waits(d, 1, f, (uint64_t[]){0}, 0, event));
	EQUAL(count_of(event), 1);
	OK(waits(d, 2, f, (uint64_t[]){5, 5}, 0, event));
	OK(signal_fence(d, f[0], 5));
	EQUAL(count_of(event), 0);
	OK(signal_fence(d, f[1], 5)); /* when it returns, the event is set */
	EQUAL(count_of(event), 1);
	OK(waits(d, 2, f, (uint64_t[]){9, 9}, ANY, event));
	OK(signals(d, 2, f, (uint64_t[]){9, 9}, 0));
	EQUAL(count_of(event), 1);
	STATUS(waits(d, 1, f, (uint64_t[]){99}, 0, 12345), INVALID_HANDLE);
	STATUS(waits(d, 1, f, (uint64_t[]){99}, 0, pipes[0]), TYPE_MISMATCH);
	D3DKMT_HANDLE no_wait = make_fence(d, NO_WAIT, 0, NULL);
	STATUS(waits(d, 1, &no_wait, (uint64_t[]){0}, 0, event), ACCESS_DENIED);
	EQUAL(count_of(event), 1);
	OK(waits(d, 1, f, (uint64_t[]){1000}, 0, event));
	OK(destroy_fence(f[0])); /* releases its waits */
	EQUAL(count_of(event), 1);
	close(event);
}

static void sharing(D3DKMT_HANDLE d) {
	volatile uint64_t *view, *again;
	D3DKMT_HANDLE f = make_fence(d, SHARED, 1, &view);
	int fd = share_fence(f, ALL_ACCESS);
	D3DKMT_HANDLE other = open_device();
	D3DKMT_HANDLE g = open_fence(other, fd, 0, &again);
	CHECK(f != g);
	OK(signal_fence(d, f, 2));
	EQUAL(*again, 2);
	OK(signal_fence(other, g, 3));
	EQUAL(*view, 3);
	STATUS(signal_fence(d, g, 4), INVALID_PARAMETER); /* the other device's */
	D3DKMT_HANDLE deaf = open_fence(other, fd, NO_WAIT, NULL);
	STATUS(wait_fence(other, deaf, 0), ACCESS_DENIED);
	OK(signal_fence(other, deaf, 4));
	D3DKMT_HANDLE mute = open_fence(other, fd, NO_SIGNAL, NULL);
	STATUS(signal_fence(other, mute, 9), ACCESS_DENIED);
	OK(wait_fence(other, mute, 4));
	HANDLE out = NULL;
	D3DKMT_HANDLE unshared = make_fence(d, PRIVATE, 0, NULL);
	STATUS(D3DKMTShareObjects(1, &unshared, NULL, ALL_ACCESS, &out), INVALID_PARAMETER);
	STATUS(D3DKMTShareObjects(1, &f, NULL, 0, &out), ACCESS_DENIED);
	STATUS(D3DKMTShareObjects(0, &f, NULL, ALL_ACCESS, &out), INVALID_PARAMETER);
	STATUS(D3DKMTShareObjects(1, &f, NULL, ALL_ACCESS, NULL), INVALID_PARAMETER);
	D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 o = {.hDevice = d};
	STATUS(D3DKMTOpenSyncObjectFromNtHandle2(&o), INVALID_HANDLE);
	o.hNtHandle = (HANDLE)(intptr_t)54321;
	STATUS(D3DKMTOpenSyncObjectFromNtHandle2(&o), INVALID_HANDLE);
	o.hNtHandle = (HANDLE)(intptr_t)2;
	STATUS(D3DKMTOpenSyncObjectFromNtHandle2(&o), TYPE_MISMATCH);
	OK(destroy_device(d));
	STATUS(signal_fence(d, f, 10), INVALID_PARAMETER);
	STATUS(destroy_fence(f), INVALID_PARAMETER);
	OK(signal_fence(other, g, 10)); /* lives on */
	EQUAL(*again, 10);
}

static void queries(void) {
	D3DKMT_ADAPTERINFO info[4];
	D3DKMT_ENUMADAPTERS2 e = {.NumAdapters = 4, .pAdapters = info};
	OK(D3DKMTEnumAdapters2(&e));
	e = (D3DKMT_ENUMADAPTERS2){0};
	OK(D3DKMTEnumAdapters2(&e));
	EQUAL(e.NumAdapters, 34);
	STATUS(D3DKMTEnumAdapters2(NULL), INVALID_PARAMETER);
	D3DKMT_DRIVER_DESCRIPTION text;
	memset(&text, 0xFF, sizeof text);
	D3DKMT_QUERYADAPTERINFO q = {.hAdapter = info[0].hAdapter, .Type = KMTQAITYPE_DRIVER_DESCRIPTION, .pPrivateDriverData = &text, .PrivateDriverDataSize = sizeof text - 1};
	STATUS(D3DKMTQueryAdapterInfo(&q), INVALID_PARAMETER);
	EQUAL((uint32_t)text.DriverDescription[0], 0xFFFFFFFF);
	q.PrivateDriverDataSize++;
	OK(D3DKMTQueryAdapterInfo(&q));
	CHECK(wcslen((const wchar_t *)text.DriverDescription) > 3);
	D3DKMT_NODEMETADATA node = {0};
	q.Type = KMTQAITYPE_NODEMETADATA;
	q.pPrivateDriverData = &node;
	q.PrivateDriverDataSize = sizeof node;
	OK(D3DKMTQueryAdapterInfo(&q));
	EQUAL(node.NodeData.EngineType, 1);
	uint32_t version = 0;
	q.Type = KMTQAITYPE_DRIVERVERSION;
	q.pPrivateDriverData = &version;
	q.PrivateDriverDataSize = sizeof version;
	OK(D3DKMTQueryAdapterInfo(&q));
	CHECK(version >= 2000 && version <= 3200);
	q.pPrivateDriverData = NULL;
	STATUS(D3DKMTQueryAdapterInfo(&q), INVALID_PARAMETER);
	STATUS(D3DKMTQueryAdapterInfo(NULL), INVALID_PARAMETER);
	/* QUERYREGISTRY in two steps, as container tools ask. */
	D3DDDI_QUERYREGISTRY_INFO *r = calloc(1, sizeof *r + 65536);
	r->QueryType = D3DDDI_QUERYREGISTRY_DRIVERSTOREPATH;
	q.Type = KMTQAITYPE_QUERYREGISTRY;
	q.pPrivateDriverData = r;
	q.PrivateDriverDataSize = sizeof *r;
	OK(D3DKMTQueryAdapterInfo(&q));
	EQUAL(r->Status, D3DDDI_QUERYREGISTRY_STATUS_BUFFER_OVERFLOW);
	uint32_t size = r->OutputValueSize;
	CHECK(size % 4 == 0 && size > 4);
	q.PrivateDriverDataSize = (uint32_t)sizeof *r + size;
	OK(D3DKMTQueryAdapterInfo(&q));
	EQUAL(r->Status, D3DDDI_QUERYREGISTRY_STATUS_SUCCESS);
	EQUAL(r->OutputValueSize, size);
	EQUAL(wcslen((const wchar_t *)r->OutputString), size / 4 - 1);
	free(r);
}

/* A payload that is not there, only half there, or cannot be written: nothing faults,
 * and nothing is written. All types, those with strings above all; 96 and more are
 * none. */
static void bad_payloads(void) {
	enum { TYPES = 132, BYTES = 16384, PAGE = 4096 };
	D3DKMT_ADAPTERINFO info[4];
	D3DKMT_ENUMADAPTERS2 e = {.NumAdapters = 4, .pAdapters = info};
	OK(D3DKMTEnumAdapters2(&e));
	char *page = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *constant = mmap(NULL, 8 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED && constant != MAP_FAILED && mprotect(page + 4 * PAGE, PAGE, PROT_NONE) == 0);
	void *bad[] = {(void *)16, page + 4 * PAGE, page + 4 * PAGE - 2, page + 4 * PAGE - 100, constant, (void *)-8, (void *)(UINT64_C(1) << 63)};
	errno = 77;
	for (uint32_t type = 0; type < TYPES; type++) {
		for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
			D3DKMT_QUERYADAPTERINFO q = {.hAdapter = info[0].hAdapter, .Type = type, .pPrivateDriverData = bad[i], .PrivateDriverDataSize = BYTES};
			STATUS(D3DKMTQueryAdapterInfo(&q), INVALID_PARAMETER);
		}
	}
	for (int i = 0; i < 4 * PAGE; i++) CHECK(page[i] == 0);
	D3DKMT_QUERYADAPTERINFO q = {.hAdapter = info[0].hAdapter, .Type = KMTQAITYPE_DRIVER_DESCRIPTION, .pPrivateDriverData = page, .PrivateDriverDataSize = BYTES};
	OK(D3DKMTQueryAdapterInfo(&q)); /* up to the last byte that is there */
	CHECK(page[0] != 0);
	EQUAL(errno, 77);
	CHECK(munmap(page, 8 * PAGE) == 0 && munmap(constant, 8 * PAGE) == 0);
}

static void others(void) {
	errno = 77;
	STATUS(D3DKMTCreateHwContext(NULL), NOT_IMPLEMENTED);
	STATUS(D3DKMTCreateKeyedMutex2(NULL), INVALID_PARAMETER);
	D3DKMT_FLUSHHEAPTRANSITIONS h = {0};
	STATUS(D3DKMTFlushHeapTransitions(&h), NOT_SUPPORTED);
	D3DKMT_CREATESYNCHRONIZATIONOBJECT c = {0};
	c.Info.Type = D3DDDI_MONITORED_FENCE;
	STATUS(D3DKMTCreateSynchronizationObject(&c), INVALID_PARAMETER);
	STATUS(D3DKMTCreateSynchronizationObject(NULL), INVALID_PARAMETER);
	STATUS(D3DKMTDestroyDevice(NULL), INVALID_PARAMETER);
	EQUAL(errno, 77);
}

/* The table of handles marks free places with small numbers, which are no handles. */
static void small_handles(void) {
	enum { PLACES = 64 };
	D3DKMT_HANDLE d = open_device();
	D3DKMT_ADAPTERINFO info[8];
	D3DKMT_ENUMADAPTERS2 e = {.NumAdapters = 8, .pAdapters = info};
	for (int i = 0; i < PLACES; i++) {
		OK(D3DKMTEnumAdapters2(&e)); /* takes a handle: the next fence has another place */
		OK(destroy_fence(make_fence(d, SHARED, 0, NULL)));
		for (D3DKMT_HANDLE h = 0; h < 4; h++) {
			STATUS(wait_fence(d, h, 0), INVALID_PARAMETER);
			STATUS(signal_fence(d, h, 1), INVALID_PARAMETER);
		}
	}
}

int main(void) {
	small_handles();
	D3DKMT_HANDLE d = open_device();
	signals_and_waits(d);
	batches(d);
	unreadable(d);
	stacks(d);
	mixed(d);
	events(d);
	queries();
	bad_payloads();
	others();
	sharing(d);
	D3DKMTCloseDxCoreDevice();
	D3DKMT_ENUMADAPTERS2 e = {0};
	STATUS(D3DKMTEnumAdapters2(&e), UNSUCCESSFUL);
	return 0;
}
