package kernel

import (
	"slices"

	"github.com/dxgsync/dxgsync/internal/vidmm"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// What is destroyed while its device has packets stays where GPUs see it until those are
// complete or dropped: the address of a fence, the memory of an allocation. Its handle is
// gone at once. Source: objects.md §5.5; page of D3DDDICB_DESTROYALLOCATION2FLAGS.

// A fenceRemnant is the address of a fence whose local object was destroyed. It is no
// reference to the fence: the packets that it is kept for may wait for the fence, which
// nobody could signal then (OQ-15).
type fenceRemnant struct {
	device  *device
	space   *vidmm.Space
	mapping vidmm.Fence
	fence   *fence // that is there yet, nil: none; then it is in its adapter's remnants
}

// A lastValue is a fence that is gone, as GPUs see it: what they store goes nowhere.
type lastValue uint64

// Load implements vidmm.Word.
func (v lastValue) Load() uint64 { return uint64(v) }

// Raise implements vidmm.Word.
func (lastValue) Raise(uint64) bool { return true }

// Replace implements vidmm.Word.
func (lastValue) Replace(uint64) {}

// leaveAddress gives up l's GPU virtual address. If others have the fence, what packets
// of l's device store there they see, as if a signal was queued; else it goes nowhere, as
// the room of the fence may be another's soon.
func (l *local) leaveAddress() {
	d := l.device
	if l.native != nil {
		l.native.leave()
		return
	}
	s := d.process.spaces[d.adapter]
	if s == nil || !l.mapping.Mapped() {
		return
	}
	if !d.sched.Keeps() { // the usual case, which costs no remnant
		s.UnmapFence(&l.mapping)
		return
	}
	r := &fenceRemnant{device: d, space: s}
	d.keep(r)
	word := vidmm.Word(lastValue(l.Load()))
	if !l.fence.Last() {
		r.fence, word = l.fence, &local{fence: l.fence, device: d}
		rs := r.fence.adapter.remnants
		if rs[r.fence] == nil {
			rs[r.fence] = map[*fenceRemnant]struct{}{}
		}
		rs[r.fence][r] = struct{}{}
	}
	s.MoveFence(&l.mapping, &r.mapping, word)
}

// leaveFence has the address lead nowhere.
func (r *fenceRemnant) leaveFence() {
	rs := r.fence.adapter.remnants
	if delete(rs[r.fence], r); len(rs[r.fence]) == 0 {
		delete(rs, r.fence)
	}
	r.space.ReplaceWord(&r.mapping, lastValue(r.fence.Backing().View().Cell.Value()))
	r.fence = nil
}

// leaveMemory takes what is behind the addresses of allocations away, and then their
// memory, if nothing else has it. With notInUse it is at once, whatever is queued.
func (d *device) leaveMemory(all []*allocationLocal, notInUse bool) {
	for _, a := range all {
		a.allocation.pins++
	}
	all = slices.DeleteFunc(all, func(a *allocationLocal) bool { return !notInUse && d.keep(a) })
	d.unmap(all)
}

// keep leaves r to the packets of the device; false: there are none.
func (d *device) keep(r vidsch.Remnant) bool {
	kept := d.sched.Keep(r)
	if kept {
		d.process.remnants++
	}
	return kept
}

// Unused ends remnants.
func (o watcher) Unused(sched *vidsch.Device, list []vidsch.Remnant) {
	d := sched.Owner.(*device)
	d.process.remnants -= len(list)
	var memory []*allocationLocal
	for _, r := range list {
		switch r := r.(type) {
		case *fenceRemnant:
			r.space.UnmapFence(&r.mapping)
			if r.fence != nil {
				r.leaveFence()
			}
		case *nativeLocal:
			r.close()
		case *allocationLocal:
			memory = append(memory, r)
		}
	}
	d.unmap(memory)
}

// unmap ends the use of allocations. One look through the page tables does for all.
func (d *device) unmap(all []*allocationLocal) {
	mapped := false
	for _, a := range all {
		a.gone = true
		mapped = mapped || a.mapped
	}
	if s := d.process.spaces[d.adapter]; s != nil && mapped {
		s.Forget(func(owner any) bool { return owner.(*allocationLocal).gone })
	}
	for _, a := range all {
		a.allocation.pins--
		a.allocation.finish(d.process.k)
	}
}
