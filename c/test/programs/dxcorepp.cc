// DXCore from C++: the installed headers alone, methods through the classes.
#include <dxg/d3dkmthk.h>
#include <dxg/dxcore.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#define CHECK(condition)                                                           \
	do {                                                                           \
		if (!(condition)) {                                                        \
			std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			return 1;                                                              \
		}                                                                          \
	} while (0)

// What binaries rely on.
static_assert(sizeof(IDXCoreAdapter1) == sizeof(void *), "an interface is one pointer");
static_assert(!std::has_virtual_destructor<IDXCoreAdapterFactory>::value, "no destructor in the table");
static_assert(sizeof(HRESULT) == 4 && sizeof(GUID) == 16 && sizeof(LUID) == 8 && sizeof(bool) == 1, "sizes");
static_assert(sizeof(DXCoreHardwareID) == 16 && sizeof(DXCoreHardwareIDParts) == 20 && sizeof(DXCoreEngineNamePropertyInput) == 24, "sizes");
static_assert(sizeof(DXCoreAdapterProperty) == 4 && sizeof(DXCoreAdapterMemoryBudget) == 32, "sizes");

static void never(DXCoreNotificationType, IUnknown *, void *) { std::abort(); }

template <class T> static bool read(IDXCoreAdapter *a, DXCoreAdapterProperty p, T *value) {
	size_t size = 0;
	return a->IsPropertySupported(p) && a->GetPropertySize(p, &size) == S_OK && size == sizeof(T) && a->GetProperty(p, value) == S_OK;
}

// Every method once, in the order of the tables.
static int adapter(IDXCoreAdapter *a) {
	CHECK(a->IsValid());
	CHECK(a->IsAttributeSupported(DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS) && !a->IsAttributeSupported(DXCORE_HARDWARE_TYPE_ATTRIBUTE_NPU));
	LUID luid;
	DXCoreHardwareID id;
	bool hardware = false;
	uint64_t memory[3], version;
	uint32_t model, count;
	uint16_t preemption;
	CHECK(read(a, DXCoreAdapterProperty::InstanceLuid, &luid) && luid.LowPart == 0x10000);
	CHECK(read(a, DXCoreAdapterProperty::HardwareID, &id) && id.vendorID == 0xD36C);
	CHECK(read(a, DXCoreAdapterProperty::IsHardware, &hardware) && hardware);
	CHECK(read(a, DXCoreAdapterProperty::DedicatedAdapterMemory, &memory[0]) && memory[0] == UINT64_C(8192) << 20);
	CHECK(read(a, DXCoreAdapterProperty::DedicatedSystemMemory, &memory[1]) && memory[1] == 0);
	CHECK(read(a, DXCoreAdapterProperty::SharedSystemMemory, &memory[2]) && memory[2] == UINT64_C(16384) << 20);
	CHECK(read(a, DXCoreAdapterProperty::DriverVersion, &version) && version >> 48 == 32);
	CHECK(read(a, DXCoreAdapterProperty::KmdModelVersion, &model) && model == 3200);
	CHECK(read(a, DXCoreAdapterProperty::ComputePreemptionGranularity, &preemption) && preemption == 300);
	CHECK(read(a, DXCoreAdapterProperty::PhysicalAdapterCount, &count) && count == 1);
	size_t size = 0;
	CHECK(a->GetPropertySize(DXCoreAdapterProperty::DriverDescription, &size) == S_OK);
	std::vector<char> text(size);
	CHECK(a->GetProperty(DXCoreAdapterProperty::DriverDescription, size, text.data()) == S_OK && std::string(text.data()) == "dxgsync Virtual Render Device");
	uint8_t updating = 7;
	CHECK(a->IsQueryStateSupported(DXCoreAdapterState::IsDriverUpdateInProgress) && !a->IsQueryStateSupported(DXCoreAdapterState::AdapterMemoryBudget));
	CHECK(a->QueryState(DXCoreAdapterState::IsDriverUpdateInProgress, &updating) == S_OK && updating == 0);
	DXCoreAdapterMemoryBudgetNodeSegmentGroup group = {0, DXCoreSegmentGroup::Local};
	DXCoreAdapterMemoryBudget budget;
	CHECK(a->QueryState(DXCoreAdapterState::AdapterMemoryBudget, &group, &budget) == DXGI_ERROR_UNSUPPORTED);
	CHECK(!a->IsSetStateSupported(DXCoreAdapterState::AdapterMemoryBudget));
	CHECK(a->SetState(DXCoreAdapterState::AdapterMemoryBudget, &group, &memory[0]) == DXGI_ERROR_UNSUPPORTED);

	IDXCoreAdapter1 *b = nullptr;
	CHECK(a->QueryInterface(&b) == S_OK && b == a);
	const uint32_t physical = 0;
	CHECK(b->GetPropertyWithInput(DXCoreAdapterProperty::AdapterEngineCount, &physical, &count) == S_OK && count == 3);
	b->Release();
	IDXCoreAdapterFactory *f = nullptr;
	CHECK(a->GetFactory(&f) == S_OK);
	IDXCoreAdapter *same = nullptr;
	CHECK(f->GetAdapterByLuid(luid, &same) == S_OK && same == a);
	same->Release();
	f->Release();
	return 0;
}

static int use() {
	IDXCoreAdapterFactory *f = nullptr;
	IDXCoreAdapterList *l = nullptr, *m = nullptr;
	IDXCoreAdapter *a = nullptr;
	CHECK(DXCoreCreateAdapterFactory(&f) == S_OK);
	CHECK(f->CreateAdapterList(1, &DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE, &l) == S_OK);
	CHECK(l->GetAdapterCount() == 1 && !l->IsStale());
	CHECK(l->GetAdapter(1, &a) == E_INVALIDARG && !a);
	CHECK(l->GetAdapter(0, &a) == S_OK);
	const DXCoreAdapterPreference order[] = {DXCoreAdapterPreference::Hardware, DXCoreAdapterPreference::HighPerformance};
	CHECK(l->IsAdapterPreferenceSupported(order[1]) && l->Sort(2, order) == S_OK);
	if (adapter(a)) return 1;

	uint32_t cookie = 0;
	CHECK(f->IsNotificationTypeSupported(DXCoreNotificationType::AdapterListStale));
	CHECK(f->RegisterEventNotification(l, DXCoreNotificationType::AdapterListStale, never, nullptr, &cookie) == S_OK && cookie);
	CHECK(f->UnregisterEventNotification(cookie) == S_OK);
	IDXCoreAdapterFactory1 *f1 = nullptr;
	CHECK(l->GetFactory(&f1) == S_OK);
	CHECK(f1->CreateAdapterListByWorkload(DXCoreWorkload::Compute, DXCoreRuntimeFilterFlags::D3D12, DXCoreHardwareTypeFilterFlags::GPU, &m) == S_OK);
	CHECK(m->GetAdapterCount() == 1);
	f1->Release();
	m->Release();
	a->Release();
	l->Release();
	f->Release();
	return 0;
}

int main() {
	int bad[4] = {};
	if (use()) return 1;
	std::vector<std::thread> threads;
	for (int &b : bad) threads.emplace_back([&b] {
		for (int i = 0; i < 50 && !b; i++) b = use();
	});
	for (std::thread &t : threads) t.join();
	for (int b : bad)
		if (b) return 1;
	return 0;
}
