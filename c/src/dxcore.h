/* Inside of DXCore: what the files dxcore*.c know of each other.
 *
 * All objects belong to this process. What an adapter says of itself is asked once,
 * when its object is made, so it can be read when the adapter is gone. An object is
 * current as long as the daemon it came from is the one that the library speaks to;
 * once it is not, it never is again.
 *
 * dxg_root.dxcore.lock is held for a moment only: nothing else is locked and no
 * request made in it. A forked child has no adapters in its table and no
 * registrations; objects it inherited work, on its own connection. */
#ifndef DXG_DXCORE_OBJECTS_H
#define DXG_DXCORE_OBJECTS_H

#include <dxg/dxcore.h>

#include "inside.h"

enum { DXCORE_NAME_CHARS = 32 };

struct dxcore_node {
	uint32_t engine; /* DXGK_ENGINE_TYPE */
	wchar_t name[DXCORE_NAME_CHARS];
};

/* What an adapter says of itself; fields as properties have them. */
struct dxcore_facts {
	LUID luid;
	uint64_t driver_version;
	uint64_t dedicated_adapter, dedicated_system, shared_system; /* bytes */
	DXCoreHardwareID id;
	DXCoreHardwareIDParts parts;
	uint32_t model;                 /* D3DKMT_DRIVERVERSION */
	uint32_t physical;              /* adapters linked to one; each has all nodes */
	uint16_t compute_preemption, graphics_preemption;
	bool acg, hardware, integrated, detachable;
	bool renders, compute_only;
	uint32_t nodes;
	struct dxcore_node *node;
	char *description;              /* UTF-8 */
};

/* ---- dxcore_facts.c: asking the daemon ---- */

struct dxcore_adapter;

/* Every adapter there is, in the daemon's order, a reference on each; the list is
 * the caller's to free. *kernel: the daemon. */
uint32_t dxcore_enumerate(struct dxcore_adapter ***list, uint32_t *count, uint64_t *kernel);
/* The adapter with this LUID, referenced. INVALID_PARAMETER: there is none. */
uint32_t dxcore_by_luid(const LUID *, struct dxcore_adapter **);
/* One D3DKMTQueryAdapterInfo with a payload in the kernel's form. */
uint32_t dxcore_query(LUID, uint32_t type, void *data, uint32_t size);
/* Whether a daemon is still the one that this process speaks to. *gone remembers. */
bool dxcore_current(uint64_t kernel, _Atomic bool *gone);
HRESULT dxcore_result(uint32_t st);

/* ---- dxcore_property.c ---- */

bool dxcore_property_known(uint32_t property);
HRESULT dxcore_property_size(const struct dxcore_facts *, uint32_t property, size_t *size);
HRESULT dxcore_property(const struct dxcore_facts *, uint32_t property, size_t size, void *data);
HRESULT dxcore_property_with_input(const struct dxcore_facts *, uint32_t property, size_t in_size, const void *in, size_t size, void *data);

/* ---- dxcore_attribute.c: which adapters belong into a list ---- */

bool dxcore_has(const struct dxcore_facts *, const GUID *attribute);

/* Attributes that must all be there, or a workload. */
struct dxcore_filter {
	uint32_t count;
	const GUID *attributes; /* NULL: a workload */
	uint32_t workload, runtime, hardware;
};
bool dxcore_passes(const struct dxcore_facts *, const struct dxcore_filter *);
/* Whether a comes before b: preferences that are not known say nothing. */
bool dxcore_before(const struct dxcore_facts *a, const struct dxcore_facts *b, uint32_t count, const DXCoreAdapterPreference *);

/* ---- dxcore_adapter.c ---- */

struct dxcore_adapter {
	IDXCoreAdapter1 face;
	_Atomic uint32_t refs;       /* becomes 0, or more than that again, in the lock only */
	_Atomic bool gone;
	uint64_t kernel;
	struct dxcore_facts facts;
	struct dxcore_adapter *next; /* in dxg_root.dxcore.adapters */
};

/* The object of an adapter, referenced; NULL: it has none. */
struct dxcore_adapter *dxcore_adapter_find(uint64_t kernel, LUID);
/* Whether an adapter of any daemon that had this LUID has an object. */
bool dxcore_adapter_known(LUID);
/* Put a new adapter into the table. If somebody was faster, it is freed and the one
 * that is there returned. Referenced either way. */
struct dxcore_adapter *dxcore_adapter_add(struct dxcore_adapter *);
void dxcore_adapter_free(struct dxcore_adapter *);
void dxcore_adapter_ref(struct dxcore_adapter *);
uint32_t dxcore_adapter_unref(struct dxcore_adapter *);
/* As interface riid. */
HRESULT dxcore_adapter_as(struct dxcore_adapter *, REFIID, void **);
struct dxcore_adapter *dxcore_adapter_of(IUnknown *); /* NULL: it is something else */

/* ---- dxcore_list.c ---- */

struct dxcore_list;
HRESULT dxcore_list_new(const struct dxcore_filter *, REFIID, void **);
struct dxcore_list *dxcore_list_of(IUnknown *); /* NULL: it is something else */
bool dxcore_list_stale(struct dxcore_list *);

/* ---- dxcore_notify.c ---- */

bool dxcore_notifies(uint32_t type);
HRESULT dxcore_watch_add(IUnknown *, uint32_t type, PFN_DXCORE_NOTIFICATION_CALLBACK, void *context, uint32_t *cookie);
HRESULT dxcore_watch_end(uint32_t cookie);

/* ---- dxcore.c ---- */

HRESULT dxcore_factory_as(REFIID, void **);

static inline bool dxcore_same(const GUID *a, const GUID *b) { return a && __builtin_memcmp(a, b, sizeof *a) == 0; }

/* As D3DKMT functions: errno is kept, and a thread is not cancelled inside. */
struct dxcore_calm {
	int error, cancel;
};
struct dxcore_calm dxcore_enter(void);
void dxcore_leave(struct dxcore_calm);

static inline struct dxcore_state *dxcore_lock(void) {
	pthread_mutex_lock(&dxg_root.dxcore.lock);
	return &dxg_root.dxcore;
}
static inline void dxcore_unlock(struct dxcore_state *d) { pthread_mutex_unlock(&d->lock); }

#endif
