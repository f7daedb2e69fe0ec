/* SPDX-License-Identifier: MIT
 * Copyright (c) 2026 the dxgsync authors
 *
 * The interfaces of DXCore in C: an object begins with a pointer to its functions,
 * in the order that C++ classes have them. Include dxcore_interface.h.
 *
 * A method is also a macro: IDXCoreAdapter_IsValid(a) is a->lpVtbl->IsValid(a).
 */
#ifndef DXG_DXCORE_VTBL_H
#define DXG_DXCORE_VTBL_H

#define DXCORE_UNKNOWN(T) \
	HRESULT (*QueryInterface)(T *This, REFIID riid, void **ppvObject); \
	ULONG (*AddRef)(T *This); \
	ULONG (*Release)(T *This);

#ifndef __IUnknown_INTERFACE_DEFINED__
#define __IUnknown_INTERFACE_DEFINED__
DXCORE_GUID(IID_IUnknown, 0x00000000, 0x0000, 0x0000, 0xC0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46);
typedef struct IUnknown IUnknown;
typedef struct IUnknownVtbl {
	DXCORE_UNKNOWN(IUnknown)
} IUnknownVtbl;
struct IUnknown {
	const IUnknownVtbl *lpVtbl;
};
#endif
#ifndef IUnknown_QueryInterface
#define IUnknown_QueryInterface(This, riid, ppvObject) ((This)->lpVtbl->QueryInterface((This), riid, ppvObject))
#define IUnknown_AddRef(This) ((This)->lpVtbl->AddRef((This)))
#define IUnknown_Release(This) ((This)->lpVtbl->Release((This)))
#endif

typedef void (*PFN_DXCORE_NOTIFICATION_CALLBACK)(DXCoreNotificationType notificationType, IUnknown *object, void *context);

#define DXCORE_ADAPTER(T) \
	bool (*IsValid)(T *This); \
	bool (*IsAttributeSupported)(T *This, REFGUID attributeGUID); \
	bool (*IsPropertySupported)(T *This, DXCoreAdapterProperty property); \
	HRESULT (*GetProperty)(T *This, DXCoreAdapterProperty property, size_t bufferSize, void *propertyData); \
	HRESULT (*GetPropertySize)(T *This, DXCoreAdapterProperty property, size_t *bufferSize); \
	bool (*IsQueryStateSupported)(T *This, DXCoreAdapterState property); \
	HRESULT (*QueryState)(T *This, DXCoreAdapterState state, size_t inputStateDetailsSize, const void *inputStateDetails, size_t outputBufferSize, void *outputBuffer); \
	bool (*IsSetStateSupported)(T *This, DXCoreAdapterState property); \
	HRESULT (*SetState)(T *This, DXCoreAdapterState state, size_t inputStateDetailsSize, const void *inputStateDetails, size_t inputDataSize, const void *inputData); \
	HRESULT (*GetFactory)(T *This, REFIID riid, void **ppvFactory);
