/* Contexts and what is queued on them, as far as this library has a part in it: unions
 * of arrays and numbers, events, sync files, waits that the kernel answers later, pages
 * that decide nothing any more. */
#include "stream.h"

#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/eventfd.h>

#define GPU_EXCEPTION 0xC01E0200u

static D3DKMT_HANDLE make_plain(D3DKMT_HANDLE device, D3DDDI_SYNCHRONIZATIONOBJECT_TYPE type, uint64_t value) {
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.hDevice = device};
	c.Info.Type = type;
	if (type == D3DDDI_FENCE) c.Info.Fence.FenceValue = value;
	OK(D3DKMTCreateSynchronizationObject2(&c));
	return c.hSyncObject;
}

static NTSTATUS gpu_signal(D3DKMT_HANDLE context, D3DKMT_HANDLE object, uint64_t *values) {
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU s = {.hContext = context, .ObjectCount = 1, .ObjectHandleArray = &object, .MonitoredFenceValueArray = values};
	return D3DKMTSignalSynchronizationObjectFromGpu(&s);
}

static NTSTATUS gpu_wait(D3DKMT_HANDLE context, D3DKMT_HANDLE object, uint64_t *values) {
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU w = {.hContext = context, .ObjectCount = 1, .ObjectHandleArray = &object, .MonitoredFenceValueArray = values};
	return D3DKMTWaitForSynchronizationObjectFromGpu(&w);
}

static bool set(int event) {
	uint64_t n = 0;
	return read(event, &n, sizeof n) == sizeof n && n == 1;
}

/* The union of FromGpu, WaitFromGpu and FromGpu2: an array, a value, an event. */
static void unions(D3DKMT_HANDLE d) {
	volatile uint64_t *view;
	D3DKMT_HANDLE c = make_context(d, 0), f = make_fence(d, PRIVATE, 0, &view), old = make_plain(d, D3DDDI_FENCE, 3);
	uint64_t five = 5, six = 6;
	OK(gpu_signal(c, f, &five));
	OK(wait_fence(d, f, 5));
	STATUS(gpu_signal(c, f, NULL), INVALID_PARAMETER);
	STATUS(gpu_signal(c, f, (uint64_t *)8), INVALID_PARAMETER);
	/* A fence of Windows 7 has its value where the address would be, but for FromGpu. */
	OK(gpu_wait(c, old, (uint64_t *)3));
	OK(gpu_wait(c, old, (uint64_t *)6));
	OK(gpu_signal(c, f, &six));
	D3DKMT_HANDLE other = make_context(d, 0);
	STATUS(gpu_signal(other, old, (uint64_t *)8), INVALID_PARAMETER);
	OK(gpu_signal(other, old, &six));
	OK(wait_fence(d, f, 6));
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2 s = {.ObjectCount = 1, .ObjectHandleArray = &old, .BroadcastContextCount = 1, .BroadcastContextArray = &c};
	s.FenceValue = 9;
	OK(D3DKMTSignalSynchronizationObjectFromGpu2(&s));
	OK(gpu_wait(other, old, (uint64_t *)9));
	uint64_t seven = 7;
	OK(gpu_signal(other, f, &seven));
	OK(wait_fence(d, f, 7));

	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	CHECK(event > 0);
	s = (D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2){.BroadcastContextCount = 1, .BroadcastContextArray = &c, .CpuEventHandle = (HANDLE)(intptr_t)event};
	s.Flags.EnqueueCpuEvent = 1;
	OK(D3DKMTSignalSynchronizationObjectFromGpu2(&s));
	OK(idle(d));
	CHECK(set(event));
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 t = {.hContext = c, .CpuEventHandle = (HANDLE)(intptr_t)event};
	t.Flags.EnqueueCpuEvent = 1;
	OK(D3DKMTSignalSynchronizationObject2(&t));
	OK(idle(d));
	CHECK(set(event));
	t.CpuEventHandle = (HANDLE)(intptr_t)1000;
	STATUS(D3DKMTSignalSynchronizationObject2(&t), INVALID_HANDLE);
	t.CpuEventHandle = 0;
	STATUS(D3DKMTSignalSynchronizationObject2(&t), INVALID_HANDLE);
	close(event);
}

/* The first versions have no value, and no event. */
static void first_versions(D3DKMT_HANDLE d) {
	D3DKMT_HANDLE c = make_context(d, 0), m = make_plain(d, D3DDDI_SYNCHRONIZATION_MUTEX, 0), old = make_plain(d, D3DDDI_FENCE, 0);
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECT w = {.hContext = c, .ObjectCount = 1, .ObjectHandleArray = {m}};
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECT s = {.hContext = c, .ObjectCount = 1, .ObjectHandleArray = {m}};
	OK(D3DKMTWaitForSynchronizationObject(&w));
	OK(D3DKMTSignalSynchronizationObject(&s));
	OK(D3DKMTWaitForSynchronizationObject(&w));
	OK(idle(d));
	w.ObjectHandleArray[0] = s.ObjectHandleArray[0] = old;
	STATUS(D3DKMTWaitForSynchronizationObject(&w), INVALID_PARAMETER);
	STATUS(D3DKMTSignalSynchronizationObject(&s), INVALID_PARAMETER);
	s.ObjectHandleArray[0] = m;
	s.Flags.EnqueueCpuEvent = 1;
	STATUS(D3DKMTSignalSynchronizationObject(&s), INVALID_PARAMETER);
	w.ObjectCount = 33;
	STATUS(D3DKMTWaitForSynchronizationObject(&w), INVALID_PARAMETER);
	STATUS(D3DKMTSignalSynchronizationObject(NULL), INVALID_PARAMETER);
	STATUS(D3DKMTWaitForSynchronizationObject(NULL), INVALID_PARAMETER);
}

