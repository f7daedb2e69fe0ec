/* DXCore in C, as programs use it and as they should not: one neutral adapter. */
#include "dxcore.h"

#include <pthread.h>
#include <stdatomic.h>
#include <wchar.h>

static const GUID nonsense = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

static NTSTATUS close_adapter(D3DKMT_HANDLE h) {
	const D3DKMT_CLOSEADAPTER c = {.hAdapter = h};
	return D3DKMTCloseAdapter(&c);
}

/* Handles come one after the other. */
static D3DKMT_HANDLE next_handle(void) {
	D3DKMT_OPENADAPTERFROMLUID o = {.AdapterLuid = {.LowPart = 0x10000}};
	OK(D3DKMTOpenAdapterFromLuid(&o));
	OK(close_adapter(o.hAdapter));
	return o.hAdapter;
}

/* What a Vulkan driver asks: seven properties or the adapter is skipped. */
static void mesa(IDXCoreAdapterFactory *f) {
	IDXCoreAdapterList *l = list_of(f, GRAPHICS);
	EQUAL(IDXCoreAdapterList_GetAdapterCount(l), 1);
	IDXCoreAdapter *a = get(l, 0);
	DXCoreHardwareID id;
	property(a, DXCoreAdapterProperty_HardwareID, &id, 16);
	EQUAL(id.vendorID, 0xD36C);
	EQUAL(id.deviceID, 1);
	EQUAL(id.subSysID, 0x0001D36C);
	EQUAL(id.revision, 1);
	EQUAL(luid_of(a).LowPart, 0x10000);
	EQUAL(number(a, DXCoreAdapterProperty_IsHardware, 1), 1);
	describes(a, "dxgsync Virtual Render Device");
	EQUAL(number(a, DXCoreAdapterProperty_DedicatedAdapterMemory, 8), UINT64_C(8192) << 20);
	EQUAL(number(a, DXCoreAdapterProperty_DedicatedSystemMemory, 8), 0);
	EQUAL(number(a, DXCoreAdapterProperty_SharedSystemMemory, 8), UINT64_C(16384) << 20);
	IDXCoreAdapter_Release(a);
	EQUAL(IDXCoreAdapterList_Release(l), 0);
}

/* What a compute runtime does: list, LUID, open, device. */
static void neo(IDXCoreAdapterFactory *f) {
	IDXCoreAdapterList *l = list_of(f, COMPUTE);
	CHECK(IDXCoreAdapterList_GetAdapterCount(l) >= 1);
	IDXCoreAdapter *a = get(l, 0);
	D3DKMT_OPENADAPTERFROMLUID o = {.AdapterLuid = luid_of(a)};
	IDXCoreAdapter_Release(a);
	IDXCoreAdapterList_Release(l);
	OK(D3DKMTOpenAdapterFromLuid(&o));
	D3DKMT_ADAPTERTYPE type = {0};
	D3DKMT_QUERYADAPTERINFO q = {.hAdapter = o.hAdapter, .Type = KMTQAITYPE_ADAPTERTYPE, .pPrivateDriverData = &type, .PrivateDriverDataSize = sizeof type};
	OK(D3DKMTQueryAdapterInfo(&q));
	CHECK(type.RenderSupported);
	D3DKMT_CREATEDEVICE d = {.hAdapter = o.hAdapter};
	OK(D3DKMTCreateDevice(&d));
	OK(destroy_device(d.hDevice));
}

