/* The fences of this process.
 *
 * The table is a hash of handles with linear probing. Readers are in a section and
 * take no lock; writers hold image.lock. A key goes 0 → handle → 1 (being removed,
 * readers may still be using the rest of the entry) → 2 (free again). Handles are
 * consecutive numbers, so entries of live fences are neighbours and probes short.
 * A handle that is not found is no error: the kernel then decides, so a reader that
 * looks at an outdated table is right too.
 *
 * A fence leaves in this order: it cannot be found any more; its sleepers are
 * woken; every section is left; if it lives in a slab, every sleeper is gone too,
 * because the kernel gives the cell to the next fence; the kernel is told; the
 * last reference unmaps it. */
#include "inside.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "op.h"

enum { TABLE_LEAST = 64 };

/* The table of a process without fences: one key, which is 0. */
struct dxg_table dxg_no_table = {.mask = 0, .entry = {{0}}};

static void place(struct dxg_table *t, struct dxg_fence *f) {
	for (uint32_t i = f->handle >> 6;; i++) {
		struct dxg_entry *e = &t->entry[i & t->mask];
		uint32_t key = atomic_load(&e->key);
		if (key != 0 && key != KEY_FREE) continue;
		if (key == 0) t->used++;
		e->device = f->device;
		e->can = (f->writable && f->rights & GRANT_SIGNAL ? CAN_SIGNAL : 0) | (f->rights & GRANT_WAIT ? CAN_WAIT : 0);
		e->slots = f->slots;
		e->cell = f->cell;
		e->fence = f;
		f->table = t->serial;
		f->place = i & t->mask;
		atomic_store_explicit(&e->key, f->handle, memory_order_release);
		return;
	}
}

/* Make room for one more: at most half of the keys are in use. */
static bool make_room(struct dxg_image *img) {
	struct dxg_table *old = atomic_load(&dxg_root.table);
	if (old != &dxg_no_table && old->used < (old->mask + 1) / 2) return true;
	uint32_t n = TABLE_LEAST;
	while (n / 4 < img->fence_count + 1) n *= 2;
	struct dxg_table *t = aligned_alloc(64, (sizeof *t + n * sizeof t->entry[0] + 63) & ~(size_t)63);
	if (!t) return false;
	memset(t, 0, sizeof *t + n * sizeof t->entry[0]);
	t->mask = n - 1;
	t->serial = old->serial + 1;
	for (struct dxg_fence *f = img->fences; f; f = f->next) place(t, f);
	atomic_store(&dxg_root.table, t);
	if (old != &dxg_no_table) {
		dxg_grace();
		free(old);
	}
	return true;
}

static void link_to(struct dxg_fence **list, struct dxg_fence *f) {
	f->prev = NULL;
	f->next = *list;
	if (f->next) f->next->prev = f;
	*list = f;
}

static void unlink_from(struct dxg_fence **list, struct dxg_fence *f) {
	if (f->prev) f->prev->next = f->next;
	else *list = f->next;
	if (f->next) f->next->prev = f->prev;
}

bool dxg_fence_add(struct dxg_image *img, struct dxg_fence *f) {
	pthread_mutex_lock(&img->lock);
	bool ok = !atomic_load(&img->ended) && make_room(img);
	if (ok) {
		link_to(&img->fences, f);
		img->fence_count++;
		place(atomic_load(&dxg_root.table), f);
	}
	pthread_mutex_unlock(&img->lock);
	return ok;
}

void dxg_fence_ref(struct dxg_fence *f) { atomic_fetch_add(&f->refs, 1); }

