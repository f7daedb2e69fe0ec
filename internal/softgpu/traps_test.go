package softgpu

import (
	"fmt"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
)

// A trap takes the packet of its contexts that runs, or the next one: once, and no
// packet of others.
func TestTraps(t *testing.T) {
	b := newBench(t, nil)
	mine, second, other := b.context(node0), b.context(node0), b.context(node0)
	must(t, b.g.PageFaultNext([]ddi.KmdContext{mine, second, 999}, 0, 0xbad0))
	b.submit(other, cmdbuf.New().Write64(base, 1), 0)
	b.submit(second, cmdbuf.New().Write64(base, 2), 0)
	b.submit(mine, cmdbuf.New().Write64(base, 3), 0)
	b.advance(2000)
	b.saw("DMA_READ 0.0 fence=1", "store 0x100000=1", "DMA_COMPLETED 0.0 fence=1",
		"DMA_PAGE_FAULTED 0.0 fence=2 address=0xbad0",
		"DMA_READ 0.0 fence=3", "store 0x100000=3", "DMA_COMPLETED 0.0 fence=3")

	// In the middle of a delay.
	b.submit(mine, cmdbuf.New().Delay(1e9, 0), 0)
	b.advance(3000)
	must(t, b.g.PageFaultNext([]ddi.KmdContext{mine}, 0, 0x10))
	b.advance(3000)
	b.saw("DMA_READ 0.0 fence=4", "DMA_PAGE_FAULTED 0.0 fence=4 address=0x10")
}

// An engine that a trap has hung answers nothing until it is reset; then the packet that
// sprang it is the aborted one.
func TestTrapHangs(t *testing.T) {
	b := newBench(t, nil)
	mine, other := b.context(node0), b.context(node0)
	b.submit(other, cmdbuf.New(), 0)
	b.submit(mine, cmdbuf.New().Write64(base, 1), 0)
	b.submit(other, cmdbuf.New(), 0)
	must(t, b.g.HangNext([]ddi.KmdContext{mine}, 0))
	b.g.PreemptCommand(node0, 1)
	b.advance(2000)
	b.saw("DMA_PREEMPTED 0.0 preemption=1 completed=0") // it had not begun
	b.submit(mine, cmdbuf.New(), 0)
	b.submit(other, cmdbuf.New(), 0)
	b.g.Advance(2000)
	b.g.PreemptCommand(node0, 2)
	b.advance(1e9)
	b.saw()
	if e := b.g.Engines()[0]; !e.Hung || e.Context != mine {
		t.Errorf("%+v", e)
	}
	if id, st := b.g.ResetEngine(node0); id != 4 || st != abi.StatusSuccess {
		t.Errorf("aborted %d, %v", id, st)
	}
	b.submit(mine, cmdbuf.New(), 0) // it has happened
	b.advance(2e9)
	b.saw("DMA_READ 0.0 fence=6", "DMA_COMPLETED 0.0 fence=6")
}

// A trap for a hardware queue lets the other queues of its context pass.
func TestTrapForAQueue(t *testing.T) {
	b := newBench(t, nil)
	c := b.context(node0)
	q, other := b.queue(c, base), b.queue(c, base+8)
	must(t, b.g.PageFaultNext([]ddi.KmdContext{c}, q, 0x20))
	b.submitHw(other, 1, cmdbuf.New().Write64(base+8, 1), 0)
	b.submitHw(q, 2, cmdbuf.New().Write64(base, 2), 0)
	b.advance(2000)
	b.saw("store 0x100008=1", "MONITORED_FENCE_SIGNALED 0.0", fmt.Sprintf("HWQUEUE_PAGE_FAULTED 0.0 queue=%d fence=2 address=0x20", q))
	for what, st := range map[string]abi.Status{
		"no context": b.g.HangNext([]ddi.KmdContext{999}, 0), "none": b.g.HangNext(nil, 0), "no queue": b.g.HangNext([]ddi.KmdContext{c}, 999),
	} {
		if st != abi.StatusInvalidParameter {
			t.Errorf("%s: %v", what, st)
		}
	}
}
