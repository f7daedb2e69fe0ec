/* The form of frames, without a socket: what is sent, what is expected back, what
 * is refused. */
#include "frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                  \
	do {                                                                                  \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);       \
			exit(1);                                                                      \
		}                                                                                 \
	} while (0)

/* A made-up call: count of words going in at 8, four bytes answered at 16. */
static const struct dxg_op op = {
	.nr = 0x77, .name = "made-up", .size = 24, .support = DXG_SUPPORTED,
	.outs = 1, .out = {{16, 4}},
	.arrays = 2, .array = {{.pointer = 8, .count = 0, .elem = 4, .dir = DXG_IN, .max = 1000}, {.pointer = 8, .fixed = 1, .elem = 12, .dir = DXG_OUT, .max = 1}},
};

struct record {
	uint32_t count, zero;
	void *pointer;
	uint32_t answer, end;
};

static size_t gather(const struct dxg_parts *p, unsigned char *to) {
	size_t n = 0;
	for (int i = 0; i < p->count; i++) {
		memcpy(to + n, p->iov[i].iov_base, p->iov[i].iov_len);
		n += p->iov[i].iov_len;
	}
	return n;
}

static uint32_t word(const unsigned char *at) {
	uint32_t v;
	memcpy(&v, at, sizeof v);
	return v;
}

static void requests(void) {
	struct dxg_parts p;
	struct dxg_arrays v;
	struct dxg_reply r = {.bell = 7, .ticket = 9};
	uint32_t head[6];
	uint32_t array[3] = {0xA, 0xB, 0xC};
	struct record record = {.count = 3, .pointer = array, .answer = 1, .end = 0xE};
	unsigned char sent[256];
	CHECK(dxg_encode(&p, head, &op, &record, &v, &r) == ST_SUCCESS);
	size_t n = gather(&p, sent);
	CHECK(n == p.bytes && n == 24 + 24 + (8 + 16) + 8);
	CHECK(word(sent) == (0x77 | 1 << 16) && word(sent + 4) == 24 && word(sent + 8) == 32 && word(sent + 12) == 0);
	CHECK(word(sent + 16) == 7 && word(sent + 20) == 9);
	CHECK(!memcmp(sent + 24, &record, 24));
	CHECK(word(sent + 48) == 12 && word(sent + 52) == 0 && !memcmp(sent + 56, array, 12) && word(sent + 68) == 0);
	CHECK(word(sent + 72) == 12 && word(sent + 76) == 0);
	record.pointer = NULL;
	CHECK(dxg_encode(&p, head, &op, &record, &v, &r) == ST_SUCCESS);
	n = gather(&p, sent);
	CHECK(n == 24 + 24 + 8 + 8 && word(sent + 48) == DXG_NULL_ARRAY && word(sent + 56) == DXG_NULL_ARRAY);
	record.pointer = array;
	record.count = 1001; /* more than may travel */
	CHECK(dxg_encode(&p, head, &op, &record, &v, &r) == ST_INVALID_PARAMETER);
	record.count = 0xFFFFFFFF;
	CHECK(dxg_encode(&p, head, &op, &record, &v, &r) == ST_INVALID_PARAMETER);
	record.count = 0;
	CHECK(dxg_encode(&p, head, &op, &record, &v, &r) == ST_SUCCESS);
	CHECK(v.head[0][0] == 0);
}

/* No frame there is and no frame back may be larger than the largest. */
static void sizes(void) {
	struct dxg_op big = op;
	struct dxg_parts p;
	struct dxg_arrays v;
	struct dxg_reply r = {0};
	uint32_t head[6];
	struct record record = {.pointer = &record};
	big.array[0].max = 1 << 30;
	for (record.count = 30000; record.count < 34000; record.count++) {
		size_t frame = 24 + 24 + 8 + ((4 * (size_t)record.count + 7) & ~(size_t)7) + 8;
		CHECK((dxg_encode(&p, head, &big, &record, &v, &r) == ST_SUCCESS) == (frame <= DXG_MAX_FRAME));
	}
	big.array[0].dir = DXG_OUT;
	record.count = DXG_MAX_FRAME / 4;
	CHECK(dxg_encode(&p, head, &big, &record, &v, &r) == ST_INVALID_PARAMETER);
}

