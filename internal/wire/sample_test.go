package wire

import (
	"math/rand/v2"

	"github.com/dxgsync/dxgsync/abi"
)

// newRoom is a room on the Go heap, for tests that make many.
func newRoom() []byte { return make([]byte, 2*MaxFrame) }

// sample makes a request of op that keeps every rule: random record and arrays,
// counts that agree. Counts shared by two arrays agree with both. Descriptor fields
// are none or bad, as far as bits choose; sent says which would carry one.
func sample(rnd *rand.Rand, op *abi.Op, fd func() int) *abi.Request {
	r := &abi.Request{Op: op, Record: make([]byte, op.Size), Bell: rnd.Uint32(), Ticket: rnd.Uint32()}
	for i := range r.Record {
		r.Record[i] = byte(rnd.Uint32())
	}
	for i := range op.Arrays {
		a := &op.Arrays[i]
		count := a.Fixed
		if count == 0 {
			count = rnd.Uint32N(min(a.Max, 20) + 1)
			for j := range op.Arrays[:i] {
				if b := &op.Arrays[j]; b.Fixed == 0 && b.Count == a.Count {
					count = le.Uint32(r.Record[a.Count:])
				}
			}
			le.PutUint32(r.Record[a.Count:], count)
		}
		var data []byte
		if rnd.IntN(4) != 0 {
			data = make([]byte, count*a.Elem)
			for k := range data {
				data[k] = byte(rnd.Uint32())
			}
		}
		r.Arrays = append(r.Arrays, data)
	}
	for i := range op.Files {
		if op.Files[i].Dir == abi.Out {
			continue
		}
		r.Files = append(r.Files, []int{abi.FileNone, abi.FileBad, fd()}[rnd.IntN(3)])
	}
	return r
}

// numbers returns descriptors that are none: far from what a process has.
func numbers() func() int {
	n := 1 << 20
	return func() int { n++; return n }
}
