/* SPDX-License-Identifier: MIT
 * Copyright (c) 2026 the dxgsync authors
 *
 * The interfaces of DXCore in C++. Include dxcore_interface.h.
 */
#ifndef DXG_DXCORE_CLASSES_H
#define DXG_DXCORE_CLASSES_H

/* The identifier of interface T, for the methods that take a T **. */
template <class T> struct DXCoreInterface;

#if !defined STDMETHODCALLTYPE && !defined __IUnknown_INTERFACE_DEFINED__
#define __IUnknown_INTERFACE_DEFINED__
DXCORE_GUID(IID_IUnknown, 0x00000000, 0x0000, 0x0000, 0xC0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46);
struct IUnknown {
	virtual HRESULT QueryInterface(REFIID riid, void **ppvObject) = 0;
	virtual ULONG AddRef() = 0;
	virtual ULONG Release() = 0;

	template <class T> HRESULT QueryInterface(T **object) {
		return QueryInterface(DXCoreInterface<T>::id(), reinterpret_cast<void **>(object));
	}
};
template <> struct DXCoreInterface<IUnknown> { static const IID &id() { return IID_IUnknown; } };
#endif

typedef void (*PFN_DXCORE_NOTIFICATION_CALLBACK)(DXCoreNotificationType notificationType, IUnknown *object, void *context);

struct IDXCoreAdapter : public IUnknown {
	virtual bool IsValid() = 0;
	virtual bool IsAttributeSupported(REFGUID attributeGUID) = 0;
	virtual bool IsPropertySupported(DXCoreAdapterProperty property) = 0;
	virtual HRESULT GetProperty(DXCoreAdapterProperty property, size_t bufferSize, void *propertyData) = 0;
	virtual HRESULT GetPropertySize(DXCoreAdapterProperty property, size_t *bufferSize) = 0;
	virtual bool IsQueryStateSupported(DXCoreAdapterState property) = 0;
	virtual HRESULT QueryState(DXCoreAdapterState state, size_t inputStateDetailsSize, const void *inputStateDetails, size_t outputBufferSize, void *outputBuffer) = 0;
	virtual bool IsSetStateSupported(DXCoreAdapterState property) = 0;
	virtual HRESULT SetState(DXCoreAdapterState state, size_t inputStateDetailsSize, const void *inputStateDetails, size_t inputDataSize, const void *inputData) = 0;
	virtual HRESULT GetFactory(REFIID riid, void **ppvFactory) = 0;

	template <class T> HRESULT GetProperty(DXCoreAdapterProperty property, T *data) {
		return GetProperty(property, sizeof(T), static_cast<void *>(data));
	}
	template <class In, class Out> HRESULT QueryState(DXCoreAdapterState state, const In *details, Out *buffer) {
		return QueryState(state, sizeof(In), static_cast<const void *>(details), sizeof(Out), static_cast<void *>(buffer));
	}
	template <class Out> HRESULT QueryState(DXCoreAdapterState state, Out *buffer) {
		return QueryState(state, 0, static_cast<const void *>(nullptr), sizeof(Out), static_cast<void *>(buffer));
	}
	template <class In, class Data> HRESULT SetState(DXCoreAdapterState state, const In *details, const Data *data) {
		return SetState(state, sizeof(In), static_cast<const void *>(details), sizeof(Data), static_cast<const void *>(data));
	}
	template <class T> HRESULT GetFactory(T **factory) {
		return GetFactory(DXCoreInterface<T>::id(), reinterpret_cast<void **>(factory));
	}
};

struct IDXCoreAdapter1 : public IDXCoreAdapter {
	virtual HRESULT GetPropertyWithInput(DXCoreAdapterProperty property, size_t inputPropertyDetailsSize, const void *inputPropertyDetails, size_t outputBufferSize, void *outputBuffer) = 0;

