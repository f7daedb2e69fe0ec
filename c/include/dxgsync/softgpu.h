/* SPDX-License-Identifier: MIT
 *
 * Command buffers of the software GPU, for programs in C11 and C++. The format is a page
 * of the documentation, docs/command-buffers.md; Go programs have package cmdbuf.
 *
 *     struct dxgsync_cmdbuf b;
 *     dxgsync_cmdbuf_begin(&b, memory, size);
 *     dxgsync_cmdbuf_write64(&b, data, 42);
 *     dxgsync_cmdbuf_signal(&b, fence, 1);
 *     submit.CommandLength = (UINT)dxgsync_cmdbuf_size(&b);
 *
 * Everything is in this header; nothing is to be linked.
 */
#ifndef DXGSYNC_SOFTGPU_H
#define DXGSYNC_SOFTGPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The header of a buffer: magic and version, 32 bits each. */
#define DXGSYNC_CMDBUF_MAGIC 0x42475844u
#define DXGSYNC_CMDBUF_VERSION 1u
/* The longest buffer that the GPU takes, in bytes. */
#define DXGSYNC_CMDBUF_MAX_SIZE (1u << 20)

/* Opcodes. */
#define DXGSYNC_CMD_NOP 1u
#define DXGSYNC_CMD_WRITE64 2u
#define DXGSYNC_CMD_WRITE32 3u
#define DXGSYNC_CMD_COPY 4u
#define DXGSYNC_CMD_FILL 5u
#define DXGSYNC_CMD_DELAY 6u
#define DXGSYNC_CMD_SIGNAL 7u
#define DXGSYNC_CMD_SIGNAL32 8u
#define DXGSYNC_CMD_WAIT 9u
#define DXGSYNC_CMD_FAULT 10u
#define DXGSYNC_CMD_HANG 11u
#define DXGSYNC_CMD_SIGNAL_NATIVE 12u

/* Flags of a delay. */
#define DXGSYNC_DELAY_NOT_PREEMPTIBLE 1u

/* Kinds of faults. */
#define DXGSYNC_FAULT_DMA 0u
#define DXGSYNC_FAULT_READ 1u
#define DXGSYNC_FAULT_WRITE 2u

/* A buffer that is being written. */
struct dxgsync_cmdbuf {
	unsigned char *memory;
	size_t size; /* of the memory, in bytes */
	size_t used; /* as much as was appended, also if it did not fit */
};

/* The bytes written so far, or 0 if the memory was too small for all of it. */
static inline size_t dxgsync_cmdbuf_size(const struct dxgsync_cmdbuf *b)
{
	return b->used <= b->size ? b->used : 0;
}

/* For the functions below: n numbers of so many bytes, lowest byte first. What does not
 * fit as a whole is counted and not written. */
static inline void dxgsync_cmdbuf_put(struct dxgsync_cmdbuf *b, const uint64_t *numbers, size_t n, size_t bytes)
{
	size_t at = b->used;
	size_t i;

	b->used += n * bytes;
	if (b->used > b->size)
		return;
	for (i = 0; i < n * bytes; i++)
		b->memory[at + i] = (unsigned char)(numbers[i / bytes] >> (8 * (i % bytes)));
}

static inline void dxgsync_cmdbuf_command(struct dxgsync_cmdbuf *b, uint32_t opcode, size_t fields, uint64_t f0, uint64_t f1, uint64_t f2, uint64_t f3)
{
	uint64_t head[2], field[4];

	head[0] = opcode;
	head[1] = 8 + 8 * fields;
	field[0] = f0;
	field[1] = f1;
	field[2] = f2;
	field[3] = f3;
	dxgsync_cmdbuf_put(b, head, 2, 4);
	dxgsync_cmdbuf_put(b, field, fields, 8);
}

/* Begin a buffer in memory of so many bytes, with its header. The memory needs no
 * alignment here; the address that is submitted needs that of D3DKMTSubmitCommand. */
static inline void dxgsync_cmdbuf_begin(struct dxgsync_cmdbuf *b, void *memory, size_t size)
{
	uint64_t head[2];

	b->memory = (unsigned char *)memory;
	b->size = size;
	b->used = 0;
	head[0] = DXGSYNC_CMDBUF_MAGIC;
	head[1] = DXGSYNC_CMDBUF_VERSION;
	dxgsync_cmdbuf_put(b, head, 2, 4);
}

/* Do nothing. */
static inline void dxgsync_cmdbuf_nop(struct dxgsync_cmdbuf *b)
{
	dxgsync_cmdbuf_command(b, DXGSYNC_CMD_NOP, 0, 0, 0, 0, 0);
}

/* Store 64 bits in one piece; va is a multiple of 8. */
static inline void dxgsync_cmdbuf_write64(struct dxgsync_cmdbuf *b, uint64_t va, uint64_t value)
{
	dxgsync_cmdbuf_command(b, DXGSYNC_CMD_WRITE64, 2, va, value, 0, 0);
}

/* Store 32 bits in one piece; va is a multiple of 4. */
static inline void dxgsync_cmdbuf_write32(struct dxgsync_cmdbuf *b, uint64_t va, uint32_t value)
{
	dxgsync_cmdbuf_command(b, DXGSYNC_CMD_WRITE32, 2, va, value, 0, 0);
}

/* Move bytes, as memmove does. */
static inline void dxgsync_cmdbuf_copy(struct dxgsync_cmdbuf *b, uint64_t dst, uint64_t src, uint64_t bytes)
{
	dxgsync_cmdbuf_command(b, DXGSYNC_CMD_COPY, 3, dst, src, bytes, 0);
}