static void properties(IDXCoreAdapterFactory *f) {
	IDXCoreAdapterList *l = list_of(f, COMPUTE);
	IDXCoreAdapter *a = get(l, 0);
	DXCoreHardwareIDParts parts;
	size_t size = 77;
	char room[64];
	EQUAL(number(a, DXCoreAdapterProperty_DriverVersion, 8), UINT64_C(32) << 48 | 1);
	EQUAL(number(a, DXCoreAdapterProperty_KmdModelVersion, 4), 3200);
	EQUAL(number(a, DXCoreAdapterProperty_ComputePreemptionGranularity, 2), D3DKMDT_COMPUTE_PREEMPTION_THREAD_GROUP_BOUNDARY);
	EQUAL(number(a, DXCoreAdapterProperty_GraphicsPreemptionGranularity, 2), D3DKMDT_GRAPHICS_PREEMPTION_PRIMITIVE_BOUNDARY);
	EQUAL(number(a, DXCoreAdapterProperty_AcgCompatible, 1), 0);
	EQUAL(number(a, DXCoreAdapterProperty_IsIntegrated, 1), 0);
	EQUAL(number(a, DXCoreAdapterProperty_IsDetachable, 1), 0);
	EQUAL(number(a, DXCoreAdapterProperty_PhysicalAdapterCount, 4), 1);
	property(a, DXCoreAdapterProperty_HardwareIDParts, &parts, 20);
	CHECK(parts.vendorID == 0xD36C && parts.deviceID == 1 && parts.subSystemID == 1 && parts.subVendorID == 0xD36C && parts.revisionID == 1);
	for (uint32_t p = 18; p < 40; p++) {
		CHECK(!IDXCoreAdapter_IsPropertySupported(a, p));
		RESULT(IDXCoreAdapter_GetPropertySize(a, p, &size), DXGI_ERROR_INVALID_CALL);
		EQUAL(size, 77);
		RESULT(IDXCoreAdapter_GetProperty(a, p, sizeof room, room), DXGI_ERROR_INVALID_CALL);
	}
	RESULT(IDXCoreAdapter_GetPropertySize(a, DXCoreAdapterProperty_IsHardware, NULL), E_POINTER);

	/* Engines, which need an input. */
	void *more = NULL;
	FINE(IDXCoreAdapter_QueryInterface(a, &IID_IDXCoreAdapter1, &more));
	IDXCoreAdapter1 *b = more;
	uint32_t physical = 0, count = 0;
	RESULT(IDXCoreAdapter_GetProperty(a, DXCoreAdapterProperty_AdapterEngineCount, 4, &count), E_INVALIDARG);
	FINE(IDXCoreAdapter1_GetPropertyWithInput(b, DXCoreAdapterProperty_AdapterEngineCount, 4, &physical, 4, &count));
	EQUAL(count, 3);
	physical = 1;
	RESULT(IDXCoreAdapter1_GetPropertyWithInput(b, DXCoreAdapterProperty_AdapterEngineCount, 4, &physical, 4, &count), E_INVALIDARG);
	RESULT(IDXCoreAdapter1_GetPropertyWithInput(b, DXCoreAdapterProperty_AdapterEngineCount, 3, &physical, 4, &count), E_INVALIDARG);
	RESULT(IDXCoreAdapter1_GetPropertyWithInput(b, DXCoreAdapterProperty_AdapterEngineCount, 4, NULL, 4, &count), E_POINTER);
	RESULT(IDXCoreAdapter1_GetPropertyWithInput(b, DXCoreAdapterProperty_AdapterEngineCount, 4, &physical, 4, NULL), E_POINTER);
	static const wchar_t *const names[] = {L"3D", L"Compute", L"Copy"};
	for (uint32_t i = 0; i < 3; i++) {
		wchar_t name[32] = L"?";
		DXCoreEngineNamePropertyInput in = {.adapterEngineIndex = {0, i}};
		DXCoreEngineNamePropertyOutput out = {0};
		FINE(IDXCoreAdapter1_GetPropertyWithInput(b, DXCoreAdapterProperty_AdapterEngineName, sizeof in, &in, sizeof out, &out));
		EQUAL(out.engineNameLength, wcslen(names[i]) + 1);
		in.engineName = name;
		in.engineNameLength = out.engineNameLength - 1;
		RESULT(IDXCoreAdapter1_GetPropertyWithInput(b, DXCoreAdapterProperty_AdapterEngineName, sizeof in, &in, sizeof out, &out), E_INVALIDARG);
		CHECK(!wcscmp(name, L"?"));
		in.engineNameLength++;
		FINE(IDXCoreAdapter1_GetPropertyWithInput(b, DXCoreAdapterProperty_AdapterEngineName, sizeof in, &in, sizeof out, &out));
		CHECK(!wcscmp(name, names[i]));
		in.adapterEngineIndex.engineIndex = 3;
		RESULT(IDXCoreAdapter1_GetPropertyWithInput(b, DXCoreAdapterProperty_AdapterEngineName, sizeof in, &in, sizeof out, &out), E_INVALIDARG);
	}
	FINE(IDXCoreAdapter1_GetPropertyWithInput(b, DXCoreAdapterProperty_PhysicalAdapterCount, 0, NULL, 4, &count));
	EQUAL(count, 1);
	IDXCoreAdapter1_Release(b);
	IDXCoreAdapter_Release(a);
	IDXCoreAdapterList_Release(l);
}

