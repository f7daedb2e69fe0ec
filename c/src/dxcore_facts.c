/* Asking the daemon about adapters. Every handle opened on the way is closed again,
 * and all of one answer comes from one daemon. */
#include "dxcore.h"

#include <dxg/d3dkmthk.h>
#include <stdlib.h>
#include <string.h>

enum { ADAPTERS_MAX = 256, NODES_MAX = 64, TEXT_CHARS = 4096, REPLACEMENT = 0xFFFD, HYBRID_INTEGRATED = 1 << 1 };

/* D3DKMT_NODEMETADATA as the kernel has it. */
struct node_payload {
	uint32_t node, engine;
	uint16_t name[DXCORE_NAME_CHARS];
	uint8_t rest[6];
} __attribute__((packed));

HRESULT dxcore_result(uint32_t st) {
	switch (st) {
	case ST_SUCCESS: return S_OK;
	case ST_UNSUCCESSFUL: return E_FAIL;
	case ST_INVALID_PARAMETER: return E_INVALIDARG;
	case ST_NO_MEMORY: return E_OUTOFMEMORY;
	case ST_DEVICE_REMOVED: return DXGI_ERROR_DEVICE_REMOVED;
	default: return HRESULT_FROM_NT(st);
	}
}

/* ---- texts ---- */

/* The character at *at, which moves on; 0 at the end. */
static uint32_t decode(const uint16_t *text, size_t chars, size_t *at) {
	if (*at >= chars || !text[*at]) return 0;
	uint32_t c = text[(*at)++];
	if (c < 0xD800 || c > 0xDFFF) return c;
	if (c > 0xDBFF || *at >= chars || (text[*at] & 0xFC00) != 0xDC00) return REPLACEMENT;
	return 0x10000 + ((c & 0x3FF) << 10 | (text[(*at)++] & 0x3FF));
}

static size_t encode(char *to, uint32_t c) {
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	to[0] = (char)((0xF00 >> n) | c >> 6 * (n - 1));
	for (size_t i = 1; i < n; i++) to[i] = (char)(0x80 | (c >> 6 * (n - 1 - i) & 0x3F));
	return n;
}

static char *utf8(const uint16_t *text, size_t chars) {
	char *to = malloc(3 * chars + 1), *shorter;
	size_t at = 0, n = 0;
	uint32_t c;
	if (!to) return NULL;
	while ((c = decode(text, chars, &at))) n += encode(to + n, c);
	to[n] = 0;
	return (shorter = realloc(to, n + 1)) ? shorter : to;
}

static void wide(wchar_t to[DXCORE_NAME_CHARS], const uint16_t *text) {
	size_t at = 0, n = 0;
	uint32_t c;
	while (n < DXCORE_NAME_CHARS - 1 && (c = decode(text, DXCORE_NAME_CHARS, &at))) to[n++] = (wchar_t)c;
	to[n] = 0;
}

/* ---- one adapter ---- */

struct opened {
	struct dxg_session *session;
	D3DKMT_HANDLE handle;
};

static uint32_t ask(const struct opened *o, uint32_t type, void *data, uint32_t size) {
	D3DKMT_QUERYADAPTERINFO q = {.hAdapter = o->handle, .Type = type, .pPrivateDriverData = data, .PrivateDriverDataSize = size};
	return dxg_run(o->session, dxg_op(OP_QUERY_ADAPTER_INFO), &q);
}

static uint32_t open_adapter(struct opened *o, LUID luid) {
	D3DKMT_OPENADAPTERFROMLUID r = {.AdapterLuid = luid};
	uint32_t st = dxg_run(o->session, dxg_op(OP_OPEN_ADAPTER_FROM_LUID), &r);
	o->handle = r.hAdapter;
	return st;
}

static void close_adapter(const struct opened *o) {
	D3DKMT_CLOSEADAPTER r = {.hAdapter = o->handle};
	dxg_run(o->session, dxg_op(OP_CLOSE_ADAPTER), &r);
}

static uint32_t read_description(const struct opened *o, struct dxcore_facts *f) {
	uint16_t text[TEXT_CHARS];
	uint32_t st = ask(o, KMTQAITYPE_DRIVER_DESCRIPTION, text, sizeof text);
	if (!ST_OK(st)) return st;
	f->description = utf8(text, TEXT_CHARS);
	return f->description ? ST_SUCCESS : ST_NO_MEMORY;
}

