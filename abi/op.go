package abi

import (
	"encoding/binary"
	"slices"
)

// An Op is a row of the operation table: everything that lies between a caller and
// the kernel is driven by it. Adding a call is a row, a record and a method.
type Op struct {
	Nr      uint16  // 0x01–0x49 public, 0x8001… ours, 0xF001… session operations
	Name    string  // "D3DKMTCreateDevice"
	Record  string  // "D3DKMT_CREATEDEVICE"
	Size    int     // bytes of the record
	Request uint32  // ioctl request on /dev/dxg, 0 if there is none
	Support Support // what the kernel does with it
	// Out are the bytes of the record that the kernel writes when the call succeeds;
	// all others stay as the caller left them.
	Out []Span
	// Arrays are the record's pointers, in the order in which they travel.
	Arrays []Array
	// Files are the record's fields that carry descriptors.
	Files []FileField
}

// Support says what becomes of an operation.
type Support uint8

// What becomes of an operation.
const (
	NotSupported   Support = iota // STATUS_NOT_SUPPORTED
	Supported                     // answered
	NotImplemented                // STATUS_NOT_IMPLEMENTED, as on Windows
)

// String returns "supported", "not supported" or "not implemented".
func (s Support) String() string {
	return [...]string{"not supported", "supported", "not implemented"}[s]
}

// A Span is a range of bytes in a record.
type Span struct{ Off, Len uint16 }

// Dir is the direction in which something travels.
type Dir uint8

// Directions.
const (
	In    Dir = 1 << iota // to the kernel
	Out                   // from the kernel
	InOut = In | Out
)

// An Array is memory that a record points to.
type Array struct {
	Pointer uint16 // offset of the pointer
	Count   uint16 // offset of the 32-bit count of elements, unless Fixed
	Fixed   uint32 // if not 0: there are always so many
	Elem    uint32 // bytes of an element
	Dir     Dir
	Max     uint32 // the most elements that travel; a count above it is refused
	When    When   // otherwise the field is no such pointer
	// Maybe: the field may hold a number that is no pointer, and only the kernel
	// knows. What cannot be read then travels as NULL; the number is in the record.
	Maybe bool
	// From says how the array is reached; unless it is FromRecord, through the array
	// Of of the same operation, which comes before. It has as many bytes as there
	// are, up to Max.
	From Reach
	Of   int
	// PointsInto, if not 0, is 1 + the index of an answered array into which the
	// kernel makes the 64-bit field PointsAt of each element point: it answers the
	// offset in bytes, and the caller's library adds the address.
	PointsAt   uint16
	PointsInto int
}

// Reach says how a caller's library comes to an array.
type Reach uint8

// The ways to an array.
const (
	FromRecord     Reach = iota // the record's field Pointer
	FromAttributes              // the name of OBJECT_ATTRIBUTES: the buffer of its UNICODE_STRING
	FromSecurity                // the security descriptor of OBJECT_ATTRIBUTES, in self-relative form
	FromElements                // fields Pointer and Count of each element, one after the other
)

// FileKind is what a descriptor stands for.
type FileKind uint8

// Kinds of descriptors.
const (
	FileEvent    FileKind = iota + 1 // a CPU event: an eventfd
	FileNTHandle                     // an NT handle
	FileSyncFile                     // a sync file
	FileMemory                       // memory to map
)

// A FileField is a 64-bit field that carries a descriptor.
type FileField struct {
	Off   uint16 // in the record
	Dir   Dir
	Kind  FileKind
	Array int // index of the Out array whose first element carries it instead, -1: the record
	When  When
}

// A When is the condition under which a field is what the table says: the 32-bit
// word at Off, masked, is Value. The zero When is always true.
type When struct {
	Off         uint16
	Mask, Value uint32
}

// Holds reports whether the condition holds for a record.
func (w When) Holds(record []byte) bool {
	return w.Mask == 0 || binary.LittleEndian.Uint32(record[w.Off:])&w.Mask == w.Value
}

// Values of Request.Files that are no descriptors.
const (
	FileNone = -1 // the field was 0
	FileBad  = -2 // the field holds a number that is no open descriptor
)

