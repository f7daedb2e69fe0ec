/* Mappings of the memory of fences.
 *
 * What this process may write is mapped twice: hidden and writable for signals and
 * slots, and read-only where the program is told to look. A forked child gets the
 * second only. A page is mapped once however many local objects there are on its fence:
 * all have the same address. */
#include "inside.h"

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

void *dxg_map_hidden(int fd, size_t size) { return map(fd, size, true); }
void *dxg_map_view(int fd, size_t size) { return map(fd, size, false); }

static struct dxg_mapping **bucket(struct dxg_image *img, uint64_t file) { return &img->mappings[file % DXG_MAPPINGS]; }

/* A file's number is another's only when nothing maps the first any more. */
static struct dxg_mapping *known(struct dxg_image *img, uint64_t file, size_t size) {
	struct dxg_mapping *m = *bucket(img, file);
	while (m && !(m->file == file && m->size == size)) m = m->next;
	return m;
}

static struct dxg_mapping *begin(struct dxg_image *img, uint64_t file, int fd, size_t size) {
	struct dxg_mapping *m = calloc(1, sizeof *m);
	if (!m) return NULL;
	*m = (struct dxg_mapping){.image = img, .file = file, .size = size, .view = map(fd, size, false), .next = *bucket(img, file)};
	if (!m->view) {
		free(m);
		return NULL;
	}
	return *bucket(img, file) = m;
}

/* The last use has ended; image.lock is held. */
static void end(struct dxg_mapping *m) {
	struct dxg_mapping **at = bucket(m->image, m->file);
	while (*at != m) at = &(*at)->next;
	*at = m->next;
	if (m->hidden) munmap(m->hidden, m->size);
	munmap(m->view, m->size);
	free(m);
}

struct dxg_mapping *dxg_mapping(struct dxg_image *img, int fd, size_t size, bool writable) {
	struct stat st;
	if (fstat(fd, &st)) return NULL;
	pthread_mutex_lock(&img->lock);
	struct dxg_mapping *m = known(img, (uint64_t)st.st_ino, size);
	if (!m) m = begin(img, (uint64_t)st.st_ino, fd, size);
	if (m && writable && !m->hidden) m->hidden = map(fd, size, true); /* those before might look only */
	bool ok = m && (!writable || m->hidden);
	if (ok) m->uses++;
	else if (m && m->uses == 0) end(m);
	pthread_mutex_unlock(&img->lock);
	return ok ? m : NULL;
}

void dxg_mapping_leave(struct dxg_mapping *m) {
	struct dxg_image *img = m->image;
	pthread_mutex_lock(&img->lock);
	if (--m->uses == 0) end(m);
	pthread_mutex_unlock(&img->lock);
}

void dxg_replace(void *view, size_t size, const void *words, size_t n) {
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) return;
	memcpy(p, words, n);
	mprotect(p, size, PROT_READ);
	if (mremap(p, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, view) == MAP_FAILED) munmap(p, size);
}

void dxg_drown(struct dxg_fence *f) {
	struct cell *c = f->map ? f->map->hidden : f->cell;
	if (c) {
		atomic_fetch_or(&c->flags, CELL_ASK); /* whoever asks is told why */
		atomic_store(&c->value, UINT64_MAX);
		return;
	}
	const struct cell over = {.value = UINT64_MAX, .flags = CELL_ASK};
	dxg_replace(f->map->view, f->map->size, &over, sizeof over);
}
