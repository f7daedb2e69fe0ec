/* Blocking waits.
 *
 * A wait that is satisfied is a few loads. Else the thread looks for a few
 * microseconds more, then puts its bell into a slot of each fence and sleeps on the
 * bell. Waits that memory cannot decide (a fence that was lowered once, that this
 * process may only read, without a free slot, or whose page says so) are the kernel's: it answers in
 * the thread's line of the bell table, and the thread sleeps on the same bell. */
#include "inside.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "records.h"

enum { WAIT_ANY = 1 };

/* ---- satisfied already ---- */

/* Whether memory may be believed by a wait that begins now. */
static bool may_wait(const struct dxg_entry *e, uint32_t device) {
	return e && e->device == device && e->can & CAN_WAIT && !cell_asks(e->cell);
}

static bool reached(const struct dxg_points *p) {
	uint32_t met = 0;
	for (uint32_t i = 0; i < p->count; i++) {
		struct dxg_entry *e = dxg_find(p->handles[i]);
		if (!may_wait(e, p->device)) return false;
		met += atomic_load(&e->cell->value) >= p->values[i];
	}
	return met == p->count || (p->flags & WAIT_ANY && met);
}

bool dxg_wait_fast(const struct dxg_points *p) {
	struct dxg_thread *t = dxg_thread();
	if (!t || !dxg_points_plain(t, p, WAIT_ANY)) return false;
	uint32_t before = dxg_section_enter(t);
	bool done = reached(p);
	dxg_section_leave(t, before);
	return done;
}

/* ---- one blocked wait ---- */

struct point {
	struct dxg_fence *fence; /* NULL: let go */
	uint64_t target;
	int slot;      /* claimed; -1: none */
	bool met;      /* once seen satisfied, it stays so */
};

struct wait {
	struct dxg_thread *thread;
	struct dxg_image *image;
	struct dxg_session *session;
	uint32_t count, met;
	bool any;
	struct point point[DXG_POINTS_MAX];
};

static bool enough(const struct wait *w) { return w->met == w->count || (w->any && w->met); }

/* First the want bit, then the slot: reversed, it erases the next claimer's bit. */
static void unclaim(struct point *p) {
	if (p->slot < 0) return;
	atomic_fetch_and(&p->fence->cell->want, ~(UINT64_C(1) << p->slot));
	atomic_store(&p->fence->cell->slot[p->slot], 0);
	p->slot = -1;
}

/* Let go of a point: its fence may be destroyed though the wait goes on. */
static void let_go(struct point *p) {
	if (!p->fence) return;
	unclaim(p);
	dxg_fence_unref(p->fence);
	p->fence = NULL;
}

static void let_all_go(struct wait *w) {
	for (uint32_t i = 0; i < w->count; i++) let_go(&w->point[i]);
}

/* Whether the value has been reached. Only a sleeper that was in its slot before the
 * value was first lowered may count the peak; a wait that begins later may not. */
static bool value_reached(const struct point *p) {
	if (p->slot >= 0) return cell_satisfied(p->fence->cell, p->target);
	return atomic_load(&p->fence->cell->value) >= p->target;
}

/* Look at what is not met yet. DEVICE_REMOVED: the device of the wait is gone. */
static uint32_t look(struct wait *w) {
	uint32_t st = ST_SUCCESS;
	for (uint32_t i = 0; i < w->count; i++) {
		struct point *p = &w->point[i];
		if (p->met) continue;
		bool gone = atomic_load(&p->fence->cell->flags) & CELL_GONE;
		uint32_t state = atomic_load(&p->fence->state); /* after gone: the device's end comes first */
		if (state == FENCE_DEVICE_GONE) {
			st = ST_DEVICE_REMOVED;
			gone = false;
		}
		if (value_reached(p) || state == FENCE_DESTROYED || gone) {
			p->met = true;
			w->met++;
			let_go(p);
		}
	}
	return enough(w) ? ST_SUCCESS : st;
}

/* Take references on all fences of a wait. false: the kernel must judge them. */
static bool gather(struct wait *w, const struct dxg_points *p) {
	uint32_t before = dxg_section_enter(w->thread);
	for (uint32_t i = 0; i < p->count; i++) {
		struct dxg_entry *e = dxg_find(p->handles[i]);
		if (!may_wait(e, p->device)) break;
		dxg_fence_ref(e->fence);
		w->point[w->count++] = (struct point){e->fence, p->values[i], -1, false};
	}
	dxg_section_leave(w->thread, before);
	return w->count == p->count;
}

/* First the slot, then the want bit: whoever dies between the two can be found. */
static bool claim(struct point *p, uint32_t bell) {
	struct cell *c = p->fence->cell;
	if (!p->fence->writable || atomic_load(&c->flags) & (CELL_LOWERED | CELL_ASK | CELL_REQUEST)) return false;
	for (int i = 0; i < p->fence->slots; i++) {
		uint32_t none = 0;
		if (atomic_load(&c->slot[i]) || !atomic_compare_exchange_strong(&c->slot[i], &none, bell)) continue;
		atomic_fetch_or(&c->want, UINT64_C(1) << i);
		p->slot = i;
		return true;
	}
	return false;
}

