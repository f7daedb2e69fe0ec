package softgpu

import (
	"encoding/binary"
	"sync/atomic"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// A words is an address space of words without locks: word i is at base + 8*i.
type words []atomic.Uint64

func (w words) word(va uint64) *atomic.Uint64 {
	if va%8 != 0 || va < base || (va-base)/8 >= uint64(len(w)) {
		return nil
	}
	return &w[(va-base)/8]
}

func (w words) Load64(_ uint32, va uint64) (uint64, *ddi.Fault) {
	if p := w.word(va); p != nil {
		return p.Load(), nil
	}
	return 0, &ddi.Fault{Address: va}
}

func (w words) Store64(_ uint32, va, v uint64) *ddi.Fault {
	if p := w.word(va); p != nil {
		p.Store(v)
		return nil
	}
	return &ddi.Fault{Address: va, Flags: ddi.FaultWrite}
}

// Read and Write are of whole words.
func (w words) Read(_ uint32, va uint64, b []byte) *ddi.Fault {
	for i := 0; i < len(b); i += 8 {
		v, f := w.Load64(0, va+uint64(i))
		if f != nil {
			return f
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], v)
		copy(b[i:], word[:])
	}
	return nil
}

func (w words) Write(_ uint32, va uint64, b []byte) *ddi.Fault {
	for i := 0; i < len(b); i += 8 {
		var word [8]byte
		copy(word[:], b[i:])
		if f := w.Store64(0, va+uint64(i), binary.LittleEndian.Uint64(word[:])); f != nil {
			return f
		}
	}
	return nil
}

func (w words) Load32(_ uint32, va uint64) (uint32, *ddi.Fault) { return 0, &ddi.Fault{Address: va} }

func (w words) Store32(_ uint32, va uint64, _ uint32) *ddi.Fault { return &ddi.Fault{Address: va} }

// words are compared as an address space by where they are.
type wordSpace struct {
	words
	pause func() // before and after each access to a word; nil: none
}

func (w *wordSpace) Load64(engine uint32, va uint64) (uint64, *ddi.Fault) {
	if w.pause == nil {
		return w.words.Load64(engine, va)
	}
	w.pause()
	defer w.pause()
	return w.words.Load64(engine, va)
}

func (w *wordSpace) Store64(engine uint32, va, v uint64) *ddi.Fault {
	if w.pause == nil {
		return w.words.Store64(engine, va, v)
	}
	w.pause()
	defer w.pause()
	return w.words.Store64(engine, va, v)
}

// A rig is a GPU over words, with two hardware queues that have logs, on engines 0 and 1.
type rig struct {
	g      *GPU
	k      *strictKernel
	m      *wordSpace
	device ddi.KmdDevice
	queues [2]ddi.KmdHwQueue
	fences [8]rigFence
	where  uint64
}

// A rigFence has its current value at va and the monitored one 8 bytes behind.
type rigFence struct {
	va   uint64
	kmd  ddi.KmdNativeFence
	name ddi.DxgNativeFence
}

func newRig(t testing.TB) *rig {
	k := &strictKernel{t: t, fences: true}
	return newRigOf(t, nil, k, k)
}

