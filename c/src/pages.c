/* The memory of fences: what the kernel granted becomes a fence of the image. */
#include "inside.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct dxg_slab *known_slab(const struct dxg_image *img, uint32_t number) {
	struct dxg_slab *s = img->slabs;
	while (s && s->number != number) s = s->next;
	return s;
}

/* The memory of a slab comes with its first cell only. That answer may have come to
 * another thread, which has not got here yet, or the process had no descriptor number
 * for it: then it is asked for. -1: none. */
static int slab_file(struct dxg_session *s, uint32_t number) {
	struct { uint32_t slab, zero; uint64_t fd; } record = {number, 0, 0};
	struct dxg_reply r = {0};
	pthread_mutex_lock(&s->image->lock);
	bool known = known_slab(s->image, number);
	pthread_mutex_unlock(&s->image->lock);
	if (known || !ST_OK(dxg_request(s, dxg_op(OP_SLAB_FILE), &record, &r))) return -1;
	return r.files ? r.file[0] : -1;
}

static struct dxg_slab *new_slab(struct dxg_image *img, uint32_t number, int fd) {
	void *hidden = dxg_map_hidden(fd, SLAB_BYTES), *view = dxg_map_view(fd, SLAB_BYTES);
	struct dxg_slab *s = hidden && view ? malloc(sizeof *s) : NULL;
	if (s) {
		*s = (struct dxg_slab){.number = number, .hidden = hidden, .view = view, .next = img->slabs};
		return img->slabs = s;
	}
	if (hidden) munmap(hidden, SLAB_BYTES);
	if (view) munmap(view, SLAB_BYTES);
	return NULL;
}

/* The slab with a number, NULL: there is no memory for it. fd is closed. */
static struct dxg_slab *slab(struct dxg_image *img, uint32_t number, int fd) {
	pthread_mutex_lock(&img->lock);
	struct dxg_slab *s = known_slab(img, number);
	if (!s && fd >= 0) s = new_slab(img, number, fd);
	pthread_mutex_unlock(&img->lock);
	if (fd >= 0) close(fd);
	return s;
}

static bool map_fence(struct dxg_image *img, struct dxg_fence *f, const struct grant *g, int fd, uint64_t *address) {
	if (g->kind == GRANT_SLAB) {
		struct dxg_slab *s = slab(img, g->slab, fd);
		if (!s || g->offset > SLAB_BYTES - CELL_SIZE || g->offset % CELL_SIZE || g->slots > CELL_SLOTS_SLAB) return false;
		f->in_slab = 1;
		f->cell = (struct cell *)(s->hidden + g->offset);
		*address = (uint64_t)(uintptr_t)(s->view + g->offset);
		return true;
	}
	if (fd >= 0 && g->kind == GRANT_PAGE && g->size >= PAGE_BYTES && g->size % PAGE_BYTES == 0 && g->slots <= CELL_SLOTS_PAGE)
		f->map = dxg_mapping(img, fd, g->size, g->writable);
	if (fd >= 0) close(fd);
	if (!f->map) return false;
	f->cell = g->writable ? f->map->hidden : f->map->view;
	*address = (uint64_t)(uintptr_t)f->map->view;
	return true;
}

uint32_t dxg_adopt(struct dxg_session *s, const struct dxg_made *made, struct dxg_reply *r, uint64_t *address) {
	const struct grant *g = &r->grant;
	int fd = r->files ? r->file[0] : -1;
	struct dxg_fence *f = calloc(1, sizeof *f);
	for (int i = 1; i < r->files; i++) close(r->file[i]);
	if (fd < 0 && g->kind == GRANT_SLAB) fd = slab_file(s, g->slab);
	if (f) {
		f->handle = made->handle;
		f->device = made->device;
		f->queue = made->queue;
		f->context = made->context;
		f->queue_end = made->queue_end;
		f->rights = g->rights & (GRANT_SIGNAL | GRANT_WAIT);
		f->writable = g->writable;
		f->slots = g->writable ? g->slots : 0;
		f->keeps_waiters = g->rights & GRANT_KEEPS_WAITERS;
		atomic_store(&f->refs, 1);
		if (map_fence(s->image, f, g, fd, address)) {
			if (dxg_fence_add(s->image, f)) return ST_SUCCESS;
			if (f->map) dxg_mapping_leave(f->map);
		}
		free(f);
	} else if (fd >= 0) {
		close(fd);
	}
	uint32_t ended = dxg_ended(s->image);
	if (ended) return ended;
	struct dxg_reply undo = {0};
	uint32_t end = made->queue ? made->queue : made->handle;
	dxg_request(s, dxg_op(made->queue ? made->queue_end : OP_DESTROY_SYNC_OBJECT), &end, &undo);
	return ST_NO_MEMORY;
}