/* ---- spinning ---- */

/* A signal from another processor that comes soon is met by looking again: much
 * faster than sleeping. After failures in a row it becomes rare, and rarer with each
 * more: the other side is slow, or on this same processor. It lasts longer than a
 * sleeper takes to wake and answer, else two sides that had both fallen asleep would
 * never meet awake again. */
enum { SPIN_NS = 50000, SPIN_LOOKS = 64, SPIN_TRUST = 4, SPIN_PASS_LEAST = 32, SPIN_PASS_MOST = 1024 };

static bool many_processors(void) {
	static _Atomic int known; /* 0 not asked yet, 1 one, 2 several */
	int k = atomic_load_explicit(&known, memory_order_relaxed);
	if (k == 0) {
		k = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
		atomic_store_explicit(&known, k, memory_order_relaxed);
	}
	return k == 2;
}

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("isb");
#endif
}

static void spin(struct wait *w) {
	struct dxg_thread *t = w->thread;
	if (!many_processors()) return;
	if (t->spin_pass) {
		t->spin_pass--;
		return;
	}
	int64_t end = now() + SPIN_NS;
	do {
		for (int i = 0; i < SPIN_LOOKS; i++) {
			look(w);
			if (enough(w)) {
				t->spin_failed = 0;
				return;
			}
			pause_briefly();
		}
	} while (now() < end);
	if (++t->spin_failed <= SPIN_TRUST) return;
	uint32_t more = t->spin_failed - SPIN_TRUST - 1;
	t->spin_pass = more < 5 ? SPIN_PASS_LEAST << more : SPIN_PASS_MOST;
}

/* ---- sleeping ---- */

static bool backstop_off(void) {
	static _Atomic int known;
	int k = atomic_load_explicit(&known, memory_order_relaxed);
	if (k == 0) {
		const char *v = getenv("DXGSYNC_BACKSTOP");
		k = v && !strcmp(v, "off") ? 2 : 1;
		atomic_store_explicit(&known, k, memory_order_relaxed);
	}
	return k == 2;
}

/* Sleep until the bell is no more what it was. A signaller may have been stopped
 * between its store and its wake, so sleepers look again after a second; without
 * a watcher they also look after the daemon. */
static void sleep_on(struct wait *w, struct bell_line *line, uint32_t seen) {
	const struct timespec second = {1, 0}, moment = {0, 50000000};
	bool watched = atomic_load(&w->image->watched);
	const struct timespec *limit = !watched ? &moment : backstop_off() ? NULL : &second;
	syscall(SYS_futex, &line->bell, FUTEX_WAIT, seen, limit, NULL, 0);
	if (!watched && dxg_hung_up(dxg_session_fd(w->session))) dxg_image_end(w->image, ST_DEVICE_REMOVED, true);
}

/* Sleep until memory says that the wait is over. */
static uint32_t sleep_in_memory(struct wait *w) {
	struct bell_line *line = atomic_load(&w->thread->line);
	uint32_t st;
	for (;;) {
		uint32_t seen = atomic_load(&line->bell); /* first this, then everything else */
		st = look(w);
		uint32_t ended = dxg_ended(w->image); /* after the values, which the end raises */
		if (ended) return ended;
		if (enough(w) || st) return st;
		if (dxg_cancelled(w->thread)) return ST_CANCELLED;
		sleep_on(w, line, seen);
	}
}

/* Sleep until the kernel has answered in our line. */
static uint32_t sleep_in_kernel(struct wait *w) {
	struct bell_line *line = atomic_load(&w->thread->line);
	bool late = false; /* asked to end, but the answer is on the way into our line */
	for (;;) {
		uint32_t seen = atomic_load(&line->bell);
		uint32_t ended = dxg_ended(w->image);
		if (atomic_load(&line->done)) return atomic_load(&line->status);
		if (ended) return ended;
		if (!late && dxg_cancelled(w->thread)) {
			uint32_t ticket = w->thread->bell;
			struct dxg_reply r = {0};
			uint32_t st = dxg_request(w->session, dxg_op(OP_CANCEL_WAIT), &ticket, &r);
			if (ST_OK(st)) return ST_CANCELLED;
			late = st == ST_INVALID_PARAMETER;
			atomic_fetch_or(&w->thread->identity, 1); /* for the next wait, or the next try */
			continue;
		}
		sleep_on(w, line, seen);
	}
}

/* What was seen satisfied stays so, also if it is lowered now: the kernel is asked
 * for the rest. Only for a wait for all; one for any would be over. */
struct rest {
	struct wait_from_cpu record;
	uint32_t handle[DXG_POINTS_MAX];
	uint64_t value[DXG_POINTS_MAX];
};

static void *rest_of(const struct wait *w, struct rest *r, const void *record) {
	r->record = *(const struct wait_from_cpu *)record;
	r->record.count = 0;
	r->record.handles = r->handle;
	r->record.values = r->value;
	for (uint32_t i = 0; i < w->count; i++) {
		if (w->point[i].met) continue;
		r->handle[r->record.count] = w->point[i].fence->handle;
		r->value[r->record.count++] = w->point[i].target;
	}
	return &r->record;
}

