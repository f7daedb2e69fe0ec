package client

import (
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// BenchmarkRequest is one signal by request, through a daemon in another process.
// To compare with a bare ping-pong, pin both to one core: taskset -c 0 go test -bench.
func BenchmarkRequest(b *testing.B) {
	address := filepath.Join(b.TempDir(), "socket")
	start(b, "daemon", nil, address)
	c := dial(b, address)
	device := must(newDevice(c))(b)
	request := func() *abi.Request {
		f := must(newFence(c, device, 0, 0))(b)
		op := abi.OpSignalSynchronizationObjectFromCpu
		r := &abi.Request{Op: op, Record: make([]byte, op.Size), Arrays: [][]byte{f.handles(), make([]byte, 8)}}
		*abi.View[abi.SignalSynchronizationObjectFromCpu](r.Record) = abi.SignalSynchronizationObjectFromCpu{HDevice: device, ObjectCount: 1}
		return r
	}
	b.Run("one", func(b *testing.B) {
		r := request()
		b.ReportAllocs()
		for v := uint64(1); b.Loop(); v++ {
			binary.LittleEndian.PutUint64(r.Arrays[1], v)
			if st := c.Do(r); !st.OK() {
				b.Fatal(st)
			}
		}
	})
	b.Run("callers", func(b *testing.B) {
		b.SetParallelism(4)
		b.RunParallel(func(pb *testing.PB) {
			r := request()
			for v := uint64(1); pb.Next(); v++ {
				binary.LittleEndian.PutUint64(r.Arrays[1], v)
				if st := c.Do(r); !st.OK() {
					b.Error(st)
				}
			}
		})
	})
}
