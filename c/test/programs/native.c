/* Native fences: made, shared and opened, where they are seen, who waits for whom, also on
 * the GPU; a second process, by fork and exec, gets them through a socket.
 *
 *     native       the first process
 *     native FD    the second, with its end of the socket */
#include "gpumem.h"

#include <dxgsync/softgpu.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

enum { ROUNDS = 300, CROSS = 4 };

static D3DKMT_ADAPTERINFO adapter[8];
static unsigned adapters;

static D3DKMT_HANDLE device_of(unsigned i) {
	D3DKMT_CREATEDEVICE d = {.hAdapter = adapter[i].hAdapter};
	OK(D3DKMTCreateDevice(&d));
	return d.hDevice;
}

static void find_adapters(void) {
	D3DKMT_ENUMADAPTERS2 e = {.NumAdapters = 8, .pAdapters = adapter};
	OK(D3DKMTEnumAdapters2(&e));
	adapters = e.NumAdapters;
	CHECK(adapters == 2); /* neutral, native */
}

static void features(void) {
	D3DKMT_ISFEATUREENABLED f = {.hAdapter = adapter[0].hAdapter, .FeatureId = DXGK_FEATURE_NATIVE_FENCE};
	OK(D3DKMTIsFeatureEnabled(&f));
	CHECK(f.Result.Enabled && f.Result.KnownFeature && f.Result.SupportedByDriver && f.Result.SupportedOnCurrentConfig && f.Result.Version);
	f.FeatureId = (DXGK_FEATURE_ID)0x0FFFFFFF;
	OK(D3DKMTIsFeatureEnabled(&f));
	EQUAL(f.Result.Value, 0);
	f.hAdapter = 0x7FFFFFC0;
	f.Result.Value = 0x7777;
	STATUS(D3DKMTIsFeatureEnabled(&f), INVALID_PARAMETER);
	EQUAL(f.Result.Value, 0x7777);
	STATUS(D3DKMTIsFeatureEnabled(NULL), INVALID_PARAMETER);
}

static D3DKMT_CREATENATIVEFENCE make(D3DKMT_HANDLE d, unsigned flags, uint64_t initial) {
	D3DKMT_CREATENATIVEFENCE c = {.hDevice = d};
	c.Info.Flags.Value = flags;
	c.Info.InitialFenceValue = initial;
	OK(D3DKMTCreateNativeFence(&c));
	const D3DDDI_NATIVEFENCEMAPPING *m = &c.Info.NativeFenceMapping;
	CHECK(c.hSyncObject && m->CurrentValueCpuVa && m->CurrentValueGpuVa && m->MonitoredValueGpuVa);
	EQUAL(*(volatile uint64_t *)m->CurrentValueCpuVa, initial);
	return c;
}

static D3DKMT_OPENNATIVEFENCEFROMNTHANDLE open_native(D3DKMT_HANDLE d, int fd, unsigned flags) {
	D3DKMT_OPENNATIVEFENCEFROMNTHANDLE o = {.hNtHandle = (HANDLE)(intptr_t)fd, .hDevice = d};
	o.Flags.Value = flags;
	OK(D3DKMTOpenNativeFenceFromNtHandle(&o));
	CHECK(o.hSyncObject && o.NativeFenceMapping.CurrentValueCpuVa);
	return o;
}

