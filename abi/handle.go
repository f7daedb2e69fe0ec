package abi

import "fmt"

// A Handle is a D3DKMT handle: local to a process, or global. Local ones have bits
// 6–29 as index, bits 30–31 never both 0 and the low six bits 0; global ones have
// 2 in the low six bits. 0 is no handle. Source: sharing.md §1.
type Handle uint32

// String returns the handle as debuggers show it, "0x40000440".
func (h Handle) String() string { return fmt.Sprintf("%#x", uint32(h)) }

// Local reports whether h has the form of a local handle.
func (h Handle) Local() bool { return h>>30 != 0 && h&0x3F == 0 }

// Global reports whether h has the form of a global handle.
func (h Handle) Global() bool { return h>>30 != 0 && h&0x3F == 2 }

// A LUID names an adapter for as long as the system runs.
type LUID struct {
	LowPart  uint32
	HighPart int32
}

// String returns "high:low" in hexadecimal.
func (l LUID) String() string { return fmt.Sprintf("%08x:%08x", uint32(l.HighPart), l.LowPart) }

// WDDM is a version of the driver model as DRIVERVERSION answers it: 2000 is WDDM
// 2.0, 3200 is 3.2, 1105 is 1.1.
type WDDM uint16

// String returns "3.2".
func (w WDDM) String() string {
	if w == 1105 || w == 1102 {
		return "1.1"
	}
	return fmt.Sprintf("%d.%d", w/1000, w%1000/100)
}
