package kernel

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/syncobj"
)

// What the operation table promises is what the kernel answers.
func TestDispatchAgreesWithTheTable(t *testing.T) {
	r := newRig(t)
	for _, op := range abi.Ops {
		if op.Nr >= 0xF000 {
			continue // session operations: the door's part is checked there
		}
		has := operationOf(op.Nr) != nil
		if (op.Support == abi.Supported) != has {
			t.Errorf("%s (%#x): the table says support %v, the kernel has a method: %v", op.Name, op.Nr, op.Support, has)
		}
		if has {
			continue
		}
		want := abi.StatusNotSupported
		if op.Support == abi.NotImplemented {
			want = abi.StatusNotImplemented
		}
		q := &abi.Request{Op: &op, Record: make([]byte, op.Size), Arrays: make([][]byte, len(op.Arrays)), Files: []int{-1, -1, -1}}
		if st := r.process().Do(q); st != want {
			t.Errorf("%s: %v, want %v", op.Name, st, want)
		}
	}
}

func TestWaitersOfAnotherProcess(t *testing.T) {
	r := newRig(t)
	p1, p2 := r.process(), r.process()
	d1, d2 := r.device(p1, 0), r.device(p2, 0)
	f1 := r.fence(p1, d1, shareable, 0)
	fd, st := r.share(p1, f1, object.GenericAll)
	if st != 0 {
		t.Fatal(st)
	}
	f2, st := open(p2, d2, fd, 0)
	if st != 0 {
		t.Fatal(st)
	}
	ev, e := r.event()
	if st := waitEvent(p2, d2, 0, ev, handles(f2), values(5)); st != 0 || e.sets != 0 || e.refs != 1 {
		t.Fatalf("wait: %v, sets %d refs %d", st, e.sets, e.refs)
	}
	if st := signal(p1, d1, 0, handles(f1), values(4)); st != 0 || e.sets != 0 {
		t.Fatalf("signal 4: %v, sets %d", st, e.sets)
	}
	if st := signal(p1, d1, 0, handles(f1), values(5)); st != 0 || e.sets != 1 || e.refs != 0 {
		t.Fatalf("signal 5: %v, sets %d refs %d", st, e.sets, e.refs)
	}
	signal(p1, d1, 0, handles(f1), values(6))
	if e.sets != 1 {
		t.Fatal("an event is set once")
	}
}

// A value that was stored, but not rung for yet, is seen when its handle goes: the
// ring will not find it.
func TestDestroyLooks(t *testing.T) {
	r := newRig(t)
	p1, p2 := r.process(), r.process()
	d1, d2 := r.device(p1, 0), r.device(p2, 0)
	f1 := r.fence(p1, d1, shareable, 0)
	fd, _ := r.share(p1, f1, object.GenericAll)
	f2, st := open(p2, d2, fd, 0)
	if st != 0 {
		t.Fatal(st)
	}
	ev, e := r.event()
	waitEvent(p2, d2, 0, ev, handles(f2), values(5))
	v, _ := p1.FenceView(f1)
	v.Cell.Raise(4)
	destroy(p1, f1)
	if e.sets != 0 {
		t.Fatal("set below its value")
	}
	f1, _ = open(p1, d1, fd, 0)
	v.Cell.Raise(5)
	destroy(p1, f1)
	if e.sets != 1 {
		t.Error("the event of another process was not set")
	}
}

func TestDeathOfTheCreatorRaisesToMax(t *testing.T) {
	for _, flags := range []abi.SyncObjectFlags{0, abi.SyncObjectNoSignalMaxValueOnTdr} {
		r := newRig(t)
		p1, p2 := r.process(), r.process()
		d1, d2 := r.device(p1, 0), r.device(p2, 0)
		f1 := r.fence(p1, d1, shareable|flags, 3)
		fd, _ := r.share(p1, f1, object.GenericAll)
		f2, _ := open(p2, d2, fd, 0)
		ev, e := r.event()
		waitEvent(p2, d2, 0, ev, handles(f2), values(9))
		p1.Exit()
		want, sets := uint64(syncobj.Max), 1
		if flags != 0 {
			want, sets = 3, 0
		}
		if v := r.value(p2, f2); v != want || e.sets != sets {
			t.Errorf("flags %#x: value %d, event set %d times; want %d, %d", uint32(flags), v, e.sets, want, sets)
		}
		if flags == 0 {
			if st := signal(p2, d2, abi.SignalAllowFenceRewind, handles(f2), values(1)); st != 0 || r.value(p2, f2) != syncobj.Max {
				t.Errorf("a lost fence was rewound: %v", st)
			}
		}
	}
}

