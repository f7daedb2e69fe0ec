package sim

import (
	"fmt"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// A puppet is a driver that does nothing by itself: a program pulls its strings. It
// holds the kernel to what ddi promises, and writes down what it is asked.
type puppet struct {
	ddi.Refusals
	cb       ddi.Callbacks
	caps     ddi.Caps
	buffers  map[uint64]*buffer // by address
	last     uint64             // handle
	devices  map[ddi.KmdDevice]ddi.AddressSpace
	contexts map[ddi.KmdContext]*puppetContext
	queues   map[ddi.KmdHwQueue]*puppetQueue
	engines  map[ddi.Engine]*puppetEngine
	order    []*puppetEngine

	nativeCaps ddi.NativeFenceCaps
	natives    map[ddi.KmdNativeFence]*puppetNative
	locals     map[ddi.KmdLocalNativeFence]*puppetLocal
	lastNative uint64               // handle
	held       []ddi.DxgNativeFence // signalled, and not told yet
	kind       interruptKind        // of the next interrupt
	spurious   bool                 // it comes in any case
	overtakes  *uint64              // that a GPU stores before the next monitored values

	failEngineReset, failAdapterReset bool // the next one
	slow                              bool // contexts leave the hardware when told
	stopped                           bool // the adapter is: nothing is asked of it any more
	trace                             *trace
	broken                            string // what the kernel did that it must not
}

type puppetContext struct {
	device ddi.KmdDevice
	engine ddi.Engine
	off    bool   // the hardware
	asked  uint64 // off it, and has not answered; 0 not
}

type puppetQueue struct {
	context  ddi.KmdContext
	progress uint64 // address
	native   bool   // the progress fence is
	flying   []*puppetRun
}

type puppetEngine struct {
	name      ddi.Engine
	flying    []*puppetRun
	completed uint32
	preempt   uint32 // preemption that is not answered, 0 none
	answered  uint32 // the last one that was
}

type puppetRun struct {
	context ddi.KmdContext
	id      uint64
	buffer  *buffer
	pc      int
	flags   ddi.SubmitCommandFlags
}

// A buffer is what a program submits: stores to addresses, in order.
type buffer struct {
	address  uint64
	commands []command
	refused  bool // by the driver
}

type command struct {
	op        opcode
	va, value uint64
}

type opcode uint8

const (
	write  opcode = iota // store
	signal               // store and interrupt
	bad                  // nothing that a GPU knows
)

func newPuppet(caps ddi.Caps, trace *trace, buffers map[uint64]*buffer, nodes, engines int) *puppet {
	p := &puppet{
		caps: caps, trace: trace, buffers: buffers, devices: map[ddi.KmdDevice]ddi.AddressSpace{}, contexts: map[ddi.KmdContext]*puppetContext{},
		queues: map[ddi.KmdHwQueue]*puppetQueue{}, engines: map[ddi.Engine]*puppetEngine{}, natives: map[ddi.KmdNativeFence]*puppetNative{},
		locals: map[ddi.KmdLocalNativeFence]*puppetLocal{},
	}
	for n := range uint32(nodes) {
		for o := range uint32(engines) {
			e := &puppetEngine{name: ddi.Engine{NodeOrdinal: n, EngineOrdinal: o}}
			p.engines[e.name] = e
			p.order = append(p.order, e)
		}
	}
	return p
}

func (p *puppet) handle() uint64 {
	p.last++
	return p.last
}

func (p *puppet) blame(format string, args ...any) abi.Status {
	if p.broken == "" {
		p.broken = fmt.Sprintf(format, args...)
	}
	return abi.StatusInvalidParameter
}

func (p *puppet) StartDevice(cb ddi.Callbacks) abi.Status {
	p.cb = cb
	return abi.StatusSuccess
}
func (p *puppet) StopDevice()         {}
func (p *puppet) Caps() ddi.Caps      { return p.caps }
func (p *puppet) Advance(int64)       {}
func (p *puppet) Next() (int64, bool) { return 0, false }

func (p *puppet) CreateDevice(args ddi.CreateDeviceArgs) (ddi.KmdDevice, abi.Status) {
	h := ddi.KmdDevice(p.handle())
	p.devices[h] = args.Memory
	return h, abi.StatusSuccess
}

func (p *puppet) DestroyDevice(h ddi.KmdDevice) abi.Status {
	if p.devices[h] == nil {
		return p.blame("DestroyDevice(%d): there is none", h)
	}
	for c, pc := range p.contexts {
		if pc.device == h {
			return p.blame("DestroyDevice(%d) before DestroyContext(%d)", h, c)
		}
	}
	delete(p.devices, h)
	return abi.StatusSuccess
}

func (p *puppet) CreateContext(args ddi.CreateContextArgs) (ddi.KmdContext, abi.Status) {
	h := ddi.KmdContext(p.handle())
	p.contexts[h] = &puppetContext{device: args.Device, engine: args.Engine}
	return h, abi.StatusSuccess
}

func (p *puppet) DestroyContext(h ddi.KmdContext) abi.Status {
	c := p.contexts[h]
	if c == nil {
		return p.blame("DestroyContext(%d): there is none", h)
	}
	for _, r := range p.engines[c.engine].flying {
		if r.context == h && !p.stopped {
			return p.blame("DestroyContext(%d) while packet %d of it is at the engine", h, r.id)
		}
	}
	for q, pq := range p.queues {
		if pq.context == h {
			return p.blame("DestroyContext(%d) before DestroyHwQueue(%d)", h, q)
		}
	}
	p.trace.say("destroy context %d", h)
	delete(p.contexts, h)
	return abi.StatusSuccess
}

func (p *puppet) SubmitCommandVirtual(args ddi.SubmitCommandArgs) abi.Status {
	e, c := p.engines[args.Engine], p.contexts[args.Context]
	switch {
	case c == nil || c.engine != args.Engine:
		return p.blame("submission for context %d, which is not on %v", args.Context, args.Engine)
	case len(e.flying) > 0 && uint32(e.flying[len(e.flying)-1].id) >= args.SubmissionFenceID:
		return p.blame("submission fence id %d after %d", args.SubmissionFenceID, e.flying[len(e.flying)-1].id)
	}
	b := p.buffers[args.DmaBufferVirtualAddress]
	if b.refused {
		p.trace.say("refuse %#x", b.address)
		return abi.StatusInvalidParameter
	}
	e.flying = append(e.flying, &puppetRun{context: args.Context, id: uint64(args.SubmissionFenceID), buffer: b, flags: args.Flags})
	p.trace.say("submit %#x as %d on %v, flags %d", b.address, args.SubmissionFenceID, args.Engine, args.Flags)
	return abi.StatusSuccess
}

func (p *puppet) PreemptCommand(engine ddi.Engine, id uint32) {
	e := p.engines[engine]
	e.preempt = id
	p.trace.say("preempt %v", engine)
}

func (p *puppet) QueryCurrentFence(engine ddi.Engine) { p.trace.say("query %v", engine) }

func (p *puppet) ResetEngine(engine ddi.Engine) (uint32, abi.Status) {
	p.trace.say("reset %v", engine)
	if p.failEngineReset {
		p.failEngineReset = false
		return 0, abi.StatusUnsuccessful
	}
	e := p.engines[engine]
	if len(e.flying) == 0 {
		return 0, p.blame("ResetEngine(%v) with nothing there", engine)
	}
	aborted := e.flying[0].id
	e.clear()
	p.allLeave(engine)
	return uint32(aborted), abi.StatusSuccess
}

func (p *puppet) ResetFromTimeout() abi.Status {
	p.trace.say("reset adapter")
	for _, e := range p.order {
		e.clear()
	}
	for _, q := range p.queues {
		q.flying = nil
	}
	for _, c := range p.contexts {
		c.off, c.asked = true, 0
	}
	if p.failAdapterReset {
		p.failAdapterReset = false
		return abi.StatusUnsuccessful
	}
	return abi.StatusSuccess
}

func (p *puppet) RestartFromTimeout() abi.Status {
	p.trace.say("restart adapter")
	return abi.StatusSuccess
}

// clear takes everything off the engine.
func (e *puppetEngine) clear() {
	if n := len(e.flying); n > 0 {
		e.completed = uint32(e.flying[n-1].id)
	}
	e.flying, e.preempt = nil, 0
}

// step lets the first packet of an engine do one command more, or end. It reports what
// is to be said of it, nil for nothing.
func (p *puppet) step(engine ddi.Engine) ddi.Interrupt {
	e := p.engines[engine]
	r := e.flying[0]
	if r.pc == len(r.buffer.commands) {
		e.flying = e.flying[1:]
		e.completed = uint32(r.id)
		return ddi.DmaCompleted{Engine: engine, SubmissionFenceID: uint32(r.id)}
	}
	c := r.buffer.commands[r.pc]
	r.pc++
	if c.op == bad {
		e.flying = e.flying[1:]
		e.completed = uint32(r.id)
		return ddi.DmaFaulted{Engine: engine, FaultedFenceID: uint32(r.id)}
	}
	space := p.devices[p.contexts[r.context].device]
	if f := space.Store64(engine.EngineOrdinal, c.va, c.value); f != nil {
		e.flying = e.flying[1:]
		e.completed = uint32(r.id)
		return ddi.DmaPageFaulted{Engine: engine, FaultedFenceID: uint32(r.id), Fault: *f}
	}
	if l, n := p.nativeAt(space, c.va); l != nil && c.op == signal {
		return p.signaled(engine, l, n, c.value)
	}
	if c.op == signal {
		return ddi.MonitoredFenceSignaled{Engine: engine}
	}
	return nil
}

// answer stops an engine that was asked to.
func (p *puppet) answer(engine ddi.Engine) ddi.Interrupt {
	e := p.engines[engine]
	i := ddi.DmaPreempted{Engine: engine, PreemptionFenceID: e.preempt, LastCompletedFenceID: e.completed}
	e.answered = e.preempt
	e.flying, e.preempt = nil, 0
	return i
}

func (p *puppet) CreateHwQueue(args ddi.CreateHwQueueArgs) (ddi.KmdHwQueue, abi.Status) {
	h := ddi.KmdHwQueue(p.handle())
	if p.contexts[args.Context] == nil {
		return 0, p.blame("CreateHwQueue on context %d: there is none", args.Context)
	}
	if (args.NativeProgressFence != 0) != p.caps.Has(ddi.NativeGpuFence) || args.NativeProgressFence != 0 && p.natives[args.NativeProgressFence] == nil {
		return 0, p.blame("CreateHwQueue with native progress fence %d: there is none, or should be one", args.NativeProgressFence)
	}
	if n := p.natives[args.NativeProgressFence]; n != nil {
		n.progress = true
	}
	p.queues[h] = &puppetQueue{context: args.Context, progress: args.ProgressFenceGpuVirtualAddress, native: args.NativeProgressFence != 0}
	return h, abi.StatusSuccess
}

func (p *puppet) DestroyHwQueue(h ddi.KmdHwQueue) abi.Status {
	q := p.queues[h]
	switch {
	case q == nil:
		return p.blame("DestroyHwQueue(%d): there is none", h)
	case len(q.flying) > 0 && !p.contexts[q.context].off && !p.stopped:
		return p.blame("DestroyHwQueue(%d) while %d packets are at the GPU", h, len(q.flying))
	}
	p.trace.say("destroy queue %d", h)
	delete(p.queues, h)
	return abi.StatusSuccess
}

func (p *puppet) SubmitCommandToHwQueue(args ddi.SubmitCommandToHwQueueArgs) abi.Status {
	q := p.queues[args.HwQueue]
	if q == nil {
		return p.blame("SubmitCommandToHwQueue(%d): there is none", args.HwQueue)
	}
	b := p.buffers[args.DmaBufferVirtualAddress]
	if b.refused {
		p.trace.say("refuse %#x", b.address)
		return abi.StatusInvalidParameter
	}
	q.flying = append(q.flying, &puppetRun{context: q.context, id: args.HwQueueProgressFenceID, buffer: b, flags: args.Flags})
	p.trace.say("submit %#x as %d to queue %d, flags %d", b.address, args.HwQueueProgressFenceID, args.HwQueue, args.Flags)
	return abi.StatusSuccess
}

func (p *puppet) SuspendContext(h ddi.KmdContext, fence uint64) abi.Status {
	c := p.contexts[h]
	if c == nil || c.off {
		return p.blame("SuspendContext(%d): there is none, or it is off already", h)
	}
	p.trace.say("suspend context %d", h)
	if p.slow {
		c.asked = fence
		return abi.StatusPending
	}
	c.off = true
	return abi.StatusSuccess
}

// leave lets a context off the hardware that was asked to leave it.
func (p *puppet) leave(h ddi.KmdContext) ddi.Interrupt {
	c := p.contexts[h]
	i := ddi.SuspendContextCompleted{Context: h, ContextSuspendFence: c.asked}
	c.off, c.asked = true, 0
	return i
}

// ResetHwEngine aborts what the first context runs that does not leave.
func (p *puppet) ResetHwEngine(engine ddi.Engine) (aborted ddi.KmdHwQueue, id uint64, st abi.Status) {
	p.trace.say("reset hardware queues of %v", engine)
	if p.failEngineReset {
		p.failEngineReset = false
		return 0, 0, abi.StatusUnsuccessful
	}
	p.engines[engine].clear()
	for h := range ddi.KmdHwQueue(p.last + 1) {
		q := p.queues[h]
		if q == nil || p.contexts[q.context].engine != engine {
			continue
		}
		if p.contexts[q.context].asked != 0 && aborted == 0 && len(q.flying) > 0 {
			aborted, id = h, q.flying[0].id
			q.flying = nil
		}
		for _, r := range q.flying {
			r.pc = 0
		}
	}
	p.allLeave(engine)
	return aborted, id, abi.StatusSuccess
}

// allLeave takes the contexts off the hardware that were asked to leave it: nothing of an
// engine runs after a reset.
func (p *puppet) allLeave(engine ddi.Engine) {
	for _, c := range p.contexts {
		if c.engine == engine && c.asked != 0 {
			c.off, c.asked = true, 0
		}
	}
}

func (p *puppet) ResumeContext(h ddi.KmdContext) abi.Status {
	c := p.contexts[h]
	if c == nil || !c.off {
		return p.blame("ResumeContext(%d): there is none, or it is not off", h)
	}
	p.trace.say("resume context %d", h)
	c.off = false
	return abi.StatusSuccess
}

func (p *puppet) ResumeHwEngine(engine ddi.Engine) abi.Status {
	p.trace.say("resume %v", engine)
	return abi.StatusSuccess
}

// stepQueue lets the first packet of a hardware queue do one command more, or end with
// its progress.
func (p *puppet) stepQueue(h ddi.KmdHwQueue) ddi.Interrupt {
	q := p.queues[h]
	c := p.contexts[q.context]
	r := q.flying[0]
	next := command{op: signal, va: q.progress, value: r.id}
	last := r.pc == len(r.buffer.commands)
	if !last {
		next = r.buffer.commands[r.pc]
	}
	r.pc++
	faulted := ddi.HwQueuePageFaulted{Engine: c.engine, HwQueue: h, FaultedFenceID: r.id}
	if next.op == bad {
		q.flying, faulted.Faulted = nil, true
		return faulted
	}
	space := p.devices[c.device]
	if f := space.Store64(c.engine.EngineOrdinal, next.va, next.value); f != nil {
		q.flying, faulted.Fault = nil, *f
		return faulted
	}
	if last {
		q.flying = q.flying[1:]
	}
	if l, n := p.nativeAt(space, next.va); l != nil && next.op == signal {
		if i := p.signaled(c.engine, l, n, next.value); i != nil || !last {
			return i
		}
	}
	if next.op == signal {
		return ddi.MonitoredFenceSignaled{Engine: c.engine}
	}
	return nil
}
