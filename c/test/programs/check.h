/* What the test programs share: the few calls they all begin with. A program ends
 * at the first thing that is not as expected, with status 1 and a line that says
 * what; 0 means that everything was. */
#ifndef CHECK_H
#define CHECK_H

#include <dxg/d3dkmthk.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                  \
	do {                                                                                  \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);       \
			_exit(1);                                                                     \
		}                                                                                 \
	} while (0)

#define EQUAL(got, want)                                                                  \
	do {                                                                                  \
		unsigned long long got_ = (unsigned long long)(got), want_ = (unsigned long long)(want); \
		if (got_ != want_) {                                                              \
			fprintf(stderr, "%s:%d: %s is %#llx, want %#llx\n", __FILE__, __LINE__, #got, got_, want_); \
			_exit(1);                                                                     \
		}                                                                                 \
	} while (0)

/* A status: both sides as 32 bits. */
#define STATUS(call, want) EQUAL((uint32_t)(call), (uint32_t)(want))
#define OK(call) STATUS(call, 0)

static inline D3DKMT_HANDLE open_device(void) {
	D3DKMT_ADAPTERINFO info[8];
	D3DKMT_ENUMADAPTERS2 e = {.NumAdapters = 8, .pAdapters = info};
	OK(D3DKMTEnumAdapters2(&e));
	CHECK(e.NumAdapters >= 1);
	D3DKMT_CREATEDEVICE d = {.hAdapter = info[0].hAdapter};
	OK(D3DKMTCreateDevice(&d));
	return d.hDevice;
}

enum { PRIVATE = 0, SHARED = 3, NO_SIGNAL = 0x10, NO_WAIT = 0x20 };

static inline D3DKMT_HANDLE make_fence(D3DKMT_HANDLE device, unsigned flags, uint64_t initial, volatile uint64_t **view) {
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.hDevice = device};
	c.Info.Type = D3DDDI_MONITORED_FENCE;
	c.Info.Flags.Value = flags;
	c.Info.MonitoredFence.InitialFenceValue = initial;
	OK(D3DKMTCreateSynchronizationObject2(&c));
	if (view) *view = (volatile uint64_t *)c.Info.MonitoredFence.FenceValueCPUVirtualAddress;
	return c.hSyncObject;
}

static inline NTSTATUS destroy_fence(D3DKMT_HANDLE fence) {
	const D3DKMT_DESTROYSYNCHRONIZATIONOBJECT d = {.hSyncObject = fence};
	return D3DKMTDestroySynchronizationObject(&d);
}

static inline NTSTATUS destroy_device(D3DKMT_HANDLE device) {
	const D3DKMT_DESTROYDEVICE d = {.hDevice = device};
	return D3DKMTDestroyDevice(&d);
}

static inline NTSTATUS signals(D3DKMT_HANDLE device, unsigned n, const D3DKMT_HANDLE *fences, const uint64_t *values, unsigned flags) {
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU s = {.hDevice = device, .ObjectCount = n, .ObjectHandleArray = fences, .FenceValueArray = values};
	s.Flags.Value = flags;
	return D3DKMTSignalSynchronizationObjectFromCpu(&s);
}
static inline NTSTATUS signal_fence(D3DKMT_HANDLE device, D3DKMT_HANDLE fence, uint64_t value) { return signals(device, 1, &fence, &value, 0); }
static inline NTSTATUS rewind_fence(D3DKMT_HANDLE device, D3DKMT_HANDLE fence, uint64_t value) { return signals(device, 1, &fence, &value, 4); }

static inline NTSTATUS waits(D3DKMT_HANDLE device, unsigned n, const D3DKMT_HANDLE *fences, const uint64_t *values, unsigned flags, int event) {
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU w = {.hDevice = device, .ObjectCount = n, .ObjectHandleArray = fences, .FenceValueArray = values};
	w.hAsyncEvent = (HANDLE)(intptr_t)event;
	w.Flags.Value = flags;
	return D3DKMTWaitForSynchronizationObjectFromCpu(&w);
}
static inline NTSTATUS wait_fence(D3DKMT_HANDLE device, D3DKMT_HANDLE fence, uint64_t value) { return waits(device, 1, &fence, &value, 0, 0); }

static inline int share_fence(D3DKMT_HANDLE fence, unsigned access) {
	HANDLE h = NULL;
	OK(D3DKMTShareObjects(1, &fence, NULL, access, &h));
	CHECK((intptr_t)h > 0);
	return (int)(intptr_t)h;
}

static inline D3DKMT_HANDLE open_fence(D3DKMT_HANDLE device, int fd, unsigned flags, volatile uint64_t **view) {
	D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 o = {.hNtHandle = (HANDLE)(intptr_t)fd, .hDevice = device};
	o.Flags.Value = flags;
	OK(D3DKMTOpenSyncObjectFromNtHandle2(&o));
	if (view) *view = (volatile uint64_t *)o.MonitoredFence.FenceValueCPUVirtualAddress;
	return o.hSyncObject;
}

enum { ALL_ACCESS = 0x001F0003, ANY = 1 };
#define INVALID_PARAMETER 0xC000000Du
#define ACCESS_DENIED     0xC0000022u
#define DEVICE_REMOVED    0xC00002B6u
#define INVALID_HANDLE    0xC0000008u
#define TYPE_MISMATCH     0xC0000024u
#define NOT_SUPPORTED     0xC00000BBu
#define NOT_IMPLEMENTED   0xC0000002u
#define UNSUCCESSFUL      0xC0000001u
#define CANCELLED         0xC0000120u
#define ABANDONED         0x00000080u
#define TIMEOUT           0x00000102u

/* The end of a child: its exit status, or 256 + signal. */
static inline int end_of(pid_t child) {
	int st;
	while (waitpid(child, &st, 0) < 0) CHECK(errno == EINTR);
	return WIFSIGNALED(st) ? 256 + WTERMSIG(st) : WEXITSTATUS(st);
}

#endif