static uint32_t wait_in_kernel(struct wait *w, const struct dxg_op *op, void *record) {
	struct dxg_reply r = {.bell = w->thread->bell, .ticket = w->thread->bell};
	atomic_store(&atomic_load(&w->thread->line)->done, 0);
	uint32_t st = dxg_request(w->session, op, record, &r);
	return st == ST_PENDING ? sleep_in_kernel(w) : st;
}

/* *kernel: memory cannot decide it, nothing has happened. */
static uint32_t wait_in_memory(struct wait *w, bool *kernel) {
	uint32_t st = look(w);
	*kernel = false;
	if (!enough(w) && !st) spin(w);
	if (enough(w) || st) {
		uint32_t ended = dxg_ended(w->image);
		return ended ? ended : st;
	}
	for (uint32_t i = 0; i < w->count && !*kernel; i++)
		if (!w->point[i].met) *kernel = !claim(&w->point[i], w->thread->bell);
	return *kernel ? ST_SUCCESS : sleep_in_memory(w);
}

uint32_t dxg_wait(struct dxg_session *s, const struct dxg_points *p, void *record) {
	struct wait w = {.session = s, .image = s->image};
	struct rest rest;
	bool kernel = true;
	if (!(w.thread = dxg_thread())) return ST_NO_MEMORY;
	uint32_t st = dxg_bell(s, w.thread);
	if (!ST_OK(st)) return st;
	w.any = p->flags & WAIT_ANY;
	atomic_store(&w.thread->sleeping, 1);
	if (dxg_points_plain(w.thread, p, WAIT_ANY)) {
		if (gather(&w, p)) {
			st = wait_in_memory(&w, &kernel);
			if (kernel && w.met) record = rest_of(&w, &rest, record);
		}
		let_all_go(&w);
	}
	if (kernel) st = wait_in_kernel(&w, dxg_op(OP_WAIT_FROM_CPU), record);
	atomic_store(&w.thread->sleeping, 0);
	return st;
}

uint32_t dxg_blocking(struct dxg_session *s, const struct dxg_op *op, void *record) {
	struct wait w = {.session = s, .image = s->image};
	if (!(w.thread = dxg_thread())) return ST_NO_MEMORY;
	uint32_t st = dxg_bell(s, w.thread);
	if (!ST_OK(st)) return st;
	atomic_store(&w.thread->sleeping, 1);
	st = wait_in_kernel(&w, op, record);
	atomic_store(&w.thread->sleeping, 0);
	return st;
}

/* What the kernel grants later it tells to the same request, made once more. */
uint32_t dxg_keyed(struct dxg_session *s, const struct dxg_op *op, void *record) {
	struct wait w = {.session = s, .image = s->image};
	if (!(w.thread = dxg_thread())) return ST_NO_MEMORY;
	uint32_t st = dxg_bell(s, w.thread);
	if (!ST_OK(st)) return st;
	struct dxg_reply r = {.bell = w.thread->bell, .ticket = w.thread->bell};
	struct bell_line *line = atomic_load(&w.thread->line);
	w.thread->owns = true;
	atomic_store(&w.thread->sleeping, 1);
	atomic_store(&line->done, 0);
	st = dxg_request(s, op, record, &r);
	if (st == ST_PENDING && (st = sleep_in_kernel(&w)) == ST_SUCCESS) st = dxg_request(s, op, record, &r);
	atomic_store(&w.thread->sleeping, 0);
	return st;
}

static __attribute__((noinline)) int32_t wait_slow(const struct wait_from_cpu *a) {
	if (a && !a->event) {
		const struct dxg_points p = {a->device, a->count, a->flags, a->handles, a->values};
		if (dxg_wait_fast(&p)) return (int32_t)ST_SUCCESS;
	}
	return (int32_t)dxg_call(dxg_op(OP_WAIT_FROM_CPU), (void *)(uintptr_t)a);
}

/* One fence, satisfied: written so that nothing is saved or spilled on the way. */
DXG_EXPORT int32_t D3DKMTWaitForSynchronizationObjectFromCpu(const struct wait_from_cpu *a) {
	if (likely(dxg_quick() && a && a->count == 1 && !a->event && !(a->flags & ~(uint32_t)WAIT_ANY))) {
		struct dxg_thread *t = dxg_self.thread;
		if (unlikely(!dxg_known_word(t, DXG_HANDLES, a->handles, sizeof *a->handles) || !dxg_known_word(t, DXG_VALUES, a->values, sizeof *a->values))) return wait_slow(a);
		uint64_t target = *a->values;
		uint32_t before = dxg_section_enter_quick(t);
		struct dxg_entry *e = dxg_find(*a->handles);
		bool done = may_wait(e, a->device) && atomic_load(&e->cell->value) >= target;
		dxg_section_leave(t, before);
		if (likely(done)) return (int32_t)ST_SUCCESS;
	}
	return wait_slow(a);
}
