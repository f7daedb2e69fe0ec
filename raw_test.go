package dxgsync

import (
	"bytes"
	"encoding/hex"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
)

// A scriptedDoor answers requests as a test says, and keeps the last.
type scriptedDoor struct {
	door
	answer func(r *abi.Request)
	last   *abi.Request
}

func (k *scriptedDoor) do(r *abi.Request) abi.Status {
	k.last = r
	if k.answer != nil {
		k.answer(r)
	}
	return abi.StatusSuccess
}

// Every raw call makes a request that the operation table knows: as many arrays and
// descriptors as its row has, arrays as long as the record says.
func TestRawRequestsFitTheTable(t *testing.T) {
	data, handles, two := []byte{1, 2, 3}, []abi.Handle{4, 5}, []uint64{6, 7}
	all := &Attributes{Name: `\BaseNamedObjects\X`, Security: data}
	resource := ResourceData{Runtime: data, Resource: data, Allocations: data, KeyedMutex: data}
	opened := make([]abi.OpenAllocationInfo2, 2)
	calls := map[*abi.Op]func(s *Session){
		abi.OpShareObjects: func(s *Session) { _, _ = s.ShareObjects(&abi.ShareObjects{}, handles, all) },
		abi.OpOpenSyncObjectNtHandleFromName: func(s *Session) {
			_, _ = s.OpenSyncObjectNtHandleFromName(&abi.OpenSyncObjectNtHandleFromName{}, all)
		},
		abi.OpOpenNtHandleFromName:       func(s *Session) { _, _ = s.OpenNtHandleFromName(&abi.OpenNtHandleFromName{}, all) },
		abi.OpOpenSyncObjectFromNtHandle: func(s *Session) { s.OpenSyncObjectFromNtHandle(&abi.OpenSyncObjectFromNtHandle{HNtHandle: 9}) },
		abi.OpOpenSynchronizationObject:  func(s *Session) { s.OpenSynchronizationObject(&abi.OpenSynchronizationObject{}) },
		abi.OpCreateAllocation2: func(s *Session) {
			s.CreateAllocation2(&abi.CreateAllocation2{}, make([]abi.AllocationInfo2, 2), AllocationData{Runtime: data, Driver: data, Each: [][]byte{data, nil}})
		},
		abi.OpDestroyAllocation2: func(s *Session) { s.DestroyAllocation2(&abi.DestroyAllocation2{}, handles) },
		abi.OpQueryResourceInfo:  func(s *Session) { s.QueryResourceInfo(&abi.QueryResourceInfo{}) },
		abi.OpQueryResourceInfoFromNtHandle: func(s *Session) {
			s.QueryResourceInfoFromNtHandle(&abi.QueryResourceInfoFromNtHandle{HNtHandle: 9})
		},
		abi.OpOpenResource: func(s *Session) { s.OpenResource(&abi.OpenResource{}, opened, resource) },
		abi.OpOpenResourceFromNtHandle: func(s *Session) {
			s.OpenResourceFromNtHandle(&abi.OpenResourceFromNtHandle{HNtHandle: 9}, opened, resource)
		},
		abi.OpUpdateGpuVirtualAddress: func(s *Session) {
			s.UpdateGpuVirtualAddress(&abi.UpdateGpuVirtualAddress{}, make([]abi.UpdateGpuVirtualAddressOperation, 2))
		},
		abi.OpMakeResident: func(s *Session) { s.MakeResident(&abi.MakeResident{}, handles, []uint32{1, 2}) },
		abi.OpEvict:        func(s *Session) { s.Evict(&abi.Evict{}, handles) },
		abi.OpQueryAllocationResidency: func(s *Session) {
			s.QueryAllocationResidency(&abi.QueryAllocationResidency{}, handles, make([]abi.AllocationResidencyStatus, 2))
		},
		abi.OpSetAllocationPriority:      func(s *Session) { s.SetAllocationPriority(&abi.SetAllocationPriority{}, handles, []uint32{1, 2}) },
		abi.OpGetAllocationPriority:      func(s *Session) { s.GetAllocationPriority(&abi.GetAllocationPriority{}, handles, []uint32{1, 2}) },
		abi.OpCreateKeyedMutex:           func(s *Session) { s.CreateKeyedMutex(&abi.CreateKeyedMutex{}) },
		abi.OpCreateKeyedMutex2:          func(s *Session) { s.CreateKeyedMutex2(&abi.CreateKeyedMutex2{}, data) },
		abi.OpOpenKeyedMutex:             func(s *Session) { s.OpenKeyedMutex(&abi.OpenKeyedMutex{}) },
		abi.OpOpenKeyedMutex2:            func(s *Session) { s.OpenKeyedMutex2(&abi.OpenKeyedMutex2{}, data) },
		abi.OpOpenKeyedMutexFromNtHandle: func(s *Session) { s.OpenKeyedMutexFromNtHandle(&abi.OpenKeyedMutexFromNtHandle{HNtHandle: 9}) },
		abi.OpReleaseKeyedMutex:          func(s *Session) { s.ReleaseKeyedMutex(&abi.ReleaseKeyedMutex{}) },
		abi.OpReleaseKeyedMutex2:         func(s *Session) { s.ReleaseKeyedMutex2(&abi.ReleaseKeyedMutex2{}, data) },
		abi.OpDestroyKeyedMutex:          func(s *Session) { s.DestroyKeyedMutex(&abi.DestroyKeyedMutex{}) },

		abi.OpCreateHwQueue:          func(s *Session) { s.CreateHwQueue(&abi.CreateHwQueue{}, data) },
		abi.OpDestroyHwQueue:         func(s *Session) { s.DestroyHwQueue(&abi.DestroyHwQueue{}) },
		abi.OpSubmitCommand:          func(s *Session) { s.SubmitCommand(&abi.SubmitCommand{}, data, handles) },
		abi.OpSubmitCommandToHwQueue: func(s *Session) { s.SubmitCommandToHwQueue(&abi.SubmitCommandToHwQueue{}, data, handles) },
		abi.OpSignalSynchronizationObject: func(s *Session) {
			s.SignalSynchronizationObject(&abi.SignalSynchronizationObject{})
		},
		abi.OpSignalSynchronizationObject2: func(s *Session) {
			r := abi.SignalSynchronizationObject2{Flags: abi.SignalEnqueueCpuEvent}
			*r.CpuEventHandle() = 9
			s.SignalSynchronizationObject2(&r)
		},
		abi.OpSignalSynchronizationObjectFromGpu: func(s *Session) {
			s.SignalSynchronizationObjectFromGpu(&abi.SignalSynchronizationObjectFromGpu{}, handles, two)
		},
		abi.OpSignalSynchronizationObjectFromGpu2: func(s *Session) {
			r := abi.SignalSynchronizationObjectFromGpu2{Flags: abi.SignalEnqueueCpuEvent}
			*r.CpuEventHandle() = 9
			s.SignalSynchronizationObjectFromGpu2(&r, handles, handles, two)
		},
		abi.OpSubmitSignalSyncObjectsToHwQueue: func(s *Session) {
			s.SubmitSignalSyncObjectsToHwQueue(&abi.SubmitSignalSyncObjectsToHwQueue{}, handles, handles, two)
		},
		abi.OpWaitForSynchronizationObject:  func(s *Session) { s.WaitForSynchronizationObject(&abi.WaitForSynchronizationObject{}) },
		abi.OpWaitForSynchronizationObject2: func(s *Session) { s.WaitForSynchronizationObject2(&abi.WaitForSynchronizationObject2{}) },
		abi.OpWaitForSynchronizationObjectFromGpu: func(s *Session) {
			s.WaitForSynchronizationObjectFromGpu(&abi.WaitForSynchronizationObjectFromGpu{}, handles, two)
		},
		abi.OpSubmitWaitForSyncObjectsToHwQueue: func(s *Session) {
			s.SubmitWaitForSyncObjectsToHwQueue(&abi.SubmitWaitForSyncObjectsToHwQueue{}, handles, two)
		},
		abi.OpMarkDeviceAsError: func(s *Session) { s.MarkDeviceAsError(&abi.MarkDeviceAsError{}) },
		abi.OpGetContextSchedulingPriority: func(s *Session) {
			s.GetContextSchedulingPriority(&abi.GetContextSchedulingPriority{})
		},
		abi.OpSetContextSchedulingPriority: func(s *Session) {
			s.SetContextSchedulingPriority(&abi.SetContextSchedulingPriority{})
		},
		abi.OpGetContextInProcessSchedulingPriority: func(s *Session) {
			s.GetContextInProcessSchedulingPriority(&abi.GetContextInProcessSchedulingPriority{})
		},
		abi.OpSetContextInProcessSchedulingPriority: func(s *Session) {
			s.SetContextInProcessSchedulingPriority(&abi.SetContextInProcessSchedulingPriority{})
		},
		abi.OpQueryClockCalibration: func(s *Session) { s.QueryClockCalibration(&abi.QueryClockCalibration{}) },
		abi.OpIsFeatureEnabled:      func(s *Session) { s.IsFeatureEnabled(&abi.IsFeatureEnabled{}) },
		abi.OpCreateDoorbell:        func(s *Session) { s.CreateDoorbell(&abi.CreateDoorbell{}, data) },
		abi.OpConnectDoorbell:       func(s *Session) { s.ConnectDoorbell(&abi.ConnectDoorbell{}) },
		abi.OpDestroyDoorbell:       func(s *Session) { s.DestroyDoorbell(&abi.DestroyDoorbell{}) },
		abi.OpNotifyWorkSubmission:  func(s *Session) { s.NotifyWorkSubmission(&abi.NotifyWorkSubmission{}) },
		abi.OpCreateHwQueueForUserModeSubmission: func(s *Session) {
			s.CreateHwQueueForUserModeSubmission(&abi.CreateHwQueueForUserModeSubmission{})
		},
		abi.OpCreateNativeFence: func(s *Session) { s.CreateNativeFence(&abi.CreateNativeFence{}) },
		abi.OpOpenNativeFenceFromNtHandle: func(s *Session) {
			s.OpenNativeFenceFromNtHandle(&abi.OpenNativeFenceFromNtHandle{HNtHandle: 9})
		},
		abi.OpQueryStatistics: func(s *Session) { s.QueryStatistics(&abi.QueryStatistics{}) },
	}
	for op, call := range calls {
		k := &scriptedDoor{answer: answerFiles}
		call(&Session{door: k})
		r := k.last
		if r == nil || r.Op != op || len(r.Record) != op.Size || len(r.Arrays) != len(op.Arrays) {
			t.Errorf("%s: request %+v", op.Name, r)
			continue
		}
		for i := range op.Arrays {
			checkArray(t, op, i, r)
		}
		in := 0
		for _, f := range op.Files {
			if f.Dir != abi.Out {
				if in >= len(r.Files) || r.Files[in] != 9 {
					t.Errorf("%s: descriptors %v", op.Name, r.Files)
				}
				in++
			}
		}
	}
}

