package kernel

import (
	"bytes"
	"reflect"
	"testing"
	"unsafe"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/object"
)

// zoo makes one handle of every kind, and some that are none.
func (r *bellRig) zoo() map[string]abi.Handle {
	r.t.Helper()
	b := r.bell()
	bare, st := r.userQueue()
	r.ok(st)
	filled := abi.CreateHwQueue{HHwContext: r.context}
	_, st = do(r.p, 0x18, &filled, nil)
	r.ok(st)
	made := abi.CreateHwQueueForUserModeSubmission{HHwContext: r.context, HRingBuffer: r.visible(64)}
	_, st = do(r.p, 0x8016, &made, nil)
	r.ok(st)
	native := abi.CreateNativeFence{HDevice: r.d}
	_, st = do(r.p, 0x800E, &native, nil)
	r.ok(st)
	gone := abi.CreateNativeFence{HDevice: r.d}
	_, st = do(r.p, 0x800E, &gone, nil)
	r.ok(st)
	r.ok(destroy(r.p, gone.HSyncObject))
	semaphore := abi.CreateSynchronizationObject2{HDevice: r.d}
	semaphore.Info.Type, semaphore.Info.Flags = abi.SynchronizationMutex, abi.SyncObjectShared
	_, st = do(r.p, 0x10, &semaphore, nil)
	r.ok(st)
	keyed := abi.CreateKeyedMutex{}
	_, st = do(r.p, 0x8004, &keyed, nil)
	r.ok(st)
	resource := abi.CreateAllocation2{HDevice: r.d, NumAllocations: 1, Flags: abi.AllocationCreateResource}
	_, st = do(r.p, 0x06, &resource, nil, nil, nil, nil, make([]byte, abi.SizeofAllocationInfo2), []byte{})
	r.ok(st)
	return map[string]abi.Handle{
		"nothing": 0, "a number": 0xDEADBEEF, "minus one": 0xFFFFFFFF, "what is gone": gone.HSyncObject, "the next one": gone.HSyncObject + 0x40,
		"an adapter": r.adapter(), "a device": r.d, "a context": r.rig.context(r.p, r.d, 0, 0), "a hardware context": r.context,
		"a paging queue": r.queue.HPagingQueue, "its fence": r.queue.HSyncObject,
		"a hardware queue": filled.HHwQueue, "its progress": filled.HHwQueueProgressFence,
		"a bare queue": bare.HHwQueue, "its own progress": bare.HHwQueueProgressFence,
		"a rung queue": b.queue, "a doorbell": b.doorbell, "a queue that is one": made.HHwQueue,
		"a fence": r.rig.fence(r.p, r.d, 0, 0), "a native fence": native.HSyncObject,
		"a mutex": semaphore.HSyncObject, "a number of it": semaphore.Info.SharedHandle, "a keyed mutex": keyed.HKeyedMutex, "a number of that": keyed.HSharedHandle,
		"a ring": r.visible(64), "memory that no GPU sees": r.heap(64), "a resource": resource.HResource,
	}
}

// handleFields are the handles that the calls of native fences and doorbells take, with
// what they may be.
var handleFields = []struct {
	call  uint16
	field string
	may   []string
}{
	{0x49, "HAdapter", []string{"an adapter"}},
	{0x800E, "HDevice", []string{"a device"}},
	{0x800F, "HDevice", []string{"a device"}},
	{0x8010, "HHwQueue", []string{"a bare queue", "a rung queue", "a queue that is one"}},
	{0x8011, "HHwQueue", []string{"a bare queue"}},
	{0x8011, "HRingBuffer", []string{"a ring"}},
	{0x8011, "HRingBufferControl", []string{"a ring", "nothing"}},
	{0x8012, "HDoorbell", []string{"a doorbell", "a queue that is one"}},
	{0x8013, "HDoorbell", []string{"a doorbell", "a queue that is one"}},
	{0x8014, "HDoorbell", nil}, // none is connected
	{0x8016, "HHwContext", []string{"a hardware context"}},
	{0x8016, "HRingBuffer", []string{"a ring"}},
	{0x8016, "HRingBufferControl", []string{"a ring", "nothing"}},
}

