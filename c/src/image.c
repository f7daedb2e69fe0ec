/* The image of this process: when it begins, what keeps it alive, how it ends.
 *
 * It begins with the first session and has all of them: the library's own, made
 * when a D3DKMT function first needs it, and one for each time the program opens
 * /dev/dxg. It lives as long as one of these is open somewhere; the descriptors of
 * the program are its own to copy and to close, so it is the epoll instance, which
 * keeps nothing alive, that knows which sessions still are.
 *
 * It ends when the daemon goes, when the last session is closed, and for a forked
 * child, which finds root empty. An image that has ended is never freed: threads
 * may be in the middle of something with it. */
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* Descriptors of ours that a forked child inherits and closes. Not cleared there. */
static struct {
	int socket, epoll, poke;
	uint64_t cookie, mark;
} inherited = {-1, -1, -1, 0, 0};

enum { OWN_FD_LEAST = 64 }; /* out of the way of programs that choose descriptor numbers */

static int out_of_the_way(int fd) {
	if (fd < 0) return fd;
	int high = fcntl(fd, F_DUPFD_CLOEXEC, OWN_FD_LEAST);
	if (high < 0) return fd;
	close(fd);
	return high;
}

/* Whether an epoll instance still has an entry with this mark. -1: cannot tell. */
static int epoll_has(int epoll, uint64_t mark) {
	char path[64], line[256];
	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", epoll);
	FILE *f = fopen(path, "re");
	if (!f) return -1;
	int found = 0;
	uint64_t data;
	while (!found && fgets(line, sizeof line, f)) {
		const char *at = strstr(line, "data:");
		found = !strncmp(line, "tfd:", 4) && at && sscanf(at, "data: %" SCNx64, &data) == 1 && data == mark;
	}
	fclose(f);
	return found;
}

static uint64_t mark_of(const void *session_or_image) { return (uint64_t)(uintptr_t)session_or_image; }

bool dxg_own_epoll(const struct dxg_image *img) { return epoll_has(img->epoll, mark_of(img)) == 1; }

static bool session_lives(struct dxg_session *s) {
	uint64_t cookie = atomic_load(&s->cookie);
	if (!cookie) return false;
	int has = epoll_has(s->image->epoll, mark_of(s));
	return has < 0 ? dxg_cookie(s->fd) == cookie : has;
}

/* Forget sessions that the program has closed; whether any is left. */
static bool image_lives(struct dxg_image *img) {
	bool any = false;
	if (atomic_load(&img->ended)) return false;
	for (int i = 0; i < DXG_SESSIONS; i++) {
		struct dxg_session *s = &img->session[i];
		if (session_lives(s)) any = true;
		else atomic_store(&s->cookie, 0);
	}
	return any;
}

static void close_inherited(void) {
	if (inherited.socket >= 0 && dxg_cookie(inherited.socket) == inherited.cookie) close(inherited.socket);
	if (inherited.mark && epoll_has(inherited.epoll, inherited.mark) == 1) {
		close(inherited.epoll);
		close(inherited.poke);
	}
	inherited.socket = inherited.epoll = inherited.poke = -1;
	inherited.cookie = inherited.mark = 0;
}

static void close_watch(struct dxg_image *img) {
	if (img->epoll >= 0) close(img->epoll);
	if (img->poke >= 0) close(img->poke);
	img->epoll = img->poke = -1;
}

static struct dxg_image *new_image(void) {
	struct dxg_image *img = calloc(1, sizeof *img);
	if (!img) return NULL;
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = mark_of(img)};
	img->epoll = out_of_the_way(epoll_create1(EPOLL_CLOEXEC));
	img->poke = out_of_the_way(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (img->epoll < 0 || img->poke < 0 || epoll_ctl(img->epoll, EPOLL_CTL_ADD, img->poke, &e) ||
		getrandom(img->nonce, sizeof img->nonce, 0) != sizeof img->nonce) {
		close_watch(img);
		free(img);
		return NULL;
	}
	pthread_mutex_init(&img->lock, NULL);
	pthread_mutex_init(&img->locking, NULL);
	for (int i = 0; i < DXG_SESSIONS; i++) {
		img->session[i].image = img;
		img->session[i].fd = -1;
		pthread_mutex_init(&img->session[i].lock, NULL);
	}
	return img;
}