func TestOrderlyEndLeavesTheValue(t *testing.T) {
	for _, how := range []string{"destroy object", "destroy device"} {
		r := newRig(t)
		p1, p2 := r.process(), r.process()
		d1, d2 := r.device(p1, 0), r.device(p2, 0)
		f1 := r.fence(p1, d1, shareable, 3)
		fd, _ := r.share(p1, f1, object.GenericAll)
		f2, _ := open(p2, d2, fd, 0)
		if how == "destroy object" {
			destroy(p1, f1)
		} else {
			do(p1, 0x19, &abi.DestroyDevice{HDevice: d1}, nil)
		}
		p1.Exit()
		if v := r.value(p2, f2); v != 3 {
			t.Errorf("%s: value %d, want 3", how, v)
		}
	}
}

func TestExitCancelsItsOwnWaitsSilently(t *testing.T) {
	r := newRig(t)
	p := r.process()
	d := r.device(p, 0)
	f := r.fence(p, d, 0, 0)
	ev, e := r.event()
	waitEvent(p, d, 0, ev, handles(f), values(9))
	p.Exit()
	if e.sets != 0 || e.refs != 0 {
		t.Errorf("event of a dead process: set %d times, %d references left", e.sets, e.refs)
	}
	if r.host.live != 0 {
		t.Errorf("%d memories left behind", r.host.live)
	}
}

func TestNTHandleKeepsTheObject(t *testing.T) {
	r := newRig(t)
	p := r.process()
	d := r.device(p, 0)
	f := r.fence(p, d, shareable, 7)
	fd, _ := r.share(p, f, object.GenericAll)
	key := r.host.files[fd].(object.Key)
	destroy(p, f)
	again, st := open(p, d, fd, 0)
	if st != 0 || r.value(p, again) != 7 {
		t.Fatalf("open after the last local object went: %v", st)
	}
	r.k.NTClosed(key)
	r.k.NTClosed(key) // a second report changes nothing
	if _, st := open(p, d, fd, 0); st != abi.StatusObjectTypeMismatch {
		t.Errorf("open of a closed NT handle: %v", st)
	}
	if r.host.live != 1 {
		t.Errorf("%d memories, want 1", r.host.live)
	}
	destroy(p, again)
	if r.host.live != 0 {
		t.Errorf("%d memories left", r.host.live)
	}
}

// Bit 10: waiters of a shared object survive their local object.
func TestUnwaitOnlyOnDestroy(t *testing.T) {
	for _, bit10 := range []bool{false, true} {
		flags := shareable
		if bit10 {
			flags |= abi.SyncObjectUnwaitCpuWaitersOnlyOnDestroy
		}
		r := newRig(t)
		p1, p2 := r.process(), r.process()
		d1, d2 := r.device(p1, 0), r.device(p2, 0)
		f1 := r.fence(p1, d1, flags, 0)
		fd, _ := r.share(p1, f1, object.GenericAll)
		f2, _ := open(p2, d2, fd, 0)
		ev, e := r.event()
		waitEvent(p2, d2, 0, ev, handles(f2), values(9))
		destroy(p2, f2)
		if want := map[bool]int{false: 1, true: 0}[bit10]; e.sets != want {
			t.Errorf("bit 10 %v: after the local object went, set %d times", bit10, e.sets)
		}
		destroy(p1, f1)
		r.k.NTClosed(r.host.files[fd].(object.Key))
		if e.sets != 1 || e.refs != 0 {
			t.Errorf("bit 10 %v: after the object went, set %d times, %d references", bit10, e.sets, e.refs)
		}
	}
}

