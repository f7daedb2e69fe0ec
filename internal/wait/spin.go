package wait

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dxgsync/dxgsync/internal/page"
)

// A signal from another processor that comes soon is met by looking again and again:
// a hundred times faster than going to sleep. It pays only while the other side
// really is that quick, so failures make it rare, and rarer.
//
// Two sides that answer each other at once may both have fallen asleep. So one look
// lasts longer than a sleeper takes to wake and to answer, tens of microseconds in a
// virtual machine: else neither would ever meet the other awake.
const (
	spinTime   = 50 * time.Microsecond
	spinFirst  = 32  // looks that cost less than asking whether to look
	spinLooks  = 128 // between two looks at the clock
	spinTrust  = 4   // failures in a row before it becomes rare
	spinPassed = 32  // waits that then go by without spinning
	spinRarer  = 2   // how often that is doubled, if it fails again and again
)

type spinner struct {
	busy   atomic.Bool  // somebody spins: one at a time is enough
	pass   atomic.Int32 // waits to let go by
	failed atomic.Int32 // in a row
}

// begin reports whether to spin now; if so, end must follow.
func (p *spinner) begin() bool {
	if runtime.NumCPU() == 1 {
		return false
	}
	if p.pass.Load() > 0 {
		p.pass.Add(-1)
		return false
	}
	return p.busy.CompareAndSwap(false, true)
}

func (p *spinner) end(found bool) bool {
	if found {
		p.found()
	} else if more := p.failed.Add(1) - spinTrust; more >= 0 {
		p.pass.Store(spinPassed << min(more, spinRarer))
	}
	p.busy.Store(false)
	return found
}

// found restores the trust: the other side is awake.
func (p *spinner) found() {
	if p.failed.Load() != 0 {
		p.failed.Store(0)
		p.pass.Store(0)
	}
}

// Spin looks for at most a moment until reached says so. It reports whether it did;
// when not, nothing has happened.
func (h *Hub) Spin(reached func() bool) bool {
	if !h.spin.begin() {
		return false
	}
	start := time.Now()
	for {
		for range spinLooks {
			if reached() {
				return h.spin.end(true)
			}
			pause()
		}
		if time.Since(start) >= spinTime {
			return h.spin.end(false)
		}
	}
}

// SpinCell is Spin until the value of c has reached v.
func (h *Hub) SpinCell(c *page.Cell, v uint64) bool {
	if runtime.NumCPU() == 1 {
		return false
	}
	for range spinFirst {
		if c.Value() >= v {
			h.spin.found()
			return true
		}
		pause()
	}
	return h.Spin(func() bool { return c.Value() >= v })
}
