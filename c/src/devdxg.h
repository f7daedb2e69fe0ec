/* What answers for the path /dev/dxg. */
#ifndef DXG_DEVDXG_H
#define DXG_DEVDXG_H

#include <stdbool.h>
#include <string.h>

static inline bool dxg_is_device(const char *path) { return path && !strcmp(path, "/dev/dxg"); }

/* The next definition of a function after ours, as a pointer; NULL while it is being
 * looked up, and where there is none. */
void *dxg_next(const char *name, void *_Atomic *known);

#endif