void dxg_fence_unref(struct dxg_fence *f) {
	bool leaving = atomic_load(&f->state) != FENCE_LIVE;
	uint32_t left = atomic_fetch_sub(&f->refs, 1) - 1;
	if (left == 0) {
		if (f->map) dxg_mapping_leave(f->map);
		free(f);
	} else if (leaving) { /* the address alone matters, should f be gone meanwhile */
		syscall(SYS_futex, &f->refs, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

/* Make a fence impossible to find; image.lock is held. */
static void hide(struct dxg_image *img, struct dxg_fence *f, uint32_t state) {
	atomic_store(&atomic_load(&dxg_root.table)->entry[f->place].key, KEY_LEAVING);
	unlink_from(&img->fences, f);
	img->fence_count--;
	link_to(&img->dying, f);
	if (state != FENCE_DESTROYED || !f->keeps_waiters) atomic_store(&f->state, state);
}

/* Let the entry be used again: every section that could see it has been left. */
static void release_key(const struct dxg_fence *f) {
	struct dxg_table *t = atomic_load(&dxg_root.table);
	if (t->serial == f->table) atomic_store(&t->entry[f->place].key, KEY_FREE);
}

/* Wait until no blocked wait uses a fence that cannot be found any more. */
static void drain(struct dxg_fence *f) {
	for (;;) {
		uint32_t refs = atomic_load(&f->refs);
		if (refs == 1) return;
		const struct timespec again = {0, 10000000};
		syscall(SYS_futex, &f->refs, FUTEX_WAIT_PRIVATE, refs, &again, NULL, 0);
	}
}

/* Take fences that are hidden already out of everybody's hands, do the request that
 * destroys them, unless it is done (NULL), and drop them. */
static uint32_t finish(struct dxg_session *s, const struct dxg_op *op, uint32_t handle, struct dxg_fence **gone, uint32_t n) {
	struct dxg_image *img = s->image;
	struct dxg_reply r = {0};
	if (n == 0) return op ? dxg_request(s, op, &handle, &r) : ST_SUCCESS;
	dxg_wake_sleepers();
	dxg_grace();
	for (uint32_t i = 0; i < n; i++)
		if (gone[i]->in_slab) drain(gone[i]);
	uint32_t st = op ? dxg_request(s, op, &handle, &r) : ST_SUCCESS;
	pthread_mutex_lock(&img->lock);
	for (uint32_t i = 0; i < n; i++) {
		unlink_from(&img->dying, gone[i]);
		release_key(gone[i]);
	}
	pthread_mutex_unlock(&img->lock);
	for (uint32_t i = 0; i < n; i++) dxg_fence_unref(gone[i]);
	return st;
}

uint32_t dxg_fence_destroy(struct dxg_session *s, uint32_t handle) {
	struct dxg_image *img = s->image;
	struct dxg_fence *f, *d;
	pthread_mutex_lock(&img->lock);
	struct dxg_entry *e = atomic_load(&img->ended) ? NULL : dxg_find(handle);
	f = e ? e->fence : NULL;
	if (f && f->queue) { /* it goes with its queue only */
		pthread_mutex_unlock(&img->lock);
		return ST_INVALID_PARAMETER;
	}
	for (d = img->dying; d && d->handle != handle; d = d->next) {}
	if (f) hide(img, f, FENCE_DESTROYED);
	pthread_mutex_unlock(&img->lock);
	if (!f && d) return ST_INVALID_PARAMETER; /* another thread is destroying it */
	return finish(s, dxg_op(OP_DESTROY_SYNC_OBJECT), handle, &f, f ? 1 : 0);
}

static bool goes_with(const struct dxg_fence *f, const struct dxg_op *op, uint32_t owner) {
	if (op->nr == OP_DESTROY_DEVICE) return f->device == owner;
	if (op->nr == OP_DESTROY_CONTEXT) return f->context == owner;
	return f->queue_end == op->nr && f->queue == owner;
}

uint32_t dxg_owner_destroy(struct dxg_session *s, const struct dxg_op *op, uint32_t owner) {
	struct dxg_image *img = s->image;
	struct dxg_fence *one, **gone = &one;
	uint32_t n = 0;
	/* A paging queue lives until everything queued is done, and who waits for its fence
	 * waits as long. The fence has a page of its own, so that it may leave afterwards. */
	bool done = op->nr == OP_DESTROY_PAGING_QUEUE;
	if (done) {
		uint32_t st = dxg_blocking(s, op, &owner);
		if (!ST_OK(st)) return st;
	}
	pthread_mutex_lock(&img->lock);
	if (!atomic_load(&img->ended)) {
		for (struct dxg_fence *f = img->fences; f; f = f->next) n += goes_with(f, op, owner);
		if (n > 1 && !(gone = calloc(n, sizeof *gone))) {
			pthread_mutex_unlock(&img->lock);
			return ST_NO_MEMORY;
		}
		n = 0;
		for (struct dxg_fence *f = img->fences, *next; f; f = next) {
			next = f->next;
			if (!goes_with(f, op, owner)) continue;
			hide(img, f, op->nr == OP_DESTROY_DEVICE ? FENCE_DEVICE_GONE : FENCE_DESTROYED);
			gone[n++] = f;
		}
	}
	pthread_mutex_unlock(&img->lock);
	uint32_t st = finish(s, done ? NULL : op, owner, gone, n);
	if (gone != &one) free(gone);
	if (ST_OK(st)) dxg_forget_doorbells(img, op->nr, owner);
	return st;
}
