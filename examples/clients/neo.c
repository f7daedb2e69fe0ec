/* NEO, Intel's compute runtime: finds its adapter through DXCore, by a description it
 * knows; cannot do without the driver's private answer (type 0); has its memory in pages
 * of its own; makes every submission wait for paging on the GPU; waits for a value by
 * looking at the page for 20 microseconds, then with a blocking call. A value of all ones
 * means that the device is gone. */
#include "client.h"

#include <sys/mman.h>

#include <dxg/dxcore.h>

#define NAMES(X)                                                                                          \
	X(OpenAdapterFromLuid) X(CloseAdapter) X(QueryAdapterInfo) X(CreateDevice) X(DestroyDevice)            \
	X(GetDeviceState) X(Escape) X(CreatePagingQueue) X(DestroyPagingQueue) X(ReserveGpuVirtualAddress)     \
	X(MapGpuVirtualAddress) X(FreeGpuVirtualAddress) X(UpdateGpuVirtualAddress) X(CreateAllocation)        \
	X(CreateAllocation2) X(DestroyAllocation2) X(MakeResident) X(Evict) X(Lock2) X(Unlock2)                \
	X(CreateContextVirtual) X(DestroyContext) X(CreateHwQueue) X(DestroyHwQueue) X(SubmitCommand)          \
	X(SubmitCommandToHwQueue) X(CreateSynchronizationObject) X(CreateSynchronizationObject2)               \
	X(DestroySynchronizationObject) X(SignalSynchronizationObject) X(WaitForSynchronizationObject)         \
	X(WaitForSynchronizationObjectFromCpu) X(SignalSynchronizationObjectFromCpu)                           \
	X(WaitForSynchronizationObjectFromGpu) X(SignalSynchronizationObjectFromGpu)                           \
	X(SetAllocationPriority) X(RegisterTrimNotification) X(UnregisterTrimNotification)

static struct {
	NAMES(CLIENT_POINTER)
} api;

typedef HRESULT create_factory(REFIID, void **);

static D3DKMT_HANDLE device, paging_fence;
static uint64_t paging;
static const volatile uint64_t *paging_page;

static LUID find_adapter(void *library) {
	create_factory *create = (create_factory *)look_up(library, "DXCoreCreateAdapterFactory");
	IDXCoreAdapterFactory *factory;
	IDXCoreAdapterList *list;
	IDXCoreAdapter *adapter;
	LUID luid;
	char description[512] = "";
	MUST("DXCoreCreateAdapterFactory", create(&IID_IDXCoreAdapterFactory, (void **)&factory));
	MUST("CreateAdapterList", IDXCoreAdapterFactory_CreateAdapterList(factory, 1, &DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE, &IID_IDXCoreAdapterList, (void **)&list));
	insist("an adapter for computing", IDXCoreAdapterList_GetAdapterCount(list) >= 1);
	MUST("GetAdapter", IDXCoreAdapterList_GetAdapter(list, 0, &IID_IDXCoreAdapter, (void **)&adapter));
	MUST("DriverDescription", IDXCoreAdapter_GetProperty(adapter, DXCoreAdapterProperty_DriverDescription, sizeof description, description));
	insist("a description it knows", strstr(description, "Intel") || strstr(description, "Citrix") || strstr(description, "Virtual Render"));
	MUST("InstanceLuid", IDXCoreAdapter_GetProperty(adapter, DXCoreAdapterProperty_InstanceLuid, sizeof luid, &luid));
	IDXCoreAdapter_Release(adapter);
	IDXCoreAdapterList_Release(list);
	IDXCoreAdapterFactory_Release(factory);
	return luid;
}

/* The whole of the driver's answer, however long it is: NEO knows its own. */
static void ask_driver(D3DKMT_HANDLE adapter) {
	static char answer[65536];
	uint32_t st = 1;
	size_t size = 1;
	for (; size <= sizeof answer; size *= 2) {
		D3DKMT_QUERYADAPTERINFO q = {.hAdapter = adapter, .Type = KMTQAITYPE_UMDRIVERPRIVATE, .pPrivateDriverData = answer, .PrivateDriverDataSize = (UINT)size};
		if ((st = (uint32_t)api.QueryAdapterInfo(&q)) == SUCCESS) break;
	}
	step("QueryAdapterInfo 0", st, st == SUCCESS);
	D3DKMT_ADAPTERTYPE type = {0};
	D3DKMT_QUERYADAPTERINFO q = {.hAdapter = adapter, .Type = KMTQAITYPE_ADAPTERTYPE, .pPrivateDriverData = &type, .PrivateDriverDataSize = sizeof type};
	MUST("QueryAdapterInfo 15", api.QueryAdapterInfo(&q));
	insist("it renders", type.RenderSupported);
}

