/* One request and its reply, driven by the operation table alone.
 *
 * A frame is one message of a SOCK_SEQPACKET socket. Arrays travel from and to the
 * caller's memory without a copy: the system reads and writes them, so a pointer
 * that leads nowhere is EFAULT and no crash. A reply that is a failure has only its
 * header, so nothing of the caller's is written then. Only arrays that lead on to
 * others are copied. docs/protocol-wire.md. */
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "frame.h"

static void unpack(const void *from, void *to, size_t n) { memcpy(to, from, n); }

static uint32_t get32(const void *at) {
	uint32_t v;
	unpack(at, &v, sizeof v);
	return v;
}
static uint64_t get64(const void *at) {
	uint64_t v;
	unpack(at, &v, sizeof v);
	return v;
}

static size_t pad8(size_t n) { return (n + 7) & ~(size_t)7; }
static bool goes_in(const struct dxg_array *a) { return a->dir != DXG_OUT; }
static bool goes_out(const struct dxg_array *a) { return a->dir != DXG_IN; }

static void add(struct dxg_parts *p, const void *base, size_t n) {
	if (n == 0) return;
	p->iov[p->count++] = (struct iovec){(void *)base, n};
	p->bytes += n;
}

static bool holds(const unsigned char *record, uint16_t off, uint32_t mask, uint32_t value) {
	return !mask || (get32(record + off) & mask) == value;
}

/* The arrays that the record points to. false: more than may travel. */
static bool find_arrays(const struct dxg_op *op, const unsigned char *record, struct dxg_arrays *v) {
	for (int i = 0; i < op->arrays; i++) {
		const struct dxg_array *a = &op->array[i];
		bool direct = a->from == DXG_FROM_RECORD && holds(record, a->when_off, a->when_mask, a->when_value);
		uint64_t pointer = direct ? get64(record + a->pointer) : 0;
		uint64_t count = a->fixed ? a->fixed : get32(record + a->count);
		v->data[i] = (void *)(uintptr_t)pointer;
		v->size[i] = 0;
		v->head[i][0] = DXG_NULL_ARRAY;
		v->head[i][1] = 0;
		if (!pointer) continue;
		if (count > a->max || count * a->elem > DXG_MAX_FRAME) return false;
		v->size[i] = (size_t)count * a->elem;
		v->head[i][0] = (uint32_t)v->size[i];
	}
	return true;
}

void dxg_arrays_free(struct dxg_arrays *v) {
	for (int i = 0; i < DXG_ARRAYS_MAX; i++) free(v->own[i]);
}

static const char zeros[8];

/* The bytes of an array on their way to the kernel. */
static void add_array(struct dxg_parts *p, const struct dxg_op *op, const struct dxg_arrays *v, int i) {
	const struct dxg_array *a = &op->array[i];
	if (a->from == DXG_FROM_ELEMENTS && v->size[i]) {
		for (size_t n = 0; n < v->size[a->of] / op->array[a->of].elem; n++) {
			struct iovec piece = dxg_element(op, v, i, n);
			add(p, piece.iov_base, piece.iov_len);
		}
	} else {
		add(p, v->own[i] ? v->own[i] : v->data[i], v->size[i]);
	}
	add(p, zeros, pad8(v->size[i]) - v->size[i]);
}

/* INVALID_PARAMETER: more than a frame holds, there or back. */
uint32_t dxg_encode(struct dxg_parts *p, uint32_t head[6], const struct dxg_op *op, const void *record, struct dxg_arrays *v, const struct dxg_reply *r) {
	size_t back = DXG_HEADER + op->size + sizeof(struct grant);
	memset(v->own, 0, sizeof v->own);
	v->inherit = false;
	if (!find_arrays(op, record, v)) return ST_INVALID_PARAMETER;
	uint32_t st = dxg_reach(op, v);
	if (st) return st;
	p->count = 0;
	p->bytes = 0;
	add(p, head, DXG_HEADER);
	add(p, record, op->size);
	size_t before = p->bytes;
	for (int i = 0; i < op->arrays; i++) {
		add(p, v->head[i], 8);
		if (goes_in(&op->array[i])) add_array(p, op, v, i);
		if (goes_out(&op->array[i])) back += 8 + pad8(v->size[i]);
	}
	head[0] = op->nr | DXG_VERSION << 16;
	head[1] = op->size;
	head[2] = (uint32_t)(p->bytes - before);
	head[3] = 0;
	head[4] = r->bell;
	head[5] = r->ticket;
	return p->bytes <= DXG_MAX_FRAME && back <= DXG_MAX_FRAME ? ST_SUCCESS : ST_INVALID_PARAMETER;
}

