package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
)

// A ring is kept while its doorbell lives, whatever becomes of the allocation's handle,
// and what was rung when a doorbell is destroyed is done.
func TestRingsAreKept(t *testing.T) {
	r := newBellRig(t, nil)
	b := r.bell()
	for _, h := range []abi.Handle{b.ringAt, b.controlAt} {
		r.ok(r.destroyAllocation(h))
	}
	r.run(short)
	r.ok(b.connect())
	b.put(cmdbuf.New())
	r.run(short)
	b.want("rung", abi.DoorbellConnected, 1)
	b.put(cmdbuf.New().Delay(1000, 0))
	b.put(cmdbuf.New().Delay(1000, 0))
	b.put(cmdbuf.New())
	live := r.host.live
	r.ok(b.destroy())
	if r.host.live != live-3 { // ring, control, words
		t.Errorf("%d memories less", live-r.host.live)
	}
	r.run(short)
	if got := r.value(r.p, b.progress); got != 4 {
		t.Errorf("the progress is %d", got)
	}
}

// A doorbell made anew for another ring goes on after what was rung on the old one.
func TestResize(t *testing.T) {
	r := newBellRig(t, nil)
	b := r.bell()
	r.ok(b.connect())
	b.put(cmdbuf.New().Delay(1000, 0))
	b.put(cmdbuf.New())
	old := b.words
	if st := b.create(0); st != abi.StatusInvalidParameter {
		t.Errorf("a second doorbell: %v", st)
	}
	handle := b.doorbell
	b.ringAt = r.visible(64)
	r.ok(b.create(abi.DoorbellResizeRingBufferOperation))
	if got := abi.DoorbellStatus(old.Status.Load()); got != abi.DoorbellDisconnectedAbort {
		t.Errorf("the old one's status is %v", got)
	}
	if _, ok := r.p.Doorbell(handle); ok && handle != b.doorbell {
		t.Error("the old one has its handle yet")
	}
	b.want("resized", abi.DoorbellDisconnectedRetry, 0)
	b.put(cmdbuf.New())
	r.ok(b.connect())
	r.run(short)
	b.want("resized", abi.DoorbellConnected, 3)
	// A process that does nothing else is not better off than with one ring.
	for range 100 {
		r.ok(b.create(abi.DoorbellResizeRingBufferOperation))
	}
	r.ok(b.connect())
	b.put(cmdbuf.New())
	r.run(short)
	b.want("often", abi.DoorbellConnected, 4)
}