typedef struct IDXCoreAdapter IDXCoreAdapter;
typedef struct IDXCoreAdapterVtbl {
	DXCORE_UNKNOWN(IDXCoreAdapter)
	DXCORE_ADAPTER(IDXCoreAdapter)
} IDXCoreAdapterVtbl;
struct IDXCoreAdapter {
	const IDXCoreAdapterVtbl *lpVtbl;
};
#define IDXCoreAdapter_QueryInterface(This, riid, ppvObject) ((This)->lpVtbl->QueryInterface((This), riid, ppvObject))
#define IDXCoreAdapter_AddRef(This) ((This)->lpVtbl->AddRef((This)))
#define IDXCoreAdapter_Release(This) ((This)->lpVtbl->Release((This)))
#define IDXCoreAdapter_IsValid(This) ((This)->lpVtbl->IsValid((This)))
#define IDXCoreAdapter_IsAttributeSupported(This, attributeGUID) ((This)->lpVtbl->IsAttributeSupported((This), attributeGUID))
#define IDXCoreAdapter_IsPropertySupported(This, property) ((This)->lpVtbl->IsPropertySupported((This), property))
#define IDXCoreAdapter_GetProperty(This, property, bufferSize, propertyData) ((This)->lpVtbl->GetProperty((This), property, bufferSize, propertyData))
#define IDXCoreAdapter_GetPropertySize(This, property, bufferSize) ((This)->lpVtbl->GetPropertySize((This), property, bufferSize))
#define IDXCoreAdapter_IsQueryStateSupported(This, property) ((This)->lpVtbl->IsQueryStateSupported((This), property))
#define IDXCoreAdapter_QueryState(This, state, inputStateDetailsSize, inputStateDetails, outputBufferSize, outputBuffer) ((This)->lpVtbl->QueryState((This), state, inputStateDetailsSize, inputStateDetails, outputBufferSize, outputBuffer))
#define IDXCoreAdapter_IsSetStateSupported(This, property) ((This)->lpVtbl->IsSetStateSupported((This), property))
#define IDXCoreAdapter_SetState(This, state, inputStateDetailsSize, inputStateDetails, inputDataSize, inputData) ((This)->lpVtbl->SetState((This), state, inputStateDetailsSize, inputStateDetails, inputDataSize, inputData))
#define IDXCoreAdapter_GetFactory(This, riid, ppvFactory) ((This)->lpVtbl->GetFactory((This), riid, ppvFactory))

#define DXCORE_ADAPTER1(T) \
	HRESULT (*GetPropertyWithInput)(T *This, DXCoreAdapterProperty property, size_t inputPropertyDetailsSize, const void *inputPropertyDetails, size_t outputBufferSize, void *outputBuffer);
typedef struct IDXCoreAdapter1 IDXCoreAdapter1;
typedef struct IDXCoreAdapter1Vtbl {
	DXCORE_UNKNOWN(IDXCoreAdapter1)
	DXCORE_ADAPTER(IDXCoreAdapter1)
	DXCORE_ADAPTER1(IDXCoreAdapter1)
} IDXCoreAdapter1Vtbl;
struct IDXCoreAdapter1 {
	const IDXCoreAdapter1Vtbl *lpVtbl;
};
#define IDXCoreAdapter1_QueryInterface(This, riid, ppvObject) ((This)->lpVtbl->QueryInterface((This), riid, ppvObject))
#define IDXCoreAdapter1_AddRef(This) ((This)->lpVtbl->AddRef((This)))
#define IDXCoreAdapter1_Release(This) ((This)->lpVtbl->Release((This)))
#define IDXCoreAdapter1_IsValid(This) ((This)->lpVtbl->IsValid((This)))
#define IDXCoreAdapter1_IsAttributeSupported(This, attributeGUID) ((This)->lpVtbl->IsAttributeSupported((This), attributeGUID))
#define IDXCoreAdapter1_IsPropertySupported(This, property) ((This)->lpVtbl->IsPropertySupported((This), property))
#define IDXCoreAdapter1_GetProperty(This, property, bufferSize, propertyData) ((This)->lpVtbl->GetProperty((This), property, bufferSize, propertyData))
#define IDXCoreAdapter1_GetPropertySize(This, property, bufferSize) ((This)->lpVtbl->GetPropertySize((This), property, bufferSize))
#define IDXCoreAdapter1_IsQueryStateSupported(This, property) ((This)->lpVtbl->IsQueryStateSupported((This), property))
#define IDXCoreAdapter1_QueryState(This, state, inputStateDetailsSize, inputStateDetails, outputBufferSize, outputBuffer) ((This)->lpVtbl->QueryState((This), state, inputStateDetailsSize, inputStateDetails, outputBufferSize, outputBuffer))
#define IDXCoreAdapter1_IsSetStateSupported(This, property) ((This)->lpVtbl->IsSetStateSupported((This), property))
#define IDXCoreAdapter1_SetState(This, state, inputStateDetailsSize, inputStateDetails, inputDataSize, inputData) ((This)->lpVtbl->SetState((This), state, inputStateDetailsSize, inputStateDetails, inputDataSize, inputData))
#define IDXCoreAdapter1_GetFactory(This, riid, ppvFactory) ((This)->lpVtbl->GetFactory((This), riid, ppvFactory))
#define IDXCoreAdapter1_GetPropertyWithInput(This, property, inputPropertyDetailsSize, inputPropertyDetails, outputBufferSize, outputBuffer) ((This)->lpVtbl->GetPropertyWithInput((This), property, inputPropertyDetailsSize, inputPropertyDetails, outputBufferSize, outputBuffer))

