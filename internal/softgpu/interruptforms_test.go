package softgpu

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// The forms of interrupts, by profile: of one signal, of several in one turn, of too many
// for a list, of several queues, and of a context.
func TestInterruptForms(t *testing.T) {
	all := make([]ddi.DxgNativeFence, maxCollapsed)
	for i := range all {
		all[i] = ddi.DxgNativeFence(base + 0x1000 + uint64(i)*16)
	}
	for _, c := range []struct {
		form    adapter.NativeInterrupt
		signals []int // how many fences each queue signals, twice each; the last is a context
		want    ddi.NativeFenceSignaled
	}{
		{adapter.InterruptArray, []int{0, 0, 1}, ddi.NativeFenceSignaled{Fences: all[:1]}},
		{adapter.InterruptArray, []int{2, 0, 0}, ddi.NativeFenceSignaled{Fences: all[:2]}},
		{adapter.InterruptArray, []int{maxCollapsed, 0, 0}, ddi.NativeFenceSignaled{Fences: all}},
		{adapter.InterruptArray, []int{maxCollapsed + 1, 0, 0}, ddi.NativeFenceSignaled{}},
		{adapter.InterruptAny, []int{1, 0, 0}, ddi.NativeFenceSignaled{}},
		{adapter.InterruptQueue, []int{3, 0, 0}, ddi.NativeFenceSignaled{HwQueue: 1}},
		{adapter.InterruptQueue, []int{0, 0, 3}, ddi.NativeFenceSignaled{}},
		{adapter.InterruptLegacy, []int{3, 0, 0}, ddi.NativeFenceSignaled{EvaluateLegacyMonitoredFences: true}},
	} {
		b := newBench(t, func(p *adapter.Profile) { p.NativeFence.Interrupt = c.form })
		context := b.context(node0)
		queues := []ddi.KmdHwQueue{b.queue(context, base), b.queue(context, base+8)}
		for i, n := range c.signals {
			buf := cmdbuf.New()
			for j := range n {
				f := b.native(base + 0x1000 + uint64(j)*16)
				b.monitor(f, 0)
				buf.Add(f.signal(1), f.signal(2))
			}
			switch {
			case n == 0:
			case i < 2:
				b.logs(queues[i], 84, 0)
				b.submitHw(queues[i], 1, buf.Delay(1, 0), 0)
			default:
				b.submit(context, buf.Delay(1, 0), 0)
			}
		}
		b.g.Advance(b.k.now)
		if c.want.HwQueue != 0 {
			c.want.HwQueue = queues[0]
		}
		got := slices.DeleteFunc(b.k.interrupts, func(i ddi.Interrupt) bool { return i.Type() != ddi.TypeNativeFenceSignaled })
		if len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(c.want) {
			t.Errorf("%v %v: %v, want %v", c.form, c.signals, got, c.want)
		}
	}
}

// Signals of several queues that are collapsed name no queue.
func TestCollapsedQueues(t *testing.T) {
	var r raised
	f := &nativeFence{name: 1}
	r.raise(f, 5)
	r.raise(f, 5)
	if r.queue != 5 || len(r.fences) != 1 {
		t.Errorf("%+v", r)
	}
	r.raise(f, 6)
	r.raise(f, 6)
	if r.queue != 0 {
		t.Errorf("%+v", r)
	}
}

// Interrupts by 1000 signals: none if no CPU waits, and one for each value that one waits
// for, also when a packet has all of them.
func TestInterruptsPerThousandSignals(t *testing.T) {
	for _, c := range []struct {
		name  string
		every uint64 // a CPU waits for each n-th value; 0: for none
		want  int
	}{
		{"no waiter", 0, 0},
		{"each tenth", 10, 100},
		{"each", 1, 1000},
	} {
		b := newBench(t, nil)
		context := b.context(node0)
		f := b.native(base + 64)
		if c.every != 0 {
			b.monitor(f, c.every-1)
		}
		n := 0
		b.k.during = func() {
			if i, ok := b.k.interrupts[len(b.k.interrupts)-1].(ddi.NativeFenceSignaled); ok {
				n++
				v, _ := b.m.Load64(0, f.va)
				if !slices.Equal(i.Fences, []ddi.DxgNativeFence{ddi.DxgNativeFence(f.va)}) || v%c.every != 0 {
					t.Errorf("%s: %v at %d", c.name, i, v)
				}
				b.monitor(f, v/c.every*c.every+c.every-1) // as the kernel does after the interrupt
			}
		}
		b.m.log = nil
		for i := range uint64(1000) {
			b.submit(context, cmdbuf.New().Add(f.signal(i+1)), 0)
			b.advance(b.k.now)
		}
		if n != c.want {
			t.Errorf("%s: %d interrupts, want %d", c.name, n, c.want)
		}
	}
}
