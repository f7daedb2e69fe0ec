package driver

import (
	"fmt"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// A world stands for the kernel: a clock, and ears.
type world struct {
	ddi.Callbacks // nil: the rest is not called
	now           int64
	tell          func(ddi.Interrupt)
}

func (w *world) Now() int64                             { return w.now }
func (w *world) Rearm()                                 {}
func (w *world) NotifyInterrupt(i ddi.Interrupt)        { w.tell(i) }
func (w *world) SignalEvent(ddi.DxgCpuEvent) abi.Status { return abi.StatusInvalidParameter }

// A page is memory from address 0 on. Nobody loads or stores words in this example.
type page struct {
	ddi.AddressSpace
	b [64]byte
}

func (p *page) Write(_ uint32, va uint64, b []byte) *ddi.Fault {
	if va+uint64(len(b)) > uint64(len(p.b)) {
		return &ddi.Fault{Address: uint64(len(p.b)), Flags: ddi.FaultWrite}
	}
	copy(p.b[va:], b)
	return nil
}

func Example() {
	w := &world{}
	w.tell = func(i ddi.Interrupt) { fmt.Printf("%d ns: %v\n", w.now, i) }
	var gpu ddi.Driver = &Filler{}
	gpu.StartDevice(w)
	memory := &page{}
	device, _ := gpu.CreateDevice(ddi.CreateDeviceArgs{Memory: memory})
	context, _ := gpu.CreateContext(ddi.CreateContextArgs{Device: device})
	submit := func(va uint64, size, fence uint32) {
		gpu.SubmitCommandVirtual(ddi.SubmitCommandArgs{Context: context, DmaBufferVirtualAddress: va, DmaBufferSize: size, SubmissionFenceID: fence})
	}
	run := func() {
		for at, ok := gpu.Next(); ok; at, ok = gpu.Next() {
			w.now = max(w.now, at)
			gpu.Advance(w.now)
		}
	}
	submit(2, 4, 1)
	submit(8, 2, 2)
	run()
	fmt.Println(memory.b[:12])
	submit(0, 64, 3)
	gpu.PreemptCommand(ddi.Engine{}, 1)
	submit(60, 8, 4)
	run()
	fmt.Println(gpu.DestroyContext(context).Name(), gpu.DestroyDevice(device).Name())
	gpu.StopDevice()
	// Output:
	// 4 ns: DMA_COMPLETED 0.0 fence=1
	// 6 ns: DMA_COMPLETED 0.0 fence=2
	// [0 0 1 1 1 1 0 0 1 1 0 0]
	// 6 ns: DMA_PREEMPTED 0.0 preemption=1 completed=2
	// 14 ns: DMA_PAGE_FAULTED 0.0 fence=4 address=0x40
	// STATUS_SUCCESS STATUS_SUCCESS
}

func TestRefusals(t *testing.T) {
	f := &Filler{}
	f.StartDevice(&world{})
	if s := f.SubmitCommandVirtual(ddi.SubmitCommandArgs{DmaBufferSize: maxSize + 1}); s != abi.StatusInvalidParameter {
		t.Errorf("a long buffer: %v", s)
	}
	if _, s := f.CreateContext(ddi.CreateContextArgs{Engine: ddi.Engine{NodeOrdinal: 1}}); s != abi.StatusInvalidParameter {
		t.Errorf("another engine: %v", s)
	}
	f.PreemptCommand(ddi.Engine{}, 1)
	if s := f.ResetFromTimeout(); s != abi.StatusSuccess {
		t.Error(s)
	}
	if at, ok := f.Next(); ok {
		t.Errorf("after a reset something is due at %d", at)
	}
}
