/* SPDX-License-Identifier: MIT
 * Copyright (c) 2026 the dxgsync authors
 *
 * The interfaces, properties and attributes of DXCore, as C++ classes and as C
 * structures of functions. In C an enumerator has its enumeration's name in front,
 * DXCoreAdapterProperty_InstanceLuid; in C++ it is scoped.
 *
 * docs/calls/dxcore.md says what each method does and returns.
 */
#ifndef DXG_DXCORE_INTERFACE_H
#define DXG_DXCORE_INTERFACE_H
/* The header of this name in other collections declares the same: whichever comes
 * first is taken. */
#ifndef __dxcore_interface_h__
#define __dxcore_interface_h__

#ifndef __cplusplus
#include <stdbool.h>
#endif

#include "types.h"

/* A program's own adaptation of the Windows types brings these, and IUnknown. */
#ifndef STDMETHODCALLTYPE
typedef LONG HRESULT;
typedef GUID IID;
#elif defined __has_include
#if __has_include(<unknwn.h>)
#include <unknwn.h>
#endif
#endif
#ifndef REFIID
#ifdef __cplusplus
#define REFIID const IID &
#define REFGUID const GUID &
#else
#define REFIID const IID *
#define REFGUID const GUID *
#endif
#endif

#ifndef SUCCEEDED
#define SUCCEEDED(hr) ((HRESULT)(hr) >= 0)
#define FAILED(hr) ((HRESULT)(hr) < 0)
#endif
#ifndef S_OK
#define S_OK ((HRESULT)0)
#endif
#ifndef E_NOINTERFACE
#define E_NOINTERFACE ((HRESULT)0x80004002)
#endif
#ifndef E_POINTER
#define E_POINTER ((HRESULT)0x80004003)
#endif
#ifndef E_FAIL
#define E_FAIL ((HRESULT)0x80004005)
#endif
#ifndef E_OUTOFMEMORY
#define E_OUTOFMEMORY ((HRESULT)0x8007000E)
#endif
#ifndef E_INVALIDARG
#define E_INVALIDARG ((HRESULT)0x80070057)
#endif
#ifndef DXGI_ERROR_INVALID_CALL
#define DXGI_ERROR_INVALID_CALL ((HRESULT)0x887A0001)
#endif
#ifndef DXGI_ERROR_UNSUPPORTED
#define DXGI_ERROR_UNSUPPORTED ((HRESULT)0x887A0004)
#endif
#ifndef DXGI_ERROR_DEVICE_REMOVED
#define DXGI_ERROR_DEVICE_REMOVED ((HRESULT)0x887A0005)
#endif
#ifndef HRESULT_FROM_NT
#define HRESULT_FROM_NT(status) ((HRESULT)((uint32_t)(status) | 0x10000000u))
#endif

/* The GUIDs are constants of each file that includes this. */
#define DXCORE_GUID(name, a, b, c, d0, d1, d2, d3, d4, d5, d6, d7) \
	static const GUID name __attribute__((unused)) = {a, b, c, {d0, d1, d2, d3, d4, d5, d6, d7}}

DXCORE_GUID(IID_IDXCoreAdapterFactory, 0x78EE5945, 0xC36E, 0x4B13, 0xA6, 0x69, 0x00, 0x5D, 0xD1, 0x1C, 0x0F, 0x06);
DXCORE_GUID(IID_IDXCoreAdapterFactory1, 0xD5682E19, 0x6D21, 0x401C, 0x82, 0x7A, 0x9A, 0x51, 0xA4, 0xEA, 0x35, 0xD7);
DXCORE_GUID(IID_IDXCoreAdapterList, 0x526C7776, 0x40E9, 0x459B, 0xB7, 0x11, 0xF3, 0x2A, 0xD7, 0x6D, 0xFC, 0x28);
DXCORE_GUID(IID_IDXCoreAdapter, 0xF0DB4C7F, 0xFE5A, 0x42A2, 0xBD, 0x62, 0xF2, 0xA6, 0xCF, 0x6F, 0xC8, 0x3E);
DXCORE_GUID(IID_IDXCoreAdapter1, 0xA0783366, 0xCFA3, 0x43BE, 0x9D, 0x79, 0x55, 0xB2, 0xDA, 0x97, 0xC6, 0x3C);

