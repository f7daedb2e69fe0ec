/* Doorbells: two pages each, mapped at one address while the doorbell lives. The program
 * writes the first, the kernel the second. A forked child does not get the first: it has
 * no queue to ring for. docs/protocol-wire.md has what is where. */
#include "inside.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "records.h"

enum { SECONDARY = 64, LAST_QUEUED = 128 };  /* offsets of words in the program's page */
enum { REQUIRE_SECONDARY = 1 };              /* flag of CreateDoorbell */
static const uint64_t aborted = 3;           /* D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT */

struct dxg_doorbell {
	uint32_t handle, queue, context, device;
	char *program;
	void *status;
	struct dxg_doorbell *next;
};

struct dxg_pages dxg_take_pages(struct dxg_reply *r) {
	struct dxg_pages p = {-1, -1};
	if (r->files < 2) return p;
	p = (struct dxg_pages){r->file[0], r->file[1]};
	for (int i = 2; i < r->files; i++) r->file[i - 2] = r->file[i];
	r->files -= 2;
	return p;
}

void dxg_close_pages(struct dxg_pages *p) {
	if (p->program >= 0) close(p->program);
	if (p->status >= 0) close(p->status);
	*p = (struct dxg_pages){-1, -1};
}

static void drop(struct dxg_doorbell *d) {
	if (d->program) munmap(d->program, PAGE_BYTES);
	if (d->status) munmap(d->status, PAGE_BYTES);
	free(d);
}

static struct dxg_doorbell *map_pages(const struct dxg_pages *p) {
	struct dxg_doorbell *d = p->program >= 0 && p->status >= 0 ? calloc(1, sizeof *d) : NULL;
	if (!d) return NULL;
	d->program = dxg_map_hidden(p->program, PAGE_BYTES);
	d->status = dxg_map_view(p->status, PAGE_BYTES);
	if (d->program && d->status) return d;
	drop(d);
	return NULL;
}

/* The queue is known by its progress fence. NULL: another thread is destroying it.
 * image.lock is held. */
static const struct dxg_fence *fence_of(const struct dxg_image *img, uint32_t queue) {
	const struct dxg_fence *f = img->fences;
	while (f && !(f->queue == queue && f->queue_end == OP_DESTROY_HW_QUEUE)) f = f->next;
	return f;
}

uint32_t dxg_doorbell_add(struct dxg_image *img, uint32_t handle, uint32_t queue, struct dxg_pages *pages, struct dxg_words *w) {
	struct dxg_doorbell *d = map_pages(pages);
	dxg_close_pages(pages);
	if (!d) return ST_NO_MEMORY;
	dxg_forget_doorbells(img, OP_DESTROY_HW_QUEUE, queue); /* another ring buffer has come: the one before is gone */
	pthread_mutex_lock(&img->lock);
	uint32_t st = atomic_load(&img->ended);
	const struct dxg_fence *f = st ? NULL : fence_of(img, queue);
	if (f) {
		d->handle = handle;
		d->queue = queue;
		d->context = f->context;
		d->device = f->device;
		d->next = img->doorbells;
		img->doorbells = d;
		const uint64_t program = (uint64_t)(uintptr_t)d->program;
		*w = (struct dxg_words){program, program + SECONDARY, program + LAST_QUEUED, (uint64_t)(uintptr_t)d->status};
	}
	pthread_mutex_unlock(&img->lock);
	if (f) return ST_SUCCESS;
	drop(d);
	return st ? st : ST_INVALID_PARAMETER; /* the queue takes the kernel's doorbell along */
}

uint32_t dxg_create_doorbell(struct dxg_session *s, const struct dxg_op *op, struct create_doorbell *c) {
	struct dxg_reply r = {0}, undone = {0};
	struct dxg_words w;
	uint32_t queue = c->queue;
	if (!dxg_room_for_files(s, 2)) return ST_NO_MEMORY;
	c->handle = 0; /* not 0 afterwards: there is one, also if its pages did not come */
	uint32_t st = dxg_request(s, op, c, &r);
	if (ST_OK(st)) {
		struct dxg_pages pages = dxg_take_pages(&r);
		dxg_close_files(&r);
		st = dxg_doorbell_add(s->image, c->handle, queue, &pages, &w);
	}
	if (!ST_OK(st)) {
		if (c->handle && !dxg_ended(s->image)) dxg_request(s, dxg_op(OP_DESTROY_DOORBELL), &c->handle, &undone);
		return st;
	}
	c->doorbell = w.doorbell;
	c->secondary = c->flags & REQUIRE_SECONDARY ? w.secondary : 0;
	c->status = w.status;
	c->last_queued = w.last_queued;
	return st;
}

static bool goes_with(const struct dxg_doorbell *d, uint16_t nr, uint32_t owner) {
	switch (nr) {
	case OP_DESTROY_DOORBELL:
		return d->handle == owner;
	case OP_DESTROY_HW_QUEUE:
		return d->queue == owner;
	case OP_DESTROY_CONTEXT:
		return d->context == owner;
	}
	return nr == OP_DESTROY_DEVICE && d->device == owner;
}

void dxg_forget_doorbells(struct dxg_image *img, uint16_t nr, uint32_t owner) {
	struct dxg_doorbell *gone = NULL;
	pthread_mutex_lock(&img->lock);
	for (struct dxg_doorbell **at = &img->doorbells, *d; (d = *at);) {
		if (!goes_with(d, nr, owner)) {
			at = &d->next;
			continue;
		}
		*at = d->next;
		d->next = gone;
		gone = d;
	}
	pthread_mutex_unlock(&img->lock);
	for (struct dxg_doorbell *next; gone; gone = next) {
		next = gone->next;
		drop(gone);
	}
}

uint32_t dxg_destroy_doorbell(struct dxg_session *s, const struct dxg_op *op, uint32_t handle) {
	struct dxg_reply r = {0};
	uint32_t st = dxg_request(s, op, &handle, &r);
	if (ST_OK(st)) dxg_forget_doorbells(s->image, op->nr, handle);
	return st;
}

void dxg_abort_doorbells(struct dxg_image *img) {
	for (struct dxg_doorbell *d = img->doorbells; d; d = d->next) dxg_replace(d->status, PAGE_BYTES, &aborted, sizeof aborted);
}
