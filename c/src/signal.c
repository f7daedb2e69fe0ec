/* Signals in memory.
 *
 * A signal is a compare-and-swap and one look at the want word. Whatever cannot be
 * decided here exactly (a handle not found, a value to be lowered, a reserved flag,
 * no right, a page that says so) is the kernel's to decide and to answer. A batch is decided as a whole
 * before the first store. */
#include "inside.h"

#include <errno.h>
#include <string.h>

#include "records.h"

enum { ALLOW_FENCE_REWIND = 4 }; /* changes nothing for values that do not go down */

/* Raise the value to v unless it is higher already, and return who wants to know.
 * Found higher: ours counts as the earlier signal, and the look is a help for a
 * signaller that was stopped before it. */
static inline uint64_t raise_value(struct cell *c, uint64_t v) {
	uint64_t cur = atomic_load(&c->value);
	while (cur < v && !atomic_compare_exchange_weak(&c->value, &cur, v)) {}
	return atomic_load(&c->want);
}

/* Wake the sleepers in want. In a section. */
static void wake_slots(struct dxg_image *img, struct cell *c, unsigned slots, uint64_t want) {
	for (want &= WANT_SLOTS; want; want &= want - 1) {
		unsigned i = (unsigned)__builtin_ctzll(want);
		if (i >= slots) return;
		uint32_t bell = atomic_load(&c->slot[i]);
		if (bell) dxg_ring(img, bell);
	}
}

/* The kernel waits for a value that has been reached. It is read again: higher, it
 * is another signaller's whom we help; lower, the kernel lowered it and has judged. */
static bool wants_news(struct cell *c, uint64_t want) {
	return want & WANT_KERNEL && atomic_load(&c->value) > atomic_load(&c->mval);
}

/* Tell the kernel to look, and wait until it has: what the signal released is
 * released when the signal returns. */
static uint32_t ring_kernel(struct dxg_session *s, const uint32_t *handles, uint32_t n) {
	struct {
		uint32_t count, zero;
		uint64_t handles;
	} record = {n, 0, (uint64_t)(uintptr_t)handles};
	struct dxg_reply r = {0};
	int kept = errno, state;
	uint32_t st;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (!s) s = dxg_own_session(false, &st);
	if (s) st = dxg_request(s, dxg_op(OP_RING), &record, &r);
	pthread_setcancelstate(state, NULL);
	errno = kept;
	return st;
}

/* The rest of a signal that somebody wants to know of. Entered and left in the
 * section; true: the kernel wants news. */
static __attribute__((noinline)) bool spread(struct dxg_entry *e, uint64_t want) {
	int kept = errno;
	struct dxg_image *img = atomic_load(&dxg_root.image);
	if (img) wake_slots(img, e->cell, e->slots, want);
	errno = kept;
	return wants_news(e->cell, want);
}

/* Whether memory may be written: the flags are looked at before the first store. */
static bool may_signal(const struct dxg_entry *e, uint32_t device) {
	return e && e->device == device && e->can & CAN_SIGNAL && !cell_requests(e->cell);
}

/* Whether two entries are views of one object. */
static bool same_object(const struct dxg_entry *a, const struct dxg_entry *b) {
	return a->cell == b->cell || (a->fence->map && a->fence->map == b->fence->map);
}

static __attribute__((noinline)) bool signal_many(struct dxg_thread *t, const struct dxg_points *p, struct dxg_session *s, uint32_t *st) {
	struct dxg_entry *e[DXG_POINTS_MAX];
	uint32_t handle[DXG_POINTS_MAX], news[DXG_POINTS_MAX], n = 0;
	uint64_t value[DXG_POINTS_MAX];
	memcpy(handle, p->handles, p->count * sizeof handle[0]); /* the caller may be changing them */
	memcpy(value, p->values, p->count * sizeof value[0]);
	uint32_t before = dxg_section_enter(t);
	for (uint32_t i = 0; i < p->count; i++) {
		e[i] = dxg_find(handle[i]);
		bool ok = may_signal(e[i], p->device) && value[i] >= atomic_load(&e[i]->cell->value);
		/* A fence that occurs twice has the earlier value by then. */
		for (uint32_t j = 0; ok && j < i; j++) ok = !same_object(e[j], e[i]) || value[j] <= value[i];
		if (ok) continue;
		dxg_section_leave(t, before);
		return false;
	}
	for (uint32_t i = 0; i < p->count; i++) {
		uint64_t want = raise_value(e[i]->cell, value[i]);
		if (unlikely(want) && spread(e[i], want)) news[n++] = handle[i];
	}
	dxg_section_leave(t, before);
	*st = n ? ring_kernel(s, news, n) : ST_SUCCESS;
	return true;
}

/* After the store of a single signal, when somebody wants to know of it. */
static __attribute__((noinline)) uint32_t signal_wanted(struct dxg_thread *t, uint32_t before, struct dxg_entry *e, uint64_t want, uint32_t handle) {
	bool news = spread(e, want);
	dxg_section_leave(t, before);
	return news ? ring_kernel(NULL, &handle, 1) : ST_SUCCESS;
}

bool dxg_signal_fast(const struct dxg_points *p, struct dxg_session *s, uint32_t *st) {
	struct dxg_thread *t = dxg_thread();
	return t && dxg_points_plain(t, p, ALLOW_FENCE_REWIND) && signal_many(t, p, s, st);
}

static __attribute__((noinline)) int32_t signal_slow(const struct signal_from_cpu *a) {
	uint32_t st;
	if (a) {
		const struct dxg_points p = {a->device, a->count, a->flags, a->handles, a->values};
		if (dxg_signal_fast(&p, NULL, &st)) return (int32_t)st;
	}
	return (int32_t)dxg_call(dxg_op(OP_SIGNAL_FROM_CPU), (void *)(uintptr_t)a);
}

/* One fence, raised: written so that nothing is saved or spilled on the way. */
DXG_EXPORT int32_t D3DKMTSignalSynchronizationObjectFromCpu(const struct signal_from_cpu *a) {
	if (likely(dxg_quick() && a && a->count == 1 && !(a->flags & ~(uint32_t)ALLOW_FENCE_REWIND))) {
		struct dxg_thread *t = dxg_self.thread;
		if (unlikely(!dxg_known_word(t, DXG_HANDLES, a->handles, sizeof *a->handles) || !dxg_known_word(t, DXG_VALUES, a->values, sizeof *a->values))) return signal_slow(a);
		uint64_t v = *a->values;
		uint32_t handle = *a->handles;
		uint32_t before = dxg_section_enter_quick(t);
		struct dxg_entry *e = dxg_find(handle);
		if (likely(may_signal(e, a->device) && v >= atomic_load(&e->cell->value))) {
			uint64_t want = raise_value(e->cell, v);
			if (unlikely(want != 0)) return (int32_t)signal_wanted(t, before, e, want, handle);
			dxg_section_leave(t, before);
			return (int32_t)ST_SUCCESS;
		}
		dxg_section_leave(t, before);
	}
	return signal_slow(a);
}
