package syncobj

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// A PacketSink is told once that a packet has what it waited for. It must not block
// and must not call back into any object or packet: it notes that the context can go
// on.
type PacketSink interface {
	Ready(p *Packet)
}

// A Packet is a wait on the GPU side: for all of some objects, that may be together
// by CheckWait.
//
//	state      start                     the last thing missing comes   withdraw
//	Queued     → Waiting, maybe → Ready  –                              → Withdrawn
//	Waiting    (a bug of ours)           → Ready, tell the sink         leave all objects → Withdrawn
//	Ready      (a bug of ours)           –                              nothing
//	Withdrawn  (a bug of ours)           –                              nothing
//
// What is missing differs: each fence latches when it is seen to have reached its
// value, while mutexes and semaphores are acquired all in one step or none. A packet
// stands in the line of every mutex and semaphore that it names; the first in a line
// that can proceed does, so that one that lacks something else keeps nobody up. An
// object that is gone is no longer missing.
// Source: objects.md §4.4, §4.5, §5.1; OQ-9, OQ-12, OQ-15, OQ-26.
type Packet struct {
	owner  any // through whom mutexes are acquired
	sink   PacketSink
	stocks []*stock // of mutexes and semaphores; else
	values []value  // of fences, which wait counts
	wait   wait.Wait
	state  PacketState
}

// A Point is an object that a packet waits for.
type Point struct {
	Object Object
	Value  uint64 // that a fence must reach; of no meaning to other kinds
}

// PacketState is the state of a packet.
type PacketState uint8

// The states of a packet.
const (
	Queued    PacketState = iota // others of its context come first: it looks at nothing yet
	Waiting                      // it is at the head of its context
	Ready                        // it has everything
	Withdrawn                    // its context is gone
)

func (s PacketState) String() string {
	return [...]string{"Queued", "Waiting", "Ready", "Withdrawn"}[s]
}

// A valued object is a fence: something that reaches values.
type valued interface {
	Enlist(e *wait.Entry)
	Withdraw(e *wait.Entry)
}

type value struct {
	wait.Entry
	of valued
}

// A consumable object is a mutex or a semaphore.
type consumable interface {
	supply() *stock
}

// Init makes p a queued packet that waits for points, which CheckWait has let pass.
// owner is any comparable token of who submitted it, see Mutex.Lose.
func (p *Packet) Init(owner any, sink PacketSink, points []Point) {
	*p = Packet{owner: owner, sink: sink}
	for _, pt := range points {
		switch o := pt.Object.(type) {
		case consumable:
			p.stocks = append(p.stocks, o.supply())
		case valued:
			p.values = append(p.values, value{of: o})
			p.values[len(p.values)-1].Target = pt.Value
		default:
			panic("syncobj: a packet cannot wait for a " + pt.Object.Kind().String())
		}
	}
	p.wait.Init((*packetEnd)(p), len(p.values))
	for i := range p.values {
		e := &p.values[i].Entry
		e.Reset(&p.wait, i, e.Target)
	}
}

// State returns the state.
func (p *Packet) State() PacketState { return p.state }

// Start lets p wait: it has reached the head of its context. It may be ready before
// this returns; a value that was there only before does not count (OQ-12).
func (p *Packet) Start() {
	if p.state != Queued {
		panic("syncobj: a packet was started " + p.state.String())
	}
	p.state = Waiting
	for i := range p.values {
		p.values[i].of.Enlist(&p.values[i].Entry)
	}
	if len(p.values) > 0 || p.acquire() {
		return
	}
	for _, s := range p.stocks {
		s.enter(p)
	}
}

// Withdraw takes p out: its context is gone. The sink hears nothing. What a ready
// packet has acquired stays acquired.
func (p *Packet) Withdraw() {
	if p.state > Waiting {
		return
	}
	p.state = Withdrawn
	p.wait.Withdrawn()
	for i := range p.values {
		p.values[i].of.Withdraw(&p.values[i].Entry)
	}
	for _, s := range p.stocks {
		s.leave(p)
	}
}

// acquire takes one unit of every stock, or nothing. It reports whether p is ready.
func (p *Packet) acquire() bool {
	for i, s := range p.stocks {
		if !s.take() {
			for _, taken := range p.stocks[:i] {
				taken.putBack()
			}
			return false
		}
	}
	for _, s := range p.stocks {
		s.last = p.owner
		s.leave(p)
	}
	p.wait.End(abi.StatusSuccess)
	return true
}

// packetEnd is a packet that hears from its own wait.
type packetEnd Packet

func (e *packetEnd) Ended(*wait.Wait, abi.Status) {
	p := (*Packet)(e)
	p.state = Ready
	p.sink.Ready(p)
}
