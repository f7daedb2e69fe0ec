/* DXCoreCreateAdapterFactory and the factory. There is one factory in a process, and
 * it is always there: references are counted because callers look at the count. */
#include "dxcore.h"

#include <errno.h>

struct dxcore_calm dxcore_enter(void) {
	struct dxcore_calm c = {.error = errno};
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &c.cancel);
	return c;
}

void dxcore_leave(struct dxcore_calm c) {
	pthread_setcancelstate(c.cancel, NULL);
	errno = c.error;
}

static _Atomic uint32_t refs;

static ULONG add_ref(IDXCoreAdapterFactory1 *this) {
	(void)this;
	return atomic_fetch_add(&refs, 1) + 1;
}

static ULONG release(IDXCoreAdapterFactory1 *this) {
	(void)this;
	uint32_t n = atomic_load(&refs);
	while (n && !atomic_compare_exchange_weak(&refs, &n, n - 1)) {}
	return n ? n - 1 : 0;
}

static HRESULT query_interface(IDXCoreAdapterFactory1 *this, REFIID riid, void **object) {
	(void)this;
	return dxcore_factory_as(riid, object);
}

static HRESULT create_adapter_list(IDXCoreAdapterFactory1 *this, uint32_t count, const GUID *attributes, REFIID riid, void **list) {
	(void)this;
	if (!list) return E_POINTER;
	*list = NULL;
	if (!count || !attributes) return E_INVALIDARG;
	return dxcore_list_new(&(struct dxcore_filter){.count = count, .attributes = attributes}, riid, list);
}

static HRESULT create_adapter_list_by_workload(IDXCoreAdapterFactory1 *this, DXCoreWorkload workload, DXCoreRuntimeFilterFlags runtime, DXCoreHardwareTypeFilterFlags hardware, REFIID riid, void **list) {
	const uint32_t runtimes = DXCoreRuntimeFilterFlags_D3D11 | DXCoreRuntimeFilterFlags_D3D12;
	const uint32_t types = DXCoreHardwareTypeFilterFlags_GPU | DXCoreHardwareTypeFilterFlags_ComputeAccelerator |
		DXCoreHardwareTypeFilterFlags_NPU | DXCoreHardwareTypeFilterFlags_MediaAccelerator;
	(void)this;
	if (!list) return E_POINTER;
	*list = NULL;
	if (workload > DXCoreWorkload_MachineLearning || runtime & ~runtimes || hardware & ~types) return E_INVALIDARG;
	return dxcore_list_new(&(struct dxcore_filter){.workload = workload, .runtime = runtime, .hardware = hardware}, riid, list);
}

static HRESULT get_adapter_by_luid(IDXCoreAdapterFactory1 *this, const LUID *luid, REFIID riid, void **adapter) {
	struct dxcore_adapter *a = NULL;
	(void)this;
	if (!adapter) return E_POINTER;
	*adapter = NULL;
	if (!luid) return E_INVALIDARG;
	uint32_t st = dxcore_by_luid(luid, &a);
	if (!ST_OK(st)) return st != ST_NO_MEMORY && dxcore_adapter_known(*luid) ? DXGI_ERROR_DEVICE_REMOVED : dxcore_result(st);
	HRESULT hr = dxcore_adapter_as(a, riid, adapter);
	dxcore_adapter_unref(a);
	return hr;
}

static bool is_notification_type_supported(IDXCoreAdapterFactory1 *this, DXCoreNotificationType type) {
	(void)this;
	return dxcore_notifies(type);
}

static HRESULT register_event_notification(IDXCoreAdapterFactory1 *this, IUnknown *object, DXCoreNotificationType type, PFN_DXCORE_NOTIFICATION_CALLBACK callback, void *context, uint32_t *cookie) {
	(void)this;
	return dxcore_watch_add(object, type, callback, context, cookie);
}

static HRESULT unregister_event_notification(IDXCoreAdapterFactory1 *this, uint32_t cookie) {
	(void)this;
	return dxcore_watch_end(cookie);
}

static const IDXCoreAdapterFactory1Vtbl methods = {
	query_interface, add_ref, release,
	create_adapter_list, get_adapter_by_luid, is_notification_type_supported, register_event_notification, unregister_event_notification,
	create_adapter_list_by_workload,
};
static IDXCoreAdapterFactory1 factory = {&methods};

HRESULT dxcore_factory_as(REFIID riid, void **object) {
	if (!object) return E_POINTER;
	*object = NULL;
	if (!dxcore_same(riid, &IID_IUnknown) && !dxcore_same(riid, &IID_IDXCoreAdapterFactory) && !dxcore_same(riid, &IID_IDXCoreAdapterFactory1)) return E_NOINTERFACE;
	add_ref(&factory);
	*object = &factory;
	return S_OK;
}

DXG_EXPORT HRESULT DXCoreCreateAdapterFactory(REFIID riid, void **object) { return dxcore_factory_as(riid, object); }
