package vidsch

import (
	"math"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// adapterReset is a reset of the whole adapter under way.
type adapterReset struct {
	active bool
	since  int64
	until  int64
}

func (r *adapterReset) deadline() int64 {
	if !r.active {
		return math.MaxInt64
	}
	return r.until
}

// resetAdapter resets everything.
func (s *Scheduler) resetAdapter(guilty *Device) {
	if s.reset.active || s.stopped || s.tdr.off() {
		return
	}
	now := s.now()
	s.recent = slices.DeleteFunc(s.recent, func(at int64) bool { return at <= now-s.tdr.LimitTime })
	if len(s.recent) >= s.tdr.LimitCount || s.tdr.Level == 1 {
		s.BugCheck(VideoTDRFailure)
		return
	}
	s.recent = append(s.recent, now)
	s.resetAll(guilty)
}

// Reset resets everything on request, whatever the settings are: by nobody's fault, and
// it does not count as a recovery. False: the adapter has stopped, or is being reset.
func (s *Scheduler) Reset() bool {
	if s.reset.active || s.stopped {
		return false
	}
	s.resetAll(nil)
	return true
}

func (s *Scheduler) resetAll(guilty *Device) {
	now := s.now()
	promoted := false
	s.each(func(e *Engine) {
		promoted = promoted || e.state == resetting
		e.state, e.asked = resetting, math.MaxInt64-s.tdr.DdiDelay
	})
	s.reset = adapterReset{active: true, since: now, until: now + s.tdr.DdiDelay}
	s.ask(func(d ddi.Driver) func() {
		st := d.ResetFromTimeout()
		return func() { s.adapterWasReset(st, guilty, promoted) }
	})
}

func (s *Scheduler) adapterWasReset(st abi.Status, guilty *Device, promoted bool) {
	if !s.reset.active || s.stopped {
		return
	}
	if st != abi.StatusSuccess {
		s.BugCheck(VideoTDRFailure)
		return
	}
	s.each(func(e *Engine) { // nobody is asked off the hardware any more
		for _, q := range slices.Concat(e.hw.queues, e.hw.users) {
			q.context.suspend.state = off
		}
	})
	s.owner.AdapterReset(guilty)
	s.empty()
	s.ask(func(d ddi.Driver) func() {
		st := d.RestartFromTimeout()
		return func() {
			if !s.reset.active || s.stopped {
				return
			}
			if st != abi.StatusSuccess {
				s.BugCheck(VideoTDRFailure)
				return
			}
			s.reset = adapterReset{}
			s.owner.Report(Report{Code: VideoTDRTimeoutDetected, Promoted: promoted, Guilty: guilty})
			s.each(func(e *Engine) {
				e.state = running
				e.admit()
				e.dispatch()
			})
		}
	})
}

// empty forgets what is at the GPU: nothing is. All devices are lost.
func (s *Scheduler) empty() {
	s.each(func(e *Engine) {
		e.group, e.leader = nil, nil
		for len(e.flying) > 0 {
			r := e.flying[0]
			e.flying = e.flying[1:]
			r.queue.landed(r)
		}
		e.completed = e.submitted
		h := &e.hw
		for _, q := range slices.Concat(h.queues, h.users) {
			q.context.suspend.state = off
			q.context.land()
		}
		h.leaving, h.off = nil, nil
	})
}

// BugCheck stops the adapter: there is no way to go on.
func (s *Scheduler) BugCheck(b BugCheck) {
	if !s.stopped {
		s.stopped, s.reset = true, adapterReset{}
		s.owner.BugCheck(b)
		s.empty()
	}
}

// Stop stops the adapter as its removal does. The owner has lost all devices.
func (s *Scheduler) Stop() {
	s.stopped, s.reset = true, adapterReset{}
	s.empty()
}
