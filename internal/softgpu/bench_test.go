package softgpu

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// The memory of these tests: so many bytes from base on.
const (
	base = 0x100000
	room = 0x100000
)

// A memory is an address space of a few pages, the same for each engine but for the
// words of links.
type memory struct {
	mu    sync.Mutex
	b     []byte
	links map[uint32][]byte   // what another engine ordinal sees
	log   func(string)        // each store; nil: nobody asks
	block func(engine uint32) // at each access
}

func newMemory() *memory { return &memory{b: make([]byte, room)} }

func (m *memory) at(engine uint32, va uint64, n int, flags ddi.FaultFlags) ([]byte, *ddi.Fault) {
	if m.block != nil {
		m.block(engine)
	}
	b := m.b
	if l, ok := m.links[engine]; ok {
		b = l
	}
	off := va - base
	if va < base || off > uint64(len(b)) {
		return nil, &ddi.Fault{Address: va, Flags: flags}
	}
	if uint64(n) > uint64(len(b))-off {
		return nil, &ddi.Fault{Address: base + uint64(len(b)), Flags: flags}
	}
	return b[off : off+uint64(n)], nil
}

func (m *memory) Read(engine uint32, va uint64, b []byte) *ddi.Fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	from, f := m.at(engine, va, len(b), 0)
	copy(b, from)
	return f
}

func (m *memory) Write(engine uint32, va uint64, b []byte) *ddi.Fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	to, f := m.at(engine, va, len(b), ddi.FaultWrite)
	copy(to, b)
	return f
}

func (m *memory) Load64(engine uint32, va uint64) (uint64, *ddi.Fault) {
	if va%8 != 0 {
		return 0, &ddi.Fault{Address: va, Flags: ddi.FaultUnaligned}
	}
	var b [8]byte
	f := m.Read(engine, va, b[:])
	return binary.LittleEndian.Uint64(b[:]), f
}

func (m *memory) Load32(engine uint32, va uint64) (uint32, *ddi.Fault) {
	var b [4]byte
	f := m.Read(engine, va, b[:])
	return binary.LittleEndian.Uint32(b[:]), f
}

func (m *memory) Store64(engine uint32, va, value uint64) *ddi.Fault {
	f := m.Write(engine, va, binary.LittleEndian.AppendUint64(nil, value))
	if m.log != nil && f == nil {
		m.log(fmt.Sprintf("store %#x=%d", va, value))
	}
	return f
}

func (m *memory) Store32(engine uint32, va uint64, value uint32) *ddi.Fault {
	f := m.Write(engine, va, binary.LittleEndian.AppendUint32(nil, value))
	if m.log != nil && f == nil {
		m.log(fmt.Sprintf("store32 %#x=%d", va, value))
	}
	return f
}

// A bench is a GPU with a device, and the kernel around it.
type bench struct {
	t      *testing.T
	g      *GPU
	k      *fakeKernel
	m      *memory
	device ddi.KmdDevice
	where  uint64 // the next command buffer goes there
	placed map[*cmdbuf.Buffer]uint64
	fence  uint32 // the latest SubmissionFenceID
	trace  []string
}

var node0 = ddi.Engine{}

func newBench(t *testing.T, change func(p *adapter.Profile)) *bench {
	t.Helper()
	b := &bench{t: t, k: &fakeKernel{now: 1000}, m: newMemory(), where: base + room/2, placed: map[*cmdbuf.Buffer]uint64{}}
	b.g = New(profile(t, change))
	must(t, b.g.StartDevice(b.k))
	t.Cleanup(b.g.StopDevice)
	var s abi.Status
	b.device, s = b.g.CreateDevice(ddi.CreateDeviceArgs{Memory: b.m})
	must(t, s)
	b.m.log = func(s string) { b.trace = append(b.trace, s) }
	b.k.during = func() { b.trace = append(b.trace, b.k.interrupts[len(b.k.interrupts)-1].String()) }
	return b
}

func (b *bench) context(e ddi.Engine) ddi.KmdContext {
	b.t.Helper()
	c, s := b.g.CreateContext(ddi.CreateContextArgs{Device: b.device, Engine: e, PrivateDriverData: []byte("another GPU's")})
	must(b.t, s)
	return c
}

func (b *bench) queue(c ddi.KmdContext, progress uint64) ddi.KmdHwQueue {
	b.t.Helper()
	q, s := b.g.CreateHwQueue(ddi.CreateHwQueueArgs{Context: c, ProgressFenceGpuVirtualAddress: progress})
	must(b.t, s)
	return q
}

// place puts a command buffer into memory.
func (b *bench) place(buf []byte) (va uint64) {
	va = b.where
	copy(b.m.b[va-base:], buf)
	b.where += uint64(len(buf)+63) &^ 63
	return va
}

// submit submits a buffer to a context, of node 0 unless another engine is given.
func (b *bench) submit(c ddi.KmdContext, buf *cmdbuf.Buffer, flags ddi.SubmitCommandFlags, engine ...ddi.Engine) uint32 {
	b.t.Helper()
	b.fence++
	at, again := b.placed[buf]
	if !again || flags&ddi.SubmitResubmission == 0 {
		at = b.place(buf.Bytes())
		b.placed[buf] = at
	}
	args := ddi.SubmitCommandArgs{Context: c, SubmissionFenceID: b.fence, Flags: flags, DmaBufferVirtualAddress: at, DmaBufferSize: uint32(buf.Len())}
	if len(engine) > 0 {
		args.Engine = engine[0]
	}
	must(b.t, b.g.SubmitCommandVirtual(args))
	return b.fence
}

func (b *bench) submitHw(q ddi.KmdHwQueue, id uint64, buf *cmdbuf.Buffer, flags ddi.SubmitCommandFlags) {
	b.t.Helper()
	must(b.t, b.g.SubmitCommandToHwQueue(ddi.SubmitCommandToHwQueueArgs{HwQueue: q, HwQueueProgressFenceID: id, Flags: flags, DmaBufferVirtualAddress: b.place(buf.Bytes()), DmaBufferSize: uint32(buf.Len())}))
}

// advance does what is due until a moment, each thing when it is due.
func (b *bench) advance(until int64) {
	b.t.Helper()
	for range 1_000_000 {
		at, ok := b.g.Next()
		if !ok || at > until {
			b.k.now = max(b.k.now, until)
			return
		}
		b.k.now = max(b.k.now, at)
		b.g.Advance(b.k.now)
	}
	b.t.Fatal("it never ends")
}

// saw compares what happened since it was asked last.
func (b *bench) saw(want ...string) {
	b.t.Helper()
	if !slices.Equal(b.trace, want) {
		b.t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(b.trace, "\n\t"), strings.Join(want, "\n\t"))
	}
	b.trace = nil
}
