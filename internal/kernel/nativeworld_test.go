package kernel

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/explore"
	"github.com/dxgsync/dxgsync/internal/page"
)

// A nativeWorld is a kernel with one native fence, a GPU that signals it, and CPUs that
// wait, which are run in every order. They may be overtaken before each access of the GPU
// to the two values, before each interrupt, before and behind each call of the driver, and
// where one waits for its turn to call it. What the kernel does under its lock is one step:
// it reads the current value once.
type nativeWorld struct {
	*rig
	run   *explore.Run
	a     *Adapter
	p     *Process
	d     abi.Handle
	h     abi.Handle // of the fence
	fence *fence
	on    *nativeOn
	turn  *explore.Locker
	spoil spoil
	blind bool // the next look at the value shows 0

	waits  []*worldWait
	others int    // threads but that of the alarm that are not over
	stored uint64 // the highest value that there was
	owed   bool   // the GPU found a value above the monitored one, and the kernel was not interrupted yet
	count  int    // interrupts
	told   int    // calls that told the GPU of a value

	alarm bool          // somebody is to tick
	ticks bool          // a thread of its own does
	state func() string // of the GPU
	late  []func()      // stores of a driver that breaks its promise
}

// A worldWait is a CPU that waits for a value.
type worldWait struct {
	goal      uint64
	ticket    uint32
	met       bool // at once
	withdrawn bool
}

// worldBells are for all worlds, one after the other.
var worldBells = sync.OnceValues(page.CreateBells)

// nativeProfile is the preset native, changed.
func nativeProfile(t testing.TB, change func(p *adapter.Profile)) *adapter.Profile {
	t.Helper()
	p, err := adapter.Load("native")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(p)
	}
	return p
}

// newNativeWorld makes a world whose driver is made by driver. Nobody runs yet.
func newNativeWorld(t testing.TB, run *explore.Run, profile *adapter.Profile, driver func(w *nativeWorld) ddi.Driver) *nativeWorld {
	t.Helper()
	w := &nativeWorld{rig: &rig{t: t}, run: run}
	host := &worldHost{newMemHost(), w}
	k, err := New(Config{Host: host, Profiles: []*adapter.Profile{profile}, Driver: func(*adapter.Profile) ddi.Driver { return driver(w) }})
	if err != nil {
		t.Fatal(err)
	}
	bells, err := worldBells()
	if err != nil {
		t.Fatal(err)
	}
	w.k, w.host, w.a = k, host.memHost, k.adapters[0]
	w.turn = run.Locker("turn", w.asks)
	w.a.asking = w.turn
	w.p = w.process()
	w.p.Bells(bells, 1, 16)
	w.d = w.device(w.p, 0)
	rec := abi.CreateNativeFence{HDevice: w.d}
	_, st := do(w.p, 0x800E, &rec, nil)
	w.ok(st)
	w.h = rec.HSyncObject
	for _, w.on = range w.a.natives {
		w.fence = w.on.native.fence
	}
	run.Shared(w.String)
	run.Check(w.early)
	run.End(w.end)
	return w
}

// String is all that threads share.
func (w *nativeWorld) String() string {
	var waits []byte
	for _, x := range w.waits {
		waits = append(waits, "LA-"[w.stateOf(x)])
	}
	o := w.on
	return fmt.Sprintf("at %d monitored %d wanted %d asked %d written %v tell %d asks %v turn %q blind %v late %d waits %s others %d stored %d owed %v alarm %v told %d %s",
		w.value(), int64(o.monitored.Load()), int64(o.wanted), o.asked, o.written.Load(), len(w.a.tell.list), w.a.sched.Asks(), w.turn.Holder(),
		w.blind, len(w.late), waits, w.others, w.stored, w.owed, w.alarm, w.told, w.state())
}

func (w *nativeWorld) asks() bool { return w.a.sched.Asks() }

func (w *nativeWorld) value() uint64 { return w.on.Load() }

