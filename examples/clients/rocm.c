/* librocdxg: ROCm on WSL. Loads libdxcore by name and gives up if a function is missing.
 * Keeps the largest paging value of several operations and waits for it, also when there
 * is none; has an event that the driver sets; runs a kernel on a context with a packet
 * signal and another on a hardware queue that writes its own progress. */
#include "client.h"

#include <poll.h>
#include <sys/eventfd.h>

#define NAMES(X)                                                                                    \
	X(EnumAdapters2) X(CloseAdapter) X(QueryAdapterInfo) X(CreateDevice) X(DestroyDevice) X(Escape)  \
	X(CreatePagingQueue) X(DestroyPagingQueue) X(ReserveGpuVirtualAddress) X(MapGpuVirtualAddress)   \
	X(FreeGpuVirtualAddress) X(CreateAllocation2) X(DestroyAllocation2) X(MakeResident) X(Evict)     \
	X(Lock2) X(Unlock2) X(CreateContextVirtual) X(DestroyContext) X(CreateHwQueue) X(DestroyHwQueue) \
	X(SubmitCommand) X(SubmitCommandToHwQueue) X(CreateSynchronizationObject2)                       \
	X(DestroySynchronizationObject) X(SignalSynchronizationObjectFromCpu)                            \
	X(SignalSynchronizationObjectFromGpu) X(WaitForSynchronizationObjectFromCpu)                     \
	X(WaitForSynchronizationObjectFromGpu) X(ShareObjects) X(QueryVideoMemoryInfo)                   \
	X(QueryClockCalibration)

static struct {
	NAMES(CLIENT_POINTER)
} api;

static D3DKMT_HANDLE device, paging_fence;
static uint64_t paging; /* the largest value so far */

static void wait_on(const char *what, D3DKMT_HANDLE fence, uint64_t value) {
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU w = {.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &fence, .FenceValueArray = &value};
	MUST(what, api.WaitForSynchronizationObjectFromCpu(&w));
}

static void note(uint64_t value) {
	if (value > paging) paging = value;
}

struct memory {
	D3DKMT_HANDLE allocation;
	uint64_t address;
	void *data;
};

static struct memory make_memory(D3DKMT_HANDLE queue, uint64_t size) {
	D3DDDI_RESERVEGPUVIRTUALADDRESS r = {.hPagingQueue = queue, .Size = size};
	MUST("ReserveGpuVirtualAddress", api.ReserveGpuVirtualAddress(&r));
	insist("reservation", r.VirtualAddress != 0);
	struct driver_data data = describe(size);
	D3DDDI_ALLOCATIONINFO2 a = {.pPrivateDriverData = &data, .PrivateDriverDataSize = sizeof data};
	D3DKMT_CREATEALLOCATION c = {.hDevice = device, .NumAllocations = 1, .pAllocationInfo2 = &a};
	MUST("CreateAllocation2", api.CreateAllocation2(&c));
	D3DDDI_MAPGPUVIRTUALADDRESS m = {.hPagingQueue = queue, .BaseAddress = r.VirtualAddress, .hAllocation = a.hAllocation, .SizeInPages = size / PAGE};
	m.Protection.Write = m.Protection.Execute = 1;
	if (MAY_PEND("MapGpuVirtualAddress", api.MapGpuVirtualAddress(&m)) == PENDING) note(m.PagingFenceValue);
	insist("mapped where it was reserved", m.VirtualAddress == r.VirtualAddress);
	D3DDDI_MAKERESIDENT res = {.hPagingQueue = queue, .NumAllocations = 1, .AllocationList = &a.hAllocation};
	if (MAY_PEND("MakeResident", api.MakeResident(&res)) == PENDING) note(res.PagingFenceValue);
	D3DKMT_LOCK2 l = {.hDevice = device, .hAllocation = a.hAllocation};
	MUST("Lock2", api.Lock2(&l));
	insist("memory", l.pData != NULL);
	return (struct memory){a.hAllocation, m.VirtualAddress, l.pData};
}

static D3DKMT_CREATESYNCHRONIZATIONOBJECT2 make_object(D3DDDI_SYNCHRONIZATIONOBJECT_TYPE type, unsigned flags, int event) {
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.hDevice = device};
	c.Info.Type = type;
	c.Info.Flags.Value = flags;
	if (event) c.Info.CPUNotification.Event = (HANDLE)(intptr_t)event;
	MUST("CreateSynchronizationObject2", api.CreateSynchronizationObject2(&c));
	return c;
}

