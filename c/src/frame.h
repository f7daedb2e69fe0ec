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
	DXG_PARTS_MAX = 3 + 3 * DXG_ARRAYS_MAX,
};
#define DXG_NULL_ARRAY 0xFFFFFFFFu /* length of an array that is a NULL pointer */

/* The pieces of a message in memory. */
struct dxg_parts {
	struct iovec iov[DXG_PARTS_MAX];
	int count;
	size_t bytes;
};

/* The arrays that a record points to. */
struct dxg_arrays {
	void *data[DXG_ARRAYS_MAX];
	size_t size[DXG_ARRAYS_MAX];         /* bytes; 0 for NULL */
	uint32_t head[DXG_ARRAYS_MAX][2];    /* as sent: bytes, or DXG_NULL_ARRAY; 0 */
	uint32_t back[DXG_ARRAYS_MAX][2];    /* as answered */
	char pad[8];
};

/* The four steps of dxg_request that touch no socket. */
bool dxg_encode(struct dxg_parts *, uint32_t head[6], const struct dxg_op *, const void *record, struct dxg_arrays *, const struct dxg_reply *);
void dxg_expect(struct dxg_parts *, uint32_t head[6], const struct dxg_op *, void *record, struct dxg_arrays *, struct grant *);
bool dxg_well_formed(const uint32_t head[6], const struct dxg_op *, const struct dxg_arrays *, size_t bytes, int files);

#endif
