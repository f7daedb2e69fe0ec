package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/object"
)

// A nativeDriver writes down what it is told of native fences, and does it.
type nativeDriver struct {
	ddi.Refusals
	rig       *nativeRig
	name      string
	cb        ddi.Callbacks
	caps      ddi.NativeFenceCaps
	next      uint64
	refuse    string            // the call that answers NO_MEMORY
	inside    func(call string) // inside each call
	monitored map[ddi.KmdNativeFence]uint64
	dxg       map[ddi.KmdNativeFence]ddi.DxgNativeFence
	created   ddi.CreateNativeFenceArgs
	opened    ddi.OpenNativeFenceArgs
	more      ddi.Caps
	storage   ddi.Storage // what it would like
	buffers   map[abi.NativeFenceLogType]ddi.SetNativeFenceLogBufferArgs
}

func (d *nativeDriver) StartDevice(cb ddi.Callbacks) abi.Status {
	d.cb = cb
	return abi.StatusSuccess
}
func (d *nativeDriver) StopDevice() {}
func (d *nativeDriver) Caps() ddi.Caps {
	caps := ddi.HwScheduling | d.more
	if d.cb.IsFeatureEnabled(abi.FeatureNativeFence) {
		caps |= ddi.NativeGpuFence
	}
	return caps
}
func (d *nativeDriver) Advance(int64)                        {}
func (d *nativeDriver) Next() (int64, bool)                  { return 0, false }
func (d *nativeDriver) NativeFenceCaps() ddi.NativeFenceCaps { return d.caps }

func (d *nativeDriver) told(call, format string, args ...any) abi.Status {
	if !d.rig.k.mu.TryLock() {
		d.rig.t.Errorf("%s with the kernel's lock", call)
	} else {
		d.rig.k.mu.Unlock()
	}
	d.rig.trace = append(d.rig.trace, d.name+" "+call+fmt.Sprintf(format, args...))
	if d.inside != nil {
		d.inside(call)
	}
	if d.refuse == call {
		return abi.StatusNoMemory
	}
	return abi.StatusSuccess
}

func (d *nativeDriver) CreateNativeFence(a ddi.CreateNativeFenceArgs) (ddi.KmdNativeFence, abi.Status) {
	d.next++
	h := ddi.KmdNativeFence(d.next)
	d.created, d.dxg[h], d.monitored[h] = a, a.Fence, math.MaxUint64
	a.PrivateDriverData[0]++
	return h, d.told("create", " %d", h)
}

func (d *nativeDriver) OpenNativeFence(a ddi.OpenNativeFenceArgs) (ddi.KmdLocalNativeFence, abi.Status) {
	d.next++
	d.opened = a
	return ddi.KmdLocalNativeFence(d.next), d.told("open", " %d of %d", d.next, a.Fence)
}

func (d *nativeDriver) CloseNativeFence(h ddi.KmdLocalNativeFence) abi.Status {
	return d.told("close", " %d", h)
}

func (d *nativeDriver) DestroyNativeFence(h ddi.KmdNativeFence) abi.Status {
	return d.told("destroy", " %d", h)
}

func (d *nativeDriver) UpdateMonitoredValues(list []ddi.MonitoredValueUpdate) {
	for _, u := range list {
		d.told("monitored", " %d at %d", u.Fence, int64(u.Value))
		u.MonitoredValue.Store(u.Value)
		d.monitored[u.Fence] = u.Value
	}
}

func (d *nativeDriver) UpdateCurrentValuesFromCpu(list []ddi.CurrentValueUpdate, flags ddi.CurrentValueFlags) {
	for _, u := range list {
		if flags == ddi.NotificationOnly {
			u.Value = 0
		}
		d.told("current", " %d at %d flags %d", u.Fence, u.Value, flags)
	}
}

func (d *nativeDriver) CreateHwQueue(a ddi.CreateHwQueueArgs) (ddi.KmdHwQueue, abi.Status) {
	d.next++
	return ddi.KmdHwQueue(d.next), d.told("queue", " %d on %d flags %v", d.next, a.NativeProgressFence, a.Flags)
}

