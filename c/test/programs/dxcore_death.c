/* DXCore when the daemon dies: writes a line, reads one when it is dead. */
#include "dxcore.h"

#include <pthread.h>
#include <stdatomic.h>

struct told {
	IDXCoreAdapterFactory *factory;
	uint32_t type, cookie;
	IUnknown *object;
	_Atomic int times;
	pthread_mutex_t lock;
	pthread_cond_t once;
};

static void tell(DXCoreNotificationType type, IUnknown *object, void *context) {
	struct told *t = context;
	EQUAL(type, t->type);
	CHECK(object == t->object && t->cookie);
	if (type == DXCoreNotificationType_AdapterNoLongerValid) FINE(IDXCoreAdapterFactory_UnregisterEventNotification(t->factory, t->cookie));
	pthread_mutex_lock(&t->lock);
	t->times++;
	pthread_cond_broadcast(&t->once);
	pthread_mutex_unlock(&t->lock);
}

static void expect(struct told *t, IDXCoreAdapterFactory *f, uint32_t type, void *object) {
	*t = (struct told){.factory = f, .type = type, .object = object, .lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_COND_INITIALIZER};
	FINE(IDXCoreAdapterFactory_RegisterEventNotification(f, object, type, tell, t, &t->cookie));
}

static void await(struct told *t) {
	pthread_mutex_lock(&t->lock);
	while (!t->times) pthread_cond_wait(&t->once, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

int main(void) {
	char line[8];
	void *p;
	static struct told list, adapter, late;
	IDXCoreAdapterFactory *f = open_factory();
	IDXCoreAdapterList *l = list_of(f, COMPUTE);
	IDXCoreAdapter *a = get(l, 0);
	LUID luid = luid_of(a);
	expect(&list, f, DXCoreNotificationType_AdapterListStale, l);
	expect(&adapter, f, DXCoreNotificationType_AdapterNoLongerValid, a);
	CHECK(puts("ready") >= 0 && fflush(stdout) == 0);
	CHECK(fgets(line, sizeof line, stdin));
	CHECK(!IDXCoreAdapter_IsValid(a) && IDXCoreAdapterList_IsStale(l));
	await(&list);
	await(&adapter);
	expect(&late, f, DXCoreNotificationType_AdapterListStale, l); /* at once */
	await(&late);
	RESULT(IDXCoreAdapterFactory_UnregisterEventNotification(f, adapter.cookie), E_INVALIDARG); /* in its callback it was */
	FINE(IDXCoreAdapterFactory_UnregisterEventNotification(f, late.cookie));
	describes(a, "dxgsync Virtual Render Device");
	RESULT(IDXCoreAdapterList_GetAdapter(l, 0, &IID_IDXCoreAdapter, &p), DXGI_ERROR_DEVICE_REMOVED);
	RESULT(IDXCoreAdapter_QueryState(a, DXCoreAdapterState_IsDriverUpdateInProgress, 0, NULL, sizeof line, line), DXGI_ERROR_DEVICE_REMOVED);
	HRESULT hr = IDXCoreAdapterFactory_GetAdapterByLuid(f, &luid, &IID_IDXCoreAdapter, &p);
	if (hr == S_OK) { /* another daemon has come: its adapter is another */
		CHECK(p != a && IDXCoreAdapter_IsValid((IDXCoreAdapter *)p));
		IDXCoreAdapterList *fresh = list_of(f, COMPUTE);
		CHECK(!IDXCoreAdapterList_IsStale(fresh));
		IDXCoreAdapterList_Release(fresh);
		EQUAL(IDXCoreAdapter_Release((IDXCoreAdapter *)p), 0);
	} else {
		RESULT(hr, DXGI_ERROR_DEVICE_REMOVED);
		RESULT(IDXCoreAdapterFactory_CreateAdapterList(f, 1, COMPUTE, &IID_IDXCoreAdapterList, &p), DXGI_ERROR_DEVICE_REMOVED);
	}
	CHECK(!IDXCoreAdapter_IsValid(a) && IDXCoreAdapterList_IsStale(l)); /* for good */
	EQUAL(list.times, 1);
	FINE(IDXCoreAdapterFactory_UnregisterEventNotification(f, list.cookie));
	EQUAL(IDXCoreAdapterList_Release(l), 0);
	EQUAL(IDXCoreAdapter_Release(a), 0);
	EQUAL(IDXCoreAdapterFactory_Release(f), 0);
	CHECK(puts(hr == S_OK ? "again" : "removed") >= 0);
}