/* Nodes are asked for until there is none of that number. */
static uint32_t read_nodes(const struct opened *o, struct dxcore_facts *f) {
	f->node = calloc(NODES_MAX, sizeof *f->node);
	if (!f->node) return ST_NO_MEMORY;
	for (; f->nodes < NODES_MAX; f->nodes++) {
		struct node_payload p = {.node = f->nodes};
		uint32_t st = ask(o, KMTQAITYPE_NODEMETADATA, &p, sizeof p);
		if (st == ST_INVALID_PARAMETER) break;
		if (!ST_OK(st)) return st;
		uint16_t name[DXCORE_NAME_CHARS];
		memcpy(name, p.name, sizeof name);
		f->node[f->nodes].engine = p.engine;
		wide(f->node[f->nodes].name, name);
	}
	return ST_SUCCESS;
}

static uint32_t read_facts(const struct opened *o, struct dxcore_facts *f) {
	D3DKMT_SEGMENTSIZEINFO memory = {0};
	D3DKMT_ADAPTERTYPE type = {0};
	D3DKMT_QUERY_DEVICE_IDS ids = {0};
	uint32_t caps12[3] = {0}, caps13 = 0;
	const struct {
		uint32_t type;
		void *data;
		uint32_t size;
	} questions[] = {
		{KMTQAITYPE_GETSEGMENTSIZE, &memory, sizeof memory},
		{KMTQAITYPE_DRIVERVERSION, &f->model, sizeof f->model},
		{KMTQAITYPE_ADAPTERTYPE, &type, sizeof type},
		{KMTQAITYPE_WDDM_1_2_CAPS, caps12, sizeof caps12},
		{KMTQAITYPE_UMD_DRIVER_VERSION, &f->driver_version, sizeof f->driver_version},
		{KMTQAITYPE_WDDM_1_3_CAPS, &caps13, sizeof caps13},
		{KMTQAITYPE_PHYSICALADAPTERCOUNT, &f->physical, sizeof f->physical},
		{KMTQAITYPE_PHYSICALADAPTERDEVICEIDS, &ids, sizeof ids},
	};
	uint32_t st = ST_SUCCESS;
	for (size_t i = 0; ST_OK(st) && i < sizeof questions / sizeof questions[0]; i++) st = ask(o, questions[i].type, questions[i].data, questions[i].size);
	if (ST_OK(st)) st = read_description(o, f);
	if (ST_OK(st)) st = read_nodes(o, f);
	if (!ST_OK(st)) return st;
	const D3DKMT_DEVICE_IDS *id = &ids.DeviceIds;
	f->dedicated_adapter = memory.DedicatedVideoMemorySize;
	f->dedicated_system = memory.DedicatedSystemMemorySize;
	f->shared_system = memory.SharedSystemMemorySize;
	f->parts = (DXCoreHardwareIDParts){id->VendorID, id->DeviceID, id->SubSystemID, id->SubVendorID, id->RevisionID};
	f->id = (DXCoreHardwareID){id->VendorID, id->DeviceID, (id->SubSystemID & 0xFFFF) << 16 | (id->SubVendorID & 0xFFFF), id->RevisionID};
	f->graphics_preemption = (uint16_t)caps12[0];
	f->compute_preemption = (uint16_t)caps12[1];
	f->acg = type.ACGSupported;
	f->hardware = !type.SoftwareDevice;
	f->integrated = type.HybridIntegrated || caps13 & HYBRID_INTEGRATED;
	f->detachable = type.Detachable;
	f->renders = type.RenderSupported;
	f->compute_only = type.ComputeOnly;
	return ST_SUCCESS;
}

static uint32_t object_of(const struct opened *o, LUID luid, struct dxcore_adapter **object) {
	uint64_t kernel = o->session->image->kernel;
	struct dxcore_adapter *a = *object = dxcore_adapter_find(kernel, luid);
	if (a) return ST_SUCCESS;
	if (!(a = calloc(1, sizeof *a))) return ST_NO_MEMORY;
	a->kernel = kernel;
	a->facts.luid = luid;
	uint32_t st = read_facts(o, &a->facts);
	if (ST_OK(st)) *object = dxcore_adapter_add(a);
	else dxcore_adapter_free(a);
	return st;
}

/* ---- what is asked for ---- */

