/* The WDDM2 winsys of Mesa's RADV: monitored fences as timeline semaphores. Opens its
 * adapter twice; replaces functions that are missing; falls back from hardware queues;
 * waits only with events and poll, reads the pages and arms again; sets AllowFenceRewind
 * on every signal; takes a value of all ones, and a device that is not active, for loss. */
#include "client.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <dxg/dxcore.h>

#define NAMES(X)                                                                                       \
	X(OpenAdapterFromLuid) X(CloseAdapter) X(QueryAdapterInfo) X(QueryStatistics) X(CreateDevice)       \
	X(DestroyDevice) X(GetDeviceState) X(MarkDeviceAsError) X(CreatePagingQueue) X(DestroyPagingQueue)  \
	X(CreateContextVirtual) X(DestroyContext) X(CreateHwContext) X(CreateHwQueue) X(SubmitCommand)      \
	X(CreateSynchronizationObject2) X(DestroySynchronizationObject) X(ShareObjects)                     \
	X(OpenSyncObjectFromNtHandle2) X(SignalSynchronizationObjectFromCpu)                                \
	X(SignalSynchronizationObjectFromGpu2) X(WaitForSynchronizationObjectFromCpu)                       \
	X(WaitForSynchronizationObjectFromGpu)

static struct {
	NAMES(CLIENT_POINTER)
} api;

typedef HRESULT create_factory(REFIID, void **);

enum { REWIND = 4, ANY = 1, NODES_MOST = 32 };

static D3DKMT_HANDLE device;

struct timeline {
	D3DKMT_HANDLE fence;
	const volatile uint64_t *page;
};

static LUID find_adapter(void *library) {
	static const DXCoreAdapterProperty wanted[] = {DXCoreAdapterProperty_HardwareID, DXCoreAdapterProperty_InstanceLuid,
		DXCoreAdapterProperty_IsHardware, DXCoreAdapterProperty_DriverDescription, DXCoreAdapterProperty_DedicatedAdapterMemory,
		DXCoreAdapterProperty_DedicatedSystemMemory, DXCoreAdapterProperty_SharedSystemMemory};
	create_factory *create = (create_factory *)look_up(library, "DXCoreCreateAdapterFactory");
	IDXCoreAdapterFactory *factory;
	IDXCoreAdapterList *list;
	IDXCoreAdapter *adapter;
	LUID luid;
	MUST("DXCoreCreateAdapterFactory", create(&IID_IDXCoreAdapterFactory, (void **)&factory));
	MUST("CreateAdapterList", IDXCoreAdapterFactory_CreateAdapterList(factory, 1, &DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS, &IID_IDXCoreAdapterList, (void **)&list));
	insist("an adapter for graphics", IDXCoreAdapterList_GetAdapterCount(list) >= 1);
	MUST("GetAdapter", IDXCoreAdapterList_GetAdapter(list, 0, &IID_IDXCoreAdapter, (void **)&adapter));
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		size_t size = 0;
		static char value[4096];
		insist("a property it needs", IDXCoreAdapter_IsPropertySupported(adapter, wanted[i]));
		MUST("GetPropertySize", IDXCoreAdapter_GetPropertySize(adapter, wanted[i], &size));
		insist("its size", size && size <= sizeof value);
		MUST("GetProperty", IDXCoreAdapter_GetProperty(adapter, wanted[i], size, value));
	}
	MUST("InstanceLuid", IDXCoreAdapter_GetProperty(adapter, DXCoreAdapterProperty_InstanceLuid, sizeof luid, &luid));
	IDXCoreAdapter_Release(adapter);
	IDXCoreAdapterList_Release(list);
	IDXCoreAdapterFactory_Release(factory);
	return luid;
}

static uint32_t query(D3DKMT_HANDLE adapter, KMTQUERYADAPTERINFOTYPE type, void *data, size_t size) {
	D3DKMT_QUERYADAPTERINFO q = {.hAdapter = adapter, .Type = type, .pPrivateDriverData = data, .PrivateDriverDataSize = (UINT)size};
	return (uint32_t)api.QueryAdapterInfo(&q);
}

