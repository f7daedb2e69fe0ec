package server

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// A gpuSet is one of everything that calls of the GPU side name.
type gpuSet struct {
	adapter, device, context, home, queue, user, paging, pagingFence, fence, allocation, shared abi.Handle
	code                                                                                        uint64 // address of the allocation
}

func (g *gpuSet) handles() []abi.Handle {
	return []abi.Handle{g.adapter, g.device, g.context, g.home, g.queue, g.user, g.paging, g.pagingFence, g.fence, g.allocation, g.shared}
}

// makeGPUSet makes it by requests; do fails unless they succeed.
func makeGPUSet(adapter abi.Handle, do func(*abi.Request)) *gpuSet {
	g := &gpuSet{adapter: adapter}
	r := request(abi.OpCreateDevice)
	abi.View[abi.CreateDevice](r.Record).HAdapter = adapter
	do(r)
	g.device = abi.View[abi.CreateDevice](r.Record).HDevice
	context := func(flags abi.CreateContextFlags) abi.Handle {
		r := request(opOf("D3DKMTCreateContextVirtual"))
		rec := abi.View[abi.CreateContextVirtual](r.Record)
		rec.HDevice, rec.Flags = g.device, flags
		do(r)
		return rec.HContext
	}
	g.context, g.home = context(0), context(abi.ContextHwQueueSupported)
	r = request(opOf("D3DKMTCreateHwQueue"))
	abi.View[abi.CreateHwQueue](r.Record).HHwContext = g.home
	do(r)
	g.queue = abi.View[abi.CreateHwQueue](r.Record).HHwQueue
	r = request(opOf("D3DKMTCreateHwQueue"))
	user := abi.View[abi.CreateHwQueue](r.Record)
	user.HHwContext, user.Flags = g.home, abi.HwQueueUserModeSubmission
	do(r)
	g.user = user.HHwQueue
	r = request(opOf("D3DKMTCreatePagingQueue"))
	paging := abi.View[abi.CreatePagingQueue](r.Record)
	paging.HDevice = g.device
	do(r)
	g.paging, g.pagingFence = paging.HPagingQueue, paging.HSyncObject
	r = request(abi.OpCreateSynchronizationObject2)
	fence := abi.View[abi.CreateSynchronizationObject2](r.Record)
	fence.HDevice, fence.Info.Type = g.device, abi.MonitoredFence
	do(r)
	g.fence = fence.HSyncObject
	r = request(abi.OpCreateSynchronizationObject2)
	fence = abi.View[abi.CreateSynchronizationObject2](r.Record)
	fence.HDevice, fence.Info.Type, fence.Info.Flags = g.device, abi.MonitoredFence, ntShared
	do(r)
	g.shared = fence.HSyncObject
	g.allocation, g.code = g.page(do)
	return g
}

// page makes a page that the GPU is to see, and where.
func (g *gpuSet) page(do func(*abi.Request)) (abi.Handle, uint64) {
	r := request(abi.OpCreateAllocation2)
	made := abi.View[abi.CreateAllocation2](r.Record)
	made.HDevice, made.NumAllocations = g.device, 1
	data := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32([]byte("heap"), 1), vidmm.PageSize)
	info := make([]byte, abi.SizeofAllocationInfo2)
	binary.LittleEndian.PutUint32(info[24:], uint32(len(data)))
	r.Arrays[3], r.Arrays[4] = info, data
	do(r)
	h := abi.Handle(binary.LittleEndian.Uint32(r.Arrays[3]))
	r = request(opOf("D3DKMTMapGpuVirtualAddress"))
	m := abi.View[abi.MapGpuVirtualAddress](r.Record)
	m.HPagingQueue, m.HAllocation, m.SizeInPages, m.Protection = g.paging, h, 1, abi.GpuProtectionWrite
	do(r)
	r = request(opOf("D3DKMTMakeResident"))
	resident := abi.View[abi.MakeResident](r.Record)
	resident.HPagingQueue, resident.NumAllocations, r.Arrays[0] = g.paging, 1, handleArray(h)
	do(r)
	return h, m.VirtualAddress
}

