/* SPDX-License-Identifier: MIT
 * Copyright (c) 2026 the dxgsync authors
 *
 * Types shared by display drivers and the kernel, as public programs name them.
 */
#ifndef DXG_D3DKMDT_H
#define DXG_D3DKMDT_H

#include "types.h"

#define D3DKMDT_MAX_OVERLAYS 4
#define D3DKMDT_MAX_OVERLAYS_BITCOUNT 2
#define DXGK_BIND_TABLE_ENTRY_UNKNOWN 0xFFFFFFFF
#define DXGK_FEATURE_SUPPORT_ALWAYS_OFF 0
#define DXGK_FEATURE_SUPPORT_ALWAYS_ON 3
#define DXGK_FEATURE_SUPPORT_EXPERIMENTAL 1
#define DXGK_FEATURE_SUPPORT_STABLE 2
#define DXGK_MAX_METADATA_NAME_LENGTH 32
#define DXGK_PRIMITIVE_API_SEQUENCE_NUMBER_UNKNOWN 0xFFFFFFFFFFFFFFFF

typedef enum _D3DKMDT_COMPUTE_PREEMPTION_GRANULARITY {
	D3DKMDT_COMPUTE_PREEMPTION_NONE = 0,
	D3DKMDT_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY = 100,
	D3DKMDT_COMPUTE_PREEMPTION_DISPATCH_BOUNDARY = 200,
	D3DKMDT_COMPUTE_PREEMPTION_THREAD_GROUP_BOUNDARY = 300,
	D3DKMDT_COMPUTE_PREEMPTION_THREAD_BOUNDARY = 400,
	D3DKMDT_COMPUTE_PREEMPTION_SHADER_BOUNDARY = 500,
} D3DKMDT_COMPUTE_PREEMPTION_GRANULARITY;

typedef enum _D3DKMDT_GRAPHICS_PREEMPTION_GRANULARITY {
	D3DKMDT_GRAPHICS_PREEMPTION_NONE = 0,
	D3DKMDT_GRAPHICS_PREEMPTION_DMA_BUFFER_BOUNDARY = 100,
	D3DKMDT_GRAPHICS_PREEMPTION_PRIMITIVE_BOUNDARY = 200,
	D3DKMDT_GRAPHICS_PREEMPTION_TRIANGLE_BOUNDARY = 300,
	D3DKMDT_GRAPHICS_PREEMPTION_PIXEL_BOUNDARY = 400,
	D3DKMDT_GRAPHICS_PREEMPTION_SHADER_BOUNDARY = 500,
} D3DKMDT_GRAPHICS_PREEMPTION_GRANULARITY;

typedef enum _DXGK_ENGINE_TYPE {
	DXGK_ENGINE_TYPE_OTHER = 0,
	DXGK_ENGINE_TYPE_3D = 1,
	DXGK_ENGINE_TYPE_VIDEO_DECODE = 2,
	DXGK_ENGINE_TYPE_VIDEO_ENCODE = 3,
	DXGK_ENGINE_TYPE_VIDEO_PROCESSING = 4,
	DXGK_ENGINE_TYPE_SCENE_ASSEMBLY = 5,
	DXGK_ENGINE_TYPE_COPY = 6,
	DXGK_ENGINE_TYPE_OVERLAY = 7,
	DXGK_ENGINE_TYPE_CRYPTO = 8,
	DXGK_ENGINE_TYPE_MAX = 9,
} DXGK_ENGINE_TYPE;

typedef enum _DXGK_GENERAL_ERROR_CODE {
	DXGK_GENERAL_ERROR_PAGE_FAULT = 0,
	DXGK_GENERAL_ERROR_INVALID_INSTRUCTION = 1,
} DXGK_GENERAL_ERROR_CODE;

typedef enum _DXGK_PAGE_FAULT_FLAGS {
	DXGK_PAGE_FAULT_WRITE = 1,
	DXGK_PAGE_FAULT_FENCE_INVALID = 2,
	DXGK_PAGE_FAULT_ADAPTER_RESET_REQUIRED = 4,
	DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED = 8,
	DXGK_PAGE_FAULT_FATAL_HARDWARE_ERROR = 16,
	DXGK_PAGE_FAULT_IOMMU = 32,
	DXGK_PAGE_FAULT_HW_CONTEXT_VALID = 64,
	DXGK_PAGE_FAULT_PROCESS_HANDLE_VALID = 128,
} DXGK_PAGE_FAULT_FLAGS;

