/* Memory that is shared with the daemon and with other processes, and the grant
 * by which the daemon hands it out. docs/protocol-pages.md has the protocol.
 *
 * Atomic operations on these words are sequentially consistent: the C11 defaults. */
#ifndef DXG_MEMORY_H
#define DXG_MEMORY_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct cell {
	_Alignas(8) _Atomic uint64_t value; /* what the application sees; holders raise it, only the kernel lowers it */
	_Alignas(8) _Atomic uint64_t want;  /* who is to be told of a new value */
	_Alignas(8) _Atomic uint64_t mval;  /* lowest value that the kernel waits for, minus 1 */
	_Alignas(8) _Atomic uint64_t peak;  /* highest value it was ever lowered from */
	_Atomic uint32_t flags;
	uint32_t zero;
	_Atomic uint32_t slot[];            /* bells of sleepers, 0 = free */
};

#define WANT_KERNEL (UINT64_C(1) << 63)
#define WANT_SLOTS ((UINT64_C(1) << 62) - 1)
enum { CELL_LOWERED = 1, CELL_GONE = 2, CELL_ASK = 4, CELL_REQUEST = 16 };
enum { CELL_SLOTS_SLAB = 6, CELL_SLOTS_PAGE = 62, CELL_SIZE = 64 };
enum { PAGE_BYTES = 4096, SLAB_BYTES = 64 << 10 };

/* One line of the user's bell table: a bell on which one thread sleeps, and the
 * ticket in which the kernel answers a wait that it decides. */
struct bell_line {
	_Atomic uint32_t bell;   /* futex word, shared between processes */
	_Atomic uint32_t status; /* result, once done */
	_Atomic uint32_t done;
	uint32_t zero[13];
};

struct grant {
	uint8_t kind;     /* 0 none, 1 a page of its own, 2 a cell of a slab */
	uint8_t rights;   /* 1 signal, 2 wait, 4 keeps waiters when a handle is destroyed */
	uint8_t slots, writable;
	uint32_t slab;    /* number of the slab */
	uint32_t offset;  /* of the cell, in bytes */
	uint32_t size;    /* bytes to map */
	uint8_t has_file; /* a descriptor comes along */
	uint8_t zero[3];
	uint32_t device;  /* of the local object, also where the call names none */
};
enum { GRANT_PAGE = 1, GRANT_SLAB = 2 };
enum { GRANT_SIGNAL = 1, GRANT_WAIT = 2, GRANT_KEEPS_WAITERS = 4 };

static_assert(offsetof(struct cell, value) == 0x00, "cell layout");
static_assert(offsetof(struct cell, want) == 0x08, "cell layout");
static_assert(offsetof(struct cell, mval) == 0x10, "cell layout");
static_assert(offsetof(struct cell, peak) == 0x18, "cell layout");
static_assert(offsetof(struct cell, flags) == 0x20, "cell layout");
static_assert(offsetof(struct cell, slot) == 0x28, "cell layout");
static_assert(sizeof(struct bell_line) == 64, "bell layout");
static_assert(sizeof(struct grant) == 24, "grant layout");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit atomics must be lock-free");

/* Whether signals and waits that begin now are the kernel's. */
static inline int cell_asks(const struct cell *c) { return (atomic_load(&c->flags) & CELL_ASK) != 0; }

/* Whether signals are, and waits that have to wait. */
static inline int cell_requests(const struct cell *c) { return (atomic_load(&c->flags) & (CELL_ASK | CELL_REQUEST)) != 0; }

/* Where a blocked wait on this cell is satisfied. The order of the loads matters:
 * the kernel stores peak and LOWERED before it lowers the value. */
static inline int cell_satisfied(const struct cell *c, uint64_t target) {
	if (atomic_load(&c->value) >= target) return 1;
	return (atomic_load(&c->flags) & CELL_LOWERED) && atomic_load(&c->peak) >= target;
}

#endif