/* A node for graphics, which must be there. */
static UINT ask_adapter(D3DKMT_HANDLE adapter, LUID luid) {
	D3DKMT_QUERY_DEVICE_IDS ids = {0};
	D3DKMT_ADAPTERADDRESS address = {0};
	D3DKMT_SEGMENTSIZEINFO segments = {0};
	static D3DKMT_QUERYSTATISTICS statistics;
	static D3DKMT_ADAPTERREGISTRYINFO registry;
	UINT graphics = UINT32_MAX;
	MUST("QueryAdapterInfo 31", query(adapter, KMTQAITYPE_PHYSICALADAPTERDEVICEIDS, &ids, sizeof ids));
	TRY("QueryAdapterInfo 6", query(adapter, KMTQAITYPE_ADAPTERADDRESS, &address, sizeof address));
	MUST("QueryAdapterInfo 3", query(adapter, KMTQAITYPE_GETSEGMENTSIZE, &segments, sizeof segments));
	insist("memory", segments.DedicatedVideoMemorySize + segments.SharedSystemMemorySize > 0);
	statistics.AdapterLuid = luid;
	TRY("QueryStatistics", api.QueryStatistics(&statistics));
	for (UINT node = 0; node < NODES_MOST; node++) {
		D3DKMT_NODEMETADATA n = {.NodeOrdinalAndAdapterIndex = node};
		if (query(adapter, KMTQAITYPE_NODEMETADATA, &n, sizeof n) != SUCCESS) break;
		printf("  node %u is of type %u\n", node, (unsigned)n.NodeData.EngineType);
		if (n.NodeData.EngineType == DXGK_ENGINE_TYPE_3D && graphics == UINT32_MAX) graphics = node;
	}
	insist("a 3D node", graphics != UINT32_MAX);
	MUST("QueryAdapterInfo 54", query(adapter, KMTQAITYPE_ADAPTERREGISTRYINFO_RENDER, &registry, sizeof registry));
	insist("a product name", registry.AdapterString[0] != 0);
	return graphics;
}

static struct timeline make_timeline(unsigned flags, uint64_t initial) {
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.hDevice = device};
	c.Info.Type = D3DDDI_MONITORED_FENCE;
	c.Info.Flags.Value = flags;
	c.Info.MonitoredFence.InitialFenceValue = initial;
	MUST("CreateSynchronizationObject2", api.CreateSynchronizationObject2(&c));
	return (struct timeline){c.hSyncObject, (const volatile uint64_t *)c.Info.MonitoredFence.FenceValueCPUVirtualAddress};
}

static void signal_cpu(const struct timeline *t, uint64_t value) {
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU s = {.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &t->fence, .FenceValueArray = &value};
	s.Flags.Value = REWIND;
	MUST("SignalSynchronizationObjectFromCpu", api.SignalSynchronizationObjectFromCpu(&s));
	insist("the value at once", *t->page == value);
}

static bool reached(const struct timeline *t, const uint64_t *v, unsigned n, bool any) {
	unsigned met = 0;
	for (unsigned i = 0; i < n; i++) met += *t[i].page >= v[i];
	return any ? met > 0 : met == n;
}

/* Events may be early or old: look at the pages, and arm again. */
static bool wait_timelines(const struct timeline *t, const uint64_t *v, unsigned n, bool any, int timeout_ms) {
	D3DKMT_HANDLE fence[8];
	int64_t end = nanoseconds() + timeout_ms * INT64_C(1000000);
	for (unsigned i = 0; i < n; i++) fence[i] = t[i].fence;
	while (!reached(t, v, n, any)) {
		int64_t left = (end - nanoseconds()) / 1000000;
		struct pollfd p = {.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN};
		D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU w = {.hDevice = device, .ObjectCount = n, .ObjectHandleArray = fence, .FenceValueArray = v, .hAsyncEvent = (HANDLE)(intptr_t)p.fd};
		w.Flags.Value = any ? ANY : 0;
		MUST("WaitForSynchronizationObjectFromCpu", api.WaitForSynchronizationObjectFromCpu(&w));
		int ready = poll(&p, 1, left > 0 ? (int)left : 0);
		close(p.fd);
		if (ready == 0) return false;
	}
	return true;
}

static void signal_gpu(D3DKMT_HANDLE context, const struct timeline *t, uint64_t value) {
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2 s = {.ObjectCount = 1, .ObjectHandleArray = &t->fence, .BroadcastContextCount = 1, .BroadcastContextArray = &context, .MonitoredFenceValueArray = &value};
	s.Flags.Value = REWIND;
	MUST("SignalSynchronizationObjectFromGpu2", api.SignalSynchronizationObjectFromGpu2(&s));
}

static void wait_gpu(D3DKMT_HANDLE context, const struct timeline *t, uint64_t value) {
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU w = {.hContext = context, .ObjectCount = 1, .ObjectHandleArray = &t->fence, .MonitoredFenceValueArray = &value};
	MUST("WaitForSynchronizationObjectFromGpu", api.WaitForSynchronizationObjectFromGpu(&w));
}

static D3DKMT_HANDLE make_context(UINT node) {
	D3DKMT_CREATECONTEXTVIRTUAL c = {.hDevice = device, .NodeOrdinal = node, .EngineAffinity = 1, .ClientHint = D3DKMT_CLIENTHINT_VULKAN};
	c.Flags.DisableGpuTimeout = 1;
	MUST("CreateContextVirtual", api.CreateContextVirtual(&c));
	return c.hContext;
}

