package softgpu

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
)

// A ringMemory is a ring buffer of the tests.
type ringMemory struct {
	mu sync.Mutex
	b  []byte
}

func (m *ringMemory) Size() uint64 { return uint64(len(m.b)) }

func (m *ringMemory) Read(offset uint64, b []byte) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return copy(b, m.b[min(offset, uint64(len(m.b))):])
}

func (m *ringMemory) Load(offset uint64, _ int) (uint64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return binary.LittleEndian.Uint64(m.b[offset:]), true
}

func (m *ringMemory) Store(offset uint64, _ int, v uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	binary.LittleEndian.PutUint64(m.b[offset:], v)
	return true
}

// A benchBell is a doorbell of a bench, with its queue.
type benchBell struct {
	b      *bench
	queue  ddi.KmdHwQueue
	bell   ddi.KmdDoorbell
	memory *ringMemory
	ring   *cmdbuf.Ring
	word   atomic.Uint64
}

// DisconnectDoorbell notes which queue's was taken.
func (k *fakeKernel) DisconnectDoorbell(q ddi.KmdHwQueue, reason ddi.DisconnectReason) abi.Status {
	k.taken = append(k.taken, q)
	if reason != abi.DoorbellDisconnectedRetry {
		panic(reason)
	}
	return abi.StatusSuccess
}

func (b *bench) bell(c ddi.KmdContext, entries int) *benchBell {
	b.t.Helper()
	q, st := b.g.CreateHwQueue(ddi.CreateHwQueueArgs{Context: c, Flags: abi.HwQueueUserModeSubmission})
	must(b.t, st)
	x := &benchBell{b: b, queue: q}
	x.make(entries)
	return x
}

// connected makes one that is connected.
func (b *bench) connected(c ddi.KmdContext, entries int) *benchBell {
	b.t.Helper()
	x := b.bell(c, entries)
	x.connect()
	return x
}

func (x *benchBell) make(entries int) {
	x.memory = &ringMemory{b: make([]byte, entries*cmdbuf.RingEntrySize)}
	x.ring = cmdbuf.NewRing(x.memory.b)
	x.word.Store(0)
	var st abi.Status
	x.bell, st = x.b.g.CreateDoorbell(ddi.CreateDoorbellArgs{HwQueue: x.queue, RingBuffer: x.memory})
	must(x.b.t, st)
}

func (x *benchBell) connect() abi.DoorbellStatus {
	x.b.t.Helper()
	status, st := x.b.g.ConnectDoorbell(ddi.ConnectDoorbellArgs{Doorbell: x.bell, Primary: &x.word})
	must(x.b.t, st)
	return status
}

// put rings for a buffer that stores a number.
func (x *benchBell) put(v uint32, more ...cmdbuf.Command) {
	buf := cmdbuf.New().Add(more...).Write32(base, v)
	at := x.b.place(buf.Bytes())
	x.memory.mu.Lock()
	n := x.ring.Put(cmdbuf.RingEntry{VA: at, Length: uint64(buf.Len())})
	x.memory.mu.Unlock()
	x.word.Store(n)
}

func stored(v uint32) string { return fmt.Sprintf("store32 0x100000=%d", v) }
