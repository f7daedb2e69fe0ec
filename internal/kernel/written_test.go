package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
)

// Fences that a GPU stores to without a word, and that are destroyed then, are not kept for
// an interrupt that never comes.
func TestWrittenFencesGo(t *testing.T) {
	r := newBellRig(t, nil)
	b := r.bell()
	r.ok(b.connect())
	ring := func(buf *cmdbuf.Buffer) {
		b.words.Bell.Store(b.ring.Put(r.place(buf))) // no progress: nobody is interrupted
		r.run(short)
	}
	for range 300 {
		f := abi.CreateNativeFence{HDevice: r.d}
		_, st := do(r.p, 0x800E, &f, nil)
		r.ok(st)
		ring(cmdbuf.New().Write64(f.Info.NativeFenceMapping.CurrentValueGpuVa, 3))
		m := abi.CreateSynchronizationObject2{HDevice: r.d}
		m.Info.Type = abi.MonitoredFence
		_, st = do(r.p, 0x10, &m, nil)
		r.ok(st)
		ring(cmdbuf.New().Write64(m.Info.MonitoredFence().FenceValueGPUVirtualAddress, 3))
		if v, w := r.value(r.p, f.HSyncObject), r.value(r.p, m.HSyncObject); v != 3 || w != 3 {
			t.Fatalf("the values are %d and %d", v, w)
		}
		r.ok(destroy(r.p, f.HSyncObject))
		r.ok(destroy(r.p, m.HSyncObject))
	}
	r.run(short)
	w := &r.k.adapters[0].written
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.natives) > 100 || len(w.list) > 100 {
		t.Errorf("%d native and %d monitored fences are kept", len(w.natives), len(w.list))
	}
}
