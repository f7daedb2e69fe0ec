package abi

import "testing"

// sharing.md §1: what the bits say.
func TestFormsOfHandles(t *testing.T) {
	for _, c := range []struct {
		h             Handle
		local, global bool
	}{
		{0, false, false},
		{0x40000040, true, false},
		{0xFFFFFFC0, true, false},
		{0x80000002, false, true},
		{0x40000042, false, true},
		{0x40000001, false, false},
		{0x3FFFFFC0, false, false}, // an NT handle has no bits there
		{4, false, false},
	} {
		if c.h.Local() != c.local || c.h.Global() != c.global {
			t.Errorf("%v: local %v, global %v", c.h, c.h.Local(), c.h.Global())
		}
	}
}

func TestVersionsAndLUIDsInWords(t *testing.T) {
	for w, want := range map[WDDM]string{1000: "1.0", 1105: "1.1", 1300: "1.3", 2000: "2.0", 2900: "2.9", 3200: "3.2"} {
		if w.String() != want {
			t.Errorf("%d is %q, want %q", uint16(w), w.String(), want)
		}
	}
	if got := (LUID{LowPart: 0x1234, HighPart: -1}).String(); got != "ffffffff:00001234" {
		t.Errorf("the LUID is %q", got)
	}
}