typedef enum _DXGK_RENDER_PIPELINE_STAGE {
	DXGK_RENDER_PIPELINE_STAGE_UNKNOWN = 0,
	DXGK_RENDER_PIPELINE_STAGE_INPUT_ASSEMBLER = 1,
	DXGK_RENDER_PIPELINE_STAGE_VERTEX_SHADER = 2,
	DXGK_RENDER_PIPELINE_STAGE_GEOMETRY_SHADER = 3,
	DXGK_RENDER_PIPELINE_STAGE_STREAM_OUTPUT = 4,
	DXGK_RENDER_PIPELINE_STAGE_RASTERIZER = 5,
	DXGK_RENDER_PIPELINE_STAGE_PIXEL_SHADER = 6,
	DXGK_RENDER_PIPELINE_STAGE_OUTPUT_MERGER = 7,
} DXGK_RENDER_PIPELINE_STAGE;


typedef struct _D3DKMDT_PREEMPTION_CAPS {
	D3DKMDT_GRAPHICS_PREEMPTION_GRANULARITY GraphicsPreemptionGranularity;
	D3DKMDT_COMPUTE_PREEMPTION_GRANULARITY ComputePreemptionGranularity;
} D3DKMDT_PREEMPTION_CAPS;

#pragma pack(push, 1)
typedef struct _DXGK_FAULT_ERROR_CODE {
	union {
		struct {
			UINT IsDeviceSpecificCode : 1;
			DXGK_GENERAL_ERROR_CODE GeneralErrorCode : 31;
		};
		struct {
			UINT IsDeviceSpecificCodeReservedBit : 1;
			UINT DeviceSpecificCode : 31;
		};
	};
} DXGK_FAULT_ERROR_CODE;
#pragma pack(pop)

#pragma pack(push, 1)
typedef struct _D3DKMT_DISPLAY_CAPS {
	union {
		struct {
			UINT64 PreferPhysicallyContiguous : 1;
			UINT64 Reserved : 63;
		};
		UINT64 Value;
	};
} D3DKMT_DISPLAY_CAPS;
#pragma pack(pop)

#pragma pack(push, 1)
typedef struct _D3DKMT_DRIVERCAPS_EXT {
	union {
		struct {
			UINT VirtualModeSupport : 1;
			UINT Usb4MonitorSupport : 1;
			UINT Reserved : 30;
		};
		UINT Value;
	};
} D3DKMT_DRIVERCAPS_EXT;
#pragma pack(pop)

#pragma pack(push, 1)
typedef struct _DXGK_NODEMETADATA_FLAGS {
	union {
		struct {
			UINT ContextSchedulingSupported : 1;
			UINT RingBufferFenceRelease : 1;
			UINT SupportTrackedWorkload : 1;
			UINT Reserved : 13;
			UINT MaxInFlightHwQueueBuffers : 16;
		};
		UINT32 Value;
	};
} DXGK_NODEMETADATA_FLAGS;
#pragma pack(pop)

#pragma pack(push, 1)
typedef struct _DXGK_NODEMETADATA {
	DXGK_ENGINE_TYPE EngineType;
	WCHAR FriendlyName[32];
	DXGK_NODEMETADATA_FLAGS Flags;
	BOOLEAN GpuMmuSupported;
	BOOLEAN IoMmuSupported;
} DXGK_NODEMETADATA;
#pragma pack(pop)

#pragma pack(push, 1)
typedef struct _D3DKMT_NODEMETADATA {
	UINT NodeOrdinalAndAdapterIndex;
	DXGK_NODEMETADATA NodeData;
} D3DKMT_NODEMETADATA;
#pragma pack(pop)

#pragma pack(push, 1)
typedef struct _DXGK_GPUCLOCKDATA_FLAGS {
	union {
		struct {
			UINT ContextManagementProcessor : 1;
			UINT Reserved : 31;
		};
		UINT32 Value;
	};
} DXGK_GPUCLOCKDATA_FLAGS;
#pragma pack(pop)