struct request {
	struct dxcore_adapter **list; /* of all adapters, or */
	uint32_t count;
	uint64_t kernel;
	LUID luid;                    /* of this one: */
	struct dxcore_adapter *one;   /* its object, or */
	uint32_t type, size;          /* one answer of its */
	void *data;
};

static uint32_t all(struct dxg_session *s, struct request *r) {
	D3DKMT_ENUMADAPTERS3 e = {.Filter.IncludeComputeOnly = 1};
	e.Filter.IncludeDisplayOnly = 1;
	uint32_t st = dxg_run(s, dxg_op(OP_ENUM_ADAPTERS3), &e); /* the most there can be */
	if (!ST_OK(st)) return st;
	D3DKMT_ADAPTERINFO info[ADAPTERS_MAX];
	if (e.NumAdapters > ADAPTERS_MAX) e.NumAdapters = ADAPTERS_MAX;
	r->list = calloc(e.NumAdapters + 1, sizeof *r->list);
	if (!r->list) return ST_NO_MEMORY;
	e.pAdapters = info;
	st = dxg_run(s, dxg_op(OP_ENUM_ADAPTERS3), &e);
	r->kernel = s->image->kernel;
	r->count = 0;
	for (uint32_t i = 0, n = ST_OK(st) ? e.NumAdapters : 0; i < n; i++) {
		const struct opened o = {s, info[i].hAdapter};
		if (ST_OK(st)) st = object_of(&o, info[i].AdapterLuid, &r->list[r->count]);
		if (ST_OK(st)) r->count++;
		close_adapter(&o);
	}
	if (ST_OK(st)) return st;
	for (uint32_t i = 0; i < r->count; i++) dxcore_adapter_unref(r->list[i]);
	free(r->list);
	return st;
}

static uint32_t one(struct dxg_session *s, struct request *r) {
	struct opened o = {.session = s};
	uint32_t st = open_adapter(&o, r->luid);
	if (!ST_OK(st)) return st;
	st = r->data ? ask(&o, r->type, r->data, r->size) : object_of(&o, r->luid, &r->one);
	close_adapter(&o);
	return st;
}

/* A daemon that turns out to be gone may have a successor. */
static uint32_t request(uint32_t (*f)(struct dxg_session *, struct request *), struct request *r) {
	struct dxcore_calm calm = dxcore_enter();
	uint32_t st = ST_UNSUCCESSFUL;
	for (int i = 0; i < 2; i++) {
		struct dxg_session *s = dxg_own_session(true, &st);
		if (s) st = f(s, r);
		if (!s || st != ST_DEVICE_REMOVED) break;
	}
	dxcore_leave(calm);
	return st;
}

uint32_t dxcore_enumerate(struct dxcore_adapter ***list, uint32_t *count, uint64_t *kernel) {
	struct request r = {0};
	uint32_t st = request(all, &r);
	if (!ST_OK(st)) return st;
	*list = r.list;
	*count = r.count;
	*kernel = r.kernel;
	return st;
}

uint32_t dxcore_by_luid(const LUID *luid, struct dxcore_adapter **object) {
	struct request r = {.luid = *luid};
	uint32_t st = request(one, &r);
	*object = r.one;
	return st;
}

uint32_t dxcore_query(LUID luid, uint32_t type, void *data, uint32_t size) {
	struct request r = {.luid = luid, .type = type, .data = data, .size = size};
	return request(one, &r);
}

/* Looks at the socket, too: the watcher may be late. */
static bool current(uint64_t kernel) {
	uint32_t st;
	struct dxg_session *s = dxg_own_session(false, &st);
	if (!s) return st == ST_NO_MEMORY; /* which says nothing of the daemon */
	int fd = dxg_session_fd(s);
	uint64_t cookie = atomic_load(&s->cookie);
	if (cookie && dxg_cookie(fd) == cookie && dxg_hung_up(fd)) dxg_image_end(s->image, ST_DEVICE_REMOVED, true);
	return !dxg_ended(s->image) && s->image->kernel == kernel;
}

bool dxcore_current(uint64_t kernel, _Atomic bool *gone) {
	if (atomic_load(gone)) return false;
	struct dxcore_calm calm = dxcore_enter();
	if (!current(kernel)) atomic_store(gone, true);
	dxcore_leave(calm);
	return !atomic_load(gone);
}