static void states(IDXCoreAdapterFactory *f) {
	IDXCoreAdapterList *l = list_of(f, COMPUTE);
	IDXCoreAdapter *a = get(l, 0);
	uint8_t value[8];
	CHECK(IDXCoreAdapter_IsValid(a));
	for (uint32_t s = 0; s < 20; s++) {
		HRESULT refused = s <= 10 ? DXGI_ERROR_UNSUPPORTED : DXGI_ERROR_INVALID_CALL;
		EQUAL(IDXCoreAdapter_IsQueryStateSupported(a, s), s == 0);
		CHECK(!IDXCoreAdapter_IsSetStateSupported(a, s));
		memset(value, 0xEE, sizeof value);
		RESULT(IDXCoreAdapter_QueryState(a, s, 0, NULL, sizeof value, value), s ? refused : S_OK);
		EQUAL(value[0], s ? 0xEE : 0);
		EQUAL(value[7], s ? 0xEE : 0);
		RESULT(IDXCoreAdapter_QueryState(a, s, 0, NULL, sizeof value, NULL), E_POINTER);
		RESULT(IDXCoreAdapter_SetState(a, s, 0, NULL, sizeof value, value), refused);
		RESULT(IDXCoreAdapter_SetState(a, s, 0, NULL, sizeof value, NULL), E_POINTER);
	}
	RESULT(IDXCoreAdapter_QueryState(a, DXCoreAdapterState_IsDriverUpdateInProgress, 0, NULL, 0, value), E_INVALIDARG);
	IDXCoreAdapter_Release(a);
	IDXCoreAdapterList_Release(l);
}

/* One factory, one object for an adapter, IUnknown the same whichever interface asks. */
static void identity(IDXCoreAdapterFactory *f) {
	void *again, *unknown, *other;
	uint32_t before = IDXCoreAdapterFactory_AddRef(f);
	FINE(DXCoreCreateAdapterFactory(&IID_IDXCoreAdapterFactory1, &again));
	CHECK(again == f);
	EQUAL(IDXCoreAdapterFactory_Release(f), before);
	EQUAL(IDXCoreAdapterFactory_Release(f), before - 1);
	FINE(IDXCoreAdapterFactory_QueryInterface(f, &IID_IUnknown, &unknown));
	CHECK(unknown == f);
	IUnknown_Release((IUnknown *)unknown);

	IDXCoreAdapterList *l = list_of(f, COMPUTE), *m = list_of(f, GRAPHICS);
	CHECK(l != m);
	IDXCoreAdapter *a = get(l, 0), *b = get(m, 0);
	CHECK(a == b);
	LUID luid = luid_of(a);
	FINE(IDXCoreAdapterFactory_GetAdapterByLuid(f, &luid, &IID_IDXCoreAdapter, &other));
	CHECK(other == a);
	EQUAL(IDXCoreAdapter_Release(a), 4); /* two lists, b, other */
	FINE(IDXCoreAdapter_QueryInterface(b, &IID_IUnknown, &unknown));
	CHECK(unknown == b);
	EQUAL(IUnknown_Release((IUnknown *)unknown), 4);
	FINE(IDXCoreAdapter_GetFactory(b, &IID_IDXCoreAdapterFactory, &again));
	CHECK(again == f);
	IDXCoreAdapterFactory_Release(f);
	FINE(IDXCoreAdapterList_GetFactory(l, &IID_IDXCoreAdapterFactory, &again));
	CHECK(again == f);
	IDXCoreAdapterFactory_Release(f);
	FINE(IDXCoreAdapterList_QueryInterface(l, &IID_IUnknown, &unknown));
	CHECK(unknown == l);
	EQUAL(IUnknown_Release((IUnknown *)unknown), 1);
	EQUAL(IDXCoreAdapterList_Release(l), 0);
	EQUAL(IDXCoreAdapterList_Release(m), 0);
	EQUAL(IDXCoreAdapter_Release(b), 1);
	describes(other, "dxgsync Virtual Render Device"); /* lives as long as it is held */
	EQUAL(IDXCoreAdapter_Release((IDXCoreAdapter *)other), 0);
}

