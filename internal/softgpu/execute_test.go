package softgpu

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// What each command does, by interrupts and stores of a packet of a context and of a
// hardware queue whose progress fence is at base.
func TestCommands(t *testing.T) {
	const end = base + room
	long := cmdbuf.New()
	for range cmdbuf.MaxSize/8 - 1 {
		long.Nop()
	}
	for _, c := range []struct {
		name  string
		buf   *cmdbuf.Buffer
		flags ddi.SubmitCommandFlags
		want  []string // what a packet does between DMA_READ and its end
		fault string   // instead of its completion
	}{
		{name: "header only", buf: cmdbuf.New()},
		{name: "nop", buf: cmdbuf.New().Nop()},
		{name: "write64", buf: cmdbuf.New().Write64(base+8, 7), want: []string{"store 0x100008=7"}},
		{name: "write32", buf: cmdbuf.New().Write32(base+4, 7), want: []string{"store32 0x100004=7"}},
		{name: "signal", buf: cmdbuf.New().Signal(base+8, 7), want: []string{"store 0x100008=7", "MONITORED_FENCE_SIGNALED 0.0"}},
		{name: "signal32", buf: cmdbuf.New().Signal32(base+4, 7), want: []string{"store32 0x100004=7", "MONITORED_FENCE_SIGNALED 0.0"}},
		{name: "merged", buf: cmdbuf.New().Signal(base+8, 1).Signal(base+8, 2), want: []string{"store 0x100008=1", "store 0x100008=2", "MONITORED_FENCE_SIGNALED 0.0"}},
		{
			name: "signal before a delay", buf: cmdbuf.New().Signal(base+8, 1).Delay(5, 0).Signal(base+8, 2),
			want: []string{"store 0x100008=1", "MONITORED_FENCE_SIGNALED 0.0", "store 0x100008=2", "MONITORED_FENCE_SIGNALED 0.0"},
		},
		{name: "copy and fill of nothing", buf: cmdbuf.New().Copy(1, 2, 0).Fill(3, 4, 0)},
		{name: "write64 unaligned", buf: cmdbuf.New().Nop().Write64(base+4, 7), fault: "page address=0x100004 flags=0x10001 ran=1"},
		{name: "write32 unaligned", buf: cmdbuf.New().Write32(base+2, 7), fault: "page address=0x100002 flags=0x10001 ran=0"},
		{name: "signal unmapped", buf: cmdbuf.New().Signal(0, 7), fault: "page address=0x0 flags=0x1 ran=0"},
		{name: "signal, then fault", buf: cmdbuf.New().Signal(base+8, 7).Write64(8, 1), want: []string{"store 0x100008=7", "MONITORED_FENCE_SIGNALED 0.0"}, fault: "page address=0x8 flags=0x1 ran=1"},
		{name: "copy from nowhere", buf: cmdbuf.New().Copy(base, 0x10, 1), fault: "page address=0x10 flags=0x0 ran=0"},
		{name: "copy to nowhere", buf: cmdbuf.New().Copy(0x10, base, 1), fault: "page address=0x10 flags=0x1 ran=0"},
		{name: "fill beyond", buf: cmdbuf.New().Fill(end-1, 0, 2), fault: "page address=0x200000 flags=0x1 ran=0"},
		{name: "wait", buf: cmdbuf.New().Wait(base, 0, 0), fault: "dma"},
		{name: "dma fault", buf: cmdbuf.New().Fault(cmdbuf.FaultDMA, 0), fault: "dma"},
		{name: "read fault", buf: cmdbuf.New().Nop().Nop().Fault(cmdbuf.FaultRead, base), fault: "page address=0x100000 flags=0x0 ran=2"},
		{name: "write fault", buf: cmdbuf.New().Fault(cmdbuf.FaultWrite, base), fault: "page address=0x100000 flags=0x1 ran=0"},
		{name: "bad command", buf: cmdbuf.New().Write64(base+8, 1).Delay(1, 4), want: []string{"store 0x100008=1"}, fault: "dma ran=1"},
		{name: "long", buf: long},
		{
			name: "null rendering", flags: ddi.SubmitNullRendering,
			buf:  cmdbuf.New().Nop().Copy(0, 0, 1).Fill(0, 0, 1).Delay(1e18, 1).Hang().Fault(0, 0).Write64(base+8, 1).Write32(base+8, 2).Signal(base+8, 3).Signal32(base+8, 4),
			want: []string{"store 0x100008=1", "store32 0x100008=2", "store 0x100008=3", "store32 0x100008=4"},
		},
		{name: "null rendering of what is bad", flags: ddi.SubmitNullRendering, buf: cmdbuf.New().Wait(0, 0, 0), fault: "dma"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			ctx := b.context(node0)
			b.where = base + 0x1000
			if c.buf.Len() > room/2 {
				b.m.b = make([]byte, 4*room)
			}
			b.submit(ctx, c.buf, c.flags)
			b.advance(1e6)
			want := append([]string{"DMA_READ 0.0 fence=1"}, c.want...)
			switch {
			case c.fault == "" && c.flags != 0:
				want = append(want, "MONITORED_FENCE_SIGNALED 0.0", "DMA_COMPLETED 0.0 fence=1")
			case c.fault == "":
				want = append(want, "DMA_COMPLETED 0.0 fence=1")
			case c.fault[0] == 'd':
				want = append(want, "DMA_FAULTED 0.0 fence=1")
			default:
				i := b.k.interrupts[len(b.k.interrupts)-1].(ddi.DmaPageFaulted)
				if got := fmt.Sprintf("page address=%#x flags=%#x ran=%d", i.Fault.Address, i.Fault.Flags, i.PrimitiveAPISequenceNumber); got != c.fault {
					t.Errorf("%s, want %s", got, c.fault)
				}
				want = append(want, i.String())
			}
			b.saw(want...)

			q := b.queue(b.context(node0), base)
			b.submitHw(q, 9, c.buf, c.flags)
			b.advance(2e6)
			switch want = append([]string{}, c.want...); {
			case c.fault == "" && c.flags != 0:
				want = append(want, "store 0x100000=9", "MONITORED_FENCE_SIGNALED 0.0")
			case c.fault == "":
				if n := len(want); n == 0 || want[n-1] != "MONITORED_FENCE_SIGNALED 0.0" {
					want = append(want, "MONITORED_FENCE_SIGNALED 0.0")
				}
			default:
				i := b.k.interrupts[len(b.k.interrupts)-1].(ddi.HwQueuePageFaulted)
				if i.HwQueue != q || i.FaultedFenceID != 9 || i.Faulted != (c.fault[0] == 'd') || i.Faulted && i.Fault != (ddi.Fault{}) {
					t.Errorf("%+v", i)
				}
				want = append(want, i.String())
			}
			b.saw(want...)
		})
	}
}

