/* Allocations that are locked: their memory, mapped once however often it is.
 *
 * One call about locked memory at a time, so that what is known here and what the
 * kernel counts are the same. A forked child keeps the mappings. */
#include "inside.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records.h"

struct dxg_locked {
	uint32_t allocation, device, locks;
	uint64_t file; /* its number: a handle may be another allocation's later */
	void *memory;
	size_t size;
	struct dxg_locked *next;
};

static struct dxg_locked **find(struct dxg_image *img, uint32_t allocation) {
	struct dxg_locked **at = &img->locked;
	while (*at && (*at)->allocation != allocation) at = &(*at)->next;
	return at;
}

static void forget(struct dxg_locked **at) {
	struct dxg_locked *l = *at;
	*at = l->next;
	munmap(l->memory, l->size);
	free(l);
}

/* What a descriptor maps, or NULL. */
static struct dxg_locked *map_file(struct dxg_image *img, const struct lock2 *a, int fd) {
	struct stat st;
	if (fstat(fd, &st) < 0 || st.st_size <= 0) return NULL;
	struct dxg_locked **at = find(img, a->allocation), *l = *at;
	if (l && l->file == (uint64_t)st.st_ino) return l;
	if (l) forget(at); /* its resource was destroyed */
	if (!(l = calloc(1, sizeof *l))) return NULL;
	*l = (struct dxg_locked){.allocation = a->allocation, .device = a->device, .file = (uint64_t)st.st_ino, .size = (size_t)st.st_size, .next = img->locked};
	l->memory = mmap(NULL, l->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (l->memory == MAP_FAILED) {
		free(l);
		return NULL;
	}
	return img->locked = l;
}

uint32_t dxg_lock2(struct dxg_session *s, const struct dxg_op *op, struct lock2 *a) {
	struct dxg_image *img = s->image;
	struct dxg_reply r = {0};
	pthread_mutex_lock(&img->locking);
	uint32_t st = dxg_request(s, op, a, &r);
	if (ST_OK(st) && r.files) {
		struct dxg_locked *l = map_file(img, a, r.file[0]);
		if (l) {
			l->locks++;
			a->data = (uint64_t)(uintptr_t)l->memory;
		} else {
			struct unlock2 undo = {a->device, a->allocation};
			struct dxg_reply none = {0};
			dxg_request(s, dxg_op(OP_UNLOCK2), &undo, &none);
			st = ST_NO_MEMORY;
		}
	}
	pthread_mutex_unlock(&img->locking);
	for (int i = 0; i < r.files; i++) close(r.file[i]);
	return st;
}

uint32_t dxg_unlock2(struct dxg_session *s, const struct dxg_op *op, struct unlock2 *a) {
	struct dxg_image *img = s->image;
	struct dxg_reply r = {0};
	pthread_mutex_lock(&img->locking);
	uint32_t st = dxg_request(s, op, a, &r);
	struct dxg_locked **at = find(img, a->allocation);
	if (ST_OK(st) && *at && --(*at)->locks == 0) forget(at);
	pthread_mutex_unlock(&img->locking);
	return st;
}

uint32_t dxg_destroy_allocation2(struct dxg_session *s, const struct dxg_op *op, struct destroy_allocation *a) {
	struct dxg_image *img = s->image;
	struct dxg_reply r = {0};
	pthread_mutex_lock(&img->locking);
	uint32_t st = dxg_request(s, op, a, &r), handle;
	for (uint32_t i = 0; ST_OK(st) && img->locked && i < a->count; i++) {
		struct dxg_locked **at;
		if (dxg_fetch(&handle, a->allocations + i, sizeof handle) && *(at = find(img, handle))) forget(at);
	}
	pthread_mutex_unlock(&img->locking);
	return st;
}

void dxg_forget_locks(struct dxg_image *img, uint32_t device) {
	pthread_mutex_lock(&img->locking);
	for (struct dxg_locked **at = &img->locked; *at;) {
		if ((*at)->device == device) forget(at);
		else at = &(*at)->next;
	}
	pthread_mutex_unlock(&img->locking);
}

/* An allocation of the program's own memory is moved by the daemon, as a debugger
 * would. Some systems allow that to nobody but a parent unless the program agrees. */
void dxg_allow_access(struct dxg_session *s, uint32_t flags) {
#ifdef PR_SET_PTRACER
	struct ucred peer;
	socklen_t n = sizeof peer;
	if (!(flags & EXISTING_SYSMEM)) return;
	if (getsockopt(dxg_session_fd(s), SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.pid > 0) prctl(PR_SET_PTRACER, (unsigned long)peer.pid, 0, 0, 0);
#else
	(void)s;
	(void)flags;
#endif
}