// answerFiles answers a descriptor wherever one is due.
func answerFiles(r *abi.Request) {
	for _, f := range r.Op.Files {
		if f.Dir == abi.Out {
			r.Out = append(r.Out, abi.OutFile{FD: -1}) // closed by nobody
		}
	}
}

func checkArray(t *testing.T, op *abi.Op, i int, r *abi.Request) {
	t.Helper()
	a := &op.Arrays[i]
	if !a.When.Holds(r.Record) {
		if r.Arrays[i] != nil {
			t.Errorf("%s: array %d is there though its condition does not hold", op.Name, i)
		}
		return
	}
	if r.Arrays[i] == nil {
		t.Errorf("%s: array %d is missing", op.Name, i)
		return
	}
	n := uint64(a.Fixed)
	switch {
	case a.From != abi.FromRecord:
		return
	case n == 0:
		n = uint64(r.Record[a.Count])
	}
	if uint64(len(r.Arrays[i])) != n*uint64(a.Elem) {
		t.Errorf("%s: array %d has %d bytes, the record says %d elements of %d", op.Name, i, len(r.Arrays[i]), n, a.Elem)
	}
}

func TestAttributes(t *testing.T) {
	for _, c := range []struct {
		a                      *Attributes
		record, name, security string
	}{
		{nil, "NULL", "NULL", "NULL"},
		{&Attributes{}, "0000000000000000", "NULL", "NULL"},
		{&Attributes{Name: "Äx", Bits: 0x40}, "0100000000000000" + "40000000", "c4007800", "NULL"},
		{&Attributes{Name: "\U0001F600", Inherit: true, Security: []byte{1}}, "0100000000000000" + "02000000", "3dd800de", "01"},
	} {
		record, name, security := c.a.arrays()
		if record != nil && (len(record) != 0x30 || record[0] != 0x30) {
			t.Errorf("%+v: record %x", c.a, record)
		}
		if record != nil {
			record = record[0x10 : 0x10+len(c.record)/2]
		}
		if text(record) != c.record || text(name) != c.name || text(security) != c.security {
			t.Errorf("%+v: %s, %s, %s", c.a, text(record), text(name), text(security))
		}
	}
}