func TestBatchIsJudgedWhole(t *testing.T) {
	r := newRig(t)
	p := r.process()
	d := r.device(p, 0)
	a, b := r.fence(p, d, 0, 5), r.fence(p, d, 0, 5)
	quiet := r.fence(p, d, abi.SyncObjectNoSignal, 5)
	for _, c := range []struct {
		hs, vs []byte
		flags  abi.SignalFlags
		want   abi.Status
		av, bv uint64
	}{
		{handles(a, b), values(6, 4), 0, abi.StatusInvalidParameter, 5, 5},
		{handles(a, quiet), values(6, 6), 0, abi.StatusAccessDenied, 5, 5},
		{handles(a, b+0x40000), values(6, 6), 0, abi.StatusInvalidParameter, 5, 5},
		{handles(a, a), values(7, 6), 0, abi.StatusInvalidParameter, 5, 5},
		{handles(a, a), values(7, 6), abi.SignalAllowFenceRewind, 0, 6, 5},
		{handles(a, b), values(8, 5), 0, 0, 8, 5},
		{handles(a, b), values(9, 9), abi.SignalAtSubmission, abi.StatusInvalidParameter, 8, 5},
	} {
		if st := signal(p, d, c.flags, c.hs, c.vs); st != c.want || r.value(p, a) != c.av || r.value(p, b) != c.bv {
			t.Errorf("%v %v flags %d: %v, values %d %d; want %v, %d %d", c.hs, c.vs, c.flags, st, r.value(p, a), r.value(p, b), c.want, c.av, c.bv)
		}
	}
}

// Random programs of creates, shares, opens, signals, rewinds, waits, destroys
// and deaths against a model that keeps only values and targets.
func TestRandomProgramsAgainstModel(t *testing.T) {
	for seed := range uint64(300) {
		program(t, seed)
	}
}

type modelFence struct {
	value uint64
	lost  bool
}

type modelWait struct {
	event  *memEvent
	fence  *modelFence
	handle abi.Handle
	proc   *Process
	target uint64
	done   bool
}

func program(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	r := newRig(t)
	type local struct {
		p       *Process
		d, h    abi.Handle
		f       *modelFence
		created bool
	}
	var locals []local
	var waits []*modelWait
	procs := []*Process{r.process(), r.process(), r.process()}
	devs := map[*Process]abi.Handle{}
	for _, p := range procs {
		devs[p] = r.device(p, 0)
	}
	settle := func() {
		for _, w := range waits {
			if w.fence.value >= w.target {
				w.done = true
			}
		}
	}
	drop := func(i int) {
		for _, w := range waits {
			if w.proc == locals[i].p && w.handle == locals[i].h {
				w.done = true
			}
		}
		locals = append(locals[:i], locals[i+1:]...)
	}
	for step := range 60 {
		if len(procs) == 0 {
			break
		}
		p := procs[rng.IntN(len(procs))]
		action := rng.IntN(10)
		if len(locals) == 0 && action > 0 && action < 8 {
			action = 0
		}
		switch action {
		case 0:
			v := rng.Uint64N(4)
			locals = append(locals, local{p, devs[p], r.fence(p, devs[p], shareable, v), &modelFence{value: v}, true})
		case 1:
			l := locals[rng.IntN(len(locals))]
			fd, st := r.share(l.p, l.h, object.GenericAll)
			if st != 0 {
				t.Fatalf("seed %d step %d: share: %v", seed, step, st)
			}
			h, st := open(p, devs[p], fd, 0)
			if st != 0 {
				t.Fatalf("seed %d step %d: open: %v", seed, step, st)
			}
			locals = append(locals, local{p, devs[p], h, l.f, false})
			r.k.NTClosed(r.host.files[fd].(object.Key))
		case 2, 3, 4:
			l := locals[rng.IntN(len(locals))]
			v, flags, want := rng.Uint64N(12), abi.SignalFlags(0), abi.StatusSuccess
			if rng.IntN(2) == 0 {
				flags = abi.SignalAllowFenceRewind
			}
			switch {
			case v < l.f.value && flags == 0:
				want = abi.StatusInvalidParameter
			case !l.f.lost:
				settle() // whom the old value satisfies is released before it goes
				l.f.value = v
				settle()
			}
			if st := signal(l.p, l.d, flags, handles(l.h), values(v)); st != want {
				t.Fatalf("seed %d step %d: signal %d flags %d: %v, want %v", seed, step, v, flags, st, want)
			}
		case 5, 6:
			l := locals[rng.IntN(len(locals))]
			fd, e := r.event()
			w := &modelWait{event: e, fence: l.f, handle: l.h, proc: l.p, target: rng.Uint64N(14)}
			waits = append(waits, w)
			settle()
			if st := waitEvent(l.p, l.d, 0, fd, handles(l.h), values(w.target)); st != 0 {
				t.Fatalf("seed %d step %d: wait: %v", seed, step, st)
			}
		case 7:
			i := rng.IntN(len(locals))
			l := locals[i]
			drop(i)
			if st := destroy(l.p, l.h); st != 0 {
				t.Fatalf("seed %d step %d: destroy: %v", seed, step, st)
			}
			if st := destroy(l.p, l.h); st != abi.StatusInvalidParameter {
				t.Fatalf("seed %d step %d: second destroy: %v", seed, step, st)
			}
		case 8:
			if rng.IntN(8) > 0 {
				continue
			}
			var mine []*modelWait
			for i := 0; i < len(waits); i++ { // its own waits are cancelled
				if w := waits[i]; w.proc == p {
					if !w.done {
						mine = append(mine, w)
					}
					waits = append(waits[:i], waits[i+1:]...)
					i--
				}
			}
			for i := len(locals) - 1; i >= 0; i-- {
				if l := locals[i]; l.p == p {
					if l.created {
						l.f.value, l.f.lost = syncobj.Max, true
					}
					locals = append(locals[:i], locals[i+1:]...)
				}
			}
			settle()
			p.Exit()
			for _, w := range mine {
				if w.event.sets != 0 || w.event.refs != 0 {
					t.Fatalf("seed %d step %d: wait of a dead process: set %d, refs %d", seed, step, w.event.sets, w.event.refs)
				}
			}
			for i := range procs {
				if procs[i] == p {
					procs = append(procs[:i], procs[i+1:]...)
					break
				}
			}
		case 9:
			continue
		}
		settle()
		for _, l := range locals {
			if v := r.value(l.p, l.h); v != l.f.value {
				t.Fatalf("seed %d step %d action %d: fence %#x is %d, want %d", seed, step, action, uint32(l.h), v, l.f.value)
			}
		}
		for _, w := range waits {
			if got := w.event.sets == 1; got != w.done || w.event.sets > 1 || got == (w.event.refs == 1) {
				t.Fatalf("seed %d step %d action %d: wait for %d on %d: set %d times, %d refs; want done=%v", seed, step, action, w.target, w.fence.value, w.event.sets, w.event.refs, w.done)
			}
		}
	}
	for _, p := range procs {
		p.Exit()
	}
	if r.host.live != 0 {
		t.Fatalf("seed %d: %d memories left behind", seed, r.host.live)
	}
}