// COPY as memmove, in every direction, longer than a part and not of whole ones.
func TestCopyAndFill(t *testing.T) {
	const n = 3*chunk + 5
	for _, c := range []struct{ dst, src uint64 }{{0, 4 * chunk}, {4 * chunk, 0}, {0, 1}, {1, 0}, {0, chunk}, {chunk, 0}, {7, 7}, {0, n - 1}, {n - 1, 0}, {n, 0}} {
		b := newBench(t, nil)
		for i := range b.m.b {
			b.m.b[i] = byte(i * 7 >> 3)
		}
		ctx := b.context(node0)
		b.where = base + 8*chunk
		b.submit(ctx, cmdbuf.New().Copy(base+c.dst, base+c.src, n), 0)
		want := bytes.Clone(b.m.b)
		copy(want[c.dst:c.dst+n], want[c.src:c.src+n])
		b.advance(2000)
		if !bytes.Equal(b.m.b, want) {
			t.Errorf("copy from %d to %d differs", c.src, c.dst)
		}
	}
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, chunk - 1, chunk, chunk + 3} {
		b := newBench(t, nil)
		b.submit(b.context(node0), cmdbuf.New().Fill(base+1, 0x04030201, uint64(n)), 0)
		b.advance(2000)
		for i := range n {
			if b.m.b[1+i] != byte(i%4+1) {
				t.Fatalf("fill of %d: byte %d is %d", n, i, b.m.b[1+i])
			}
		}
		if b.m.b[0] != 0 || b.m.b[n+1] != 0 {
			t.Errorf("fill of %d wrote around it", n)
		}
	}
}

