/* DXCore when nobody listens: a factory there is, adapters there are not. */
#include "dxcore.h"

int main(void) {
	IDXCoreAdapterFactory *f = open_factory();
	LUID luid = {0x10000, 0};
	void *p = f;
	RESULT(IDXCoreAdapterFactory_CreateAdapterList(f, 1, COMPUTE, &IID_IDXCoreAdapterList, &p), E_FAIL);
	CHECK(!p);
	RESULT(IDXCoreAdapterFactory_GetAdapterByLuid(f, &luid, &IID_IDXCoreAdapter, &p), E_FAIL);
	EQUAL(IDXCoreAdapterFactory_Release(f), 0);
}