static void wrong_arguments(IDXCoreAdapterFactory *f) {
	void *p = f;
	LUID luid = {0x10000, 0}, nobody = {0x10000, 1};
	RESULT(DXCoreCreateAdapterFactory(&IID_IDXCoreAdapterFactory, NULL), E_POINTER);
	RESULT(DXCoreCreateAdapterFactory(&IID_IDXCoreAdapter, &p), E_NOINTERFACE);
	CHECK(!p);
	RESULT(DXCoreCreateAdapterFactory(NULL, &p), E_NOINTERFACE);
	p = f;
	RESULT(IDXCoreAdapterFactory_QueryInterface(f, &nonsense, &p), E_NOINTERFACE);
	CHECK(!p);
	RESULT(IDXCoreAdapterFactory_QueryInterface(f, &IID_IUnknown, NULL), E_POINTER);

	RESULT(IDXCoreAdapterFactory_CreateAdapterList(f, 1, COMPUTE, &IID_IDXCoreAdapterList, NULL), E_POINTER);
	p = f;
	RESULT(IDXCoreAdapterFactory_CreateAdapterList(f, 0, COMPUTE, &IID_IDXCoreAdapterList, &p), E_INVALIDARG);
	CHECK(!p);
	RESULT(IDXCoreAdapterFactory_CreateAdapterList(f, 1, NULL, &IID_IDXCoreAdapterList, &p), E_INVALIDARG);
	RESULT(IDXCoreAdapterFactory_CreateAdapterList(f, 1, COMPUTE, &IID_IDXCoreAdapter, &p), E_NOINTERFACE);

	RESULT(IDXCoreAdapterFactory_GetAdapterByLuid(f, &luid, &IID_IDXCoreAdapter, NULL), E_POINTER);
	p = f;
	RESULT(IDXCoreAdapterFactory_GetAdapterByLuid(f, &luid, &IID_IDXCoreAdapterList, &p), E_NOINTERFACE);
	CHECK(!p);
	RESULT(IDXCoreAdapterFactory_GetAdapterByLuid(f, &nobody, &IID_IDXCoreAdapter, &p), E_INVALIDARG);
	RESULT(IDXCoreAdapterFactory_GetAdapterByLuid(f, NULL, &IID_IDXCoreAdapter, &p), E_INVALIDARG);

	IDXCoreAdapterList *l = list_of(f, COMPUTE), *none = list_of(f, &nonsense);
	EQUAL(IDXCoreAdapterList_GetAdapterCount(none), 0);
	RESULT(IDXCoreAdapterList_GetAdapter(none, 0, &IID_IDXCoreAdapter, &p), E_INVALIDARG);
	p = f;
	RESULT(IDXCoreAdapterList_GetAdapter(l, 99, &IID_IDXCoreAdapter, &p), E_INVALIDARG);
	CHECK(!p);
	RESULT(IDXCoreAdapterList_GetAdapter(l, 0, &IID_IDXCoreAdapter, NULL), E_POINTER);
	RESULT(IDXCoreAdapterList_GetAdapter(l, 0, &IID_IDXCoreAdapterFactory, &p), E_NOINTERFACE);
	RESULT(IDXCoreAdapterList_GetFactory(l, &nonsense, &p), E_NOINTERFACE);
	const DXCoreAdapterPreference unknown[] = {77, 78};
	RESULT(IDXCoreAdapterList_Sort(l, 0, unknown), E_INVALIDARG);
	RESULT(IDXCoreAdapterList_Sort(l, 1, NULL), E_INVALIDARG);
	FINE(IDXCoreAdapterList_Sort(l, 2, unknown));
	for (uint32_t i = 0; i < 5; i++) EQUAL(IDXCoreAdapterList_IsAdapterPreferenceSupported(l, i), i < 3);
	CHECK(!IDXCoreAdapterList_IsStale(l) && !IDXCoreAdapterList_IsStale(none));
	IDXCoreAdapterList_Release(none);
	IDXCoreAdapterList_Release(l);
}