// stateOf is 0 for a wait that the kernel has on its list, 1 for one that it has answered,
// and 2 for one that it does not know, or no more.
func (w *nativeWorld) stateOf(x *worldWait) int {
	bells, _ := worldBells()
	_, answered := bells.Ticket(x.ticket)
	switch {
	case w.p.tickets[x.ticket] != nil:
		return 0
	case x.met || answered && !x.withdrawn:
		return 1
	}
	return 2
}

// wait adds a CPU that waits for a value; one that withdraws may give up at any time.
func (w *nativeWorld) wait(goal uint64, withdraws bool) {
	bells, _ := worldBells()
	x := &worldWait{goal: goal, ticket: uint32(len(w.waits)) + 1}
	bells.Answer(x.ticket, 0)
	bells.Issue(x.ticket)
	w.waits = append(w.waits, x)
	w.cpu(fmt.Sprintf("wait for %d", goal), func() {
		rec := abi.WaitForSynchronizationObjectFromCpu{HDevice: w.d, ObjectCount: 1}
		st := w.p.Do(&abi.Request{
			Op: abi.OpByNr(0x3A), Record: unsafe.Slice((*byte)(unsafe.Pointer(&rec)), unsafe.Sizeof(rec)),
			Arrays: [][]byte{handles(w.h), values(goal)}, Files: []int{abi.FileNone}, Bell: x.ticket, Ticket: x.ticket,
		})
		w.run.Forget(st)
		switch {
		case st.OK() && st != abi.StatusPending:
			x.met = true
		case st != abi.StatusPending:
			w.run.Fail(st)
		case withdraws && w.run.Choose("withdraw, or wait", 2) == 0:
			_, st := do(w.p, 0xF005, &abi.CancelWait{Ticket: x.ticket}, nil)
			x.withdrawn = st.OK()
		}
	})
}

// signal adds a CPU that signals a value, unless it comes too late for that.
func (w *nativeWorld) signal(v uint64) {
	w.cpu(fmt.Sprintf("signal %d", v), func() {
		if v >= w.value() {
			w.stored = max(w.stored, v)
			w.run.Fail(failure(signal(w.p, w.d, 0, handles(w.h), values(v))))
		}
	})
}

func failure(st abi.Status) error {
	if st.OK() {
		return nil
	}
	return st
}

func (w *nativeWorld) cpu(name string, f func()) {
	w.others++
	w.run.Go(name, func() {
		f()
		w.others--
	})
}

// ticker adds the thread that the alarm wakes.
func (w *nativeWorld) ticker() {
	w.alarm, w.ticks = false, true
	w.run.Go("alarm", func() {
		for {
			w.run.Await("alarm", func() bool { return w.alarm || w.others == 0 })
			if !w.alarm {
				return
			}
			w.alarm = false
			w.k.Tick()
			w.run.Forget()
		}
	})
}

// early finds waits that ended before their value came.
func (w *nativeWorld) early() error {
	for _, x := range w.waits {
		if w.stateOf(x) == 1 && w.stored < x.goal {
			return fmt.Errorf("the wait for %d ended at %d", x.goal, w.stored)
		}
	}
	return nil
}

// end finds waits that are stuck, interrupts that were lost, and monitored values that are
// not those of the waits that are left.
func (w *nativeWorld) end() error {
	w.afterAll()
	lowest := uint64(page.MvalNone)
	for _, x := range w.waits {
		if w.stateOf(x) != 0 {
			continue
		}
		if w.value() >= x.goal {
			return fmt.Errorf("the wait for %d is stuck at %d", x.goal, w.value())
		}
		lowest = min(lowest, x.goal-1)
	}
	if w.owed {
		return errors.New("an interrupt was lost")
	}
	w.k.Tick() // what follows from a value that was lowered comes with the next operation
	if m := w.on.monitored.Load(); m != lowest {
		return fmt.Errorf("the monitored value is %d instead of %d", int64(m), int64(lowest))
	}
	w.k.Stop()
	return nil
}