/* Make session slot i of an image. On failure fd is closed. */
static uint32_t begin_session(struct dxg_image *img, int i, int fd) {
	struct dxg_session *s = &img->session[i];
	struct epoll_event e = {.events = EPOLLRDHUP, .data.u64 = mark_of(s)};
	pthread_mutex_lock(&s->lock); /* whoever had this slot before has left it */
	atomic_store(&s->fd, fd);
	s->young = true;
	pthread_mutex_unlock(&s->lock);
	uint32_t st = dxg_hello(s, img->nonce);
	if (ST_OK(st) && epoll_ctl(img->epoll, EPOLL_CTL_ADD, fd, &e)) st = ST_NO_MEMORY;
	if (!ST_OK(st)) {
		close(fd);
		return st;
	}
	s->young = false;
	atomic_store(&s->cookie, dxg_cookie(fd)); /* from now on it is found */
	return ST_SUCCESS;
}

/* The image that sessions may join, a new one if need be. root.lock is held. */
static struct dxg_image *joinable(bool again, bool *fresh, uint32_t *st) {
	struct dxg_image *img = atomic_load(&dxg_root.image);
	*fresh = false;
	if (img && image_lives(img)) return img;
	if (img && !atomic_load(&img->ended)) { /* the program has closed the last session */
		dxg_image_end(img, ST_UNSUCCESSFUL, false);
		again = true;
	}
	if (img && !again) {
		*st = dxg_ended(img);
		return NULL;
	}
	if (!img) close_inherited();
	*fresh = true;
	*st = ST_NO_MEMORY;
	return new_image();
}

/* Drop an image that nobody has seen. */
static void discard(struct dxg_image *img) {
	close_watch(img);
	if (img->bells) munmap(img->bells, (size_t)img->bell_lines * sizeof *img->bells);
	free(img->free_bells);
	free(img);
}

/* Join fd to the current image as session i, or as the first free one for -1. */
static struct dxg_session *join(int i, int fd, bool again, uint32_t *st) {
	bool fresh;
	struct dxg_image *img = joinable(again, &fresh, st);
	if (!img) {
		close(fd);
		return NULL;
	}
	for (int n = 1; i < 0 && n < DXG_SESSIONS; n++)
		if (!atomic_load(&img->session[n].cookie)) i = n;
	if (i < 0) {
		*st = ST_NO_MEMORY;
		close(fd);
		return NULL;
	}
	*st = begin_session(img, i, fd);
	if (!ST_OK(*st)) {
		if (fresh) discard(img);
		return NULL;
	}
	if (fresh) {
		inherited.epoll = img->epoll;
		inherited.poke = img->poke;
		inherited.mark = mark_of(img);
		img->previous = atomic_load(&dxg_root.image);
		atomic_store(&dxg_root.image, img);
		dxg_watch(img);
	}
	return &img->session[i];
}

static struct dxg_session *ready(void) {
	struct dxg_image *img = atomic_load(&dxg_root.image);
	if (!img || atomic_load(&img->ended) || !atomic_load(&img->session[0].cookie)) return NULL;
	return &img->session[0];
}

/* The library's session of an image that has ended and has a successor. */
static void bury(struct dxg_session *s) {
	pthread_mutex_lock(&s->lock);
	uint64_t cookie = atomic_exchange(&s->cookie, 0);
	if (cookie && dxg_cookie(s->fd) == cookie) close(s->fd);
	atomic_store(&s->fd, -1);
	pthread_mutex_unlock(&s->lock);
}

struct dxg_session *dxg_own_session(bool again, uint32_t *st) {
	struct dxg_session *s = ready();
	if (likely(s != NULL)) return s;
	if (!dxg_thread()) { /* begins the process */
		*st = ST_NO_MEMORY;
		return NULL;
	}
	pthread_mutex_lock(&dxg_root.lock);
	struct dxg_image *img = atomic_load(&dxg_root.image);
	uint32_t ended = img ? dxg_ended(img) : 0;
	if (atomic_load(&dxg_root.closed)) {
		*st = ST_UNSUCCESSFUL;
	} else if (ended && !again) {
		*st = ended;
	} else if (!(s = ready())) {
		int fd = dxg_connect();
		if (fd >= 0) {
			fd = out_of_the_way(fd);
			s = join(0, fd, again, st);
		} else {
			*st = ended ? ended : ST_UNSUCCESSFUL;
		}
		if (s) {
			inherited.socket = fd;
			inherited.cookie = atomic_load(&s->cookie);
			if (ended) bury(&img->session[0]);
		}
	}
	pthread_mutex_unlock(&dxg_root.lock);
	return s;
}

