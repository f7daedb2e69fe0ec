/* Functions that are another operation in disguise: the first versions of calls,
 * which become their second versions, and ShareObjects with its five arguments. */
#include "inside.h"

#include <errno.h>
#include <string.h>

#include "records.h"

enum { MUTEX = 1, SEMAPHORE = 2, OBJECTS_MAX = 32 };

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

DXG_EXPORT int32_t D3DKMTSignalSynchronizationObject(const struct queue_objects *a) {
	if (!a || a->count > OBJECTS_MAX) return (int32_t)ST_INVALID_PARAMETER;
	struct signal_objects2 s = {.context = a->context, .count = a->count, .flags = a->flags};
	memcpy(s.handle, a->handle, a->count * sizeof a->handle[0]);
	return (int32_t)dxg_call(dxg_op(OP_SIGNAL_SYNC_OBJECT2), &s);
}

/* D3DKMT_WAITFORSYNCHRONIZATIONOBJECT is the same record without the flags. */
DXG_EXPORT int32_t D3DKMTWaitForSynchronizationObject(const struct queue_objects *a) {
	if (!a || a->count > OBJECTS_MAX) return (int32_t)ST_INVALID_PARAMETER;
	struct wait_objects2 w = {.context = a->context, .count = a->count};
	memcpy(w.handle, a->handle, a->count * sizeof a->handle[0]);
	return (int32_t)dxg_call(dxg_op(OP_WAIT_FOR_SYNC_OBJECT2), &w);
}

DXG_EXPORT int32_t D3DKMTDestroyAllocation(const struct destroy_allocation *a) {
	if (!a) return (int32_t)ST_INVALID_PARAMETER;
	struct {
		struct destroy_allocation first;
		uint32_t rest[8];
	} second = {.first = {a->device, a->resource, a->allocations, a->count}};
	return (int32_t)dxg_call(dxg_op(OP_DESTROY_ALLOCATION2), &second);
}

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

/* The COM interfaces of DXCore are not offered: E_NOTIMPL. */
DXG_EXPORT int32_t DXCoreCreateAdapterFactory(const void *riid, void **factory) {
	(void)riid;
	if (factory) *factory = NULL;
	return (int32_t)0x80004001u;
}