/* What is refused leaves the structure as it was. */
static void refused(D3DKMT_HANDLE d) {
	D3DKMT_CREATENATIVEFENCE c, before;
	D3DKMT_OPENNATIVEFENCEFROMNTHANDLE o, o_before;
	D3DKMT_GETNATIVEFENCELOGDETAIL g, g_before;
	for (int fill = 0; fill < 2; fill++) {
		memset(&c, fill ? 0xAB : 0, sizeof c);
		before = c;
		STATUS(D3DKMTCreateNativeFence(&c), INVALID_PARAMETER);
		CHECK(!memcmp(&c, &before, sizeof c));
		memset(&o, fill ? 0xAB : 0, sizeof o);
		o_before = o;
		STATUS(D3DKMTOpenNativeFenceFromNtHandle(&o), INVALID_PARAMETER);
		CHECK(!memcmp(&o, &o_before, sizeof o));
		memset(&g, fill ? 0xAB : 0, sizeof g);
		g_before = g;
		STATUS(D3DKMTGetNativeFenceLogDetail(&g), INVALID_PARAMETER);
		CHECK(!memcmp(&g, &g_before, sizeof g));
	}
	STATUS(D3DKMTCreateNativeFence(NULL), INVALID_PARAMETER);
	STATUS(D3DKMTOpenNativeFenceFromNtHandle(NULL), INVALID_PARAMETER);
	STATUS(D3DKMTGetNativeFenceLogDetail(NULL), INVALID_PARAMETER);
	memset(&o, 0x55, sizeof o); /* a device, but nothing to open */
	o.hDevice = d;
	o.Flags.Value = 0;
	o.hNtHandle = (HANDLE)(intptr_t)1000;
	o_before = o;
	STATUS(D3DKMTOpenNativeFenceFromNtHandle(&o), INVALID_HANDLE);
	CHECK(!memcmp(&o, &o_before, sizeof o));
	/* No fence of video memory on an adapter that does not say so. */
	memset(&c, 0x55, sizeof c);
	c.hDevice = d;
	c.Flags.Value = c.Info.Flags.Value = 0;
	c.Info.Type = D3DDDI_NATIVEFENCE_TYPE_INTRA_GPU;
	before = c;
	STATUS(D3DKMTCreateNativeFence(&c), NOT_SUPPORTED);
	CHECK(!memcmp(&c, &before, sizeof c));
}

/* Where the GPU is alone with it, there is nothing to look at, to wait for or to signal. */
static void intra(D3DKMT_HANDLE d) {
	D3DKMT_CREATENATIVEFENCE c = {.hDevice = d};
	c.Info.Type = D3DDDI_NATIVEFENCE_TYPE_INTRA_GPU;
	c.Info.NativeFenceMapping.CurrentValueCpuVa = (VOID *)8;
	OK(D3DKMTCreateNativeFence(&c));
	CHECK(!c.Info.NativeFenceMapping.CurrentValueCpuVa);
	CHECK(c.Info.NativeFenceMapping.CurrentValueGpuVa && c.Info.NativeFenceMapping.MonitoredValueGpuVa);
	STATUS(wait_fence(d, c.hSyncObject, 0), INVALID_PARAMETER);
	STATUS(signal_fence(d, c.hSyncObject, 1), INVALID_PARAMETER);
	OK(destroy_fence(c.hSyncObject));
	STATUS(destroy_fence(c.hSyncObject), INVALID_PARAMETER);
	c.Info.Flags.Value = CROSS | SHARED;
	STATUS(D3DKMTCreateNativeFence(&c), INVALID_PARAMETER);
}

/* All local objects of this process on one fence have the same addresses, on this
 * adapter and on another, as long as one of them is left. */
static void same_address(D3DKMT_HANDLE a, D3DKMT_HANDLE b, D3DKMT_HANDLE far) {
	D3DKMT_CREATENATIVEFENCE f = make(a, SHARED | CROSS, 4);
	int fd = share_fence(f.hSyncObject, ALL_ACCESS);
	volatile uint64_t *view = f.Info.NativeFenceMapping.CurrentValueCpuVa;
	D3DKMT_OPENNATIVEFENCEFROMNTHANDLE x = open_native(b, fd, 0), y = open_native(far, fd, NO_SIGNAL);
	D3DKMT_HANDLE monitored = open_fence(b, fd, 0, NULL);
	CHECK(x.NativeFenceMapping.CurrentValueCpuVa == view && y.NativeFenceMapping.CurrentValueCpuVa == view);
	CHECK(x.NativeFenceMapping.CurrentValueGpuVa == f.Info.NativeFenceMapping.CurrentValueGpuVa);
	CHECK(x.NativeFenceMapping.MonitoredValueGpuVa == f.Info.NativeFenceMapping.MonitoredValueGpuVa);
	OK(signal_fence(b, x.hSyncObject, 5));
	EQUAL(*view, 5);
	OK(wait_fence(far, y.hSyncObject, 5));
	STATUS(signal_fence(far, y.hSyncObject, 6), ACCESS_DENIED);
	OK(destroy_fence(f.hSyncObject));
	EQUAL(*view, 5);
	OK(signal_fence(b, monitored, 6));
	OK(wait_fence(b, x.hSyncObject, 6));
	OK(destroy_device(b));
	OK(wait_fence(far, y.hSyncObject, 6));
	EQUAL(*view, 6);
	OK(destroy_fence(y.hSyncObject));
	CHECK(!there(view));
	close(fd);
}

