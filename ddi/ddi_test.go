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
	if all != SignalCpuEvent|PeriodicFrameNotification {
		t.Errorf("the table has %v", all)
	}
	if got := all.String(); got != "SignalCpuEvent|PeriodicFrameNotification" {
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
		{PeriodicMonitoredFenceSignaled{2, 7, 1}, 14, "PERIODIC_MONITORED_FENCE_SIGNALED target=2 notification=7 count=1"},
	} {
		if c.i.Type() != c.typ || c.i.String() != c.text {
			t.Errorf("%T: type %d, %q", c.i, c.i.Type(), c.i)
		}
	}
	if got := InterruptType(1).String(); got != "DXGK_INTERRUPT_TYPE 1" {
		t.Errorf("a type without a name: %q", got)
	}
}
