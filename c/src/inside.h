/* Inside of libdxg: what its files know of each other.
 *
 * An image is this process as the daemon sees it: one kernel process, its
 * sessions, its fences. A door is what a program calls: a D3DKMT function, or
 * ioctl on a descriptor of /dev/dxg. Every door ends in dxg_run, which does one
 * operation of the table through one session.
 *
 * Lock order:
 *     root.lock, then image.lock
 *     root.lock, then session.lock, then image.lock
 * Nothing is locked in dxcore.lock.
 * Nobody waits for a section (see threads.c) while being in one.
 */
#ifndef DXG_INSIDE_H
#define DXG_INSIDE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "op.h"
#include "status.h"

#define DXG_EXPORT __attribute__((visibility("default")))
struct dxg_image;
struct dxg_session;

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- threads.c: threads of this process and the sections they are in ---- */

enum { DXG_ARRAYS = 2, DXG_PAGES = 16, DXG_PAGE_SHIFT = 12 };

/* One thread that has called us. Never freed, used again by later threads. */
struct dxg_thread {
	/* How deep in sections (low 16 bits) and how many were left (the rest).
	 * Written by its thread only. */
	_Atomic uint32_t busy;
	_Atomic uint32_t fence;             /* its value means nothing */
	uintptr_t stack;                    /* what has been used of its stack: from here, */
	size_t stack_words;                 /* so many addresses with 8 bytes behind them */
	_Atomic uint32_t sleeping;          /* about to sleep, or asleep, on its bell */
	_Atomic uint64_t identity;          /* serial number << 1 | end the next blocking wait; 0: unused */
	_Atomic(struct bell_line *) line;   /* its bell and ticket; NULL: none yet */
	struct dxg_image *bell_image;       /* whose table line and bell belong to */
	uint32_t bell;                      /* number of line */
	bool owns;                          /* perhaps a keyed mutex, as whoever has this line */
	uint32_t spin_failed, spin_pass;    /* failures in a row; waits to go by without */
	struct dxg_thread *next;
	uintptr_t stack_low, stack_top;     /* all of its stack; 0, 0: not known */
	uintptr_t page[DXG_ARRAYS][DXG_PAGES]; /* where arrays could be read, apart for each */
};

struct dxg_self {
	struct dxg_thread *thread;
	uint64_t stamp; /* thread is good while this equals root.stamp, which is odd or 0 */
	uint64_t quick; /* the same, if sections need no fence */
};
extern __thread struct dxg_self dxg_self __attribute__((tls_model("initial-exec")));

/* What DXCore has for the whole process; see dxcore.h. */
struct dxcore_state {
	pthread_mutex_t lock;
	struct dxcore_adapter *adapters;         /* those that are referenced */
	struct dxcore_watch *watches, *calling;  /* registrations; the one being looked at or called back */
	pthread_cond_t change;
	bool changed;                            /* registrations are to be looked at */
	bool notifier;                           /* who does that has begun: */
	pthread_t thread;
	uint32_t cookie;                         /* the last that was given */
};
void dxcore_image_ended(void);

/* What a forked child must not find: a page that the system clears in the child. */
struct dxg_root {
	_Atomic uint64_t stamp;                /* 0: this process has not called us yet */
	_Atomic(struct dxg_table *) table;     /* fences to be used without asking; never NULL once stamped */
	_Atomic(struct dxg_image *) image;     /* the current one; NULL: none */
	_Atomic(struct dxg_thread *) threads;
	_Atomic uint64_t serial;               /* last identity of a thread */
	_Atomic bool fenced;                   /* no membarrier: sections need a fence of their own */
	_Atomic bool closed;                   /* D3DKMTCloseDxCoreDevice was called */
	pthread_mutex_t lock;                  /* all zero is its initial state */
	struct dxcore_state dxcore;
};
union dxg_root_page {
	struct dxg_root root;
	char page[65536]; /* the largest page size there is */
};
extern union dxg_root_page dxg_root_page;
#define dxg_root (dxg_root_page.root)