/* A context with a fence that a packet signals. */
static void software_queue(const struct memory *m) {
	D3DKMT_CREATECONTEXTVIRTUAL c = {.hDevice = device, .NodeOrdinal = 1, .EngineAffinity = 1};
	MUST("CreateContextVirtual", api.CreateContextVirtual(&c));
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 f = make_object(D3DDDI_MONITORED_FENCE, 0, 0);
	struct dxgsync_cmdbuf b;
	uint64_t *result = (uint64_t *)((char *)m->data + PAGE);
	dxgsync_cmdbuf_begin(&b, m->data, PAGE);
	dxgsync_cmdbuf_write64(&b, m->address + PAGE, 42);
	D3DKMT_SUBMITCOMMAND s = {.Commands = m->address, .CommandLength = (UINT)dxgsync_cmdbuf_size(&b), .BroadcastContextCount = 1, .BroadcastContext = {c.hContext}};
	MUST("SubmitCommand", api.SubmitCommand(&s));
	uint64_t one = 1;
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU g = {.hContext = c.hContext, .ObjectCount = 1, .ObjectHandleArray = &f.hSyncObject, .MonitoredFenceValueArray = &one};
	MUST("SignalSynchronizationObjectFromGpu", api.SignalSynchronizationObjectFromGpu(&g));
	wait_on("wait for the packet", f.hSyncObject, 1);
	insist("what the GPU wrote", *(volatile uint64_t *)result == 42);
	MUST("DestroySynchronizationObject", api.DestroySynchronizationObject(&(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){.hSyncObject = f.hSyncObject}));
	MUST("DestroyContext", api.DestroyContext(&(D3DKMT_DESTROYCONTEXT){.hContext = c.hContext}));
}

/* A hardware queue, whose commands write its progress at their end; ids may skip. */
static void hardware_queue(const struct memory *m) {
	D3DKMT_CREATECONTEXTVIRTUAL c = {.hDevice = device, .NodeOrdinal = 1, .EngineAffinity = 1};
	c.Flags.HwQueueSupported = 1;
	MUST("CreateContextVirtual, HwQueueSupported", api.CreateContextVirtual(&c));
	D3DKMT_CREATEHWQUEUE q = {.hHwContext = c.hContext};
	MUST("CreateHwQueue", api.CreateHwQueue(&q));
	const volatile uint64_t *progress = (const volatile uint64_t *)q.HwQueueProgressFenceCPUVirtualAddress;
	insist("progress begins at 0", progress && *progress == 0 && q.HwQueueProgressFenceGPUVirtualAddress);
	static const uint64_t ids[] = {5, 17};
	for (int i = 0; i < 2; i++) {
		struct dxgsync_cmdbuf b;
		dxgsync_cmdbuf_begin(&b, (char *)m->data + 2 * i * PAGE, PAGE);
		dxgsync_cmdbuf_signal(&b, q.HwQueueProgressFenceGPUVirtualAddress, ids[i]);
		D3DKMT_SUBMITCOMMANDTOHWQUEUE s = {.hHwQueue = q.hHwQueue, .HwQueueProgressFenceId = ids[i], .CommandBuffer = m->address + (uint64_t)(2 * i * PAGE), .CommandLength = (UINT)dxgsync_cmdbuf_size(&b)};
		MUST("SubmitCommandToHwQueue", api.SubmitCommandToHwQueue(&s));
	}
	wait_on("wait for progress 17", q.hHwQueueProgressFence, 17);
	insist("progress", *progress == 17);
	MUST("DestroyHwQueue", api.DestroyHwQueue(&(D3DKMT_DESTROYHWQUEUE){.hHwQueue = q.hHwQueue}));
	MUST("DestroyContext", api.DestroyContext(&(D3DKMT_DESTROYCONTEXT){.hContext = c.hContext}));
}