/* The program may look only. */
static void read_only(D3DKMT_HANDLE d) {
	const unsigned flags[] = {PRIVATE, SHARED};
	for (int i = 0; i < 2; i++) {
		D3DKMT_CREATENATIVEFENCE f = make(d, flags[i], 1);
		volatile uint64_t *view = f.Info.NativeFenceMapping.CurrentValueCpuVa;
		pid_t pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			if (*view == 1) *view = 5;
			_exit(0);
		}
		EQUAL(end_of(pid), 256 + SIGSEGV);
		EQUAL(*view, 1);
		OK(destroy_fence(f.hSyncObject));
	}
}

struct wait_args {
	D3DKMT_HANDLE device, fence;
	uint64_t value;
};
static void *wait_in_thread(void *a) {
	struct wait_args *w = a;
	OK(wait_fence(w->device, w->fence, w->value));
	return NULL;
}

/* A hardware queue waits for what the CPU signals, and signals what the CPU waits for: by
 * a blocked thread, by an event, by looking. */
static void gpu(D3DKMT_HANDLE d) {
	D3DKMT_CREATEPAGINGQUEUE paging = {.hDevice = d};
	OK(D3DKMTCreatePagingQueue(&paging));
	D3DKMT_CREATECONTEXTVIRTUAL c = {.hDevice = d};
	c.Flags.HwQueueSupported = 1;
	OK(D3DKMTCreateContextVirtual(&c));
	D3DKMT_CREATEHWQUEUE q = {.hHwContext = c.hContext};
	OK(D3DKMTCreateHwQueue(&q));
	CHECK(q.Flags.NativeProgressFence && q.HwQueueProgressFenceCPUVirtualAddress);
	D3DKMT_CREATENATIVEFENCE go = make(d, PRIVATE, 0), done = make(d, PRIVATE, 0);
	volatile uint64_t *view = done.Info.NativeFenceMapping.CurrentValueCpuVa;
	D3DKMT_HANDLE memory = allocate(d, 4096, NULL);
	uint64_t code = place(d, &paging, memory, 1);
	unsigned char *bytes = lock(d, memory);
	int event = eventfd(0, EFD_CLOEXEC);
	for (uint64_t v = 1; v <= 3; v++) {
		struct dxgsync_cmdbuf b;
		dxgsync_cmdbuf_begin(&b, bytes, 4096);
		dxgsync_cmdbuf_wait(&b, go.Info.NativeFenceMapping.CurrentValueGpuVa, v, go.hSyncObject);
		dxgsync_cmdbuf_signal_native(&b, done.Info.NativeFenceMapping.CurrentValueGpuVa, v, done.Info.NativeFenceMapping.MonitoredValueGpuVa, done.hSyncObject);
		dxgsync_cmdbuf_signal(&b, q.HwQueueProgressFenceGPUVirtualAddress, v);
		D3DKMT_SUBMITCOMMANDTOHWQUEUE s = {.hHwQueue = q.hHwQueue, .HwQueueProgressFenceId = v, .CommandBuffer = code, .CommandLength = (UINT)dxgsync_cmdbuf_size(&b)};
		struct wait_args w = {d, done.hSyncObject, v};
		pthread_t t;
		uint64_t n;
		OK(waits(d, 1, &done.hSyncObject, &v, 0, event));
		OK(D3DKMTSubmitCommandToHwQueue(&s));
		CHECK(!pthread_create(&t, NULL, wait_in_thread, &w));
		EQUAL(*view, v - 1);
		OK(signal_fence(d, go.hSyncObject, v));
		CHECK(!pthread_join(t, NULL));
		EQUAL(read(event, &n, sizeof n), sizeof n);
		EQUAL(*view, v);
		OK(wait_fence(d, q.hHwQueueProgressFence, v)); /* before the buffer changes */
	}
	close(event);
	OK(destroy_fence(go.hSyncObject));
	OK(destroy_device(d));
}

