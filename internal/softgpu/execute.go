package softgpu

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// chunk is how many bytes COPY and FILL move at once.
const chunk = 64 << 10

// step does the next thing of the running packet: reads its buffer, or executes a
// command or a part of one. False: it waits for time. The caller holds calling and mu;
// mu is dropped during each access to memory.
func (g *GPU) step(e *engine) bool {
	p := e.running
	switch {
	case e.injected != nil:
		f := e.injected
		e.injected = nil
		g.fault(e, p, f)
		return true
	case p.trapped():
		g.spring(e, p)
		return !e.hung
	case !p.fetched:
		g.fetch(e, p)
		return true
	case p.reread:
		p.reread = false
		e.commands--
		g.notify(ddi.DmaRead{Engine: e.name, SubmissionFenceID: uint32(p.id)})
		return true
	}
	if p.command == nil {
		c, err := p.reader.Next()
		if err != nil {
			g.fault(e, p, nil)
			return true
		}
		e.commands--
		p.command = c
		if d, ok := c.(cmdbuf.Delay); ok {
			p.until = later(e.time, d.Nanoseconds)
		}
	}
	done, bad, f := g.execute(e, p)
	switch {
	case bad || f != nil:
		g.fault(e, p, f)
	case e.running != p:
		return true // it is stalled
	case !done:
		at, ok := p.due(e.time)
		return ok && at <= e.time
	default:
		p.command, p.moved = nil, 0
		p.ran++
		g.endIfDone(e, p)
	}
	return true
}

// fetch reads the buffer as a whole.
func (g *GPU) fetch(e *engine, p *packet) {
	p.fetched = true
	e.commands--
	if p.context.faulted {
		g.skip(e, p)
		return
	}
	b, foreign, f := g.read(e, p)
	if f != nil {
		g.fault(e, p, f)
		return
	}
	var err error
	switch {
	case p.size == 0, foreign && g.foreign == adapter.ForeignRun:
		p.bare = true
	default:
		// Of a buffer that is too long there are no bytes, and so no header.
		p.reader, err = cmdbuf.NewReader(b)
	}
	if err != nil {
		g.fault(e, p, nil)
		return
	}
	if p.queue == nil {
		g.notify(ddi.DmaRead{Engine: e.name, SubmissionFenceID: uint32(p.id)})
	}
	g.endIfDone(e, p)
}

// read gets the bytes of a buffer. Of a foreign one, and of one that is too long, it
// reads no more than the header.
func (g *GPU) read(e *engine, p *packet) (b []byte, foreign bool, f *ddi.Fault) {
	if p.size < cmdbuf.HeaderSize {
		return nil, true, nil
	}
	var head [cmdbuf.HeaderSize]byte
	if f = g.access(p, func(m ddi.AddressSpace) *ddi.Fault { return m.Read(e.name.EngineOrdinal, p.va, head[:]) }); f != nil {
		return nil, false, f
	}
	if binary.LittleEndian.Uint32(head[:]) != cmdbuf.Magic {
		return nil, true, nil
	}
	if p.size > cmdbuf.MaxSize {
		return nil, false, nil
	}
	e.bytes -= int(p.size)
	b = append(make([]byte, 0, p.size), head[:]...)[:p.size]
	f = g.access(p, func(m ddi.AddressSpace) *ddi.Fault {
		return m.Read(e.name.EngineOrdinal, p.va+cmdbuf.HeaderSize, b[cmdbuf.HeaderSize:])
	})
	return b, false, f
}

// endIfDone ends a packet that has no further command, at once: a request that comes
// now finds it complete.
func (g *GPU) endIfDone(e *engine, p *packet) {
	if !p.bare && !p.reader.Done() {
		return
	}
	if q := p.queue; q != nil && !q.user && (e.release || p.bare || p.flags&ddi.SubmitNullRendering != 0) {
		if f := g.store(e, p, q.progress, p.id, !g.narrow); f != nil {
			g.fault(e, p, f)
			return
		}
	}
	g.complete(e, p)
}

// skip ends a packet of a context that has faulted, and nothing of it happens.
func (g *GPU) skip(e *engine, p *packet) {
	if p.queue == nil {
		g.complete(e, p)
	} else {
		e.running = nil
	}
}

