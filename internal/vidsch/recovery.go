package vidsch

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// dependentsDelay is how long dependent engines have to stop, in nanoseconds. Source:
// page of DxgkDdiQueryDependentEngineGroup.
const dependentsDelay = 500_000_000

// EngineTimeout is the interrupt GPU_ENGINE_TIMEOUT: the driver has found it hung.
func (s *Scheduler) EngineTimeout(i ddi.GpuEngineTimeout) {
	if e := s.engine(i.Engine); e != nil && e.state <= preempting {
		e.hung(len(e.flying) == 0 && len(e.hw.queues)+len(e.hw.users) > 0)
	}
}

// hung begins the recovery of an engine.
func (e *Engine) hung(hard bool) {
	s := e.scheduler
	switch {
	case s.stopped || s.reset.active || e.state > preempting || s.tdr.off():
		return
	case s.tdr.Level == 1:
		s.BugCheck(VideoTDRFailure)
		return
	case !hard && len(e.flying) == 0:
		e.state = running // nothing there: nothing to do
		e.dispatch()
		return
	case hard && len(e.hw.queues)+len(e.hw.users)+len(e.hw.leaving) == 0:
		return
	case !s.caps.Has(ddi.PerEngineReset):
		s.resetAdapter(e.guilty(hard))
		return
	}
	e.state, e.hard, e.asked = gathering, hard, s.now()
	name := e.name
	s.ask(func(d ddi.Driver) func() {
		nodes := d.QueryDependentEngineGroup(name)
		return func() { e.gather(nodes) }
	})
}

// guilty is the device whose packet runs, or, hard, whose context does not leave; or nil.
func (e *Engine) guilty(hard bool) *Device {
	switch {
	case hard && len(e.hw.leaving) > 0:
		return e.hw.leaving[0].device
	case len(e.flying) > 0:
		return e.flying[0].queue.device()
	}
	return nil
}

// gather asks the engines off that the reset disturbs.
func (e *Engine) gather(nodes uint64) {
	s := e.scheduler
	if e.state != gathering {
		return
	}
	for n, list := range s.engines {
		o := list[e.name.EngineOrdinal]
		if o == e || n >= 64 || nodes>>n&1 == 0 || o.state > preempting {
			continue
		}
		if o.state == running && len(o.flying) > 0 {
			o.preempt()
		}
		o.state, o.leader = held, e
		e.group = append(e.group, o)
		for _, q := range slices.Clone(o.hw.queues) {
			q.context.leave()
		}
		o.askUsers()
	}
	e.gathered()
}

// gathered goes on when all dependents are off.
func (e *Engine) gathered() {
	if e.state != gathering {
		return
	}
	for _, o := range e.group {
		if len(o.flying) > 0 || len(o.hw.leaving) > 0 {
			return
		}
	}
	e.reset()
}

// reset resets the engine, and those of its dependents that did not stop in time.
func (e *Engine) reset() {
	for _, o := range e.group {
		if len(o.flying) > 0 || len(o.hw.leaving) > 0 {
			o.hard = len(o.flying) == 0
			o.askReset()
		}
	}
	e.askReset()
}

func (e *Engine) askReset() {
	s := e.scheduler
	e.state, e.asked = resetting, s.now()
	name, hard := e.name, e.hard
	s.ask(func(d ddi.Driver) func() {
		if hard {
			queue, _, st := d.ResetHwEngine(name)
			return func() { e.wasReset(st, func() bool { return e.abortHardware(queue) }) }
		}
		id, st := d.ResetEngine(name)
		return func() { e.wasReset(st, func() bool { return e.abort(id) }) }
	})
}

// wasReset follows the driver's answer: the device whose packet was aborted is lost,
// what others had at the engine runs again.
func (e *Engine) wasReset(st abi.Status, abort func() bool) {
	s := e.scheduler
	if e.state != resetting || s.reset.active || s.stopped {
		return
	}
	if st != abi.StatusSuccess {
		s.reset.active = false
		s.resetAdapter(e.guilty(e.hard))
		return
	}
	guilty := e.guilty(e.hard)
	if !abort() {
		return
	}
	e.takeBack(false)
	e.completed = e.submitted
	s.owner.Report(Report{Code: VideoEngineTimeoutDetected, Engine: e.name, Guilty: guilty})
	if s.caps.Has(ddi.HwScheduling) {
		name := e.name
		s.ask(func(d ddi.Driver) func() {
			st := d.ResumeHwEngine(name)
			return func() {
				if st != abi.StatusSuccess {
					s.resetAdapter(nil)
				}
			}
		})
	}
	e.run()
}

// run lets an engine go on after a reset, and those that were held for it.
func (e *Engine) run() {
	group := e.group
	e.group = nil
	if e.leader != nil && e.leader.state > preempting {
		e.state = held // its leader lets it go on
	} else {
		e.state, e.leader = running, nil
	}
	asked := e.hw.leaving // also those that have nothing at the GPU any more
	e.hw.leaving = nil
	for _, q := range e.hw.queues {
		asked = append(asked, q.context)
	}
	for _, c := range asked {
		if c.suspend.state != on && !slices.Contains(e.hw.off, c) && !c.suspend.good {
			e.hw.off = append(e.hw.off, c)
		}
	}
	for _, c := range e.hw.off {
		c.suspend.state = off
	}
	e.landGood()
	if e.state == running {
		e.resume()
		e.admit()
		e.dispatch()
	}
	for _, o := range group {
		if o.leader == e && o.state == held {
			o.run()
		}
	}
}

// landGood forgets what contexts had at a GPU that was reset and are off for good.
func (e *Engine) landGood() {
	for _, q := range slices.Concat(e.hw.queues, e.hw.users) {
		if q.context.suspend.good {
			q.context.land()
		}
	}
}

// abort finds the packet that was aborted; false after a bug check.
func (e *Engine) abort(id uint32) bool {
	s := e.scheduler
	if after(e.completed, id) || after(id, e.submitted) {
		s.BugCheck(aborted(id, e.completed))
		return false
	}
	e.complete(id - 1)
	if len(e.flying) > 0 && e.flying[0].id == id {
		r := e.flying[0]
		e.flying = e.flying[1:]
		e.convict(r)
	}
	return true
}

// convict loses the device of a packet that hung the engine.
func (e *Engine) convict(r *run) {
	d := r.queue.device()
	dead := r.dead
	r.dead = true
	r.queue.landed(r)
	if !dead {
		r.queue.done(r.epoch, r.bytes)
	}
	if !d.lost && !d.gone {
		e.scheduler.owner.Hung(d)
	}
}

// abortHardware finds the queue whose packet was aborted.
func (e *Engine) abortHardware(kmd ddi.KmdHwQueue) bool {
	q := e.hw.find(kmd)
	switch {
	case q != nil && !q.device().lost && !q.device().gone:
		q.context.suspend.state = off
		e.scheduler.owner.Hung(q.device())
	case q == nil && len(e.flying) > 0:
		r := e.flying[0]
		e.flying = e.flying[1:]
		e.convict(r)
	}
	return true
}