// A Request is one call on its way from a door to the kernel. The answer is
// written in place.
type Request struct {
	Op     *Op
	Record []byte   // Op.Size bytes, aligned to 8
	Arrays [][]byte // one per Op.Arrays; nil for a NULL pointer
	Files  []int    // one per entry of Op.Files with Dir In
	// Bell and Ticket are the lines of the bell table that a blocking wait sleeps on
	// and is answered on; 0 for everything else.
	Bell, Ticket uint32

	// Out are the answered descriptors: those of Op.Files first, then the Grant's.
	Out []OutFile
	// Grant is the memory of the local fence that the call made.
	Grant Grant
}

// An OutFile is an answered descriptor. Unless it is borrowed, whoever answers it
// closes it.
type OutFile struct {
	FD       int
	Borrowed bool
}

// A Grant describes the memory of a local fence to its process. It has the same
// layout everywhere.
type Grant struct {
	Kind     uint8  // 0: nothing to map; GrantPage, GrantSlab
	Rights   uint8  // GrantSignal, GrantWait, GrantKeepsWaiters
	Slots    uint8  // slots of the cell
	Writable uint8  // 1: the process may write the memory
	Slab     uint32 // number of the slab in the process
	Offset   uint32 // of the cell, in bytes
	Size     uint32 // bytes to map
	HasFile  uint8  // 1: a descriptor to map came along
	_        [3]uint8
	Device   Handle // of the local object, also where the call names none
}

// Kinds and rights of a Grant.
const (
	GrantPage = 1 // a page of the fence's own
	GrantSlab = 2 // a cell of a slab

	GrantSignal = 1 // the process may signal through this local object
	GrantWait   = 2 // the process may wait through it
	// GrantKeepsWaiters is no right but goes with them: waiters stay when this local
	// object is destroyed, until the shared object is.
	GrantKeepsWaiters = 4
)

//go:generate go run ./internal/genc -o ../c/src/optable.h

// Ops is the operation table, by number.
var Ops = byNumber(adapterOps, deviceOps, syncOps, memoryOps, keyedMutexOps, nativeFenceOps, sessionOps)

func byNumber(families ...[]Op) []Op {
	all := slices.Concat(families...)
	slices.SortFunc(all, func(a, b Op) int { return int(a.Nr) - int(b.Nr) })
	return all
}

// opByNr is a direct table for public numbers and a map for the rest.
var (
	opPublic [0x100]*Op
	opOther  = map[uint16]*Op{}
)

func init() {
	for i := range Ops {
		if op := &Ops[i]; int(op.Nr) < len(opPublic) {
			opPublic[op.Nr] = op
		} else {
			opOther[op.Nr] = op
		}
	}
}

// OpByNr finds an operation; nil when the number is not in the table.
func OpByNr(nr uint16) *Op {
	if int(nr) < len(opPublic) {
		return opPublic[nr]
	}
	return opOther[nr]
}

// OpByName finds an operation by the name of its call; nil when there is none.
func OpByName(name string) *Op {
	for i := range Ops {
		if Ops[i].Name == name {
			return &Ops[i]
		}
	}
	return nil
}

func mustOp(name string) *Op {
	op := OpByName(name)
	if op == nil {
		panic("abi: no operation " + name)
	}
	return op
}

