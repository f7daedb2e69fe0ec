package vidsch

import (
	"slices"

	"github.com/dxgsync/dxgsync/ddi"
)

// MaxPackets is how many packets a queue may have that are not complete. Source: the
// end of open-questions.md.
const MaxPackets = 65536

// A Device is the unit of error: what hangs or faults takes its whole device along.
type Device struct {
	Owner     any           // whose it is, to the kernel
	Exempt    bool          // DisableGpuTimeout
	Kmd       ddi.KmdDevice // 0: the driver knows none
	scheduler *Scheduler
	contexts  []*Context
	work      int // packets that are not complete
	epochs    epochs
	Load      *int   // bytes that packets of all devices of somebody take; nil: nobody counts
	Freed     func() // nil, or called when the driver is told that it is gone
	lost      bool
	held      bool // nothing of it goes on
	gone      bool
	finished  bool
}

// A Context is a stream of work on one engine, or, with HwScheduled, the home of hardware
// queues.
type Context struct {
	Kmd         ddi.KmdContext
	Freed       func() // as of a Device
	Exempt      bool   // DisableGpuTimeout
	HwScheduled bool
	device      *Device
	engine      *Engine
	queues      []*Queue // the one of a software context is the first and only
	gone        bool
	finished    bool
	suspend     suspension
}

// A Queue is a stream of packets: that of a context, or a hardware queue.
type Queue struct {
	Owner    any            // whose it is, to the kernel
	Kmd      ddi.KmdHwQueue // of a hardware queue
	Exempt   bool           // DisableGpuTimeout
	Priority int32          // of what is on one engine, higher first
	// Reached reads the progress fence of a hardware queue.
	Reached func() uint64
	// Freed is called when nobody needs the progress fence of a destroyed queue any more.
	Freed func()

	context *Context
	pending packets // not given to the GPU
	flying  []*run  // given to the GPU
	waiting bool    // for the gate of the first packet
	queued  bool    // in Scheduler.ready
	lined   bool    // in Engine.line
	since   uint64  // when its first buffer came into the line
	gone    bool
	cap     int // of a hardware queue: runs at the GPU

	destroyed, finished bool

	// Of a queue that programs submit to.
	lastQueued func() uint64 // nil: it is none
	rings      bool          // its doorbell is connected
	away       bool          // nothing of it is at the GPU: not yet, or not any more
	pended     bool          // work was pending when it was looked at last
	reached    uint64        // its progress then
}

// NewDevice makes a device.
func (s *Scheduler) NewDevice(owner any, kmd ddi.KmdDevice, exempt bool) *Device {
	return &Device{Owner: owner, Kmd: kmd, Exempt: exempt, scheduler: s}
}

// NewContext makes a context on an engine that exists. Unless it is hwScheduled it has a
// queue, which Context.Queue returns.
func (d *Device) NewContext(e ddi.Engine, kmd ddi.KmdContext, exempt, hwScheduled bool, owner any) *Context {
	c := &Context{Kmd: kmd, Exempt: exempt, HwScheduled: hwScheduled, device: d, engine: d.scheduler.engine(e)}
	d.contexts = append(d.contexts, c)
	if !hwScheduled {
		c.queues = []*Queue{{Owner: owner, context: c}}
	}
	return c
}

// Queue is the queue of a context that is not for hardware queues.
func (c *Context) Queue() *Queue { return c.queues[0] }

// NewHwQueue makes a hardware queue of a HwScheduled context. reached reads its progress
// fence, until freed is called; most is how many buffers of it may be at the GPU.
func (c *Context) NewHwQueue(kmd ddi.KmdHwQueue, exempt bool, most int, reached func() uint64, freed func(), owner any) *Queue {
	q := &Queue{Owner: owner, Kmd: kmd, Exempt: exempt, Reached: reached, Freed: freed, context: c, cap: max(most, 1)}
	c.queues = append(c.queues, q)
	return q
}

func (q *Queue) device() *Device       { return q.context.device }
func (q *Queue) engine() *Engine       { return q.context.engine }
func (q *Queue) scheduler() *Scheduler { return q.context.device.scheduler }
func (q *Queue) hardware() bool        { return q.context.HwScheduled }
func (q *Queue) exempt() bool {
	return q.Exempt || q.context.Exempt || q.context.device.Exempt
}

// Engine is where the queue's work runs.
func (q *Queue) Engine() ddi.Engine { return q.context.engine.name }

// Room reports whether n more packets may be submitted.
func (q *Queue) Room(n int) bool { return q.pending.len()+len(q.flying)+n <= MaxPackets }

