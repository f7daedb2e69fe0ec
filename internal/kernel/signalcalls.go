package kernel

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
)

// signalFlags are the flags of D3DDDICB_SIGNALFLAGS that packets may have.
const signalFlags = abi.SignalAtSubmission | abi.SignalEnqueueCpuEvent | abi.SignalAllowFenceRewind

// checkSignalFlags says whether flags and the number of objects fit.
func checkSignalFlags(flags abi.SignalFlags, objects, most uint32) abi.Status {
	if flags&^signalFlags != 0 || objects > most {
		return abi.StatusInvalidParameter
	}
	if event := flags&abi.SignalEnqueueCpuEvent != 0; event != (objects == 0) {
		return abi.StatusInvalidParameter
	}
	return abi.StatusSuccess
}

// signalSynchronizationObject is the first version: it has neither values nor events.
func (p *Process) signalSynchronizationObject(r *abi.Request) abi.Status {
	rec := abi.View[abi.SignalSynchronizationObject](r.Record)
	if rec.Flags&^signalFlags != 0 || rec.Flags&abi.SignalEnqueueCpuEvent != 0 || rec.ObjectCount == 0 || rec.ObjectCount > maxLegacyObjects {
		return abi.StatusInvalidParameter
	}
	return p.signal(signalCall{
		nr:       r.Op.Nr,
		contexts: []abi.Handle{rec.HContext}, objects: slices.Clone(rec.ObjectHandleArray[:rec.ObjectCount]), flags: rec.Flags,
		legacy: true, noValue: true,
	})
}

func (p *Process) signalSynchronizationObject2(r *abi.Request) abi.Status {
	rec := abi.View[abi.SignalSynchronizationObject2](r.Record)
	if st := checkSignalFlags(rec.Flags, rec.ObjectCount, maxLegacyObjects); !st.OK() {
		return st
	}
	if rec.BroadcastContextCount >= maxBroadcast {
		return abi.StatusInvalidParameter
	}
	contexts := append([]abi.Handle{rec.HContext}, rec.BroadcastContext[:rec.BroadcastContextCount]...)
	if rec.Flags&abi.SignalEnqueueCpuEvent != 0 {
		return p.enqueueEvent(r, contexts, rec.Flags)
	}
	return p.signal(signalCall{
		nr:       r.Op.Nr,
		contexts: contexts, objects: slices.Clone(rec.ObjectHandleArray[:rec.ObjectCount]), flags: rec.Flags,
		legacy: true, single: rec.Fence().FenceValue,
	})
}

func (p *Process) signalSynchronizationObjectFromGpu(r *abi.Request) abi.Status {
	rec := abi.View[abi.SignalSynchronizationObjectFromGpu](r.Record)
	if rec.ObjectCount == 0 || rec.ObjectCount > MaxWaitObjects || r.Arrays[0] == nil {
		return abi.StatusInvalidParameter
	}
	var few handful
	c := signalCall{nr: r.Op.Nr, contexts: []abi.Handle{rec.HContext}, objects: few.read(r.Arrays[0], int(rec.ObjectCount)), values: r.Arrays[1]}
	if len(c.values) >= 8 {
		c.single = firstValue(c.values) // of a fence of Windows 7 too: there is no other field
	} else if k := p.kindOf(c.objects[0]); k == abi.Fence {
		return abi.StatusInvalidParameter
	}
	return p.signal(c)
}

func (p *Process) signalSynchronizationObjectFromGpu2(r *abi.Request) abi.Status {
	rec := abi.View[abi.SignalSynchronizationObjectFromGpu2](r.Record)
	if st := checkSignalFlags(rec.Flags, rec.ObjectCount, MaxWaitObjects); !st.OK() {
		return st
	}
	if rec.BroadcastContextCount == 0 || rec.BroadcastContextCount > maxBroadcast || r.Arrays[1] == nil || rec.ObjectCount > 0 && r.Arrays[0] == nil {
		return abi.StatusInvalidParameter
	}
	var few, some handful
	contexts := few.read(r.Arrays[1], int(rec.BroadcastContextCount))
	if rec.Flags&abi.SignalEnqueueCpuEvent != 0 {
		return p.enqueueEvent(r, contexts, rec.Flags)
	}
	return p.signal(signalCall{
		nr:       r.Op.Nr,
		contexts: contexts, objects: some.read(r.Arrays[0], int(rec.ObjectCount)), flags: rec.Flags,
		values: r.Arrays[2], single: *rec.FenceValue(),
	})
}

// submitSignalSyncObjectsToHwQueue signals fences in memory when all queues reach it.
func (p *Process) submitSignalSyncObjectsToHwQueue(r *abi.Request) abi.Status {
	rec := abi.View[abi.SubmitSignalSyncObjectsToHwQueue](r.Record)
	switch {
	case rec.Flags&^(abi.SignalAtSubmission|abi.SignalAllowFenceRewind) != 0, rec.BroadcastHwQueueCount == 0, rec.BroadcastHwQueueCount > maxBroadcast,
		rec.ObjectCount == 0, rec.ObjectCount > maxLegacyObjects, r.Arrays[0] == nil, r.Arrays[1] == nil, r.Arrays[2] == nil:
		return abi.StatusInvalidParameter
	}
	k := p.k
	s := new(gpuSignal)
	var few, some handful
	k.lock()
	defer k.unlock()
	d, queues, st := p.hwQueues(nil, few.read(r.Arrays[0], int(rec.BroadcastHwQueueCount)))
	if !st.OK() {
		return st
	}
	if s.objects, st = d.findQueued(s.one[:0], some.read(r.Arrays[1], int(rec.ObjectCount)), true, false, true); !st.OK() {
		return st
	}
	if st := setValues(s.objects, r.Arrays[2], 0); !st.OK() {
		return st
	}
	return k.judgeSignal(d, queues, s, rec.Flags)
}
