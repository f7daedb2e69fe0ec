package page

import (
	"sync/atomic"
	"unsafe"
)

// slot returns slot i, which must be in [0, v.Slots). In a page of its own the
// slots go on behind the cell.
func (v View) slot(i int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Add(unsafe.Pointer(&v.Cell.slots), 4*i))
}
