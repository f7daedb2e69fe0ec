package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// What the four calls refuse. Source: calls.md §8; OQ-41. What is refused writes nothing.
func TestDoorbellRules(t *testing.T) {
	r := newBellRig(t, nil)
	b := r.bell()
	plain := abi.CreateHwQueue{HHwContext: r.context}
	_, st := do(r.p, 0x18, &plain, nil)
	r.ok(st)
	bare, st := r.userQueue()
	r.ok(st)
	ring := r.visible(64)
	unmapped, evicted := r.heap(64), r.visible(64)
	_, st = r.resident(0, unmapped)
	if st != abi.StatusPending {
		t.Fatal(st)
	}
	r.k.Tick()
	_, st = do(r.p, 0x1E, &abi.Evict{HDevice: r.d, NumAllocations: 1}, nil, handles(evicted))
	r.ok(st)
	queue, d, foreign := r.p, r.d, abi.Handle(0)
	r.d = r.rig.device(r.p, 0) // an allocation of another device
	foreign = r.heap(64)
	r.d = d
	other := r.rig.process()

	create := func(p *Process, rec abi.CreateDoorbell, data []byte) abi.Status {
		t.Helper()
		before := rec
		_, st := do(p, 0x8011, &rec, nil, data)
		if !st.OK() && rec != before {
			t.Errorf("a create that fails with %v writes %+v", st, rec)
		}
		return st
	}
	good := abi.CreateDoorbell{HHwQueue: bare.HHwQueue, HRingBuffer: ring}
	for name, c := range map[string]struct {
		change func(*abi.CreateDoorbell)
		want   abi.Status
	}{
		"nothing":                        {func(c *abi.CreateDoorbell) { *c = abi.CreateDoorbell{} }, abi.StatusInvalidParameter},
		"unknown flag":                   {func(c *abi.CreateDoorbell) { c.Flags = 4 }, abi.StatusInvalidParameter},
		"no queue":                       {func(c *abi.CreateDoorbell) { c.HHwQueue = 0 }, abi.StatusInvalidParameter},
		"a ring for a queue":             {func(c *abi.CreateDoorbell) { c.HHwQueue = ring }, abi.StatusInvalidParameter},
		"a queue for calls":              {func(c *abi.CreateDoorbell) { c.HHwQueue = plain.HHwQueue }, abi.StatusInvalidParameter},
		"a queue that has one":           {func(c *abi.CreateDoorbell) { c.HHwQueue = b.queue }, abi.StatusInvalidParameter},
		"no ring":                        {func(c *abi.CreateDoorbell) { c.HRingBuffer = 0 }, abi.StatusInvalidParameter},
		"a queue for a ring":             {func(c *abi.CreateDoorbell) { c.HRingBuffer = b.queue }, abi.StatusInvalidParameter},
		"a ring that no GPU sees":        {func(c *abi.CreateDoorbell) { c.HRingBuffer = unmapped }, abi.StatusInvalidParameter},
		"a ring that is not resident":    {func(c *abi.CreateDoorbell) { c.HRingBuffer = evicted }, abi.StatusInvalidParameter},
		"another device's ring":          {func(c *abi.CreateDoorbell) { c.HRingBuffer = foreign }, abi.StatusInvalidParameter},
		"a control that no GPU sees":     {func(c *abi.CreateDoorbell) { c.HRingBufferControl = unmapped }, abi.StatusInvalidParameter},
		"data that are not there":        {func(c *abi.CreateDoorbell) { c.PrivateDriverDataSize = 16 }, abi.StatusInvalidParameter},
		"a secondary that there is not":  {func(c *abi.CreateDoorbell) { c.Flags = abi.DoorbellRequireSecondaryCpuVA }, abi.StatusNotSupported},
		"a secondary, and no such queue": {func(c *abi.CreateDoorbell) { c.Flags, c.HHwQueue = abi.DoorbellRequireSecondaryCpuVA, 7 }, abi.StatusInvalidParameter},
	} {
		rec := good
		c.change(&rec)
		if st := create(queue, rec, nil); st != c.want {
			t.Errorf("%s: %v, want %v", name, st, c.want)
		}
	}
	long := good
	long.PrivateDriverDataSize = 17
	if st := create(queue, long, make([]byte, 17)); st != abi.StatusInvalidParameter {
		t.Errorf("17 bytes of private data: %v", st)
	}
	if st := create(other, good, nil); st != abi.StatusInvalidParameter {
		t.Errorf("another process: %v", st)
	}
	r.host.grant = abi.StatusNoMemory
	if st := create(queue, good, nil); st != abi.StatusNoMemory {
		t.Errorf("no descriptors: %v", st)
	}
	r.host.grant = abi.StatusSuccess
	files := len(r.host.files)
	long.PrivateDriverDataSize = 16
	if st := create(queue, long, make([]byte, 16)); st != abi.StatusSuccess {
		t.Errorf("good: %v", st)
	}
	if n := len(r.host.files) - files; n != 2 {
		t.Errorf("%d descriptors", n)
	}
	for name, call := range map[string]func(abi.Handle, uint32) abi.Status{
		"connect": func(h abi.Handle, f uint32) abi.Status {
			_, st := do(r.p, 0x8012, &abi.ConnectDoorbell{HDoorbell: h, Flags: abi.ConnectDoorbellFlags(f)}, nil)
			return st
		},
		"notify": func(h abi.Handle, f uint32) abi.Status {
			_, st := do(r.p, 0x8014, &abi.NotifyWorkSubmission{HDoorbell: h, Flags: abi.NotifyWorkSubmissionFlags(f)}, nil)
			return st
		},
		"destroy": func(h abi.Handle, _ uint32) abi.Status {
			_, st := do(r.p, 0x8013, &abi.DestroyDoorbell{HDoorbell: h}, nil)
			return st
		},
	} {
		for _, h := range []abi.Handle{0, 0xDEADBEEF, ring, b.queue} {
			if st := call(h, 0); st != abi.StatusInvalidParameter {
				t.Errorf("%s of %v: %v", name, h, st)
			}
		}
		if name != "destroy" && call(b.doorbell, 1) != abi.StatusInvalidParameter {
			t.Errorf("%s with a flag is no error", name)
		}
	}
	// The calls that submit are not for such a queue.
	if _, st := do(r.p, 0x34, &abi.SubmitCommandToHwQueue{HHwQueue: b.queue, HwQueueProgressFenceId: 1}, nil); st != abi.StatusInvalidParameter {
		t.Errorf("SubmitCommandToHwQueue: %v", st)
	}
	// The lost device comes last.
	do(r.p, 0x26, &abi.MarkDeviceAsError{HDevice: r.d, Reason: abi.DeviceErrorGeneric}, nil)
	if st := create(queue, abi.CreateDoorbell{HHwQueue: b.queue, HRingBuffer: ring, Flags: abi.DoorbellResizeRingBufferOperation}, nil); st != abi.StatusDeviceRemoved {
		t.Errorf("on a lost device: %v", st)
	}
	if st := b.destroy(); !st.OK() {
		t.Errorf("destroy on a lost device: %v", st)
	}
}

