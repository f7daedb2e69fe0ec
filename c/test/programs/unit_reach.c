/* Pointers that lead on: names, security descriptors, data of allocations. What is
 * sent, what comes back to whom, what is refused. */
#include "frame.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "records.h"

#define CHECK(condition)                                                                  \
	do {                                                                                  \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);       \
			exit(1);                                                                      \
		}                                                                                 \
	} while (0)

static uint64_t at(const void *p) { return (uint64_t)(uintptr_t)p; }

/* The end of memory: what is behind it cannot be read. */
static unsigned char *edge(void) {
	static unsigned char *pages;
	if (!pages) {
		pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(pages != MAP_FAILED && !mprotect(pages + 4096, 4096, PROT_NONE));
	}
	return pages + 4096;
}

/* What was sent, taken apart. */
struct sent {
	uint32_t status;
	unsigned char bytes[DXG_MAX_FRAME];
	unsigned char *array[DXG_ARRAYS_MAX]; /* NULL: the array is */
	uint32_t size[DXG_ARRAYS_MAX];
	bool inherit;
};

static struct sent *encode(const struct dxg_op *op, const void *record) {
	static struct sent s;
	struct dxg_parts p;
	struct dxg_arrays v;
	struct dxg_reply r = {0};
	uint32_t head[6];
	memset(&s, 0, sizeof s);
	s.status = dxg_encode(&p, head, op, record, &v, &r);
	s.inherit = v.inherit;
	if (!s.status) {
		unsigned char *next = s.bytes;
		for (int i = 0; i < p.count; i++) next = mempcpy(next, p.iov[i].iov_base, p.iov[i].iov_len);
		CHECK(next == s.bytes + p.bytes && !memcmp(s.bytes + DXG_HEADER, record, op->size));
		next = s.bytes + DXG_HEADER + op->size;
		for (int i = 0; i < op->arrays; i++) {
			uint32_t size;
			memcpy(&size, next, sizeof size);
			next += 8;
			if (size == DXG_NULL_ARRAY) continue;
			s.size[i] = size;
			s.array[i] = next;
			if (op->array[i].dir != DXG_OUT) next += (size + 7) & ~7u;
		}
		CHECK(next == s.bytes + p.bytes);
	}
	dxg_arrays_free(&v);
	return &s;
}

enum { ATTRIBUTES = 1, NAME = 3, SECURITY = 4 };

static struct sent *encode_share(const struct object_attributes *a) {
	struct share_objects record = {.attributes = a};
	return encode(dxg_op(OP_SHARE_OBJECTS), &record);
}

static void names(void) {
	static uint16_t text[] = {'\\', 'X'};
	struct unicode_string name = {.length = 3, .room = 4, .buffer = at(text)};
	struct object_attributes a = {.length = 0x30, .name = at(&name)};
	struct sent *s = encode_share(NULL);
	CHECK(!s->status && !s->array[ATTRIBUTES] && !s->array[NAME] && !s->array[SECURITY]);
	s = encode_share(&a);
	CHECK(!s->status && s->size[ATTRIBUTES] == 0x30 && !memcmp(s->array[ATTRIBUTES], &a, sizeof a));
	CHECK(s->array[NAME] && s->size[NAME] == 3 && !memcmp(s->array[NAME], text, 3) && s->array[NAME][3] == 0);
	CHECK(!s->array[SECURITY] && !s->inherit);
	a.attributes = 2;
	CHECK(encode_share(&a)->inherit);
	name.length = 0; /* empty, wherever it is */
	for (int i = 0; i < 2; i++, name.buffer = 0) {
		s = encode_share(&a);
		CHECK(!s->status && s->array[NAME] && s->size[NAME] == 0);
	}
	name.length = 2;
	CHECK(encode_share(&a)->status == ST_ACCESS_VIOLATION);
	for (size_t there = 0; there < sizeof name; there++) { /* only so much of it can be read */
		a.name = at(edge() - there);
		CHECK(encode_share(&a)->status == ST_ACCESS_VIOLATION);
	}
	name.length = 4;
	a.name = at(memcpy(edge() - sizeof name, &(struct unicode_string){.length = 4, .buffer = at(text)}, sizeof name));
	s = encode_share(&a);
	CHECK(!s->status && s->size[NAME] == 4);
	a.name = 0;
	s = encode_share(&a);
	CHECK(!s->status && !s->array[NAME] && s->array[ATTRIBUTES]);
	CHECK(encode_share((void *)edge())->status == ST_ACCESS_VIOLATION);
	CHECK(encode_share((void *)(edge() - 0x20))->status == ST_ACCESS_VIOLATION);
	CHECK(encode_share((void *)UINTPTR_MAX)->status == ST_ACCESS_VIOLATION);
}