struct dxg_thread *dxg_thread(void);     /* of the caller; NULL: no memory */
void dxg_grace(void);                    /* wait until every section entered before has been left */
void dxg_wake_sleepers(void);            /* make every sleeping thread look again */
bool dxg_cancel_thread(uint64_t serial); /* see dxgsync.h */
bool dxg_cancelled(struct dxg_thread *); /* whether its wait is to end; says so once */

/* Inside a section no fence that the table holds goes away, and no memory of its.
 * A section never blocks and makes no system call. */
static inline uint32_t dxg_section_enter_quick(struct dxg_thread *t) {
	uint32_t before = atomic_load_explicit(&t->busy, memory_order_relaxed);
	atomic_store_explicit(&t->busy, before + 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return before;
}
static inline uint32_t dxg_section_enter(struct dxg_thread *t) {
	uint32_t before = dxg_section_enter_quick(t);
	if (unlikely(atomic_load_explicit(&dxg_root.fenced, memory_order_relaxed))) atomic_fetch_add(&t->fence, 1); /* a full barrier */
	return before;
}
/* before: what entering returned. */
static inline void dxg_section_leave(struct dxg_thread *t, uint32_t before) {
	atomic_store_explicit(&t->busy, before + 0x10000, memory_order_release);
}

/* Whether the caller is known and needs no fence to enter a section. */
static inline bool dxg_quick(void) {
	return likely(dxg_self.quick == atomic_load_explicit(&dxg_root.stamp, memory_order_relaxed));
}

/* The caller's record if it needs no work to get it, else NULL. */
static inline struct dxg_thread *dxg_known_thread(void) {
	return likely(dxg_self.stamp == atomic_load_explicit(&dxg_root.stamp, memory_order_relaxed)) ? dxg_self.thread : NULL;
}

/* ---- arrays.c: whether memory of the caller can be read, or written ---- */

enum { DXG_HANDLES, DXG_VALUES };

void dxg_arrays_begin(struct dxg_thread *);
/* Whether the 8 bytes around an address can be read. */
bool dxg_probe(uintptr_t at);
/* n bytes, less than a page. */
bool dxg_readable(struct dxg_thread *, int which, const void *, size_t n);
/* n bytes, more than none. Asks the system once a page and remembers nothing. */
bool dxg_writable(const void *, size_t n);

static inline bool dxg_on_stack(const struct dxg_thread *t, uintptr_t at) { return at - t->stack < t->stack_words; }
static inline bool dxg_page_known(const struct dxg_thread *t, int which, uintptr_t at) {
	return t->page[which][(at >> DXG_PAGE_SHIFT) % DXG_PAGES] == at >> DXG_PAGE_SHIFT;
}

/* What is known of one word without asking; false: ask, or it is not aligned. */
static inline bool dxg_known_word(const struct dxg_thread *t, int which, const void *p, size_t n) {
	uintptr_t at = (uintptr_t)p;
	return likely(dxg_on_stack(t, at)) || (!(at & (n - 1)) && dxg_page_known(t, which, at));
}

/* ---- copy.c: the program's memory, which may not be there ---- */

/* false: it cannot be read, or not be written. */
bool dxg_fetch(void *to, const void *from, size_t n);
bool dxg_put(void *to, const void *from, size_t n);

/* ---- handles.c: the fences of this process ---- */

enum { FENCE_LIVE, FENCE_DESTROYED, FENCE_DEVICE_GONE };

struct dxg_fence {
	struct cell *cell;       /* in the writable mapping if there is one, else in the view */
	_Atomic uint32_t refs;   /* 1 for its place in the image, 1 for each blocked wait */
	_Atomic uint32_t state;
	uint32_t handle, device;
	uint32_t queue, context; /* whose progress or paging fence it is, and of which context; 0: of none */
	uint16_t queue_end;      /* the operation that destroys the queue */
	uint8_t rights;          /* GRANT_SIGNAL, GRANT_WAIT */
	uint8_t writable;
	uint8_t slots;
	uint8_t in_slab;
	uint8_t keeps_waiters;   /* UnwaitCpuWaitersOnlyOnDestroy: destroying a handle releases nobody */
	struct dxg_mapping *map; /* of its page, the same for all local objects on one fence; NULL in a slab */
	uint64_t table;          /* serial of the table that has its entry, */
	uint32_t place;          /* and where; guarded by image.lock */
	struct dxg_fence *prev, *next; /* in image.fences or image.dying */
};

/* What the fast paths need of a fence, found by its handle. */
struct dxg_entry {
	_Atomic uint32_t key;    /* the handle; 0 never used, 1 being removed, 2 free again */
	uint32_t device;
	uint8_t can, slots, spare[6]; /* CAN_SIGNAL: in memory */
	struct cell *cell;
	struct dxg_fence *fence;
};
enum { CAN_SIGNAL = 1, CAN_WAIT = 2 };
extern struct dxg_table dxg_no_table;
struct dxg_table {
	uint32_t mask;           /* entries - 1, a power of two less one */
	uint32_t used;           /* keys that are not 0; guarded by image.lock */
	uint64_t serial;         /* of the table: each replaces the one before */
	struct dxg_entry entry[];
};
enum { KEY_NONE, KEY_LEAVING, KEY_FREE }; /* no handle is one of these */

/* The entry of a handle, or NULL. In a section only. */
static inline struct dxg_entry *dxg_find(uint32_t handle) {
	struct dxg_table *t = atomic_load_explicit(&dxg_root.table, memory_order_acquire);
	for (uint32_t i = handle >> 6;; i++) {
		struct dxg_entry *e = &t->entry[i & t->mask];
		uint32_t key = atomic_load_explicit(&e->key, memory_order_acquire);
		if (likely(key == handle)) return likely(handle > KEY_FREE) ? e : NULL;
		if (key == 0) return NULL;
	}
}

bool dxg_fence_add(struct dxg_image *, struct dxg_fence *);       /* false: no memory, or the image has ended */
uint32_t dxg_fence_destroy(struct dxg_session *, uint32_t handle);
/* Destroy what has fences that go with it: a device, a context, a queue. */
uint32_t dxg_owner_destroy(struct dxg_session *, const struct dxg_op *op, uint32_t owner);
void dxg_fence_ref(struct dxg_fence *);                           /* in a section, or holding one */
void dxg_fence_unref(struct dxg_fence *);

/* ---- image.c ---- */

struct dxg_slab {
	uint32_t number;
	char *hidden, *view;
	struct dxg_slab *next;
};

/* Memory of a fence that other processes may have, too. */
struct dxg_mapping {
	struct dxg_image *image;
	uint64_t file;           /* its number */
	void *hidden, *view;     /* the first to write to: NULL if nobody here may */
	size_t size;
	uint32_t uses;           /* guarded by image.lock, like hidden and next */
	struct dxg_mapping *next;
};

struct dxg_session {
	_Atomic uint64_t cookie; /* SO_COOKIE of the socket; 0: no session here */
	_Atomic int fd;          /* as it was made; a program may have copied it elsewhere */
	bool young;              /* Hello has not succeeded yet: a failure is this session's alone */
	struct dxg_image *image;
	pthread_mutex_t lock;    /* one request at a time */
};

enum { DXG_SESSIONS = 64 /* of one image; the first is the library's own */, DXG_MAPPINGS = 1024 /* lists of them */ };

struct dxg_image {
	uint8_t nonce[16];
	_Atomic uint32_t ended;  /* status of every later call; 0: it has not ended. See dxg_ended */
	_Atomic bool watched;    /* the watcher runs */
	int epoll;               /* knows every session and keeps none alive */
	int poke;                /* eventfd that ends the watcher; marks epoll as ours */
	uint64_t kernel;         /* which daemon */
	struct dxg_image *previous; /* the one that ended before it */
	struct bell_line *bells; /* the user's table */
	uint32_t bell_lines;
	struct dxg_session session[DXG_SESSIONS];

	pthread_mutex_t lock;    /* guards all below */
	uint32_t *free_bells;    /* bells of threads that have ended, and new ones */
	uint32_t free_bells_len, free_bells_cap;
	struct dxg_slab *slabs;
	struct dxg_mapping *mappings[DXG_MAPPINGS];
	struct dxg_fence *fences, *dying;
	uint32_t fence_count;
	struct dxg_doorbell *doorbells;

	pthread_mutex_t locking; /* guards what is locked, over a whole call; taken first */
	struct dxg_locked *locked;
};

/* The library's own session. NULL: *st says why not. again: a new image may begin
 * if the last one has ended. */
struct dxg_session *dxg_own_session(bool again, uint32_t *st);
/* A session for a descriptor of /dev/dxg: the descriptor, or -1 and errno. */
int dxg_open_device(int flags);
/* The descriptor to use a session by: the one that the program gave us in this
 * thread's ioctl, else the one it was made with. */
int dxg_session_fd(const struct dxg_session *);
extern __thread int dxg_ioctl_fd __attribute__((tls_model("initial-exec"))); /* -1: not in an ioctl */
/* The session behind a descriptor; NULL: none of this process. */
struct dxg_session *dxg_session_of(int fd);
/* End an image: later calls answer st, sleepers wake. lost: the daemon is gone, so
 * every value becomes all ones. */
void dxg_image_end(struct dxg_image *, uint32_t st, bool lost);
/* img->ended, to be told to the program: every fence that the end raises has been
 * raised. Without image.lock. */
uint32_t dxg_ended(struct dxg_image *);
/* Whether image.epoll is still ours: the program may have closed it and be using
 * the number. */
bool dxg_own_epoll(const struct dxg_image *);
/* Forget the library's own session; later calls answer UNSUCCESSFUL. */
void dxg_close_own(void);

/* ---- session.c: sockets ---- */

int dxg_connect(void);                        /* a connected socket, or -1 and errno */
uint64_t dxg_cookie(int fd);                  /* 0: no socket */
uint32_t dxg_hello(struct dxg_session *, const uint8_t nonce[16]);
bool dxg_hung_up(int fd);

/* ---- frame.c: one request and its reply ---- */

enum { DXG_RECORD_MAX = 1024, DXG_FILES_MAX = 8 };

struct dxg_reply {
	uint32_t bell, ticket;        /* in: of a blocking wait */
	struct grant grant;           /* out; kind 0: none */
	int file[DXG_FILES_MAX];      /* out: descriptors that no field takes; the caller's to close */
	int files;
};

/* Do op with a record of op->size bytes. On success the record's Out spans, the
 * outward arrays and descriptor fields are written, else nothing. Results besides
 * the kernel's: INVALID_PARAMETER (too much for a frame, or an array that leads on and
 * is not as it must be), ACCESS_VIOLATION (an array
 * cannot be read or written), NO_MEMORY, DEVICE_REMOVED (the daemon is gone). */
uint32_t dxg_request(struct dxg_session *, const struct dxg_op *op, void *record, struct dxg_reply *);

/* ---- maps.c: mappings ---- */

void *dxg_map_hidden(int fd, size_t); /* to write to, and not a forked child's; NULL: no memory */
void *dxg_map_view(int fd, size_t);   /* to read */
/* The memory of a fence, mapped once; NULL: no memory. */
struct dxg_mapping *dxg_mapping(struct dxg_image *, int fd, size_t, bool writable);
void dxg_mapping_leave(struct dxg_mapping *);
/* Put a page of our own, which begins with n bytes of words, into the place of a view in
 * one step. Without memory for it nothing happens. */
void dxg_replace(void *view, size_t, const void *words, size_t n);
void dxg_drown(struct dxg_fence *);   /* all ones for everybody in this process; image.lock is held */

/* ---- pages.c: memory of fences ---- */

/* What the kernel has made: a fence, perhaps of a queue that was made with it. */
struct dxg_made {
	uint32_t handle, device;
	uint32_t queue, context; /* as in struct dxg_fence */
	uint16_t queue_end;
};
/* Make a fence of what the kernel granted with it, and give its CPU address. On failure
 * what was made is destroyed again. */
uint32_t dxg_adopt(struct dxg_session *, const struct dxg_made *, struct dxg_reply *, uint64_t *address);

/* ---- create.c ---- */

/* A call that makes a fence. */
uint32_t dxg_create(struct dxg_session *, const struct dxg_op *, void *record);
/* Whether so many descriptors can be received now: refused beforehand, a call has done
 * nothing and written nothing. */
bool dxg_room_for_files(const struct dxg_session *, int n);
void dxg_close_files(struct dxg_reply *);

/* ---- doorbells.c ---- */

struct create_doorbell;
struct dxg_pages {           /* descriptors; -1: none */
	int program, status;
};
struct dxg_words {           /* addresses in this process */
	uint64_t doorbell, secondary, last_queued, status;
};
struct dxg_pages dxg_take_pages(struct dxg_reply *); /* those of a doorbell, which come first */
void dxg_close_pages(struct dxg_pages *);
/* Map a doorbell that the kernel has made for a queue, and close its descriptors.
 * INVALID_PARAMETER: the queue is being destroyed. NO_MEMORY. */
uint32_t dxg_doorbell_add(struct dxg_image *, uint32_t handle, uint32_t queue, struct dxg_pages *, struct dxg_words *);
uint32_t dxg_create_doorbell(struct dxg_session *, const struct dxg_op *, struct create_doorbell *);
uint32_t dxg_destroy_doorbell(struct dxg_session *, const struct dxg_op *, uint32_t handle);
/* Operation nr has destroyed an owner, and its doorbells with it. */
void dxg_forget_doorbells(struct dxg_image *, uint16_t nr, uint32_t owner);
void dxg_abort_doorbells(struct dxg_image *);        /* the daemon is gone; image.lock is held */

/* ---- locks.c: memory of allocations ---- */

struct lock2;
struct unlock2;
struct destroy_allocation;
uint32_t dxg_lock2(struct dxg_session *, const struct dxg_op *, struct lock2 *);
uint32_t dxg_unlock2(struct dxg_session *, const struct dxg_op *, struct unlock2 *);
uint32_t dxg_destroy_allocation2(struct dxg_session *, const struct dxg_op *, struct destroy_allocation *);
void dxg_forget_locks(struct dxg_image *, uint32_t device); /* the device is gone */
void dxg_allow_access(struct dxg_session *, uint32_t allocation_flags);

/* ---- bells.c ---- */

/* Give the calling thread a bell of the session's image. */
uint32_t dxg_bell(struct dxg_session *, struct dxg_thread *);
void dxg_bell_return(struct dxg_thread *);
void dxg_bells_add(struct dxg_image *, uint32_t first, uint32_t count);
void dxg_ring(struct dxg_image *, uint32_t bell);

/* ---- watcher.c ---- */

void dxg_watch(struct dxg_image *);

/* ---- signal.c, wait.c ---- */

struct dxg_points {
	uint32_t device, count, flags;
	const uint32_t *handles;
	const uint64_t *values;
};
enum { DXG_POINTS_MAX = 64 };

/* Whether memory may decide at all: nothing odd in the request, and arrays to read. */
static inline bool dxg_points_plain(struct dxg_thread *t, const struct dxg_points *p, uint32_t flags) {
	return !(p->flags & ~flags) && p->count - 1 < DXG_POINTS_MAX && p->handles && p->values &&
		dxg_readable(t, DXG_HANDLES, p->handles, p->count * sizeof *p->handles) && dxg_readable(t, DXG_VALUES, p->values, p->count * sizeof *p->values);
}

/* Done in memory, *st is the result; false: the kernel must decide. */
bool dxg_signal_fast(const struct dxg_points *, struct dxg_session *, uint32_t *st);
bool dxg_wait_fast(const struct dxg_points *);
/* A blocking wait; `record` is its D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU. */
uint32_t dxg_wait(struct dxg_session *, const struct dxg_points *, void *record);
/* A call that the kernel may answer later. */
uint32_t dxg_blocking(struct dxg_session *, const struct dxg_op *op, void *record);
/* An acquire or a release of a keyed mutex: the calling thread is who its line is. */
uint32_t dxg_keyed(struct dxg_session *, const struct dxg_op *, void *record);

/* ---- door.c ---- */

/* Do op through a session; the record is the library's copy. */
uint32_t dxg_run(struct dxg_session *, const struct dxg_op *op, void *record);
/* A D3DKMT function: op, and the caller's argument. */
uint32_t dxg_call(const struct dxg_op *op, void *argument);

/* ---- compat.c ---- */

/* Bytes of an element's first and second version, and how many of them both begin
 * with. */
struct dxg_elements {
	size_t first, second, same;
};
/* A call of op by an argument whose array that comes back has the first version. */
uint32_t dxg_call_with_first(const struct dxg_op *op, void *argument, struct dxg_elements);

#endif