DXCORE_GUID(DXCORE_ADAPTER_ATTRIBUTE_D3D11_GRAPHICS, 0x8C47866B, 0x7583, 0x450D, 0xF0, 0xF0, 0x6B, 0xAD, 0xA8, 0x95, 0xAF, 0x4B);
DXCORE_GUID(DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS, 0x0C9ECE4D, 0x2F6E, 0x4F01, 0x8C, 0x96, 0xE8, 0x9E, 0x33, 0x1B, 0x47, 0xB1);
DXCORE_GUID(DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE, 0x248E2800, 0xA793, 0x4724, 0xAB, 0xAA, 0x23, 0xA6, 0xDE, 0x1B, 0xE0, 0x90);
DXCORE_GUID(DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML, 0xB71B0D41, 0x1088, 0x422F, 0xA2, 0x7C, 0x02, 0x50, 0xB7, 0xD3, 0xA9, 0x88);
DXCORE_GUID(DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_MEDIA, 0x8EB2C848, 0x82F6, 0x4B49, 0xAA, 0x87, 0xAE, 0xCF, 0xCF, 0x01, 0x74, 0xC6);
DXCORE_GUID(DXCORE_HARDWARE_TYPE_ATTRIBUTE_GPU, 0xB69EB219, 0x3DED, 0x4464, 0x97, 0x9F, 0xA0, 0x0B, 0xD4, 0x68, 0x70, 0x06);
DXCORE_GUID(DXCORE_HARDWARE_TYPE_ATTRIBUTE_COMPUTE_ACCELERATOR, 0xE0B195DA, 0x58EF, 0x4A22, 0x90, 0xF1, 0x1F, 0x28, 0x16, 0x9C, 0xAB, 0x8D);
DXCORE_GUID(DXCORE_HARDWARE_TYPE_ATTRIBUTE_NPU, 0xD46140C4, 0xADD7, 0x451B, 0x9E, 0x56, 0x06, 0xFE, 0x8C, 0x3B, 0x58, 0xED);
DXCORE_GUID(DXCORE_HARDWARE_TYPE_ATTRIBUTE_MEDIA_ACCELERATOR, 0x66BDB96A, 0x050B, 0x44C7, 0xA4, 0xFD, 0xD1, 0x44, 0xCE, 0x0A, 0xB4, 0x43);

#ifdef __cplusplus
#define DXCORE_ENUM(name) enum class name : uint32_t
#define DXCORE_ENUM_END(name)
#define DXCORE_IS(name, value) value
#else
#define DXCORE_ENUM(name) typedef enum name
#define DXCORE_ENUM_END(name) name
#define DXCORE_IS(name, value) name##_##value
#endif

DXCORE_ENUM(DXCoreAdapterProperty) {
	DXCORE_IS(DXCoreAdapterProperty, InstanceLuid) = 0,                  /* LUID */
	DXCORE_IS(DXCoreAdapterProperty, DriverVersion) = 1,                 /* uint64_t, four parts of 16 bits */
	DXCORE_IS(DXCoreAdapterProperty, DriverDescription) = 2,             /* char[], UTF-8 with its NUL */
	DXCORE_IS(DXCoreAdapterProperty, HardwareID) = 3,                    /* DXCoreHardwareID */
	DXCORE_IS(DXCoreAdapterProperty, KmdModelVersion) = 4,               /* D3DKMT_DRIVERVERSION */
	DXCORE_IS(DXCoreAdapterProperty, ComputePreemptionGranularity) = 5,  /* uint16_t */
	DXCORE_IS(DXCoreAdapterProperty, GraphicsPreemptionGranularity) = 6, /* uint16_t */
	DXCORE_IS(DXCoreAdapterProperty, DedicatedAdapterMemory) = 7,        /* uint64_t, bytes */
	DXCORE_IS(DXCoreAdapterProperty, DedicatedSystemMemory) = 8,         /* uint64_t, bytes */
	DXCORE_IS(DXCoreAdapterProperty, SharedSystemMemory) = 9,            /* uint64_t, bytes */
	DXCORE_IS(DXCoreAdapterProperty, AcgCompatible) = 10,                /* bool */
	DXCORE_IS(DXCoreAdapterProperty, IsHardware) = 11,                   /* bool */
	DXCORE_IS(DXCoreAdapterProperty, IsIntegrated) = 12,                 /* bool */
	DXCORE_IS(DXCoreAdapterProperty, IsDetachable) = 13,                 /* bool */
	DXCORE_IS(DXCoreAdapterProperty, HardwareIDParts) = 14,              /* DXCoreHardwareIDParts */
	DXCORE_IS(DXCoreAdapterProperty, PhysicalAdapterCount) = 15,         /* uint32_t */
	DXCORE_IS(DXCoreAdapterProperty, AdapterEngineCount) = 16,           /* uint32_t of uint32_t, a physical adapter */
	DXCORE_IS(DXCoreAdapterProperty, AdapterEngineName) = 17,            /* DXCoreEngineNamePropertyOutput of …Input */
} DXCORE_ENUM_END(DXCoreAdapterProperty);

DXCORE_ENUM(DXCoreAdapterState) {
	DXCORE_IS(DXCoreAdapterState, IsDriverUpdateInProgress) = 0,         /* uint8_t */
	DXCORE_IS(DXCoreAdapterState, AdapterMemoryBudget) = 1,
	DXCORE_IS(DXCoreAdapterState, AdapterMemoryUsageBytes) = 2,
	DXCORE_IS(DXCoreAdapterState, AdapterMemoryUsageByProcessBytes) = 3,
	DXCORE_IS(DXCoreAdapterState, AdapterEngineRunningTimeMicroseconds) = 4,
	DXCORE_IS(DXCoreAdapterState, AdapterEngineRunningTimeByProcessMicroseconds) = 5,
	DXCORE_IS(DXCoreAdapterState, AdapterTemperatureCelsius) = 6,
	DXCORE_IS(DXCoreAdapterState, AdapterInUseProcessCount) = 7,
	DXCORE_IS(DXCoreAdapterState, AdapterInUseProcessSet) = 8,
	DXCORE_IS(DXCoreAdapterState, AdapterEngineFrequencyHertz) = 9,
	DXCORE_IS(DXCoreAdapterState, AdapterMemoryFrequencyHertz) = 10,
} DXCORE_ENUM_END(DXCoreAdapterState);

