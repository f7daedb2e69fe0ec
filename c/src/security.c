/* Security descriptors, as Microsoft documents them: in the absolute form a program
 * has them with pointers, in the self-relative form with offsets, in one piece.
 *
 *     offset        0         1     2            4      8      0xC    0x10
 *     self-relative revision  sbz1  control u16  owner  group  sacl   dacl    u32 each
 *     offset                                     8      0x10   0x18   0x20
 *     absolute      revision  sbz1  control u16  owner  group  sacl   dacl    pointers */
#include <string.h>

#include "frame.h"

enum {
	REVISION = 1,
	DACL_PRESENT = 0x4,
	SACL_PRESENT = 0x10,
	SACL_BITS = 0x10 | 0x20 | 0x200 | 0x800 | 0x2000, /* whatever speaks of the SACL */
	SELF_RELATIVE = 0x8000,
	HEADER = 20,
	SID_COUNT_MAX = 15,
	PART_HEADER = 8, /* of a SID and of an ACL */
};

enum part { OWNER, GROUP, SACL, DACL, PARTS };

struct relative {
	uint8_t revision, sbz1;
	uint16_t control;
	uint32_t offset[PARTS];
};
struct absolute {
	uint8_t revision, sbz1;
	uint16_t control;
	uint32_t zero;
	uint64_t pointer[PARTS];
};
_Static_assert(sizeof(struct relative) == HEADER, "layout");
_Static_assert(sizeof(struct absolute) == 0x28, "layout");

static bool present(uint16_t control, int part) {
	return part == DACL ? control & DACL_PRESENT : part == SACL ? control & SACL_PRESENT : true;
}

/* The bytes of a SID or an ACL by its header; 0: it is none. */
static size_t part_size(int part, const unsigned char header[PART_HEADER]) {
	uint16_t size;
	if (part == OWNER || part == GROUP) return header[0] == REVISION && header[1] <= SID_COUNT_MAX ? PART_HEADER + 4u * header[1] : 0;
	memcpy(&size, header + 2, sizeof size);
	return size >= PART_HEADER ? size : 0;
}

typedef uint32_t reader(void *to, const void *descriptor, size_t offset, size_t n);

static uint32_t read_caller(void *to, const void *descriptor, size_t offset, size_t n) {
	return dxg_fetch(to, (const char *)descriptor + offset, n) ? ST_SUCCESS : ST_ACCESS_VIOLATION;
}
static uint32_t read_copy(void *to, const void *descriptor, size_t offset, size_t n) {
	memcpy(to, (const char *)descriptor + offset, n);
	return ST_SUCCESS;
}

/* Where a self-relative descriptor ends, which must not be behind most. */
static uint32_t measure(const void *descriptor, reader *get, size_t most, size_t *end) {
	struct relative r;
	uint32_t st = get(&r, descriptor, 0, HEADER);
	if (st) return st;
	if (r.revision != REVISION || !(r.control & SELF_RELATIVE)) return ST_INVALID_PARAMETER;
	*end = HEADER;
	for (int part = 0; part < PARTS; part++) {
		unsigned char header[PART_HEADER];
		size_t at = r.offset[part];
		if (!at || !present(r.control, part)) continue;
		if (at < HEADER || at > most - PART_HEADER) return ST_INVALID_PARAMETER;
		if ((st = get(header, descriptor, at, sizeof header))) return st;
		size_t n = part_size(part, header);
		if (!n || n > most - at) return ST_INVALID_PARAMETER;
		if (at + n > *end) *end = at + n;
	}
	return ST_SUCCESS;
}

static uint32_t copy_relative(const void *descriptor, unsigned char *to, size_t *n) {
	size_t again;
	uint32_t st = measure(descriptor, read_caller, DXG_SECURITY_MAX, n);
	if (!st) st = read_caller(to, descriptor, 0, *n);
	/* The copy is what counts: the caller may have changed its own meanwhile. */
	return st ? st : measure(to, read_copy, *n, &again);
}

/* Append a SID or an ACL to a descriptor of *n bytes. */
static uint32_t append(const void *from, int part, unsigned char *to, size_t *n) {
	unsigned char header[PART_HEADER];
	if (!dxg_fetch(header, from, sizeof header)) return ST_ACCESS_VIOLATION;
	size_t size = part_size(part, header);
	if (!size || size > DXG_SECURITY_MAX - *n) return ST_INVALID_PARAMETER;
	if (!dxg_fetch(to + *n, from, size)) return ST_ACCESS_VIOLATION;
	memcpy(to + *n, header, sizeof header); /* as it was measured */
	*n += size;
	return ST_SUCCESS;
}

static uint32_t flatten(const void *descriptor, unsigned char *to, size_t *n) {
	struct absolute a;
	if (!dxg_fetch(&a, descriptor, sizeof a)) return ST_ACCESS_VIOLATION;
	if (a.revision != REVISION || a.control & SELF_RELATIVE) return ST_INVALID_PARAMETER; /* it was another a moment ago */
	struct relative r = {.revision = a.revision, .sbz1 = a.sbz1, .control = (uint16_t)((a.control & ~SACL_BITS) | SELF_RELATIVE)};
	*n = HEADER;
	for (int part = 0; part < PARTS; part++) {
		if (part == SACL || !a.pointer[part] || !present(a.control, part)) continue;
		r.offset[part] = (uint32_t)*n;
		uint32_t st = append((const void *)(uintptr_t)a.pointer[part], part, to, n);
		if (st) return st;
	}
	memcpy(to, &r, HEADER);
	return ST_SUCCESS;
}

uint32_t dxg_security(const void *descriptor, unsigned char to[DXG_SECURITY_MAX], size_t *n) {
	struct relative first;
	if (!dxg_fetch(&first, descriptor, 4)) return ST_ACCESS_VIOLATION;
	if (first.revision != REVISION) return ST_INVALID_PARAMETER;
	return first.control & SELF_RELATIVE ? copy_relative(descriptor, to, n) : flatten(descriptor, to, n);
}
