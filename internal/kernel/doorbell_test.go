package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// The life of a doorbell: what was rung runs, whether it was connected then or later; an
// engine that rests disconnects it.
func TestDoorbell(t *testing.T) {
	r := newBellRig(t, nil)
	b := r.bell()
	b.want("created", abi.DoorbellDisconnectedRetry, 0)
	b.put(cmdbuf.New())
	r.run(100 * short)
	b.want("not connected", abi.DoorbellDisconnectedRetry, 0)
	r.ok(b.connect())
	b.want("connected", abi.DoorbellConnected, 0)
	r.run(short)
	b.want("connected", abi.DoorbellConnected, 1)
	r.ok(b.connect()) // no change
	b.put(cmdbuf.New())
	b.put(cmdbuf.New().Delay(1000, 0))
	r.run(short)
	b.want("rung", abi.DoorbellConnected, 3)
	if v, ok := b.control.Load(0, 8); !ok || v != 3 {
		t.Errorf("the control says %d", v)
	}
	r.run(9_500_000)
	b.want("rested", abi.DoorbellDisconnectedRetry, 3)
	r.run(short)
	if at, _ := r.k.Next(); at < *r.clock+1_000_000_000 {
		t.Errorf("an idle program has the kernel look again in %d ns", at-*r.clock)
	}
	for range 3 * ringEntries { // round and round
		b.put(cmdbuf.New())
		if abi.DoorbellStatus(b.words.Status.Load()) == abi.DoorbellDisconnectedRetry {
			r.ok(b.connect())
		}
		r.run(short)
	}
	b.want("round and round", abi.DoorbellConnected, 3+3*ringEntries)
	r.ok(b.destroy())
	if st := abi.DoorbellStatus(b.words.Status.Load()); st != abi.DoorbellDisconnectedAbort {
		t.Errorf("destroyed, and the status is %v", st)
	}
	for name, call := range map[string]func() abi.Status{"connect": b.connect, "destroy": b.destroy, "notify": b.notify} {
		if st := call(); st != abi.StatusInvalidParameter {
			t.Errorf("%s of one that was destroyed: %v", name, st)
		}
	}
	r.ok(b.create(0)) // and anew, from 0 on
	r.ok(b.connect())
	b.put(cmdbuf.New())
	r.run(short)
	b.want("anew", abi.DoorbellConnected, b.queued)
}

// A CPU waits for the progress as for every fence.
func TestWaitForProgress(t *testing.T) {
	r := newBellRig(t, nil)
	b := r.bell()
	r.ok(b.connect())
	fd, event := r.event()
	r.ok(waitEvent(r.p, r.d, 0, fd, handles(b.progress), values(2)))
	b.put(cmdbuf.New())
	r.run(short)
	if event.sets != 0 {
		t.Error("the event is set too early")
	}
	b.put(cmdbuf.New())
	r.run(short)
	if event.sets != 1 {
		t.Errorf("the event was set %d times", event.sets)
	}
}

// There are fewer physical doorbells than queues: the one that was rung least recently
// is taken, and what was rung on it is done.
func TestFewPhysicalDoorbells(t *testing.T) {
	r := newBellRig(t, func(p *adapter.Profile) { p.Doorbells.Physical = 2 })
	a, b, c := r.bell(), r.bell(), r.bell()
	r.ok(a.connect())
	r.run(1000)
	r.ok(b.connect())
	r.run(1000)
	a.put(cmdbuf.New())
	r.run(1000)
	b.put(cmdbuf.New()) // not seen yet
	r.ok(c.connect())
	a.want("rung", abi.DoorbellConnected, 1)
	b.want("rung before it was taken", abi.DoorbellDisconnectedRetry, 0)
	c.want("new", abi.DoorbellConnected, 0)
	r.run(short)
	b.want("rung before it was taken", abi.DoorbellDisconnectedRetry, 1)
	b.put(cmdbuf.New())
	r.run(short)
	b.want("rung after that", abi.DoorbellDisconnectedRetry, 1)
	r.ok(b.connect())
	r.run(short)
	b.want("connected again", abi.DoorbellConnected, 2)
	for round := range 20 {
		for i, x := range []*bell{a, b, c} {
			x.put(cmdbuf.New())
			if abi.DoorbellStatus(x.words.Status.Load()) == abi.DoorbellDisconnectedRetry {
				r.ok(x.connect())
			}
			if r.run(short); r.value(r.p, x.progress) != x.queued {
				t.Fatalf("round %d: queue %d has made %d of %d", round, i, r.value(r.p, x.progress), x.queued)
			}
		}
	}
}

// A ring that the program believed to be on time is not lost: its store was late.
func TestLateRing(t *testing.T) {
	r := newBellRig(t, func(p *adapter.Profile) { p.Doorbells.Physical = 1 })
	a, b := r.bell(), r.bell()
	r.ok(a.connect())
	r.ok(b.connect())
	a.put(cmdbuf.New())
	r.run(900_000)
	a.want("within a millisecond", abi.DoorbellDisconnectedRetry, 0)
	r.run(200_000)
	a.want("a millisecond later", abi.DoorbellDisconnectedRetry, 1)
}

func TestNotify(t *testing.T) {
	r := newBellRig(t, func(p *adapter.Profile) { p.Doorbells.Notify = true })
	b := r.bell()
	if st := b.notify(); st != abi.StatusInvalidParameter {
		t.Errorf("not connected: %v", st)
	}
	r.ok(b.connect())
	b.want("connected", abi.DoorbellConnectedNotifyKMD, 0)
	b.put(cmdbuf.New())
	r.run(20 * short)
	b.want("not told", abi.DoorbellConnectedNotifyKMD, 0)
	if at, _ := r.k.Next(); at < *r.clock+1_000_000_000 {
		t.Errorf("the kernel looks by itself in %d ns", at-*r.clock)
	}
	r.ok(b.notify())
	r.run(short)
	b.want("told", abi.DoorbellConnectedNotifyKMD, 1)
	r.ok(b.notify()) // of nothing
	r.run(short)

	r = newBellRig(t, nil)
	b = r.bell()
	r.ok(b.connect())
	r.ok(b.notify()) // nobody asked for it
	b.want("not asked", abi.DoorbellConnected, 0)
}

// With a secondary doorbell either may be rung.
func TestSecondaryDoorbell(t *testing.T) {
	r := newBellRig(t, func(p *adapter.Profile) { p.Doorbells.Secondary = true })
	q, st := r.userQueue()
	r.ok(st)
	b := &bell{r: r, queue: q.HHwQueue, progress: q.HHwQueueProgressFence, fence: q.HwQueueProgressFenceGPUVirtualAddress, ringAt: r.visible(64)}
	r.ok(b.create(abi.DoorbellRequireSecondaryCpuVA))
	r.ok(b.connect())
	b.put(cmdbuf.New())
	r.run(short)
	b.queued++
	b.words.Secondary.Store(b.ring.Put(r.place(cmdbuf.New().Signal(b.fence, b.queued))))
	r.run(short)
	b.want("both", abi.DoorbellConnected, 2)
}
