/* The nine payloads with strings, to 16-bit characters and back. */
#include "query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                  \
	do {                                                                                  \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);       \
			exit(1);                                                                      \
		}                                                                                 \
	} while (0)

int main(void) {
	static const uint32_t types[] = {1, 2, 8, 25, 48, 54, 60, 65, 66};
	static unsigned char wide[16384], back[16384 + 1], narrow[DXG_NARROW_MAX + 1];
	size_t found = 0;
	for (uint32_t type = 0; type < 200; type++) {
		const struct dxg_wide_payload *p = dxg_wide_payload(type);
		if (!p) continue;
		CHECK(found < sizeof types / sizeof types[0] && types[found++] == type);
		uint32_t w = 0, n = 0;
		for (int i = 0; i < 2; i++) {
			w += p->part[i].bytes + 4u * p->part[i].chars;
			n += p->part[i].bytes + 2u * p->part[i].chars;
		}
		CHECK(w == p->wide && n == p->narrow && w <= sizeof wide && n <= DXG_NARROW_MAX);
		/* Bytes that are not characters keep their value; characters of 16 bits do. */
		memset(wide, 0x5A, sizeof wide);
		for (uint32_t at = p->part[0].bytes, c = 0; c < p->part[0].chars; c++) {
			uint32_t v = 0x20 + c % 0xFF00;
			memcpy(wide + at + 4 * c, &v, sizeof v);
		}
		narrow[n] = back[w] = 0xEE;
		dxg_narrow(p, narrow, wide);
		dxg_widen(p, back, narrow);
		CHECK(narrow[n] == 0xEE && back[w] == 0xEE); /* nothing behind the end */
		CHECK(!memcmp(wide, back, w));
		if (p->part[0].chars) { /* one that does not fit */
			uint32_t v = 0x1F600, r = 0;
			memcpy(wide + p->part[0].bytes, &v, sizeof v);
			dxg_narrow(p, narrow, wide);
			dxg_widen(p, back, narrow);
			memcpy(&r, back + p->part[0].bytes, sizeof r);
			CHECK(r == 0xFFFD);
		}
	}
	CHECK(found == sizeof types / sizeof types[0]);
	return 0;
}
