/* Mapping the memory of fences.
 *
 * What this process may write is mapped twice: hidden and writable for signals and
 * slots, and read-only where the program is told to look. A forked child gets the
 * second only. */
#include "inside.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void *map(int fd, size_t size, bool hidden) {
	void *p = mmap(NULL, size, hidden ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) return NULL;
	if (hidden) madvise(p, size, MADV_DONTFORK);
	return p;
}

static bool map_both(int fd, size_t size, bool writable, void **hidden, void **view) {
	*hidden = writable ? map(fd, size, true) : NULL;
	if (writable && !*hidden) return false;
	*view = map(fd, size, false);
	if (*view) return true;
	if (*hidden) munmap(*hidden, size);
	*hidden = NULL;
	return false;
}

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

/* The slab with a number, NULL: there is no memory for it. fd is closed. */
static struct dxg_slab *slab(struct dxg_image *img, uint32_t number, int fd) {
	void *hidden, *view;
	pthread_mutex_lock(&img->lock);
	struct dxg_slab *s = known_slab(img, number);
	if (!s && fd >= 0 && (s = malloc(sizeof *s))) {
		if (map_both(fd, SLAB_BYTES, true, &hidden, &view)) {
			*s = (struct dxg_slab){.number = number, .hidden = hidden, .view = view, .next = img->slabs};
			img->slabs = s;
		} else {
			free(s);
			s = NULL;
		}
	}
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
	struct stat st;
	if (fd >= 0 && fstat(fd, &st) == 0) f->page = (uint64_t)st.st_ino;
	bool ok = fd >= 0 && g->kind == GRANT_PAGE && g->size >= PAGE_BYTES && g->size % PAGE_BYTES == 0 && g->slots <= CELL_SLOTS_PAGE &&
		map_both(fd, g->size, g->writable, &f->hidden, &f->view);
	if (fd >= 0) close(fd);
	if (!ok) return false;
	f->size = g->size;
	f->cell = f->hidden ? f->hidden : f->view;
	*address = (uint64_t)(uintptr_t)f->view;
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
			dxg_unmap(f);
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

void dxg_unmap(struct dxg_fence *f) {
	if (f->hidden) munmap(f->hidden, f->size);
	if (f->view) munmap(f->view, f->size);
}

void dxg_drown(struct dxg_fence *f) {
	if (f->writable) {
		atomic_fetch_or(&f->cell->flags, CELL_ASK); /* whoever asks is told why */
		atomic_store(&f->cell->value, UINT64_MAX);
		return;
	}
	/* A page of our own takes the place of the view in one step. */
	void *p = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) return;
	memset(p, 0, f->size);
	((struct cell *)p)->value = UINT64_MAX;
	((struct cell *)p)->flags = CELL_ASK;
	mprotect(p, f->size, PROT_READ);
	if (mremap(p, f->size, f->size, MREMAP_MAYMOVE | MREMAP_FIXED, f->view) == MAP_FAILED) munmap(p, f->size);
}