static void never(DXCoreNotificationType type, IUnknown *object, void *context) {
	(void)type;
	(void)object;
	(void)context;
	CHECK(!"called back");
}

static void registrations(IDXCoreAdapterFactory *f) {
	IDXCoreAdapterList *l = list_of(f, COMPUTE);
	IDXCoreAdapter *a = get(l, 0);
	IUnknown *list = (IUnknown *)l, *adapter = (IUnknown *)a;
	uint32_t cookie = 7, other = 0;
	for (uint32_t i = 0; i < 6; i++) EQUAL(IDXCoreAdapterFactory_IsNotificationTypeSupported(f, i), i < 2);
	RESULT(IDXCoreAdapterFactory_RegisterEventNotification(f, adapter, DXCoreNotificationType_AdapterBudgetChange, never, NULL, &cookie), DXGI_ERROR_INVALID_CALL);
	EQUAL(cookie, 0);
	cookie = 7;
	RESULT(IDXCoreAdapterFactory_RegisterEventNotification(f, adapter, DXCoreNotificationType_AdapterListStale, never, NULL, &cookie), E_INVALIDARG);
	EQUAL(cookie, 0);
	RESULT(IDXCoreAdapterFactory_RegisterEventNotification(f, list, DXCoreNotificationType_AdapterNoLongerValid, never, NULL, &cookie), E_INVALIDARG);
	RESULT(IDXCoreAdapterFactory_RegisterEventNotification(f, (IUnknown *)f, DXCoreNotificationType_AdapterListStale, never, NULL, &cookie), E_INVALIDARG);
	RESULT(IDXCoreAdapterFactory_RegisterEventNotification(f, NULL, DXCoreNotificationType_AdapterListStale, never, NULL, &cookie), E_INVALIDARG);
	RESULT(IDXCoreAdapterFactory_RegisterEventNotification(f, list, DXCoreNotificationType_AdapterListStale, NULL, NULL, &cookie), E_POINTER);
	RESULT(IDXCoreAdapterFactory_RegisterEventNotification(f, list, DXCoreNotificationType_AdapterListStale, never, NULL, NULL), E_POINTER);
	RESULT(IDXCoreAdapterFactory_UnregisterEventNotification(f, 0), E_INVALIDARG);
	FINE(IDXCoreAdapterFactory_RegisterEventNotification(f, list, DXCoreNotificationType_AdapterListStale, never, NULL, &cookie));
	FINE(IDXCoreAdapterFactory_RegisterEventNotification(f, adapter, DXCoreNotificationType_AdapterNoLongerValid, never, NULL, &other));
	CHECK(cookie && other && cookie != other);
	EQUAL(IDXCoreAdapterList_Release(l), 1); /* the registration keeps it */
	FINE(IDXCoreAdapterFactory_UnregisterEventNotification(f, cookie));
	RESULT(IDXCoreAdapterFactory_UnregisterEventNotification(f, cookie), E_INVALIDARG);
	FINE(IDXCoreAdapterFactory_UnregisterEventNotification(f, other));
	EQUAL(IDXCoreAdapter_Release(a), 0);
}