int dxg_open_device(int flags) {
	uint32_t st = ST_NO_MEMORY;
	struct dxg_session *s = NULL;
	if (!dxg_thread()) {
		errno = ENOMEM;
		return -1;
	}
	int fd = dxg_connect();
	if (fd < 0) return -1;
	pthread_mutex_lock(&dxg_root.lock);
	s = join(-1, fd, true, &st);
	pthread_mutex_unlock(&dxg_root.lock);
	if (!s) {
		errno = st == ST_NO_MEMORY ? ENOMEM : ENOENT;
		return -1;
	}
	if (!(flags & O_CLOEXEC)) fcntl(fd, F_SETFD, 0);
	return fd;
}

__thread int dxg_ioctl_fd __attribute__((tls_model("initial-exec"))) = -1;

int dxg_session_fd(const struct dxg_session *s) {
	bool own = s == &s->image->session[0];
	return !own && !s->young && dxg_ioctl_fd >= 0 ? dxg_ioctl_fd : atomic_load(&s->fd);
}

struct dxg_session *dxg_session_of(int fd) {
	struct dxg_image *img = atomic_load(&dxg_root.image);
	uint64_t cookie = img ? dxg_cookie(fd) : 0;
	for (int i = 0; cookie && i < DXG_SESSIONS; i++)
		if (atomic_load(&img->session[i].cookie) == cookie) return &img->session[i];
	return NULL;
}

uint32_t dxg_ended(struct dxg_image *img) {
	uint32_t st = atomic_load(&img->ended);
	if (likely(!st)) return 0;
	pthread_mutex_lock(&img->lock); /* whoever ends it has done so */
	pthread_mutex_unlock(&img->lock);
	return st;
}

/* The status comes before the values: a waiter that finds one of these, finds why. */
void dxg_image_end(struct dxg_image *img, uint32_t st, bool lost) {
	struct dxg_table *table = NULL;
	pthread_mutex_lock(&img->lock);
	if (atomic_load(&img->ended)) {
		pthread_mutex_unlock(&img->lock);
		return;
	}
	atomic_store(&img->ended, st);
	if (atomic_load(&dxg_root.image) == img) table = atomic_exchange(&dxg_root.table, &dxg_no_table);
	if (lost) {
		for (struct dxg_fence *f = img->fences; f; f = f->next) dxg_drown(f);
		for (struct dxg_fence *f = img->dying; f; f = f->next) dxg_drown(f);
		dxg_abort_doorbells(img);
	}
	/* The watcher of an image whose sessions the program has closed has nothing else
	 * to wake it. */
	const uint64_t once = 1;
	if (atomic_load(&img->watched) && dxg_own_epoll(img) && write(img->poke, &once, sizeof once) < 0) atomic_store(&img->watched, false);
	pthread_mutex_unlock(&img->lock);
	dxg_wake_sleepers();
	dxg_grace();
	dxcore_image_ended();
	if (table != &dxg_no_table) free(table);
}

void dxg_close_own(void) {
	if (!dxg_thread()) return;
	pthread_mutex_lock(&dxg_root.lock);
	bool was = atomic_exchange(&dxg_root.closed, true);
	struct dxg_image *img = atomic_load(&dxg_root.image);
	if (!was && img) {
		struct dxg_session *s = &img->session[0];
		pthread_mutex_lock(&s->lock);
		uint64_t cookie = atomic_exchange(&s->cookie, 0);
		if (cookie && dxg_cookie(s->fd) == cookie) {
			/* The watcher must not take our own hang-up for the daemon's. */
			if (dxg_own_epoll(img)) epoll_ctl(img->epoll, EPOLL_CTL_DEL, s->fd, NULL);
			shutdown(s->fd, SHUT_RDWR); /* a forked child may have it, too */
			close(s->fd);
		}
		s->fd = -1;
		pthread_mutex_unlock(&s->lock);
		if (!image_lives(img)) dxg_image_end(img, ST_UNSUCCESSFUL, false);
	}
	pthread_mutex_unlock(&dxg_root.lock);
	dxcore_image_ended(); /* for this library it has */
}