func text(b []byte) string {
	if b == nil {
		return "NULL"
	}
	return hex.EncodeToString(b)
}

// A descriptor is inherited by programs only if the attributes say so.
func TestAttributesInherit(t *testing.T) {
	for _, a := range []*Attributes{nil, {}, {Inherit: true}, {Bits: 2}} {
		k := &scriptedDoor{answer: func(r *abi.Request) {
			fd, err := unix.FcntlInt(os.Stdin.Fd(), unix.F_DUPFD_CLOEXEC, 3)
			if err != nil {
				t.Fatal(err)
			}
			r.Out = []abi.OutFile{{FD: fd}}
		}}
		fd, st := (&Session{door: k}).OpenNtHandleFromName(&abi.OpenNtHandleFromName{}, a)
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if want := a != nil && (a.Inherit || a.Bits != 0); st != 0 || err != nil || (flags&unix.FD_CLOEXEC == 0) != want {
			t.Errorf("%+v: %v, flags %#x, %v", a, st, flags, err)
		}
		_ = unix.Close(fd)
	}
}

func TestAttributesTooLong(t *testing.T) {
	for _, a := range []*Attributes{{Name: string(bytes.Repeat([]byte("x"), 32768))}, {Security: make([]byte, 16385)}} {
		k := &scriptedDoor{}
		if fd, st := (&Session{door: k}).ShareObjects(&abi.ShareObjects{}, nil, a); fd != -1 || st != abi.StatusInvalidParameter || k.last != nil {
			t.Errorf("answered %d, %v, request %v", fd, st, k.last)
		}
	}
}

