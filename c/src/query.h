/* The payloads of QueryAdapterInfo that have strings. */
#ifndef DXG_QUERY_H
#define DXG_QUERY_H

#include <stdint.h>

struct dxg_wide_payload {
	uint32_t type;
	uint32_t wide, narrow;   /* bytes with 32-bit and with 16-bit characters */
	struct {
		uint16_t bytes, chars;
	} part[2];
};
enum { DXG_NARROW_MAX = 8192 };

/* NULL: the type has no strings. */
const struct dxg_wide_payload *dxg_wide_payload(uint32_t type);
void dxg_narrow(const struct dxg_wide_payload *, unsigned char *to, const unsigned char *from);
void dxg_widen(const struct dxg_wide_payload *, unsigned char *to, const unsigned char *from);

#endif
