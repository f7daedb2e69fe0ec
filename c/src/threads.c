/* Threads of this process, and the sections they are in.
 *
 * A section is how a thread uses a fence without taking a reference: it marks
 * itself busy with a plain store. Whoever takes a fence away first makes it
 * impossible to find, then asks the system for a memory barrier on every
 * processor that runs this process (membarrier), then waits for the threads that
 * were busy to leave. So signals and satisfied waits pay nothing, destroying pays
 * a system call.
 *
 * Threads are known by records that are never freed. After a fork, the child finds
 * the list empty, because the system clears root, and each thread registers again
 * because the stamp has changed. */
#include "inside.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NO_STAMP = 2 };

union dxg_root_page dxg_root_page __attribute__((aligned(65536)));
__thread struct dxg_self dxg_self __attribute__((tls_model("initial-exec"))) = {NULL, NO_STAMP, NO_STAMP};

static pthread_key_t leaving;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void leave(void *record) {
	struct dxg_thread *t = record;
	if (!dxg_known_thread()) return; /* the record is our parent's */
	dxg_bell_return(t);
	dxg_self = (struct dxg_self){NULL, NO_STAMP, NO_STAMP};
	atomic_store(&t->identity, 0); /* free for the next thread */
}

static void clear_in_child(void) { memset(&dxg_root, 0, sizeof dxg_root); }

static void prepare(void) {
	/* Without the system's help, the usual way a process forks is still seen. */
	if (madvise(&dxg_root_page, sizeof dxg_root_page, MADV_WIPEONFORK)) pthread_atfork(NULL, NULL, clear_in_child);
	pthread_key_create(&leaving, leave);
}

/* What must happen once in this process: again in every forked child. */
static void begin(void) {
	pthread_once(&once, prepare);
	pthread_mutex_lock(&dxg_root.lock);
	if (!atomic_load(&dxg_root.stamp)) {
		uint64_t stamp = 0;
		/* Not the library's getrandom, in which a thread can be cancelled. */
		if (syscall(SYS_getrandom, &stamp, sizeof stamp, GRND_NONBLOCK) != sizeof stamp) {
			struct timespec now;
			clock_gettime(CLOCK_MONOTONIC, &now);
			stamp = (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec << 20 ^ (uint64_t)getpid();
		}
		atomic_store(&dxg_root.fenced, syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0);
		atomic_store(&dxg_root.table, &dxg_no_table);
		atomic_store(&dxg_root.stamp, stamp | 1);
	}
	pthread_mutex_unlock(&dxg_root.lock);
}

static struct dxg_thread *take(uint64_t identity) {
	for (struct dxg_thread *t = atomic_load(&dxg_root.threads); t; t = t->next) {
		uint64_t none = 0;
		if (atomic_compare_exchange_strong(&t->identity, &none, identity)) return t;
	}
	struct dxg_thread *t = aligned_alloc(64, (sizeof *t + 63) & ~(size_t)63);
	if (!t) return NULL;
	memset(t, 0, sizeof *t);
	atomic_store(&t->identity, identity);
	t->next = atomic_load(&dxg_root.threads);
	while (!atomic_compare_exchange_weak(&dxg_root.threads, &t->next, t)) {}
	return t;
}

struct dxg_thread *dxg_thread(void) {
	struct dxg_thread *t = dxg_known_thread();
	if (t) return t;
	int kept = errno;
	if (!atomic_load(&dxg_root.stamp)) begin();
	uint64_t stamp = atomic_load(&dxg_root.stamp);
	t = take((atomic_fetch_add(&dxg_root.serial, 1) + 1) << 1);
	errno = kept;
	if (!t) return NULL;
	t->spin_failed = t->spin_pass = 0;
	dxg_arrays_begin(t);
	dxg_self.thread = t;
	dxg_self.stamp = stamp;
	dxg_self.quick = atomic_load(&dxg_root.fenced) ? NO_STAMP : stamp;
	pthread_setspecific(leaving, t);
	return t;
}

void dxg_grace(void) {
	static _Atomic uint32_t fence;
	if (atomic_load(&dxg_root.fenced)) atomic_fetch_add(&fence, 1);
	else syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	struct dxg_thread *self = dxg_known_thread();
	for (struct dxg_thread *t = atomic_load(&dxg_root.threads); t; t = t->next) {
		uint32_t seen = atomic_load(&t->busy);
		while (t != self && (seen & 0xFFFF) != 0 && atomic_load(&t->busy) == seen) sched_yield();
	}
}

static void wake(struct dxg_thread *t) {
	struct bell_line *line = atomic_load(&t->line);
	if (!line || !atomic_load(&t->sleeping)) return;
	atomic_fetch_add(&line->bell, 1);
	syscall(SYS_futex, &line->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void dxg_wake_sleepers(void) {
	for (struct dxg_thread *t = atomic_load(&dxg_root.threads); t; t = t->next) wake(t);
}

bool dxg_cancel_thread(uint64_t serial) {
	for (struct dxg_thread *t = atomic_load(&dxg_root.threads); serial && t; t = t->next) {
		uint64_t calm = serial << 1;
		if (atomic_compare_exchange_strong(&t->identity, &calm, serial << 1 | 1) || calm == (serial << 1 | 1)) {
			wake(t);
			return true;
		}
	}
	return false;
}

bool dxg_cancelled(struct dxg_thread *t) {
	uint64_t id = atomic_load(&t->identity);
	return id & 1 && atomic_compare_exchange_strong(&t->identity, &id, id & ~UINT64_C(1));
}
