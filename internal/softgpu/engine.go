package softgpu

import (
	"slices"

	"github.com/dxgsync/dxgsync/ddi"
)

// What an engine does in one call of Advance at most. The rest is due again at once, so
// that one that has much to do keeps nobody up.
const (
	maxCommands = 4096
	maxBytes    = 1 << 20 // of command buffers read, copied and filled
)

// An engine executes packets one after the other, those of contexts and of hardware
// queues in the order in which they came. GPU.mu guards it; running and what is in it
// change only while GPU.calling is held too.
//
// At each moment it first answers the kernel's requests, suspensions before preemptions,
// and then works. It answers
//
//	                                        suspend       preempt
//	while it is hung from outside           no            no
//	while it executes HANG, or a DELAY      other         no
//	  that cannot be preempted              contexts
//	else                                    yes           yes
type engine struct {
	name    ddi.Engine
	release bool // it stores progress fences by itself: RingBufferFenceRelease

	// time is the moment up to which it has come. It can lag behind the clock: what it
	// does is then done as of that moment.
	time int64
	// commands and bytes are what it may still do in this call of Advance.
	commands, bytes int

	line     runlist // the streams that can run
	stalls   runlist // those whose first packet is stalled
	contexts stream
	running  *packet // nil: none
	pushed   uint64  // packets so far; the number of the next one
	// submitted and ended are fence ids of contexts' packets: the latest that came, and
	// the latest that ended in some way.
	submitted, ended uint32

	preempts []preempt
	suspends []*context // whose requests are pending
	asked    int64      // when the latest request came, or the fault was asked for

	hung     bool       // from outside
	held     bool       // until ResumeHwEngine
	injected *ddi.Fault // of the running or next packet
	signaled bool       // it has written fences, and the interrupt is still to come
	raised   raised

	bells   int   // its doorbells that are connected
	rang    int64 // when one of them was rung or connected last
	resting bool  // it went to F1 since
}

// A preempt is a request to take all packets before a number off.
type preempt struct {
	fence  uint32
	before uint64
}

// push puts a packet at the end of its stream.
func (e *engine) push(p *packet) {
	p.number = e.pushed
	e.pushed++
	s := p.stream()
	s.fifo = append(s.fifo, p)
	e.list(s)
}

// clear takes everything off the engine and forgets all requests.
func (e *engine) clear() {
	e.drop(func(*packet) bool { return true }, e.time)
	*e = engine{
		name: e.name, release: e.release, time: e.time, pushed: e.pushed, submitted: e.submitted, ended: e.submitted,
		bells: e.bells, rang: e.rang, resting: e.resting,
	}
}

// always and ready say which engines count: all, or those that may do more in this call
// of Advance.
func (e *engine) always() bool { return true }
func (e *engine) ready() bool  { return e.commands > 0 && e.bytes > 0 }

