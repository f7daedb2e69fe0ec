package kernel

import (
	"testing"
	"unsafe"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/page"
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

// WaitForIdle waits for what programs say they have rung, too.
func TestIdleAfterRings(t *testing.T) {
	r := newBellRig(t, nil)
	bells, err := page.CreateBells()
	if err != nil {
		t.Fatal(err)
	}
	r.p.Bells(bells, 1, 16)
	wait := func(line uint32) abi.Status {
		rec := abi.WaitForIdle{HDevice: r.d}
		bells.Issue(line)
		return r.p.Do(&abi.Request{Op: abi.OpWaitForIdle, Record: unsafe.Slice((*byte)(unsafe.Pointer(&rec)), unsafe.Sizeof(rec)), Bell: line, Ticket: line})
	}
	ended := func(line uint32) bool { _, ok := bells.Ticket(line); return ok }
	a, b := r.bell(), r.bell()
	r.ok(wait(1))
	r.ok(a.connect())
	r.ok(b.connect())
	a.put(cmdbuf.New().Delay(short, 0))
	b.put(cmdbuf.New().Delay(3*short, 0))
	if st := wait(1); st != abi.StatusPending {
		t.Fatal(st)
	}
	r.run(2 * short)
	a.want("the first", abi.DoorbellConnected, 1)
	a.put(cmdbuf.New().Delay(3*short, 0)) // meanwhile
	r.run(3 * short)
	if b.want("the second", abi.DoorbellConnected, 1); ended(1) {
		t.Error("it has ended too early")
	}
	if r.run(4 * short); !ended(1) {
		t.Error("it has not ended")
	}
	r.ok(wait(2))
	// What is promised and not kept ends with its doorbell; a device that is lost ends all.
	a.words.LastQueued.Store(1 << 60)
	b.words.LastQueued.Store(1 << 61)
	for line := range uint32(2) {
		if st := wait(1 + line); st != abi.StatusPending {
			t.Fatal(st)
		}
	}
	r.ok(a.destroy())
	if r.run(short); ended(1) {
		t.Error("it has ended too early")
	}
	do(r.p, 0x1B, &abi.DestroyHwQueue{HHwQueue: b.queue}, nil)
	for line := range uint32(2) {
		if st, ok := bells.Ticket(1 + line); !ok || abi.Status(st) != abi.StatusSuccess {
			t.Errorf("line %d: %v, %v", line, abi.Status(st), ok)
		}
	}
	c := r.bell()
	c.words.LastQueued.Store(1)
	if st := wait(3); st != abi.StatusPending {
		t.Fatal(st)
	}
	do(r.p, 0x26, &abi.MarkDeviceAsError{HDevice: r.d, Reason: abi.DeviceErrorGeneric}, nil)
	if st, ok := bells.Ticket(3); !ok || abi.Status(st) != abi.StatusDeviceRemoved {
		t.Errorf("on a lost device: %v, %v", abi.Status(st), ok)
	}
	bells.Memory().CloseFD()
}

// Listings show how far a queue has come, and its doorbell.
func TestListingOfDoorbells(t *testing.T) {
	r := newBellRig(t, nil)
	b := r.bell()
	bare, st := r.userQueue()
	r.ok(st)
	r.ok(b.connect())
	b.put(cmdbuf.New())
	r.run(short)
	b.words.LastQueued.Store(3)
	found := 0
	for _, q := range r.k.Snapshot().Queues {
		switch q.Handle {
		case b.queue:
			found++
			if q.Kind != "user-queue" || q.Progress != 1 || q.Doorbell == nil || *q.Doorbell != (DoorbellRow{"CONNECTED", 3}) {
				t.Errorf("%+v, %+v", q, q.Doorbell)
			}
		case bare.HHwQueue:
			found++
			if q.Kind != "user-queue" || q.Progress != 0 || q.Doorbell != nil {
				t.Errorf("%+v", q)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d queues", found)
	}
}
