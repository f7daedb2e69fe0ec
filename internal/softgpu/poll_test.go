package softgpu

import (
	"testing"

	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// How often it looks: all the time, then ever more rarely, then never.
func TestPolling(t *testing.T) {
	b := newBench(t, func(p *adapter.Profile) { p.Displays = nil })
	x := b.connected(b.context(node0), 4)
	x.put(1)
	begin := b.k.now
	b.g.Advance(begin)
	b.saw(stored(1))
	for looks, last := 0, begin; ; looks++ {
		at, ok := b.g.Next()
		if !ok {
			t.Fatal("it does not look any more, and has told nobody")
		}
		if at <= last || at-last > 1_000_000 || last-begin < 100_000 && at-last != 1_000 || looks > 250 {
			t.Fatalf("%d ns after the ring it looks again after %d ns, for the %dth time", last-begin, at-last, looks)
		}
		b.k.now, last = at, at
		b.g.Advance(at)
		if len(b.trace) > 0 {
			if quiet := at - begin; quiet < 10_000_000 || quiet > 11_000_000 {
				t.Errorf("the engine rests after %d ns", quiet)
			}
			break
		}
	}
	b.saw("GPU_ENGINE_STATE_CHANGE 0.0 state=TRANSITION_TO_F1")
	x.put(2) // the kernel has not said anything yet
	b.g.DisconnectDoorbell(x.bell)
	b.g.DisconnectDoorbell(x.bell)
	b.advance(b.k.now + 2_000_000)
	b.saw(stored(2))
	if at, ok := b.g.Next(); ok {
		t.Errorf("nothing is connected, and it is due at %d", at)
	}
	// Work keeps it from resting, and so does a wait.
	x.connect()
	x.put(3, cmdbuf.Delay{Nanoseconds: 50_000_000})
	b.advance(b.k.now + 49_000_000)
	b.saw()
	b.advance(b.k.now + 3_000_000)
	b.saw(stored(3), "GPU_ENGINE_STATE_CHANGE 0.0 state=TRANSITION_TO_F1")
}

// In D3 nothing happens, whatever is rung.
func TestAsleep(t *testing.T) {
	b := newBench(t, func(p *adapter.Profile) { p.Displays = nil })
	x := b.connected(b.context(node0), 4)
	b.g.SetPowerState(ddi.PowerD3)
	x.put(1)
	b.g.Advance(b.k.now)
	if at, ok := b.g.Next(); ok {
		t.Errorf("asleep, and due at %d", at)
	}
	b.saw()
	b.g.SetPowerState(ddi.PowerD0)
	b.g.Advance(b.k.now)
	b.saw(stored(1))
}
