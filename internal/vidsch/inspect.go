package vidsch

import "github.com/dxgsync/dxgsync/ddi"

// An EngineInfo is what an engine does, for listings.
type EngineInfo struct {
	Name ddi.Engine
	// State is that of the table at Engine, or idle: it runs, and has nothing to run.
	State string
	// Running is whose packet runs, as far as the kernel knows: of hardware queues, which
	// the GPU schedules by itself, the one that came first. Nil: nobody's.
	Running *Queue
	// Since is when the packet, or with hardware queues the last progress, came: on the
	// driver's clock, in nanoseconds. Not of an idle engine.
	Since int64
	// AtGPU is how many packets the GPU has; Ready, how many queues have a packet for it
	// that it has not.
	AtGPU, Ready int
}

// Engines lists the engines, by node and then ordinal.
func (s *Scheduler) Engines() []EngineInfo {
	var list []EngineInfo
	s.each(func(e *Engine) { list = append(list, e.info()) })
	return list
}

func (e *Engine) info() EngineInfo {
	i := EngineInfo{Name: e.name, State: e.state.String(), AtGPU: len(e.flying), Ready: len(e.line)}
	for _, q := range e.hw.queues {
		i.AtGPU += len(q.flying)
	}
	switch {
	case len(e.flying) > 0:
		i.Running, i.Since = e.flying[0].queue, e.since
	case len(e.hw.queues) > 0:
		i.Running, i.Since = e.hw.queues[0], e.hw.since
	}
	switch {
	case e.scheduler.stopped:
		i.State = "stopped"
	case e.state == running && len(e.hw.leaving) > 0:
		i.State = preempting.String()
	case e.state == running && i.Running == nil:
		i.State = "idle"
	}
	return i
}
