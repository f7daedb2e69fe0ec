/* Adapters of DXCore. The same adapter is the same object, whichever list or LUID it
 * came from: a table knows all that are referenced. */
#include "dxcore.h"

#include <dxg/d3dkmthk.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = DXCoreAdapterState_AdapterMemoryFrequencyHertz + 1 };

static struct dxcore_adapter *lookup(struct dxcore_state *d, uint64_t kernel, LUID luid) {
	struct dxcore_adapter *a = d->adapters;
	while (a && (a->kernel != kernel || memcmp(&a->facts.luid, &luid, sizeof luid))) a = a->next;
	if (a) atomic_fetch_add(&a->refs, 1);
	return a;
}

struct dxcore_adapter *dxcore_adapter_find(uint64_t kernel, LUID luid) {
	struct dxcore_state *d = dxcore_lock();
	struct dxcore_adapter *a = lookup(d, kernel, luid);
	dxcore_unlock(d);
	return a;
}

bool dxcore_adapter_known(LUID luid) {
	struct dxcore_state *d = dxcore_lock();
	const struct dxcore_adapter *a = d->adapters;
	while (a && memcmp(&a->facts.luid, &luid, sizeof luid)) a = a->next;
	dxcore_unlock(d);
	return a;
}

void dxcore_adapter_free(struct dxcore_adapter *a) {
	free(a->facts.node);
	free(a->facts.description);
	free(a);
}

void dxcore_adapter_ref(struct dxcore_adapter *a) { atomic_fetch_add(&a->refs, 1); }

uint32_t dxcore_adapter_unref(struct dxcore_adapter *a) {
	uint32_t n = atomic_load(&a->refs);
	while (n > 1)
		if (atomic_compare_exchange_weak(&a->refs, &n, n - 1)) return n - 1;
	struct dxcore_state *d = dxcore_lock();
	n = atomic_fetch_sub(&a->refs, 1) - 1;
	struct dxcore_adapter **at = &d->adapters;
	while (!n && *at && *at != a) at = &(*at)->next;
	if (!n && *at) *at = a->next; /* else it is our parent's */
	dxcore_unlock(d);
	if (!n) dxcore_adapter_free(a);
	return n;
}

static struct dxcore_adapter *self(IDXCoreAdapter1 *this) { return (struct dxcore_adapter *)this; }

static HRESULT query_interface(IDXCoreAdapter1 *this, REFIID riid, void **object) { return dxcore_adapter_as(self(this), riid, object); }
static ULONG add_ref(IDXCoreAdapter1 *this) { return atomic_fetch_add(&self(this)->refs, 1) + 1; }
static ULONG release(IDXCoreAdapter1 *this) { return dxcore_adapter_unref(self(this)); }
static bool is_valid(IDXCoreAdapter1 *this) { return dxcore_current(self(this)->kernel, &self(this)->gone); }

static bool is_attribute_supported(IDXCoreAdapter1 *this, REFGUID attribute) { return dxcore_has(&self(this)->facts, attribute); }

static bool is_property_supported(IDXCoreAdapter1 *this, DXCoreAdapterProperty property) {
	(void)this;
	return dxcore_property_known(property);
}

static HRESULT get_property(IDXCoreAdapter1 *this, DXCoreAdapterProperty property, size_t size, void *data) {
	return dxcore_property(&self(this)->facts, property, size, data);
}

static HRESULT get_property_size(IDXCoreAdapter1 *this, DXCoreAdapterProperty property, size_t *size) {
	return dxcore_property_size(&self(this)->facts, property, size);
}

static HRESULT get_property_with_input(IDXCoreAdapter1 *this, DXCoreAdapterProperty property, size_t in_size, const void *in, size_t size, void *data) {
	return dxcore_property_with_input(&self(this)->facts, property, in_size, in, size, data);
}

static bool is_query_state_supported(IDXCoreAdapter1 *this, DXCoreAdapterState state) {
	(void)this;
	return state == DXCoreAdapterState_IsDriverUpdateInProgress;
}

static HRESULT query_state(IDXCoreAdapter1 *this, DXCoreAdapterState state, size_t in_size, const void *in, size_t size, void *data) {
	uint32_t updating = 0;
	(void)in_size;
	(void)in;
	if (!data) return E_POINTER;
	if ((uint32_t)state >= STATES) return DXGI_ERROR_INVALID_CALL;
	if (!is_query_state_supported(this, state)) return DXGI_ERROR_UNSUPPORTED;
	if (size < sizeof(uint8_t)) return E_INVALIDARG;
	if (!is_valid(this)) return DXGI_ERROR_DEVICE_REMOVED;
	uint32_t st = dxcore_query(self(this)->facts.luid, KMTQAITYPE_CHECKDRIVERUPDATESTATUS, &updating, sizeof updating);
	if (!ST_OK(st)) return dxcore_result(st);
	memset(data, 0, size);
	*(uint8_t *)data = updating != 0;
	return S_OK;
}

static bool is_set_state_supported(IDXCoreAdapter1 *this, DXCoreAdapterState state) {
	(void)this;
	(void)state;
	return false;
}

static HRESULT set_state(IDXCoreAdapter1 *this, DXCoreAdapterState state, size_t in_size, const void *in, size_t size, const void *data) {
	(void)this;
	(void)in_size;
	(void)in;
	(void)size;
	if (!data) return E_POINTER;
	return (uint32_t)state < STATES ? DXGI_ERROR_UNSUPPORTED : DXGI_ERROR_INVALID_CALL;
}

static HRESULT get_factory(IDXCoreAdapter1 *this, REFIID riid, void **factory) {
	(void)this;
	return dxcore_factory_as(riid, factory);
}

static const IDXCoreAdapter1Vtbl methods = {
	query_interface, add_ref, release,
	is_valid, is_attribute_supported, is_property_supported, get_property, get_property_size,
	is_query_state_supported, query_state, is_set_state_supported, set_state, get_factory,
	get_property_with_input,
};

struct dxcore_adapter *dxcore_adapter_add(struct dxcore_adapter *fresh) {
	fresh->face.lpVtbl = &methods;
	atomic_store(&fresh->refs, 1);
	struct dxcore_state *d = dxcore_lock();
	struct dxcore_adapter *there = lookup(d, fresh->kernel, fresh->facts.luid);
	if (!there) {
		fresh->next = d->adapters;
		d->adapters = fresh;
	}
	dxcore_unlock(d);
	if (!there) return fresh;
	dxcore_adapter_free(fresh);
	return there;
}

HRESULT dxcore_adapter_as(struct dxcore_adapter *a, REFIID riid, void **object) {
	if (!object) return E_POINTER;
	*object = NULL;
	if (!dxcore_same(riid, &IID_IUnknown) && !dxcore_same(riid, &IID_IDXCoreAdapter) && !dxcore_same(riid, &IID_IDXCoreAdapter1)) return E_NOINTERFACE;
	dxcore_adapter_ref(a);
	*object = a;
	return S_OK;
}

struct dxcore_adapter *dxcore_adapter_of(IUnknown *object) {
	return (const void *)object->lpVtbl == &methods ? (struct dxcore_adapter *)object : NULL;
}
