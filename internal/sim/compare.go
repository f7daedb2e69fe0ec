package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/kernel"
)

// compare looks at everything that can be seen.
func (w *World) compare() {
	for _, p := range w.puppets {
		if p.broken != "" {
			w.differ("the kernel broke its promise to a driver: %s", p.broken)
		}
	}
	for fd, e := range w.events {
		if got := w.host.files[fd].(*event).sets; got != e.sets {
			w.differ("event %d was set %d times, in the model %d", fd, got, e.sets)
		}
	}
	w.kernel.Next() // what one driver's answer has left to ask another
	w.model.settle()
	s := w.kernel.Snapshot()
	w.compareObjects(s.Objects)
	w.compareWaits(s.Waits)
	for i, p := range w.model.procs {
		if p.dead {
			continue
		}
		for _, d := range p.devices {
			w.compareDevice(w.procs[i], p, d, s.Queues)
		}
	}
	for i, a := range w.model.adapters {
		if !a.stopped {
			w.compareEngines(w.puppets[i], a)
		}
		w.compareNatives(w.puppets[i], a)
	}
}

// compareObjects compares every process's view of every object.
func (w *World) compareObjects(rows []kernel.ObjectRow) {
	n := 0
	for _, p := range w.model.procs {
		for _, e := range p.table {
			l, ok := e.(*mLocal)
			if !ok {
				continue
			}
			n++
			i := slices.IndexFunc(rows, func(r kernel.ObjectRow) bool {
				return r.Process == uint64(p.index+1) && r.Handle == l.handle
			})
			if i < 0 {
				w.differ("%s is not in the listing", w.of(p, l.handle))
				continue
			}
			got := fmt.Sprintf("%s %d, %d wait", rows[i].State, rows[i].Value, rows[i].Kernel)
			if want := w.model.describe(l.object); got != want {
				w.differ("%s is %s, in the model %s", w.of(p, l.handle), got, want)
			}
			if !l.object.inMemory() {
				continue
			}
			if v, ok := w.procs[p.index].FenceView(l.handle); !ok || v.Cell.Value() != l.object.see() {
				w.differ("%s shows %d, in the model %d", w.of(p, l.handle), v.Cell.Value(), l.object.see())
			}
		}
	}
	if n != len(rows) {
		w.differ("%d objects are listed, in the model there are %d", len(rows), n)
	}
}

// describe is what a listing says of an object.
func (m *model) describe(o *mObject) string {
	state, value := "Live", uint64(0)
	switch {
	case o.gone:
		state = "Gone"
	case o.kind == abi.SynchronizationMutex && o.left == 0:
		state = "Owned"
	case o.kind == abi.SynchronizationMutex:
		state = "Available"
	case o.kind == abi.Semaphore:
		state = "Available"
		if o.left == 0 {
			state = "Empty"
		} else if o.left == o.most {
			state = "Full"
		}
		value = o.left
	case o.lost:
		state = "Lost"
	}
	if o.fence() {
		value = o.see()
	}
	n := 0
	if o.consumed() { // a packet stands in a line once
		for _, q := range m.queues {
			if q.waiting && slices.ContainsFunc(q.pending[0].points, func(p *mPoint) bool { return p.object == o }) {
				n++
			}
		}
	} else {
		n = len(m.waitsFor(o))
	}
	return fmt.Sprintf("%s %d, %d wait", state, value, n)
}

// compareWaits compares the waits of CPUs.
func (w *World) compareWaits(rows []kernel.WaitRow) {
	var got, want []string
	for _, r := range rows {
		text := fmt.Sprintf("p%d %s", r.Process, r.Mode)
		for _, p := range r.Points {
			text += fmt.Sprintf(" %d:%v", p.Target, p.Met)
		}
		got = append(got, text)
	}
	for _, c := range w.model.cpuWaits {
		mode := "all"
		if c.any {
			mode = "any"
		}
		text := fmt.Sprintf("p%d %s", c.proc.index+1, mode)
		for _, p := range c.points {
			text += fmt.Sprintf(" %d:%v", p.target, p.met)
		}
		want = append(want, text)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.differ("CPUs wait: %s; in the model: %s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

// compareDevice compares its state and what is queued on its contexts.
func (w *World) compareDevice(p *kernel.Process, mp *mProc, d *mDevice, rows []kernel.QueueRow) {
	if state, st := callDeviceState(p, d.handle); state != d.state || !st.OK() {
		w.differ("%s is %v (%v), in the model %v", w.of(mp, d.handle), state, st, d.state)
	}
	for _, c := range d.contexts {
		for _, q := range c.queues {
			if !q.destroyed {
				w.compareQueue(mp, q, q.handle, rows)
			}
		}
	}
}

// compareQueue compares what is queued, how much of it the GPU has, and what the first
// packet waits for.
func (w *World) compareQueue(p *mProc, q *mQueue, h abi.Handle, rows []kernel.QueueRow) {
	i := slices.IndexFunc(rows, func(r kernel.QueueRow) bool { return r.Process == uint64(p.index+1) && r.Handle == h })
	if i < 0 {
		w.differ("%s is not in the listing", w.of(p, h))
		return
	}
	got := fmt.Sprintf("%d packets, %d of them at the GPU", rows[i].Packets, rows[i].AtGPU)
	want := fmt.Sprintf("%d packets, %d of them at the GPU", len(q.pending)+len(q.flying), len(q.flying))
	for _, p := range rows[i].Waits {
		got += fmt.Sprintf(", wait %s %d", p.Kind, p.Target)
	}
	if q.waiting {
		for _, p := range q.pending[0].points {
			want += fmt.Sprintf(", wait %v %d", p.object.kind, p.target)
		}
	}
	if got != want {
		w.differ("%s has %s; in the model %s", w.of(p, h), got, want)
	}
}

// compareEngines compares what is at the GPU, in which order, and how it was submitted.
func (w *World) compareEngines(p *puppet, a *mAdapter) {
	for i, e := range a.engines {
		pe := p.order[i]
		var got, want []string
		for _, r := range pe.flying {
			got = append(got, fmt.Sprintf("%#x/%d", r.buffer.address, r.flags))
		}
		for _, r := range e.flying {
			flags := ddi.SubmitCommandFlags(0)
			if r.again {
				flags |= ddi.SubmitResubmission
			}
			if r.null {
				flags |= ddi.SubmitNullRendering
			}
			want = append(want, fmt.Sprintf("%#x/%d", r.buffer.address, flags))
		}
		if !slices.Equal(got, want) {
			w.differ("engine %v of adapter %d has %v, in the model %v", e.name, a.index, got, want)
		}
		for _, q := range e.hw {
			got, want = nil, nil
			for _, r := range p.queues[q.kmd].flying {
				got = append(got, fmt.Sprintf("%#x/%d", r.buffer.address, r.id))
			}
			for _, r := range q.flying {
				want = append(want, fmt.Sprintf("%#x/%d", r.buffer.address, r.progress))
			}
			if !q.gone && !slices.Equal(got, want) {
				w.differ("hardware queue %d of adapter %d has %v, in the model %v", q.kmd, a.index, got, want)
			}
		}
		// An engine that has nothing left and never answers is not waited for.
		if e.state == engineAsked && pe.preempt == 0 {
			w.differ("engine %v of adapter %d was not asked to stop", e.name, a.index)
		}
	}
}
