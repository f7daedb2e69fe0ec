package dxgsync

import "github.com/dxgsync/dxgsync/abi"

// CreateHwQueue makes a hardware queue on a context that was made with HwQueueSupported;
// data is the private driver data or nil. The address of the progress fence's value is
// left 0.
func (s *Session) CreateHwQueue(r *abi.CreateHwQueue, data []byte) abi.Status {
	r.PrivateDriverDataSize = uint32(len(data))
	req := request(abi.OpCreateHwQueue, r, data)
	return s.grantedWith(req, s.Do(req), &r.HHwQueueProgressFence, abi.OpDestroyHwQueue, &r.HHwQueue)
}

// DestroyHwQueue destroys a hardware queue with its progress fence.
func (s *Session) DestroyHwQueue(r *abi.DestroyHwQueue) abi.Status {
	return do(s, abi.OpDestroyHwQueue, r)
}

// SubmitCommand queues a command buffer on each of its contexts; data is the private
// driver data, history are the history buffers. Either may be nil.
func (s *Session) SubmitCommand(r *abi.SubmitCommand, data []byte, history []abi.Handle) abi.Status {
	r.PrivateDriverDataSize, r.NumHistoryBuffers = uint32(len(data)), uint32(len(history))
	return do(s, abi.OpSubmitCommand, r, data, bytesOf(history))
}

// SubmitCommandToHwQueue appends a command buffer to a hardware queue; data is the
// private driver data, primaries are those that it writes. Either may be nil.
func (s *Session) SubmitCommandToHwQueue(r *abi.SubmitCommandToHwQueue, data []byte, primaries []abi.Handle) abi.Status {
	r.PrivateDriverDataSize, r.NumPrimaries = uint32(len(data)), uint32(len(primaries))
	return do(s, abi.OpSubmitCommandToHwQueue, r, data, bytesOf(primaries))
}

// SignalSynchronizationObject queues a signal of objects without values, which are in
// the record.
func (s *Session) SignalSynchronizationObject(r *abi.SignalSynchronizationObject) abi.Status {
	return do(s, abi.OpSignalSynchronizationObject, r)
}

// SignalSynchronizationObject2 queues a signal of the objects in the record. With
// EnqueueCpuEvent there are none, and the record's union has an eventfd.
func (s *Session) SignalSynchronizationObject2(r *abi.SignalSynchronizationObject2) abi.Status {
	req := request(abi.OpSignalSynchronizationObject2, r)
	if r.Flags&abi.SignalEnqueueCpuEvent != 0 {
		req.Files[0] = descriptor(*r.CpuEventHandle())
	}
	return s.Do(req)
}

// SignalSynchronizationObjectFromGpu queues a signal of objects. values are those of
// fences, the one of a single fence of Windows 7 too; nil for objects that have none.
func (s *Session) SignalSynchronizationObjectFromGpu(r *abi.SignalSynchronizationObjectFromGpu, objects []abi.Handle, values []uint64) abi.Status {
	if values != nil && len(values) != len(objects) {
		return abi.StatusInvalidParameter
	}
	r.ObjectCount = uint32(len(objects))
	return do(s, abi.OpSignalSynchronizationObjectFromGpu, r, bytesOf(objects), bytesOf(values))
}

// SignalSynchronizationObjectFromGpu2 queues a signal of objects on several contexts,
// which takes effect when all of them reach it. values are those of fences in memory; nil
// leaves the record's union to speak: the value of a fence of Windows 7 or, with
// EnqueueCpuEvent and no objects, an eventfd.
func (s *Session) SignalSynchronizationObjectFromGpu2(r *abi.SignalSynchronizationObjectFromGpu2, objects, contexts []abi.Handle, values []uint64) abi.Status {
	if values != nil && len(values) != len(objects) {
		return abi.StatusInvalidParameter
	}
	r.ObjectCount, r.BroadcastContextCount = uint32(len(objects)), uint32(len(contexts))
	req := request(abi.OpSignalSynchronizationObjectFromGpu2, r, bytesOf(objects), bytesOf(contexts), bytesOf(values))
	if r.Flags&abi.SignalEnqueueCpuEvent != 0 {
		req.Files[0] = descriptor(*r.CpuEventHandle())
	}
	return s.Do(req)
}

