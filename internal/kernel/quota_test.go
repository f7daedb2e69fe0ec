package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// Each user may have three quarters of the devices, contexts, hardware queues and native
// fences of an adapter; what is destroyed is there again.
func TestGPUObjectsOfOneUser(t *testing.T) {
	k, err := New(Config{Host: newMemHost(), Limits: Limits{GPUObjects: 8}})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, k: k, host: k.host.(*memHost)}
	attach := func(uid uint32) *Process {
		p, st := k.Attach(ProcessInfo{PID: int(uid), UID: uid})
		r.ok(st)
		return p
	}
	greedy, modest := attach(1), attach(2)
	d := r.device(greedy, 0)
	home := r.context(greedy, d, 0, abi.ContextHwQueueSupported)
	open := abi.OpenAdapterFromLuid{AdapterLuid: k.adapters[0].LUID}
	if _, st := do(greedy, 0x01, &open, nil); !st.OK() {
		t.Fatal(st)
	}
	for name, one := range map[string]struct {
		have int
		make func() (abi.Handle, abi.Status)
		end  func(abi.Handle) abi.Status
	}{
		"devices": {1, func() (abi.Handle, abi.Status) {
			rec := abi.CreateDevice{HAdapter: open.HAdapter}
			_, st := do(greedy, 0x02, &rec, nil)
			return rec.HDevice, st
		}, func(h abi.Handle) abi.Status { return destroyDevice(greedy, h) }},
		"contexts": {1, func() (abi.Handle, abi.Status) {
			rec := abi.CreateContextVirtual{HDevice: d}
			_, st := do(greedy, 0x04, &rec, nil)
			return rec.HContext, st
		}, func(h abi.Handle) abi.Status {
			_, st := do(greedy, 0x05, &abi.DestroyContext{HContext: h}, nil)
			return st
		}},
		"hardware queues": {0, func() (abi.Handle, abi.Status) {
			rec := abi.CreateHwQueue{HHwContext: home}
			_, st := do(greedy, 0x18, &rec, nil)
			return rec.HHwQueue, st
		}, func(h abi.Handle) abi.Status {
			_, st := do(greedy, 0x1B, &abi.DestroyHwQueue{HHwQueue: h}, nil)
			return st
		}},
		"native fences": {0, func() (abi.Handle, abi.Status) {
			rec := abi.CreateNativeFence{HDevice: d}
			_, st := do(greedy, abi.OpCreateNativeFence.Nr, &rec, nil)
			return rec.HSyncObject, st
		}, func(h abi.Handle) abi.Status {
			_, st := do(greedy, abi.OpDestroySynchronizationObject.Nr, &abi.DestroySynchronizationObject{HSyncObject: h}, nil)
			return st
		}},
	} {
		var all []abi.Handle
		for range 2 { // the second time, what was refused has left nothing behind
			for len(all)+one.have < 6 {
				h, st := one.make()
				if !st.OK() {
					t.Fatalf("%s: number %d: %v", name, len(all)+one.have, st)
				}
				all = append(all, h)
			}
			if h, st := one.make(); st != abi.StatusNoMemory || h != 0 {
				t.Errorf("%s: one more: %v, %#x", name, st, uint32(h))
			}
			for _, h := range all {
				r.ok(one.end(h))
			}
			all = nil
		}
	}
	r.context(modest, r.device(modest, 0), 0, 0)
	greedy.Exit()
	modest.Exit()
	for _, q := range []quota{k.adapters[0].devicesMade, k.adapters[0].contextsMade, k.adapters[0].queuesMade, k.adapters[0].nativesMade} {
		if q.all != 0 || len(q.of) != 0 {
			t.Errorf("%d are counted when all have gone", q.all)
		}
	}
}

// What one user has queued is bounded, whatever its objects and private data, and counted
// until it is done or dropped.
func TestQueuedBytesOfOneUser(t *testing.T) {
	r := newRig(t)
	r.k.limits.Queued = 128 + 64 + 10*(128+64)
	s := r.stream()
	other := s.another(r)
	f := r.fence(s.p, s.d, 0, 0)
	r.ok(s.waitGpu(handles(f), values(1)))
	n := 0
	for ; n < 20; n++ {
		st := other.waitGpu(handles(f), values(1))
		if st == abi.StatusNoMemory {
			break
		}
		r.ok(st)
	}
	if n != 10 {
		t.Errorf("%d waits are queued, want 10", n)
	}
	if st := submitTo(s.p, s.c, 64); st != abi.StatusNoMemory {
		t.Errorf("a command buffer with private data: %v", st)
	}
	r.ok(other.end())
	if load := *r.k.loadOf(0); load != 128+64 {
		t.Errorf("%d bytes are counted after the context was destroyed", load)
	}
	if st := submitTo(s.p, s.c, 10*(128+64)); st != abi.StatusNoMemory {
		t.Errorf("private data that do not fit: %v", st)
	}
	r.ok(submitTo(s.p, s.c, 9*(128+64)))
	s.p.Exit()
	if load := *r.k.loadOf(0); load != 0 {
		t.Errorf("%d bytes are counted when all has gone", load)
	}
}

// submitTo queues a command buffer with so many bytes of private data.
func submitTo(p *Process, c abi.Handle, data int) abi.Status {
	rec := abi.SubmitCommand{BroadcastContextCount: 1, CommandLength: 16, Commands: 0x1000, PrivateDriverDataSize: uint32(data)}
	rec.BroadcastContext[0] = c
	_, st := do(p, 0x0F, &rec, nil, make([]byte, data), nil)
	return st
}
