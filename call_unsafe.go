package dxgsync

import (
	"unsafe"

	"github.com/dxgsync/dxgsync/abi"
)

// request makes the request for a record and its arrays, in the order of the
// operation table. The record and the arrays are answered in place.
func request[T any](op *abi.Op, rec *T, arrays ...[]byte) *abi.Request {
	r := &abi.Request{
		Op:     op,
		Record: unsafe.Slice((*byte)(unsafe.Pointer(rec)), unsafe.Sizeof(*rec)),
		Arrays: arrays,
	}
	for _, f := range op.Files {
		if f.Dir&abi.In != 0 {
			r.Files = append(r.Files, abi.FileNone)
		}
	}
	return r
}

// bytesOf returns the memory of a slice; nil for nil.
func bytesOf[T any](s []T) []byte {
	if s == nil {
		return nil
	}
	var t T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(t)))
}
