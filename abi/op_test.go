package abi

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// notSent are pointers of records that do not travel: what they mean is the
// caller's own business, or they are never followed.
var notSent = map[string]bool{
	"D3DKMT_CREATEALLOCATION.hPrivateRuntimeResourceHandle":    true, // the runtime's own
	"D3DKMT_CREATEDEVICE.pAdapter":                             true, // the kernel's use of hAdapter's place
	"D3DKMT_QUERYVIDEOMEMORYINFO.hProcess":                     true, // a process, 0 for the caller
	"D3DKMT_CHANGEVIDEOMEMORYRESERVATION.hProcess":             true,
	"D3DKMT_QUERYSTATISTICS.hProcess":                          true,
	"D3DKMT_QUERYRESOURCEINFO.pPrivateRuntimeData":             true, // only its size is answered (measured)
	"D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE.pPrivateRuntimeData": true,
	"D3DKMT_OPENKEYEDMUTEXFROMNTHANDLE.pPrivateRuntimeData":    true, // never succeeds (OQ-28)
}

// An array's pointer is a pointer of the record and its count a number; a file is a
// 64-bit field. And no pointer of a record is forgotten: it is an array, a file, an
// answer, or known not to be sent.
func TestOperationsKnowEveryPointer(t *testing.T) {
	records := map[string]layout{}
	for _, l := range layouts(t, "64") {
		records[l.name] = l
	}
	for _, op := range Ops {
		l, public := records[op.Record]
		if !public {
			continue
		}
		at := func(off uint16, size int, kinds ...string) bool {
			for _, f := range l.fields {
				if f.offset == int(off) && f.size == size {
					for _, k := range kinds {
						if f.kind == k {
							return true
						}
					}
				}
			}
			return false
		}
		known := map[int]bool{}
		for i, a := range op.Arrays {
			if a.From != FromRecord {
				if a.Of >= i || op.Arrays[a.Of].From != FromRecord {
					t.Errorf("%s: array %d is reached through array %d", op.Name, i, a.Of)
				}
				continue
			}
			if a.PointsInto != 0 && op.Arrays[a.PointsInto-1].Dir == In {
				t.Errorf("%s: array %d points into one that is not answered", op.Name, i)
			}
			known[int(a.Pointer)] = true
			if !at(a.Pointer, 8, "pointer") {
				t.Errorf("%s: no pointer at %#x", op.Name, a.Pointer)
			}
			if a.Fixed == 0 && !at(a.Count, 4, "scalar") && !at(a.Count, 8, "scalar") {
				t.Errorf("%s: no count at %#x", op.Name, a.Count)
			}
			checkWhen(t, &op, a.When, l)
		}
		for _, f := range op.Files {
			if f.Array < 0 {
				known[int(f.Off)] = true
				if !at(f.Off, 8, "pointer", "scalar") {
					t.Errorf("%s: no field for a descriptor at %#x", op.Name, f.Off)
				}
			}
			checkWhen(t, &op, f.When, l)
		}
		for _, f := range l.fields {
			if f.kind != "pointer" || known[f.offset] || answered(&op, f) || notSent[l.name+"."+f.name] {
				continue
			}
			t.Errorf("%s: what becomes of %s.%s?", op.Name, l.name, f.name)
		}
	}
}

// checkWhen: a condition reads a word of the record.
func checkWhen(t *testing.T, op *Op, w When, l layout) {
	t.Helper()
	if w.Mask == 0 {
		return
	}
	if w.Value&^w.Mask != 0 {
		t.Errorf("%s: condition %+v cannot hold", op.Name, w)
	}
	for _, f := range l.fields {
		if f.offset == int(w.Off) && f.size == 4 {
			return
		}
	}
	t.Errorf("%s: no word at %#x", op.Name, w.Off)
}

func answered(op *Op, f field) bool {
	for _, s := range op.Out {
		if int(s.Off) <= f.offset && f.offset+f.size <= int(s.Off)+int(s.Len) {
			return true
		}
	}
	return false
}

// What is answered begins and ends with fields of the record.
func TestAnswersAreWholeFields(t *testing.T) {
	for _, l := range layouts(t, "64") {
		for _, op := range Ops {
			if op.Record != l.name {
				continue
			}
			for _, s := range op.Out {
				var begins, ends bool
				for _, f := range l.fields {
					begins = begins || f.offset == int(s.Off)
					ends = ends || f.offset+f.size == int(s.Off)+int(s.Len)
				}
				// Padding behind the last field may be answered along with it.
				ends = ends || int(s.Off)+int(s.Len) == l.size
				if !begins || !ends {
					t.Errorf("%s: %#x, %d bytes, are not whole fields", op.Name, s.Off, s.Len)
				}
			}
		}
	}
}

// The public numbers are 0x01 to 0x49 without a gap; 0x00 is not assigned.
func TestPublicNumbersHaveNoGap(t *testing.T) {
	for nr := uint16(1); nr <= 0x49; nr++ {
		if OpByNr(nr) == nil {
			t.Errorf("%#02x is not in the table", nr)
		}
	}
	for _, nr := range []uint16{0, 0x4A, 0xFF, 0x8000, 0xF000, 0xF004, 0xFFFF} {
		if op := OpByNr(nr); op != nil {
			t.Errorf("%#02x is %s", nr, op.Name)
		}
	}
}