static void sync_files(D3DKMT_HANDLE d) {
	D3DKMT_HANDLE f = make_fence(d, PRIVATE, 0, NULL);
	D3DKMT_CREATESYNCFILE c = {.hDevice = d, .hMonitoredFence = f, .FenceValue = 2};
	OK(D3DKMTCreateSyncFile(&c));
	struct pollfd p = {.fd = (int)c.hSyncFile, .events = POLLIN};
	CHECK(p.fd > 0);
	EQUAL(poll(&p, 1, 0), 0);
	OK(signal_fence(d, f, 2));
	EQUAL(poll(&p, 1, -1), 1);
	uint32_t st = 1;
	EQUAL(read(p.fd, &st, sizeof st), sizeof st);
	EQUAL(st, 0);
	EQUAL(poll(&p, 1, -1), 1);
	close(p.fd);
	c.hSyncFile = 77;
	c.hMonitoredFence = d;
	STATUS(D3DKMTCreateSyncFile(&c), INVALID_PARAMETER);
	EQUAL(c.hSyncFile, 77);
}

/* WaitForIdle ends with the work that it waits for, and with the device. */
static void idling(D3DKMT_HANDLE d) {
	D3DKMT_HANDLE c = make_context(d, 0), f = make_fence(d, PRIVATE, 0, NULL), done = make_fence(d, PRIVATE, 0, NULL);
	uint64_t one = 1;
	OK(gpu_wait(c, f, &one));
	OK(gpu_signal(c, done, &one));
	struct wait_args a = {d, 0, 0};
	pthread_t t = begin(&a);
	OK(signal_fence(d, f, 1));
	EQUAL(end(t), 0);
	OK(wait_fence(d, done, 1));
}

/* A lost device: its fences read the maximum unless they are to stay, and calls are
 * refused, whatever memory would say. Another device goes on with what stayed. */
static void loss(D3DKMT_HANDLE healthy) {
	D3DKMT_HANDLE d = open_device(), c = make_context(d, 0);
	volatile uint64_t *view, *kept_view;
	D3DKMT_HANDLE f = make_fence(d, PRIVATE, 5, &view), kept = make_fence(d, SHARED | 0x40, 5, &kept_view), held = make_fence(d, PRIVATE, 0, NULL);
	int fd = share_fence(kept, ALL_ACCESS);
	D3DKMT_HANDLE theirs = open_fence(healthy, fd, 0, NULL);
	close(fd);
	uint64_t nine = 9;
	OK(gpu_wait(c, held, &nine));
	struct wait_args waiter = {d, f, 6}, patient = {d, kept, 8}, idler = {d, 0, 0};
	pthread_t t = begin(&waiter), u = begin(&patient), v = begin(&idler);
	OK(wait_fence(d, kept, 5));
	/* Both stand in their pages; whoever begins later would be refused. */
	while (!view[1] || !kept_view[1]) sched_yield();
	D3DKMT_MARKDEVICEASERROR mark = {.hDevice = d, .Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC};
	OK(D3DKMTMarkDeviceAsError(&mark));
	EQUAL(end(t), 0);
	EQUAL(end(v), DEVICE_REMOVED);
	EQUAL(*view, UINT64_MAX);
	EQUAL(*kept_view, 5);
	STATUS(signal_fence(d, f, UINT64_MAX), DEVICE_REMOVED);
	STATUS(wait_fence(d, f, 1), DEVICE_REMOVED);
	STATUS(signal_fence(d, kept, 5), DEVICE_REMOVED);
	STATUS(signal_fence(d, kept, 7), DEVICE_REMOVED);
	STATUS(wait_fence(d, kept, 5), DEVICE_REMOVED);
	STATUS(waits(d, 2, (D3DKMT_HANDLE[]){f, kept}, (uint64_t[]){1, 1}, ANY, 0), DEVICE_REMOVED);
	EQUAL(*kept_view, 5);
	STATUS(D3DKMTSubmitCommand(&(D3DKMT_SUBMITCOMMAND){.BroadcastContextCount = 1, .BroadcastContext = {c}}), GPU_EXCEPTION);
	OK(wait_fence(healthy, theirs, 5));
	OK(signal_fence(healthy, theirs, 7));
	EQUAL(*kept_view, 7);
	STATUS(signal_fence(healthy, theirs, 6), INVALID_PARAMETER);
	OK(signal_fence(healthy, theirs, 8));
	EQUAL(end(u), 0); /* it waited before */
	D3DKMT_GETDEVICESTATE state = {.hDevice = d, .StateType = D3DKMT_DEVICESTATE_EXECUTION};
	OK(D3DKMTGetDeviceState(&state));
	EQUAL(state.ExecutionState, D3DKMT_DEVICEEXECUTION_HUNG);
	OK(destroy_fence(f));
	OK(destroy_device(d));
	OK(destroy_fence(theirs));
}

int main(void) {
	D3DKMT_HANDLE d = open_device();
	unions(d);
	first_versions(d);
	sync_files(d);
	idling(d);
	loss(d);
	OK(destroy_device(d));
	return 0;
}