/* What was looked at is what is sent, whatever the caller does meanwhile. */
static void changing(void) {
	static uint16_t text[] = {'X'};
	struct unicode_string name = {.length = 2, .buffer = at(text)};
	struct object_attributes a = {.length = 0x30, .name = at(&name)}, was = a;
	struct share_objects record = {.attributes = &a};
	struct dxg_parts p;
	struct dxg_arrays v;
	struct dxg_reply r = {0};
	uint32_t head[6];
	CHECK(!dxg_encode(&p, head, dxg_op(OP_SHARE_OBJECTS), &record, &v, &r));
	memset(&a, 0xFF, sizeof a);
	memset(&name, 0xFF, sizeof name);
	CHECK(v.size[NAME] == 2 && v.data[NAME] == text && !memcmp(v.own[ATTRIBUTES], &was, sizeof was) && !v.inherit);
	for (int i = 0; i < p.count; i++) CHECK(p.iov[i].iov_base != &a);
	dxg_arrays_free(&v);
}

struct absolute {
	uint8_t revision, sbz1;
	uint16_t control;
	uint32_t zero;
	uint64_t owner, group, sacl, dacl;
};

static const unsigned char admins[] = {1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 32, 2, 0, 0};
static const unsigned char world[] = {1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
static const unsigned char list[] = {2, 0, 28, 0, 1, 0, 0, 0, 0, 0, 20, 0, 0, 0, 0, 16, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};

static struct sent *encode_security(const void *descriptor) {
	struct object_attributes a = {.length = 0x30, .security = at(descriptor)};
	return encode_share(&a);
}

static void absolute(void) {
	struct absolute d = {.revision = 1, .control = 4 | 8 | 0x10 | 0x2000, .owner = at(admins), .group = at(world), .sacl = at(edge()), .dacl = at(list)};
	const unsigned char want[] = {1, 0, 0x0C, 0x80, 20, 0, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 48, 0, 0, 0};
	struct sent *s = encode_security(&d);
	CHECK(!s->status && s->size[SECURITY] == 20 + sizeof admins + sizeof world + sizeof list);
	const unsigned char *got = s->array[SECURITY];
	CHECK(!memcmp(got, want, 20) && !memcmp(got + 20, admins, sizeof admins) && !memcmp(got + 36, world, sizeof world) && !memcmp(got + 48, list, sizeof list));
	d.owner = d.dacl = 0; /* everybody may do everything: a list that is present and NULL */
	const unsigned char open[] = {1, 0, 0x0C, 0x80, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	s = encode_security(&d);
	CHECK(!s->status && s->size[SECURITY] == 20 + sizeof world && !memcmp(s->array[SECURITY], open, 20));
	d.dacl = at(edge()); /* not looked at: there is none */
	d.control = 0;
	s = encode_security(&d);
	CHECK(!s->status && s->size[SECURITY] == 20 + sizeof world);
	d.control = 4;
	CHECK(encode_security(&d)->status == ST_ACCESS_VIOLATION);
	d.dacl = 0;
	d.group = at(memcpy(edge() - 8, world, 8));
	CHECK(encode_security(&d)->status == ST_ACCESS_VIOLATION);
	d.group = at(memcpy(edge() - 4, world, 4));
	CHECK(encode_security(&d)->status == ST_ACCESS_VIOLATION);
	CHECK(encode_security(memcpy(edge() - 0x20, &d, 0x20))->status == ST_ACCESS_VIOLATION);
	CHECK(encode_security(edge())->status == ST_ACCESS_VIOLATION);
}

static void malformed(void) {
	unsigned char sid[8 + 4 * 16] = {1, 15}, acl[32] = {2, 0, 8};
	struct absolute d = {.revision = 1, .control = 4, .owner = at(sid), .dacl = at(acl)};
	CHECK(encode_security(&d)->size[SECURITY] == 20 + 68 + 8);
	sid[1] = 16;
	CHECK(encode_security(&d)->status == ST_INVALID_PARAMETER);
	sid[1] = 15;
	sid[0] = 2;
	CHECK(encode_security(&d)->status == ST_INVALID_PARAMETER);
	sid[0] = 1;
	acl[2] = 7;
	CHECK(encode_security(&d)->status == ST_INVALID_PARAMETER);
	acl[2] = 8;
	d.revision = 2;
	CHECK(encode_security(&d)->status == ST_INVALID_PARAMETER);
	d.revision = 1;
	static unsigned char large[0x10000] = {2};
	d.dacl = at(large);
	for (uint32_t size = DXG_SECURITY_MAX - 100; size < DXG_SECURITY_MAX; size++) {
		memcpy(large + 2, &size, 2);
		CHECK((encode_security(&d)->status == ST_SUCCESS) == (20 + 68 + size <= DXG_SECURITY_MAX));
	}
	memset(large + 2, 0xFF, 2);
	CHECK(encode_security(&d)->status == ST_INVALID_PARAMETER);
}

static void relative(void) {
	struct {
		uint8_t revision, sbz1;
		uint16_t control;
		uint32_t owner, group, sacl, dacl;
		unsigned char parts[64];
	} d = {.revision = 1, .control = 0x8004, .owner = 24, .group = 40, .dacl = 52}, bad;
	memcpy(d.parts + 4, admins, sizeof admins);
	memcpy(d.parts + 20, world, sizeof world);
	memcpy(d.parts + 32, list, sizeof list);
	struct sent *s = encode_security(&d);
	CHECK(!s->status && s->size[SECURITY] == 80 && !memcmp(s->array[SECURITY], &d, 80));
	CHECK(!encode_security(memcpy(edge() - 80, &d, 80))->status); /* not a byte more is read */
	for (size_t there = 0; there < 80; there++) CHECK(encode_security(memcpy(edge() - there, &d, there))->status == ST_ACCESS_VIOLATION);
	const uint32_t wrong[] = {1, 19, DXG_SECURITY_MAX - 7, DXG_SECURITY_MAX, 0x80000000, 0xFFFFFFFF};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		bad = d;
		bad.owner = wrong[i];
		CHECK(encode_security(&bad)->status == ST_INVALID_PARAMETER);
		bad = d;
		bad.dacl = wrong[i];
		CHECK(encode_security(&bad)->status == ST_INVALID_PARAMETER);
		bad.control = 0x8000; /* then it means nothing */
		CHECK(encode_security(&bad)->size[SECURITY] == 52);
	}
	bad = d;
	bad.owner = bad.group = bad.dacl = 0;
	CHECK(encode_security(&bad)->size[SECURITY] == 20);
	bad.revision = 0;
	CHECK(encode_security(&bad)->status == ST_INVALID_PARAMETER);
}

struct create_allocation { /* D3DKMT_CREATEALLOCATION */
	uint32_t device, resource, share, zero;
	uint64_t runtime;
	uint32_t runtime_size, zero2;
	uint64_t data;
	uint32_t data_size, count;
	uint64_t allocations;
	uint32_t flags, zero3;
	uint64_t own;
};
struct allocation { /* D3DDDI_ALLOCATIONINFO2 */
	uint32_t handle, zero;
	uint64_t memory, data;
	uint32_t size, source, flags, zero2;
	uint64_t gpu, rest[6];
};
_Static_assert(sizeof(struct create_allocation) == 72 && sizeof(struct allocation) == 96, "layout");
enum { RUNTIME, STANDARD, DRIVER, ALLOCATIONS, DATA };

static void conditions(void) {
	unsigned char data[24];
	struct create_allocation c = {.data = at(data), .data_size = 5};
	struct sent *s = encode(dxg_op(OP_CREATE_ALLOCATION2), &c);
	CHECK(!s->status && !s->array[STANDARD] && s->size[DRIVER] == 5);
	c.flags = 1 << 16;
	s = encode(dxg_op(OP_CREATE_ALLOCATION2), &c);
	CHECK(!s->status && s->size[STANDARD] == 24 && !s->array[DRIVER] && !s->array[ALLOCATIONS] && !s->array[DATA]);
}

static void elements(void) {
	struct allocation a[257] = {{.data = at("abc"), .size = 3}, {.data = at("never")}, {.size = 0}, {.data = at("defg"), .size = 4}};
	struct create_allocation c = {.count = 4, .allocations = at(a)};
	const struct dxg_op *op = dxg_op(OP_CREATE_ALLOCATION2);
	struct sent *s = encode(op, &c);
	CHECK(!s->status && s->size[ALLOCATIONS] == 4 * 96 && !memcmp(s->array[ALLOCATIONS], a, 4 * 96));
	CHECK(s->size[DATA] == 7 && !memcmp(s->array[DATA], "abcdefg\0", 8));
	c.count = 0;
	s = encode(op, &c);
	CHECK(!s->status && s->array[DATA] && s->size[DATA] == 0);
	c.count = 257;
	CHECK(encode(op, &c)->status == ST_INVALID_PARAMETER);
	c.count = 3;
	a[2].size = 1;
	CHECK(encode(op, &c)->status == ST_INVALID_PARAMETER);
	static unsigned char large[16384];
	a[2].data = at(large);
	a[2].size = 16384 - 3;
	CHECK(encode(op, &c)->size[DATA] == 16384);
	a[2].size++;
	CHECK(encode(op, &c)->status == ST_INVALID_PARAMETER);
	a[2].size = 0xFFFFFFFF;
	CHECK(encode(op, &c)->status == ST_INVALID_PARAMETER);
	for (int i = 0; i < 256; i++) a[i] = (struct allocation){.data = at(large + i), .size = 64};
	c.count = 256;
	CHECK(encode(op, &c)->size[DATA] == 16384);
	c.allocations = at(edge() - 4);
	CHECK(encode(op, &c)->status == ST_ACCESS_VIOLATION);
}

/* ---- with a peer ---- */

static struct dxg_image image;
static int peer;

static struct dxg_session *session(void) {
	struct dxg_session *s = &image.session[0];
	int pair[2];
	if (s->image) return s;
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&image.lock, NULL);
	s->image = &image;
	atomic_store(&s->fd, pair[0]);
	atomic_store(&s->cookie, dxg_cookie(pair[0]));
	peer = pair[1];
	return s;
}