// execute does the command under way, or a part of it. bad: it cannot be executed.
func (g *GPU) execute(e *engine, p *packet) (done, bad bool, f *ddi.Fault) {
	if p.null(p.command) {
		return true, false, nil
	}
	switch c := p.command.(type) {
	case cmdbuf.Write64:
		f = g.store(e, p, c.VA, c.Value, true)
	case cmdbuf.Write32:
		f = g.store(e, p, c.VA, uint64(c.Value), false)
	case cmdbuf.Signal:
		if f = g.store(e, p, c.VA, c.Value, true); f == nil {
			e.signaled = true
		}
	case cmdbuf.Signal32:
		if f = g.store(e, p, c.VA, uint64(c.Value), false); f == nil {
			e.signaled = true
		}
	case cmdbuf.Copy:
		if c.Bytes == 0 {
			return true, false, nil
		}
		f = g.move(e, p, c)
		return p.moved == c.Bytes, false, f
	case cmdbuf.Fill:
		if c.Bytes == 0 {
			return true, false, nil
		}
		f = g.fill(e, p, c)
		return p.moved == c.Bytes, false, f
	case cmdbuf.Delay:
		return p.until <= e.time, false, nil
	case cmdbuf.Hang:
		return false, false, nil
	case cmdbuf.Wait:
		return g.wait(e, p, c)
	case cmdbuf.SignalNative:
		bad, f = g.signalNative(e, p, c)
		return !bad, bad, f
	case cmdbuf.Fault:
		switch c.Kind {
		case cmdbuf.FaultRead:
			f = &ddi.Fault{Address: c.Address}
		case cmdbuf.FaultWrite:
			f = &ddi.Fault{Address: c.Address, Flags: ddi.FaultWrite}
		default:
			return false, true, nil
		}
	}
	return true, false, f
}

// store writes a word in one piece.
func (g *GPU) store(e *engine, p *packet, va, value uint64, wide bool) *ddi.Fault {
	size := uint64(4)
	if wide {
		size = 8
	}
	if va%size != 0 {
		return &ddi.Fault{Address: va, Flags: ddi.FaultWrite | ddi.FaultUnaligned}
	}
	v := p.context.memory.native[va&^7]
	if v != nil && v.fence.always {
		return nil
	}
	f := g.access(p, func(m ddi.AddressSpace) *ddi.Fault {
		if wide {
			return m.Store64(e.name.EngineOrdinal, va, value)
		}
		return m.Store32(e.name.EngineOrdinal, va, uint32(value))
	})
	switch {
	case v == nil || f != nil:
	case wide:
		g.stored(v.fence, value, e.time)
	default: // who knows the other half
		g.stored(v.fence, any64, e.time)
	}
	return f
}

// move copies a part of what is left: from the end if that lies where the beginning goes.
func (g *GPU) move(e *engine, p *packet, c cmdbuf.Copy) *ddi.Fault {
	b := g.part(e, c.Bytes-p.moved)
	at := p.moved
	if c.Dst > c.Src && c.Dst-c.Src < c.Bytes {
		at = c.Bytes - p.moved - uint64(len(b))
	}
	f := g.access(p, func(m ddi.AddressSpace) *ddi.Fault {
		if f := m.Read(e.name.EngineOrdinal, c.Src+at, b); f != nil {
			return f
		}
		return m.Write(e.name.EngineOrdinal, c.Dst+at, b)
	})
	p.moved += uint64(len(b))
	return f
}

// fill writes a part of what is left. Parts but the last are whole patterns.
func (g *GPU) fill(e *engine, p *packet, c cmdbuf.Fill) *ddi.Fault {
	b := g.part(e, c.Bytes-p.moved)
	var pattern [4]byte
	binary.LittleEndian.PutUint32(pattern[:], c.Pattern)
	for n := copy(b, pattern[:]); n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
	f := g.access(p, func(m ddi.AddressSpace) *ddi.Fault {
		return m.Write(e.name.EngineOrdinal, c.Dst+p.moved, b)
	})
	p.moved += uint64(len(b))
	return f
}

// part is room for a part of so many bytes, and counts them as work.
func (g *GPU) part(e *engine, left uint64) []byte {
	n := min(left, chunk)
	e.bytes -= int(n)
	return g.scratch[:n]
}

// access lets f use the memory of a packet, without mu.
func (g *GPU) access(p *packet, f func(ddi.AddressSpace) *ddi.Fault) *ddi.Fault {
	g.mu.Unlock()
	defer g.mu.Lock()
	return f(p.context.memory.AddressSpace)
}
