/* Bells: each thread that has blocked has a line of the user's bell table, on which
 * it sleeps and in which the kernel answers it. Lines of threads that have ended
 * go to the next ones. */
#include "inside.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BELLS_AT_ONCE = 32 };

/* image.lock is held. */
static bool put_free(struct dxg_image *img, uint32_t bell) {
	if (img->free_bells_len == img->free_bells_cap) {
		uint32_t cap = img->free_bells_cap ? 2 * img->free_bells_cap : 64;
		uint32_t *more = realloc(img->free_bells, cap * sizeof *more);
		if (!more) return false; /* the line is lost until the process ends */
		img->free_bells = more;
		img->free_bells_cap = cap;
	}
	img->free_bells[img->free_bells_len++] = bell;
	return true;
}

void dxg_bells_add(struct dxg_image *img, uint32_t first, uint32_t count) {
	pthread_mutex_lock(&img->lock);
	for (uint32_t n = first + count; n-- > first;)
		if (n != 0 && n < img->bell_lines) put_free(img, n);
	pthread_mutex_unlock(&img->lock);
}

static uint32_t take_free(struct dxg_image *img) {
	pthread_mutex_lock(&img->lock);
	uint32_t bell = img->free_bells_len ? img->free_bells[--img->free_bells_len] : 0;
	pthread_mutex_unlock(&img->lock);
	return bell;
}

static uint32_t ask(struct dxg_session *s, uint32_t count) {
	uint32_t record[2] = {count, 0};
	struct dxg_reply r = {0};
	uint32_t st = dxg_request(s, dxg_op(OP_GRANT_BELLS), record, &r);
	if (ST_OK(st)) dxg_bells_add(s->image, record[1], count);
	return st;
}

uint32_t dxg_bell(struct dxg_session *s, struct dxg_thread *t) {
	struct dxg_image *img = s->image;
	if (likely(t->bell_image == img)) return ST_SUCCESS;
	uint32_t bell, st;
	while (!(bell = take_free(img))) {
		st = ask(s, BELLS_AT_ONCE);
		if (st == ST_NO_MEMORY) st = ask(s, 1); /* the last ones need not be neighbours */
		if (!ST_OK(st)) return st;
	}
	t->bell = bell;
	t->bell_image = img;
	atomic_store(&t->line, &img->bells[bell]);
	return ST_SUCCESS;
}

/* Whoever gets the line next is another thread: what this one owns is abandoned. */
static void end_owner(struct dxg_image *img, struct dxg_thread *t) {
	struct dxg_session *s = &img->session[0];
	struct dxg_reply r = {0};
	if (!t->owns) return;
	t->owns = false;
	if (atomic_load(&s->cookie)) dxg_request(s, dxg_op(OP_END_THREAD), &t->bell, &r);
}

void dxg_bell_return(struct dxg_thread *t) {
	struct dxg_image *img = t->bell_image;
	if (!img) return;
	end_owner(img, t);
	atomic_store(&t->line, NULL);
	t->bell_image = NULL;
	pthread_mutex_lock(&img->lock);
	put_free(img, t->bell);
	pthread_mutex_unlock(&img->lock);
}

void dxg_ring(struct dxg_image *img, uint32_t bell) {
	if (bell == 0 || bell >= img->bell_lines) return; /* pages are written by others, too */
	atomic_fetch_add(&img->bells[bell].bell, 1);
	syscall(SYS_futex, &img->bells[bell].bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}
