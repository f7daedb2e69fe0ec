/* The calls that the driver can make. */
#include "drive.h"

#include <dxg/d3dkmthk.h>
#include <string.h>

#include "table.h"

enum { call_count = sizeof calls / sizeof calls[0] };

const struct call *find_call(const char *name)
{
	for (unsigned i = 0; i < call_count; i++)
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	return NULL;
}