// calls.md §3: CreateHwContext and its counterpart are refused as on Windows, and
// what this version answers is the list here.
func TestSupport(t *testing.T) {
	supported := map[string]bool{}
	for _, name := range []string{
		"OpenAdapterFromLuid", "EnumAdapters2", "EnumAdapters3", "CloseAdapter", "QueryAdapterInfo",
		"CreateDevice", "DestroyDevice", "GetDeviceState", "CreateContextVirtual", "DestroyContext",
		"CreateSynchronizationObject2", "DestroySynchronizationObject", "SignalSynchronizationObjectFromCpu",
		"WaitForSynchronizationObjectFromCpu", "ShareObjects", "OpenSyncObjectFromNtHandle2",
		"OpenSynchronizationObject", "OpenSyncObjectFromNtHandle", "OpenSyncObjectNtHandleFromName", "OpenNtHandleFromName",
		"CreateKeyedMutex", "CreateKeyedMutex2", "OpenKeyedMutex", "OpenKeyedMutex2", "OpenKeyedMutexFromNtHandle",
		"AcquireKeyedMutex", "AcquireKeyedMutex2", "ReleaseKeyedMutex", "ReleaseKeyedMutex2", "DestroyKeyedMutex",
		"CreateSyncFile",
		"CreateHwQueue", "DestroyHwQueue", "SubmitCommand", "SubmitCommandToHwQueue", "MarkDeviceAsError", "WaitForIdle",
		"SignalSynchronizationObject", "WaitForSynchronizationObject", "SignalSynchronizationObject2", "SignalSynchronizationObjectFromGpu", "SignalSynchronizationObjectFromGpu2", "SubmitSignalSyncObjectsToHwQueue",
		"WaitForSynchronizationObject2", "WaitForSynchronizationObjectFromGpu", "SubmitWaitForSyncObjectsToHwQueue",
		"GetContextSchedulingPriority", "SetContextSchedulingPriority", "GetContextInProcessSchedulingPriority", "SetContextInProcessSchedulingPriority",
		"CreateAllocation2", "DestroyAllocation2", "QueryResourceInfo", "OpenResource", "QueryResourceInfoFromNtHandle", "OpenResourceFromNtHandle",
		"CreatePagingQueue", "DestroyPagingQueue", "ReserveGpuVirtualAddress", "MapGpuVirtualAddress", "FreeGpuVirtualAddress", "UpdateGpuVirtualAddress", "MakeResident", "Evict",
		"QueryClockCalibration", "QueryStatistics", "EnumProcesses",
		"CreateNativeFence", "OpenNativeFenceFromNtHandle", "IsFeatureEnabled", "GetNativeFenceLogDetail",
		"QueryVideoMemoryInfo", "ChangeVideoMemoryReservation", "QueryAllocationResidency", "SetAllocationPriority", "GetAllocationPriority", "OfferAllocations", "ReclaimAllocations2", "Lock2", "Unlock2", "InvalidateCache",
		"CreateDoorbell", "ConnectDoorbell", "DestroyDoorbell", "NotifyWorkSubmission", "CreateHwQueueForUserModeSubmission",
	} {
		supported["D3DKMT"+name] = true
	}
	for _, op := range Ops {
		want := NotSupported
		switch {
		case supported[op.Name] || op.Nr >= 0xF000:
			want = Supported
		case op.Name == "D3DKMTCreateHwContext" || op.Name == "D3DKMTDestroyHwContext":
			want = NotImplemented
		}
		if op.Support != want {
			t.Errorf("%s is %v, want %v", op.Name, op.Support, want)
		}
	}
}

// A descriptor that is answered in the record is among what is answered, so that it
// reaches the caller.
func TestAnsweredDescriptorsAreAnswers(t *testing.T) {
	for _, op := range Ops {
		for _, f := range op.Files {
			if f.Dir == In || f.Array >= 0 || op.Nr >= 0xF000 {
				continue
			}
			if !answered(&op, field{offset: int(f.Off), size: 8}) {
				t.Errorf("%s: the descriptor at %#x is not answered", op.Name, f.Off)
			}
		}
	}
}

func TestWhenReadsTheRecord(t *testing.T) {
	record := []byte{0, 0, 0, 0, 0x0E, 0, 0, 0x80}
	for _, c := range []struct {
		w    When
		want bool
	}{
		{When{}, true},
		{When{4, 0x80000002, 0x80000002}, true},
		{When{4, 1, 0}, true},
		{When{4, 1, 1}, false},
		{When{0, ^uint32(0), 4}, false},
	} {
		if got := c.w.Holds(record); got != c.want {
			t.Errorf("%+v holds: %v", c.w, got)
		}
	}
}

// The page about the wire lists the numbers that are ours.
func TestPrivateNumbersAreWrittenDown(t *testing.T) {
	text, err := os.ReadFile("../docs/protocol-wire.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range Ops {
		if op.Nr > 0xFF && !strings.Contains(string(text), fmt.Sprintf("| 0x%04X | %s |", op.Nr, op.Name)) {
			t.Errorf("docs/protocol-wire.md has no row for 0x%04X, %s", op.Nr, op.Name)
		}
	}
}
