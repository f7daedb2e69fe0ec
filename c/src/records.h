/* The records that this library looks into, as 64-bit Linux has them. The public
 * headers declare the same with the names of d3dkmthk.h. */
#ifndef DXG_RECORDS_H
#define DXG_RECORDS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

struct signal_from_cpu { /* D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU */
	uint32_t device, count;
	const uint32_t *handles;
	const uint64_t *values;
	uint32_t flags, zero;
};

struct wait_from_cpu { /* D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU */
	uint32_t device, count;
	const uint32_t *handles;
	const uint64_t *values;
	uint64_t event;
	uint32_t flags, zero;
};

struct create_sync_object { /* D3DKMT_CREATESYNCHRONIZATIONOBJECT */
	uint32_t device, type, info[16], handle;
};

struct create_sync_object2 { /* D3DKMT_CREATESYNCHRONIZATIONOBJECT2 */
	uint32_t device, zero, type, flags;
	union {
		uint32_t word[16];
		struct {
			uint64_t initial, cpu_address, gpu_address;
		} fence;
		struct {
			uint32_t adapter, target;
			uint64_t time, cpu_address, gpu_address;
		} periodic;
	} info;
	uint32_t shared, zero2, handle, zero3;
};

struct open_sync_object2 { /* D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 */
	uint64_t nt_handle;
	uint32_t device, flags, handle, zero;
	uint64_t cpu_address, gpu_address, rest[6];
};

struct create_hw_queue { /* D3DKMT_CREATEHWQUEUE */
	uint32_t context, flags, data_size, zero;
	uint64_t data;
	uint32_t queue, fence;
	uint64_t cpu_address, gpu_address;
};

struct create_paging_queue { /* D3DKMT_CREATEPAGINGQUEUE */
	uint32_t device, priority, queue, fence;
	uint64_t cpu_address;
	uint32_t physical_adapter, zero;
};

struct native_fence_mapping { /* D3DDDI_NATIVEFENCEMAPPING */
	uint64_t cpu_address, gpu_address, monitored_gpu_address, rest[4];
};

struct create_native_fence { /* D3DKMT_CREATENATIVEFENCE */
	uint32_t device, handle;
	uint8_t data[64];
	struct { /* D3DDDI_NATIVEFENCEINFO */
		uint64_t initial;
		uint32_t engines, type, flags, zero;
		struct native_fence_mapping mapping;
		uint32_t rest[8];
	} info;
	uint32_t flags, rest[7];
};

struct open_native_fence { /* D3DKMT_OPENNATIVEFENCEFROMNTHANDLE */
	uint64_t nt_handle;
	uint32_t device, engines, flags, handle;
	struct native_fence_mapping mapping;
	uint8_t data[64];
	uint32_t rest[8];
};

struct create_user_queue { /* D3DKMT_CREATEHWQUEUEFORUSERMODESUBMISSION */
	uint32_t context, flags, ring, control;
	uint8_t data[64];
	uint32_t queue, zero;
	uint64_t status;
	uint32_t fence, zero2;
	struct native_fence_mapping mapping;
	uint64_t last_queued, logs[11], rest[8];
};

struct create_doorbell { /* D3DKMT_CREATE_DOORBELL */
	uint32_t queue, ring, control, flags, data_size, zero;
	uint64_t data, doorbell, secondary, status, last_queued;
	uint32_t handle, zero2;
};

struct destroy_allocation { /* D3DKMT_DESTROYALLOCATION, and all but the flags of ...2 */
	uint32_t device, resource;
	const uint32_t *allocations;
	uint32_t count;
};

struct new_allocation { /* D3DKMT_CREATEALLOCATION, but for its end */
	uint32_t words[14], flags;
};
enum { EXISTING_SYSMEM = 1 << 5 };

struct lock2 { /* D3DKMT_LOCK2 */
	uint32_t device, allocation, flags, zero;
	uint64_t data;
};

struct unlock2 { /* D3DKMT_UNLOCK2 */
	uint32_t device, allocation;
};

