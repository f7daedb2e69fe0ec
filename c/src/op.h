/* The operation table: one row for every call, made from the table in package abi. */
#ifndef DXG_OP_H
#define DXG_OP_H

#include <stdint.h>

#include "optable.h"

/* Numbers that the code itself names. Public calls keep the number of their
 * request on /dev/dxg. */
enum {
	OP_OPEN_ADAPTER_FROM_LUID = 0x01,
	OP_DESTROY_CONTEXT = 0x05,
	OP_CREATE_ALLOCATION2 = 0x06,
	OP_CREATE_PAGING_QUEUE = 0x07,
	OP_QUERY_ADAPTER_INFO = 0x09,
	OP_CREATE_SYNC_OBJECT2 = 0x10,
	OP_DESTROY_ALLOCATION2 = 0x13,
	OP_ENUM_ADAPTERS2 = 0x14,
	OP_CLOSE_ADAPTER = 0x15,
	OP_CREATE_HW_QUEUE = 0x18,
	OP_DESTROY_DEVICE = 0x19,
	OP_DESTROY_HW_QUEUE = 0x1B,
	OP_DESTROY_PAGING_QUEUE = 0x1C,
	OP_DESTROY_SYNC_OBJECT = 0x1D,
	OP_LOCK2 = 0x25,
	OP_OPEN_RESOURCE = 0x28,
	OP_SIGNAL_FROM_CPU = 0x31,
	OP_UNLOCK2 = 0x37,
	OP_WAIT_FROM_CPU = 0x3A,
	OP_ENUM_ADAPTERS3 = 0x3E,
	OP_SHARE_OBJECTS = 0x3F,
	OP_OPEN_SYNC_OBJECT_FROM_NT_HANDLE2 = 0x40,
	OP_OPEN_RESOURCE_FROM_NT_HANDLE = 0x42,
	OP_PUBLIC_LAST = 0x49,
	OP_ACQUIRE_KEYED_MUTEX = 0x8009,
	OP_ACQUIRE_KEYED_MUTEX2 = 0x800A,
	OP_RELEASE_KEYED_MUTEX = 0x800B,
	OP_RELEASE_KEYED_MUTEX2 = 0x800C,
	OP_WAIT_FOR_IDLE = 0x8015,
	OP_HELLO = 0xF001,
	OP_GRANT_BELLS = 0xF002,
	OP_RING = 0xF003,
	OP_CANCEL_WAIT = 0xF005,
	OP_SLAB_FILE = 0xF007,
	OP_END_THREAD = 0xF008,
};

/* The row of a number; NULL: there is none. */
const struct dxg_op *dxg_op(uint16_t nr);
/* The row of a name, "D3DKMT…"; NULL: there is none. */
const struct dxg_op *dxg_op_named(const char *name);

#endif