/* Queue the answer of a success; a file, if not -1, goes along. */
static void answer(const struct dxg_op *op, const void *record, const void *arrays, size_t n, int file) {
	unsigned char frame[4096];
	uint32_t head[6] = {0, op->nr | (file >= 0) << 16, op->size, (uint32_t)n, 0, 0};
	memcpy(frame, head, sizeof head);
	memcpy(frame + 24, record, op->size);
	if (n) memcpy(frame + 24 + op->size, arrays, n);
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	memset(&control, 0, sizeof control);
	struct iovec iov = {frame, 24 + op->size + n};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	if (file >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof control;
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof file);
		memcpy(CMSG_DATA(h), &file, sizeof file);
	}
	CHECK(sendmsg(peer, &m, 0) == (ssize_t)iov.iov_len);
}

static uint32_t request(const struct dxg_op *op, void *record) {
	unsigned char sent[DXG_MAX_FRAME];
	struct dxg_reply r = {0};
	struct dxg_session *s = session();
	uint32_t st = dxg_request(s, op, record, &r);
	if (!st) CHECK(recv(peer, sent, sizeof sent, MSG_DONTWAIT) > 0);
	return st;
}

/* Answers come to the caller; pointers in elements stay its own. */
static void allocations(void) {
	const struct dxg_op *op = dxg_op(OP_CREATE_ALLOCATION2);
	struct allocation a[2] = {{.data = at("x"), .size = 1, .memory = 5}, {0}};
	struct create_allocation c = {.count = 2, .allocations = at(a)}, answered = {.resource = 7, .share = 8};
	struct {
		uint32_t size, zero;
		struct allocation a[2];
	} out = {.size = sizeof a, .a = {{.handle = 1, .data = 99, .gpu = 6, .memory = 5}, {.handle = 2, .data = 77}}};
	session();
	answer(op, &answered, &out, sizeof out, -1);
	CHECK(request(op, &c) == ST_SUCCESS && c.resource == 7 && c.share == 8);
	CHECK(a[0].handle == 1 && a[0].data == at("x") && a[0].size == 0 && a[0].memory == 5 && a[0].gpu == 6);
	CHECK(a[1].handle == 2 && a[1].data == 0);
	struct allocation *fixed = memcpy(edge() - sizeof a, a, sizeof a); /* can be read only */
	CHECK(!mprotect(edge() - 4096, 4096, PROT_READ));
	c.allocations = at(fixed);
	a[0].data = 0;
	answer(op, &answered, &out, sizeof out, -1);
	CHECK(request(op, &c) == ST_ACCESS_VIOLATION && recv(peer, &out, sizeof out, MSG_DONTWAIT) > 0);
	CHECK(!mprotect(edge() - 4096, 4096, PROT_READ | PROT_WRITE));
}