/* A child has its own connection and registrations; what it inherited works. */
static void after_fork(IDXCoreAdapterFactory *f) {
	IDXCoreAdapterList *l = list_of(f, COMPUTE);
	IDXCoreAdapter *a = get(l, 0);
	uint32_t cookie = 0;
	FINE(IDXCoreAdapterFactory_RegisterEventNotification(f, (IUnknown *)l, DXCoreNotificationType_AdapterListStale, never, NULL, &cookie));
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		describes(a, "dxgsync Virtual Render Device");
		CHECK(IDXCoreAdapter_IsValid(a) && !IDXCoreAdapterList_IsStale(l));
		RESULT(IDXCoreAdapterFactory_UnregisterEventNotification(f, cookie), E_INVALIDARG);
		IDXCoreAdapter *same = get(l, 0);
		CHECK(same == a);
		IDXCoreAdapter_Release(same);
		neo(f);
		IDXCoreAdapter_Release(a);
		IDXCoreAdapterList_Release(l);
		_exit(0);
	}
	EQUAL(end_of(pid), 0);
	CHECK(IDXCoreAdapter_IsValid(a));
	FINE(IDXCoreAdapterFactory_UnregisterEventNotification(f, cookie));
	IDXCoreAdapter_Release(a);
	EQUAL(IDXCoreAdapterList_Release(l), 0);
}

enum { THREADS = 8, ROUNDS = 60 };

static void *come_and_go(void *arg) {
	const DXCoreAdapterPreference fast = DXCoreAdapterPreference_HighPerformance;
	IDXCoreAdapterList *shared = arg;
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t cookie = 0;
		IDXCoreAdapterFactory *f = open_factory();
		IDXCoreAdapterList *l = list_of(f, i % 2 ? COMPUTE : GRAPHICS);
		FINE(IDXCoreAdapterFactory_RegisterEventNotification(f, (IUnknown *)l, DXCoreNotificationType_AdapterListStale, never, NULL, &cookie));
		IDXCoreAdapter *a = get(l, 0);
		IDXCoreAdapterList_Release(l);
		describes(a, "dxgsync Virtual Render Device");
		FINE(IDXCoreAdapterList_Sort(shared, 1, &fast));
		IDXCoreAdapter *b = get(shared, 0);
		CHECK(a == b);
		FINE(IDXCoreAdapterFactory_UnregisterEventNotification(f, cookie));
		IDXCoreAdapter_Release(a);
		IDXCoreAdapter_Release(b);
		IDXCoreAdapterFactory_Release(f);
	}
	return NULL;
}

static void *make_and_drop(void *arg) {
	IDXCoreAdapterFactory *f = arg;
	for (int i = 0; i < ROUNDS; i++) { /* often the only one, often one of two */
		LUID luid = {0x10000, 0};
		void *a;
		FINE(IDXCoreAdapterFactory_GetAdapterByLuid(f, &luid, &IID_IDXCoreAdapter, &a));
		IDXCoreAdapter_Release((IDXCoreAdapter *)a);
	}
	return NULL;
}

static void threads(IDXCoreAdapterFactory *f) {
	pthread_t t[THREADS];
	for (int i = 0; i < THREADS; i++) CHECK(!pthread_create(&t[i], NULL, make_and_drop, f));
	for (int i = 0; i < THREADS; i++) CHECK(!pthread_join(t[i], NULL));
	IDXCoreAdapterList *l = list_of(f, COMPUTE);
	for (int i = 0; i < THREADS; i++) CHECK(!pthread_create(&t[i], NULL, come_and_go, l));
	for (int i = 0; i < THREADS; i++) CHECK(!pthread_join(t[i], NULL));
	IDXCoreAdapter *a = get(l, 0);
	EQUAL(IDXCoreAdapter_Release(a), 1);
	EQUAL(IDXCoreAdapterList_Release(l), 0);
}

int main(void) {
	D3DKMT_HANDLE before = next_handle();
	errno = 77;
	IDXCoreAdapterFactory *f = open_factory();
	mesa(f);
	properties(f);
	states(f);
	identity(f);
	wrong_arguments(f);
	registrations(f);
	EQUAL(errno, 77);
	D3DKMT_HANDLE after = next_handle();
	CHECK(after > before + 0x40);
	for (D3DKMT_HANDLE h = before; h <= after; h += 0x40) STATUS(close_adapter(h), INVALID_PARAMETER); /* it is already */
	neo(f);
	after_fork(f);
	threads(f);
	EQUAL(IDXCoreAdapterFactory_Release(f), 0);
}