func TestCreateAllocationData(t *testing.T) {
	k := &scriptedDoor{answer: func(r *abi.Request) { r.Arrays[3][96] = 7 }}
	s := &Session{door: k}
	infos := make([]abi.AllocationInfo2, 2)
	infos[1].PrivateDriverDataSize = 9
	rec := abi.CreateAllocation2{Flags: standardAllocation, PrivateDriverDataSize: 9}
	standard := &abi.CreateStandardAllocation{Type: abi.StandardAllocationTypeExistingHeap}
	st := s.CreateAllocation2(&rec, infos, AllocationData{Standard: standard, Driver: []byte{9}, Each: [][]byte{{1, 2}, {3}}})
	if st != 0 || infos[0].PrivateDriverDataSize != 2 || infos[1].PrivateDriverDataSize != 1 || infos[1].HAllocation != 7 || rec.PrivateDriverDataSize != 0 {
		t.Errorf("%v, %+v, %+v", st, rec, infos)
	}
	if a := k.last.Arrays; len(a[1]) != 24 || a[2] != nil || !slices.Equal(a[4], []byte{1, 2, 3}) {
		t.Errorf("arrays %v", a)
	}
	if st := s.CreateAllocation2(&rec, infos, AllocationData{Each: [][]byte{{1}}}); st != abi.StatusInvalidParameter {
		t.Errorf("data for one of two: %v", st)
	}
	k.answer = nil
	if s.CreateAllocation2(&abi.CreateAllocation2{}, nil, AllocationData{}); k.last.Arrays[3] != nil || k.last.Arrays[4] != nil {
		t.Errorf("arrays %v", k.last.Arrays)
	}
}

// Through both doors: without a name an object is shared, whatever else is said.
func TestShareWithAttributes(t *testing.T) {
	for _, remote := range []bool{false, true} {
		d := where{remote: remote, shared: true}.device(t)
		f, err := d.NewFence(FenceOptions{Shared: true})
		if err != nil {
			t.Fatal(err)
		}
		const genericAll = 0x10000000
		rec := abi.ShareObjects{DesiredAccess: genericAll}
		fd, st := d.s.ShareObjects(&rec, []abi.Handle{f.handle}, &Attributes{Inherit: true})
		if st != 0 {
			t.Fatal(st)
		}
		_ = unix.Close(fd)
		if fd, st := d.s.ShareObjects(&rec, []abi.Handle{f.handle}, &Attributes{Bits: 0x10}); fd != -1 || st != abi.StatusInvalidParameter {
			t.Errorf("permanent: %d, %v", fd, st)
		}
	}
}