/* Where the pieces of a successful reply go; its grant is left to the end. */
void dxg_expect(struct dxg_parts *p, uint32_t head[6], const struct dxg_op *op, void *record, struct dxg_arrays *v, struct grant *grant) {
	p->count = 0;
	p->bytes = 0;
	add(p, head, DXG_HEADER);
	add(p, record, op->size);
	for (int i = 0; i < op->arrays; i++) {
		if (!goes_out(&op->array[i])) continue;
		add(p, v->back[i], 8);
		add(p, v->own[i] ? v->own[i] + v->size[i] : v->data[i], v->size[i]);
		add(p, v->pad, pad8(v->size[i]) - v->size[i]);
	}
	add(p, grant, sizeof *grant);
}

/* Whether a reply of n bytes and so many descriptors is one to this request. */
bool dxg_well_formed(const uint32_t head[6], const struct dxg_op *op, const struct dxg_arrays *v, size_t n, int files) {
	if (n < DXG_HEADER || (head[1] & 0xFFFF) != op->nr || (int)(head[1] >> 16) != files || head[5] != 0) return false;
	if (!ST_OK(head[0])) return n == DXG_HEADER && files == 0 && head[2] == 0 && head[3] == 0 && head[4] == 0;
	size_t arrays = 0;
	for (int i = 0; i < op->arrays; i++) {
		if (!goes_out(&op->array[i])) continue;
		if (v->back[i][0] != v->head[i][0] || v->back[i][1] != 0) return false;
		arrays += 8 + pad8(v->size[i]);
	}
	return head[2] == op->size && head[3] == arrays && (head[4] == 0 || head[4] == sizeof(struct grant)) && n == DXG_HEADER + head[2] + head[3] + head[4];
}

/* ---- descriptors ---- */

struct control {
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int) * DXG_FILES_MAX)];
};

/* Collect the descriptors that go along. check: find out which of them are none. */
static int collect(const struct dxg_op *op, const unsigned char *record, int file[DXG_FILES_MAX], uint32_t *bits, bool check) {
	int n = 0, inward = 0;
	*bits = 0;
	for (int i = 0; i < op->files; i++) {
		const struct dxg_file *f = &op->file[i];
		if (f->dir == DXG_OUT) continue;
		uint64_t value = holds(record, f->when_off, f->when_mask, f->when_value) ? get64(record + f->off) : 0;
		uint32_t how = 0;
		if (value != 0) {
			how = value > INT_MAX || (check && fcntl((int)value, F_GETFD) < 0) ? 2 : 1;
			if (how == 1) file[n++] = (int)value;
		}
		*bits |= how << (2 * inward++);
	}
	return n;
}

static void attach(struct msghdr *m, struct control *c, const int *file, int n) {
	m->msg_control = NULL;
	m->msg_controllen = 0;
	if (n == 0) return;
	memset(c, 0, sizeof *c);
	m->msg_control = c->room;
	m->msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)n);
	struct cmsghdr *h = CMSG_FIRSTHDR(m);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)n);
	memcpy(CMSG_DATA(h), file, sizeof(int) * (size_t)n);
}

/* The descriptors of a message. 0 means "none" in every field, so the number 0 is
 * exchanged for another. */
static int detach(struct msghdr *m, int file[DXG_FILES_MAX]) {
	int n = 0;
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
		size_t count = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count && n < DXG_FILES_MAX; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(h) + i * sizeof fd, sizeof fd);
			if (fd == 0) {
				fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
				close(0);
			}
			file[n++] = fd;
		}
	}
	return n;
}

static void close_all(const int *file, int n) {
	for (int i = 0; i < n; i++)
		if (file[i] >= 0) close(file[i]);
}

/* Put the descriptors of a reply where the operation says; the rest is r's. */
static void deliver(const struct dxg_op *op, unsigned char *record, const struct dxg_arrays *v, const int *file, int n, struct dxg_reply *r) {
	int next = 0;
	r->files = 0;
	for (int i = 0; i < op->files && next < n; i++) {
		const struct dxg_file *f = &op->file[i];
		if (f->dir != DXG_OUT) continue;
		uint64_t value = (uint64_t)file[next];
		if (f->kind == DXG_FILE_NT_HANDLE && v->inherit) fcntl(file[next], F_SETFD, 0);
		if (f->kind == DXG_FILE_MEMORY) r->file[r->files++] = file[next];
		else if (f->array >= 0) unpack(&value, v->data[f->array], sizeof value);
		else unpack(&value, record + f->off, sizeof value);
		next++;
	}
	for (; next < n; next++) r->file[r->files++] = file[next];
}

/* ---- the exchange ---- */

static uint32_t lost(struct dxg_session *s) {
	if (s->young) return ST_DEVICE_REMOVED;
	dxg_image_end(s->image, ST_DEVICE_REMOVED, true);
	return dxg_ended(s->image);
}

/* A daemon at a limit answers Hello with NO_MEMORY, unasked, and hangs up: that is
 * noticed first, and the answer can still be read. */