// Queues for doorbells need the feature, what it needs itself, and a node that has it.
func TestUserQueueNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*adapter.Profile)
		want   abi.Status
	}{
		"all":       {nil, abi.StatusSuccess},
		"feature":   {func(p *adapter.Profile) { p.Features &^= adapter.UserModeSubmission }, abi.StatusNotSupported},
		"fences":    {func(p *adapter.Profile) { p.Features &^= adapter.NativeFence }, abi.StatusNotSupported},
		"node":      {func(p *adapter.Profile) { p.Nodes[0].Flags &^= adapter.UserModeSubmissionSupported }, abi.StatusNotSupported},
		"node of 1": {func(p *adapter.Profile) { p.Nodes[1].Flags &^= adapter.UserModeSubmissionSupported }, abi.StatusSuccess},
	} {
		r := newBellRig(t, c.change)
		q, st := r.userQueue()
		if st != c.want {
			t.Errorf("%s: %v, want %v", name, st, c.want)
		}
		if st.OK() && q.Flags != abi.HwQueueUserModeSubmission|abi.HwQueueNativeProgressFence {
			t.Errorf("%s: the flags are %v", name, q.Flags)
		}
	}
}

// A ring that is not large enough for an entry, or a control for a word, is the driver's
// to refuse. Nothing is left of the attempt.
func TestRingSizes(t *testing.T) {
	r := newBellRig(t, nil)
	q, st := r.userQueue()
	r.ok(st)
	for _, c := range []struct {
		ring, control uint64
		want          abi.Status
	}{
		{15, 8, abi.StatusInvalidParameter},
		{16, 7, abi.StatusInvalidParameter},
		{16*cmdbuf.MaxRingEntries + 16, 8, abi.StatusInvalidParameter},
		{16*cmdbuf.MaxRingEntries + 15, 8, abi.StatusSuccess},
	} {
		rec := abi.CreateDoorbell{HHwQueue: q.HHwQueue, HRingBuffer: r.visible(c.ring), HRingBufferControl: r.visible(c.control)}
		live := r.host.live
		if _, st := do(r.p, 0x8011, &rec, nil); st != c.want || !st.OK() && r.host.live != live {
			t.Errorf("%d and %d bytes: %v, %d memories more; want %v", c.ring, c.control, st, r.host.live-live, c.want)
		}
	}
}