#pragma pack(push, 1)
typedef struct _DXGK_GPUCLOCKDATA {
	ULONGLONG GpuFrequency;
	ULONGLONG GpuClockCounter;
	ULONGLONG CpuClockCounter;
	DXGK_GPUCLOCKDATA_FLAGS Flags;
} DXGK_GPUCLOCKDATA;
#pragma pack(pop)

#pragma pack(push, 1)
typedef struct _D3DKMT_QUERYCLOCKCALIBRATION {
	D3DKMT_HANDLE hAdapter;
	UINT32 NodeOrdinal;
	UINT32 PhysicalAdapterIndex;
	DXGK_GPUCLOCKDATA ClockData;
} D3DKMT_QUERYCLOCKCALIBRATION;
#pragma pack(pop)

#pragma pack(push, 1)
typedef struct _D3DKMT_TRACKEDWORKLOAD_SUPPORT {
	UINT PhysicalAdapterIndex;
	DXGK_ENGINE_TYPE EngineType;
	BOOL Support;
} D3DKMT_TRACKEDWORKLOAD_SUPPORT;
#pragma pack(pop)

typedef struct _D3DKMT_WDDM_1_2_CAPS {
	D3DKMDT_PREEMPTION_CAPS PreemptionCaps;
	union {
		struct {
			UINT SupportNonVGA : 1;
			UINT SupportSmoothRotation : 1;
			UINT SupportPerEngineTDR : 1;
			UINT SupportKernelModeCommandBuffer : 1;
			UINT SupportCCD : 1;
			UINT SupportSoftwareDeviceBitmaps : 1;
			UINT SupportGammaRamp : 1;
			UINT SupportHWCursor : 1;
			UINT SupportHWVSync : 1;
			UINT SupportSurpriseRemovalInHibernation : 1;
			UINT Reserved : 22;
		};
		UINT Value;
	};
} D3DKMT_WDDM_1_2_CAPS;

#pragma pack(push, 1)
typedef struct _D3DKMT_WDDM_1_3_CAPS {
	union {
		struct {
			UINT SupportMiracast : 1;
			UINT IsHybridIntegratedGPU : 1;
			UINT IsHybridDiscreteGPU : 1;
			UINT SupportPowerManagementPStates : 1;
			UINT SupportVirtualModes : 1;
			UINT SupportCrossAdapterResource : 1;
			UINT Reserved : 26;
		};
		UINT Value;
	};
} D3DKMT_WDDM_1_3_CAPS;
#pragma pack(pop)

#pragma pack(push, 1)
typedef struct _D3DKMT_WDDM_2_0_CAPS {
	union {
		struct {
			UINT Support64BitAtomics : 1;
			UINT GpuMmuSupported : 1;
			UINT IoMmuSupported : 1;
			UINT FlipOverwriteSupported : 1;
			UINT SupportContextlessPresent : 1;
			UINT SupportSurpriseRemoval : 1;
			UINT Reserved : 26;
		};
		UINT Value;
	};
} D3DKMT_WDDM_2_0_CAPS;
#pragma pack(pop)

#pragma pack(push, 1)
typedef struct _D3DKMT_WDDM_2_7_CAPS {
	union {
		struct {
			UINT HwSchSupported : 1;
			UINT HwSchEnabled : 1;
			UINT HwSchEnabledByDefault : 1;
			UINT IndependentVidPnVSyncControl : 1;
			UINT Reserved : 28;
		};
		UINT Value;
	};
} D3DKMT_WDDM_2_7_CAPS;
#pragma pack(pop)

#pragma pack(push, 1)
typedef struct _D3DKMT_WDDM_2_9_CAPS {
	union {
		struct {
			UINT HwSchSupportState : 2;
			UINT HwSchEnabled : 1;
			UINT SelfRefreshMemorySupported : 1;
			UINT Reserved : 28;
		};
		UINT Value;
	};
} D3DKMT_WDDM_2_9_CAPS;
#pragma pack(pop)

#pragma pack(push, 1)
typedef struct _D3DKMT_WDDM_3_0_CAPS {
	union {
		struct {
			UINT HwFlipQueueSupportState : 2;
			UINT HwFlipQueueEnabled : 1;
			UINT DisplayableSupported : 1;
			UINT Reserved : 28;
		};
		UINT Value;
	};
} D3DKMT_WDDM_3_0_CAPS;
#pragma pack(pop)

#endif