// Names of the system are for root where the configuration says so (OQ-21).
func TestNoGlobalNames(t *testing.T) {
	r := newRig(t)
	r.k.noGlobalNames = true
	name := func(text string) []byte {
		var b []byte
		for _, c := range text {
			b = binary.LittleEndian.AppendUint16(b, uint16(c))
		}
		return b
	}
	attributes := binary.LittleEndian.AppendUint32(nil, 0x30)
	attributes = append(attributes, make([]byte, 0x2C)...)
	for _, c := range []struct {
		uid  uint32
		name string
		want abi.Status
	}{
		{1000, `\BaseNamedObjects\a`, abi.StatusAccessDenied},
		{1000, `\Sessions\1\BaseNamedObjects\Global\a`, abi.StatusAccessDenied},
		{1000, `\Sessions\1\BaseNamedObjects\a`, abi.StatusSuccess},
		{0, `\BaseNamedObjects\a`, abi.StatusSuccess},
	} {
		p, st := r.k.Attach(ProcessInfo{PID: 1, UID: c.uid})
		if !st.OK() {
			t.Fatal(st)
		}
		f := r.fence(p, r.device(p, 0), shareable, 0)
		rec := abi.ShareObjects{ObjectCount: 1, DesiredAccess: uint32(object.GenericAll)}
		if _, st := do(p, 0x3F, &rec, nil, handles(f), attributes, make([]byte, 8), name(c.name)); st != c.want {
			t.Errorf("user %d, %s: %v, want %v", c.uid, c.name, st, c.want)
		}
	}
}

// Waits that end together end in the order in which they began, every time.
func TestWaitsEndInOrder(t *testing.T) {
	for _, end := range []func(r *rig, p *Process, d, f abi.Handle){
		func(_ *rig, p *Process, _, f abi.Handle) { destroy(p, f) },
		func(_ *rig, p *Process, d, _ abi.Handle) { do(p, 0x19, &abi.DestroyDevice{HDevice: d}, nil) },
	} {
		r := newRig(t)
		p := r.process()
		d := r.device(p, 0)
		f := r.fence(p, d, 0, 0)
		var order []int
		for i := range 20 {
			fd, e := r.event()
			e.onSet = func() { order = append(order, i) }
			waitEvent(p, d, 0, fd, handles(f), values(5))
		}
		end(r, p, d, f)
		if len(order) != 20 || !slices.IsSorted(order) {
			t.Errorf("the waits ended in the order %v", order)
		}
	}
}