struct open_resource { /* D3DKMT_OPENRESOURCE */
	uint32_t device, share, count, zero;
	uint64_t allocations, runtime;
	uint32_t runtime_size, zero2;
	uint64_t resource_data;
	uint32_t resource_size, zero3;
	uint64_t data;
	uint32_t data_size, resource;
};
struct opened { /* D3DDDI_OPENALLOCATIONINFO2 */
	uint32_t handle, zero;
	uint64_t data;
	uint32_t size, zero2;
	uint64_t gpu, rest[6];
};
_Static_assert(sizeof(struct open_resource) == 72 && sizeof(struct opened) == 80, "layout");

/* An offset that is answered becomes an address in the caller's buffer. */
static void open_resource(void) {
	const struct dxg_op *op = dxg_op(OP_OPEN_RESOURCE);
	unsigned char data[8] = {0};
	struct opened a[2];
	struct open_resource o = {.count = 2, .allocations = at(a), .data = at(data), .data_size = 8}, answered = {.resource = 3, .data_size = 5};
	struct {
		uint32_t size, zero;
		struct opened a[2];
		uint32_t none[4], data_size, zero2;
		unsigned char data[8];
	} out = {.size = sizeof a, .a = {{.handle = 1, .size = 2}, {.handle = 2, .data = 2, .size = 3}},
		.none = {DXG_NULL_ARRAY, 0, DXG_NULL_ARRAY, 0}, .data_size = 8, .data = "abcde"};
	memset(a, 0xEE, sizeof a);
	answer(op, &answered, &out, sizeof out, -1);
	CHECK(request(op, &o) == ST_SUCCESS && o.resource == 3 && o.data_size == 5 && !memcmp(data, "abcde", 5));
	CHECK(a[0].handle == 1 && a[0].data == at(data) && a[1].handle == 2 && a[1].data == at(data + 2) && a[1].size == 3);
	o.data = o.data_size = 0;
	out.data_size = DXG_NULL_ARRAY;
	out.a[1].data = 0;
	answer(op, &answered, &out, sizeof out - 8, -1);
	CHECK(request(op, &o) == ST_SUCCESS && a[0].data == 0 && a[1].data == 0);
}