func newRigOf(t testing.TB, change func(p *adapter.Profile), k *strictKernel, cb ddi.Callbacks) *rig {
	p, err := adapter.Load("neutral")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(p)
	}
	r := &rig{g: New(p), k: k, m: &wordSpace{words: make(words, 1<<17)}, where: base + 0x20000}
	r.g.StartDevice(cb)
	t.Cleanup(r.g.StopDevice)
	r.device, _ = r.g.CreateDevice(ddi.CreateDeviceArgs{Memory: r.m})
	for i := range uint32(2) {
		c, _ := r.g.CreateContext(ddi.CreateContextArgs{Device: r.device, Engine: ddi.Engine{NodeOrdinal: i}})
		r.queues[i], _ = r.g.CreateHwQueue(ddi.CreateHwQueueArgs{Context: c, ProgressFenceGpuVirtualAddress: base})
		r.k.work.Store(r.queues[i], true)
		for j, kind := range []abi.NativeFenceLogType{abi.NativeFenceLogWaits, abi.NativeFenceLogSignals} {
			r.g.SetNativeFenceLogBuffer(ddi.SetNativeFenceLogBufferArgs{HwQueue: r.queues[i], Type: kind, NumberOfEntries: 84, LogBufferGpuVa: base + 0x10000 + 4096*uint64(2*int(i)+j)})
		}
	}
	for i := range r.fences {
		va := base + 1024 + 64*uint64(i)
		f, _ := r.g.CreateNativeFence(ddi.CreateNativeFenceArgs{Fence: ddi.DxgNativeFence(va)})
		r.g.OpenNativeFence(ddi.OpenNativeFenceArgs{Fence: f, Device: r.device, CurrentValueGpuVa: va, MonitoredValueGpuVa: va + 8})
		r.m.Store64(0, va+8, any64)
		r.fences[i] = rigFence{va, f, ddi.DxgNativeFence(va)}
	}
	return r
}

// place puts a buffer into memory, and submit submits it there.
func (r *rig) place(b *cmdbuf.Buffer) (va uint64, size uint32) {
	va = r.where
	r.m.Write(0, va, b.Bytes())
	r.where += uint64(b.Len()+63) &^ 63
	return va, uint32(b.Len())
}

func (r *rig) submit(i int, va uint64, size uint32) {
	r.g.SubmitCommandToHwQueue(ddi.SubmitCommandToHwQueueArgs{HwQueue: r.queues[i], DmaBufferVirtualAddress: va, DmaBufferSize: size})
}

// run advances until nothing is due.
func (r *rig) run() {
	for {
		if _, ok := r.g.Next(); !ok {
			return
		}
		r.g.Advance(r.k.Now())
	}
}

// What a signal that nobody waits for costs, beside a plain store.
func BenchmarkSignals(b *testing.B) {
	for _, c := range []struct {
		name    string
		command cmdbuf.Command
		log     bool
	}{
		{"WRITE64", cmdbuf.Write64{VA: base + 512, Value: 1}, false},
		{"SIGNAL_NATIVE-without-log", cmdbuf.SignalNative{VA: base + 1024, Value: 1, Monitored: base + 1032}, false},
		{"SIGNAL_NATIVE", cmdbuf.SignalNative{VA: base + 1024, Value: 1, Monitored: base + 1032}, true},
		{"WAIT", cmdbuf.Wait{VA: base + 1024}, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := newRig(b)
			if !c.log {
				r.g.queues[r.queues[0]].signals = fenceLog{}
			}
			const n = 1000
			buf := cmdbuf.New()
			for range n {
				buf.Add(c.command)
			}
			va, size := r.place(buf)
			for b.Loop() {
				r.submit(0, va, size)
				r.run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/command")
		})
	}
}

// A chain of 1000 waits and signals, to and fro between two engines.
func BenchmarkChain(b *testing.B) {
	r := newRig(b)
	const n = 1000
	ping, pong := uint64(base+1024), uint64(base+1024+64)
	var bufs [2]*cmdbuf.Buffer
	bufs[0], bufs[1] = cmdbuf.New(), cmdbuf.New()
	for i := range uint64(n) {
		bufs[0].SignalNative(ping, i+1, ping+8, 1).Wait(pong, i+1, 2)
		bufs[1].Wait(ping, i+1, 1).SignalNative(pong, i+1, pong+8, 2)
	}
	va0, size0 := r.place(bufs[0])
	va1, size1 := r.place(bufs[1])
	for b.Loop() {
		r.m.Store64(0, ping, 0)
		r.m.Store64(0, pong, 0)
		r.submit(0, va0, size0)
		r.submit(1, va1, size1)
		r.run()
		if v, _ := r.m.Load64(0, pong); v != n {
			b.Fatalf("it ends at %d", v)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/roundtrip")
}
