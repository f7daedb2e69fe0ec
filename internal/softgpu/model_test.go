package softgpu

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"pgregory.net/rapid"
)

// Each stream of a random program, a context or a hardware queue, has a region of
// memory of its own.
const region = 512

// drawCommand is a command within a region. What runs twice there gives the same as
// once if again is set.
func drawCommand(t *rapid.T, at uint64, again bool) cmdbuf.Command {
	va := at + 8*rapid.Uint64Range(0, region/8-1).Draw(t, "va")
	switch rapid.IntRange(0, 6).Draw(t, "command") {
	case 0:
		return cmdbuf.Write64{VA: va, Value: rapid.Uint64().Draw(t, "value")}
	case 1:
		return cmdbuf.Write32{VA: va + 4, Value: rapid.Uint32().Draw(t, "value")}
	case 2:
		return cmdbuf.Signal{VA: va, Value: rapid.Uint64().Draw(t, "value")}
	case 3:
		return cmdbuf.Delay{Nanoseconds: rapid.Uint64Range(0, 20).Draw(t, "ns"), Flags: cmdbuf.DelayFlags(rapid.Uint64Range(0, 1).Draw(t, "flags"))}
	case 4:
		return cmdbuf.Fill{Dst: va, Pattern: rapid.Uint32().Draw(t, "pattern"), Bytes: rapid.Uint64Range(0, at+region-va).Draw(t, "bytes")}
	case 5:
		if !again {
			n := rapid.Uint64Range(0, region/2).Draw(t, "bytes")
			return cmdbuf.Copy{Dst: at + rapid.Uint64Range(0, region-n).Draw(t, "dst"), Src: at + rapid.Uint64Range(0, region-n).Draw(t, "src"), Bytes: n}
		}
	}
	return cmdbuf.Nop{}
}

func drawCommands(t *rapid.T, at uint64, again bool) []cmdbuf.Command {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) cmdbuf.Command { return drawCommand(t, at, again) }), 0, 12).Draw(t, "commands")
}

// interpret is what commands do to memory, and how long they take.
func interpret(m *memory, commands []cmdbuf.Command) (time int64) {
	for _, c := range commands {
		switch c := c.(type) {
		case cmdbuf.Write64:
			m.Store64(0, c.VA, c.Value)
		case cmdbuf.Write32:
			m.Store32(0, c.VA, c.Value)
		case cmdbuf.Signal:
			m.Store64(0, c.VA, c.Value)
		case cmdbuf.Copy:
			copy(m.b[c.Dst-base:], bytes.Clone(m.b[c.Src-base:c.Src-base+c.Bytes]))
		case cmdbuf.Fill:
			for i := range c.Bytes {
				m.b[c.Dst-base+i] = byte(c.Pattern >> (8 * (i % 4)))
			}
		case cmdbuf.Delay:
			time += int64(c.Nanoseconds)
		}
	}
	return time
}

// Random programs on two engines end with the memory and at the moments that a
// straightforward interpreter gives.
func TestProgramsAgainstAnInterpreter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, nil)
		b.k.during, b.m.log = nil, nil
		model := newMemory()
		var free [2]int64 // when the engine is done
		var ends [2][]int64
		var got [2][]int64
		contexts := [2]ddi.KmdContext{b.context(node0), b.context(ddi.Engine{NodeOrdinal: 1})}
		b.k.during = func() {
			if i, ok := b.k.interrupts[len(b.k.interrupts)-1].(ddi.DmaCompleted); ok {
				got[i.Engine.NodeOrdinal] = append(got[i.Engine.NodeOrdinal], b.k.now)
			}
		}
		for range rapid.IntRange(1, 12).Draw(rt, "packets") {
			n := rapid.Uint32Range(0, 1).Draw(rt, "engine")
			commands := drawCommands(rt, base+uint64(n)*region, false)
			b.submit(contexts[n], cmdbuf.New().Add(commands...), 0, ddi.Engine{NodeOrdinal: n})
			free[n] = max(free[n], b.k.now) + interpret(model, commands)
			ends[n] = append(ends[n], free[n])
			b.advance(b.k.now + rapid.Int64Range(0, 40).Draw(rt, "pause"))
		}
		b.advance(1e6)
		if !bytes.Equal(b.m.b[:2*region], model.b[:2*region]) {
			rt.Fatal("the memory differs")
		}
		if fmt.Sprint(got) != fmt.Sprint(ends) {
			rt.Fatalf("packets ended at %v, want %v", got, ends)
		}
	})
}

