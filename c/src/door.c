/* What every door ends in: one operation through one session. */
#include "inside.h"

#include <errno.h>
#include <string.h>

#include "records.h"

static bool answers_file(const struct dxg_op *op) {
	for (int i = 0; i < op->files; i++)
		if (op->file[i].dir == DXG_OUT) return true;
	return false;
}

uint32_t dxg_run(struct dxg_session *s, const struct dxg_op *op, void *record) {
	struct dxg_reply r = {0};
	switch (op->nr) {
	case OP_CREATE_SYNC_OBJECT2:
	case OP_OPEN_SYNC_OBJECT_FROM_NT_HANDLE2:
	case OP_OPEN_RESOURCE_FROM_NT_HANDLE:
	case OP_CREATE_NATIVE_FENCE:
	case OP_OPEN_NATIVE_FENCE_FROM_NT_HANDLE:
	case OP_CREATE_HW_QUEUE:
	case OP_CREATE_HW_QUEUE_FOR_USER_MODE_SUBMISSION:
	case OP_CREATE_PAGING_QUEUE:
		return dxg_create(s, op, record);
	case OP_CREATE_DOORBELL:
		return dxg_create_doorbell(s, op, record);
	case OP_DESTROY_DOORBELL:
		return dxg_destroy_doorbell(s, op, *(uint32_t *)record);
	case OP_ACQUIRE_KEYED_MUTEX:
	case OP_ACQUIRE_KEYED_MUTEX2:
	case OP_RELEASE_KEYED_MUTEX:
	case OP_RELEASE_KEYED_MUTEX2:
		return dxg_keyed(s, op, record);
	case OP_DESTROY_SYNC_OBJECT:
		return dxg_fence_destroy(s, *(uint32_t *)record);
	case OP_DESTROY_DEVICE: {
		uint32_t device = *(uint32_t *)record, st = dxg_owner_destroy(s, op, device);
		if (ST_OK(st)) dxg_forget_locks(s->image, device);
		return st;
	}
	case OP_DESTROY_CONTEXT:
	case OP_DESTROY_HW_QUEUE:
	case OP_DESTROY_PAGING_QUEUE:
		return dxg_owner_destroy(s, op, *(uint32_t *)record);
	case OP_WAIT_FOR_IDLE:
		return dxg_blocking(s, op, record);
	case OP_CREATE_ALLOCATION2:
		dxg_allow_access(s, ((const struct new_allocation *)record)->flags);
		break;
	case OP_LOCK2:
		return dxg_room_for_files(s, 1) ? dxg_lock2(s, op, record) : ST_NO_MEMORY;
	case OP_UNLOCK2:
		return dxg_unlock2(s, op, record);
	case OP_DESTROY_ALLOCATION2:
		return dxg_destroy_allocation2(s, op, record);
	case OP_WAIT_FROM_CPU: {
		const struct wait_from_cpu *a = record;
		const struct dxg_points p = {a->device, a->count, a->flags, a->handles, a->values};
		if (!a->event) return dxg_wait(s, &p, record);
	}
	}
	if (answers_file(op) && !dxg_room_for_files(s, 1)) return ST_NO_MEMORY;
	uint32_t st = dxg_request(s, op, record, &r);
	dxg_close_files(&r);
	return st;
}

/* Calls that may begin a new image after the daemon has gone and come again. */
static bool reopens(const struct dxg_op *op) {
	return op->nr == OP_ENUM_ADAPTERS2 || op->nr == OP_ENUM_ADAPTERS3 || op->nr == OP_OPEN_ADAPTER_FROM_LUID;
}

static uint32_t call(const struct dxg_op *op, void *argument) {
	_Alignas(16) unsigned char record[DXG_RECORD_MAX];
	uint32_t st = ST_UNSUCCESSFUL;
	struct dxg_session *s = dxg_own_session(reopens(op), &st);
	if (!s) return st;
	memcpy(record, argument, op->size);
	st = dxg_run(s, op, record);
	/* The image ended with this request: a new one may do what is asked. */
	if (st == ST_DEVICE_REMOVED && reopens(op) && (s = dxg_own_session(true, &st))) {
		memcpy(record, argument, op->size);
		st = dxg_run(s, op, record);
	}
	if (st == ST_ACCESS_VIOLATION) return ST_INVALID_PARAMETER;
	for (int i = 0; ST_OK(st) && i < op->outs; i++)
		memcpy((char *)argument + op->out[i].off, record + op->out[i].off, op->out[i].len);
	return st;
}

uint32_t dxg_call(const struct dxg_op *op, void *argument) {
	if (op && op->support == DXG_NOT_IMPLEMENTED) return ST_NOT_IMPLEMENTED; /* whatever the argument is */
	if (!argument) return ST_INVALID_PARAMETER;
	if (!op || op->support != DXG_SUPPORTED || op->size > DXG_RECORD_MAX) return ST_NOT_SUPPORTED;
	int kept = errno, state;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	uint32_t st = call(op, argument);
	pthread_setcancelstate(state, NULL);
	errno = kept;
	return st;
}
