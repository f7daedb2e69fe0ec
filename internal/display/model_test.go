package display

import (
	"cmp"
	"slices"
)

// modelRates are those of the targets in random scripts.
var modelRates = []uint32{60_000, 144_000}

// model plays a script in the plainest way: moment after moment, one vertical sync
// after the other, looking at everything each time.
func model(list []action, end int64) (fired []Fired) {
	targets := make([]modelTarget, len(modelRates))
	for i := range targets {
		targets[i] = modelTarget{on: true, start: begin, rate: modelRates[i], notes: map[uint32]*modelNote{}}
	}
	for {
		// The next moment at which anything happens, and all that happens then.
		now := begin + end + 1
		if len(list) > 0 {
			now = begin + list[0].at
		}
		for i := range targets {
			now = min(now, targets[i].next(now))
		}
		if now > begin+end {
			slices.SortFunc(fired, func(a, b Fired) int {
				return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Target, b.Target), cmp.Compare(a.ID, b.ID))
			})
			return fired
		}
		for i := range targets {
			t := &targets[i]
			fired = t.fire(now, uint32(i), fired)
			if t.on && t.vsync(t.k+1) == now {
				t.pass()
				fired = t.fire(now, uint32(i), fired)
			}
		}
		for len(list) > 0 && begin+list[0].at == now {
			targets[list[0].target].do(now, list[0])
			list = list[1:]
			for i := range targets {
				fired = targets[i].fire(now, uint32(i), fired)
			}
		}
	}
}

type modelTarget struct {
	on       bool
	start, k int64 // k vertical syncs were since the start
	rate     uint32
	newRate  uint32 // 0: it stays
	notes    map[uint32]*modelNote
}

type modelNote struct {
	lead int64
	done bool // fired for the vertical sync that comes
}

func (t *modelTarget) vsync(k int64) int64 { return exact(t.start, k, t.rate) }

func (t *modelTarget) instant(n *modelNote) int64 {
	return max(t.vsync(t.k+1)-n.lead, t.vsync(t.k))
}

func (t *modelTarget) next(now int64) int64 {
	if t.on {
		now = min(now, t.vsync(t.k+1))
		for _, n := range t.notes {
			if !n.done {
				now = min(now, t.instant(n))
			}
		}
	}
	return now
}

func (t *modelTarget) fire(now int64, target uint32, fired []Fired) []Fired {
	for id, n := range t.notes {
		if t.on && !n.done && t.instant(n) == now {
			n.done = true
			fired = append(fired, Fired{now, target, id, 1})
		}
	}
	return fired
}

func (t *modelTarget) pass() {
	t.k++
	if t.newRate != 0 {
		t.start, t.k, t.rate, t.newRate = t.vsync(t.k), 0, t.newRate, 0
	}
	t.again()
}

func (t *modelTarget) again() {
	for _, n := range t.notes {
		n.done = false
	}
}

func (t *modelTarget) do(now int64, a action) {
	switch a.kind {
	case create:
		refresh := t.rate
		if t.newRate != 0 {
			refresh = t.newRate
		}
		if t.notes[a.id] == nil && a.time*100*uint64(refresh) <= span {
			n := &modelNote{lead: int64(a.time) * 100}
			n.done = t.on && t.instant(n) <= now
			t.notes[a.id] = n
		}
	case destroy:
		delete(t.notes, a.id)
	case setRefresh:
		switch {
		case !t.on:
			t.rate = a.refresh
		case t.rate == a.refresh:
			t.newRate = 0
		default:
			t.newRate = a.refresh
		}
	case setOn:
		if !t.on {
			t.on, t.start, t.k = true, now, 0
			t.again()
		}
	case setOff:
		if t.newRate != 0 {
			t.rate, t.newRate = t.newRate, 0
		}
		t.on = false
	}
}
