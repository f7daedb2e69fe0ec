/* Doorbells: their pages, work that is submitted by ringing, and when they go. With an
 * argument, when the daemon dies, also under who sleeps on a native fence: then it writes a
 * line when it is ready and reads one when the daemon is dead. */
#include "gpumem.h"

#include <dxgsync/softgpu.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#define NO_MEMORY 0xC0000017u

enum { CODE = 1024, SECONDARY = 1, RESIZE = 2 };

/* A hardware queue, and a page with command buffers and what they write. */
struct rig {
	D3DKMT_HANDLE device, context, queue, fence;
	D3DKMT_CREATEPAGINGQUEUE paging;
	uint64_t progress;                 /* GPU address of the fence's value */
	const volatile uint64_t *view;
	uint64_t page;                     /* GPU address */
	unsigned char *bytes;
	D3DKMT_HANDLE ring_memory;
	struct dxgsync_ring ring;
	uint64_t n;                        /* progress of the last buffer */
};

/* What a program rings by. */
struct bell {
	D3DKMT_HANDLE handle;
	void *doorbell, *last_queued;
	const void *status;
};

static D3DKMT_HANDLE resident(struct rig *r, uint64_t *at, unsigned char **bytes) {
	D3DKMT_HANDLE a = allocate(r->device, 4096, NULL);
	*at = place(r->device, &r->paging, a, 1);
	*bytes = lock(r->device, a);
	D3DDDI_MAKERESIDENT m = {.hPagingQueue = r->paging.hPagingQueue, .NumAllocations = 1, .AllocationList = &a};
	uint32_t st = (uint32_t)D3DKMTMakeResident(&m);
	CHECK(st == 0 || st == PENDING);
	OK(wait_fence(r->device, r->paging.hSyncObject, m.PagingFenceValue));
	return a;
}

static struct rig begin(void) {
	struct rig r = {.device = open_device()};
	uint64_t at;
	unsigned char *ring;
	r.paging.hDevice = r.device;
	OK(D3DKMTCreatePagingQueue(&r.paging));
	D3DKMT_CREATECONTEXTVIRTUAL c = {.hDevice = r.device};
	c.Flags.HwQueueSupported = 1;
	OK(D3DKMTCreateContextVirtual(&c));
	r.context = c.hContext;
	resident(&r, &r.page, &r.bytes);
	r.ring_memory = resident(&r, &at, &ring);
	dxgsync_ring_begin(&r.ring, ring, 4096, NULL);
	return r;
}

static void make_queue(struct rig *r) {
	D3DKMT_CREATEHWQUEUE q = {.hHwContext = r->context};
	q.Flags.UserModeSubmission = 1;
	OK(D3DKMTCreateHwQueue(&q));
	CHECK(q.Flags.UserModeSubmission && q.Flags.NativeProgressFence);
	r->queue = q.hHwQueue;
	r->fence = q.hHwQueueProgressFence;
	r->progress = q.HwQueueProgressFenceGPUVirtualAddress;
	r->view = q.HwQueueProgressFenceCPUVirtualAddress;
	r->n = 0;
}

