package vidsch

import (
	"math"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

const (
	// atOnce is how many packets of contexts are at an engine at once: the one that runs
	// and the one after it. WDDM calls it HwQueuePacketCap.
	atOnce = 2
	// grace is how long a packet may run on while one of higher priority is ready, in
	// nanoseconds.
	grace = 1_000_000
)

// An Engine is where the packets of contexts run.
//
//	state       deadline passes                 the answer comes         other events
//	running     the first packet has had its    –                        packets are given to it
//	            quantum → preempting
//	preempting  TdrDelay without an answer      complete or take back    nothing is given to it;
//	            → gathering, by way of a last   what it had → running    completions count
//	            question (QueryCurrentFence)
//	gathering   500 ms: reset dependents too    all dependents are off   completions count, except
//	            → resetting                     → resetting              those of the hung engine
//	held        –                               as preempting            it is the dependent of one
//	                                                                     that gathers or resets
//	resetting   TdrDdiDelay → bug check         → running                interrupts are ignored
//
// Hardware queues of the engine have a watch of their own (hardware.go) and share the
// last three states. Source: gpu.md §6, §8.2, §8.3.
type Engine struct {
	name      ddi.Engine
	scheduler *Scheduler

	line                 []*Queue // software queues whose first packet is a buffer
	flying               []*run   // given to the GPU, in order
	submitted, completed uint32   // fence ids
	since                int64    // when the first of flying came first
	urgent               int64    // when it has to make room for a higher priority
	preemption           uint32   // id of the last preemption
	asked                int64    // when it, or the reset, was asked for
	state                engineState
	hard                 bool // what gathers or resets is about a hardware queue
	group                []*Engine
	leader               *Engine // whose reset this one is held for
	hw                   hardware
}

type engineState uint8

const (
	running engineState = iota
	preempting
	gathering
	held
	resetting
)

func (s engineState) String() string {
	return [...]string{"running", "preempting", "gathering", "held", "resetting"}[s]
}

// enter puts q in the line: its first packet is a buffer.
func (e *Engine) enter(q *Queue) {
	if !q.lined {
		q.lined = true
		s := e.scheduler
		if q.since == 0 {
			s.clock++
			q.since = s.clock
		}
		e.line = append(e.line, q)
		if len(e.flying) > 0 && q.Priority > e.flying[0].queue.Priority {
			e.urgent = min(e.urgent, s.now()+grace)
		}
	}
	e.dispatch()
}

func (e *Engine) leave(q *Queue) {
	if !q.lined {
		return
	}
	q.lined = false
	for i, o := range e.line {
		if o == q {
			e.line = append(e.line[:i], e.line[i+1:]...)
			return
		}
	}
}

// dispatch gives the engine what it takes.
func (e *Engine) dispatch() {
	s := e.scheduler
	if s.power == falling {
		s.fall()
	}
	for e.state == running && s.power == awake && !s.stopped && len(e.flying) < atOnce && len(e.line) > 0 {
		q := e.line[0]
		for _, o := range e.line[1:] {
			if o.Priority > q.Priority || o.Priority == q.Priority && o.since < q.since {
				q = o
			}
		}
		e.leave(q)
		r := q.pending.first().run
		r.since, q.since = q.since, 0
		q.pending.pop()
		q.flying = append(q.flying, r)
		e.submit(r)
		s.wake(q)
	}
}

func (e *Engine) submit(r *run) {
	s := e.scheduler
	e.submitted++
	r.id, r.read = e.submitted, false
	e.flying = append(e.flying, r)
	if len(e.flying) == 1 {
		e.since, e.urgent = s.now(), math.MaxInt64
	}
	args := ddi.SubmitCommandArgs{
		Context: r.queue.context.Kmd, Engine: e.name, DmaBufferVirtualAddress: r.Address, DmaBufferSize: r.Length,
		DmaBufferPrivateData: r.Private, SubmissionFenceID: r.id, Flags: r.flags(),
	}
	r.again = true
	s.ask(func(d ddi.Driver) func() {
		if d.SubmitCommandVirtual(args) == abi.StatusSuccess {
			return nil
		}
		return func() { e.refused(args.SubmissionFenceID) }
	})
}

// preempt asks the engine to stop what it runs.
func (e *Engine) preempt() {
	s := e.scheduler
	e.state, e.asked = preempting, s.now()
	e.preemption++
	name, id := e.name, e.preemption
	s.call(func(d ddi.Driver) { d.PreemptCommand(name, id) })
	e.askUsers()
}

// after compares fence ids, which wrap.
func after(a, b uint32) bool { return int32(a-b) > 0 }

// complete ends the packets up to a fence id.
func (e *Engine) complete(id uint32) {
	for len(e.flying) > 0 && !after(e.flying[0].id, id) {
		e.completed = e.flying[0].id
		e.end(e.flying[0])
	}
}

// end takes the first packet off.
func (e *Engine) end(r *run) {
	e.flying = e.flying[1:]
	e.since, e.urgent = e.scheduler.now(), math.MaxInt64
	r.queue.landed(r)
}

// landed tells that the queue's first packet at the GPU is there no more.
func (q *Queue) landed(r *run) {
	for i, o := range q.flying {
		if o == r {
			q.flying = append(q.flying[:i], q.flying[i+1:]...)
			break
		}
	}
	if r.dead {
		q.finish()
		q.context.finish()
		return
	}
	q.done(r.epoch, r.bytes)
	q.scheduler().wake(q)
}

// takeBack returns what the engine had to its queues; the one that ran goes behind
// those of its priority if it has had its turn.
func (e *Engine) takeBack(hadTurn bool) {
	flying := e.flying
	e.flying = nil
	for len(flying) > 0 {
		q := flying[0].queue
		var back, rest []*run
		for _, r := range flying {
			switch {
			case r.queue != q:
				rest = append(rest, r)
			case r.dead:
				q.landed(r)
			default:
				back = append(back, r)
			}
		}
		flying = rest
		if len(back) > 0 {
			q.flying = nil
			q.pending.pushFront(back)
			e.leave(q)
			if q.since = back[0].since; hadTurn {
				q.since = 0
			}
			e.enter(q) // now, so that the engine chooses among all of them
		}
		hadTurn = false
	}
}

// refused ends a packet that the driver did not take and loses its device. What the
// engine had before it runs on.
func (e *Engine) refused(id uint32) {
	i := slices.IndexFunc(e.flying, func(r *run) bool { return r.id == id })
	if i < 0 {
		return
	}
	r := e.flying[i]
	e.flying = slices.Delete(slices.Clone(e.flying), i, i+1)
	if i == 0 {
		e.since, e.urgent = e.scheduler.now(), math.MaxInt64
	}
	d, dead := r.queue.device(), r.dead
	r.dead = true
	r.queue.landed(r)
	if !dead {
		r.queue.done(r.epoch, r.bytes)
		if !d.lost {
			e.scheduler.owner.Faulted(d, Fault{})
		}
	}
	e.dispatch()
}

// deadline is when tick has something to do.
func (e *Engine) deadline() int64 {
	if e.scheduler.stopped || e.scheduler.power == asleep {
		return math.MaxInt64
	}
	tdr := &e.scheduler.tdr
	switch e.state {
	case running:
		at := e.hw.deadline(tdr)
		if len(e.flying) > 0 {
			at = min(at, e.since+tdr.Quantum, e.urgent)
		}
		return at
	case preempting:
		at := e.hw.deadline(tdr)
		if len(e.flying) > 0 && (tdr.off() || e.flying[0].queue.exempt()) {
			return at
		}
		return min(at, e.asked+tdr.Delay)
	case gathering:
		return e.asked + dependentsDelay
	case resetting:
		return e.asked + tdr.DdiDelay
	}
	return math.MaxInt64
}

func (e *Engine) tick(now int64) {
	if e.deadline() > now {
		return
	}
	tdr := &e.scheduler.tdr
	switch e.state {
	case running, preempting:
		if e.hw.deadline(tdr) <= now {
			e.tickHardware(now)
			return
		}
		if e.state == running {
			e.preempt()
			return
		}
		e.asked = math.MaxInt64 - tdr.Delay // asked once more, no deadline until then
		name, id := e.name, e.preemption
		e.scheduler.ask(func(d ddi.Driver) func() {
			d.QueryCurrentFence(name)
			return func() {
				if e.state == preempting && e.preemption == id {
					e.hung(false)
				}
			}
		})
	case gathering:
		e.reset()
	case resetting:
		e.scheduler.BugCheck(VideoTDRFailure)
	}
}
