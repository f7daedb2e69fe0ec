package softgpu

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"pgregory.net/rapid"
)

// A fenceModel is what two engines do with native fences if nothing takes time: each in
// turn runs, oldest packet first, whatever is not held by a WAIT, until nothing can.
type fenceModel struct {
	values, monitored map[uint64]uint64
	always            map[uint64]bool
	streams           []*modelStream
	number            uint64
	raised            []ddi.DxgNativeFence
	interrupts        [2][]string
}

type modelStream struct {
	engine  uint32
	context ddi.KmdContext
	queue   ddi.KmdHwQueue // 0: the contexts of the engine
	off     bool           // suspended
	packets []*modelPacket
	ended   int
}

type modelPacket struct {
	number   uint64
	buf      *cmdbuf.Buffer
	context  ddi.KmdContext
	commands []cmdbuf.Command // left
}

// held reports whether the first packet is at a WAIT that is not satisfied.
func (m *fenceModel) held(s *modelStream) bool {
	p := s.packets[0]
	if len(p.commands) == 0 {
		return false
	}
	w, ok := p.commands[0].(cmdbuf.Wait)
	return ok && !m.always[w.VA] && m.values[w.VA] < w.Value
}

func (m *fenceModel) stalled(engine uint32) (n int) {
	for _, s := range m.streams {
		if s.engine == engine && !s.off && len(s.packets) > 0 && m.held(s) {
			n++
		}
	}
	return n
}

// run lets everything happen.
func (m *fenceModel) run() {
	for busy := true; busy; {
		busy = false
		for e := range uint32(2) {
			for s := m.next(e); s != nil; s = m.next(e) {
				busy = true
				m.execute(s)
			}
			m.flush(e)
		}
	}
}

func (m *fenceModel) next(engine uint32) (best *modelStream) {
	for _, s := range m.streams {
		if s.engine == engine && !s.off && len(s.packets) > 0 && !m.held(s) && (best == nil || s.packets[0].number < best.packets[0].number) {
			best = s
		}
	}
	return best
}

func (m *fenceModel) execute(s *modelStream) {
	p := s.packets[0]
	for len(p.commands) > 0 && !m.held(s) {
		if c, ok := p.commands[0].(cmdbuf.SignalNative); ok && !m.always[c.VA] {
			m.values[c.VA] = c.Value
			if name := ddi.DxgNativeFence(c.VA); c.Value > m.monitored[c.VA] && !slices.Contains(m.raised, name) {
				m.raised = append(m.raised, name)
			}
		}
		p.commands = p.commands[1:]
	}
	if len(p.commands) == 0 {
		s.packets = s.packets[1:]
		s.ended++
		m.flush(s.engine)
	}
}

func (m *fenceModel) flush(engine uint32) {
	if len(m.raised) > 0 {
		m.interrupts[engine] = append(m.interrupts[engine], fmt.Sprint(m.raised))
		m.raised = nil
	}
}

// renumber puts packets behind all others, in their order.
func (m *fenceModel) renumber(list []*modelPacket) {
	slices.SortFunc(list, func(a, b *modelPacket) int { return cmp.Compare(a.number, b.number) })
	for _, p := range list {
		m.number++
		p.number = m.number
	}
}