DXCORE_ENUM(DXCoreSegmentGroup) {
	DXCORE_IS(DXCoreSegmentGroup, Local) = 0,
	DXCORE_IS(DXCoreSegmentGroup, NonLocal) = 1,
} DXCORE_ENUM_END(DXCoreSegmentGroup);

DXCORE_ENUM(DXCoreNotificationType) {
	DXCORE_IS(DXCoreNotificationType, AdapterListStale) = 0,
	DXCORE_IS(DXCoreNotificationType, AdapterNoLongerValid) = 1,
	DXCORE_IS(DXCoreNotificationType, AdapterBudgetChange) = 2,
	DXCORE_IS(DXCoreNotificationType, AdapterHardwareContentProtectionTeardown) = 3,
} DXCORE_ENUM_END(DXCoreNotificationType);

DXCORE_ENUM(DXCoreAdapterPreference) {
	DXCORE_IS(DXCoreAdapterPreference, Hardware) = 0,
	DXCORE_IS(DXCoreAdapterPreference, MinimumPower) = 1,
	DXCORE_IS(DXCoreAdapterPreference, HighPerformance) = 2,
} DXCORE_ENUM_END(DXCoreAdapterPreference);

DXCORE_ENUM(DXCoreWorkload) {
	DXCORE_IS(DXCoreWorkload, Graphics) = 0,
	DXCORE_IS(DXCoreWorkload, Compute) = 1,
	DXCORE_IS(DXCoreWorkload, Media) = 2,
	DXCORE_IS(DXCoreWorkload, MachineLearning) = 3,
} DXCORE_ENUM_END(DXCoreWorkload);

DXCORE_ENUM(DXCoreRuntimeFilterFlags) {
	DXCORE_IS(DXCoreRuntimeFilterFlags, None) = 0x0,
	DXCORE_IS(DXCoreRuntimeFilterFlags, D3D11) = 0x1,
	DXCORE_IS(DXCoreRuntimeFilterFlags, D3D12) = 0x2,
} DXCORE_ENUM_END(DXCoreRuntimeFilterFlags);

DXCORE_ENUM(DXCoreHardwareTypeFilterFlags) {
	DXCORE_IS(DXCoreHardwareTypeFilterFlags, None) = 0x0,
	DXCORE_IS(DXCoreHardwareTypeFilterFlags, GPU) = 0x1,
	DXCORE_IS(DXCoreHardwareTypeFilterFlags, ComputeAccelerator) = 0x2,
	DXCORE_IS(DXCoreHardwareTypeFilterFlags, NPU) = 0x4,
	DXCORE_IS(DXCoreHardwareTypeFilterFlags, MediaAccelerator) = 0x8,
} DXCORE_ENUM_END(DXCoreHardwareTypeFilterFlags);

#undef DXCORE_ENUM
#undef DXCORE_ENUM_END
#undef DXCORE_IS

typedef struct DXCoreHardwareID {
	uint32_t vendorID;
	uint32_t deviceID;
	uint32_t subSysID; /* subsystem in the upper half, subvendor in the lower */
	uint32_t revision;
} DXCoreHardwareID;

typedef struct DXCoreHardwareIDParts {
	uint32_t vendorID;
	uint32_t deviceID;
	uint32_t subSystemID;
	uint32_t subVendorID;
	uint32_t revisionID;
} DXCoreHardwareIDParts;

typedef struct DXCoreAdapterMemoryBudgetNodeSegmentGroup {
	uint32_t nodeIndex;
	DXCoreSegmentGroup segmentGroup;
} DXCoreAdapterMemoryBudgetNodeSegmentGroup;

typedef struct DXCoreAdapterMemoryBudget {
	uint64_t budget;
	uint64_t currentUsage;
	uint64_t availableForReservation;
	uint64_t currentReservation;
} DXCoreAdapterMemoryBudget;

typedef struct DXCoreAdapterEngineIndex {
	uint32_t physicalAdapterIndex;
	uint32_t engineIndex;
} DXCoreAdapterEngineIndex;

typedef struct DXCoreEngineNamePropertyInput {
	DXCoreAdapterEngineIndex adapterEngineIndex;
	uint32_t engineNameLength; /* characters there is room for */
	wchar_t *engineName;
} DXCoreEngineNamePropertyInput;

typedef struct DXCoreEngineNamePropertyOutput {
	uint32_t engineNameLength; /* characters with the NUL */
} DXCoreEngineNamePropertyOutput;

#if defined __cplusplus && !defined CINTERFACE
#include "dxcore_classes.h"
#else
#include "dxcore_vtbl.h"
#endif

#endif
#endif
