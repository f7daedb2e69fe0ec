package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/syncobj"
)

func markAsError(p *Process, d abi.Handle) abi.Status {
	_, st := do(p, 0x26, &abi.MarkDeviceAsError{HDevice: d, Reason: abi.DeviceErrorGeneric}, nil)
	return st
}

// make creates an object without memory that can be shared.
func (r *rig) plain(p *Process, d abi.Handle, kind abi.SyncObjectType, fd int) abi.Handle {
	r.t.Helper()
	rec := abi.CreateSynchronizationObject2{HDevice: d}
	rec.Info.Type, rec.Info.Flags = kind, shareable
	if kind == abi.CPUNotification {
		rec.Info.Flags = 0
	}
	if _, st := do(p, 0x10, &rec, []int{fd}); !st.OK() {
		r.t.Fatal("CreateSynchronizationObject2:", st)
	}
	return rec.HSyncObject
}

// lend shares h and opens it in another process.
func (r *rig) lend(p *Process, h abi.Handle, to *Process, d abi.Handle) abi.Handle {
	r.t.Helper()
	fd, st := r.share(p, h, object.GenericAll)
	if !st.OK() {
		r.t.Fatal("ShareObjects:", st)
	}
	opened, st := open(to, d, fd, 0)
	if !st.OK() {
		r.t.Fatal("OpenSyncObjectFromNtHandle2:", st)
	}
	return opened
}

func waitOn(p *Process, c, h abi.Handle, v uint64) abi.Status {
	rec := abi.WaitForSynchronizationObjectFromGpu{HContext: c, ObjectCount: 1}
	*rec.FenceValue() = v
	_, st := do(p, 0x3B, &rec, nil, handles(h), values(v))
	return st
}

func signalOn(p *Process, h abi.Handle, v uint64, contexts ...abi.Handle) abi.Status {
	rec := abi.SignalSynchronizationObjectFromGpu2{ObjectCount: 1, BroadcastContextCount: uint32(len(contexts))}
	*rec.FenceValue() = v
	_, st := do(p, 0x33, &rec, nil, handles(h), handles(contexts...), values(v))
	return st
}

// state is what a listing says of an object.
func (r *rig) state(p *Process, h abi.Handle) (state string, value uint64) {
	for _, row := range r.k.Snapshot().Objects {
		if row.Process == p.id && row.Handle == h {
			return row.State, row.Value
		}
	}
	return "none", 0
}

// What a lost device could have signalled is raised; a fence that it made for others to
// signal is not (gpu.md §8.4, OQ-42).
func TestLossSparesWhatTheDeviceCannotSignal(t *testing.T) {
	for flags, want := range map[abi.SyncObjectFlags]uint64{
		0:                                   syncobj.Max,
		abi.SyncObjectNoWait:                syncobj.Max,
		abi.SyncObjectNoSignal:              3,
		abi.SyncObjectNoSignalMaxValueOnTdr: 3,
	} {
		r := newRig(t)
		p := r.process()
		d := r.device(p, 0)
		f := r.fence(p, d, shareable|flags, 3)
		if st := markAsError(p, d); st != 0 || r.value(p, f) != want {
			t.Errorf("flags %v: %v, value %d, want %d", flags, st, r.value(p, f), want)
		}
	}
}

// A broadcast that is dropped in several contexts is one signal: its notification is set
// once (gpu.md §8.4).
func TestLossNotifiesOnce(t *testing.T) {
	r := newRig(t)
	p := r.process()
	d := r.device(p, 0)
	c1, c2 := r.context(p, d, 0, 0), r.context(p, d, 0, 0)
	f := r.fence(p, d, 0, 0)
	fd, e := r.event()
	n := r.plain(p, d, abi.CPUNotification, fd)
	waitOn(p, c1, f, 1)
	waitOn(p, c2, f, 1)
	if st := signalOn(p, n, 0, c1, c2); st != 0 || e.sets != 0 {
		t.Fatalf("signal: %v, set %d times", st, e.sets)
	}
	if st := markAsError(p, d); st != 0 || e.sets != 1 {
		t.Errorf("MarkDeviceAsError: %v, set %d times", st, e.sets)
	}
}

// The death of a process loses its devices: what others wait for and only they could
// bring comes, for objects without memory too (gpu.md §8.4, OQ-42).
func TestDeathLosesObjectsWithoutMemory(t *testing.T) {
	r := newRig(t)
	p1, p2 := r.process(), r.process()
	d1, d2 := r.device(p1, 0), r.device(p2, 0)
	c1 := r.context(p1, d1, 0, 0)
	made := r.plain(p1, d1, abi.Fence, abi.FileNone)
	mutex := r.plain(p1, d1, abi.SynchronizationMutex, abi.FileNone)
	seen := r.lend(p1, made, p2, d2)
	taken := r.lend(p1, mutex, p2, d2)
	dropped := r.plain(p2, d2, abi.SynchronizationMutex, abi.FileNone)
	mine := r.lend(p2, dropped, p1, d1)
	idle, promised := r.plain(p2, d2, abi.Fence, abi.FileNone), r.plain(p2, d2, abi.Fence, abi.FileNone)
	r.lend(p2, idle, p1, d1)
	to := r.lend(p2, promised, p1, d1)
	if st := waitOn(p1, c1, mutex, 0); st != 0 {
		t.Fatal(st)
	}
	if st := waitOn(p1, c1, mine, 0); st != 0 {
		t.Fatal(st)
	}
	destroy(p1, mine) // it has the mutex all the same
	waitOn(p1, c1, r.fence(p1, d1, 0, 0), 1)
	if st := signalOn(p1, to, 7, c1); st != 0 {
		t.Fatal(st)
	}
	p1.Exit()
	for _, want := range []struct {
		what  string
		h     abi.Handle
		state string
	}{
		{"the fence that it created", seen, "Lost"},
		{"the mutex that it held", taken, "Available"},
		{"one whose handle it had given up", dropped, "Available"},
		{"the fence that it was to signal", promised, "Lost"},
		{"a fence that it had only opened", idle, "Live"},
	} {
		if state, _ := r.state(p2, want.h); state != want.state {
			t.Errorf("%s is %s, want %s", want.what, state, want.state)
		}
	}
}
