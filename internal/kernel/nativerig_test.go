package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
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
