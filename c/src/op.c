/* Looking rows of the operation table up. */
#include "op.h"

#include <stddef.h>
#include <string.h>

enum { ROWS = sizeof dxg_ops / sizeof dxg_ops[0] };

/* Rows are sorted by number. */
const struct dxg_op *dxg_op(uint16_t nr) {
	size_t low = 0, high = ROWS;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (dxg_ops[mid].nr == nr) return &dxg_ops[mid];
		if (dxg_ops[mid].nr < nr) low = mid + 1;
		else high = mid;
	}
	return NULL;
}

const struct dxg_op *dxg_op_named(const char *name) {
	for (size_t i = 0; i < ROWS; i++)
		if (!strcmp(dxg_ops[i].name, name)) return &dxg_ops[i];
	return NULL;
}