static void replies(void) {
	struct dxg_parts p;
	struct dxg_arrays v;
	struct dxg_reply r = {0};
	struct grant g;
	uint32_t head[6], array[3] = {1, 2, 3};
	struct record record = {.count = 3, .pointer = array}, answer;
	CHECK(dxg_encode(&p, head, &op, &record, &v, &r) == ST_SUCCESS);
	dxg_expect(&p, head, &op, &answer, &v, &g);
	CHECK(p.bytes == 24 + 24 + 8 + 16 + 24);
	CHECK(p.iov[3].iov_base == array && p.iov[3].iov_len == 12); /* straight to the caller */
	const uint32_t good[6] = {0, 0x77, 24, 24, 24, 0};
	v.back[1][0] = 12;
	v.back[1][1] = 0;
	CHECK(dxg_well_formed(good, &op, &v, 24 + 24 + 24 + 24, 0));
	for (int i = 1; i < 6; i++) { /* any other word in the head is another frame */
		uint32_t bad[6];
		memcpy(bad, good, sizeof bad);
		bad[i]++;
		CHECK(!dxg_well_formed(bad, &op, &v, 24 + 24 + 24 + 24, 0));
	}
	for (size_t n = 0; n < 24 + 24 + 24 + 24; n++) CHECK(!dxg_well_formed(good, &op, &v, n, 0));
	CHECK(!dxg_well_formed(good, &op, &v, 24 + 24 + 24 + 24, 1));
	const uint32_t one_file[6] = {0, 0x77 | 1 << 16, 24, 24, 0, 0};
	CHECK(dxg_well_formed(one_file, &op, &v, 24 + 24 + 24, 1));
	v.back[1][0] = 8;
	CHECK(!dxg_well_formed(good, &op, &v, 24 + 24 + 24 + 24, 0));
	const uint32_t failure[6] = {0xC000000D, 0x77, 0, 0, 0, 0};
	CHECK(dxg_well_formed(failure, &op, &v, 24, 0));
	CHECK(!dxg_well_formed(failure, &op, &v, 48, 0));
	const uint32_t pending[6] = {0x103, 0x77, 24, 24, 0, 0};
	v.back[1][0] = 12;
	CHECK(dxg_well_formed(pending, &op, &v, 24 + 24 + 24, 0)); /* a success */
}

/* Every row of the table can be handled by this code, and is found by number and name. */
static void table(void) {
	for (size_t i = 0; i < sizeof dxg_ops / sizeof dxg_ops[0]; i++) {
		const struct dxg_op *o = &dxg_ops[i];
		CHECK(dxg_op(o->nr) && dxg_op(o->nr)->nr == o->nr);
		CHECK(dxg_op_named(o->name) && dxg_op_named(o->name)->nr == o->nr);
		CHECK(o->size <= DXG_RECORD_MAX && o->arrays <= DXG_ARRAYS_MAX && o->files <= DXG_FILES_MAX);
		for (int n = 0; n < o->outs; n++) CHECK((uint32_t)o->out[n].off + o->out[n].len <= o->size);
		for (int n = 0; n < o->arrays; n++) {
			const struct dxg_array *a = &o->array[n], *of = &o->array[a->of];
			uint32_t within = a->from == DXG_FROM_ELEMENTS ? of->elem : o->size;
			CHECK((uint32_t)a->pointer + 8 <= within && (uint32_t)a->count + 4 <= within);
			CHECK(a->from == DXG_FROM_RECORD || (a->of < n && a->dir == DXG_IN && of->from == DXG_FROM_RECORD && of->max <= DXG_ELEMENTS_MAX));
			CHECK(a->from != DXG_FROM_ELEMENTS || of->dir == DXG_INOUT);
			CHECK((a->from != DXG_FROM_ATTRIBUTES && a->from != DXG_FROM_SECURITY) || of->elem == 0x30);
			CHECK(a->from != DXG_FROM_SECURITY || a->max == DXG_SECURITY_MAX);
			CHECK(!a->points_into || (o->array[a->points_into - 1].dir != DXG_IN && a->dir != DXG_IN && a->points_at + 8u <= a->elem));
		}
		for (int n = 0; n < o->files; n++) CHECK((uint32_t)o->file[n].off + 8 <= o->size || o->file[n].array >= 0 || o->file[n].kind == DXG_FILE_MEMORY);
		if (o->request) CHECK(((o->request >> 16) & 0x3FFF) == o->size && ((o->request >> 8) & 0xFF) == 'G' && (o->request & 0xFF) == o->nr);
	}
	CHECK(!dxg_op(0) && !dxg_op(0x7777) && !dxg_op_named("D3DKMTNothing"));
}

/* A union of an array with a number: what can be read travels, what cannot is NULL, and
 * the number is in the record whatever it is. */
static void maybe(void) {
	static struct dxg_op call;
	static uint64_t many[4096];
	static unsigned char sent[64 << 10];
	struct dxg_parts p;
	struct dxg_arrays v;
	struct dxg_reply r = {0};
	uint32_t head[6];
	uint64_t two[2] = {5, 6};
	const struct {
		uint64_t field;
		uint32_t count, bytes; /* bytes: what travels, DXG_NULL_ARRAY for NULL */
	} cases[] = {
		{(uintptr_t)two, 2, 16},
		{(uintptr_t)two, 0, 0},
		{(uintptr_t)many, 4096, sizeof many},
		{0, 1, DXG_NULL_ARRAY},
		{7, 0, 0},
		{7, 1, DXG_NULL_ARRAY},
		{0x1234, 2, DXG_NULL_ARRAY},
		{0x1234, 4096, DXG_NULL_ARRAY},
		{UINT64_MAX, 1, DXG_NULL_ARRAY},
	};
	call = op;
	call.array[0].elem = 8;
	call.array[0].max = 4096;
	call.array[0].maybe = 1;
	call.arrays = 1;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct record record = {.count = cases[i].count, .pointer = (void *)(uintptr_t)cases[i].field};
		CHECK(dxg_encode(&p, head, &call, &record, &v, &r) == ST_SUCCESS);
		gather(&p, sent);
		CHECK(!memcmp(sent + 24, &record, 24) && word(sent + 48) == cases[i].bytes);
		if (cases[i].bytes == 16) CHECK(!memcmp(sent + 56, two, 16));
		dxg_arrays_free(&v);
	}
}

int main(void) {
	maybe();
	requests();
	sizes();
	replies();
	table();
	return 0;
}