static D3DKMT_CREATE_DOORBELL make(struct rig *r, unsigned flags) {
	unsigned char data[16] = "driver's";
	D3DKMT_CREATE_DOORBELL c = {.hHwQueue = r->queue, .hRingBuffer = r->ring_memory, .PrivateDriverData = data, .PrivateDriverDataSize = sizeof data};
	c.Flags.Value = flags;
	OK(D3DKMTCreateDoorbell(&c));
	CHECK(c.hDoorbell && c.DoorbellCPUVirtualAddress && c.DoorbellStatusCPUVirtualAddress && c.HwQueueProgressFenceLastQueuedValueCPUVirtualAddress);
	CHECK(!c.DoorbellSecondaryCPUVirtualAddress == !(flags & SECONDARY));
	EQUAL(dxgsync_doorbell_load(c.DoorbellStatusCPUVirtualAddress), D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
	EQUAL(dxgsync_doorbell_load(c.DoorbellCPUVirtualAddress), 0);
	r->ring.written = 0;
	return c;
}

static struct bell bell_of(const D3DKMT_CREATE_DOORBELL *c) {
	return (struct bell){c->hDoorbell, c->DoorbellCPUVirtualAddress, c->HwQueueProgressFenceLastQueuedValueCPUVirtualAddress, c->DoorbellStatusCPUVirtualAddress};
}

static NTSTATUS connect_bell(D3DKMT_HANDLE h) {
	D3DKMT_CONNECT_DOORBELL c = {.hDoorbell = h};
	return D3DKMTConnectDoorbell(&c);
}
static NTSTATUS notify(D3DKMT_HANDLE h) {
	D3DKMT_NOTIFY_WORK_SUBMISSION n = {.hDoorbell = h};
	return D3DKMTNotifyWorkSubmission(&n);
}
static NTSTATUS destroy_bell(D3DKMT_HANDLE h) {
	D3DKMT_DESTROY_DOORBELL x = {.hDoorbell = h};
	return D3DKMTDestroyDoorbell(&x);
}

/* Submit a buffer that stores the next number, and wait for it. */
static void submit(struct rig *r, const struct bell *b) {
	struct dxgsync_cmdbuf buf;
	uint64_t v = ++r->n;
	dxgsync_cmdbuf_begin(&buf, r->bytes + CODE, 4096 - CODE);
	dxgsync_cmdbuf_write64(&buf, r->page, v);
	dxgsync_cmdbuf_signal(&buf, r->progress, v);
	uint64_t rung = dxgsync_ring_put(&r->ring, r->page + CODE, dxgsync_cmdbuf_size(&buf));
	dxgsync_doorbell_store(b->last_queued, v);
	dxgsync_doorbell_store(b->doorbell, rung);
	switch (dxgsync_doorbell_load(b->status)) {
	case D3DDDI_DOORBELLSTATUS_CONNECTED:
		break;
	case D3DDDI_DOORBELLSTATUS_CONNECTED_NOTIFY_KMD:
		OK(notify(b->handle));
		break;
	case D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY:
		OK(connect_bell(b->handle));
		break;
	default:
		CHECK(!"the doorbell is usable");
	}
	OK(wait_fence(r->device, r->fence, v));
	EQUAL(*r->view, v);
	EQUAL(dxgsync_doorbell_load(r->bytes), v);
}

static void gone(const struct bell *b) { CHECK(!there(b->doorbell) && !there(b->last_queued) && !there(b->status)); }

/* What is refused leaves the structure as it was. */
static void refused(struct rig *r) {
	D3DKMT_CREATE_DOORBELL c, before;
	unsigned char data[32];
	for (int fill = 0; fill < 3; fill++) {
		memset(&c, fill == 1 ? 0xAB : 0, sizeof c);
		if (fill == 2) { /* too much private data */
			c.hHwQueue = r->queue;
			c.hRingBuffer = r->ring_memory;
			c.PrivateDriverData = data;
			c.PrivateDriverDataSize = 17;
		}
		before = c;
		STATUS(D3DKMTCreateDoorbell(&c), INVALID_PARAMETER);
		CHECK(!memcmp(&c, &before, sizeof c));
	}
	STATUS(D3DKMTCreateDoorbell(NULL), INVALID_PARAMETER);
	STATUS(D3DKMTConnectDoorbell(NULL), INVALID_PARAMETER);
	STATUS(D3DKMTDestroyDoorbell(NULL), INVALID_PARAMETER);
	STATUS(D3DKMTNotifyWorkSubmission(NULL), INVALID_PARAMETER);
	STATUS(connect_bell(r->queue), INVALID_PARAMETER);
	STATUS(destroy_bell(r->queue), INVALID_PARAMETER);
	STATUS(notify(r->queue), INVALID_PARAMETER);
	D3DKMT_CREATEHWQUEUEFORUSERMODESUBMISSION q, q_before;
	memset(&q, 0xAB, sizeof q);
	q_before = q;
	STATUS(D3DKMTCreateHwQueueForUserModeSubmission(&q), INVALID_PARAMETER);
	CHECK(!memcmp(&q, &q_before, sizeof q));
}

/* The status is the system's; a forked child may look at that, and cannot ring. */
static void forked(const D3DKMT_CREATE_DOORBELL *c) {
	volatile uint64_t *status = c->DoorbellStatusCPUVirtualAddress, *word[2] = {status, c->DoorbellCPUVirtualAddress};
	for (int i = 0; i <= 2; i++) {
		pid_t pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			uint64_t now = *status;
			if (i < 2) *word[i] = 1;
			_exit(now > D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
		}
		EQUAL(end_of(pid), i < 2 ? 256 + SIGSEGV : 0);
	}
}

/* Rung by the first kind of queue, whose doorbell is an object of its own. */
static void doorbells(void) {
	struct rig r = begin();
	make_queue(&r);
	refused(&r);
	D3DKMT_CREATE_DOORBELL c = make(&r, 0);
	struct bell b = bell_of(&c);
	STATUS(notify(b.handle), INVALID_PARAMETER); /* not connected */
	for (int i = 0; i < 50; i++) submit(&r, &b);
	OK(connect_bell(b.handle));
	forked(&c);
	submit(&r, &b);

	/* Anew, with another ring buffer: the one before is gone. */
	c = make(&r, RESIZE);
	struct bell second = bell_of(&c);
	gone(&b);
	STATUS(connect_bell(b.handle), INVALID_PARAMETER);
	submit(&r, &second);
	OK(destroy_bell(second.handle));
	gone(&second);
	STATUS(destroy_bell(second.handle), INVALID_PARAMETER);

	/* It goes with its queue, the queue's context, its device. */
	c = make(&r, 0);
	b = bell_of(&c);
	submit(&r, &b);
	OK(D3DKMTDestroyHwQueue(&(D3DKMT_DESTROYHWQUEUE){.hHwQueue = r.queue}));
	gone(&b);
	make_queue(&r);
	c = make(&r, 0);
	b = bell_of(&c);
	submit(&r, &b);
	OK(D3DKMTDestroyContext(&(D3DKMT_DESTROYCONTEXT){.hContext = r.context}));
	gone(&b);
	OK(destroy_device(r.device));
}

/* Made with its queue, whose handle is the doorbell's. */
static void together(void) {
	struct rig r = begin();
	D3DKMT_CREATEHWQUEUEFORUSERMODESUBMISSION q = {.hHwContext = r.context, .hRingBuffer = r.ring_memory};
	OK(D3DKMTCreateHwQueueForUserModeSubmission(&q));
	CHECK(q.hHwQueue && q.hProgressFence && q.DoorbellStatusCpuVa && q.ProgressFenceLastQueuedValueCpuVa);
	CHECK(q.ProgressFenceMapping.CurrentValueCpuVa && q.ProgressFenceMapping.CurrentValueGpuVa && q.ProgressFenceMapping.MonitoredValueGpuVa);
	r.queue = q.hHwQueue;
	r.fence = q.hProgressFence;
	r.progress = q.ProgressFenceMapping.CurrentValueGpuVa;
	r.view = q.ProgressFenceMapping.CurrentValueCpuVa;
	struct bell b = {q.hHwQueue, (char *)q.ProgressFenceLastQueuedValueCpuVa - 128, q.ProgressFenceLastQueuedValueCpuVa, q.DoorbellStatusCpuVa};
	EQUAL(dxgsync_doorbell_load(b.status), D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
	for (int i = 0; i < 20; i++) submit(&r, &b);
	D3DKMT_GETNATIVEFENCELOGDETAIL g = {.hHwQueue = q.hHwQueue};
	OK(D3DKMTGetNativeFenceLogDetail(&g));
	EQUAL(g.WaitLogNumberOfEntries, q.LogBufferInfo.WaitLogNumberOfEntries);
	EQUAL(g.SignalLogGpuBaseAddress, q.LogBufferInfo.SignalLogGpuBaseAddress);
	CHECK(g.WaitLogNumberOfEntries >= 84 && g.WaitLogGpuBaseAddress && g.SignalLogNumberOfEntries >= 84 && g.SignalLogGpuBaseAddress);
	OK(destroy_device(r.device));
	gone(&b);
}

/* Calls at their limits make nothing: the queue has no doorbell, and there is no queue. */
static void no_descriptors(void) {
	struct rig r = begin();
	struct rlimit old, low;
	int fd[256], n = 0;
	make_queue(&r);
	CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
	low = (struct rlimit){old.rlim_cur < 256 ? old.rlim_cur : 256, old.rlim_max};
	CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
	while (n < 256 && (fd[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) n++;
	EQUAL(errno, EMFILE);
	for (int room = 0; room < 3; room++) {
		D3DKMT_CREATEHWQUEUEFORUSERMODESUBMISSION q = {.hHwContext = r.context, .hRingBuffer = r.ring_memory};
		STATUS(D3DKMTCreateHwQueueForUserModeSubmission(&q), NO_MEMORY);
		EQUAL(q.hHwQueue, 0);
		if (room < 2) {
			D3DKMT_CREATE_DOORBELL c = {.hHwQueue = r.queue, .hRingBuffer = r.ring_memory};
			STATUS(D3DKMTCreateDoorbell(&c), NO_MEMORY);
			EQUAL(c.hDoorbell, 0);
		}
		close(fd[--n]);
	}
	D3DKMT_CREATE_DOORBELL c = make(&r, 0);
	struct bell b = bell_of(&c);
	while (n > 0) close(fd[--n]);
	CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
	submit(&r, &b);
	OK(destroy_device(r.device));
}

struct sleeper {
	D3DKMT_HANDLE device, fence;
};
static void *sleep_for_ever(void *arg) {
	const struct sleeper *s = arg;
	STATUS(wait_fence(s->device, s->fence, 9), DEVICE_REMOVED);
	return NULL;
}

static int death(void) {
	struct rig r = begin();
	char line[8];
	pthread_t t;
	make_queue(&r);
	D3DKMT_CREATE_DOORBELL c = make(&r, 0);
	struct bell b = bell_of(&c);
	submit(&r, &b);
	D3DKMT_CREATENATIVEFENCE f = {.hDevice = r.device};
	f.Info.Flags.Value = SHARED;
	OK(D3DKMTCreateNativeFence(&f));
	const volatile uint64_t *view = f.Info.NativeFenceMapping.CurrentValueCpuVa;
	struct sleeper s = {r.device, f.hSyncObject};
	CHECK(!pthread_create(&t, NULL, sleep_for_ever, &s));
	CHECK(puts("ready") >= 0 && fflush(stdout) == 0);
	CHECK(fgets(line, sizeof line, stdin));
	CHECK(!pthread_join(t, NULL));
	EQUAL(*view, UINT64_MAX);
	EQUAL(*r.view, UINT64_MAX);
	EQUAL(dxgsync_doorbell_load(b.status), D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT);
	dxgsync_doorbell_store(b.last_queued, 9); /* harms nobody */
	dxgsync_doorbell_store(b.doorbell, 9);
	STATUS(connect_bell(b.handle), DEVICE_REMOVED);
	STATUS(destroy_bell(b.handle), DEVICE_REMOVED);
	STATUS(signal_fence(r.device, f.hSyncObject, UINT64_MAX), DEVICE_REMOVED);
	STATUS(D3DKMTCreateNativeFence(&f), DEVICE_REMOVED);
	CHECK(puts("removed") >= 0);
	return 0;
}

int main(int argc, char **argv) {
	(void)argv;
	if (argc > 1) return death();
	doorbells();
	together();
	no_descriptors();
	return 0;
}
