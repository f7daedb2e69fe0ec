package softgpu

import "github.com/dxgsync/dxgsync/ddi"

// EngineState is what an engine does at a moment, for listings.
type EngineState struct {
	Engine  ddi.Engine
	Hung    bool // by Hang
	Held    bool // until ResumeHwEngine
	Waiting int  // packets behind the running one, and stalled ones
	Stalled int  // contexts as one and hardware queues that wait for native fences

	// The running packet. Nothing of it counts unless Running.
	Running bool
	Context ddi.KmdContext
	HwQueue ddi.KmdHwQueue // 0: it is a packet of the context
	FenceID uint64         // its SubmissionFenceID, or its progress id
	Command uint64         // how many of its commands are done
	Doing   string         // the command under way; empty between two
	Since   int64          // when it began, on the clock of Callbacks.Now
}

// Engines lists the engines, by engine ordinal, then node. It takes no lock that is
// held during callbacks.
func (g *GPU) Engines() []EngineState {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]EngineState, 0, len(g.engines))
	for _, e := range g.engines {
		s := EngineState{Engine: e.name, Hung: e.hung, Held: e.held, Waiting: e.line.waiting() + e.stalls.waiting(), Stalled: len(e.stalls)}
		if p := e.running; p != nil {
			s.Running, s.Context, s.FenceID, s.Command, s.Since = true, p.context.handle, p.id, p.ran, p.since
			if p.queue != nil {
				s.HwQueue = p.queue.handle
			}
			if p.command != nil {
				s.Doing = p.command.String()
			}
		}
		list = append(list, s)
	}
	return list
}

// NativeWaits lists what packets wait for, by engine. It takes no lock that is held during
// callbacks.
func (g *GPU) NativeWaits() []ddi.NativeWait {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []ddi.NativeWait
	for _, e := range g.engines {
		for _, s := range e.stalls {
			p := s.stalled
			w := ddi.NativeWait{Fence: p.wait.view.fence.name, Value: p.wait.value, Context: p.context.handle}
			if p.queue != nil {
				w.HwQueue = p.queue.handle
			}
			list = append(list, w)
		}
	}
	return list
}

// Holdings is how many things of the kernel the GPU knows.
type Holdings struct {
	Devices, Contexts, HwQueues, CpuEvents, Notifications int
	NativeFences, LocalNativeFences, Packets, Doorbells   int
}

// Holdings counts them, for tests that nothing is left behind.
func (g *GPU) Holdings() Holdings {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := Holdings{len(g.devices), len(g.contexts), len(g.queues), len(g.events), len(g.notes), len(g.fences), len(g.locals), 0, len(g.bells)}
	for _, e := range g.engines {
		h.Packets += e.line.waiting() + e.stalls.waiting()
		if e.running != nil {
			h.Packets++
		}
	}
	for _, c := range g.contexts {
		h.Packets += len(c.parked)
	}
	return h
}
