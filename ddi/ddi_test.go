package ddi

import (
	"math/bits"
	"strings"
	"testing"
)

func TestCapabilityTable(t *testing.T) {
	var all Caps
	for _, k := range capabilities {
		if bits.OnesCount32(uint32(k.cap)) != 1 || all.Has(k.cap) || k.name == "" || k.sentence == "" {
			t.Errorf("%+v: no bit of its own, no name or no sentence", k)
		}
		all |= k.cap
	}
	if all != DirectSignal<<1-1 {
		t.Errorf("the table has %v", all)
	}
	if got := all.String(); got != "SignalCpuEvent|PeriodicFrameNotification|PerEngineReset|HwScheduling|ReportsRead|NativeGpuFence|OptimizedNativeFenceSignaledInterrupt|UserModeSubmission|DirectSignal" {
		t.Errorf("String: %s", got)
	}
	if got := Caps(0).String(); got != "" || len(Caps(0).Sentences()) != 0 {
		t.Errorf("of nothing: %q, %v", got, Caps(0).Sentences())
	}
	if got := PeriodicFrameNotification.Sentences(); len(got) != 1 || !strings.Contains(got[0], "vertical sync") {
		t.Errorf("Sentences: %v", got)
	}
	if all.Has(1<<31) || !all.Has(0) || SignalCpuEvent.Has(all) {
		t.Error("Has is wrong")
	}
}

// The numbers are those of DXGK_INTERRUPT_TYPE (gpu.md §6).
func TestInterrupts(t *testing.T) {
	for _, c := range []struct {
		i    Interrupt
		typ  InterruptType
		text string
	}{
		{DmaCompleted{Engine{1, 2}, 3}, 1, "DMA_COMPLETED 1.2 fence=3"},
		{DmaPreempted{Engine{1, 0}, 9, 8}, 2, "DMA_PREEMPTED 1.0 preemption=9 completed=8"},
		{DmaFaulted{Engine{}, 4}, 4, "DMA_FAULTED 0.0 fence=4"},
		{DmaPageFaulted{Engine{}, 4, Fault{0x1000, FaultWrite}, 2}, 9, "DMA_PAGE_FAULTED 0.0 fence=4 address=0x1000"},
		{MonitoredFenceSignaled{Engine{2, 0}}, 11, "MONITORED_FENCE_SIGNALED 2.0"},
		{HwQueuePageFaulted{HwQueue: 5, FaultedFenceID: 6, Fault: Fault{Address: 0x10}}, 12, "HWQUEUE_PAGE_FAULTED 0.0 queue=5 fence=6 address=0x10"},
		{PeriodicMonitoredFenceSignaled{2, 7, 1}, 14, "PERIODIC_MONITORED_FENCE_SIGNALED target=2 notification=7 count=1"},
		{GpuEngineTimeout{Engine{1, 0}}, 16, "GPU_ENGINE_TIMEOUT 1.0"},
		{SuspendContextCompleted{3, 4}, 17, "SUSPEND_CONTEXT_COMPLETED context=3 fence=4"},
		{DmaRead{Engine{1, 0}, 7}, 0x8000_0001, "DMA_READ 1.0 fence=7"},
	} {
		if c.i.Type() != c.typ || c.i.String() != c.text {
			t.Errorf("%T: type %d, %q", c.i, c.i.Type(), c.i)
		}
	}
	if got := InterruptType(99).String(); got != "DXGK_INTERRUPT_TYPE 99" {
		t.Errorf("a type without a name: %q", got)
	}
}
