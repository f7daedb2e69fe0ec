package vidsch

import (
	"github.com/dxgsync/dxgsync/ddi"
)

// An Owner is told what the scheduler decides about others. Its methods are called under
// the kernel's lock and must not call back into the scheduler, except Device.Lose.
type Owner interface {
	// Hung tells that a device's packet hung its engine and the device is to be lost.
	Hung(d *Device)
	// Faulted tells that a device's packet faulted and the device is to be lost.
	Faulted(d *Device, f Fault)
	// AdapterReset tells that everything was reset: all devices are to be lost, guilty,
	// which may be nil, by its own fault.
	AdapterReset(guilty *Device)
	// BugCheck tells that there is no way to go on: the adapter is to be stopped.
	BugCheck(code BugCheck)
	// Unused tells of what was kept (Device.Keep), in that order, that no packet uses it
	// any more.
	Unused(d *Device, list []Remnant)
	// Idle tells that a device has no packet left.
	Idle(d *Device)
	// Report tells of a recovery, for people.
	Report(r Report)
}

// A Fault is what a device's packet did.
type Fault struct {
	Page     bool // it touched what is not mapped: Address and Flags say what
	Address  uint64
	Flags    ddi.FaultFlags
	Sequence uint64 // how far the packet had got
}

// A Scheduler is what one adapter runs.
type Scheduler struct {
	owner   Owner
	now     func() int64
	caps    ddi.Caps
	tdr     TDR
	engines [][]*Engine // by node, then engine ordinal
	ready   []*Queue    // have something to do without the GPU, in order
	settled []*Device   // became idle, or have nothing left of an epoch
	calls   []func(ddi.Driver)
	clock   uint64 // orders lines

	reset   adapterReset
	stopped bool
	power   power
	recent  []int64 // recoveries of the adapter that count
}

// New makes the scheduler of an adapter with nodes, each with engines. now is the
// driver's clock in nanoseconds.
func New(owner Owner, now func() int64, caps ddi.Caps, nodes, engines int, tdr TDR) *Scheduler {
	s := &Scheduler{owner: owner, now: now, caps: caps, tdr: tdr.WithDefaults()}
	for n := range uint32(nodes) {
		var list []*Engine
		for o := range uint32(engines) {
			list = append(list, &Engine{name: ddi.Engine{NodeOrdinal: n, EngineOrdinal: o}, scheduler: s})
		}
		s.engines = append(s.engines, list)
	}
	return s
}

func (s *Scheduler) engine(e ddi.Engine) *Engine {
	if int(e.NodeOrdinal) >= len(s.engines) || int(e.EngineOrdinal) >= len(s.engines[e.NodeOrdinal]) {
		return nil
	}
	return s.engines[e.NodeOrdinal][e.EngineOrdinal]
}

func (s *Scheduler) each(f func(*Engine)) {
	for _, node := range s.engines {
		for _, e := range node {
			f(e)
		}
	}
}

// wake has q looked at by Run.
func (s *Scheduler) wake(q *Queue) {
	if !q.queued {
		q.queued = true
		s.ready = append(s.ready, q)
	}
}

// Busy reports whether Run has something to do.
func (s *Scheduler) Busy() bool { return len(s.ready) > 0 || len(s.settled) > 0 }

// Run does everything that can be done without the GPU. The kernel calls it before it
// drops its lock.
func (s *Scheduler) Run() {
	for i := 0; i < len(s.ready); i++ {
		q := s.ready[i]
		q.queued = false
		q.step()
	}
	clear(s.ready)
	s.ready = s.ready[:0]
	for len(s.settled) > 0 {
		d := s.settled[0]
		s.settled = s.settled[1:]
		if list := d.epochs.unused(); len(list) > 0 {
			s.owner.Unused(d, list)
		}
		if d.Idle() {
			s.owner.Idle(d)
		}
	}
}

// Idle reports whether no packet of d is left. One that is about to be lost is not idle.
func (d *Device) Idle() bool { return d.work == 0 && (!d.held || d.lost) }

// Take returns what the driver is to be asked since the last call, in order. The kernel
// makes the calls without its lock, one after the other; those with an answer take the
// lock again by Locked.
func (s *Scheduler) Take() []func(ddi.Driver) {
	c := s.calls
	s.calls = nil
	return c
}

// Call has the driver asked something, in its turn.
func (s *Scheduler) Call(f func(ddi.Driver)) { s.call(f) }

// Asks reports whether Take has something.
func (s *Scheduler) Asks() bool { return len(s.calls) > 0 }

func (s *Scheduler) call(f func(ddi.Driver)) { s.calls = append(s.calls, f) }

// A Locker is the kernel, for answers of drivers.
type Locker interface {
	// Locked calls f with the kernel's lock, and does what follows from it.
	Locked(f func())
}

// ask makes a call whose answer matters.
func (s *Scheduler) ask(f func(ddi.Driver) func()) {
	locker := s.owner.(Locker)
	s.call(func(d ddi.Driver) {
		if answer := f(d); answer != nil {
			locker.Locked(answer)
		}
	})
}

// Next is when Tick has something to do; math.MaxInt64: never.
func (s *Scheduler) Next() int64 {
	next := s.reset.deadline()
	s.each(func(e *Engine) { next = min(next, e.deadline()) })
	return next
}

// Tick does what is due: engines that have run one packet for long are asked to stop,
// those that do not answer are reset.
func (s *Scheduler) Tick() {
	now := s.now()
	if s.reset.deadline() <= now {
		s.BugCheck(VideoTDRFailure)
	}
	s.each(func(e *Engine) { e.tick(now) })
}