/* An event for a wait that is begun, and its descriptor closed at once. */
static void asynchronous(void) {
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 f = make_object(D3DDDI_MONITORED_FENCE, 0, 0);
	int event = eventfd(0, EFD_CLOEXEC), copy = dup(event);
	uint64_t v = 9, n = 0;
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU w = {.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &f.hSyncObject, .FenceValueArray = &v, .hAsyncEvent = (HANDLE)(intptr_t)event};
	MUST("WaitForSynchronizationObjectFromCpu", api.WaitForSynchronizationObjectFromCpu(&w));
	close(event);
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU s = {.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &f.hSyncObject, .FenceValueArray = &v};
	MUST("SignalSynchronizationObjectFromCpu", api.SignalSynchronizationObjectFromCpu(&s));
	insist("event, once", read(copy, &n, sizeof n) == sizeof n && n == 1);
	insist("page", *(const volatile uint64_t *)f.Info.MonitoredFence.FenceValueCPUVirtualAddress == 9);
	close(copy);
}

int main(void) {
	void *library = load_library();
	NAMES(CLIENT_LOAD)

	D3DKMT_ENUMADAPTERS2 e = {0};
	MUST("EnumAdapters2 for the count", api.EnumAdapters2(&e));
	D3DKMT_ADAPTERINFO *info = calloc(e.NumAdapters, sizeof *info);
	e.pAdapters = info;
	MUST("EnumAdapters2", api.EnumAdapters2(&e));
	insist("an adapter", e.NumAdapters >= 1);
	D3DKMT_PHYSICAL_ADAPTER_COUNT count = {0};
	D3DKMT_QUERYADAPTERINFO qi = {.hAdapter = info[0].hAdapter, .Type = KMTQAITYPE_PHYSICALADAPTERCOUNT, .pPrivateDriverData = &count, .PrivateDriverDataSize = sizeof count};
	MUST("QueryAdapterInfo 30", api.QueryAdapterInfo(&qi));
	insist("a physical adapter", count.Count >= 1);
	D3DKMT_QUERY_DEVICE_IDS ids = {0};
	qi.Type = KMTQAITYPE_PHYSICALADAPTERDEVICEIDS;
	qi.pPrivateDriverData = &ids;
	qi.PrivateDriverDataSize = sizeof ids;
	MUST("QueryAdapterInfo 31", api.QueryAdapterInfo(&qi));
	insist("a vendor", ids.DeviceIds.VendorID != 0);
	D3DKMT_CREATEDEVICE d = {.hAdapter = info[0].hAdapter};
	MUST("CreateDevice", api.CreateDevice(&d));
	device = d.hDevice;
	char question[256] = {0};
	D3DKMT_ESCAPE escape = {.hAdapter = info[0].hAdapter, .hDevice = device, .pPrivateDriverData = question, .PrivateDriverDataSize = sizeof question};
	TRY("Escape", api.Escape(&escape));

	D3DKMT_CREATEPAGINGQUEUE q = {.hDevice = device};
	MUST("CreatePagingQueue", api.CreatePagingQueue(&q));
	insist("paging queue and fence", q.hPagingQueue && q.hSyncObject && q.FenceValueCPUVirtualAddress);
	paging_fence = q.hSyncObject;
	wait_on("wait for value 0", paging_fence, 0);
	struct memory a = make_memory(q.hPagingQueue, 16 * PAGE), b = make_memory(q.hPagingQueue, 64 * PAGE);
	wait_on("wait for the largest paging value", paging_fence, paging);
	insist("paging page", *(const volatile uint64_t *)q.FenceValueCPUVirtualAddress >= paging);

	int event = eventfd(0, EFD_CLOEXEC);
	make_object(D3DDDI_CPU_NOTIFICATION, 0x100, event); /* the driver sets it: SignalByKmd */
	D3DKMT_ESCAPE usage = {.hAdapter = info[0].hAdapter, .hDevice = device, .pPrivateDriverData = question, .PrivateDriverDataSize = sizeof question};
	TRY("Escape, use of a CPU event", api.Escape(&usage));
	software_queue(&a);
	hardware_queue(&b);
	asynchronous();

	MUST("DestroyAllocation2", api.DestroyAllocation2(&(D3DKMT_DESTROYALLOCATION2){.hDevice = device, .phAllocationList = &a.allocation, .AllocationCount = 1}));
	MUST("DestroyPagingQueue", api.DestroyPagingQueue(&(D3DDDI_DESTROYPAGINGQUEUE){.hPagingQueue = q.hPagingQueue}));
	MUST("DestroyDevice", api.DestroyDevice(&(D3DKMT_DESTROYDEVICE){.hDevice = device}));
	for (UINT i = 0; i < e.NumAdapters; i++) MUST("CloseAdapter", api.CloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = info[i].hAdapter}));
	free(info);
	return 0;
}