int main(void) {
	enum { SOON = 10000 };
	void *library = load_library();
	NAMES(CLIENT_LOAD)
	LUID luid = find_adapter(library);
	D3DKMT_OPENADAPTERFROMLUID o = {.AdapterLuid = luid};
	MUST("OpenAdapterFromLuid", api.OpenAdapterFromLuid(&o));
	UINT node = ask_adapter(o.hAdapter, luid);
	MUST("CloseAdapter", api.CloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = o.hAdapter}));
	MUST("OpenAdapterFromLuid", api.OpenAdapterFromLuid(&o));
	D3DKMT_CREATEDEVICE d = {.hAdapter = o.hAdapter};
	MUST("CreateDevice", api.CreateDevice(&d));
	device = d.hDevice;
	D3DKMT_CREATEPAGINGQUEUE q = {.hDevice = device};
	MUST("CreatePagingQueue", api.CreatePagingQueue(&q));
	D3DKMT_HANDLE c = make_context(node), other = make_context(node);
	D3DKMT_CREATEHWCONTEXT h = {.hDevice = device, .NodeOrdinal = node, .EngineAffinity = 1};
	uint32_t st = TRY("CreateHwContext, or fall back", api.CreateHwContext(&h));
	insist("the fallback", (int32_t)st < 0);

	struct timeline a = make_timeline(0, 0), b = make_timeline(0, 0);
	const struct timeline both[2] = {a, b};
	signal_cpu(&a, 3);
	insist("wait for what is reached", wait_timelines(&a, (uint64_t[]){3}, 1, false, 0));
	insist("wait in vain", !wait_timelines(&a, (uint64_t[]){4}, 1, false, 0));

	/* Wait before signal, over two contexts: the chain is held until it begins. */
	wait_gpu(c, &a, 5);
	D3DKMT_SUBMITCOMMAND s = {.BroadcastContextCount = 1, .BroadcastContext = {c}};
	MUST("SubmitCommand", api.SubmitCommand(&s));
	signal_gpu(c, &b, 1);
	wait_gpu(other, &b, 1);
	signal_gpu(other, &b, 2);
	insist("nothing yet", *b.page == 0);
	signal_cpu(&a, 5);
	insist("wait for the chain", wait_timelines(&b, (uint64_t[]){2}, 1, false, SOON));
	insist("wait for any", wait_timelines(both, (uint64_t[]){99, 2}, 2, true, SOON));
	insist("wait for all", wait_timelines(both, (uint64_t[]){5, 2}, 2, false, SOON));

	/* Used again from 0. */
	signal_cpu(&b, 0);
	signal_gpu(c, &b, 1);
	insist("after a rewind", wait_timelines(&b, (uint64_t[]){1}, 1, false, SOON));

	/* Imported as the D3D runtime shares them. */
	struct timeline shared = make_timeline(0x83, 7);
	HANDLE nt = NULL;
	MUST("ShareObjects", api.ShareObjects(1, &shared.fence, NULL, 0x001F0003, &nt));
	D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 open = {.hNtHandle = nt, .hDevice = device};
	open.Flags.Value = 0x83;
	MUST("OpenSyncObjectFromNtHandle2", api.OpenSyncObjectFromNtHandle2(&open));
	close((int)(intptr_t)nt);
	struct timeline imported = {open.hSyncObject, (const volatile uint64_t *)open.MonitoredFence.FenceValueCPUVirtualAddress};
	insist("no address for the GPU", open.MonitoredFence.FenceValueGPUVirtualAddress == 0 && imported.page && *imported.page == 7);
	signal_cpu(&imported, 8);
	insist("seen by the other view", *shared.page == 8);

	/* Loss: the values are all ones, the device says why, and calls are refused. */
	D3DKMT_GETDEVICESTATE state = {.hDevice = device, .StateType = D3DKMT_DEVICESTATE_EXECUTION};
	MUST("GetDeviceState", api.GetDeviceState(&state));
	insist("an active device", state.ExecutionState == D3DKMT_DEVICEEXECUTION_ACTIVE);
	D3DKMT_MARKDEVICEASERROR mark = {.hDevice = device, .Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC};
	MUST("MarkDeviceAsError", api.MarkDeviceAsError(&mark));
	insist("all ones", *a.page == UINT64_MAX && *imported.page == UINT64_MAX);
	MUST("GetDeviceState", api.GetDeviceState(&state));
	insist("a lost device", state.ExecutionState != D3DKMT_DEVICEEXECUTION_ACTIVE);
	state.StateType = D3DKMT_DEVICESTATE_PAGE_FAULT;
	MUST("GetDeviceState, page fault", api.GetDeviceState(&state));
	insist("no page fault", state.PageFaultState.FaultedVirtualAddress == 0);
	uint64_t v = 9;
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU late = {.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &a.fence, .FenceValueArray = &v};
	st = (uint32_t)api.SignalSynchronizationObjectFromCpu(&late);
	step("a signal on a lost device", st, st == DEVICE_REMOVED);
	MUST("DestroyDevice", api.DestroyDevice(&(D3DKMT_DESTROYDEVICE){.hDevice = device}));
	return 0; /* the adapter is never closed */
}
