/* The demo for AMD GPUs on dxgkrnl: linked to libdxcore. One adapter is asked for, work
 * goes to node 1, the fence is signalled by a packet behind the command buffer, and a
 * forked child sees the value come as its parent does. The commands are for a GPU that
 * is not here: they complete and do nothing. */
#include "client.h"

#include <sys/mman.h>
#include <sys/wait.h>

enum { VALUE = 0x1234, SIZE = 16 * PAGE };

static void wait_on(const char *what, D3DKMT_HANDLE device, D3DKMT_HANDLE fence, uint64_t value) {
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU w = {.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &fence, .FenceValueArray = &value};
	MUST(what, D3DKMTWaitForSynchronizationObjectFromCpu(&w));
}

int main(void) {
	/* On one adapter only; which one, the program does not choose. */
	D3DKMT_ADAPTERINFO info = {0};
	D3DKMT_ENUMADAPTERS2 e = {.NumAdapters = 1, .pAdapters = &info};
	MUST("EnumAdapters2, room for 1", D3DKMTEnumAdapters2(&e));
	insist("one adapter", e.NumAdapters == 1);
	D3DKMT_OPENADAPTERFROMLUID o = {.AdapterLuid = info.AdapterLuid};
	MUST("OpenAdapterFromLuid", D3DKMTOpenAdapterFromLuid(&o));
	D3DKMT_CREATEDEVICE d = {.hAdapter = o.hAdapter};
	MUST("CreateDevice", D3DKMTCreateDevice(&d));

	unsigned char ours[0x200];
	memset(ours, 0xA3, sizeof ours);
	D3DKMT_CREATECONTEXTVIRTUAL c = {.hDevice = d.hDevice, .NodeOrdinal = 1, .EngineAffinity = 1, .ClientHint = D3DKMT_CLIENTHINT_OPENCL,
		.pPrivateDriverData = ours, .PrivateDriverDataSize = sizeof ours};
	MUST("CreateContextVirtual, node 1", D3DKMTCreateContextVirtual(&c));

	uint32_t *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	insist("memory", memory != MAP_FAILED);
	for (int i = 0; i < 256; i++) memory[i] = 0xFFFF1000; /* a NOP of theirs */
	D3DDDI_ALLOCATIONINFO2 a = {.pSystemMem = memory, .pPrivateDriverData = ours, .PrivateDriverDataSize = sizeof ours};
	D3DKMT_CREATEALLOCATION ca = {.hDevice = d.hDevice, .NumAllocations = 1, .pAllocationInfo2 = &a};
	ca.Flags.ExistingSysMem = 1;
	MUST("CreateAllocation2, existing memory", D3DKMTCreateAllocation2(&ca));
	insist("allocation", a.hAllocation != 0);

	D3DKMT_CREATEPAGINGQUEUE q = {.hDevice = d.hDevice};
	MUST("CreatePagingQueue", D3DKMTCreatePagingQueue(&q));
	D3DDDI_MAPGPUVIRTUALADDRESS m = {.hPagingQueue = q.hPagingQueue, .hAllocation = a.hAllocation, .SizeInPages = SIZE / PAGE};
	m.Protection.Write = m.Protection.Execute = 1;
	may_pend("MapGpuVirtualAddress", (uint32_t)D3DKMTMapGpuVirtualAddress(&m));
	insist("address", m.VirtualAddress != 0);
	wait_on("wait for the mapping", d.hDevice, q.hSyncObject, m.PagingFenceValue);
	D3DDDI_MAKERESIDENT r = {.hPagingQueue = q.hPagingQueue, .NumAllocations = 1, .AllocationList = &a.hAllocation};
	may_pend("MakeResident", (uint32_t)D3DKMTMakeResident(&r));
	wait_on("wait for residency", d.hDevice, q.hSyncObject, r.PagingFenceValue);

	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 f = {.hDevice = d.hDevice};
	f.Info.Type = D3DDDI_MONITORED_FENCE;
	MUST("CreateSynchronizationObject2", D3DKMTCreateSynchronizationObject2(&f));
	const volatile uint64_t *value = (const volatile uint64_t *)f.Info.MonitoredFence.FenceValueCPUVirtualAddress;
	insist("fence's page", value && *value == 0);

	D3DKMT_SUBMITCOMMAND s = {.Commands = m.VirtualAddress, .CommandLength = 1024, .BroadcastContextCount = 1, .BroadcastContext = {c.hContext},
		.pPrivateDriverData = ours, .PrivateDriverDataSize = sizeof ours};
	MUST("SubmitCommand", D3DKMTSubmitCommand(&s));
	/* The child before the signal: it must see the value arrive, not find it. */
	fflush(stdout);
	pid_t child = fork();
	insist("fork", child >= 0);
	if (child == 0) {
		while (*value != VALUE) {}
		_exit(0);
	}
	uint64_t v = VALUE;
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU g = {.hContext = c.hContext, .ObjectCount = 1, .ObjectHandleArray = &f.hSyncObject, .MonitoredFenceValueArray = &v};
	MUST("SignalSynchronizationObjectFromGpu", D3DKMTSignalSynchronizationObjectFromGpu(&g));
	wait_on("wait for the work", d.hDevice, f.hSyncObject, VALUE);
	insist("value in the parent", *value == VALUE);
	int end = -1;
	insist("value in the child", waitpid(child, &end, 0) == child && end == 0);

	D3DKMT_DESTROYSYNCHRONIZATIONOBJECT df = {.hSyncObject = f.hSyncObject};
	MUST("DestroySynchronizationObject", D3DKMTDestroySynchronizationObject(&df));
	D3DDDI_DESTROYPAGINGQUEUE dq = {.hPagingQueue = q.hPagingQueue};
	MUST("DestroyPagingQueue", D3DKMTDestroyPagingQueue(&dq));
	D3DKMT_DESTROYALLOCATION2 da = {.hDevice = d.hDevice, .phAllocationList = &a.hAllocation, .AllocationCount = 1};
	MUST("DestroyAllocation2", D3DKMTDestroyAllocation2(&da));
	D3DKMT_DESTROYCONTEXT dc = {.hContext = c.hContext};
	MUST("DestroyContext", D3DKMTDestroyContext(&dc));
	/* The adapter goes before its device. */
	D3DKMT_CLOSEADAPTER close_adapter = {.hAdapter = o.hAdapter};
	MUST("CloseAdapter", D3DKMTCloseAdapter(&close_adapter));
	D3DKMT_DESTROYDEVICE dd = {.hDevice = d.hDevice};
	MUST("DestroyDevice", D3DKMTDestroyDevice(&dd));
	return 0;
}
