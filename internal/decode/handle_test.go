package decode

import (
	"strings"
	"testing"
)

// sharing.md §1.
func TestHandles(t *testing.T) {
	for _, c := range []struct {
		text       string
		form       Form
		index      uint32
		instance   uint8
		uniqueness uint8
		says       string
	}{
		{"0", NoHandle, 0, 0, 0, "no handle"},
		{"0x40000440", LocalHandle, 17, 0, 1, "one process"},
		{"0xFFFFFFC0", LocalHandle, 0xFFFFFF, 0, 3, "one process"},
		{"-2147483648", LocalHandle, 0, 0, 2, "one process"},
		{"0x80000042", GlobalHandle, 1, 2, 2, "cannot be destroyed"},
		{"0x40000441", BadHandle, 17, 1, 1, "low six bits are 0x1"},
		{"0x40000444", BadHandle, 17, 4, 1, "low six bits are 0x4"},
		{"0x1A4", NTHandle, 6, 0x24, 0, "CloseHandle"},
		{"0x440", NTHandle, 17, 0, 0, "CloseHandle"},
		{"7", BadHandle, 0, 7, 0, "may be a descriptor"},
		{"-1", BadHandle, 0xFFFFFF, 0x3F, 3, "INVALID_HANDLE_VALUE"},
		{"0x7ffe`40000440", BadHandle, 17, 0, 1, "more than 32 bits"},
	} {
		h, err := ParseHandle(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if h.Form != c.form || h.Index != c.index || h.Instance != c.instance || h.Uniqueness != c.uniqueness || !strings.Contains(h.Meaning, c.says) {
			t.Errorf("%s: %+v", c.text, h)
		}
	}
	if _, err := ParseHandle("h"); err == nil {
		t.Error("h is a handle")
	}
}