/* Write the four bytes of the pattern, lowest first, again and again. */
static inline void dxgsync_cmdbuf_fill(struct dxgsync_cmdbuf *b, uint64_t dst, uint32_t pattern, uint64_t bytes)
{
	dxgsync_cmdbuf_command(b, DXGSYNC_CMD_FILL, 3, dst, pattern, bytes, 0);
}

/* Keep the engine busy for so many nanoseconds. */
static inline void dxgsync_cmdbuf_delay(struct dxgsync_cmdbuf *b, uint64_t nanoseconds, uint32_t flags)
{
	dxgsync_cmdbuf_command(b, DXGSYNC_CMD_DELAY, 2, nanoseconds, flags, 0, 0);
}

/* Store 64 bits and tell the CPU: the value of a monitored fence. */
static inline void dxgsync_cmdbuf_signal(struct dxgsync_cmdbuf *b, uint64_t va, uint64_t value)
{
	dxgsync_cmdbuf_command(b, DXGSYNC_CMD_SIGNAL, 2, va, value, 0, 0);
}

/* The same for a fence in 32-bit storage. */
static inline void dxgsync_cmdbuf_signal32(struct dxgsync_cmdbuf *b, uint64_t va, uint32_t value)
{
	dxgsync_cmdbuf_command(b, DXGSYNC_CMD_SIGNAL32, 2, va, value, 0, 0);
}

/* Hold the queue until the native fence whose current value is at va has value or more.
 * fence is the program's handle of it, for the queue's log. */
static inline void dxgsync_cmdbuf_wait(struct dxgsync_cmdbuf *b, uint64_t va, uint64_t value, uint32_t fence)
{
	dxgsync_cmdbuf_command(b, DXGSYNC_CMD_WAIT, 3, va, value, fence, 0);
}

/* Store value at va, where the current value of a native fence is, log it with fence, the
 * program's handle, and interrupt the CPU only if value is above the monitored value,
 * which is at monitored. */
static inline void dxgsync_cmdbuf_signal_native(struct dxgsync_cmdbuf *b, uint64_t va, uint64_t value, uint64_t monitored, uint32_t fence)
{
	dxgsync_cmdbuf_command(b, DXGSYNC_CMD_SIGNAL_NATIVE, 4, va, value, monitored, fence);
}

/* Fault: a DMA fault, or a page fault at an address. */
static inline void dxgsync_cmdbuf_fault(struct dxgsync_cmdbuf *b, uint32_t kind, uint64_t address)
{
	dxgsync_cmdbuf_command(b, DXGSYNC_CMD_FAULT, 2, kind, address, 0, 0);
}

/* Never end. */
static inline void dxgsync_cmdbuf_hang(struct dxgsync_cmdbuf *b)
{
	dxgsync_cmdbuf_command(b, DXGSYNC_CMD_HANG, 0, 0, 0, 0, 0);
}

/* ---- Ring buffers ----
 *
 * For queues that are submitted to by ringing a doorbell; docs/doorbells.md has the
 * protocol.
 *
 *     struct dxgsync_ring r;
 *     dxgsync_ring_begin(&r, memory, size, control);
 *     if (dxgsync_ring_room(&r)) {
 *         uint64_t n = dxgsync_ring_put(&r, address, length);
 *         dxgsync_doorbell_store(last_queued, progress);
 *         dxgsync_doorbell_store(doorbell, n);
 *         switch (dxgsync_doorbell_load(status)) { ... }
 *     }
 */

/* The most entries that the GPU takes. */
#define DXGSYNC_RING_MAX 65536u

/* An entry of a ring buffer: a command buffer. */
struct dxgsync_ring_entry {
	uint64_t address; /* GPU virtual address */
	uint64_t length;  /* bytes */
};

/* The memory of a ring buffer's control, which the GPU writes. */
struct dxgsync_ring_control {
	uint64_t fetched; /* entries that were read so far */
};

/* What a program knows of its ring buffer. */
struct dxgsync_ring {
	struct dxgsync_ring_entry *entry;
	uint64_t entries;
	uint64_t written; /* so far: what is to be rung */
	const struct dxgsync_ring_control *control; /* or NULL */
};

/* Store or load a word of a doorbell, in one order with all others. */
static inline void dxgsync_doorbell_store(void *word, uint64_t value)
{
	__atomic_store_n((uint64_t *)word, value, __ATOMIC_SEQ_CST);
}

static inline uint64_t dxgsync_doorbell_load(const void *word)
{
	return __atomic_load_n((const uint64_t *)word, __ATOMIC_SEQ_CST);
}

/* Begin a ring buffer in memory of so many bytes, aligned to 8. control may be NULL. */
static inline void dxgsync_ring_begin(struct dxgsync_ring *r, void *memory, size_t size, const void *control)
{
	r->entry = (struct dxgsync_ring_entry *)memory;
	r->entries = size / sizeof *r->entry < DXGSYNC_RING_MAX ? size / sizeof *r->entry : DXGSYNC_RING_MAX;
	r->written = 0;
	r->control = (const struct dxgsync_ring_control *)control;
}

/* How many entries can be written; without control the program has to know. */
static inline uint64_t dxgsync_ring_room(const struct dxgsync_ring *r)
{
	return r->control ? r->entries - (r->written - dxgsync_doorbell_load(&r->control->fetched)) : r->entries;
}

/* Write the next entry. The result is what is to be rung. */
static inline uint64_t dxgsync_ring_put(struct dxgsync_ring *r, uint64_t address, uint64_t length)
{
	struct dxgsync_ring_entry *e = &r->entry[r->written % r->entries];

	e->address = address;
	e->length = length;
	return ++r->written;
}

#ifdef __cplusplus
}
#endif

#endif