// A lane is a context or a queue with the packets that it still has to end, oldest
// first.
type lane struct {
	context ddi.KmdContext
	queue   ddi.KmdHwQueue // 0: the context's own
	at      uint64
	packets []*job
}

type job struct {
	buf *cmdbuf.Buffer
	id  uint64
}

// Whatever is preempted, suspended and submitted again, and however late the clock is:
// each stream does what it should, in order, and each request is answered.
func TestDisturbedPrograms(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, nil)
		b.m.log = nil
		model := newMemory()
		var streams []*lane
		for i := range uint64(4) {
			s := &lane{context: b.context(node0), at: base + i*region}
			if i%2 == 1 {
				s.queue = b.queue(s.context, s.at)
			}
			streams = append(streams, s)
		}
		preempts, answered, suspended := uint32(0), uint32(0), map[ddi.KmdContext]bool{}
		again := func() { // after a preemption, in the order of before
			var jobs []*job
			by := map[*job]*lane{}
			for _, s := range streams {
				if s.queue == 0 {
					for _, j := range s.packets {
						jobs, by[j] = append(jobs, j), s
					}
				}
			}
			slices.SortFunc(jobs, func(x, y *job) int { return int(x.id) - int(y.id) })
			for _, j := range jobs {
				j.id = uint64(b.submit(by[j].context, j.buf, ddi.SubmitResubmission))
			}
		}
		handle := func(from int) {
			for _, i := range b.k.interrupts[from:] {
				switch i := i.(type) {
				case ddi.DmaCompleted:
					for _, s := range streams {
						if s.queue == 0 && len(s.packets) > 0 && s.packets[0].id == uint64(i.SubmissionFenceID) {
							s.packets = s.packets[1:]
						}
					}
				case ddi.DmaPreempted:
					if i.PreemptionFenceID != preempts {
						rt.Fatalf("%v answers preemption %d", i, preempts)
					}
					answered++
					again()
				case ddi.SuspendContextCompleted:
					suspended[i.Context] = true
				case ddi.DmaRead, ddi.MonitoredFenceSignaled:
				default:
					rt.Fatal(i)
				}
			}
		}
		advance := func() {
			from := len(b.k.interrupts)
			b.g.Advance(b.k.now)
			handle(from)
		}
		pending := func() bool { return answered != preempts }
		rt.Repeat(map[string]func(*rapid.T){
			"submit": func(rt *rapid.T) {
				if pending() || len(b.k.interrupts) > 500 {
					rt.Skip("a preemption is under way")
				}
				s := rapid.SampledFrom(streams).Draw(rt, "stream")
				commands := drawCommands(rt, s.at, true)
				interpret(model, commands)
				j := &job{buf: cmdbuf.New().Add(commands...)}
				if s.queue == 0 {
					j.id = uint64(b.submit(s.context, j.buf, 0))
					s.packets = append(s.packets, j)
				} else {
					b.submitHw(s.queue, 1, j.buf, 0)
				}
			},
			"advance": func(rt *rapid.T) {
				b.k.now += rapid.Int64Range(0, 60).Draw(rt, "time")
				advance()
			},
			"step": func(*rapid.T) {
				if at, ok := b.g.Next(); ok {
					b.k.now = max(b.k.now, at)
					advance()
				}
			},
			"preempt": func(rt *rapid.T) {
				if pending() {
					rt.Skip("one is under way")
				}
				preempts++
				b.g.PreemptCommand(node0, preempts)
			},
			"suspend": func(rt *rapid.T) {
				s := rapid.SampledFrom(streams).Draw(rt, "stream")
				if st := b.g.SuspendContext(s.context, 1); (st == abi.StatusSuccess) != suspended[s.context] {
					rt.Fatal(st)
				}
			},
			"resume": func(rt *rapid.T) {
				s := rapid.SampledFrom(streams).Draw(rt, "stream")
				must(t, b.g.ResumeContext(s.context))
				suspended[s.context] = false
			},
		})
		for _, s := range streams {
			must(t, b.g.ResumeContext(s.context))
		}
		for range 10_000 {
			at, ok := b.g.Next()
			if !ok {
				break
			}
			b.k.now = max(b.k.now, at)
			advance()
		}
		for i, s := range streams {
			if len(s.packets) != 0 || pending() {
				rt.Fatalf("stream %d has %d packets left", i, len(s.packets))
			}
		}
		if !bytes.Equal(b.m.b[:4*region], model.b[:4*region]) {
			rt.Fatal("the memory differs")
		}
	})
}
