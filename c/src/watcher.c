/* The watcher: one thread that learns of the daemon's death and wakes whoever
 * sleeps here, because nobody else is left to do it. */
#include "inside.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

static void *watch(void *arg) {
	struct dxg_image *img = arg;
	struct epoll_event e;
	int n;
	do n = epoll_wait(img->epoll, &e, 1, -1);
	while (n < 0 && errno == EINTR);
	if (n == 1) dxg_image_end(img, ST_DEVICE_REMOVED, true); /* does nothing if it ended otherwise */
	pthread_mutex_lock(&img->lock);
	atomic_store(&img->watched, false);
	if (atomic_load(&img->ended) && dxg_own_epoll(img)) { /* nobody asks the epoll instance any more */
		close(img->epoll);
		close(img->poke);
		img->epoll = img->poke = -1;
	}
	pthread_mutex_unlock(&img->lock);
	dxg_wake_sleepers(); /* to shorter sleeps */
	return NULL;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STACK = 1 << 20 };
#else
enum { STACK = 64 << 10 };
#endif

void dxg_watch(struct dxg_image *img) {
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;
	size_t stack = STACK + (size_t)sysconf(_SC_THREAD_STACK_MIN);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, stack);
	atomic_store(&img->watched, true);
	/* Without it, sleepers look at the socket themselves, every 50 ms. */
	if (pthread_create(&thread, &attr, watch, img)) atomic_store(&img->watched, false);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
