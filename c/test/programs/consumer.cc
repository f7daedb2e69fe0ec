// A C++ program as a user writes it: the public header alone, in C++.
#include <dxg/d3dkmthk.h>

#include <cstdio>
#include <vector>

int main() {
	D3DKMT_ENUMADAPTERS2 count = {};
	if (D3DKMTEnumAdapters2(&count) != 0) return 1;
	std::vector<D3DKMT_ADAPTERINFO> info(count.NumAdapters);
	D3DKMT_ENUMADAPTERS2 list = {};
	list.NumAdapters = count.NumAdapters;
	list.pAdapters = info.data();
	if (D3DKMTEnumAdapters2(&list) != 0 || list.NumAdapters == 0) return 2;
	D3DKMT_CREATEDEVICE device = {};
	device.hAdapter = info[0].hAdapter;
	if (D3DKMTCreateDevice(&device) != 0) return 3;
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence = {};
	fence.hDevice = device.hDevice;
	fence.Info.Type = D3DDDI_MONITORED_FENCE;
	if (D3DKMTCreateSynchronizationObject2(&fence) != 0) return 4;
	const UINT64 value = 42;
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU signal = {};
	signal.hDevice = device.hDevice;
	signal.ObjectCount = 1;
	signal.ObjectHandleArray = &fence.hSyncObject;
	signal.FenceValueArray = &value;
	if (D3DKMTSignalSynchronizationObjectFromCpu(&signal) != 0) return 5;
	if (*static_cast<volatile UINT64 *>(fence.Info.MonitoredFence.FenceValueCPUVirtualAddress) != 42) return 6;
	if (D3DKMTPinResources(nullptr) != STATUS_INVALID_PARAMETER) return 7;
	return 0;
}
