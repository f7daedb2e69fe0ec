package dxgsync

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
)

// A gpuRig is a device with a context and a page of memory that CPU and GPU see.
type gpuRig struct {
	t      *testing.T
	s      *Session
	dev    *Device
	ctx    *Context
	cpu    []byte
	gpu    uint64
	alloc  abi.Handle
	paging abi.CreatePagingQueue
}

func (r *gpuRig) ok(what string, st abi.Status) {
	r.t.Helper()
	if !st.OK() {
		r.t.Fatalf("%s: %v", what, st)
	}
}

func newGpuRig(t *testing.T, d *Device) *gpuRig {
	t.Helper()
	s := d.s
	r := &gpuRig{t: t, s: s, dev: d}
	var err error
	if r.ctx, err = r.dev.NewContext(ContextOptions{}); err != nil {
		t.Fatal(err)
	}
	r.paging = abi.CreatePagingQueue{HDevice: r.dev.Handle()}
	r.ok("paging queue", s.CreatePagingQueue(&r.paging))
	heap := append([]byte("heap"), 1, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0)
	infos := []abi.AllocationInfo2{{}}
	rec := abi.CreateAllocation2{HDevice: r.dev.Handle()}
	r.ok("allocation", s.CreateAllocation2(&rec, infos, AllocationData{Each: [][]byte{heap}}))
	r.alloc = infos[0].HAllocation
	m := abi.MapGpuVirtualAddress{HPagingQueue: r.paging.HPagingQueue, HAllocation: r.alloc, SizeInPages: 1}
	m.Protection = abi.GpuProtectionWrite
	r.ok("map", s.MapGpuVirtualAddress(&m))
	r.gpu = m.VirtualAddress
	if m.PagingFenceValue != 0 {
		r.ok("wait for the mapping", s.WaitForSynchronizationObjectFromCpu(
			&abi.WaitForSynchronizationObjectFromCpu{HDevice: r.dev.Handle()}, []abi.Handle{r.paging.HSyncObject}, []uint64{m.PagingFenceValue}))
	}
	l := abi.Lock2{HDevice: r.dev.Handle(), HAllocation: r.alloc}
	var st abi.Status
	r.cpu, st = s.Lock2(&l)
	r.ok("lock", st)
	return r
}

func (r *gpuRig) submit(b *cmdbuf.Buffer) abi.Status {
	n := copy(r.cpu, b.Bytes())
	rec := abi.SubmitCommand{Commands: r.gpu, CommandLength: uint32(n), BroadcastContextCount: 1}
	rec.BroadcastContext[0] = r.ctx.Handle()
	return r.s.SubmitCommand(&rec, nil, nil)
}

// A command buffer in memory that the program wrote signals a fence that it waits for.
func TestGpuSignalsAFence(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		r := newGpuRig(t, d)
		s := r.s
		f := abi.CreateSynchronizationObject2{HDevice: r.dev.Handle()}
		f.Info.Type = abi.MonitoredFence
		r.ok("fence", s.CreateSynchronizationObject2(&f))
		va := f.Info.MonitoredFence().FenceValueGPUVirtualAddress
		for v := uint64(1); v < 100; v++ {
			r.ok("submit", r.submit(cmdbuf.New().Write64(r.gpu+2048, v).Signal(va, v)))
			r.ok("wait", s.WaitForSynchronizationObjectFromCpu(
				&abi.WaitForSynchronizationObjectFromCpu{HDevice: r.dev.Handle()}, []abi.Handle{f.HSyncObject}, []uint64{v}))
			if r.cpu[2048] != byte(v) {
				t.Fatalf("memory shows %d, want %d", r.cpu[2048], v)
			}
		}
		r.ok("idle", s.WaitForIdle(&abi.WaitForIdle{HDevice: r.dev.Handle()}))
	})
}