// use queues work of every kind and memory operations, and destroys what they use.
func (g *gpuSet) use(bell uint32, do func(*abi.Request)) {
	value := binary.LittleEndian.AppendUint64(nil, 1)
	r := request(opOf("D3DKMTMakeResident"))
	resident := abi.View[abi.MakeResident](r.Record)
	resident.HPagingQueue, resident.NumAllocations, r.Arrays[0] = g.paging, 1, handleArray(g.allocation)
	do(r)
	r = request(opOf("D3DKMTWaitForSynchronizationObjectFromGpu"))
	wait := abi.View[abi.WaitForSynchronizationObjectFromGpu](r.Record)
	wait.HContext, wait.ObjectCount, r.Arrays[0], r.Arrays[1] = g.context, 1, handleArray(g.fence), value
	do(r)
	r = request(opOf("D3DKMTSubmitCommand"))
	submit := abi.View[abi.SubmitCommand](r.Record)
	submit.Commands, submit.CommandLength, submit.BroadcastContextCount = g.code, vidmm.PageSize, 1
	submit.BroadcastContext[0] = g.context
	do(r)
	r = request(opOf("D3DKMTSubmitWaitForSyncObjectsToHwQueue"))
	held := abi.View[abi.SubmitWaitForSyncObjectsToHwQueue](r.Record)
	held.HHwQueue, held.ObjectCount, r.Arrays[0], r.Arrays[1] = g.queue, 1, handleArray(g.fence), value
	do(r)
	r = request(opOf("D3DKMTSubmitCommandToHwQueue"))
	hardware := abi.View[abi.SubmitCommandToHwQueue](r.Record)
	hardware.HHwQueue, hardware.HwQueueProgressFenceId, hardware.CommandBuffer, hardware.CommandLength = g.queue, 1, g.code, 16
	do(r)
	r = request(opOf("D3DKMTSignalSynchronizationObjectFromGpu"))
	signal := abi.View[abi.SignalSynchronizationObjectFromGpu](r.Record)
	signal.HContext, signal.ObjectCount, r.Arrays[0], r.Arrays[1] = g.context, 1, handleArray(g.fence), value
	do(r)
	r = request(opOf("D3DKMTDestroyAllocation2"))
	gone := abi.View[abi.DestroyAllocation2](r.Record)
	gone.HDevice, gone.AllocationCount, r.Arrays[0] = g.device, 1, handleArray(g.allocation)
	do(r)
	r = request(opOf("D3DKMTDestroySynchronizationObject"))
	abi.View[abi.DestroySynchronizationObject](r.Record).HSyncObject = g.fence
	do(r)
	r = request(opOf("D3DKMTFreeGpuVirtualAddress"))
	free := abi.View[abi.FreeGpuVirtualAddress](r.Record)
	free.HAdapter, free.BaseAddress, free.Size = g.adapter, g.code, vidmm.PageSize
	do(r)
	r = request(opOf("D3DKMTDestroyPagingQueue"))
	r.Bell, r.Ticket = bell, bell
	abi.View[abi.DestroyPagingQueue](r.Record).HPagingQueue = g.paging
	do(r)
	r = request(abi.OpDestroyDevice)
	abi.View[abi.DestroyDevice](r.Record).HDevice = g.device
	do(r)
}

func opOf(name string) *abi.Op {
	for i := range abi.Ops {
		if abi.Ops[i].Name == name {
			return &abi.Ops[i]
		}
	}
	panic("server: no operation " + name)
}

// TestGPUSetIsHonest: the seed of the fuzzer and of TestGarbage does something.
func TestGPUSetIsHonest(t *testing.T) {
	st := newStack(t)
	t.Cleanup(st.Close)
	c, err := connect(t, st.Server)
	if err != nil {
		t.Fatal(err)
	}
	_, hello := c.hello(1)
	makeGPUSet(c.openAdapter(), c.mustDo).use(hello.FirstBell, c.mustDo)
}

// mustDo does a request that must succeed, and closes what it brings.
func (c *client) mustDo(r *abi.Request) {
	c.t.Helper()
	if st, err := c.do(r); err != nil || !st.OK() {
		c.t.Fatalf("%s: %v, %v", r.Op.Name, st, err)
	}
	closeFiles(r)
}

func closeFiles(r *abi.Request) {
	for _, f := range r.Out {
		_ = unix.Close(f.FD)
	}
}
