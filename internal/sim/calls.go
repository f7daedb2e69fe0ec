package sim

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/object"
)

// do makes a call of the kernel as a door would. The record is what was answered.
func do[T any](p *kernel.Process, nr uint16, rec T, files []int, arrays ...[]byte) (*T, *abi.Request, abi.Status) {
	op := abi.OpByNr(nr)
	r := &abi.Request{Op: op, Record: make([]byte, op.Size), Arrays: make([][]byte, len(op.Arrays)), Files: files}
	view := abi.View[T](r.Record)
	*view = rec
	copy(r.Arrays, arrays)
	if r.Files == nil {
		r.Files = []int{abi.FileNone}
	}
	return view, r, p.Do(r)
}

func handleBytes(hs []abi.Handle) []byte {
	b := make([]byte, 0, 4*len(hs))
	for _, h := range hs {
		b = binary.LittleEndian.AppendUint32(b, uint32(h))
	}
	return b
}

func valueBytes(vs []uint64) []byte {
	b := make([]byte, 0, 8*len(vs))
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func callOpenAdapter(p *kernel.Process, luid abi.LUID) (abi.Handle, abi.Status) {
	rec, _, st := do(p, 0x01, abi.OpenAdapterFromLuid{AdapterLuid: luid}, nil)
	return rec.HAdapter, st
}

func callCreateDevice(p *kernel.Process, hAdapter abi.Handle, flags abi.CreateDeviceFlags) (abi.Handle, abi.Status) {
	rec, _, st := do(p, 0x02, abi.CreateDevice{HAdapter: hAdapter, Flags: flags}, nil)
	return rec.HDevice, st
}

func callDestroyDevice(p *kernel.Process, h abi.Handle) abi.Status {
	_, _, st := do(p, 0x19, abi.DestroyDevice{HDevice: h}, nil)
	return st
}

func callCreateContext(p *kernel.Process, hDevice abi.Handle, node, affinity uint32, flags abi.CreateContextFlags) (abi.Handle, abi.Status) {
	rec, _, st := do(p, 0x04, abi.CreateContextVirtual{HDevice: hDevice, NodeOrdinal: node, EngineAffinity: affinity, Flags: flags}, nil)
	return rec.HContext, st
}

func callDestroyContext(p *kernel.Process, h abi.Handle) abi.Status {
	_, _, st := do(p, 0x05, abi.DestroyContext{HContext: h}, nil)
	return st
}

func callSetPriority(p *kernel.Process, h abi.Handle, priority int32) abi.Status {
	_, _, st := do(p, 0x30, abi.SetContextSchedulingPriority{HContext: h, Priority: priority}, nil)
	return st
}

func callDeviceState(p *kernel.Process, h abi.Handle) (abi.DeviceExecutionState, abi.Status) {
	rec, _, st := do(p, 0x0E, abi.GetDeviceState{HDevice: h, StateType: abi.DeviceStateExecution}, nil)
	return *rec.ExecutionState(), st
}

func callMarkError(p *kernel.Process, h abi.Handle) abi.Status {
	_, _, st := do(p, 0x26, abi.MarkDeviceAsError{HDevice: h, Reason: abi.DeviceErrorGeneric}, nil)
	return st
}

// A made object is what creating or opening one answers.
type made struct {
	handle abi.Handle
	va     uint64 // for the GPU
}

func callCreateObject(p *kernel.Process, hDevice abi.Handle, info abi.SynchronizationObjectInfo2, fd int) (made, abi.Status) {
	rec, _, st := do(p, 0x10, abi.CreateSynchronizationObject2{HDevice: hDevice, Info: info}, []int{fd})
	m := made{handle: rec.HSyncObject}
	if info.Type == abi.MonitoredFence {
		m.va = rec.Info.MonitoredFence().FenceValueGPUVirtualAddress
	}
	return m, st
}

func callCreateNative(p *kernel.Process, hDevice abi.Handle, initial uint64, flags abi.SyncObjectFlags) (made, abi.Status) {
	rec, _, st := do(p, 0x800E, abi.CreateNativeFence{HDevice: hDevice, Info: abi.NativeFenceInfo{InitialFenceValue: initial, Flags: flags}}, nil)
	return made{rec.HSyncObject, rec.Info.NativeFenceMapping.CurrentValueGpuVa}, st
}

func callOpenNative(p *kernel.Process, hDevice abi.Handle, fd int, flags abi.SyncObjectFlags) (made, abi.Status) {
	rec, _, st := do(p, 0x800F, abi.OpenNativeFenceFromNtHandle{HDevice: hDevice, Flags: flags}, []int{fd})
	return made{rec.HSyncObject, rec.NativeFenceMapping.CurrentValueGpuVa}, st
}

func callDestroyObject(p *kernel.Process, h abi.Handle) abi.Status {
	_, _, st := do(p, 0x1D, abi.DestroySynchronizationObject{HSyncObject: h}, nil)
	return st
}

func callShare(p *kernel.Process, h abi.Handle, access object.Access) (int, abi.Status) {
	_, r, st := do(p, 0x3F, abi.ShareObjects{ObjectCount: 1, DesiredAccess: uint32(access)}, nil, handleBytes([]abi.Handle{h}), nil, make([]byte, 8))
	if !st.OK() {
		return -1, st
	}
	return r.Out[0].FD, st
}

func callOpen(p *kernel.Process, hDevice abi.Handle, fd int, flags abi.SyncObjectFlags) (made, abi.Status) {
	rec, _, st := do(p, 0x40, abi.OpenSyncObjectFromNtHandle2{HDevice: hDevice, Flags: flags}, []int{fd})
	return made{rec.HSyncObject, rec.MonitoredFence().FenceValueGPUVirtualAddress}, st
}

func callSignalFromCPU(p *kernel.Process, hDevice abi.Handle, objects []abi.Handle, values []uint64, flags abi.SignalFlags) abi.Status {
	_, _, st := do(p, 0x31, abi.SignalSynchronizationObjectFromCpu{HDevice: hDevice, ObjectCount: uint32(len(objects)), Flags: flags}, nil,
		handleBytes(objects), valueBytes(values))
	return st
}

func callWaitFromCPU(p *kernel.Process, hDevice abi.Handle, objects []abi.Handle, values []uint64, flags abi.WaitFromCpuFlags, fd int) abi.Status {
	_, _, st := do(p, 0x3A, abi.WaitForSynchronizationObjectFromCpu{HDevice: hDevice, ObjectCount: uint32(len(objects)), Flags: flags}, []int{fd},
		handleBytes(objects), valueBytes(values))
	return st
}

// A version is one of the calls that signal or wait from contexts or queues.
type version uint8

const (
	version2 version = iota // …Object2
	fromGpu
	fromGpu2 // waits have none
	toHwQueue
)

func (v version) String() string { return [...]string{"2", "FromGpu", "FromGpu2", "ToHwQueue"}[v] }

// A signalArgs is what the signals from contexts have in common.
type signalArgs struct {
	version  version
	contexts []abi.Handle
	objects  []abi.Handle
	values   []uint64
	flags    abi.SignalFlags
	fd       int // of the event, with EnqueueCpuEvent
}

func callSignal(p *kernel.Process, a signalArgs) (st abi.Status) {
	single := uint64(0)
	if len(a.values) > 0 {
		single = a.values[0]
	}
	files := []int{abi.FileNone}
	if a.flags&abi.SignalEnqueueCpuEvent != 0 {
		files[0] = a.fd
	}
	switch a.version {
	case version2:
		rec := abi.SignalSynchronizationObject2{ObjectCount: uint32(len(a.objects)), Flags: a.flags, BroadcastContextCount: uint32(len(a.contexts) - 1)}
		rec.HContext = a.contexts[0]
		copy(rec.ObjectHandleArray[:], a.objects)
		copy(rec.BroadcastContext[:], a.contexts[1:])
		rec.Fence().FenceValue = single
		_, _, st = do(p, 0x11, rec, files)
	case fromGpu:
		rec := abi.SignalSynchronizationObjectFromGpu{HContext: a.contexts[0], ObjectCount: uint32(len(a.objects))}
		_, _, st = do(p, 0x32, rec, nil, handleBytes(a.objects), valueBytes(a.values))
	case fromGpu2:
		rec := abi.SignalSynchronizationObjectFromGpu2{ObjectCount: uint32(len(a.objects)), Flags: a.flags, BroadcastContextCount: uint32(len(a.contexts))}
		*rec.FenceValue() = single
		_, _, st = do(p, 0x33, rec, files, handleBytes(a.objects), handleBytes(a.contexts), valueBytes(a.values))
	case toHwQueue:
		rec := abi.SubmitSignalSyncObjectsToHwQueue{Flags: a.flags, BroadcastHwQueueCount: uint32(len(a.contexts)), ObjectCount: uint32(len(a.objects))}
		_, _, st = do(p, 0x35, rec, nil, handleBytes(a.contexts), handleBytes(a.objects), valueBytes(a.values))
	}
	return st
}

// A waitArgs is what the waits of contexts have in common.
type waitArgs struct {
	version version
	context abi.Handle
	objects []abi.Handle
	values  []uint64
}

func callWait(p *kernel.Process, a waitArgs) (st abi.Status) {
	single := a.values[0]
	switch a.version {
	case version2:
		rec := abi.WaitForSynchronizationObject2{HContext: a.context, ObjectCount: uint32(len(a.objects))}
		copy(rec.ObjectHandleArray[:], a.objects)
		rec.Fence().FenceValue = single
		_, _, st = do(p, 0x12, rec, nil)
	case toHwQueue:
		rec := abi.SubmitWaitForSyncObjectsToHwQueue{HHwQueue: a.context, ObjectCount: uint32(len(a.objects))}
		_, _, st = do(p, 0x36, rec, nil, handleBytes(a.objects), valueBytes(a.values))
	default:
		rec := abi.WaitForSynchronizationObjectFromGpu{HContext: a.context, ObjectCount: uint32(len(a.objects))}
		*rec.FenceValue() = single
		_, _, st = do(p, 0x3B, rec, nil, handleBytes(a.objects), valueBytes(a.values))
	}
	return st
}

func callSubmit(p *kernel.Process, contexts []abi.Handle, b *buffer, flags abi.SubmitCommandFlags) abi.Status {
	rec := abi.SubmitCommand{Commands: b.address, CommandLength: uint32(16 * len(b.commands)), Flags: flags, BroadcastContextCount: uint32(len(contexts))}
	copy(rec.BroadcastContext[:], contexts)
	_, _, st := do(p, 0x0F, rec, nil)
	return st
}

// A madeQueue is what creating a hardware queue answers.
type madeQueue struct {
	handle   abi.Handle
	progress made
}

func callCreateHwQueue(p *kernel.Process, hContext abi.Handle, flags abi.CreateHwQueueFlags) (madeQueue, abi.Status) {
	rec, _, st := do(p, 0x18, abi.CreateHwQueue{HHwContext: hContext, Flags: flags}, nil)
	return madeQueue{rec.HHwQueue, made{rec.HHwQueueProgressFence, rec.HwQueueProgressFenceGPUVirtualAddress}}, st
}

func callDestroyHwQueue(p *kernel.Process, h abi.Handle) abi.Status {
	_, _, st := do(p, 0x1B, abi.DestroyHwQueue{HHwQueue: h}, nil)
	return st
}

func callSubmitToHwQueue(p *kernel.Process, h abi.Handle, b *buffer, progress uint64) abi.Status {
	rec := abi.SubmitCommandToHwQueue{HHwQueue: h, CommandBuffer: b.address, CommandLength: uint32(16 * len(b.commands)), HwQueueProgressFenceId: progress}
	_, _, st := do(p, 0x34, rec, nil)
	return st
}