func TestBuffersOfOthers(t *testing.T) {
	raw := func(b *bench, c ddi.KmdContext, q ddi.KmdHwQueue, va uint64, size uint32) {
		b.fence++
		must(t, b.g.SubmitCommandVirtual(ddi.SubmitCommandArgs{Context: c, SubmissionFenceID: b.fence, DmaBufferVirtualAddress: va, DmaBufferSize: size, DmaBufferPrivateData: []byte{1}}))
		must(t, b.g.SubmitCommandToHwQueue(ddi.SubmitCommandToHwQueueArgs{HwQueue: q, HwQueueProgressFenceID: 5, DmaBufferVirtualAddress: va, DmaBufferSize: size}))
	}
	done := []string{"DMA_READ 0.0 fence=1", "DMA_COMPLETED 0.0 fence=1", "store 0x100040=5", "MONITORED_FENCE_SIGNALED 0.0"}
	bad := []string{"DMA_FAULTED 0.0 fence=1", "HWQUEUE_PAGE_FAULTED 0.0 queue=4 fence=5 address=0x0"}
	lost := []string{"DMA_PAGE_FAULTED 0.0 fence=1 address=0x8", "HWQUEUE_PAGE_FAULTED 0.0 queue=4 fence=5 address=0x8"}
	for _, c := range []struct {
		name    string
		content []byte
		va      uint64
		size    uint32
		foreign adapter.ForeignCommands
		want    []string
	}{
		{"foreign", bytes.Repeat([]byte{0x7f}, 64), base, 64, adapter.ForeignRun, done},
		{"foreign, refused", bytes.Repeat([]byte{0x7f}, 64), base, 64, adapter.ForeignFault, bad},
		{"foreign and long", nil, base, 1<<32 - 1, adapter.ForeignRun, done},
		{"foreign and short", nil, 0, 7, adapter.ForeignRun, done},
		{"short, refused", nil, 0, 7, adapter.ForeignFault, bad},
		{"empty", nil, 0, 0, adapter.ForeignFault, done},
		{"unmapped", nil, 8, 8, adapter.ForeignRun, lost},
		{"too long", cmdbuf.New().Bytes(), base, cmdbuf.MaxSize + 8, adapter.ForeignRun, bad},
		{"a version to come", []byte{0x44, 0x58, 0x47, 0x42, 2, 0, 0, 0}, base, 8, adapter.ForeignRun, bad},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, func(p *adapter.Profile) { p.ForeignCommands = c.foreign })
			copy(b.m.b, c.content)
			ctx, other := b.context(node0), b.context(node0)
			raw(b, ctx, b.queue(other, base+64), c.va, c.size)
			b.advance(2000)
			if last, ok := b.k.interrupts[len(b.k.interrupts)-1].(ddi.HwQueuePageFaulted); ok && last.Faulted != (c.want[0] == bad[0]) {
				t.Errorf("%+v", last)
			}
			b.saw(c.want...)
		})
	}
}