/* The first version's elements travel as the second's. */
static void first_versions(void) {
	struct {
		uint32_t handle, zero;
		uint64_t memory, data;
		uint32_t size, source, flags, zero2;
	} a[2] = {{.memory = 5, .data = at("xy"), .size = 2, .source = 6, .flags = 1}, {.source = 7}};
	struct create_allocation c = {.count = 2, .allocations = at(a)}, answered = {.resource = 7};
	struct {
		uint32_t size, zero;
		struct allocation a[2];
	} out = {.size = sizeof out.a, .a = {{.handle = 1, .size = 2, .memory = 5, .gpu = 9}, {.handle = 2}}};
	struct dxg_op op = *dxg_op(OP_CREATE_ALLOCATION2);
	static unsigned char frame[DXG_MAX_FRAME];
	const struct dxg_elements sizes = {sizeof a[0], sizeof(struct allocation), 0x24};
	op.support = DXG_NOT_SUPPORTED;
	CHECK(dxg_call_with_first(&op, &c, sizes) == ST_NOT_SUPPORTED); /* as the table says, before anything else */
	op.support = DXG_SUPPORTED;
	CHECK(dxg_call_with_first(&op, NULL, sizes) == ST_INVALID_PARAMETER);
	atomic_store(&dxg_root.image, &image);
	answer(&op, &answered, &out, sizeof out, -1);
	CHECK(dxg_call_with_first(&op, &c, sizes) == ST_SUCCESS && c.resource == 7 && c.allocations == at(a));
	CHECK(a[0].handle == 1 && a[0].memory == 5 && a[0].data == at("xy") && a[0].size == 2 && a[1].handle == 2 && a[1].data == 0);
	CHECK(recv(peer, frame, sizeof frame, MSG_DONTWAIT) > 0);
	struct allocation *sent = (struct allocation *)(frame + 24 + 72 + 3 * 8 + 8);
	CHECK(sent[0].memory == 5 && sent[0].data == at("xy") && sent[0].size == 2 && sent[0].source == 6 && sent[0].flags == 1 && sent[0].gpu == 0);
	CHECK(sent[1].source == 7 && !memcmp(frame + 24 + 72 + 3 * 8 + 8 + 2 * 96 + 8, "xy", 2));
	c.allocations = at(edge() - 8);
	CHECK(dxg_call_with_first(&op, &c, sizes) == ST_INVALID_PARAMETER);
	c.count = 257;
	CHECK(dxg_call_with_first(&op, &c, sizes) == ST_INVALID_PARAMETER);
	CHECK(recv(peer, frame, sizeof frame, MSG_DONTWAIT) < 0); /* nothing was sent */
	atomic_store(&dxg_root.image, NULL);
}

