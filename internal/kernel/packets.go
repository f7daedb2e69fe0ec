package kernel

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// Packets says how many packets of a context or hardware queue are not complete, and how
// many of them the GPU has; false: h is no such handle of this process.
func (p *Process) Packets(h abi.Handle) (all, flying int, ok bool) {
	p.k.lock()
	defer p.k.unlock()
	var q *vidsch.Queue
	switch e := p.table.Get(h).(type) {
	case *context:
		if e.hardware() {
			return 0, 0, true
		}
		q = e.sched.Queue()
	case *hwQueue:
		q = e.sched
	default:
		return 0, 0, false
	}
	all, flying = q.Len()
	return all, flying, true
}
