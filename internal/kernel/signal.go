package kernel

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// points decodes the arrays of a call on several fences: handles and values.
// INVALID_PARAMETER for no or too many objects and for NULL arrays.
func points(count uint32, handles, values []byte) (hs []abi.Handle, vs []uint64, st abi.Status) {
	if count == 0 || count > MaxWaitObjects || handles == nil || values == nil {
		return nil, nil, abi.StatusInvalidParameter
	}
	hs, vs = make([]abi.Handle, count), make([]uint64, count)
	for i := range hs {
		hs[i] = abi.Handle(binary.LittleEndian.Uint32(handles[4*i:]))
		vs[i] = binary.LittleEndian.Uint64(values[8*i:])
	}
	return hs, vs, abi.StatusSuccess
}

// signalSynchronizationObjectFromCpu sets values in array order. The whole array
// is judged before the first store (calls.md §1.1, §5; OQ-11, OQ-55).
func (p *Process) signalSynchronizationObjectFromCpu(r *abi.Request) abi.Status {
	rec := abi.View[abi.SignalSynchronizationObjectFromCpu](r.Record)
	if rec.Flags&^abi.SignalAllowFenceRewind != 0 {
		return abi.StatusInvalidParameter
	}
	handles, values, st := points(rec.ObjectCount, r.Arrays[0], r.Arrays[1])
	if !st.OK() {
		return st
	}
	rewind := rec.Flags&abi.SignalAllowFenceRewind != 0
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	locals, st := p.findAll(handles)
	if !st.OK() {
		return st
	}
	if !d.ownsAll(locals) {
		return abi.StatusInvalidParameter
	}
	if st := d.usable(); !st.OK() {
		return st
	}
	for _, l := range locals {
		if !l.maySignal() {
			return abi.StatusAccessDenied
		}
	}
	if st := judge(locals, values, rewind); !st.OK() {
		return st
	}
	for i, l := range locals {
		l.fence.signalFrom(l.device.adapter, values[i], rewind, &p.k.fx.wakes)
	}
	return abi.StatusSuccess
}

// findAll looks up every handle as a local object of the process. It is nil for an
// object without memory, whose turn to be refused comes with ownsAll.
func (p *Process) findAll(handles []abi.Handle) ([]*local, abi.Status) {
	locals := make([]*local, len(handles))
	for i, h := range handles {
		switch l := p.table.Get(h).(type) {
		case *local:
			if !l.fence.intra() { // which no CPU uses
				locals[i] = l
			}
		case *plainLocal:
		default:
			return nil, abi.StatusInvalidParameter
		}
	}
	return locals, abi.StatusSuccess
}

// ownsAll says whether all of them are fences in memory, of d.
func (d *device) ownsAll(locals []*local) bool {
	for _, l := range locals {
		if l == nil || l.device != d {
			return false
		}
	}
	return true
}

// judge checks a batch against the values as they will be when its turn comes: a
// fence that occurs twice has the earlier value of the batch by then.
func judge(locals []*local, values []uint64, rewind bool) abi.Status {
	var later map[*fence]uint64
	if len(locals) > 1 {
		later = make(map[*fence]uint64, len(locals))
	}
	for i, l := range locals {
		cur, seen := later[l.fence]
		if !seen {
			cur = l.fence.Value()
		}
		if st := l.fence.Judge(cur, values[i], rewind); !st.OK() {
			return st
		}
		if later != nil {
			later[l.fence] = values[i]
		}
	}
	return abi.StatusSuccess
}

// ring makes the kernel look at fences whose value its caller stored: when it
// answers, every kernel-side wait that the values satisfy has ended.
func (p *Process) ring(r *abi.Request) abi.Status {
	rec := abi.View[abi.Ring](r.Record)
	if rec.Count == 0 || rec.Count > MaxWaitObjects || r.Arrays[0] == nil {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	for i := range int(rec.Count) {
		h := abi.Handle(binary.LittleEndian.Uint32(r.Arrays[0][4*i:]))
		// A handle that was destroyed meanwhile is no error: the signal came first.
		if l, ok := object.Get[*local](&p.table, h); ok {
			l.fence.Look(&p.k.fx.wakes)
		}
	}
	return abi.StatusSuccess
}
