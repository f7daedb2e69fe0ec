package kernel

import (
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/syncobj"
)

// effects is what an operation leaves to be done after the lock is dropped. Order:
// rings and events of waits that ended, then drivers, who may still be using what the
// rest takes away, then sleepers on pages, then events are closed and memory is given
// back. Tickets were answered under the lock.
type effects struct {
	rings  []ring
	events []eventEnd
	calls  []func() // of drivers
	wakes  syncobj.Wakes
	heaps  []*heap // to end
	alarm  bool    // something is due earlier than the host knows
}

type ring struct {
	bells *page.Bells
	bell  uint32
}

type eventEnd struct {
	event Event
	set   bool // else only the reference is dropped
}

func (fx *effects) empty() bool {
	return len(fx.rings) == 0 && len(fx.events) == 0 && len(fx.calls) == 0 && len(fx.heaps) == 0 && !fx.alarm && fx.wakes.Empty()
}

func (fx *effects) run() {
	for _, r := range fx.rings {
		r.bells.Ring(r.bell)
	}
	for _, e := range fx.events {
		if e.set {
			e.event.Set()
		}
		e.event.Close()
	}
	for _, call := range fx.calls {
		call()
	}
	fx.wakes.Run()
	for _, h := range fx.heaps {
		h.end()
	}
}