#define DXCORE_LIST(T) \
	HRESULT (*GetAdapter)(T *This, uint32_t index, REFIID riid, void **ppvAdapter); \
	uint32_t (*GetAdapterCount)(T *This); \
	bool (*IsStale)(T *This); \
	HRESULT (*GetFactory)(T *This, REFIID riid, void **ppvFactory); \
	HRESULT (*Sort)(T *This, uint32_t numPreferences, const DXCoreAdapterPreference *preferences); \
	bool (*IsAdapterPreferenceSupported)(T *This, DXCoreAdapterPreference preference);
typedef struct IDXCoreAdapterList IDXCoreAdapterList;
typedef struct IDXCoreAdapterListVtbl {
	DXCORE_UNKNOWN(IDXCoreAdapterList)
	DXCORE_LIST(IDXCoreAdapterList)
} IDXCoreAdapterListVtbl;
struct IDXCoreAdapterList {
	const IDXCoreAdapterListVtbl *lpVtbl;
};
#define IDXCoreAdapterList_QueryInterface(This, riid, ppvObject) ((This)->lpVtbl->QueryInterface((This), riid, ppvObject))
#define IDXCoreAdapterList_AddRef(This) ((This)->lpVtbl->AddRef((This)))
#define IDXCoreAdapterList_Release(This) ((This)->lpVtbl->Release((This)))
#define IDXCoreAdapterList_GetAdapter(This, index, riid, ppvAdapter) ((This)->lpVtbl->GetAdapter((This), index, riid, ppvAdapter))
#define IDXCoreAdapterList_GetAdapterCount(This) ((This)->lpVtbl->GetAdapterCount((This)))
#define IDXCoreAdapterList_IsStale(This) ((This)->lpVtbl->IsStale((This)))
#define IDXCoreAdapterList_GetFactory(This, riid, ppvFactory) ((This)->lpVtbl->GetFactory((This), riid, ppvFactory))
#define IDXCoreAdapterList_Sort(This, numPreferences, preferences) ((This)->lpVtbl->Sort((This), numPreferences, preferences))
#define IDXCoreAdapterList_IsAdapterPreferenceSupported(This, preference) ((This)->lpVtbl->IsAdapterPreferenceSupported((This), preference))

#define DXCORE_FACTORY(T) \
	HRESULT (*CreateAdapterList)(T *This, uint32_t numAttributes, const GUID *filterAttributes, REFIID riid, void **ppvAdapterList); \
	HRESULT (*GetAdapterByLuid)(T *This, const LUID *adapterLUID, REFIID riid, void **ppvAdapter); \
	bool (*IsNotificationTypeSupported)(T *This, DXCoreNotificationType notificationType); \
	HRESULT (*RegisterEventNotification)(T *This, IUnknown *dxCoreObject, DXCoreNotificationType notificationType, PFN_DXCORE_NOTIFICATION_CALLBACK callbackFunction, void *callbackContext, uint32_t *eventCookie); \
	HRESULT (*UnregisterEventNotification)(T *This, uint32_t eventCookie);
