/* Lists of adapters. A list is what there was when it was made; only its order may
 * change. */
#include "dxcore.h"

#include <stdlib.h>

struct dxcore_list {
	IDXCoreAdapterList face;
	_Atomic uint32_t refs;
	_Atomic bool gone;
	uint64_t kernel;
	uint32_t count;
	struct dxcore_adapter *adapter[]; /* their order is guarded by the lock of dxcore.h */
};

static struct dxcore_list *self(IDXCoreAdapterList *this) { return (struct dxcore_list *)this; }

static HRESULT as(struct dxcore_list *l, REFIID riid, void **object) {
	if (!object) return E_POINTER;
	*object = NULL;
	if (!dxcore_same(riid, &IID_IUnknown) && !dxcore_same(riid, &IID_IDXCoreAdapterList)) return E_NOINTERFACE;
	atomic_fetch_add(&l->refs, 1);
	*object = l;
	return S_OK;
}

static HRESULT query_interface(IDXCoreAdapterList *this, REFIID riid, void **object) { return as(self(this), riid, object); }
static ULONG add_ref(IDXCoreAdapterList *this) { return atomic_fetch_add(&self(this)->refs, 1) + 1; }

static ULONG release(IDXCoreAdapterList *this) {
	struct dxcore_list *l = self(this);
	uint32_t n = atomic_fetch_sub(&l->refs, 1) - 1;
	if (n) return n;
	for (uint32_t i = 0; i < l->count; i++) dxcore_adapter_unref(l->adapter[i]);
	free(l);
	return 0;
}

static HRESULT get_adapter(IDXCoreAdapterList *this, uint32_t index, REFIID riid, void **adapter) {
	struct dxcore_list *l = self(this);
	if (!adapter) return E_POINTER;
	*adapter = NULL;
	if (index >= l->count) return E_INVALIDARG;
	struct dxcore_state *d = dxcore_lock();
	struct dxcore_adapter *a = l->adapter[index];
	dxcore_unlock(d);
	if (!dxcore_current(a->kernel, &a->gone)) return DXGI_ERROR_DEVICE_REMOVED;
	return dxcore_adapter_as(a, riid, adapter);
}

static uint32_t get_adapter_count(IDXCoreAdapterList *this) { return self(this)->count; }
static bool is_stale(IDXCoreAdapterList *this) { return dxcore_list_stale(self(this)); }

static HRESULT get_factory(IDXCoreAdapterList *this, REFIID riid, void **factory) {
	(void)this;
	return dxcore_factory_as(riid, factory);
}

/* Equals stay as they are. */
static HRESULT sort(IDXCoreAdapterList *this, uint32_t count, const DXCoreAdapterPreference *preferences) {
	struct dxcore_list *l = self(this);
	if (!count || !preferences) return E_INVALIDARG;
	struct dxcore_state *d = dxcore_lock();
	for (uint32_t i = 1; i < l->count; i++) {
		struct dxcore_adapter *a = l->adapter[i];
		uint32_t j = i;
		for (; j > 0 && dxcore_before(&a->facts, &l->adapter[j - 1]->facts, count, preferences); j--) l->adapter[j] = l->adapter[j - 1];
		l->adapter[j] = a;
	}
	dxcore_unlock(d);
	return S_OK;
}

static bool is_adapter_preference_supported(IDXCoreAdapterList *this, DXCoreAdapterPreference preference) {
	(void)this;
	return (uint32_t)preference <= DXCoreAdapterPreference_HighPerformance;
}

static const IDXCoreAdapterListVtbl methods = {
	query_interface, add_ref, release,
	get_adapter, get_adapter_count, is_stale, get_factory, sort, is_adapter_preference_supported,
};

bool dxcore_list_stale(struct dxcore_list *l) { return !dxcore_current(l->kernel, &l->gone); }

struct dxcore_list *dxcore_list_of(IUnknown *object) {
	return (const void *)object->lpVtbl == &methods ? (struct dxcore_list *)object : NULL;
}

/* For a workload, what is made for nothing else comes first. */
static void fill(struct dxcore_list *l, struct dxcore_adapter **all, uint32_t n, const struct dxcore_filter *filter) {
	for (int special = !filter->attributes; special >= 0; special--) {
		for (uint32_t i = 0; i < n; i++) {
			if (!all[i] || (special && !all[i]->facts.compute_only) || !dxcore_passes(&all[i]->facts, filter)) continue;
			l->adapter[l->count++] = all[i];
			all[i] = NULL;
		}
	}
}

HRESULT dxcore_list_new(const struct dxcore_filter *filter, REFIID riid, void **object) {
	struct dxcore_adapter **all = NULL;
	uint32_t n = 0;
	uint64_t kernel = 0;
	if (!dxcore_same(riid, &IID_IUnknown) && !dxcore_same(riid, &IID_IDXCoreAdapterList)) return E_NOINTERFACE;
	uint32_t st = dxcore_enumerate(&all, &n, &kernel);
	if (!ST_OK(st)) return dxcore_result(st);
	struct dxcore_list *l = calloc(1, sizeof *l + n * sizeof l->adapter[0]);
	if (l) {
		l->face.lpVtbl = &methods;
		atomic_store(&l->refs, 1);
		l->kernel = kernel;
		fill(l, all, n, filter);
		*object = l;
	}
	for (uint32_t i = 0; i < n; i++)
		if (all[i]) dxcore_adapter_unref(all[i]);
	free(all);
	return l ? S_OK : E_OUTOFMEMORY;
}
