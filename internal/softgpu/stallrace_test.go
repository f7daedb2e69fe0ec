package softgpu

import (
	"testing"

	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
)

// A lateMemory calls then, once, when a word was read and the engine has not got it yet.
type lateMemory struct {
	*memory
	then func()
}

func (m *lateMemory) Load64(engine uint32, va uint64) (uint64, *ddi.Fault) {
	v, f := m.memory.Load64(engine, va)
	if then := m.then; then != nil {
		m.then = nil
		then()
	}
	return v, f
}

// What a CPU signals while an engine looks at the value ends the wait, too.
func TestCpuSignalsWhileAWaitLooks(t *testing.T) {
	for _, flags := range []ddi.CurrentValueFlags{0, ddi.NotificationOnly} {
		b := newBench(t, nil)
		m := &lateMemory{memory: b.m}
		device, s := b.g.CreateDevice(ddi.CreateDeviceArgs{Memory: m})
		must(t, s)
		c, s := b.g.CreateContext(ddi.CreateContextArgs{Device: device})
		must(t, s)
		f := b.native(base + 64)
		b.open(f, device)
		b.submitHw(b.queue(c, base), 1, cmdbuf.New().Add(f.wait(1)).Signal(base, 1), 0)
		m.then = func() { b.set(f, 1, flags) }
		b.advance(2000)
		if m.then != nil {
			t.Fatal("nobody has looked")
		}
		b.saw("store 0x100000=1", "MONITORED_FENCE_SIGNALED 0.0")
	}
}