struct share_objects { /* D3DKMT_SHAREOBJECTS */
	uint32_t count, zero;
	const uint32_t *handles;
	const struct object_attributes *attributes;
	uint32_t access, zero2;
	uint64_t *nt_handle;
};

struct object_attributes { /* OBJECT_ATTRIBUTES */
	uint32_t length, zero;
	uint64_t root, name;
	uint32_t attributes, zero2;
	uint64_t security, quality;
};

struct open_bundle { /* D3DKMT_OPENRESOURCEFROMNTHANDLE */
	uint32_t device, zero;
	uint64_t nt_handle, between[10];
	uint32_t data_size, sync_object;
};

struct unicode_string { /* UNICODE_STRING: length and room in bytes */
	uint16_t length, room;
	uint32_t zero;
	uint64_t buffer;
};

struct query_adapter_info { /* D3DKMT_QUERYADAPTERINFO */
	uint32_t adapter, type;
	void *data;
	uint32_t size, zero;
};

static_assert(sizeof(struct signal_from_cpu) == 0x20, "layout");
static_assert(sizeof(struct wait_from_cpu) == 0x28, "layout");
static_assert(offsetof(struct wait_from_cpu, flags) == 0x20, "layout");
static_assert(sizeof(struct create_sync_object) == 0x4C, "layout");
static_assert(sizeof(struct create_sync_object2) == 0x60, "layout");
static_assert(offsetof(struct create_sync_object2, info.fence.cpu_address) == 0x18, "layout");
static_assert(offsetof(struct create_sync_object2, info.periodic.cpu_address) == 0x20, "layout");
static_assert(offsetof(struct create_sync_object2, handle) == 0x58, "layout");
static_assert(sizeof(struct open_sync_object2) == 0x58, "layout");
static_assert(offsetof(struct open_sync_object2, cpu_address) == 0x18, "layout");
static_assert(sizeof(struct create_hw_queue) == 0x30, "layout");
static_assert(offsetof(struct create_hw_queue, cpu_address) == 0x20, "layout");
static_assert(sizeof(struct create_paging_queue) == 0x20, "layout");
static_assert(offsetof(struct create_paging_queue, cpu_address) == 0x10, "layout");
static_assert(offsetof(struct create_paging_queue, fence) == 0x0C, "layout");
static_assert(sizeof(struct native_fence_mapping) == 0x38, "layout");
static_assert(sizeof(struct create_native_fence) == 0xD8, "layout");
static_assert(offsetof(struct create_native_fence, info.mapping) == 0x60, "layout");
static_assert(offsetof(struct create_native_fence, flags) == 0xB8, "layout");
static_assert(sizeof(struct open_native_fence) == 0xB0, "layout");
static_assert(offsetof(struct open_native_fence, mapping) == 0x18, "layout");
static_assert(sizeof(struct create_user_queue) == 0x140, "layout");
static_assert(offsetof(struct create_user_queue, status) == 0x58, "layout");
static_assert(offsetof(struct create_user_queue, fence) == 0x60, "layout");
static_assert(offsetof(struct create_user_queue, last_queued) == 0xA0, "layout");
static_assert(sizeof(struct create_doorbell) == 0x48, "layout");
static_assert(offsetof(struct create_doorbell, doorbell) == 0x20, "layout");
static_assert(offsetof(struct create_doorbell, handle) == 0x40, "layout");
static_assert(sizeof(struct share_objects) == 0x28, "layout");
static_assert(sizeof(struct object_attributes) == 0x30, "layout");
static_assert(offsetof(struct object_attributes, security) == 0x20, "layout");
static_assert(sizeof(struct unicode_string) == 0x10, "layout");
static_assert(sizeof(struct query_adapter_info) == 0x18, "layout");
static_assert(sizeof(struct open_bundle) == 0x68, "layout");
static_assert(offsetof(struct open_bundle, sync_object) == 0x64, "layout");

#endif