static bool refused(const struct dxg_session *s) { return s->young && (errno == EPIPE || errno == ECONNRESET); }

static uint32_t send_request(struct dxg_session *s, const struct dxg_op *op, const void *record, struct dxg_parts *p, uint32_t head[6]) {
	struct control control;
	int file[DXG_FILES_MAX];
	for (int check = 0;; check = 1) {
		struct msghdr m = {.msg_iov = p->iov, .msg_iovlen = (size_t)p->count};
		attach(&m, &control, file, collect(op, record, file, &head[3], check));
		ssize_t n;
		do n = sendmsg(dxg_session_fd(s), &m, MSG_NOSIGNAL);
		while (n < 0 && errno == EINTR);
		if (n >= 0) return ST_SUCCESS;
		if (errno == EFAULT) return ST_ACCESS_VIOLATION;
		if (errno == EBADF && !check && head[3] != 0) continue; /* one of them is none; say which */
		if (refused(s)) return ST_SUCCESS;
		if (errno == ENOBUFS || errno == ENOMEM || errno == ETOOMANYREFS || errno == EMSGSIZE) return ST_NO_MEMORY;
		return lost(s);
	}
}

static ssize_t receive(struct dxg_session *s, struct msghdr *m, struct control *c) {
	ssize_t n;
	do {
		m->msg_control = c->room;
		m->msg_controllen = sizeof c->room;
		n = recvmsg(dxg_session_fd(s), m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	return n;
}

static uint32_t receive_reply(struct dxg_session *s, const struct dxg_op *op, unsigned char *record, struct dxg_parts *p, uint32_t head[6], struct dxg_arrays *v, struct dxg_reply *r) {
	unsigned char answer[DXG_RECORD_MAX];
	struct control control;
	int file[DXG_FILES_MAX];
	memset(head, 0, DXG_HEADER);
	dxg_expect(p, head, op, answer, v, &r->grant);
	struct msghdr m = {.msg_iov = p->iov, .msg_iovlen = (size_t)p->count};
	ssize_t n = receive(s, &m, &control);
	if (n < 0 && refused(s)) n = receive(s, &m, &control);
	if (n < 0 && errno == EFAULT) return ST_ACCESS_VIOLATION; /* the message is gone, its descriptors too */
	if (n <= 0) return lost(s);
	int files = detach(&m, file);
	if (m.msg_flags & MSG_CTRUNC) { /* this process has no descriptor numbers left */
		close_all(file, files);
		files = 0;
		head[1] &= 0xFFFF;
	}
	if (m.msg_flags & MSG_TRUNC || !dxg_well_formed(head, op, v, (size_t)n, files)) {
		close_all(file, files);
		return lost(s);
	}
	if (!ST_OK(head[0])) return head[0];
	if (!dxg_bring_back(op, v)) {
		close_all(file, files);
		return ST_ACCESS_VIOLATION;
	}
	if (head[4] == 0) r->grant.kind = 0;
	for (int i = 0; i < op->outs; i++) memcpy(record + op->out[i].off, answer + op->out[i].off, op->out[i].len);
	deliver(op, record, v, file, files, r);
	if (m.msg_flags & MSG_CTRUNC && r->grant.kind == 0) return ST_NO_MEMORY;
	return head[0];
}

/* The program has closed the descriptor behind our back. The library's own session
 * has no other. */
static uint32_t closed(struct dxg_session *s) {
	if (s == &s->image->session[0]) {
		atomic_store(&s->cookie, 0);
		dxg_image_end(s->image, ST_DEVICE_REMOVED, false);
	}
	return ST_DEVICE_REMOVED;
}

uint32_t dxg_request(struct dxg_session *s, const struct dxg_op *op, void *record, struct dxg_reply *r) {
	struct dxg_parts parts;
	struct dxg_arrays arrays;
	uint32_t head[6];
	if (op->size > DXG_RECORD_MAX || op->arrays > DXG_ARRAYS_MAX) return ST_NOT_SUPPORTED;
	memset(&r->grant, 0, sizeof r->grant);
	r->files = 0;
	uint32_t st = dxg_encode(&parts, head, op, record, &arrays, r);
	if (st) {
		dxg_arrays_free(&arrays);
		return st;
	}
	pthread_mutex_lock(&s->lock);
	st = dxg_ended(s->image);
	uint64_t cookie = atomic_load(&s->cookie); /* 0: D3DKMTCloseDxCoreDevice was here first */
	if (!st && !s->young && (!cookie || dxg_cookie(dxg_session_fd(s)) != cookie)) st = closed(s);
	if (!st) st = send_request(s, op, record, &parts, head);
	if (!st) st = receive_reply(s, op, record, &parts, head, &arrays, r);
	pthread_mutex_unlock(&s->lock);
	dxg_arrays_free(&arrays);
	return st;
}