func (d *nativeDriver) DestroyHwQueue(q ddi.KmdHwQueue) abi.Status {
	return d.told("unqueue", " %d", q)
}

func (d *nativeDriver) FenceStorage(ddi.FenceStorageArgs) ddi.Storage { return d.storage }

func (d *nativeDriver) KickNativeFence(f ddi.DxgNativeFence) abi.Status {
	return d.told("kick", " %d", f)
}

func (d *nativeDriver) SetNativeFenceLogBuffer(a ddi.SetNativeFenceLogBufferArgs) {
	d.told("log", " %d %v", a.HwQueue, a.Type)
	if d.buffers == nil {
		d.buffers = map[abi.NativeFenceLogType]ddi.SetNativeFenceLogBufferArgs{}
	}
	d.buffers[a.Type] = a
}

func (d *nativeDriver) UpdateNativeFenceLogs(queues []ddi.KmdHwQueue) {
	d.told("update logs", " %v", queues)
}

// nativeRig has adapters of the preset native with nativeDrivers, and processes.
type nativeRig struct {
	*rig
	drivers []*nativeDriver
	trace   []string
}

func newNativeRig(t *testing.T, profiles ...string) *nativeRig {
	t.Helper()
	r := &nativeRig{rig: &rig{t: t, host: newMemHost()}}
	var all []*adapter.Profile
	for _, name := range profiles {
		p, err := adapter.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	k, err := New(Config{Host: r.host, Profiles: all, Driver: func(p *adapter.Profile) ddi.Driver {
		d := &nativeDriver{rig: r, name: string(rune('A' + len(r.drivers))), caps: ddi.NativeFenceCaps{MapToGpuSystemProcess: true}, monitored: map[ddi.KmdNativeFence]uint64{}, dxg: map[ddi.KmdNativeFence]ddi.DxgNativeFence{}}
		r.drivers = append(r.drivers, d)
		return d
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.k = k
	return r
}

// told is the trace since it was last asked.
func (r *nativeRig) told(when string, want ...string) {
	r.t.Helper()
	if !slices.Equal(r.trace, want) {
		r.t.Errorf("%s: the drivers were told %q, want %q", when, r.trace, want)
	}
	r.trace = nil
}

func (r *nativeRig) create(p *Process, d abi.Handle, typ abi.NativeFenceType, flags abi.SyncObjectFlags, v uint64) (abi.CreateNativeFence, abi.Status) {
	rec := abi.CreateNativeFence{HDevice: d, Info: abi.NativeFenceInfo{InitialFenceValue: v, Type: typ, Flags: flags}}
	_, st := do(p, 0x800E, &rec, nil)
	return rec, st
}

func (r *nativeRig) open(p *Process, d abi.Handle, fd int, flags abi.SyncObjectFlags) (abi.OpenNativeFenceFromNtHandle, abi.Status) {
	rec := abi.OpenNativeFenceFromNtHandle{HDevice: d, Flags: flags}
	_, st := do(p, 0x800F, &rec, []int{fd})
	return rec, st
}

// made is create that succeeds.
func (r *nativeRig) made(p *Process, d abi.Handle, flags abi.SyncObjectFlags) abi.CreateNativeFence {
	r.t.Helper()
	rec, st := r.create(p, d, abi.NativeFenceDefault, flags, 0)
	r.ok(st)
	return rec
}

const ntShared = abi.SyncObjectShared | abi.SyncObjectNtSecuritySharing

// The order of native-fence.md §9.
func TestNativeFenceLife(t *testing.T) {
	r := newNativeRig(t, "native")
	a, b := r.process(), r.process()
	da, db := r.device(a, 0), r.device(b, 0)
	f := r.made(a, da, ntShared)
	r.told("create", "A create 1", "A open 2 of 1")
	if f.PrivateDriverData[0] != 1 {
		t.Error("the driver's private data did not come back")
	}
	fd, st := r.share(a, f.HSyncObject, object.SyncObjectAll)
	r.ok(st)
	g, st := r.open(b, db, fd, 0)
	r.ok(st)
	again := r.device(a, 0)
	h, st := r.open(a, again, fd, 0)
	r.ok(st)
	r.told("open", "A open 3 of 1", "A open 4 of 1")
	if f.Info.NativeFenceMapping != h.NativeFenceMapping {
		t.Errorf("another device of the process sees it at %+v, not %+v", h.NativeFenceMapping, f.Info.NativeFenceMapping)
	}
	if g.NativeFenceMapping.CurrentValueGpuVa == 0 || g.NativeFenceMapping.CurrentValueGpuVa&^4095 == g.NativeFenceMapping.MonitoredValueGpuVa&^4095 {
		t.Errorf("another process sees it at %+v", g.NativeFenceMapping)
	}
	r.ok(destroy(a, f.HSyncObject))
	r.told("the creator destroys", "A close 2")
	r.ok(destroyDevice(a, again))
	r.told("the second device ends", "A close 4")
	r.ok(destroy(b, g.HSyncObject))
	r.told("the last destroys", "A close 3", "A destroy 1")
	if n := len(r.k.adapters[0].natives); n != 0 {
		t.Errorf("%d are left", n)
	}
	if _, n := r.k.adapters[0].system.Size(); n != 0 {
		t.Errorf("the system process sees %d words of nothing", n)
	}
	// The NT handle has the object yet: it can be opened again, and the driver knows nothing.
	g, st = r.open(b, db, fd, 0)
	r.ok(st)
	r.told("open again", "A create 5", "A open 6 of 5")
	b.Exit()
	r.told("death", "A close 6", "A destroy 5")
}

func TestNativeFenceRefusals(t *testing.T) {
	r := newNativeRig(t, "native", "neutral", "amd")
	p := r.process()
	for _, c := range []struct {
		name    string
		adapter int
		typ     abi.NativeFenceType
		flags   abi.SyncObjectFlags
		want    abi.Status
	}{
		{"default", 0, 0, 0, abi.StatusSuccess},
		{"INTRA_GPU", 0, 1, 0, abi.StatusSuccess},
		{"INTRA_GPU that Windows does not have yet", 1, 1, 0, abi.StatusNotSupported},
		{"no such type", 0, 2, 0, abi.StatusInvalidParameter},
		{"INTRA_GPU across adapters", 0, 1, ntShared | abi.SyncObjectCrossAdapter, abi.StatusInvalidParameter},
		{"shared without NT handles", 0, 0, abi.SyncObjectShared, abi.StatusInvalidParameter},
		{"TopOfPipeline", 0, 0, abi.SyncObjectTopOfPipeline, abi.StatusInvalidParameter},
		{"no native fences", 2, 0, 0, abi.StatusNotSupported},
		{"no native fences, and bad flags", 2, 0, abi.SyncObjectTopOfPipeline, abi.StatusInvalidParameter},
	} {
		if _, st := r.create(p, r.device(p, c.adapter), c.typ, c.flags, 0); st != c.want {
			t.Errorf("%s: %v, want %v", c.name, st, c.want)
		}
	}
	d := r.device(p, 0)
	rec := abi.CreateNativeFence{HDevice: d, Flags: 1}
	if _, st := do(p, 0x800E, &rec, nil); st != abi.StatusInvalidParameter {
		t.Error("reserved flags:", st)
	}
	markAsError(p, d)
	if _, st := r.create(p, d, 0, 0, 0); st != abi.StatusDeviceRemoved {
		t.Error("lost device:", st)
	}
}

// Whoever waits yet when the fence has left the adapter is known to the driver when it
// comes back.
func TestNativeFenceComesBackWithWaiters(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	d := r.device(p, 0)
	f := r.made(p, d, ntShared|abi.SyncObjectUnwaitCpuWaitersOnlyOnDestroy)
	nt, st := r.share(p, f.HSyncObject, object.SyncObjectAll)
	r.ok(st)
	fd, e := r.event()
	r.ok(waitEvent(p, d, 0, fd, handles(f.HSyncObject), values(5)))
	r.ok(destroy(p, f.HSyncObject))
	r.told("gone", "A create 1", "A open 2 of 1", "A monitored 1 at 4", "A close 2", "A destroy 1")
	driver := r.drivers[0]
	_, st = r.open(p, d, nt, 0)
	r.ok(st)
	r.told("back", "A create 3", "A open 4 of 3", "A monitored 3 at 4")
	if fault := spaceOf(r.rig, p).Store64(0, driver.opened.CurrentValueGpuVa, 5); fault != nil {
		t.Fatal(fault)
	}
	driver.cb.NotifyInterrupt(ddi.NativeFenceSignaled{Fences: []ddi.DxgNativeFence{driver.created.Fence}})
	if e.sets != 1 {
		t.Error("the waiter is stuck")
	}
}

// A driver that refuses leaves nothing behind.
func TestNativeFenceDriverRefuses(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	d := r.device(p, 0)
	live := r.host.live
	for call, want := range map[string][]string{"create": {"A create 1"}, "open": {"A create 1", "A open 2 of 1", "A destroy 1"}} {
		r.drivers[0].refuse, r.drivers[0].next = call, 0
		if _, st := r.create(p, d, 0, ntShared, 0); st != abi.StatusNoMemory {
			t.Errorf("%s refused: %v", call, st)
		}
		r.told(call, want...)
	}
	if len(r.k.adapters[0].natives) != 0 || r.k.adapters[0].nativesMade.all != 0 || r.host.live != live {
		t.Error("something is left")
	}
}

// The device goes while the driver makes its side of a fence.
func TestNativeFenceDeviceGoesMeanwhile(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	for _, during := range []string{"create", "open"} {
		d := r.device(p, 0)
		r.drivers[0].next = 0
		r.drivers[0].inside = func(call string) {
			if call == during {
				r.ok(destroyDevice(p, d))
			}
		}
		if _, st := r.create(p, d, 0, 0, 0); st != abi.StatusInvalidParameter {
			t.Errorf("destroyed during %s: %v", during, st)
		}
		want := []string{"A create 1", "A open 2 of 1", "A close 2", "A destroy 1"}
		if during == "open" { // by then the driver knows the fence, and hears that it is gone
			want = slices.Insert(want, 2, "A current 1 at 4294967295 flags 1")
		}
		r.told(during, want...)
	}
	if len(r.k.adapters[0].natives) != 0 {
		t.Error("something is left")
	}
}

// The monitored value is the lowest that CPUs wait for, less 1. native-fence.md §5.1.
func TestMonitoredValue(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	d := r.device(p, 0)
	f := r.made(p, d, 0)
	r.trace = nil
	h := handles(f.HSyncObject)
	wait := func(v uint64) *memEvent {
		fd, e := r.event()
		r.ok(waitEvent(p, d, 0, fd, h, values(v)))
		return e
	}
	wait(0)
	r.told("a wait for 0")
	e43 := wait(43)
	r.told("43", "A monitored 1 at 42")
	e42 := wait(42)
	r.told("42", "A monitored 1 at 41")
	wait(50)
	r.told("50, which is later")
	r.ok(signal(p, d, 0, h, values(42)))
	r.told("42 by a CPU", "A current 1 at 42 flags 0", "A monitored 1 at 42")
	if e42.sets != 1 || e43.sets != 0 {
		t.Errorf("42 has come: %d, %d", e42.sets, e43.sets)
	}
	r.ok(signal(p, d, 0, h, values(60)))
	r.told("60 by a CPU", "A current 1 at 60 flags 0", "A monitored 1 at -1")
	if markAsError(p, d) != abi.StatusSuccess {
		t.Fatal("no loss")
	}
	r.told("loss", "A current 1 at 4294967295 flags 1")
}

// Step 4 of native-fence.md §5.2: the GPU stored the value before the driver knew that
// somebody waits for it, and so interrupts nobody.
func TestMonitoredValueWindow(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	d := r.device(p, 0)
	f := r.made(p, d, 0)
	driver := r.drivers[0]
	va := driver.created.CurrentValueSystemProcessGpuVa
	driver.inside = func(call string) {
		if call != "monitored" {
			return
		}
		driver.inside = nil
		if fault := driver.cb.SystemMemory().Store64(0, va, 7); fault != nil {
			t.Error("the system process cannot store:", fault)
		}
	}
	fd, e := r.event()
	r.trace = nil
	r.ok(waitEvent(p, d, 0, fd, handles(f.HSyncObject), values(7)))
	if e.sets != 1 {
		t.Error("the waiter is stuck")
	}
	r.told("after all", "A monitored 1 at 6", "A monitored 1 at -1")
}

func TestNativeInterrupts(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	d := r.device(p, 0)
	driver := r.drivers[0]
	f := r.made(p, d, 0)
	va, dxg := driver.opened.CurrentValueGpuVa, driver.created.Fence
	g := r.made(p, d, 0)
	vb := driver.opened.CurrentValueGpuVa
	space := spaceOf(r.rig, p)
	store := func(va, v uint64) {
		if fault := space.Store64(0, va, v); fault != nil {
			t.Fatal(fault)
		}
	}
	wait := func(h abi.Handle, v uint64) *memEvent {
		fd, e := r.event()
		r.ok(waitEvent(p, d, 0, fd, handles(h), values(v)))
		return e
	}
	e, o := wait(f.HSyncObject, 1), wait(g.HSyncObject, 1)
	store(va, 1)
	store(vb, 1)
	if e.sets+o.sets != 0 {
		t.Error("released without an interrupt")
	}
	driver.cb.NotifyInterrupt(ddi.NativeFenceSignaled{Fences: []ddi.DxgNativeFence{dxg}})
	if e.sets != 1 || o.sets != 0 {
		t.Errorf("an array of one fence: %d, %d", e.sets, o.sets)
	}
	driver.cb.NotifyInterrupt(ddi.NativeFenceSignaled{})
	if o.sets != 1 {
		t.Error("no array means any")
	}
	e = wait(f.HSyncObject, 2)
	store(va, 2)
	driver.cb.NotifyInterrupt(ddi.NativeFenceSignaled{Fences: []ddi.DxgNativeFence{dxg}})
	if e.sets != 1 {
		t.Error("the second time it was not seen")
	}
	r.ok(destroy(p, f.HSyncObject))
	driver.cb.NotifyInterrupt(ddi.NativeFenceSignaled{Fences: []ddi.DxgNativeFence{dxg}})
	if n := len(r.k.adapters[0].incidents); n != 1 {
		t.Errorf("a fence that is gone was named: %d incidents", n)
	}
}

// The monitored value is not the GPU's to change, for others rely on it.
func TestMonitoredValueIsReadOnly(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	f := r.made(p, r.device(p, 0), 0)
	va := f.Info.NativeFenceMapping.MonitoredValueGpuVa
	if v, fault := spaceOf(r.rig, p).Load64(0, va); fault != nil || v != math.MaxUint64 {
		t.Errorf("read %d, %v", v, fault)
	}
	if fault := spaceOf(r.rig, p).Store64(0, va, 0); fault == nil {
		t.Error("it was written")
	}
	if fault := r.drivers[0].cb.SystemMemory().Store64(0, r.drivers[0].created.MonitoredValueSystemProcessGpuVa, 0); fault != nil {
		t.Error("the system process cannot write:", fault)
	}
}

// No CPU, and no packet, uses an INTRA_GPU fence.
func TestIntraGPU(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	d := r.device(p, 0)
	f, st := r.create(p, d, abi.NativeFenceIntraGPU, ntShared, 9)
	r.ok(st)
	h, v := handles(f.HSyncObject), values(0)
	fd, _ := r.event()
	if st := signal(p, d, 0, h, v); st != abi.StatusInvalidParameter {
		t.Error("CPU signal:", st)
	}
	if st := waitEvent(p, d, 0, fd, h, v); st != abi.StatusInvalidParameter {
		t.Error("CPU wait:", st)
	}
	if _, st := createSyncFile(p, d, f.HSyncObject, 0); st != abi.StatusInvalidParameter {
		t.Error("sync file:", st)
	}
	c := r.context(p, d, 0, 0)
	if st := waitOn(p, c, f.HSyncObject, 0); st != abi.StatusInvalidParameter {
		t.Error("packet wait:", st)
	}
	if st := signalOn(p, f.HSyncObject, 1, c); st != abi.StatusInvalidParameter {
		t.Error("packet signal:", st)
	}
	if v, fault := spaceOf(r.rig, p).Load64(0, f.Info.NativeFenceMapping.CurrentValueGpuVa); fault != nil || v != 0 {
		t.Errorf("the GPU reads %d, %v", v, fault)
	}
	nt, st := r.share(p, f.HSyncObject, object.SyncObjectAll)
	r.ok(st)
	if _, st := open(p, d, nt, 0); st != abi.StatusInvalidParameter {
		t.Error("opened as a monitored fence:", st)
	}
	if _, st := r.open(p, d, nt, 0); !st.OK() {
		t.Error("opened:", st)
	}
}

// native-fence.md §7: one value, every signal interrupts, the others are told.
func TestCrossAdapterNative(t *testing.T) {
	r := newNativeRig(t, "native", "native")
	p := r.process()
	d0, d1 := r.device(p, 0), r.device(p, 1)
	f := r.made(p, d0, ntShared|abi.SyncObjectCrossAdapter)
	nt, st := r.share(p, f.HSyncObject, object.SyncObjectAll)
	r.ok(st)
	g, st := r.open(p, d1, nt, 0)
	r.ok(st)
	r.told("made", "A create 1", "A open 2 of 1", "B create 1", "B open 2 of 1")
	if f.Info.NativeFenceMapping != g.NativeFenceMapping {
		t.Errorf("at %+v, and on the other adapter at %+v", f.Info.NativeFenceMapping, g.NativeFenceMapping)
	}
	fd, e := r.event()
	r.ok(waitEvent(p, d0, 0, fd, handles(f.HSyncObject), values(5)))
	r.told("a wait: the monitored value is 0 for good")
	r.ok(signal(p, d1, 0, handles(g.HSyncObject), values(3)))
	r.told("a CPU of B", "A current 1 at 0 flags 2", "B current 1 at 3 flags 0")
	space := p.spaces[r.k.adapters[1]]
	if fault := space.Store64(0, g.NativeFenceMapping.CurrentValueGpuVa, 5); fault != nil {
		t.Fatal(fault)
	}
	r.drivers[1].cb.NotifyInterrupt(ddi.NativeFenceSignaled{Fences: []ddi.DxgNativeFence{r.drivers[1].created.Fence}})
	if e.sets != 1 {
		t.Error("the waiter of A is stuck")
	}
	r.k.Tick()
	r.told("the GPU of B", "A current 1 at 0 flags 2")
}

// OQ-38: what opens as what.
func TestNativeAndMonitored(t *testing.T) {
	r := newNativeRig(t, "native", "amd", "native")
	p := r.process()
	native, plain, other := r.device(p, 0), r.device(p, 1), r.device(p, 2)
	const cross = ntShared | abi.SyncObjectCrossAdapter
	share := func(h abi.Handle) int {
		fd, st := r.share(p, h, object.SyncObjectAll)
		r.ok(st)
		return fd
	}
	f := share(r.made(p, native, cross).HSyncObject)
	m := share(r.fence(p, plain, cross, 0))
	same := share(r.fence(p, native, cross, 0))
	alone := share(r.made(p, native, ntShared).HSyncObject)
	for _, c := range []struct {
		name string
		fd   int
		d    abi.Handle
		as   abi.Status // by OpenNativeFenceFromNtHandle
		mon  abi.Status // by OpenSyncObjectFromNtHandle2
	}{
		{"native on its adapter", f, native, abi.StatusSuccess, abi.StatusSuccess},
		{"native on another", f, other, abi.StatusSuccess, abi.StatusSuccess},
		{"native where there are none", f, plain, abi.StatusNotSupported, abi.StatusSuccess},
		{"native that does not cross", alone, other, abi.StatusInvalidParameter, abi.StatusInvalidParameter},
		{"monitored of an adapter without", m, native, abi.StatusSuccess, abi.StatusSuccess},
		{"monitored where there are none", m, plain, abi.StatusNotSupported, abi.StatusSuccess},
		{"monitored on its adapter", same, native, abi.StatusInvalidParameter, abi.StatusSuccess},
		{"monitored on another", same, other, abi.StatusSuccess, abi.StatusSuccess},
	} {
		if _, st := r.open(p, c.d, c.fd, 0); st != c.as {
			t.Errorf("%s, opened as native: %v, want %v", c.name, st, c.as)
		}
		if _, st := open(p, c.d, c.fd, 0); st != c.mon {
			t.Errorf("%s, opened as monitored: %v, want %v", c.name, st, c.mon)
		}
	}
}

// Hardware queues have native progress fences, and their driver's side goes first.
func TestNativeProgressFence(t *testing.T) {
	r := newNativeRig(t, "native")
	p := r.process()
	d := r.device(p, 0)
	c := r.context(p, d, 0, abi.ContextHwQueueSupported)
	rec := abi.CreateHwQueue{HHwContext: c}
	_, st := do(p, 0x18, &rec, nil, nil)
	r.ok(st)
	if rec.Flags != abi.HwQueueNativeProgressFence {
		t.Errorf("flags %v", rec.Flags)
	}
	r.told("create", "A create 1", "A open 2 of 1", "A queue 3 on 1 flags NativeProgressFence")
	if st := destroy(p, rec.HHwQueueProgressFence); st != abi.StatusInvalidParameter {
		t.Error("the progress fence was destroyed:", st)
	}
	_, st = do(p, 0x1B, &abi.DestroyHwQueue{HHwQueue: rec.HHwQueue}, nil)
	r.ok(st)
	r.told("destroy", "A unqueue 3", "A close 2", "A destroy 1")
}

// A fence is gone while packets of its device may use its addresses yet: what a GPU has
// stalled for it goes on, and nobody looks at its memory any more (OQ-79).
func TestNativeFenceGoneBeforeItsPackets(t *testing.T) {
	g := newGPURig(t)
	release := g.hold()
	rec := abi.CreateNativeFence{HDevice: g.d, Info: abi.NativeFenceInfo{Flags: ntShared}}
	_, st := do(g.p, 0x800E, &rec, nil)
	g.ok(st)
	fd, e := g.event()
	g.ok(waitEvent(g.p, g.d, 0, fd, handles(rec.HSyncObject), values(9)))
	memory := g.k.adapters[0].natives
	var gone *fence
	for _, o := range memory {
		if o.native.fence.Kind() == abi.NativeFence && o.native.fence.Shared() {
			gone = o.native.fence
		}
	}
	g.ok(destroy(g.p, rec.HSyncObject))
	if e.sets != 1 {
		t.Error("the waiter was not released")
	}
	if gone == nil || gone.Backing().(*memMemory).freed != true || len(memory) == 0 {
		t.Fatalf("the fence is %v, and its driver's side is among %d", gone, len(memory))
	}
	gone.Backing().(*memMemory).cell.Init(77) // it is another's
	if v := gone.Value(); v != 0 {
		t.Errorf("its memory was read: %d", v)
	}
	g.k.Snapshot()
	release()
	if n := len(g.k.adapters[0].natives); n != 0 {
		t.Errorf("%d are left when the packets are complete", n)
	}
}
