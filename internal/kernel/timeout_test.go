package kernel

import (
	"encoding/binary"
	"math"
	"testing"
	"unsafe"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// clockRig is a rig with clocks that stand still, and a process that has a keyed mutex
// of key 0 and lines of a bell table.
type clockRig struct {
	*rig
	now, time int64
	process   *Process
	bells     *page.Bells
	mutex     abi.Handle
}

// Where the clocks of a clockRig begin.
const (
	beginNow  = 1_000_000
	beginTime = 133_000_000_000_000_000 // in the year 2022
)

const hour = 3600 * 1_000_000_000 // on the steady clock

func newClockRig(t *testing.T) *clockRig {
	t.Helper()
	r := &clockRig{rig: &rig{t: t, host: newMemHost()}, now: beginNow, time: beginTime}
	k, err := New(Config{Host: r.host, Now: func() int64 { return r.now }, Time: func() int64 { return r.time }})
	if err != nil {
		t.Fatal(err)
	}
	r.k = k
	if r.bells, err = page.CreateBells(); err != nil {
		t.Fatal(err)
	}
	r.process = r.rig.process()
	r.process.Bells(r.bells, 1, 16)
	rec := abi.CreateKeyedMutex{}
	if _, st := do(r.process, 0x8004, &rec, nil); !st.OK() {
		t.Fatal(st)
	}
	r.mutex = rec.HKeyedMutex
	return r
}

// acquire asks for a key, for the thread with this line of the bell table.
func (r *clockRig) acquire(thread uint32, key uint64, timeout *int64) abi.Status {
	rec := abi.AcquireKeyedMutex{HKeyedMutex: r.mutex, Key: key}
	q := &abi.Request{
		Op: abi.OpByNr(0x8009), Record: unsafe.Slice((*byte)(unsafe.Pointer(&rec)), unsafe.Sizeof(rec)),
		Arrays: make([][]byte, 1), Bell: thread, Ticket: thread,
	}
	if timeout != nil {
		q.Arrays[0] = binary.LittleEndian.AppendUint64(nil, uint64(*timeout))
	}
	r.bells.Issue(thread)
	return r.process.Do(q)
}

// at puts the clocks that far from where they began, and tells the kernel.
func (r *clockRig) at(now, time int64) {
	r.now, r.time = beginNow+now, beginTime+time
	r.k.Tick()
}

// want checks what a thread that waits was answered: PENDING for nothing yet.
func (r *clockRig) want(when string, thread uint32, want abi.Status) {
	r.t.Helper()
	got := abi.StatusPending
	if st, ok := r.bells.Ticket(thread); ok {
		got = abi.Status(st)
	}
	if got != want {
		r.t.Errorf("%s: thread %d has %v, want %v", when, thread, got, want)
	}
}

// due checks what Next says, from where the clocks began; never is math.MaxInt64.
func (r *clockRig) due(when string, steady, wall int64) {
	r.t.Helper()
	s, w := r.k.Next()
	if s != math.MaxInt64 {
		s -= beginNow
	}
	if w != math.MaxInt64 {
		w -= beginTime
	}
	if s != steady || w != wall {
		r.t.Errorf("%s: due at %d and %d, want %d and %d", when, s, w, steady, wall)
	}
}

const never = math.MaxInt64

// Timeouts are those of NT: relative ones are negative and live on the steady clock,
// absolute ones are times since 1601 and follow the system's time whatever sets it.
func TestNTTimeouts(t *testing.T) {
	type step struct {
		now, time int64 // from where the clocks began
		want      abi.Status
	}
	const (
		pending, timeout = abi.StatusPending, abi.StatusTimeout
		day              = 24 * 3600 * 10_000_000
		century          = 36525 * day
	)
	for name, c := range map[string]struct {
		timeout      int64
		first        abi.Status
		steady, wall int64 // when it is due
		steps        []step
	}{
		"zero":             {0, timeout, never, never, nil},
		"now":              {beginTime, timeout, never, never, nil},
		"past":             {beginTime - 1, timeout, never, never, nil},
		"1601":             {1, timeout, never, never, nil},
		"relative, 100 ns": {-1, pending, 100, never, []step{{99, 0, pending}, {100, 0, timeout}}},
		"relative, 16 ms":  {-160_000, pending, 16_000_000, never, []step{{0, 0, pending}, {15_999_999, 0, pending}, {16_000_000, 0, timeout}}},
		"relative, late":   {-160_000, pending, 16_000_000, never, []step{{hour, 0, timeout}}},
		"relative, the time is set": {-160_000, pending, 16_000_000, never, []step{
			{0, century, pending}, {0, -century, pending}, {15_999_999, century, pending}, {16_000_000, -century, timeout},
		}},
		"absolute": {beginTime + 5, pending, never, 5, []step{{0, 4, pending}, {400, 4, pending}, {400, 5, timeout}}},
		"absolute, the time stands": {beginTime + 5, pending, never, 5, []step{
			{hour, 0, pending}, {hour * 1000, 4, pending}, {hour * 1000, 5, timeout},
		}},
		"absolute, set forward": {beginTime + day, pending, never, day, []step{{100, 1, pending}, {100, 2 * day, timeout}}},
		"absolute, set back": {beginTime + day, pending, never, day, []step{
			{100, -century, pending}, {hour, -century + day, pending}, {hour, day - 1, pending}, {hour, day, timeout},
		}},
		"the longest relative": {math.MinInt64, pending, never, never, []step{{century, century, pending}}},
		"nearly as long":       {math.MinInt64 + 1, pending, never, never, []step{{century, century, pending}}},
		"the longest absolute": {math.MaxInt64, pending, never, never, []step{{century, century, pending}}},
		"absolute, 100 ns":     {beginTime + 1, pending, never, 1, []step{{99, 0, pending}, {100, 1, timeout}}},
	} {
		r := newClockRig(t)
		if st := r.acquire(1, 7, &c.timeout); st != c.first {
			t.Errorf("%s: %v, want %v", name, st, c.first)
			continue
		}
		r.due(name, c.steady, c.wall)
		for _, s := range c.steps {
			r.at(s.now, s.time)
			r.want(name, 1, s.want)
			if s.want == timeout {
				r.due(name+", done", never, never)
			}
		}
		r.process.Exit()
		r.due(name+", at the end", never, never)
	}
}

// Whatever ends a wait before its time, nothing is due for it any more, and its thread
// is not told twice.
func TestTimeoutIsClearedByOtherEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(r *clockRig)
		want abi.Status // answered on the ticket
	}{
		"release": {func(r *clockRig) {
			r.acquire(2, 0, nil)
			rec := abi.ReleaseKeyedMutex{HKeyedMutex: r.mutex, Key: 7}
			r.release(2, &rec)
		}, abi.StatusSuccess},
		"destroy": {func(r *clockRig) {
			do(r.process, 0x800D, &abi.DestroyKeyedMutex{HKeyedMutex: r.mutex}, nil)
		}, abi.StatusInvalidParameter},
		"cancel":       {func(r *clockRig) { do(r.process, 0xF005, &abi.CancelWait{Ticket: 1}, nil) }, abi.StatusPending},
		"thread ends":  {func(r *clockRig) { do(r.process, 0xF008, &abi.EndThread{Ticket: 1}, nil) }, abi.StatusPending},
		"process ends": {func(r *clockRig) { r.process.Exit() }, abi.StatusPending},
	} {
		for _, timeout := range []int64{-1000, beginTime + 1000} {
			r := newClockRig(t)
			if st := r.acquire(1, 7, &timeout); st != abi.StatusPending {
				t.Fatalf("%s: %v", name, st)
			}
			c.end(r)
			r.want(name, 1, c.want)
			r.due(name, never, never)
			r.at(hour, hour)
			r.want(name+", its time has come", 1, c.want)
		}
	}
}

