/* SPDX-License-Identifier: MIT
 * Copyright (c) 2026 the dxgsync authors
 *
 * Where DXCore begins.
 */
#ifndef DXG_DXCORE_H
#define DXG_DXCORE_H

#include "dxcore_interface.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Give the factory of this process as interface riid: IUnknown, IDXCoreAdapterFactory
 * or IDXCoreAdapterFactory1. Needs no daemon. S_OK; E_POINTER for a NULL ppvFactory;
 * E_NOINTERFACE for another riid, *ppvFactory is then NULL. */
HRESULT DXCoreCreateAdapterFactory(REFIID riid, void **ppvFactory);

#ifdef __cplusplus
}

#ifndef CINTERFACE
template <class T> HRESULT DXCoreCreateAdapterFactory(T **factory) {
	return DXCoreCreateAdapterFactory(DXCoreInterface<T>::id(), reinterpret_cast<void **>(factory));
}
#endif
#endif

#endif