// Random programs over three fences, with the CPU signalling, waiting, suspending and
// preempting between: values, stalls, ends and interrupts are those of the model.
func TestNativeFencesAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, nil)
		b.m.log, b.k.during = nil, nil
		m := &fenceModel{values: map[uint64]uint64{}, monitored: map[uint64]uint64{}, always: map[uint64]bool{}}
		var fences []testFence
		for i := range uint64(3) {
			fences = append(fences, b.native(base+64*(i+1)))
			m.monitored[fences[i].va] = any64
		}
		for e := range uint32(2) {
			name := ddi.Engine{NodeOrdinal: e}
			m.streams = append(m.streams, &modelStream{engine: e, context: b.context(name)})
			for range 2 {
				c := b.context(name)
				m.streams = append(m.streams, &modelStream{engine: e, context: c, queue: b.queue(c, base)})
			}
		}
		preempts := uint32(0)
		submit := func(s *modelStream, p *modelPacket, flags ddi.SubmitCommandFlags) {
			if s.queue != 0 {
				b.submitHw(s.queue, 1, p.buf, flags)
			} else {
				b.submit(p.context, p.buf, flags, ddi.Engine{NodeOrdinal: s.engine})
			}
		}
		settle := func() {
			b.k.interrupts = nil
			b.advance(b.k.now)
			m.run()
			var got [2][]string
			ended := 0
			for _, i := range b.k.interrupts {
				switch i := i.(type) {
				case ddi.NativeFenceSignaled:
					got[i.Engine.NodeOrdinal] = append(got[i.Engine.NodeOrdinal], fmt.Sprint(i.Fences))
				case ddi.DmaCompleted:
					ended++
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(m.interrupts) {
				rt.Fatalf("interrupts %v, want %v", got, m.interrupts)
			}
			m.interrupts = [2][]string{}
			for _, s := range m.streams {
				if s.queue == 0 {
					ended -= s.ended
				}
				s.ended = 0
			}
			if ended != 0 {
				rt.Fatalf("%d packets of contexts too many have ended", ended)
			}
			for _, f := range fences {
				if v, _ := b.m.Load64(0, f.va); v != m.values[f.va] {
					rt.Fatalf("the value at %#x is %d, want %d", f.va, v, m.values[f.va])
				}
			}
			for e, s := range b.g.Engines()[:2] {
				waiting := 0
				for _, s := range m.streams {
					if s.engine == uint32(e) && !s.off {
						waiting += len(s.packets)
					}
				}
				if s.Stalled != m.stalled(uint32(e)) || s.Waiting != waiting || s.Running {
					rt.Fatalf("%+v, want %d stalled and %d waiting", s, m.stalled(uint32(e)), waiting)
				}
			}
		}
		fence := func(rt *rapid.T) testFence { return rapid.SampledFrom(fences).Draw(rt, "fence") }
		value := func(rt *rapid.T) uint64 { return rapid.Uint64Range(0, 5).Draw(rt, "value") }
		command := rapid.Custom(func(rt *rapid.T) cmdbuf.Command {
			switch f := fence(rt); rapid.IntRange(0, 3).Draw(rt, "command") {
			case 0, 1:
				return f.wait(value(rt))
			case 2:
				return f.signal(value(rt))
			}
			return cmdbuf.Nop{}
		})
		rt.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { settle() },
			"submit": func(rt *rapid.T) {
				if b.where > base+room-0x1000 {
					rt.Skip("memory is full")
				}
				for range rapid.IntRange(1, 3).Draw(rt, "packets") {
					s := rapid.SampledFrom(m.streams).Draw(rt, "stream")
					p := &modelPacket{context: s.context, commands: rapid.SliceOfN(command, 0, 6).Draw(rt, "commands")}
					p.buf = cmdbuf.New().Add(p.commands...)
					m.renumber([]*modelPacket{p})
					s.packets = append(s.packets, p)
					submit(s, p, 0)
				}
			},
			"CPU signal": func(rt *rapid.T) {
				f, v := fence(rt), value(rt)
				if !m.always[f.va] {
					m.values[f.va] = v
					b.set(f, v, 0)
				}
			},
			"peer": func(rt *rapid.T) {
				f, v := fence(rt), value(rt)
				if !m.always[f.va] {
					m.values[f.va] = v
					b.poke(f.va, v)
					must(t, b.g.KickNativeFence(ddi.DxgNativeFence(f.va)))
				}
			},
			"CPU wait": func(rt *rapid.T) {
				f, v := fence(rt), value(rt)-1 // MaxUint64: nobody waits
				m.monitored[f.va] = v
				b.monitor(f, v)
			},
			"loss": func(rt *rapid.T) {
				f := fence(rt)
				if rapid.IntRange(0, 9).Draw(rt, "often") == 0 {
					m.values[f.va], m.always[f.va] = any64, true
					b.set(f, any64, ddi.AlwaysSignaled)
				}
			},
			"suspend": func(rt *rapid.T) {
				s := rapid.SampledFrom(m.streams).Draw(rt, "stream")
				b.g.SuspendContext(s.context, 1)
				s.off = s.queue != 0
			},
			"resume": func(rt *rapid.T) {
				s := rapid.SampledFrom(m.streams).Draw(rt, "stream")
				must(t, b.g.ResumeContext(s.context))
				if s.off {
					m.renumber(s.packets)
				}
				s.off = false
			},
			"preempt": func(rt *rapid.T) {
				s := m.streams[3*rapid.IntRange(0, 1).Draw(rt, "engine")]
				preempts++
				b.g.PreemptCommand(ddi.Engine{NodeOrdinal: s.engine}, preempts)
				b.advance(b.k.now)
				m.renumber(s.packets)
				for _, p := range s.packets {
					submit(s, p, ddi.SubmitResubmission)
				}
			},
		})
	})
}