func (r *clockRig) release(thread uint32, rec *abi.ReleaseKeyedMutex) {
	r.t.Helper()
	q := &abi.Request{
		Op: abi.OpByNr(0x800B), Record: unsafe.Slice((*byte)(unsafe.Pointer(rec)), unsafe.Sizeof(*rec)),
		Bell: thread, Ticket: thread,
	}
	if st := r.process.Do(q); !st.OK() {
		r.t.Fatal("ReleaseKeyedMutex:", st)
	}
}

// Each of several threads ends at its own time, on either clock; a thread whose time is
// up is not the next owner.
func TestTimeoutsOfSeveralThreads(t *testing.T) {
	r := newClockRig(t)
	for i, timeout := range []int64{-30, beginTime + 20, -10, beginTime + 40, -30} {
		if st := r.acquire(uint32(i)+1, 7, &timeout); st != abi.StatusPending {
			t.Fatal(st)
		}
	}
	all := func(when string, want ...abi.Status) {
		t.Helper()
		for i, st := range want {
			r.want(when, uint32(i)+1, st)
		}
	}
	const pending, timeout = abi.StatusPending, abi.StatusTimeout
	r.due("at first", 1000, 20)
	r.at(1000, 10)
	all("1 µs", pending, pending, timeout, pending, pending)
	r.due("1 µs", 3000, 20)
	r.at(2000, 20)
	all("2 µs", pending, timeout, timeout, pending, pending)
	r.due("2 µs", 3000, 40)
	r.at(3000, 30)
	all("3 µs", timeout, timeout, timeout, pending, timeout)
	r.due("3 µs", never, 40)
	r.acquire(9, 0, nil)
	r.release(9, &abi.ReleaseKeyedMutex{HKeyedMutex: r.mutex, Key: 7})
	all("released", timeout, timeout, timeout, abi.StatusSuccess, timeout)
	r.due("released", never, never)
}

// The host is asked to look again when something is due earlier than it knows, and only
// then.
func TestAlarm(t *testing.T) {
	r := newClockRig(t)
	for i, c := range []struct {
		timeout int64
		alarm   bool
	}{{-100, true}, {-200, false}, {-50, true}, {beginTime + 100, true}, {beginTime + 200, false}, {beginTime + 50, true}, {-50, false}} {
		before := r.host.alarms
		if st := r.acquire(uint32(i)+1, 7, &c.timeout); st != abi.StatusPending {
			t.Fatal(st)
		}
		if got := r.host.alarms - before; got != map[bool]int{true: 1}[c.alarm] {
			t.Errorf("%d, timeout %d: %d alarms", i, c.timeout, got)
		}
	}
}
