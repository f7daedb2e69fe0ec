package sim

import (
	"fmt"
	"strings"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/kernel"
)

// A World is a kernel and its model side by side.
type World struct {
	choose  *source
	host    *host
	kernel  *kernel.Kernel
	puppets []*puppet
	model   *model
	procs   []*kernel.Process
	clock   int64

	adapterHandles [][]abi.Handle // by process
	buffers        map[uint64]*buffer
	events         map[int]*mEvent // by descriptor
	eventList      []int
	handles        []named // that ever were, for calls that are to fail
	objects        int
	names          map[named]string

	log   []string // the program, and what came of it
	trace *trace   // beside what drivers were asked and events that were set; nil: nobody reads it
	err   string   // the first difference
}

type named struct {
	proc   int
	handle abi.Handle
}

// engines of the adapters: the first is a link of two.
var engineCounts = [2]int{2, 1}

// newWorld makes a world. What its drivers can do is chosen, too.
func newWorld(choose *source, trace *trace, profiles []*adapter.Profile) *World {
	w := &World{
		choose: choose, trace: trace, host: newHost(trace), buffers: map[uint64]*buffer{}, events: map[int]*mEvent{}, names: map[named]string{},
		model: &model{shares: map[int]*mShare{}},
	}
	var caps [2]ddi.Caps
	var wishes [2]ddi.NativeFenceCaps
	for i := range caps {
		caps[i] = []ddi.Caps{ddi.PerEngineReset | ddi.ReportsRead, ddi.PerEngineReset, ddi.ReportsRead, 0}[choose.Int(4)]
		if choose.Int(3) > 0 {
			caps[i] |= ddi.HwScheduling
			if choose.Int(3) > 0 {
				caps[i] |= ddi.NativeGpuFence
				if choose.Int(2) > 0 {
					caps[i] |= ddi.DirectSignal
				}
			}
		}
		wishes[i] = ddi.NativeFenceCaps{MonitoredValueStride: []uint32{0, 8, 2048}[choose.Int(3)], MapToGpuSystemProcess: choose.Int(2) == 0}
		w.say("adapter %d: %v, %+v", i, caps[i], wishes[i])
	}
	k, err := kernel.New(kernel.Config{
		Profiles: profiles, Host: w.host, Now: func() int64 { return w.clock },
		Random: func() uint32 { return uint32(w.choose.Int(1 << 24)) },
		Driver: func(p *adapter.Profile) ddi.Driver {
			d := newPuppet(caps[len(w.puppets)], trace, w.buffers, len(p.Nodes), p.Engines())
			d.nativeCaps = wishes[len(w.puppets)]
			w.puppets = append(w.puppets, d)
			return d
		},
	})
	if err != nil {
		panic(err)
	}
	w.kernel = k
	for i, p := range w.puppets {
		p.slow = choose.Int(2) == 1
		a := &mAdapter{index: i, caps: p.caps, slow: p.slow}
		for _, e := range p.order {
			a.engines = append(a.engines, &mEngine{adapter: a, name: e.name})
		}
		w.model.adapters = append(w.model.adapters, a)
	}
	return w
}

// Profiles are those of the world's adapters.
func Profiles() ([]*adapter.Profile, error) {
	list, err := adapter.LoadAll([]string{"neutral", "neutral"})
	if err != nil {
		return nil, err
	}
	for i, p := range list {
		p.PhysicalAdapters = engineCounts[i]
		p.Nodes = p.Nodes[:2]
		if err := p.Validate(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (w *World) say(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
	w.trace.say(format, args...)
}

// A trace is everything that happened, in order. A nil one forgets.
type trace []string

func (t *trace) say(format string, args ...any) {
	if t != nil {
		*t = append(*t, fmt.Sprintf(format, args...))
	}
}

// differ notes a difference between kernel and model.
func (w *World) differ(format string, args ...any) {
	if w.err == "" {
		w.err = fmt.Sprintf(format, args...)
		w.say("DIFFERENCE: %s", w.err)
	}
}

// Err is the first difference, "" for none.
func (w *World) Err() string { return w.err }

// String is the program so far with the answers, a line each.
func (w *World) String() string { return "\n" + strings.Join(w.log, "\n") }

// answer compares the status of a call.
func (w *World) answer(got, want abi.Status, format string, args ...any) {
	call := fmt.Sprintf(format, args...)
	w.say("%s -> %s", call, got.Name())
	if got != want {
		w.differ("%s: the kernel answers %v, the model %v", call, got, want)
	}
}

// name gives a handle a name for the log.
func (w *World) name(p *mProc, h abi.Handle, kind string) {
	id := named{p.index, h}
	w.objects++
	w.names[id] = fmt.Sprintf("%s%d", kind, w.objects)
	w.handles = append(w.handles, id)
}

func (w *World) of(p *mProc, h abi.Handle) string {
	if n, ok := w.names[named{p.index, h}]; ok {
		if _, alive := p.table[h]; !alive {
			return n + "(gone)"
		}
		return n
	}
	return fmt.Sprintf("%#x", uint32(h))
}

func (w *World) list(p *mProc, hs []abi.Handle) string {
	var names []string
	for _, h := range hs {
		names = append(names, w.of(p, h))
	}
	return strings.Join(names, ",")
}

// advance moves the clock, from one moment at which something is due to the next.
func (w *World) advance(d int64) {
	end := w.clock + d
	for w.err == "" {
		at, _ := w.kernel.Next()
		if want := w.model.next(); at != want {
			w.differ("at %s something is due at %s, in the model at %s", ms(w.clock), ms(at), ms(want))
			return
		}
		if at > end {
			break
		}
		w.tick(max(at, w.clock))
	}
	w.tick(end)
}

func (w *World) tick(at int64) {
	w.clock, w.model.now = at, at
	w.kernel.Tick()
	w.model.tick()
	w.compare()
}

func ms(at int64) string {
	if at == never {
		return "never"
	}
	return fmt.Sprintf("%g ms", float64(at)/1e6)
}

// interrupt has a driver report something, as its own goroutine would.
func (w *World) interrupt(p *puppet, i ddi.Interrupt) {
	if i == nil {
		w.kernel.Next() // a store that lowered a value has let waits go on: the next operation does what follows
		return
	}
	p.cb.NotifyInterrupt(i)
	w.kernel.Tick()
}