/* ---- two processes ---- */

static void give(int to, int fd) {
	char byte = 'x', room[CMSG_SPACE(sizeof fd)] = {0};
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(h), &fd, sizeof fd);
	EQUAL(sendmsg(to, &m, 0), 1);
}

static int take(int from) {
	char byte, room[CMSG_SPACE(sizeof(int))];
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	int fd;
	EQUAL(recvmsg(from, &m, MSG_CMSG_CLOEXEC), 1);
	CHECK(CMSG_FIRSTHDR(&m) && CMSG_FIRSTHDR(&m)->cmsg_type == SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	return fd;
}

static int second(int socket) {
	find_adapters();
	D3DKMT_HANDLE d = device_of(0);
	int ping_file = take(socket), pong_file = take(socket);
	D3DKMT_OPENNATIVEFENCEFROMNTHANDLE ping = open_native(d, ping_file, 0), pong = open_native(d, pong_file, 0);
	volatile uint64_t *view = ping.NativeFenceMapping.CurrentValueCpuVa;
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		OK(wait_fence(d, ping.hSyncObject, i));
		CHECK(*view >= i);
		OK(signal_fence(d, pong.hSyncObject, i));
	}
	wait_fence(d, ping.hSyncObject, UINT64_MAX); /* until killed */
	return 1;
}

static void processes(D3DKMT_HANDLE d) {
	int pair[2];
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	fcntl(pair[0], F_SETFD, FD_CLOEXEC);
	D3DKMT_CREATENATIVEFENCE ping = make(d, SHARED, 0), pong = make(d, SHARED, 0);
	int files[2] = {share_fence(ping.hSyncObject, ALL_ACCESS), share_fence(pong.hSyncObject, ALL_ACCESS)};
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		char number[12];
		snprintf(number, sizeof number, "%d", pair[1]);
		execl("/proc/self/exe", "native", number, (char *)NULL);
		_exit(1);
	}
	close(pair[1]);
	give(pair[0], files[0]);
	give(pair[0], files[1]);
	int event = eventfd(0, EFD_CLOEXEC);
	for (uint64_t i = 1, n; i <= ROUNDS; i++) {
		if (i % 2) OK(waits(d, 1, &pong.hSyncObject, &i, 0, event));
		OK(signal_fence(d, ping.hSyncObject, i));
		if (i % 2) EQUAL(read(event, &n, sizeof n), sizeof n);
		else OK(wait_fence(d, pong.hSyncObject, i));
		OK(wait_fence(d, pong.hSyncObject, i));
	}
	kill(pid, SIGKILL);
	EQUAL(end_of(pid), 256 + SIGKILL);
	OK(signal_fence(d, pong.hSyncObject, ROUNDS + 1)); /* its creator lives */
	OK(wait_fence(d, pong.hSyncObject, ROUNDS + 1));
	close(event);
}

int main(int argc, char **argv) {
	if (argc == 2) return second(atoi(argv[1]));
	find_adapters();
	D3DKMT_HANDLE d = device_of(0);
	features();
	refused(d);
	intra(device_of(1));
	same_address(d, device_of(0), device_of(1));
	read_only(d);
	gpu(device_of(0));
	gpu(device_of(1));
	processes(d);
	OK(destroy_device(d));
	return 0;
}