// SubmitSignalSyncObjectsToHwQueue queues a signal of fences in memory on several
// hardware queues, which takes effect when all of them reach it.
func (s *Session) SubmitSignalSyncObjectsToHwQueue(r *abi.SubmitSignalSyncObjectsToHwQueue, queues, objects []abi.Handle, values []uint64) abi.Status {
	if len(values) != len(objects) {
		return abi.StatusInvalidParameter
	}
	r.BroadcastHwQueueCount, r.ObjectCount = uint32(len(queues)), uint32(len(objects))
	return do(s, abi.OpSubmitSignalSyncObjectsToHwQueue, r, bytesOf(queues), bytesOf(objects), bytesOf(values))
}

// WaitForSynchronizationObject queues a wait for objects without values, which are in
// the record.
func (s *Session) WaitForSynchronizationObject(r *abi.WaitForSynchronizationObject) abi.Status {
	return do(s, abi.OpWaitForSynchronizationObject, r)
}

// WaitForSynchronizationObject2 queues a wait for the objects in the record.
func (s *Session) WaitForSynchronizationObject2(r *abi.WaitForSynchronizationObject2) abi.Status {
	return do(s, abi.OpWaitForSynchronizationObject2, r)
}

// WaitForSynchronizationObjectFromGpu queues a wait for objects. values are those of
// fences in memory; nil leaves the record's union to speak for a fence of Windows 7.
func (s *Session) WaitForSynchronizationObjectFromGpu(r *abi.WaitForSynchronizationObjectFromGpu, objects []abi.Handle, values []uint64) abi.Status {
	if values != nil && len(values) != len(objects) {
		return abi.StatusInvalidParameter
	}
	r.ObjectCount = uint32(len(objects))
	return do(s, abi.OpWaitForSynchronizationObjectFromGpu, r, bytesOf(objects), bytesOf(values))
}

// SubmitWaitForSyncObjectsToHwQueue queues a wait for fences in memory on a hardware
// queue.
func (s *Session) SubmitWaitForSyncObjectsToHwQueue(r *abi.SubmitWaitForSyncObjectsToHwQueue, objects []abi.Handle, values []uint64) abi.Status {
	if len(values) != len(objects) {
		return abi.StatusInvalidParameter
	}
	r.ObjectCount = uint32(len(objects))
	return do(s, abi.OpSubmitWaitForSyncObjectsToHwQueue, r, bytesOf(objects), bytesOf(values))
}

// MarkDeviceAsError loses a device as a reset that it caused would.
func (s *Session) MarkDeviceAsError(r *abi.MarkDeviceAsError) abi.Status {
	return do(s, abi.OpMarkDeviceAsError, r)
}

// WaitForIdle parks the goroutine until a device has neither queued nor running work.
func (s *Session) WaitForIdle(r *abi.WaitForIdle) abi.Status {
	if s.closed.Load() {
		return abi.StatusDeviceRemoved
	}
	return s.block(request(abi.OpWaitForIdle, r))
}

// GetContextSchedulingPriority tells the priority of a context, -7 to 7.
func (s *Session) GetContextSchedulingPriority(r *abi.GetContextSchedulingPriority) abi.Status {
	return do(s, abi.OpGetContextSchedulingPriority, r)
}

// SetContextSchedulingPriority sets it.
func (s *Session) SetContextSchedulingPriority(r *abi.SetContextSchedulingPriority) abi.Status {
	return do(s, abi.OpSetContextSchedulingPriority, r)
}

// GetContextInProcessSchedulingPriority tells whether a context goes before the others
// of its process: 0 or 1.
func (s *Session) GetContextInProcessSchedulingPriority(r *abi.GetContextInProcessSchedulingPriority) abi.Status {
	return do(s, abi.OpGetContextInProcessSchedulingPriority, r)
}

// SetContextInProcessSchedulingPriority sets it.
func (s *Session) SetContextInProcessSchedulingPriority(r *abi.SetContextInProcessSchedulingPriority) abi.Status {
	return do(s, abi.OpSetContextInProcessSchedulingPriority, r)
}

// QueryClockCalibration reads the clocks of a node and of the CPU at one moment.
func (s *Session) QueryClockCalibration(r *abi.QueryClockCalibration) abi.Status {
	return do(s, abi.OpQueryClockCalibration, r)
}

// QueryStatistics asks for one kind of statistics.
func (s *Session) QueryStatistics(r *abi.QueryStatistics) abi.Status {
	return do(s, abi.OpQueryStatistics, r)
}

// EnumProcesses lists the processes that use an adapter; with a nil array it tells how
// many there are.
func (s *Session) EnumProcesses(r *abi.EnumProcesses, ids []uint32) abi.Status {
	r.BufferCount = uint64(len(ids))
	return do(s, abi.OpEnumProcesses, r, bytesOf(ids))
}
