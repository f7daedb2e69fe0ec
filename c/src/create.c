/* Calls that make a fence, alone or with what it belongs to. */
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "records.h"

enum { PERIODIC = 6, NONE = 0xFFFF };

/* Where a call's record has what, as offsets. */
static const struct maker {
	uint16_t nr, fence, address;   /* the fence, and where the program can look at it */
	uint16_t queue, context, end;  /* whose progress or paging fence it is; how the queue is destroyed */
} makers[] = {
	{OP_CREATE_SYNC_OBJECT2, offsetof(struct create_sync_object2, handle), offsetof(struct create_sync_object2, info.fence.cpu_address), NONE, NONE, 0},
	{OP_OPEN_SYNC_OBJECT_FROM_NT_HANDLE2, offsetof(struct open_sync_object2, handle), offsetof(struct open_sync_object2, cpu_address), NONE, NONE, 0},
	{OP_OPEN_RESOURCE_FROM_NT_HANDLE, offsetof(struct open_bundle, sync_object), NONE, NONE, NONE, 0},
	{OP_CREATE_NATIVE_FENCE, offsetof(struct create_native_fence, handle), offsetof(struct create_native_fence, info.mapping.cpu_address), NONE, NONE, 0},
	{OP_OPEN_NATIVE_FENCE_FROM_NT_HANDLE, offsetof(struct open_native_fence, handle), offsetof(struct open_native_fence, mapping.cpu_address), NONE, NONE, 0},
	{OP_CREATE_HW_QUEUE, offsetof(struct create_hw_queue, fence), offsetof(struct create_hw_queue, cpu_address),
		offsetof(struct create_hw_queue, queue), offsetof(struct create_hw_queue, context), OP_DESTROY_HW_QUEUE},
	{OP_CREATE_HW_QUEUE_FOR_USER_MODE_SUBMISSION, offsetof(struct create_user_queue, fence), offsetof(struct create_user_queue, mapping.cpu_address),
		offsetof(struct create_user_queue, queue), offsetof(struct create_user_queue, context), OP_DESTROY_HW_QUEUE},
	{OP_CREATE_PAGING_QUEUE, offsetof(struct create_paging_queue, fence), offsetof(struct create_paging_queue, cpu_address),
		offsetof(struct create_paging_queue, queue), NONE, OP_DESTROY_PAGING_QUEUE},
};

static uint32_t get(const void *record, uint16_t off) {
	uint32_t v = 0;
	if (off != NONE) memcpy(&v, (const char *)record + off, sizeof v);
	return v;
}

void dxg_close_files(struct dxg_reply *r) {
	for (int i = 0; i < r->files; i++) close(r->file[i]);
	r->files = 0;
}

bool dxg_room_for_files(const struct dxg_session *s, int n) {
	int fd[DXG_FILES_MAX], got = 0;
	bool ok = true;
	for (; ok && got < n; got += ok) {
		fd[got] = fcntl(dxg_session_fd(s), F_DUPFD_CLOEXEC, 0);
		ok = fd[got] >= 0;
	}
	ok = ok || errno != EMFILE;
	for (int i = 0; i < got; i++) close(fd[i]);
	return ok;
}

/* What a queue that is submitted to without calls brings besides its fence. */
static uint32_t adopt_user_queue(struct dxg_session *s, const struct dxg_made *made, struct create_user_queue *q, struct dxg_reply *r, uint64_t *address) {
	struct dxg_pages pages = dxg_take_pages(r);
	struct dxg_words words;
	uint32_t st = dxg_adopt(s, made, r, address);
	if (!ST_OK(st)) {
		dxg_close_pages(&pages);
		return st;
	}
	st = dxg_doorbell_add(s->image, made->queue, made->queue, &pages, &words);
	if (!ST_OK(st)) {
		dxg_owner_destroy(s, dxg_op(OP_DESTROY_HW_QUEUE), made->queue);
		return st;
	}
	q->last_queued = words.last_queued;
	q->status = words.status;
	return st;
}

/* The device of what is made is told in the grant. */
static uint32_t adopt(struct dxg_session *s, const struct maker *m, void *record, struct dxg_reply *r) {
	const struct dxg_made made = {.handle = get(record, m->fence), .device = r->grant.device, .queue = get(record, m->queue), .context = get(record, m->context), .queue_end = m->end};
	uint16_t at = m->address;
	uint64_t address;
	uint32_t st = m->nr == OP_CREATE_HW_QUEUE_FOR_USER_MODE_SUBMISSION ? adopt_user_queue(s, &made, record, r, &address) : dxg_adopt(s, &made, r, &address);
	if (!ST_OK(st) || at == NONE) return st;
	if (m->nr == OP_CREATE_SYNC_OBJECT2 && ((struct create_sync_object2 *)record)->type == PERIODIC) at = offsetof(struct create_sync_object2, info.periodic.cpu_address);
	memcpy((char *)record + at, &address, sizeof address);
	return st;
}

uint32_t dxg_create(struct dxg_session *s, const struct dxg_op *op, void *record) {
	const struct maker *m = makers;
	struct dxg_reply r = {0};
	while (m->nr != op->nr) m++;
	if (!dxg_room_for_files(s, op->nr == OP_CREATE_HW_QUEUE_FOR_USER_MODE_SUBMISSION ? 3 : 1)) return ST_NO_MEMORY;
	uint32_t st = dxg_request(s, op, record, &r);
	if (ST_OK(st) && r.grant.kind) return adopt(s, m, record, &r);
	dxg_close_files(&r); /* no CPU sees it */
	return st;
}