// One call makes both. The queue's handle is then the doorbell's.
func TestHwQueueForUserModeSubmission(t *testing.T) {
	r := newBellRig(t, nil)
	ring := r.visible(64)
	rec := abi.CreateHwQueueForUserModeSubmission{HHwContext: r.context, HRingBuffer: 0x7777}
	_, st := do(r.p, 0x8016, &rec, nil)
	if st != abi.StatusInvalidParameter || len(r.p.table.Get(r.context).(*context).queues) != 0 {
		t.Errorf("no ring: %v", st)
	}
	rec = abi.CreateHwQueueForUserModeSubmission{HHwContext: r.context, HRingBuffer: ring}
	req, st := do(r.p, 0x8016, &rec, nil)
	r.ok(st)
	if len(req.Out) < 2 || rec.ProgressFenceMapping.CurrentValueGpuVa == 0 || rec.ProgressFenceMapping.MonitoredValueGpuVa == 0 {
		t.Errorf("%d descriptors, %+v", len(req.Out), rec.ProgressFenceMapping)
	}
	logs := abi.GetNativeFenceLogDetail{HHwQueue: rec.HHwQueue}
	_, st = do(r.p, 0x8010, &logs, nil)
	r.ok(st)
	if l := rec.LogBufferInfo; l.WaitLogGpuBaseAddress == 0 || l.WaitLogGpuBaseAddress != logs.WaitLogGpuBaseAddress || l.SignalLogGpuBaseAddress != logs.SignalLogGpuBaseAddress ||
		l.WaitLogNumberOfEntries != 84 || l.SignalLogNumberOfEntries != 84 {
		t.Errorf("the logs are %+v, and %+v", l, logs)
	}
	b := &bell{r: r, doorbell: rec.HHwQueue, progress: rec.HProgressFence, fence: rec.ProgressFenceMapping.CurrentValueGpuVa}
	var ok bool
	if b.words, ok = r.p.Doorbell(rec.HHwQueue); !ok {
		t.Fatal("no doorbell")
	}
	b.ring = cmdbuf.NewRing(b.memory(ring))
	r.ok(b.connect())
	b.put(cmdbuf.New())
	r.run(short)
	b.want("rung", abi.DoorbellConnected, 1)
	r.ok(b.notify())
	r.ok(b.destroy())
	if st := b.connect(); st != abi.StatusInvalidParameter {
		t.Errorf("destroyed, and the handle connects: %v", st)
	}
	_, st = do(r.p, 0x1B, &abi.DestroyHwQueue{HHwQueue: rec.HHwQueue}, nil)
	r.ok(st)
}