// The operations that code of ours issues by name.
var (
	OpOpenAdapterFromLuid                 = mustOp("D3DKMTOpenAdapterFromLuid")
	OpCreateDevice                        = mustOp("D3DKMTCreateDevice")
	OpCreateContextVirtual                = mustOp("D3DKMTCreateContextVirtual")
	OpDestroyContext                      = mustOp("D3DKMTDestroyContext")
	OpQueryAdapterInfo                    = mustOp("D3DKMTQueryAdapterInfo")
	OpGetDeviceState                      = mustOp("D3DKMTGetDeviceState")
	OpCreateSynchronizationObject2        = mustOp("D3DKMTCreateSynchronizationObject2")
	OpSignalSynchronizationObject         = mustOp("D3DKMTSignalSynchronizationObject")
	OpSignalSynchronizationObject2        = mustOp("D3DKMTSignalSynchronizationObject2")
	OpSignalSynchronizationObjectFromGpu  = mustOp("D3DKMTSignalSynchronizationObjectFromGpu")
	OpSignalSynchronizationObjectFromGpu2 = mustOp("D3DKMTSignalSynchronizationObjectFromGpu2")
	OpWaitForSynchronizationObject        = mustOp("D3DKMTWaitForSynchronizationObject")
	OpWaitForSynchronizationObject2       = mustOp("D3DKMTWaitForSynchronizationObject2")
	OpWaitForSynchronizationObjectFromGpu = mustOp("D3DKMTWaitForSynchronizationObjectFromGpu")
	OpSubmitSignalSyncObjectsToHwQueue    = mustOp("D3DKMTSubmitSignalSyncObjectsToHwQueue")
	OpSubmitWaitForSyncObjectsToHwQueue   = mustOp("D3DKMTSubmitWaitForSyncObjectsToHwQueue")
	OpSubmitCommand                       = mustOp("D3DKMTSubmitCommand")
	OpSubmitCommandToHwQueue              = mustOp("D3DKMTSubmitCommandToHwQueue")
	OpCreateHwQueue                       = mustOp("D3DKMTCreateHwQueue")
	OpDestroyHwQueue                      = mustOp("D3DKMTDestroyHwQueue")
	OpCreatePagingQueue                   = mustOp("D3DKMTCreatePagingQueue")
	OpDestroyPagingQueue                  = mustOp("D3DKMTDestroyPagingQueue")
	OpMarkDeviceAsError                   = mustOp("D3DKMTMarkDeviceAsError")
	OpWaitForIdle                         = mustOp("D3DKMTWaitForIdle")
	OpCreateSyncFile                      = mustOp("D3DKMTCreateSyncFile")
	OpEnumProcesses                       = mustOp("D3DKMTEnumProcesses")
	OpQueryClockCalibration               = mustOp("D3DKMTQueryClockCalibration")
	OpQueryStatistics                     = mustOp("D3DKMTQueryStatistics")

	OpGetContextSchedulingPriority          = mustOp("D3DKMTGetContextSchedulingPriority")
	OpSetContextSchedulingPriority          = mustOp("D3DKMTSetContextSchedulingPriority")
	OpGetContextInProcessSchedulingPriority = mustOp("D3DKMTGetContextInProcessSchedulingPriority")
	OpSetContextInProcessSchedulingPriority = mustOp("D3DKMTSetContextInProcessSchedulingPriority")

	OpEnumAdapters2                       = mustOp("D3DKMTEnumAdapters2")
	OpCloseAdapter                        = mustOp("D3DKMTCloseAdapter")
	OpDestroyDevice                       = mustOp("D3DKMTDestroyDevice")
	OpDestroySynchronizationObject        = mustOp("D3DKMTDestroySynchronizationObject")
	OpSignalSynchronizationObjectFromCpu  = mustOp("D3DKMTSignalSynchronizationObjectFromCpu")
	OpWaitForSynchronizationObjectFromCpu = mustOp("D3DKMTWaitForSynchronizationObjectFromCpu")
	OpEnumAdapters3                       = mustOp("D3DKMTEnumAdapters3")
	OpShareObjects                        = mustOp("D3DKMTShareObjects")
	OpOpenSyncObjectFromNtHandle2         = mustOp("D3DKMTOpenSyncObjectFromNtHandle2")
	OpOpenSyncObjectFromNtHandle          = mustOp("D3DKMTOpenSyncObjectFromNtHandle")
	OpCreateNativeFence                   = mustOp("D3DKMTCreateNativeFence")
	OpOpenNativeFenceFromNtHandle         = mustOp("D3DKMTOpenNativeFenceFromNtHandle")
	OpCreateDoorbell                      = mustOp("D3DKMTCreateDoorbell")
	OpConnectDoorbell                     = mustOp("D3DKMTConnectDoorbell")
	OpDestroyDoorbell                     = mustOp("D3DKMTDestroyDoorbell")
	OpNotifyWorkSubmission                = mustOp("D3DKMTNotifyWorkSubmission")
	OpCreateHwQueueForUserModeSubmission  = mustOp("D3DKMTCreateHwQueueForUserModeSubmission")
	OpIsFeatureEnabled                    = mustOp("D3DKMTIsFeatureEnabled")
	OpOpenSynchronizationObject           = mustOp("D3DKMTOpenSynchronizationObject")
	OpOpenSyncObjectNtHandleFromName      = mustOp("D3DKMTOpenSyncObjectNtHandleFromName")
	OpOpenNtHandleFromName                = mustOp("D3DKMTOpenNtHandleFromName")
	OpCreateAllocation2                   = mustOp("D3DKMTCreateAllocation2")
	OpDestroyAllocation2                  = mustOp("D3DKMTDestroyAllocation2")
	OpQueryResourceInfo                   = mustOp("D3DKMTQueryResourceInfo")
	OpQueryResourceInfoFromNtHandle       = mustOp("D3DKMTQueryResourceInfoFromNtHandle")
	OpOpenResource                        = mustOp("D3DKMTOpenResource")
	OpOpenResourceFromNtHandle            = mustOp("D3DKMTOpenResourceFromNtHandle")
	OpReserveGpuVirtualAddress            = mustOp("D3DKMTReserveGpuVirtualAddress")
	OpMapGpuVirtualAddress                = mustOp("D3DKMTMapGpuVirtualAddress")
	OpFreeGpuVirtualAddress               = mustOp("D3DKMTFreeGpuVirtualAddress")
	OpUpdateGpuVirtualAddress             = mustOp("D3DKMTUpdateGpuVirtualAddress")
	OpMakeResident                        = mustOp("D3DKMTMakeResident")
	OpEvict                               = mustOp("D3DKMTEvict")
	OpLock2                               = mustOp("D3DKMTLock2")
	OpUnlock2                             = mustOp("D3DKMTUnlock2")
	OpInvalidateCache                     = mustOp("D3DKMTInvalidateCache")
	OpQueryVideoMemoryInfo                = mustOp("D3DKMTQueryVideoMemoryInfo")
	OpChangeVideoMemoryReservation        = mustOp("D3DKMTChangeVideoMemoryReservation")
	OpQueryAllocationResidency            = mustOp("D3DKMTQueryAllocationResidency")
	OpSetAllocationPriority               = mustOp("D3DKMTSetAllocationPriority")
	OpOfferAllocations                    = mustOp("D3DKMTOfferAllocations")
	OpReclaimAllocations2                 = mustOp("D3DKMTReclaimAllocations2")
	OpGetAllocationPriority               = mustOp("D3DKMTGetAllocationPriority")
	OpCreateKeyedMutex                    = mustOp("D3DKMTCreateKeyedMutex")
	OpCreateKeyedMutex2                   = mustOp("D3DKMTCreateKeyedMutex2")
	OpOpenKeyedMutex                      = mustOp("D3DKMTOpenKeyedMutex")
	OpOpenKeyedMutex2                     = mustOp("D3DKMTOpenKeyedMutex2")
	OpOpenKeyedMutexFromNtHandle          = mustOp("D3DKMTOpenKeyedMutexFromNtHandle")
	OpAcquireKeyedMutex                   = mustOp("D3DKMTAcquireKeyedMutex")
	OpAcquireKeyedMutex2                  = mustOp("D3DKMTAcquireKeyedMutex2")
	OpReleaseKeyedMutex                   = mustOp("D3DKMTReleaseKeyedMutex")
	OpReleaseKeyedMutex2                  = mustOp("D3DKMTReleaseKeyedMutex2")
	OpDestroyKeyedMutex                   = mustOp("D3DKMTDestroyKeyedMutex")

	OpHello       = mustOp("Hello")
	OpGrantBells  = mustOp("GrantBells")
	OpRing        = mustOp("Ring")
	OpCancelWait  = mustOp("CancelWait")
	OpReturnBells = mustOp("ReturnBells")
	OpSlabFile    = mustOp("SlabFile")
	OpEndThread   = mustOp("EndThread")
	OpSnapshot    = mustOp("Snapshot")

	OpProvokeFault = mustOp("ProvokeFault")
	OpFenceLog     = mustOp("FenceLog")
)
