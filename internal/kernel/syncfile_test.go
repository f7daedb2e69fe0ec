package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

func createSyncFile(p *Process, d, fence abi.Handle, v uint64) (*abi.Request, abi.Status) {
	return do(p, 0x45, &abi.CreateSyncFile{HDevice: d, HMonitoredFence: fence, FenceValue: v}, nil)
}

// What becomes of a sync file for value 5 of a fence at 3, whatever happens to whom.
func TestSyncFile(t *testing.T) {
	type scene struct {
		r           *rig
		p           *Process
		d, fence, h abi.Handle // h: an opened view of another device
		device2     abi.Handle
	}
	lose := func(p *Process, d abi.Handle) {
		if _, st := do(p, 0x26, &abi.MarkDeviceAsError{HDevice: d, Reason: abi.DeviceErrorGeneric}, nil); !st.OK() {
			t.Fatal(st)
		}
	}
	const pending = abi.Status(1)
	for _, c := range []struct {
		name  string
		flags abi.SyncObjectFlags
		after func(s *scene)
		want  abi.Status
	}{
		{"nothing", 0, func(*scene) {}, pending},
		{"signal below", 0, func(s *scene) { signal(s.p, s.d, 0, handles(s.fence), values(4)) }, pending},
		{"signal", 0, func(s *scene) { signal(s.p, s.d, 0, handles(s.fence), values(5)) }, abi.StatusSuccess},
		{"signal of the maximum", 0, func(s *scene) { signal(s.p, s.d, 0, handles(s.fence), values(1<<64-1)) }, abi.StatusSuccess},
		{"fence destroyed", 0, func(s *scene) { destroy(s.p, s.fence) }, abi.StatusSuccess},
		{"device lost", 0, func(s *scene) { lose(s.p, s.d) }, abi.StatusDeviceRemoved},
		{"device lost, value stays", abi.SyncObjectNoSignalMaxValueOnTdr, func(s *scene) { lose(s.p, s.d) }, abi.StatusDeviceRemoved},
		{"another device lost", 0, func(s *scene) { lose(s.p, s.device2) }, abi.StatusDeviceRemoved},
		{"device destroyed", 0, func(s *scene) { do(s.p, 0x19, &abi.DestroyDevice{HDevice: s.d}, nil) }, abi.StatusDeviceRemoved},
		{"process ended", 0, func(s *scene) { s.p.Exit() }, abi.StatusDeviceRemoved},
	} {
		s := &scene{r: newRig(t)}
		s.p = s.r.process()
		s.d, s.device2 = s.r.device(s.p, 0), s.r.device(s.p, 0)
		s.fence = s.r.fence(s.p, s.d, shareable|c.flags, 3)
		nt, st := s.r.share(s.p, s.fence, 0x10000000)
		if !st.OK() {
			t.Fatal(st)
		}
		if s.h, st = open(s.p, s.device2, nt, 0); !st.OK() {
			t.Fatal(st)
		}
		q, st := createSyncFile(s.p, s.d, s.fence, 5)
		if !st.OK() || len(q.Out) != 1 {
			t.Fatalf("%s: %v, %v", c.name, st, q.Out)
		}
		f := s.r.host.files[q.Out[0].FD].(*memSyncFile)
		c.after(s)
		switch {
		case c.want == pending && (f.sets != 0 || f.refs != 1):
			t.Errorf("%s: set %d times, %d references", c.name, f.sets, f.refs)
		case c.want != pending && (f.sets != 1 || f.refs != 0 || f.status != c.want):
			t.Errorf("%s: set %d times, %d references, says %v", c.name, f.sets, f.refs, f.status)
		}
	}
}

func TestSyncFileOfReachedValue(t *testing.T) {
	r := newRig(t)
	p := r.process()
	d := r.device(p, 0)
	q, st := createSyncFile(p, d, r.fence(p, d, 0, 3), 3)
	if !st.OK() {
		t.Fatal(st)
	}
	if f := r.host.files[q.Out[0].FD].(*memSyncFile); f.sets != 1 || f.refs != 0 || f.status != 0 || len(p.waits) != 0 {
		t.Errorf("%+v, %d waits", f, len(p.waits))
	}
}

// A refusal makes nothing and leaves nothing.
func TestSyncFileRefusals(t *testing.T) {
	r := newRig(t)
	p := r.process()
	d, other := r.device(p, 0), r.device(p, 0)
	fence := r.fence(p, d, 0, 0)
	mutex := abi.CreateSynchronizationObject2{HDevice: d}
	mutex.Info.Type = abi.SynchronizationMutex
	if _, st := do(p, 0x10, &mutex, []int{abi.FileNone}); !st.OK() {
		t.Fatal(st)
	}
	lost := r.device(p, 0)
	gone := r.fence(p, lost, 0, 0)
	do(p, 0x26, &abi.MarkDeviceAsError{HDevice: lost, Reason: abi.DeviceErrorGeneric}, nil)
	before := len(r.host.files)
	for _, c := range []struct {
		name      string
		d, object abi.Handle
		want      abi.Status
	}{
		{"no device", 0, fence, abi.StatusInvalidParameter},
		{"no fence", d, 0, abi.StatusInvalidParameter},
		{"a device for a fence", d, d, abi.StatusInvalidParameter},
		{"a fence for a device", fence, fence, abi.StatusInvalidParameter},
		{"another device's", other, fence, abi.StatusInvalidParameter},
		{"a mutex", d, mutex.HSyncObject, abi.StatusInvalidParameter},
		{"lost device", lost, gone, abi.StatusDeviceRemoved},
		{"NoWait", d, r.fence(p, d, abi.SyncObjectNoWait, 0), abi.StatusAccessDenied},
	} {
		if q, st := createSyncFile(p, c.d, c.object, 0); st != c.want || len(q.Out) != 0 {
			t.Errorf("%s: %v, %v", c.name, st, q.Out)
		}
	}
	p.k.limits.Waits = 0
	if _, st := createSyncFile(p, d, fence, 9); st != abi.StatusNoMemory {
		t.Errorf("at the limit: %v", st)
	}
	if len(r.host.files) != before || len(p.waits) != 0 {
		t.Errorf("%d files and %d waits are left", len(r.host.files)-before, len(p.waits))
	}
}
