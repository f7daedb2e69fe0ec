/* D3DKMTQueryAdapterInfo for Linux programs, whose wchar_t has 32 bits.
 *
 * The kernel knows payloads with 16-bit characters only. Nine types have strings;
 * their payload is rewritten before the request and back after it. All others pass
 * as they are. Programs on /dev/dxg see the kernel's form.
 *
 * The nine are read and written by this library and not by the system, so it asks
 * first whether that can be. */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

#include "query.h"
#include "records.h"

enum { QUERY_UMD_NAME = 1, QUERY_OPENGL = 2, QUERY_REGISTRY_INFO = 8, QUERY_NODE_METADATA = 25, QUERY_REGISTRY = 48,
	QUERY_REGISTRY_INFO_RENDER = 54, QUERY_UNIQUE_GUID = 60, QUERY_DESCRIPTION = 65, QUERY_DESCRIPTION_RENDER = 66 };

/* In order of the payload: so many bytes as they are, then so many characters. */
static const struct dxg_wide_payload payloads[] = {
	{QUERY_UMD_NAME, 1044, 524, {{4, 260}}},
	{QUERY_OPENGL, 1048, 528, {{0, 260}, {8, 0}}},
	{QUERY_REGISTRY_INFO, 4160, 2080, {{0, 4 * 260}}},
	{QUERY_REGISTRY_INFO_RENDER, 4160, 2080, {{0, 4 * 260}}},
	{QUERY_NODE_METADATA, 142, 78, {{8, 32}, {6, 0}}},
	{QUERY_UNIQUE_GUID, 160, 80, {{0, 40}}},
	{QUERY_DESCRIPTION, 16384, 8192, {{0, 4096}}},
	{QUERY_DESCRIPTION_RENDER, 16384, 8192, {{0, 4096}}},
	{QUERY_REGISTRY, 1072, 552, {{8, 260}, {24, 0}}},
};

const struct dxg_wide_payload *dxg_wide_payload(uint32_t type) {
	for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++)
		if (payloads[i].type == type) return &payloads[i];
	return NULL;
}

/* Characters outside the 16-bit range become a replacement character: a fixed
 * field has as many characters on both sides. */
static void narrow(unsigned char *to, const unsigned char *from, size_t n) {
	for (size_t i = 0; i < n; i++) {
		uint32_t c;
		memcpy(&c, from + 4 * i, sizeof c);
		uint16_t d = c > 0xFFFF ? 0xFFFD : (uint16_t)c;
		memcpy(to + 2 * i, &d, sizeof d);
	}
}

static void widen(unsigned char *to, const unsigned char *from, size_t n) {
	for (size_t i = 0; i < n; i++) {
		uint16_t d;
		memcpy(&d, from + 2 * i, sizeof d);
		uint32_t c = d;
		memcpy(to + 4 * i, &c, sizeof c);
	}
}

void dxg_narrow(const struct dxg_wide_payload *p, unsigned char *to, const unsigned char *from) {
	for (int i = 0; i < 2; i++) {
		memcpy(to, from, p->part[i].bytes);
		narrow(to + p->part[i].bytes, from + p->part[i].bytes, p->part[i].chars);
		to += p->part[i].bytes + 2u * p->part[i].chars;
		from += p->part[i].bytes + 4u * p->part[i].chars;
	}
}

void dxg_widen(const struct dxg_wide_payload *p, unsigned char *to, const unsigned char *from) {
	for (int i = 0; i < 2; i++) {
		memcpy(to, from, p->part[i].bytes);
		widen(to + p->part[i].bytes, from + p->part[i].bytes, p->part[i].chars);
		to += p->part[i].bytes + 4u * p->part[i].chars;
		from += p->part[i].bytes + 2u * p->part[i].chars;
	}
}

static uint32_t query(const struct query_adapter_info *a, void *data, uint32_t size) {
	struct query_adapter_info q = {.adapter = a->adapter, .type = a->type, .data = data, .size = size};
	return dxg_call(dxg_op(OP_QUERY_ADAPTER_INFO), &q);
}

/* D3DDDI_QUERYREGISTRY_INFO: behind the fixed part is the value, which begins in the
 * union at its end. A string takes twice the room here, and says so. */
enum { REG_TYPE_SZ = 1, REG_TYPE_EXPAND_SZ = 2, REG_TYPE_MULTI_SZ = 7 };
enum { WIDE_OUTPUT = 1064, NARROW_OUTPUT = 544, NARROW_VALUE_TYPE = 528, NARROW_SIZE = 536, NARROW_STATUS = 540 };
enum { WIDE_SIZE = 1056, WIDE_STATUS = 1060, STATUS_OVERFLOW = 1, VALUE_MAX = 64 << 10 };

static uint32_t word(const unsigned char *at) {
	uint32_t v;
	memcpy(&v, at, sizeof v);
	return v;
}

static uint32_t query_registry(const struct query_adapter_info *a, const struct dxg_wide_payload *p) {
	size_t room = a->size - WIDE_OUTPUT;
	if (room > VALUE_MAX) room = VALUE_MAX;
	if (!dxg_writable(a->data, WIDE_OUTPUT + room)) return ST_INVALID_PARAMETER;
	unsigned char *narrowed = calloc(1, NARROW_OUTPUT + room), *wide = a->data;
	if (!narrowed) return ST_NO_MEMORY;
	dxg_narrow(p, narrowed, wide);
	uint32_t st = query(a, narrowed, (uint32_t)(NARROW_OUTPUT + room));
	if (ST_OK(st)) {
		uint32_t type = word(narrowed + NARROW_VALUE_TYPE), size = word(narrowed + NARROW_SIZE), status = word(narrowed + NARROW_STATUS);
		bool text = type == REG_TYPE_SZ || type == REG_TYPE_EXPAND_SZ || type == REG_TYPE_MULTI_SZ;
		dxg_widen(p, wide, narrowed); /* the union has its bytes as they are; a string follows */
		if (text) {
			size_t chars = size / 2;
			uint32_t bytes = 2 * size;
			memcpy(wide + WIDE_SIZE, &bytes, sizeof bytes);
			if (status == 0 && 4 * chars <= room) {
				widen(wide + WIDE_OUTPUT, narrowed + NARROW_OUTPUT, chars);
			} else if (status == 0) {
				const uint32_t overflow = STATUS_OVERFLOW;
				const uint64_t none = 0;
				memcpy(wide + WIDE_STATUS, &overflow, sizeof overflow);
				memcpy(wide + WIDE_OUTPUT, &none, sizeof none);
			}
		} else if (status == 0 && size <= room) {
			memcpy(wide + WIDE_OUTPUT, narrowed + NARROW_OUTPUT, size);
		}
	}
	free(narrowed);
	return st;
}

DXG_EXPORT int32_t D3DKMTQueryAdapterInfo(const struct query_adapter_info *a) {
	unsigned char narrowed[DXG_NARROW_MAX];
	if (!a) return (int32_t)ST_INVALID_PARAMETER;
	const struct dxg_wide_payload *p = dxg_wide_payload(a->type);
	if (!p || !a->data) return (int32_t)query(a, a->data, a->size);
	if (a->size < p->wide) return (int32_t)ST_INVALID_PARAMETER;
	if (a->type == QUERY_REGISTRY) return (int32_t)query_registry(a, p);
	if (!dxg_writable(a->data, p->wide)) return (int32_t)ST_INVALID_PARAMETER;
	dxg_narrow(p, narrowed, a->data);
	uint32_t st = query(a, narrowed, p->narrow);
	if (ST_OK(st)) dxg_widen(p, a->data, narrowed);
	return (int32_t)st;
}
