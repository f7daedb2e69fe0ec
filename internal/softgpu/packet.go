package softgpu

import (
	"math"

	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
)

// A packet is a command buffer that was submitted, and how far it has got.
//
//	waiting ─start─▶ running ─▶ complete, or faulted
//	   ▲                │
//	   ├── suspended ◀──┤ stop, start: it goes on where it was
//	   └──── stalled ◀──┘ at a WAIT, where it goes on
//
// A preemption, a reset and the destruction of its context or queue end it in every
// state; the kernel may submit it again then, as another packet. After a preemption that
// goes on where this one stopped.
type packet struct {
	context *context
	queue   *hwQueue // nil: it was submitted to the context
	id      uint64   // SubmissionFenceID, or the queue's progress id
	va      uint64
	size    uint32
	flags   ddi.SubmitCommandFlags
	number  uint64 // in the engine's line
	ready   int64  // it came, or was resumed, then

	began   bool  // it has run before
	since   int64 // it began then
	fetched bool
	reread  bool // as part of the packet before, and its end of reading was told of that
	bare    bool // there are no commands to read: empty, or foreign
	reader  cmdbuf.Reader
	command cmdbuf.Command // under way; nil: the next one is to be read
	moved   uint64         // bytes of it that are copied or filled
	until   int64          // when the delay that is under way ends
	left    int64          // of it, while the packet is stopped
	wait    *wait          // that is under way and has been in vain; nil: none
	ran     uint64         // commands that are done
}

// never is the end of a delay that is too long to end.
const never = math.MaxInt64

// start lets it run at a moment.
func (p *packet) start(now int64) {
	if !p.began {
		p.began, p.since = true, now
	}
	if _, ok := p.command.(cmdbuf.Delay); ok {
		p.until = later(now, uint64(p.left))
	}
}

// stop lets it rest.
func (p *packet) stop(now int64) { p.left = max(p.until-now, 0) }

// resume has p, not started yet, go on where old was stopped, if it is the same command
// buffer; old may be nil.
func (p *packet) resume(old *packet) {
	if old == nil || old.va != p.va || old.size != p.size || !old.fetched {
		return
	}
	p.began, p.since, p.fetched, p.reread, p.bare = old.began, old.since, true, true, old.bare
	p.reader, p.command, p.moved, p.left, p.ran = old.reader, old.command, old.moved, old.left, old.ran
	p.wait = old.wait
}

// restart forgets how far it has got.
func (p *packet) restart() {
	*p = packet{context: p.context, queue: p.queue, id: p.id, va: p.va, size: p.size, flags: p.flags, number: p.number, ready: p.ready}
}

// due is when its engine, which is at a moment, can go on with it.
func (p *packet) due(now int64) (at int64, ok bool) {
	switch p.command.(type) {
	case cmdbuf.Hang:
		return 0, false
	case cmdbuf.Delay:
		return p.until, p.until != never
	}
	return now, true
}

// holds reports whether it keeps its engine from answering.
func (p *packet) holds() bool {
	switch c := p.command.(type) {
	case cmdbuf.Hang:
		return true
	case cmdbuf.Delay:
		return c.Flags&cmdbuf.NotPreemptible != 0
	}
	return false
}

// null reports whether a command is left away when only fences are to be written.
func (p *packet) null(c cmdbuf.Command) bool {
	if p.flags&ddi.SubmitNullRendering == 0 {
		return false
	}
	switch c.(type) {
	case cmdbuf.Write64, cmdbuf.Write32, cmdbuf.Signal, cmdbuf.Signal32, cmdbuf.Wait, cmdbuf.SignalNative:
		return false
	}
	return true
}

// later adds a time to a moment; what is too late is never.
func later(at int64, by uint64) int64 {
	if by >= uint64(never-max(at, 0)) {
		return never
	}
	return at + int64(by)
}