// Every handle that a call of native fences and doorbells takes, with a handle of every
// kind: the wrong ones are INVALID_PARAMETER, write nothing and leave nothing.
func TestWrongKinds(t *testing.T) {
	r := newBellRig(t, nil)
	zoo := r.zoo()
	shared := abi.CreateNativeFence{HDevice: r.d}
	shared.Info.Flags = shareable
	_, st := do(r.p, 0x800E, &shared, nil)
	r.ok(st)
	fd, st := r.share(r.p, shared.HSyncObject, object.GenericAll)
	r.ok(st)
	t.Cleanup(func() { r.k.NTClosed(r.host.files[fd].(object.Key)) })
	records := map[uint16]func() any{
		0x49: func() any {
			return &abi.IsFeatureEnabled{HAdapter: zoo["an adapter"], FeatureId: abi.FeatureNativeFence}
		},
		0x800E: func() any {
			return &abi.CreateNativeFence{HDevice: r.d, PrivateDriverData: [64]byte{7}, Info: abi.NativeFenceInfo{InitialFenceValue: 5}}
		},
		0x800F: func() any {
			return &abi.OpenNativeFenceFromNtHandle{HNtHandle: uint64(fd), HDevice: r.d, PrivateDriverData: [64]byte{7}}
		},
		0x8010: func() any { return &abi.GetNativeFenceLogDetail{HHwQueue: zoo["a bare queue"]} },
		0x8011: func() any {
			return &abi.CreateDoorbell{HHwQueue: zoo["a bare queue"], HRingBuffer: zoo["a ring"], DoorbellCPUVirtualAddress: 3}
		},
		0x8012: func() any { return &abi.ConnectDoorbell{HDoorbell: zoo["a doorbell"]} },
		0x8013: func() any { return &abi.DestroyDoorbell{HDoorbell: zoo["a doorbell"]} },
		0x8014: func() any { return &abi.NotifyWorkSubmission{HDoorbell: zoo["a doorbell"]} },
		0x8016: func() any {
			return &abi.CreateHwQueueForUserModeSubmission{HHwContext: r.context, HRingBuffer: zoo["a ring"], PrivateDriverData: [64]byte{7}, DoorbellStatusCpuVa: 3}
		},
	}
	call := func(nr uint16, rec any) abi.Status {
		op := abi.OpByNr(nr)
		q := &abi.Request{Op: op, Record: record(rec), Files: []int{fd}, Arrays: make([][]byte, len(op.Arrays))}
		st := r.p.Do(q)
		if !st.OK() && len(q.Out) > 0 {
			t.Errorf("%#x answers %v with descriptors", nr, st)
		}
		return st
	}
	snapshot, held, files, live := r.k.Snapshot(), r.gpu().Holdings(), len(r.host.files), r.host.live
	for _, f := range handleFields {
		for kind, h := range zoo {
			right := false
			for _, m := range f.may {
				right = right || m == kind
			}
			if right {
				continue
			}
			rec := records[f.call]()
			reflect.ValueOf(rec).Elem().FieldByName(f.field).SetUint(uint64(h))
			before := bytes.Clone(record(rec))
			if st := call(f.call, rec); st != abi.StatusInvalidParameter {
				t.Errorf("%#x: %s for %s: %v", f.call, kind, f.field, st)
			}
			if !bytes.Equal(before, record(rec)) {
				t.Errorf("%#x: %s for %s changes the record", f.call, kind, f.field)
			}
		}
	}
	r.run(short)
	for _, what := range []struct{ before, after any }{
		{len(snapshot.Objects), len(r.k.Snapshot().Objects)},
		{len(snapshot.Natives), len(r.k.Snapshot().Natives)},
		{len(snapshot.Queues), len(r.k.Snapshot().Queues)},
		{snapshot.Processes[0].Handles, r.k.Snapshot().Processes[0].Handles},
		{held, r.gpu().Holdings()},
		{files, len(r.host.files)},
		{live, r.host.live},
	} {
		if what.before != what.after {
			t.Errorf("before %+v, after %+v", what.before, what.after)
		}
	}
	for _, f := range handleFields { // and the right ones are right
		for _, kind := range f.may {
			rec := records[f.call]()
			reflect.ValueOf(rec).Elem().FieldByName(f.field).SetUint(uint64(zoo[kind]))
			switch st := call(f.call, rec); {
			case f.call == 0x8011 && st == abi.StatusSuccess:
				do(r.p, 0x8013, &abi.DestroyDoorbell{HDoorbell: rec.(*abi.CreateDoorbell).HDoorbell}, nil)
			case st != abi.StatusSuccess:
				t.Errorf("%#x: %s for %s: %v", f.call, kind, f.field, st)
			}
		}
	}
}

// record is a record as the doors hand it in.
func record(rec any) []byte {
	v := reflect.ValueOf(rec)
	return unsafe.Slice((*byte)(v.UnsafePointer()), v.Elem().Type().Size())
}

// Where there are no addresses for the logs of a queue, what was made before is taken back.
func TestNoRoomForLogs(t *testing.T) {
	r := newBellRig(t, func(p *adapter.Profile) {
		p.NativeFence.MinimumAddress, p.NativeFence.MaximumAddress = 0x8_0000_0000, 0x8_0000_6000
	})
	ring, n := r.visible(64), 0
	take := func() abi.Status {
		rec := abi.CreateHwQueueForUserModeSubmission{HHwContext: r.context, HRingBuffer: ring}
		_, st := do(r.p, 0x8016, &rec, nil)
		return st
	}
	for ; n < 10; n++ {
		if st := take(); st == abi.StatusNoMemory {
			break
		} else if !st.OK() {
			t.Fatal(st)
		}
	}
	if n == 0 || n == 10 {
		t.Fatalf("%d queues", n)
	}
	r.host.lends = true
	held, files, live := r.gpu().Holdings(), len(r.host.files), r.host.live
	for range 3 {
		if st := take(); st != abi.StatusNoMemory {
			t.Errorf("one more queue: %v", st)
		}
	}
	if got := r.gpu().Holdings(); got != held || len(r.host.files) != files || r.host.live != live {
		t.Errorf("%+v, %d descriptors and %d memories; there were %+v, %d and %d", got, len(r.host.files), r.host.live, held, files, live)
	}
	if n := r.k.adapters[0].queuesMade.all; n != len(r.k.adapters[0].logs) {
		t.Errorf("%d queues are counted, there are %d", n, len(r.k.adapters[0].logs))
	}
}
