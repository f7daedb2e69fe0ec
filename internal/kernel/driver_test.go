package kernel

import (
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// A testDriver writes down what it is told and checks the promises of package ddi.
type testDriver struct {
	ddi.Refusals

	t        *testing.T
	kernel   func() *Kernel
	cb       ddi.Callbacks
	starts   int
	stops    int
	start    abi.Status // answers of the calls of these names
	create   abi.Status
	creating func(number uint64) // inside a create, after the driver has made its side
	ending   func()              // inside a destroy
	next     uint64
	live     map[uint64]uint64 // by handle: what the kernel calls it
	numbers  map[uint64]bool   // all that the kernel gave out
}

// told is at the beginning of every call.
func (d *testDriver) told(call string) {
	if d.starts != 1 || d.stops != 0 {
		d.t.Errorf("%s, started %d times and stopped %d times", call, d.starts, d.stops)
	}
	if k := d.kernel(); !k.mu.TryLock() {
		d.t.Errorf("%s with the kernel's lock", call)
	} else {
		k.mu.Unlock()
	}
}

func (d *testDriver) StartDevice(cb ddi.Callbacks) abi.Status {
	d.cb = cb
	d.starts++
	return d.start
}

func (d *testDriver) StopDevice() {
	d.told("StopDevice")
	d.stops++
	if len(d.live) > 0 {
		d.t.Errorf("stopped with %d things left", len(d.live))
	}
}

func (d *testDriver) Caps() ddi.Caps { return ddi.SignalCpuEvent | ddi.PeriodicFrameNotification }

func (d *testDriver) made(call string, number uint64) (uint64, abi.Status) {
	d.told(call)
	if d.numbers[number] {
		d.t.Errorf("%s: the number %d comes again", call, number)
	}
	d.numbers[number] = true
	if !d.create.OK() {
		return 0, d.create
	}
	d.next++
	d.live[d.next] = number
	if d.creating != nil {
		d.creating(number)
	}
	return d.next, abi.StatusSuccess
}

func (d *testDriver) gone(call string, h uint64) abi.Status {
	d.told(call)
	if _, ok := d.live[h]; !ok {
		d.t.Errorf("%s of %d, which is not there", call, h)
	}
	delete(d.live, h)
	if d.ending != nil {
		d.ending()
	}
	return abi.StatusSuccess
}

func (d *testDriver) CreateCpuEvent(_ ddi.KmdDevice, e ddi.DxgCpuEvent) (ddi.KmdCpuEvent, abi.Status) {
	h, st := d.made("CreateCpuEvent", uint64(e))
	return ddi.KmdCpuEvent(h), st
}

func (d *testDriver) DestroyCpuEvent(e ddi.KmdCpuEvent) abi.Status {
	return d.gone("DestroyCpuEvent", uint64(e))
}

func (d *testDriver) CreatePeriodicFrameNotification(a ddi.CreatePeriodicFrameNotificationArgs) (ddi.Notification, abi.Status) {
	h, st := d.made("CreatePeriodicFrameNotification", uint64(a.NotificationID))
	return ddi.Notification(h), st
}

func (d *testDriver) DestroyPeriodicFrameNotification(n ddi.Notification) abi.Status {
	return d.gone("DestroyPeriodicFrameNotification", uint64(n))
}
func (d *testDriver) Advance(int64)       { d.told("Advance") }
func (d *testDriver) Next() (int64, bool) { return 0, false }

// driverRig is a rig whose only adapter has a testDriver, with a process that has a
// device and an event.
type driverRig struct {
	*rig
	driver  *testDriver
	process *Process
	device  abi.Handle
	adapter abi.Handle
	fd      int
	event   *memEvent
}

func newDriverRig(t *testing.T) *driverRig {
	t.Helper()
	r := &driverRig{rig: &rig{t: t, host: newMemHost()}}
	r.driver = &testDriver{t: t, kernel: func() *Kernel { return r.k }, live: map[uint64]uint64{}, numbers: map[uint64]bool{}}
	k, err := New(Config{Host: r.host, Driver: func(*adapter.Profile) ddi.Driver { return r.driver }})
	if err != nil {
		t.Fatal(err)
	}
	r.k = k
	r.process = r.rig.process()
	r.device = r.rig.device(r.process, 0)
	a := abi.OpenAdapterFromLuid{AdapterLuid: k.adapters[0].LUID}
	do(r.process, 0x01, &a, nil)
	r.adapter = a.HAdapter
	r.fd, r.event = r.rig.event()
	return r
}

// driven are the kinds of objects that have a driver's side.
var driven = []abi.SyncObjectType{abi.CPUNotification, abi.PeriodicMonitoredFence}

// make creates an object with a driver's side. A create that fails writes nothing.
func (r *driverRig) make(kind abi.SyncObjectType) (abi.Handle, abi.Status) {
	r.t.Helper()
	rec := abi.CreateSynchronizationObject2{HDevice: r.device}
	rec.Info.Type = kind
	files := []int{abi.FileNone}
	if kind == abi.CPUNotification {
		rec.Info.Flags = abi.SyncObjectSignalByKmd
		files[0] = r.fd
	} else {
		rec.Info.PeriodicMonitoredFence().HAdapter = r.adapter
	}
	before := rec
	_, st := do(r.process, 0x10, &rec, files)
	if !st.OK() && rec != before {
		r.t.Errorf("a create of a %v that fails with %v writes %+v", kind, st, rec)
	}
	return rec.HSyncObject, st
}

// nothing checks that nothing is left of any object with a driver's side.
func (r *driverRig) nothing(when string) {
	r.t.Helper()
	a := r.k.adapters[0]
	if n := len(r.driver.live); n != 0 {
		r.t.Errorf("%s: the driver still has %d things", when, n)
	}
	if len(a.events)+len(a.notices)+len(a.byFence)+len(a.noticed) != 0 {
		r.t.Errorf("%s: the adapter has %d events, %d notices for %d fences, of %d users", when, len(a.events), len(a.notices), len(a.byFence), len(a.noticed))
	}
	if r.event.refs != 0 || r.host.live != 0 {
		r.t.Errorf("%s: %d references on the event, %d memories", when, r.event.refs, r.host.live)
	}
}

// A create that fails after the driver has done its part takes that back, once.
func TestLateFailureDestroysWhatTheDriverMade(t *testing.T) {
	for _, kind := range driven {
		for _, c := range []struct {
			name string
			want abi.Status
			fail func(r *driverRig)
		}{
			{"the device is gone", abi.StatusInvalidParameter, func(r *driverRig) {
				r.driver.creating = func(uint64) { do(r.process, 0x19, &abi.DestroyDevice{HDevice: r.device}, nil) }
			}},
			{"the process is gone", abi.StatusInvalidParameter, func(r *driverRig) {
				r.driver.creating = func(uint64) { r.process.Exit() }
			}},
			{"no handle is left", abi.StatusNoMemory, func(r *driverRig) { r.process.table.Limit(r.process.table.Len()) }},
			{"no memory can be handed out", abi.StatusNoMemory, func(r *driverRig) { r.host.grant = abi.StatusNoMemory }},
		} {
			if kind == abi.CPUNotification && c.name == "no memory can be handed out" {
				continue // it has none
			}
			r := newDriverRig(t)
			c.fail(r)
			when := kind.String() + ", " + c.name
			if _, st := r.make(kind); st != c.want || r.driver.next != 1 {
				t.Errorf("%s: %v, the driver made %d; want %v", when, st, r.driver.next, c.want)
			}
			r.nothing(when)
			r.process.Exit()
			r.k.Stop()
		}
	}
}

// What the driver answers is what the create answers. Source: objects.md §5.6.
func TestDriversStatusIsPassedThrough(t *testing.T) {
	for _, kind := range driven {
		for _, st := range []abi.Status{abi.StatusNoMemory, abi.StatusInvalidParameter, abi.StatusUnsuccessful, abi.StatusNotSupported} {
			r := newDriverRig(t)
			r.driver.create = st
			if _, got := r.make(kind); got != st {
				t.Errorf("%v: %v, want %v", kind, got, st)
			}
			r.nothing(kind.String() + ", " + st.Name())
			r.driver.create = abi.StatusSuccess
			if _, got := r.make(kind); !got.OK() {
				t.Errorf("%v after %v: %v", kind, st, got)
			}
		}
	}
}

// However an object ends, the driver is told once, before the event is closed.
func TestDriverIsToldOfTheEnd(t *testing.T) {
	for _, kind := range driven {
		for name, end := range map[string]func(r *driverRig, h abi.Handle){
			"destroy":      func(r *driverRig, h abi.Handle) { destroy(r.process, h) },
			"process ends": func(r *driverRig, _ abi.Handle) { r.process.Exit() },
			"device and adapter closed": func(r *driverRig, _ abi.Handle) {
				do(r.process, 0x19, &abi.DestroyDevice{HDevice: r.device}, nil)
				var open []abi.Handle
				r.process.table.All(func(h abi.Handle, v any) bool {
					if _, ok := v.(*adapterHandle); ok {
						open = append(open, h)
					}
					return true
				})
				for _, h := range open {
					do(r.process, 0x15, &abi.CloseAdapter{HAdapter: h}, nil)
				}
			},
		} {
			r := newDriverRig(t)
			h, st := r.make(kind)
			if !st.OK() {
				t.Fatal(st)
			}
			told := 0
			r.driver.ending = func() {
				told++
				if kind == abi.CPUNotification && r.event.refs != 1 {
					t.Errorf("%s: the event is closed before the driver knows", name)
				}
				if kind == abi.PeriodicMonitoredFence && r.host.live != 1 {
					t.Errorf("%s: the memory is freed before the driver knows", name)
				}
			}
			end(r, h)
			if told != 1 {
				t.Errorf("%v, %s: the driver was told %d times", kind, name, told)
			}
			r.nothing(kind.String() + ", " + name)
			r.process.Exit()
			r.k.Stop()
		}
	}
}

// Interrupts and signals for what is gone, was never there or is not made yet do
// nothing.
func TestInterruptsForWhatIsGone(t *testing.T) {
	r := newDriverRig(t)
	interrupt := func(id uint32, count uint64) {
		r.driver.cb.NotifyInterrupt(ddi.PeriodicMonitoredFenceSignaled{NotificationID: id, Count: count})
	}
	var id uint32
	r.driver.creating = func(number uint64) {
		id = uint32(number)
		interrupt(id, 1)
	}
	f, st := r.make(abi.PeriodicMonitoredFence)
	if !st.OK() || r.value(r.process, f) != 0 {
		t.Fatalf("%v", st)
	}
	for _, c := range []struct {
		id    uint32
		count uint64
		want  uint64
	}{{id, 1, 1}, {id, 0, 2}, {id, 3, 5}, {id + 1, 1, 5}, {0, 1, 5}, {^uint32(0), 1, 5}} {
		if interrupt(c.id, c.count); r.value(r.process, f) != c.want {
			t.Errorf("after %d for %d (ours is %d) the value is %d, want %d", c.count, c.id, id, r.value(r.process, f), c.want)
		}
	}
	r.driver.ending = func() { interrupt(id, 1) } // a driver that breaks its promise
	destroy(r.process, f)
	interrupt(id, 1)

	var event ddi.DxgCpuEvent
	signal := func(e ddi.DxgCpuEvent, want abi.Status, sets int) {
		t.Helper()
		if st := r.driver.cb.SignalEvent(e); st != want || r.event.sets != sets {
			t.Errorf("signal of %d: %v, set %d times; want %v, %d", e, st, r.event.sets, want, sets)
		}
	}
	r.driver.creating = func(number uint64) {
		event = ddi.DxgCpuEvent(number)
		signal(event, abi.StatusInvalidParameter, 0)
	}
	r.driver.ending = func() { signal(event, abi.StatusInvalidParameter, 2) }
	n, st := r.make(abi.CPUNotification)
	if !st.OK() {
		t.Fatal(st)
	}
	signal(event, abi.StatusSuccess, 1)
	signal(event, abi.StatusSuccess, 2)
	signal(event+1, abi.StatusInvalidParameter, 2)
	signal(0, abi.StatusInvalidParameter, 2)
	signal(ddi.DxgCpuEvent(id), abi.StatusInvalidParameter, 2) // a notification's number
	destroy(r.process, n)
	signal(event, abi.StatusInvalidParameter, 2)
	r.nothing("at the end")
}

// One user may have 768 notifications of an adapter, all have 1024 together.
func TestNotificationsOfOneUser(t *testing.T) {
	r := newRig(t)
	attach := func(uid uint32) (*Process, func() (abi.Handle, abi.Status)) {
		p, st := r.k.Attach(ProcessInfo{PID: 1, UID: uid})
		if !st.OK() {
			t.Fatal(st)
		}
		d := r.device(p, 0)
		a := abi.OpenAdapterFromLuid{AdapterLuid: r.k.adapters[0].LUID}
		do(p, 0x01, &a, nil)
		return p, func() (abi.Handle, abi.Status) {
			rec := abi.CreateSynchronizationObject2{HDevice: d}
			rec.Info.Type = abi.PeriodicMonitoredFence
			rec.Info.PeriodicMonitoredFence().HAdapter = a.HAdapter
			_, st := do(p, 0x10, &rec, []int{abi.FileNone})
			return rec.HSyncObject, st
		}
	}
	fill := func(create func() (abi.Handle, abi.Status)) (all []abi.Handle) {
		for {
			h, st := create()
			if st == abi.StatusNoMemory {
				return all
			}
			if !st.OK() {
				t.Fatal(st)
			}
			all = append(all, h)
		}
	}
	greedy, create := attach(1)
	_, more := attach(1) // of the same user
	_, other := attach(2)
	first := fill(create)
	if n, m, o := len(first), len(fill(more)), len(fill(other)); n != 768 || m != 0 || o != 256 {
		t.Errorf("%d, then %d by the same user, and %d by another; want 768, 0, 256", n, m, o)
	}
	if live := r.host.live; live != 1024 {
		t.Errorf("%d memories", live)
	}
	for _, h := range first[:10] {
		destroy(greedy, h)
	}
	if n := len(fill(more)); n != 10 {
		t.Errorf("%d where ten were destroyed", n)
	}
	greedy.Exit()
	if n := len(fill(other)); n != 512 {
		t.Errorf("%d more by the other user, want 512 up to his own limit", n)
	}
}

// Drivers are started once and stopped once, also those that were started before
// another failed to.
func TestDriversStartAndStop(t *testing.T) {
	neutral, err := adapter.Load("neutral")
	if err != nil {
		t.Fatal(err)
	}
	bad := *neutral
	bad.Nodes = nil
	for name, c := range map[string]struct {
		profiles []*adapter.Profile
		start    []abi.Status
		starts   []int // of each driver
		stops    []int
	}{
		"good":              {[]*adapter.Profile{neutral, neutral}, []abi.Status{0, 0}, []int{1, 1}, []int{1, 1}},
		"the second fails":  {[]*adapter.Profile{neutral, neutral, neutral}, []abi.Status{0, abi.StatusUnsuccessful, 0}, []int{1, 1}, []int{1, 0}},
		"a profile is none": {[]*adapter.Profile{neutral, &bad}, []abi.Status{0, 0}, []int{1}, []int{1}},
	} {
		var k *Kernel
		var all []*testDriver
		k, err := New(Config{Host: newMemHost(), Profiles: c.profiles, Driver: func(*adapter.Profile) ddi.Driver {
			d := &testDriver{t: t, start: c.start[len(all)], kernel: func() *Kernel {
				if k == nil {
					return new(Kernel) // it is being made
				}
				return k
			}}
			all = append(all, d)
			return d
		}})
		if (err == nil) != (name == "good") {
			t.Errorf("%s: %v", name, err)
		}
		if k != nil {
			k.Stop()
		}
		var starts, stops []int
		for _, d := range all {
			starts, stops = append(starts, d.starts), append(stops, d.stops)
		}
		if !slices.Equal(starts, c.starts) || !slices.Equal(stops, c.stops) {
			t.Errorf("%s: started %v, stopped %v; want %v, %v", name, starts, stops, c.starts, c.stops)
		}
	}
}