	template <class In, class Out> HRESULT GetPropertyWithInput(DXCoreAdapterProperty property, const In *details, Out *buffer) {
		return GetPropertyWithInput(property, sizeof(In), static_cast<const void *>(details), sizeof(Out), static_cast<void *>(buffer));
	}
};

struct IDXCoreAdapterList : public IUnknown {
	virtual HRESULT GetAdapter(uint32_t index, REFIID riid, void **ppvAdapter) = 0;
	virtual uint32_t GetAdapterCount() = 0;
	virtual bool IsStale() = 0;
	virtual HRESULT GetFactory(REFIID riid, void **ppvFactory) = 0;
	virtual HRESULT Sort(uint32_t numPreferences, const DXCoreAdapterPreference *preferences) = 0;
	virtual bool IsAdapterPreferenceSupported(DXCoreAdapterPreference preference) = 0;

	template <class T> HRESULT GetAdapter(uint32_t index, T **adapter) {
		return GetAdapter(index, DXCoreInterface<T>::id(), reinterpret_cast<void **>(adapter));
	}
	template <class T> HRESULT GetFactory(T **factory) {
		return GetFactory(DXCoreInterface<T>::id(), reinterpret_cast<void **>(factory));
	}
};

struct IDXCoreAdapterFactory : public IUnknown {
	virtual HRESULT CreateAdapterList(uint32_t numAttributes, const GUID *filterAttributes, REFIID riid, void **ppvAdapterList) = 0;
	virtual HRESULT GetAdapterByLuid(const LUID &adapterLUID, REFIID riid, void **ppvAdapter) = 0;
	virtual bool IsNotificationTypeSupported(DXCoreNotificationType notificationType) = 0;
	virtual HRESULT RegisterEventNotification(IUnknown *dxCoreObject, DXCoreNotificationType notificationType, PFN_DXCORE_NOTIFICATION_CALLBACK callbackFunction, void *callbackContext, uint32_t *eventCookie) = 0;
	virtual HRESULT UnregisterEventNotification(uint32_t eventCookie) = 0;

	template <class T> HRESULT CreateAdapterList(uint32_t numAttributes, const GUID *filterAttributes, T **list) {
		return CreateAdapterList(numAttributes, filterAttributes, DXCoreInterface<T>::id(), reinterpret_cast<void **>(list));
	}
	template <class T> HRESULT GetAdapterByLuid(const LUID &adapterLUID, T **adapter) {
		return GetAdapterByLuid(adapterLUID, DXCoreInterface<T>::id(), reinterpret_cast<void **>(adapter));
	}
};

struct IDXCoreAdapterFactory1 : public IDXCoreAdapterFactory {
	virtual HRESULT CreateAdapterListByWorkload(DXCoreWorkload workload, DXCoreRuntimeFilterFlags runtimeFilter, DXCoreHardwareTypeFilterFlags hardwareTypeFilter, REFIID riid, void **ppvAdapterList) = 0;

	template <class T> HRESULT CreateAdapterListByWorkload(DXCoreWorkload workload, DXCoreRuntimeFilterFlags runtimeFilter, DXCoreHardwareTypeFilterFlags hardwareTypeFilter, T **list) {
		return CreateAdapterListByWorkload(workload, runtimeFilter, hardwareTypeFilter, DXCoreInterface<T>::id(), reinterpret_cast<void **>(list));
	}
};

template <> struct DXCoreInterface<IDXCoreAdapter> { static const IID &id() { return IID_IDXCoreAdapter; } };
template <> struct DXCoreInterface<IDXCoreAdapter1> { static const IID &id() { return IID_IDXCoreAdapter1; } };
template <> struct DXCoreInterface<IDXCoreAdapterList> { static const IID &id() { return IID_IDXCoreAdapterList; } };
template <> struct DXCoreInterface<IDXCoreAdapterFactory> { static const IID &id() { return IID_IDXCoreAdapterFactory; } };
template <> struct DXCoreInterface<IDXCoreAdapterFactory1> { static const IID &id() { return IID_IDXCoreAdapterFactory1; } };

#endif
