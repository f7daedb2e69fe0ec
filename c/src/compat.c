/* Functions that are another operation in disguise: the first versions of calls,
 * which become their second versions, and ShareObjects with its five arguments. */
#include "inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"

enum { MUTEX = 1, SEMAPHORE = 2 };

/* Only mutexes and semaphores; only the handle is answered, and only on success. */
DXG_EXPORT int32_t D3DKMTCreateSynchronizationObject(struct create_sync_object *a) {
	if (!a || (a->type != MUTEX && a->type != SEMAPHORE)) return (int32_t)ST_INVALID_PARAMETER;
	struct create_sync_object2 c = {.device = a->device, .type = a->type};
	c.info.word[0] = a->info[0];
	if (a->type == SEMAPHORE) c.info.word[1] = a->info[1];
	uint32_t st = dxg_call(dxg_op(OP_CREATE_SYNC_OBJECT2), &c);
	if (ST_OK(st)) a->handle = c.handle;
	return (int32_t)st;
}

DXG_EXPORT int32_t D3DKMTDestroyAllocation(const struct destroy_allocation *a) {
	if (!a) return (int32_t)ST_INVALID_PARAMETER;
	struct {
		struct destroy_allocation first;
		uint32_t rest[8];
	} second = {.first = {a->device, a->resource, a->allocations, a->count}};
	return (int32_t)dxg_call(dxg_op(OP_DESTROY_ALLOCATION2), &second);
}

/* A call whose array has elements of the first version. Its record is op's. */
static uint32_t call_with_first(const struct dxg_op *op, unsigned char *argument, const struct dxg_array *a, const struct dxg_elements *e) {
	_Alignas(16) unsigned char record[DXG_RECORD_MAX];
	uint64_t array;
	uint32_t count, st = ST_INVALID_PARAMETER;
	memcpy(record, argument, op->size);
	memcpy(&array, record + a->pointer, sizeof array);
	memcpy(&count, record + a->count, sizeof count);
	if (!array) return dxg_call(op, argument);
	if (count > a->max) return ST_INVALID_PARAMETER;
	unsigned char *first = calloc(count + 1, e->first), *second = calloc(count + 1, e->second);
	if (!first || !second) {
		st = ST_NO_MEMORY;
	} else if (dxg_fetch(first, (const void *)(uintptr_t)array, count * e->first)) {
		uint64_t ours = (uint64_t)(uintptr_t)second;
		for (uint32_t i = 0; i < count; i++) memcpy(second + i * e->second, first + i * e->first, e->same);
		memcpy(record + a->pointer, &ours, sizeof ours);
		st = dxg_call(op, record);
		for (uint32_t i = 0; i < count; i++) memcpy(first + i * e->first, second + i * e->second, e->same);
		if (ST_OK(st) && !dxg_put((void *)(uintptr_t)array, first, count * e->first)) st = ST_INVALID_PARAMETER;
	}
	free(first);
	free(second);
	for (int i = 0; ST_OK(st) && i < op->outs; i++) memcpy(argument + op->out[i].off, record + op->out[i].off, op->out[i].len);
	return st;
}

uint32_t dxg_call_with_first(const struct dxg_op *op, void *argument, struct dxg_elements e) {
	const struct dxg_array *a = op->array;
	if (!argument || op->support != DXG_SUPPORTED) return dxg_call(op, argument);
	while (a->dir != DXG_INOUT) a++;
	int kept = errno;
	uint32_t st = call_with_first(op, argument, a, &e);
	errno = kept;
	return st;
}

/* D3DDDI_ALLOCATIONINFO and D3DDDI_ALLOCATIONINFO2, up to their Flags. */
DXG_EXPORT int32_t D3DKMTCreateAllocation(void *argument) {
	return (int32_t)dxg_call_with_first(dxg_op(OP_CREATE_ALLOCATION2), argument, (struct dxg_elements){0x28, 0x60, 0x24});
}

/* D3DDDI_OPENALLOCATIONINFO and D3DDDI_OPENALLOCATIONINFO2, up to PrivateDriverDataSize. */
DXG_EXPORT int32_t D3DKMTOpenResource(void *argument) {
	return (int32_t)dxg_call_with_first(dxg_op(OP_OPEN_RESOURCE), argument, (struct dxg_elements){0x18, 0x50, 0x14});
}

/* The request has the second version's elements. */
DXG_EXPORT int32_t D3DKMTOpenResource2(void *argument) { return (int32_t)dxg_call(dxg_op(OP_OPEN_RESOURCE), argument); }

DXG_EXPORT int32_t D3DKMTShareObjects(uint32_t count, const uint32_t *handles, const struct object_attributes *attributes, uint32_t access, uint64_t *nt_handle) {
	struct share_objects a = {.count = count, .handles = handles, .attributes = attributes, .access = access, .nt_handle = nt_handle};
	return (int32_t)dxg_call(dxg_op(OP_SHARE_OBJECTS), &a);
}

/* Ends the library's use of the device: every later call answers UNSUCCESSFUL. */
DXG_EXPORT void D3DKMTCloseDxCoreDevice(void) {
	int kept = errno;
	dxg_close_own();
	errno = kept;
}
