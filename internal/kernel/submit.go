package kernel

import (
	"bytes"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// Limits of submissions. Source: calls.md §3.
const (
	maxPrimaries      = 16   // D3DDDI_MAX_WRITTEN_PRIMARIES
	maxHistoryBuffers = 1024 // Linux guest
	maxSubmitData     = 64 << 10
)

// submitCommand queues a command buffer on each of its contexts. Source: calls.md §3.
func (p *Process) submitCommand(r *abi.Request) abi.Status {
	rec := abi.View[abi.SubmitCommand](r.Record)
	switch {
	case !abi.SubmitFlagRules.Known(uint32(rec.Flags)),
		rec.BroadcastContextCount == 0, rec.BroadcastContextCount > maxBroadcast,
		rec.NumPrimaries > maxPrimaries, rec.NumHistoryBuffers > maxHistoryBuffers, rec.PrivateDriverDataSize > maxSubmitData,
		rec.PrivateDriverDataSize != 0 && r.Arrays[0] == nil, rec.NumHistoryBuffers != 0 && r.Arrays[1] == nil:
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	handles := rec.BroadcastContext[:rec.BroadcastContextCount]
	d, queues, hardware, st := p.contextQueues(nil, handles)
	if !st.OK() {
		return st
	}
	if hardware {
		return abi.StatusInvalidParameter
	}
	null := make([]bool, len(queues))
	for i, h := range handles {
		c, _ := object.Get[*context](&p.table, h)
		if c.flags&abi.ContextSynchronizationOnly != 0 {
			return abi.StatusInvalidParameter
		}
		null[i] = rec.Flags&abi.SubmitNullRendering != 0 || c.flags&abi.ContextNullRendering != 0
	}
	if st := d.submittable(); !st.OK() {
		return st
	}
	if !p.k.room(queues, 1, vidsch.Bytes(0, len(r.Arrays[0]))) {
		return abi.StatusNoMemory
	}
	for i, q := range queues {
		q.Submit(vidsch.Buffer{Address: rec.Commands, Length: rec.CommandLength, Private: bytes.Clone(r.Arrays[0]), Null: null[i]})
	}
	return abi.StatusSuccess
}

// submitCommandToHwQueue appends a command buffer to a hardware queue. Source: calls.md
// §3.
func (p *Process) submitCommandToHwQueue(r *abi.Request) abi.Status {
	rec := abi.View[abi.SubmitCommandToHwQueue](r.Record)
	if rec.NumPrimaries > maxPrimaries || rec.PrivateDriverDataSize > maxSubmitData ||
		rec.PrivateDriverDataSize != 0 && r.Arrays[0] == nil || rec.NumPrimaries != 0 && r.Arrays[1] == nil {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	q, ok := object.Get[*hwQueue](&p.table, rec.HHwQueue)
	if !ok || q.userMode() {
		return abi.StatusInvalidParameter
	}
	if st := q.context.device.submittable(); !st.OK() {
		return st
	}
	if rec.HwQueueProgressFenceId <= q.submitted {
		return abi.StatusInvalidParameter
	}
	if !p.k.room([]*vidsch.Queue{q.sched}, 1, vidsch.Bytes(0, len(r.Arrays[0]))) {
		return abi.StatusNoMemory
	}
	q.submitted = rec.HwQueueProgressFenceId
	q.sched.Submit(vidsch.Buffer{
		Address: rec.CommandBuffer, Length: rec.CommandLength, Private: bytes.Clone(r.Arrays[0]), Progress: rec.HwQueueProgressFenceId,
		Null: q.context.flags&abi.ContextNullRendering != 0,
	})
	return abi.StatusSuccess
}
