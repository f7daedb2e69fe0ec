/* The form of frames; frame.c has the rules. */
#ifndef DXG_FRAME_H
#define DXG_FRAME_H

#include <stdbool.h>
#include <sys/uio.h>

#include "inside.h"

enum {
	DXG_VERSION = 1,
	DXG_HEADER = 24,         /* bytes of either header */
	DXG_MAX_FRAME = 128 << 10,
	DXG_ARRAYS_MAX = 8,
	DXG_ELEMENTS_MAX = 256, /* of an array whose elements point on */
	DXG_PARTS_MAX = 3 + 3 * DXG_ARRAYS_MAX + DXG_ELEMENTS_MAX,
};
#define DXG_NULL_ARRAY 0xFFFFFFFFu /* length of an array that is a NULL pointer */

/* The pieces of a message in memory. */
struct dxg_parts {
	struct iovec iov[DXG_PARTS_MAX];
	int count;
	size_t bytes;
};

/* The arrays of a call. */
struct dxg_arrays {
	void *data[DXG_ARRAYS_MAX];          /* where the caller has them; NULL for what is gathered */
	/* A copy, which is what travels: of an array that points on, so that what was
	 * looked at is what is sent, and of one that the library changes on its way back.
	 * Behind it is as much room for the answer, if there is one. NULL: none. */
	unsigned char *own[DXG_ARRAYS_MAX];
	size_t size[DXG_ARRAYS_MAX];         /* bytes; 0 for NULL */
	uint32_t head[DXG_ARRAYS_MAX][2];    /* as sent: bytes, or DXG_NULL_ARRAY; 0 */
	uint32_t back[DXG_ARRAYS_MAX][2];    /* as answered */
	char pad[8];
	bool inherit;                        /* OBJECT_ATTRIBUTES say that children inherit the handle */
};

/* The four steps of dxg_request that touch no socket. What encoding answers is the
 * call's status; it is over with dxg_arrays_free, whatever it answered. */
uint32_t dxg_encode(struct dxg_parts *, uint32_t head[6], const struct dxg_op *, const void *record, struct dxg_arrays *, const struct dxg_reply *);
void dxg_expect(struct dxg_parts *, uint32_t head[6], const struct dxg_op *, void *record, struct dxg_arrays *, struct grant *);
bool dxg_well_formed(const uint32_t head[6], const struct dxg_op *, const struct dxg_arrays *, size_t bytes, int files);
void dxg_arrays_free(struct dxg_arrays *);

/* ---- reach.c: pointers that lead on ---- */

/* Copy the arrays that point on and find what they point to. */
uint32_t dxg_reach(const struct dxg_op *, struct dxg_arrays *);
/* One buffer of the elements of array i, which point on: the caller's memory, and
 * how many bytes. */
struct iovec dxg_element(const struct dxg_op *, const struct dxg_arrays *, int i, size_t element);
/* Bring answers that came into a copy to the caller. false: it cannot be written. */
bool dxg_bring_back(const struct dxg_op *, const struct dxg_arrays *);

/* ---- security.c ---- */

enum { DXG_SECURITY_MAX = 16384 }; /* bytes */

/* Make the security descriptor of the caller a self-relative one of *n bytes. */
uint32_t dxg_security(const void *descriptor, unsigned char to[DXG_SECURITY_MAX], size_t *n);

#endif
