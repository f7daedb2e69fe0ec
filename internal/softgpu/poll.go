package softgpu

import "github.com/dxgsync/dxgsync/ddi"

// How the GPU looks at doorbells, in nanoseconds since the latest ring of any.
const (
	// step is how far apart looks are at least: short enough to be all the time in real
	// time, and yet one, so that a clock that stands still is not looked at for ever.
	step = 1_000
	// attentive is how long it looks all the time.
	attentive = 100_000
	// apart is how far apart looks are at most. Before that it is an eighth of the time
	// since the latest ring.
	apart = 1_000_000
	// restful is how long an engine has nothing to do, and no ring, until it rests.
	restful = 10_000_000
)

// poll looks at all doorbells that have a place, and at those that lost it a little while
// ago. The caller holds calling and mu.
func (g *GPU) poll(now int64) {
	g.reportSpoilt()
	if g.asleep || g.down {
		return
	}
	for _, b := range g.places { // nobody changes it now: calling is held
		if !g.notified {
			g.look(b, now)
		}
	}
	for i := 0; i < len(g.before); {
		if b := g.before[i]; b.again <= now {
			g.before = append(g.before[:i], g.before[i+1:]...)
			g.look(b, now)
		} else {
			i++
		}
	}
	g.reportSpoilt()
	if g.notified || len(g.places) == 0 {
		return
	}
	for _, e := range g.engines {
		g.rest(e, now)
	}
	quiet := now - g.rang
	if g.looks = now + step; quiet > attentive {
		g.looks = now + min(quiet/8, apart)
	}
}

// rest lets an engine go to F1 that has nothing to do and no ring for long. The kernel
// disconnects its doorbells then; until it does they are looked at as before.
func (g *GPU) rest(e *engine, now int64) {
	if e.bells == 0 || e.resting || now-e.rang < restful || e.running != nil || len(e.line)+len(e.stalls) > 0 {
		return
	}
	for _, c := range g.contexts {
		if c.engine == e && len(c.parked) > 0 {
			return
		}
	}
	e.resting = true
	g.notify(ddi.GpuEngineStateChange{Engine: e.name, NewState: ddi.EngineTransitionToF1})
}

// nextLook is when poll has something to do.
func (g *GPU) nextLook() (at int64, ok bool) {
	if len(g.spoilt) > 0 {
		return g.now, true
	}
	if g.asleep || g.down {
		return 0, false
	}
	if len(g.places) > 0 && !g.notified {
		at, ok = g.looks, true
	}
	for _, b := range g.before {
		if !ok || b.again < at {
			at, ok = b.again, true
		}
	}
	return at, ok
}