// moment is when the first engine that counts is due. The caller holds mu.
func (g *GPU) moment(counts func(*engine) bool) (at int64, ok bool) {
	g.heed()
	if g.down || g.asleep {
		return 0, false
	}
	for _, e := range g.engines {
		if t, due := e.due(); due && counts(e) && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// due is when the engine has something to do, which may lie in the past.
func (e *engine) due() (at int64, ok bool) {
	p := e.running
	switch {
	case e.hung:
		return 0, false
	case e.request() != nothingAsked, e.injected != nil && p != nil, p != nil && p.trapped():
		return e.asked, true
	case p != nil:
		return p.due(e.time)
	case e.held || len(e.line) == 0:
		return 0, false
	}
	return max(e.time, e.line[0].head().ready), true
}

// work lets the engines do what is due up to now, in the order of the moments; at one
// moment in the order of ordinals. The caller holds calling and mu.
func (g *GPU) work(now int64) {
	for _, e := range g.engines {
		e.commands, e.bytes = maxCommands, maxBytes
	}
	for {
		t, ok := g.moment((*engine).ready)
		if !ok || t > now {
			return
		}
		for _, e := range g.engines {
			if at, ok := e.due(); ok && at <= t {
				g.turn(e, t)
			}
		}
	}
}

// turn lets an engine do what is due at moment t.
func (g *GPU) turn(e *engine, t int64) {
	e.time = max(e.time, t)
	for e.ready() && !e.hung {
		if r := e.request(); r != nothingAsked {
			e.commands--
			g.answer(e, r)
			continue
		}
		if e.running == nil && !e.start() || !g.step(e) {
			break
		}
	}
	g.flush(e)
}

// start takes the next packet, if there is one.
func (e *engine) start() bool {
	if e.held || len(e.line) == 0 || e.line[0].head().ready > e.time {
		return false
	}
	e.running = e.next()
	e.running.start(e.time)
	return true
}

// A request of the kernel: the number of a suspension, or one of these.
type request int

const (
	nothingAsked request = -1
	preemption   request = -2
)

// request is the first request that can be answered now.
func (e *engine) request() request {
	if len(e.suspends) == 0 && len(e.preempts) == 0 {
		return nothingAsked
	}
	var holder *context // does not stop
	if e.running != nil && e.running.holds() {
		holder = e.running.context
	}
	for i, c := range e.suspends {
		if c != holder || e.running.queue == nil {
			return request(i)
		}
	}
	if len(e.preempts) > 0 && holder == nil {
		return preemption
	}
	return nothingAsked
}

func (g *GPU) answer(e *engine, r request) {
	if r == preemption {
		g.preempt(e)
	} else {
		g.suspend(e, int(r))
	}
}

// suspend takes the hardware queues of a context off.
func (g *GPU) suspend(e *engine, i int) {
	c := e.suspends[i]
	e.suspends = slices.Delete(e.suspends, i, i+1)
	its := func(p *packet) bool { return p.context == c && p.queue != nil }
	if p := e.running; p != nil && its(p) {
		p.stop(e.time)
		c.parked = append(c.parked, p)
	}
	c.parked = append(c.parked, e.packets(its)...)
	e.drop(its, e.time)
	c.suspended = true
	g.flush(e)
	g.notify(ddi.SuspendContextCompleted{Context: c.handle, ContextSuspendFence: c.suspendFence})
}

// forget takes the request to suspend a context back.
func (e *engine) forget(c *context) {
	e.suspends = slices.DeleteFunc(e.suspends, func(s *context) bool { return s == c })
}

// preempt takes the packets of contexts off.
func (g *GPU) preempt(e *engine) {
	r := e.preempts[0]
	e.preempts = e.preempts[1:]
	its := func(p *packet) bool { return p.queue == nil && p.number < r.before }
	if p := e.running; p != nil && its(p) {
		p.stop(e.time)
		p.context.preempted = p
	}
	for _, p := range e.packets(its) {
		if p.fetched { // preempted before, and not run since
			p.context.preempted = p
		}
	}
	e.drop(its, e.time)
	last := e.ended
	g.flush(e)
	g.notify(ddi.DmaPreempted{Engine: e.name, PreemptionFenceID: r.fence, LastCompletedFenceID: last})
}

// flush reports that fences were written.
func (g *GPU) flush(e *engine) {
	g.flushNative(e)
	if e.signaled {
		e.signaled = false
		g.notify(ddi.MonitoredFenceSignaled{Engine: e.name})
	}
}

// complete ends the running packet.
func (g *GPU) complete(e *engine, p *packet) {
	e.running = nil
	switch {
	case p.queue == nil:
		e.ended = uint32(p.id)
	case p.queue.user:
		g.follow(e, p.queue)
	default:
		e.signaled = true
	}
	g.flush(e)
	if p.queue == nil {
		g.notify(ddi.DmaCompleted{Engine: e.name, SubmissionFenceID: uint32(p.id)})
	}
}

// fault ends the running packet: a page fault, or with nil a fault of its commands.
// Nothing else of its context happens any more.
func (g *GPU) fault(e *engine, p *packet, f *ddi.Fault) {
	e.running = nil
	p.context.faulted = true
	if p.queue == nil {
		e.ended = uint32(p.id)
	}
	g.flush(e)
	switch {
	case p.queue != nil:
		i := ddi.HwQueuePageFaulted{Engine: e.name, HwQueue: p.queue.handle, FaultedFenceID: p.id, Faulted: f == nil, PrimitiveAPISequenceNumber: p.ran}
		if f != nil {
			i.Fault = *f
		}
		if p.queue.user {
			i.Fault.Flags |= ddi.FaultFenceInvalid
		}
		g.notify(i)
	case f == nil:
		g.notify(ddi.DmaFaulted{Engine: e.name, FaultedFenceID: uint32(p.id)})
	default:
		g.notify(ddi.DmaPageFaulted{Engine: e.name, FaultedFenceID: uint32(p.id), Fault: *f, PrimitiveAPISequenceNumber: p.ran})
	}
}
