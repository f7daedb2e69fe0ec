package page

import (
	"testing"
	"unsafe"
)

// The C library and other processes have the same numbers.
func TestLayout(t *testing.T) {
	var c Cell
	var l bellLine
	for _, f := range []struct {
		name      string
		got, want uintptr
	}{
		{"sizeof cell", unsafe.Sizeof(c), 64},
		{"value", unsafe.Offsetof(c.value), 0},
		{"want", unsafe.Offsetof(c.want), 8},
		{"mval", unsafe.Offsetof(c.mval), 0x10},
		{"peak", unsafe.Offsetof(c.peak), 0x18},
		{"flags", unsafe.Offsetof(c.flags), 0x20},
		{"slots", unsafe.Offsetof(c.slots), 0x28},
		{"align of cell", unsafe.Alignof(c), 8},
		{"sizeof line", unsafe.Sizeof(l), 64},
		{"bell", unsafe.Offsetof(l.bell), 0},
		{"status", unsafe.Offsetof(l.status), 4},
		{"done", unsafe.Offsetof(l.done), 8},
	} {
		if f.got != f.want {
			t.Errorf("%s: %#x, want %#x", f.name, f.got, f.want)
		}
	}
	v := newHeapPage(0)
	base := uintptr(unsafe.Pointer(v.Cell))
	for i := range PageSlots {
		if off := uintptr(unsafe.Pointer(v.slot(i))) - base; off != uintptr(0x28+4*i) {
			t.Errorf("slot %d at %#x, want %#x", i, off, 0x28+4*i)
		}
	}
}
