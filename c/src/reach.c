/* Pointers that lead on: from the attributes of an object to its name and its
 * security descriptor, from the elements of an array to their data.
 *
 * What points on is copied first, and only the copy is looked at and sent: the
 * caller may be changing its own. What is pointed to travels from where it is, but
 * for a security descriptor, which is made anew. */
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "records.h"

enum { OBJ_INHERIT = 0x2 };

static uint64_t word64(const unsigned char *at) {
	uint64_t v;
	memcpy(&v, at, sizeof v);
	return v;
}
static uint32_t word32(const unsigned char *at) {
	uint32_t v;
	memcpy(&v, at, sizeof v);
	return v;
}

static void set_bytes(struct dxg_arrays *v, int i, size_t n) {
	v->size[i] = n;
	v->head[i][0] = (uint32_t)n;
}

/* Whether an array is copied: others are reached through it, or pointers in it are
 * the library's to answer. */
static bool leads_on(const struct dxg_op *op, int i) {
	if (op->array[i].points_into) return true;
	for (int n = i + 1; n < op->arrays; n++)
		if (op->array[n].from != DXG_FROM_RECORD && op->array[n].of == i) return true;
	return false;
}

static uint32_t copy(const struct dxg_op *op, struct dxg_arrays *v, int i) {
	size_t room = op->array[i].dir == DXG_IN ? v->size[i] : 2 * v->size[i];
	if (v->size[i] / op->array[i].elem > DXG_ELEMENTS_MAX) return ST_INVALID_PARAMETER;
	if (!(v->own[i] = malloc(room + 1))) return ST_NO_MEMORY;
	return dxg_fetch(v->own[i], v->data[i], v->size[i]) ? ST_SUCCESS : ST_ACCESS_VIOLATION;
}

static uint32_t reach_name(struct dxg_arrays *v, int i, const struct object_attributes *attributes) {
	struct unicode_string name;
	if (!attributes->name) return ST_SUCCESS;
	if (!dxg_fetch(&name, (const void *)(uintptr_t)attributes->name, sizeof name)) return ST_ACCESS_VIOLATION;
	if (name.length && !name.buffer) return ST_ACCESS_VIOLATION;
	v->data[i] = (void *)(uintptr_t)name.buffer;
	set_bytes(v, i, name.length);
	return ST_SUCCESS;
}

static uint32_t reach_security(struct dxg_arrays *v, int i, const struct object_attributes *attributes) {
	size_t n;
	if (!attributes->security) return ST_SUCCESS;
	if (!(v->own[i] = malloc(DXG_SECURITY_MAX))) return ST_NO_MEMORY;
	uint32_t st = dxg_security((const void *)(uintptr_t)attributes->security, v->own[i], &n);
	if (!st) set_bytes(v, i, n);
	return st;
}

struct iovec dxg_element(const struct dxg_op *op, const struct dxg_arrays *v, int i, size_t element) {
	const struct dxg_array *a = &op->array[i];
	const unsigned char *at = v->own[a->of] + element * op->array[a->of].elem;
	return (struct iovec){(void *)(uintptr_t)word64(at + a->pointer), (size_t)word32(at + a->count) * a->elem};
}

static uint32_t reach_elements(const struct dxg_op *op, struct dxg_arrays *v, int i) {
	size_t total = 0;
	for (size_t n = 0; n < v->size[op->array[i].of] / op->array[op->array[i].of].elem; n++) {
		struct iovec piece = dxg_element(op, v, i, n);
		if (piece.iov_len && !piece.iov_base) return ST_INVALID_PARAMETER;
		total += piece.iov_len;
		if (total > (size_t)op->array[i].max * op->array[i].elem) return ST_INVALID_PARAMETER;
	}
	set_bytes(v, i, total);
	return ST_SUCCESS;
}

/* An array that may be no array but a number: what cannot be read is none. */
static uint32_t reach_maybe(struct dxg_arrays *v, int i) {
	struct dxg_thread *t = dxg_thread();
	if (!t) return ST_NO_MEMORY;
	if (v->size[i] == 0) return ST_SUCCESS;
	if (v->size[i] < 1 << DXG_PAGE_SHIFT) {
		if (dxg_readable(t, DXG_VALUES, v->data[i], v->size[i])) return ST_SUCCESS;
	} else {
		if (!(v->own[i] = malloc(v->size[i]))) return ST_NO_MEMORY;
		if (dxg_fetch(v->own[i], v->data[i], v->size[i])) return ST_SUCCESS;
		free(v->own[i]);
		v->own[i] = NULL;
	}
	v->data[i] = NULL;
	v->size[i] = 0;
	v->head[i][0] = DXG_NULL_ARRAY;
	return ST_SUCCESS;
}

uint32_t dxg_reach(const struct dxg_op *op, struct dxg_arrays *v) {
	for (int i = 0; i < op->arrays; i++) {
		const struct dxg_array *a = &op->array[i];
		uint32_t st = ST_SUCCESS;
		if (a->from == DXG_FROM_RECORD) {
			if (v->data[i] && leads_on(op, i)) st = copy(op, v, i);
			if (v->data[i] && a->maybe) st = reach_maybe(v, i);
		} else if (v->own[a->of] && a->from == DXG_FROM_ELEMENTS) {
			st = reach_elements(op, v, i);
		} else if (v->own[a->of]) {
			struct object_attributes attributes;
			memcpy(&attributes, v->own[a->of], sizeof attributes);
			v->inherit = attributes.attributes & OBJ_INHERIT;
			st = a->from == DXG_FROM_SECURITY ? reach_security(v, i, &attributes) : reach_name(v, i, &attributes);
		}
		if (st) return st;
		if (a->from != DXG_FROM_RECORD && v->size[i] > (size_t)a->max * a->elem) return ST_INVALID_PARAMETER;
	}
	return ST_SUCCESS;
}

/* The 64-bit pointer at an offset of every element: what the caller has there, or an
 * address in the caller's array for an offset into it. */
static void keep_pointers(const struct dxg_arrays *v, int i, size_t elem, uint16_t at) {
	unsigned char *answer = v->own[i] + v->size[i];
	for (size_t n = at; n + 8 <= v->size[i]; n += elem) memcpy(answer + n, v->own[i] + n, 8);
}
static void make_addresses(const struct dxg_arrays *v, int i, size_t elem, uint16_t at, const void *base) {
	unsigned char *answer = v->own[i] + v->size[i];
	for (size_t n = at; base && n + 8 <= v->size[i]; n += elem) {
		uint64_t address = word64(answer + n) + (uint64_t)(uintptr_t)base;
		memcpy(answer + n, &address, sizeof address);
	}
}

bool dxg_bring_back(const struct dxg_op *op, const struct dxg_arrays *v) {
	for (int i = 0; i < op->arrays; i++) {
		const struct dxg_array *a = &op->array[i];
		if (!v->own[i] || a->dir == DXG_IN) continue;
		for (int n = i + 1; n < op->arrays; n++)
			if (op->array[n].from == DXG_FROM_ELEMENTS && op->array[n].of == i) keep_pointers(v, i, a->elem, op->array[n].pointer);
		if (a->points_into) make_addresses(v, i, a->elem, a->points_at, v->data[a->points_into - 1]);
		if (!dxg_put(v->data[i], v->own[i] + v->size[i], v->size[i])) return false;
	}
	return true;
}