/* First the page, then the kernel. */
static void wait_for(const char *what, const volatile uint64_t *page, D3DKMT_HANDLE fence, uint64_t value) {
	int64_t end = nanoseconds() + 20000;
	while (*page < value && nanoseconds() < end) {}
	if (*page < value) {
		D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU w = {.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &fence, .FenceValueArray = &value};
		MUST(what, api.WaitForSynchronizationObjectFromCpu(&w));
	}
	insist(what, *page >= value && *page != UINT64_MAX);
}

static uint64_t map(D3DKMT_HANDLE queue, void *memory, uint64_t size) {
	struct driver_data data = describe(size);
	D3DDDI_ALLOCATIONINFO2 a = {.pSystemMem = memory, .pPrivateDriverData = &data, .PrivateDriverDataSize = sizeof data};
	D3DKMT_CREATEALLOCATION c = {.hDevice = device, .NumAllocations = 1, .pAllocationInfo2 = &a};
	c.Flags.ExistingSysMem = 1;
	MUST("CreateAllocation2, existing memory", api.CreateAllocation2(&c));
	D3DDDI_MAPGPUVIRTUALADDRESS m = {.hPagingQueue = queue, .hAllocation = a.hAllocation, .SizeInPages = size / PAGE};
	m.Protection.Write = m.Protection.Execute = 1;
	if (MAY_PEND("MapGpuVirtualAddress", api.MapGpuVirtualAddress(&m)) == PENDING && m.PagingFenceValue > paging) paging = m.PagingFenceValue;
	D3DDDI_MAKERESIDENT r = {.hPagingQueue = queue, .NumAllocations = 1, .AllocationList = &a.hAllocation};
	if (MAY_PEND("MakeResident", api.MakeResident(&r)) == PENDING && r.PagingFenceValue > paging) paging = r.PagingFenceValue;
	return m.VirtualAddress;
}

static void gpu_waits_for_paging(D3DKMT_HANDLE context) {
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU w = {.hContext = context, .ObjectCount = 1, .ObjectHandleArray = &paging_fence, .MonitoredFenceValueArray = &paging};
	MUST("wait for paging on the GPU", api.WaitForSynchronizationObjectFromGpu(&w));
}

/* Software scheduling: the commands write the fence, first value 1. */
static void by_context(void *memory, uint64_t address) {
	D3DKMT_CREATECONTEXTVIRTUAL c = {.hDevice = device, .NodeOrdinal = 1, .EngineAffinity = 1, .ClientHint = D3DKMT_CLIENTHINT_ONEAPI_LEVEL0};
	MUST("CreateContextVirtual", api.CreateContextVirtual(&c));
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 f = {.hDevice = device};
	f.Info.Type = D3DDDI_MONITORED_FENCE;
	MUST("CreateSynchronizationObject2", api.CreateSynchronizationObject2(&f));
	const volatile uint64_t *page = (const volatile uint64_t *)f.Info.MonitoredFence.FenceValueCPUVirtualAddress;
	insist("the fence begins at 0", *page == 0);
	for (uint64_t value = 1; value <= 3; value++) {
		struct dxgsync_cmdbuf b;
		dxgsync_cmdbuf_begin(&b, memory, PAGE);
		dxgsync_cmdbuf_write64(&b, address + PAGE, value);
		dxgsync_cmdbuf_signal(&b, f.Info.MonitoredFence.FenceValueGPUVirtualAddress, value);
		gpu_waits_for_paging(c.hContext);
		D3DKMT_SUBMITCOMMAND s = {.Commands = address, .CommandLength = (UINT)dxgsync_cmdbuf_size(&b), .BroadcastContextCount = 1, .BroadcastContext = {c.hContext}};
		MUST("SubmitCommand", api.SubmitCommand(&s));
		wait_for("wait for the commands", page, f.hSyncObject, value);
		insist("what the GPU wrote", *(volatile uint64_t *)((char *)memory + PAGE) == value);
	}
	MUST("DestroySynchronizationObject", api.DestroySynchronizationObject(&(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){.hSyncObject = f.hSyncObject}));
	MUST("DestroyContext", api.DestroyContext(&(D3DKMT_DESTROYCONTEXT){.hContext = c.hContext}));
}