typedef struct IDXCoreAdapterFactory IDXCoreAdapterFactory;
typedef struct IDXCoreAdapterFactoryVtbl {
	DXCORE_UNKNOWN(IDXCoreAdapterFactory)
	DXCORE_FACTORY(IDXCoreAdapterFactory)
} IDXCoreAdapterFactoryVtbl;
struct IDXCoreAdapterFactory {
	const IDXCoreAdapterFactoryVtbl *lpVtbl;
};
#define IDXCoreAdapterFactory_QueryInterface(This, riid, ppvObject) ((This)->lpVtbl->QueryInterface((This), riid, ppvObject))
#define IDXCoreAdapterFactory_AddRef(This) ((This)->lpVtbl->AddRef((This)))
#define IDXCoreAdapterFactory_Release(This) ((This)->lpVtbl->Release((This)))
#define IDXCoreAdapterFactory_CreateAdapterList(This, numAttributes, filterAttributes, riid, ppvAdapterList) ((This)->lpVtbl->CreateAdapterList((This), numAttributes, filterAttributes, riid, ppvAdapterList))
#define IDXCoreAdapterFactory_GetAdapterByLuid(This, adapterLUID, riid, ppvAdapter) ((This)->lpVtbl->GetAdapterByLuid((This), adapterLUID, riid, ppvAdapter))
#define IDXCoreAdapterFactory_IsNotificationTypeSupported(This, notificationType) ((This)->lpVtbl->IsNotificationTypeSupported((This), notificationType))
#define IDXCoreAdapterFactory_RegisterEventNotification(This, dxCoreObject, notificationType, callbackFunction, callbackContext, eventCookie) ((This)->lpVtbl->RegisterEventNotification((This), dxCoreObject, notificationType, callbackFunction, callbackContext, eventCookie))
#define IDXCoreAdapterFactory_UnregisterEventNotification(This, eventCookie) ((This)->lpVtbl->UnregisterEventNotification((This), eventCookie))

#define DXCORE_FACTORY1(T) \
	HRESULT (*CreateAdapterListByWorkload)(T *This, DXCoreWorkload workload, DXCoreRuntimeFilterFlags runtimeFilter, DXCoreHardwareTypeFilterFlags hardwareTypeFilter, REFIID riid, void **ppvAdapterList);
typedef struct IDXCoreAdapterFactory1 IDXCoreAdapterFactory1;
typedef struct IDXCoreAdapterFactory1Vtbl {
	DXCORE_UNKNOWN(IDXCoreAdapterFactory1)
	DXCORE_FACTORY(IDXCoreAdapterFactory1)
	DXCORE_FACTORY1(IDXCoreAdapterFactory1)
} IDXCoreAdapterFactory1Vtbl;
struct IDXCoreAdapterFactory1 {
	const IDXCoreAdapterFactory1Vtbl *lpVtbl;
};
#define IDXCoreAdapterFactory1_QueryInterface(This, riid, ppvObject) ((This)->lpVtbl->QueryInterface((This), riid, ppvObject))
#define IDXCoreAdapterFactory1_AddRef(This) ((This)->lpVtbl->AddRef((This)))
#define IDXCoreAdapterFactory1_Release(This) ((This)->lpVtbl->Release((This)))
#define IDXCoreAdapterFactory1_CreateAdapterList(This, numAttributes, filterAttributes, riid, ppvAdapterList) ((This)->lpVtbl->CreateAdapterList((This), numAttributes, filterAttributes, riid, ppvAdapterList))
#define IDXCoreAdapterFactory1_GetAdapterByLuid(This, adapterLUID, riid, ppvAdapter) ((This)->lpVtbl->GetAdapterByLuid((This), adapterLUID, riid, ppvAdapter))
#define IDXCoreAdapterFactory1_IsNotificationTypeSupported(This, notificationType) ((This)->lpVtbl->IsNotificationTypeSupported((This), notificationType))
#define IDXCoreAdapterFactory1_RegisterEventNotification(This, dxCoreObject, notificationType, callbackFunction, callbackContext, eventCookie) ((This)->lpVtbl->RegisterEventNotification((This), dxCoreObject, notificationType, callbackFunction, callbackContext, eventCookie))
#define IDXCoreAdapterFactory1_UnregisterEventNotification(This, eventCookie) ((This)->lpVtbl->UnregisterEventNotification((This), eventCookie))
#define IDXCoreAdapterFactory1_CreateAdapterListByWorkload(This, workload, runtimeFilter, hardwareTypeFilter, riid, ppvAdapterList) ((This)->lpVtbl->CreateAdapterListByWorkload((This), workload, runtimeFilter, hardwareTypeFilter, riid, ppvAdapterList))

#undef DXCORE_UNKNOWN
#undef DXCORE_ADAPTER
#undef DXCORE_ADAPTER1
#undef DXCORE_LIST
#undef DXCORE_FACTORY
#undef DXCORE_FACTORY1

#endif