func TestProgressFences(t *testing.T) {
	released := func(p *adapter.Profile) { p.Nodes[0].Flags |= adapter.RingBufferFenceRelease }
	b := newBench(t, released)
	q := b.queue(b.context(node0), base)
	b.submitHw(q, 1, cmdbuf.New().Write64(base+8, 3), 0)
	b.advance(2000)
	b.saw("store 0x100008=3", "store 0x100000=1", "MONITORED_FENCE_SIGNALED 0.0")

	b = newBench(t, func(p *adapter.Profile) { released(p); p.Caps &^= adapter.Support64BitAtomics; p.WDDM = 3200 })
	q = b.queue(b.context(node0), base)
	b.submitHw(q, 1<<32+1, cmdbuf.New(), 0)
	b.advance(2000)
	b.saw("store32 0x100000=1", "MONITORED_FENCE_SIGNALED 0.0")

	b = newBench(t, released)
	q = b.queue(b.context(node0), 0x40) // unmapped
	b.submitHw(q, 1, cmdbuf.New().Nop(), 0)
	b.submitHw(q, 2, cmdbuf.New().Nop(), 0)
	b.advance(2000)
	b.saw(fmt.Sprintf("HWQUEUE_PAGE_FAULTED 0.0 queue=%d fence=1 address=0x40", q))
}

// Behind a fault nothing of the context happens; others go on.
func TestAfterAFault(t *testing.T) {
	b := newBench(t, nil)
	guilty, other := b.context(node0), b.context(node0)
	b.submit(guilty, cmdbuf.New().Write64(8, 1), 0)
	b.submit(guilty, cmdbuf.New().Write64(base, 1), 0)
	b.submit(other, cmdbuf.New().Write64(base, 2), 0)
	b.submitHw(b.queue(guilty, base), 1, cmdbuf.New().Write64(base, 3), 0)
	b.advance(2000)
	b.saw("DMA_READ 0.0 fence=1", "DMA_PAGE_FAULTED 0.0 fence=1 address=0x8", "DMA_COMPLETED 0.0 fence=2",
		"DMA_READ 0.0 fence=3", "store 0x100000=2", "DMA_COMPLETED 0.0 fence=3")
}

func TestDeviceWithoutMemory(t *testing.T) {
	b := newBench(t, nil)
	d, s := b.g.CreateDevice(ddi.CreateDeviceArgs{})
	must(t, s)
	c, s := b.g.CreateContext(ddi.CreateContextArgs{Device: d})
	must(t, s)
	must(t, b.g.SubmitCommandVirtual(ddi.SubmitCommandArgs{Context: c, SubmissionFenceID: 1, DmaBufferVirtualAddress: base, DmaBufferSize: 8}))
	b.advance(2000)
	b.saw("DMA_PAGE_FAULTED 0.0 fence=1 address=0x100000")
}

// Each member of a link sees its own memory, and has engines of its own.
func TestLinkedAdapters(t *testing.T) {
	b := newBench(t, func(p *adapter.Profile) { p.PhysicalAdapters = 2 })
	second := ddi.Engine{NodeOrdinal: 1, EngineOrdinal: 1}
	b.m.links = map[uint32][]byte{1: make([]byte, room)}
	c := b.context(second)
	buf := cmdbuf.New().Write64(base, 7)
	copy(b.m.links[1][b.where-base:], buf.Bytes())
	b.submit(c, buf, 0, second)
	b.advance(2000)
	b.saw("DMA_READ 1.1 fence=1", "store 0x100000=7", "DMA_COMPLETED 1.1 fence=1")
	if b.m.links[1][0] != 7 || b.m.b[0] != 0 {
		t.Error("the wrong member's memory was written")
	}
	if len(b.g.Engines()) != 6 {
		t.Errorf("%d engines", len(b.g.Engines()))
	}
	for _, e := range []ddi.Engine{{NodeOrdinal: 3}, {EngineOrdinal: 2}, {NodeOrdinal: 1<<32 - 1, EngineOrdinal: 1<<32 - 1}} {
		if _, s := b.g.CreateContext(ddi.CreateContextArgs{Device: b.device, Engine: e}); s != abi.StatusInvalidParameter {
			t.Errorf("a context on engine %v: %v", e, s)
		}
	}
}