/* Hardware scheduling: the queue's progress fence instead. */
static void by_hw_queue(void *memory, uint64_t address) {
	D3DKMT_CREATECONTEXTVIRTUAL c = {.hDevice = device, .NodeOrdinal = 1, .EngineAffinity = 1, .ClientHint = D3DKMT_CLIENTHINT_ONEAPI_LEVEL0};
	c.Flags.HwQueueSupported = 1;
	MUST("CreateContextVirtual, HwQueueSupported", api.CreateContextVirtual(&c));
	D3DKMT_CREATEHWQUEUE q = {.hHwContext = c.hContext};
	MUST("CreateHwQueue", api.CreateHwQueue(&q));
	for (uint64_t value = 1; value <= 3; value++) {
		struct dxgsync_cmdbuf b;
		dxgsync_cmdbuf_begin(&b, memory, PAGE);
		dxgsync_cmdbuf_signal(&b, q.HwQueueProgressFenceGPUVirtualAddress, value);
		D3DKMT_SUBMITCOMMANDTOHWQUEUE s = {.hHwQueue = q.hHwQueue, .HwQueueProgressFenceId = value, .CommandBuffer = address, .CommandLength = (UINT)dxgsync_cmdbuf_size(&b)};
		MUST("SubmitCommandToHwQueue", api.SubmitCommandToHwQueue(&s));
		wait_for("wait for progress", (const volatile uint64_t *)q.HwQueueProgressFenceCPUVirtualAddress, q.hHwQueueProgressFence, value);
	}
	MUST("DestroyHwQueue", api.DestroyHwQueue(&(D3DKMT_DESTROYHWQUEUE){.hHwQueue = q.hHwQueue}));
	MUST("DestroyContext", api.DestroyContext(&(D3DKMT_DESTROYCONTEXT){.hContext = c.hContext}));
}

int main(void) {
	/* The real one asks for /usr/lib/wsl/lib/libdxcore.so and nothing else. */
	void *library = load_library();
	NAMES(CLIENT_LOAD)
	D3DKMT_OPENADAPTERFROMLUID o = {.AdapterLuid = find_adapter(library)};
	MUST("OpenAdapterFromLuid", api.OpenAdapterFromLuid(&o));
	ask_driver(o.hAdapter);
	D3DKMT_CREATEDEVICE d = {.hAdapter = o.hAdapter};
	d.Flags.DisableGpuTimeout = 1;
	MUST("CreateDevice, DisableGpuTimeout", api.CreateDevice(&d));
	device = d.hDevice;
	D3DKMT_CREATEPAGINGQUEUE q = {.hDevice = device};
	MUST("CreatePagingQueue", api.CreatePagingQueue(&q));
	paging_fence = q.hSyncObject;
	paging_page = (const volatile uint64_t *)q.FenceValueCPUVirtualAddress;
	insist("paging page", paging_page != NULL);
	D3DDDI_RESERVEGPUVIRTUALADDRESS r = {.hAdapter = o.hAdapter, .Size = 256 * PAGE};
	MUST("ReserveGpuVirtualAddress", api.ReserveGpuVirtualAddress(&r));
	char question[128] = {0};
	D3DKMT_ESCAPE escape = {.hAdapter = o.hAdapter, .hDevice = device, .pPrivateDriverData = question, .PrivateDriverDataSize = sizeof question};
	TRY("Escape", api.Escape(&escape));

	enum { SIZE = 16 * PAGE };
	void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	insist("memory", memory != MAP_FAILED);
	uint64_t address = map(q.hPagingQueue, memory, SIZE);
	by_context(memory, address);
	by_hw_queue(memory, address);

	D3DKMT_GETDEVICESTATE state = {.hDevice = device, .StateType = D3DKMT_DEVICESTATE_EXECUTION};
	MUST("GetDeviceState", api.GetDeviceState(&state));
	insist("an active device", state.ExecutionState == D3DKMT_DEVICEEXECUTION_ACTIVE);
	D3DKMT_FREEGPUVIRTUALADDRESS free_address = {.hAdapter = o.hAdapter, .BaseAddress = r.VirtualAddress, .Size = r.Size};
	MUST("FreeGpuVirtualAddress", api.FreeGpuVirtualAddress(&free_address));
	MUST("DestroyPagingQueue", api.DestroyPagingQueue(&(D3DDDI_DESTROYPAGINGQUEUE){.hPagingQueue = q.hPagingQueue}));
	MUST("DestroyDevice", api.DestroyDevice(&(D3DKMT_DESTROYDEVICE){.hDevice = device}));
	MUST("CloseAdapter", api.CloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = o.hAdapter}));
	return 0;
}