// Load is Device.Load.
func (q *Queue) Load() *int { return q.device().Load }

// Len is how many packets are not complete, and how many of them are at the GPU.
func (q *Queue) Len() (all, flying int) { return q.pending.len() + len(q.flying), len(q.flying) }

// Waiting is the gate that holds the queue up, nil for none.
func (q *Queue) Waiting() Gate {
	if !q.waiting {
		return nil
	}
	return q.pending.first().gate
}

// Submit queues a command buffer.
func (q *Queue) Submit(b Buffer) {
	r := &run{Buffer: b, queue: q, bytes: Bytes(0, len(b.Private))}
	q.push(packet{kind: bufferPacket, run: r, bytes: r.bytes})
}

// Wait queues a wait for a number of objects.
func (q *Queue) Wait(g Gate, objects int) {
	q.push(packet{kind: waitPacket, gate: g, bytes: Bytes(objects, 0)})
}

// Signal queues a signal of a number of objects.
func (q *Queue) Signal(sig Signal, when When, objects int) {
	q.push(packet{kind: signalPacket, signal: sig, when: when, bytes: Bytes(objects, 0)})
}

// Bytes is what a packet counts in Device.Load: 128, and 64 for each object, and its
// private data.
func Bytes(objects, private int) int { return 128 + 64*objects + private }

func (q *Queue) push(p packet) {
	d := q.device()
	d.work++
	d.count(p.bytes)
	if p.run != nil {
		p.epoch = d.epochs.begin()
		p.run.epoch = p.epoch
	}
	q.pending.push(p)
	if q.pending.len() == 1 {
		q.scheduler().wake(q)
	}
}

// Each calls f for every signal that has not been reached, in order.
func (q *Queue) Each(f func(Signal)) {
	for _, p := range q.pending.list[q.pending.head:] {
		if p.kind == signalPacket {
			f(p.signal)
		}
	}
}

// Open tells that the gate that the queue waits for has opened.
func (q *Queue) Open() {
	q.waiting = false
	q.popDone()
	q.scheduler().wake(q)
}

// done counts a packet that needs nothing more.
func (q *Queue) done(e *epoch, bytes int) {
	d := q.device()
	d.work--
	d.count(-bytes)
	if e != nil && d.epochs.end(e) || d.work == 0 {
		d.scheduler.settled = append(d.scheduler.settled, d)
	}
}

func (d *Device) count(bytes int) {
	if d.Load != nil {
		*d.Load += bytes
	}
}

// popDone takes the first packet off: it needs nothing more.
func (q *Queue) popDone() {
	e, bytes := q.pending.first().epoch, q.pending.first().bytes
	q.pending.pop()
	q.done(e, bytes)
}

// step does what can be done with the first packets.
func (q *Queue) step() {
	for q.pending.len() > 0 && !q.waiting && !q.gone && !q.device().held {
		switch p := q.pending.first(); p.kind {
		case bufferPacket:
			if !q.hardware() {
				q.engine().enter(q)
				return
			}
			if len(q.flying) >= q.cap || !q.engine().takesHardware(q) {
				return
			}
			r := p.run
			q.pending.pop()
			q.flying = append(q.flying, r)
			q.engine().submitHardware(r)
		case waitPacket:
			if len(q.flying) > 0 {
				return
			}
			q.waiting = true
			if !p.gate.Start() {
				return
			}
			q.waiting = false
			q.popDone()
		case signalPacket:
			if !q.far(p.when) {
				return
			}
			s := p.signal
			q.popDone()
			s.Reach(q)
		}
	}
}

// far reports whether what was given to the GPU has got far enough for a signal.
func (q *Queue) far(when When) bool {
	switch {
	case when == AtSubmission || len(q.flying) == 0:
		return true
	case when == AtRead && !q.hardware():
		return !slices.ContainsFunc(q.flying, func(r *run) bool { return !r.read })
	}
	return false
}

// drop takes away everything that is not at the GPU; what is there nobody hears of.
func (q *Queue) drop(why Why) {
	q.gone = true
	q.engine().leave(q)
	for q.pending.len() > 0 {
		p := *q.pending.first()
		q.popDone()
		switch p.kind {
		case waitPacket:
			p.gate.Withdraw()
		case signalPacket:
			p.signal.Drop(q, why)
		}
	}
	q.waiting = false
	for _, r := range q.flying {
		if !r.dead {
			r.dead = true
			q.done(r.epoch, r.bytes)
		}
	}
}
