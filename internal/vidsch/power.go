package vidsch

import "github.com/dxgsync/dxgsync/ddi"

// power is how far the adapter is on its way to D3 and back.
//
//	awake ──Sleep──▶ falling ──everything is off──▶ asleep
//	  ▲                 │                              │
//	  └───────Wake──────┴──────────────Wake────────────┘
//
// While it is not awake nothing is given to the GPU.
type power uint8

const (
	awake power = iota
	falling
	asleep
)

// Sleep takes everything off the GPU and switches it to D3 when that is done. What is
// submitted from now on waits. Nothing happens unless it is awake.
func (s *Scheduler) Sleep() {
	if s.power != awake || s.stopped {
		return
	}
	s.power = falling
	s.each(func(e *Engine) {
		if e.state == running && len(e.flying) > 0 {
			e.preempt()
		}
		for _, q := range e.hw.queues {
			q.context.leave()
		}
		e.askUsers()
	})
	s.fall()
}

// fall goes on to D3 when nothing is left at the GPU.
func (s *Scheduler) fall() {
	quiet := s.power == falling && !s.reset.active
	s.each(func(e *Engine) {
		quiet = quiet && e.state == running && len(e.flying) == 0 && len(e.hw.leaving) == 0
	})
	if quiet {
		s.power = asleep
		s.call(func(d ddi.Driver) { d.SetPowerState(ddi.PowerD3) })
	}
}

// Wake switches the GPU to D0, makes calls of the driver, and lets everything go on.
func (s *Scheduler) Wake(calls ...func(ddi.Driver)) {
	if s.power == awake || s.stopped {
		return
	}
	if s.power == asleep {
		s.call(func(d ddi.Driver) { d.SetPowerState(ddi.PowerD0) })
	}
	s.power = awake
	for _, call := range calls {
		s.call(call)
	}
	s.each(func(e *Engine) {
		if e.state == running {
			e.resume()
			e.admit()
			e.dispatch()
		}
	})
}

// Asleep reports whether the adapter is in D3, or on its way there.
func (s *Scheduler) Asleep() bool { return s.power != awake }