/* The descriptor is closed by exec unless the attributes say that it is inherited. */
static void inherited(void) {
	struct object_attributes a = {.length = 0x30};
	struct {
		uint32_t access, zero;
		const struct object_attributes *attributes;
		uint64_t handle;
	} record = {.attributes = &a}, answered = {0};
	const struct dxg_op *op = dxg_op_named("D3DKMTOpenNtHandleFromName");
	for (int i = 0; i < 2; i++, a.attributes = 2) {
		record.handle = 0;
		answer(op, &answered, NULL, 0, peer);
		CHECK(request(op, &record) == ST_SUCCESS && record.handle != 0);
		int flags = fcntl((int)record.handle, F_GETFD);
		CHECK(flags >= 0 && !(flags & FD_CLOEXEC) == (a.attributes == 2));
		close((int)record.handle);
	}
	uint16_t gone = 0;
	struct unicode_string name = {.length = 2, .buffer = at(edge())};
	a.name = at(&name);
	CHECK(request(op, &record) == ST_ACCESS_VIOLATION && recv(peer, &gone, sizeof gone, MSG_DONTWAIT) < 0);
}

static void requests(void) {
	names();
	changing();
	absolute();
	malformed();
	relative();
	conditions();
	elements();
}

/* The same where the system does not let anybody copy by process_vm_readv. */
static void forbidden(void) {
	struct sock_filter only[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof only / sizeof only[0], only};
	pid_t child = fork();
	int status;
	CHECK(child >= 0);
	if (child == 0) {
		CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
		CHECK(syscall(SYS_process_vm_readv, getpid(), NULL, 0UL, NULL, 0UL, 0UL) < 0 && errno == EPERM);
		requests();
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
	requests();
	forbidden();
	allocations();
	open_resource();
	inherited();
	first_versions();
	return 0;
}
