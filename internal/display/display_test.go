package display

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

const begin = 1_000_000_007 // an odd moment to start at

func must(t *testing.T, s abi.Status) {
	t.Helper()
	if s != abi.StatusSuccess {
		t.Fatal(s)
	}
}

// instants are the moments of a list of firings.
func instants(fired []Fired) []int64 {
	list := []int64{}
	for _, f := range fired {
		list = append(list, f.At)
	}
	return list
}

func TestNotificationsFireBeforeEachVSync(t *testing.T) {
	for _, rate := range rates {
		interval := uint64(span / 100 / int64(rate)) // 100 ns units, rounded down
		for _, time := range []uint64{0, 1, interval / 2, interval - 1, interval} {
			t.Run(fmt.Sprintf("%d/%d", rate, time), func(t *testing.T) {
				d := New(begin, rate)
				must(t, d.Create(begin, 0, 7, time))
				// A whole interval ahead of the first vertical sync is now, which is over.
				first := int64(1)
				if exact(begin, 1, rate)-100*int64(time) == begin {
					first = 2
				}
				for k := first; k < first+50; k++ {
					want := exact(begin, k, rate) - 100*int64(time)
					if at, ok := d.Next(); at != want || !ok {
						t.Fatalf("vertical sync %d: next is %d, %v, want %d", k, at, ok, want)
					}
					if early := d.Advance(want - 1); len(early) != 0 {
						t.Fatalf("vertical sync %d: early: %v", k, early)
					}
					if got := d.Advance(want); len(got) != 1 || got[0] != (Fired{want, 0, 7, 1}) {
						t.Fatalf("vertical sync %d: fired %v, want one at %d", k, got, want)
					}
				}
			})
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	for _, rate := range rates {
		d := New(0, rate)
		limit := uint64(span / 100 / int64(rate))
		if s := d.Create(0, 0, 1, limit+1); s != abi.StatusInvalidParameter {
			t.Errorf("%d: longer than an interval: %v", rate, s)
		}
		if s := d.Create(0, 0, 1, math.MaxUint64); s != abi.StatusInvalidParameter {
			t.Errorf("%d: longer than everything: %v", rate, s)
		}
		must(t, d.Create(0, 0, 1, limit)) // as long as one
	}
	d := New(0, 60_000, 60_000)
	must(t, d.Create(0, 1, 5, 0))
	must(t, d.Create(0, 0, 5, 0)) // numbers belong to a target
	for name, s := range map[string]abi.Status{
		"unknown target":        d.Create(0, 2, 1, 0),
		"all targets":           d.Create(0, 0xFFFFFFFD, 1, 0),
		"number twice":          d.Create(0, 1, 5, 1),
		"destroy unknown":       d.Destroy(1, 6),
		"destroy, no target":    d.Destroy(2, 5),
		"rate of no target":     d.SetRefresh(0, 2, 60_000),
		"rate too low":          d.SetRefresh(0, 0, MinRefresh-1),
		"rate too high":         d.SetRefresh(0, 0, MaxRefresh+1),
		"power of no target":    d.SetOn(0, 2, true),
		"power off, no target":  d.SetOn(0, math.MaxUint32, false),
		"destroy, far away":     d.Destroy(math.MaxUint32, 5),
		"rate far away":         d.SetRefresh(0, math.MaxUint32, 60_000),
		"notification far away": d.Create(0, math.MaxUint32, 1, 0),
	} {
		if s != abi.StatusInvalidParameter {
			t.Errorf("%s: %v", name, s)
		}
	}
	if d.Refresh(0) != 60_000 || d.Refresh(2) != 0 || d.State(1) != Steady || d.State(2) != Off {
		t.Error("a refused call changed something, or a target was invented")
	}
}

func TestNotificationsAreBounded(t *testing.T) {
	d := New(0, 60_000, 60_000)
	for i := range uint32(MaxNotifications) {
		must(t, d.Create(0, i%2, i, 0))
	}
	if s := d.Create(0, 0, MaxNotifications, 0); s != abi.StatusNoMemory {
		t.Errorf("one too many: %v", s)
	}
	must(t, d.Destroy(1, 1))
	must(t, d.Create(0, 0, MaxNotifications, 0))
}

func TestFiringsAreInOrder(t *testing.T) {
	d := New(0, 50_000, 50_000) // an interval is 20 ms
	for _, n := range []struct{ target, id uint32 }{{1, 2}, {0, 9}, {1, 1}, {0, 3}} {
		must(t, d.Create(0, n.target, n.id, 100_000))
	}
	must(t, d.Create(0, 0, 1, 50_000))
	var want []Fired
	for k := range int64(3) {
		at := 10e6 + k*20e6
		want = append(want, Fired{at, 0, 3, 1}, Fired{at, 0, 9, 1}, Fired{at, 1, 1, 1}, Fired{at, 1, 2, 1}, Fired{at + 5e6, 0, 1, 1})
	}
	if got := d.Advance(60e6); !slices.Equal(got, want) {
		t.Errorf("fired %v\nwant  %v", got, want)
	}
}

func TestDestroyLosesWhatIsDue(t *testing.T) {
	d := New(0, 50_000)
	must(t, d.Create(0, 0, 1, 0))
	must(t, d.Create(0, 0, 2, 0))
	must(t, d.Create(60e6, 0, 3, 0)) // time passed: 1 and 2 are due
	if at, ok := d.Next(); at != 20e6 || !ok {
		t.Errorf("next is %d, %v, want what is due", at, ok)
	}
	must(t, d.Destroy(0, 1))
	if got, want := d.Advance(60e6), []Fired{{20e6, 0, 2, 1}, {40e6, 0, 2, 1}, {60e6, 0, 2, 1}}; !slices.Equal(got, want) {
		t.Errorf("fired %v, want %v", got, want)
	}
	must(t, d.Destroy(0, 2))
	must(t, d.Destroy(0, 3))
	if at, ok := d.Next(); ok {
		t.Errorf("nothing is left, and next is %d", at)
	}
}

// 50 Hz, 20 ms; 100 Hz, 10 ms. Times in milliseconds.
func TestRefreshChangesWithTheNextVSync(t *testing.T) {
	tests := []struct {
		name string
		lead uint64
		to   []struct{ at, refresh int64 }
		want []int64 // up to 100 ms
	}{
		{"faster", 0, steps(25, 100_000), []int64{20, 40, 50, 60, 70, 80, 90, 100}},
		{"faster, 5 ms before", 5, steps(25, 100_000), []int64{15, 35, 45, 55, 65, 75, 85, 95}},
		// 15 ms are longer than the new interval: the vertical sync before.
		{"faster, too long before", 15, steps(22, 100_000), []int64{5, 25, 40, 50, 60, 70, 80, 90, 100}},
		{"at a vertical sync", 0, steps(20, 100_000), []int64{20, 40, 50, 60, 70, 80, 90, 100}},
		{"slower", 0, steps(25, 25_000), []int64{20, 40, 80}},
		{"slower, whole interval before", 20, steps(25, 25_000), []int64{20, 60, 100}},
		{"there and back within one interval", 0, steps(22, 100_000, 30, 50_000), []int64{20, 40, 60, 80, 100}},
		{"newest counts", 0, steps(22, 100_000, 30, 25_000), []int64{20, 40, 80}},
		{"there and back", 15, steps(22, 100_000, 55, 50_000), []int64{5, 25, 40, 50, 65, 85}},
		{"same", 0, steps(22, 50_000), []int64{20, 40, 60, 80, 100}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := New(0, 50_000)
			must(t, d.Create(0, 0, 1, tt.lead*10_000))
			for _, s := range tt.to {
				must(t, d.SetRefresh(s.at*1e6, 0, uint32(s.refresh)))
				if d.Refresh(0) != uint32(s.refresh) {
					t.Errorf("the rate is %d, was set to %d", d.Refresh(0), s.refresh)
				}
			}
			got := instants(d.Advance(100e6))
			for i := range got {
				got[i] /= 1e6
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("fired at %v\nwant     %v", got, tt.want)
			}
		})
	}
}

func steps(v ...int64) (list []struct{ at, refresh int64 }) {
	for i := 0; i < len(v); i += 2 {
		list = append(list, struct{ at, refresh int64 }{v[i], v[i+1]})
	}
	return list
}

func TestTimeIsComparedWithTheRateThatWasSet(t *testing.T) {
	d := New(0, 50_000)
	must(t, d.SetRefresh(5e6, 0, 100_000))
	if s := d.Create(6e6, 0, 1, 100_001); s != abi.StatusInvalidParameter {
		t.Errorf("longer than the new interval: %v", s)
	}
	must(t, d.SetRefresh(7e6, 0, 25_000))
	must(t, d.Create(8e6, 0, 1, 400_000))
	// Behind the vertical sync at 20 ms, which it cannot precede by 40 ms any more.
	if got := instants(d.Advance(70e6)); !slices.Equal(got, []int64{20e6, 60e6}) {
		t.Errorf("fired at %v", got)
	}
}

func TestNothingFiresWhileOff(t *testing.T) {
	d := New(0, 50_000)
	must(t, d.Create(0, 0, 1, 50_000))
	must(t, d.SetOn(50e6, 0, false)) // 15 and 35 ms are due
	if got := instants(d.Advance(50e6)); !slices.Equal(got, []int64{15e6, 35e6}) {
		t.Errorf("before it was off: %v", got)
	}
	if at, ok := d.Next(); ok {
		t.Errorf("while off next is %d", at)
	}
	must(t, d.Create(60e6, 0, 2, 0)) // can be made while off
	must(t, d.SetRefresh(70e6, 0, 100_000))
	if got := d.Advance(1e9 - 1); len(got) != 0 {
		t.Errorf("while off: %v", got)
	}
	must(t, d.SetOn(1e9, 0, true))
	want := []Fired{{1e9 + 5e6, 0, 1, 1}, {1e9 + 10e6, 0, 2, 1}, {1e9 + 15e6, 0, 1, 1}, {1e9 + 20e6, 0, 2, 1}}
	if got := d.Advance(1e9 + 20e6); !slices.Equal(got, want) {
		t.Errorf("on again: %v\nwant %v", got, want)
	}
}

func TestClockThatGoesBackStandsStill(t *testing.T) {
	d := New(100e6, 50_000)
	must(t, d.Create(0, 0, 1, 0))
	must(t, d.SetRefresh(0, 0, 100_000))
	if got := instants(d.Advance(150e6)); !slices.Equal(got, []int64{120e6, 130e6, 140e6, 150e6}) {
		t.Errorf("fired at %v", got)
	}
	if got := d.Advance(0); len(got) != 0 {
		t.Errorf("fired again: %v", got)
	}
}

// An hour of sleep is one firing, which counts for all.
func TestLateFiringsAreOne(t *testing.T) {
	const hour = 3_600_000_000_000
	d := New(0, 240_000, 60_000)
	must(t, d.Create(0, 0, 1, 0))
	must(t, d.Create(0, 1, 2, 0))
	want := []Fired{{hour, 0, 1, 240 * 3600}, {hour, 1, 2, 60 * 3600}}
	if got := d.Advance(hour); !slices.Equal(got, want) {
		t.Errorf("fired %v, want %v", got, want)
	}
	// The bound: MaxLate come one by one, however they became due.
	tick := func(k int64) int64 { return hour + exact(0, k, 240_000) }
	must(t, d.Destroy(1, 2))
	if got := d.Advance(tick(MaxLate)); len(got) != MaxLate || got[0] != (Fired{tick(1), 0, 1, 1}) {
		t.Errorf("%d firings, want %d", len(got), MaxLate)
	}
	for k := range int64(MaxLate + 1) { // each makes one more due
		must(t, d.SetRefresh(tick(MaxLate+1+k), 0, 240_000))
	}
	if got := d.Advance(0); !slices.Equal(got, []Fired{{tick(2*MaxLate + 1), 0, 1, MaxLate + 1}}) {
		t.Errorf("fired %v, want one for %d", got, MaxLate+1)
	}
	if got := d.Advance(tick(2*MaxLate + 2)); !slices.Equal(got, []Fired{{tick(2*MaxLate + 2), 0, 1, 1}}) {
		t.Errorf("afterwards %v, want one", got)
	}
}

// Every state with every event, as in the table at target.
func TestStates(t *testing.T) {
	events := map[string]func(d *Targets){
		"SetRefresh":      func(d *Targets) { d.SetRefresh(5e6, 0, 40_000) },
		"SetRefresh same": func(d *Targets) { d.SetRefresh(5e6, 0, 50_000) },
		"vertical sync":   func(d *Targets) { d.Advance(20e6) },
		"SetOn(true)":     func(d *Targets) { d.SetOn(5e6, 0, true) },
		"SetOn(false)":    func(d *Targets) { d.SetOn(5e6, 0, false) },
	}
	enter := map[State]func(d *Targets){ // from 50 Hz
		Off:     func(d *Targets) { d.SetOn(1e6, 0, false) },
		Steady:  func(*Targets) {},
		Turning: func(d *Targets) { d.SetRefresh(1e6, 0, 100_000) },
	}
	type result struct {
		state   State
		refresh uint32
	}
	want := map[State]map[string]result{
		Off: {
			"SetRefresh": {Off, 40_000}, "SetRefresh same": {Off, 50_000}, "vertical sync": {Off, 50_000},
			"SetOn(true)": {Steady, 50_000}, "SetOn(false)": {Off, 50_000},
		},
		Steady: {
			"SetRefresh": {Turning, 40_000}, "SetRefresh same": {Steady, 50_000}, "vertical sync": {Steady, 50_000},
			"SetOn(true)": {Steady, 50_000}, "SetOn(false)": {Off, 50_000},
		},
		Turning: {
			"SetRefresh": {Turning, 40_000}, "SetRefresh same": {Steady, 50_000}, "vertical sync": {Steady, 100_000},
			"SetOn(true)": {Turning, 100_000}, "SetOn(false)": {Off, 100_000},
		},
	}
	for state, prepare := range enter {
		for event, do := range events {
			d := New(0, 50_000)
			must(t, d.Create(0, 0, 1, 0))
			prepare(d)
			if d.State(0) != state {
				t.Fatalf("not %v but %v", state, d.State(0))
			}
			do(d)
			if got := (result{d.State(0), d.Refresh(0)}); got != want[state][event] {
				t.Errorf("%v, %s: %v, want %v", state, event, got, want[state][event])
			}
			if _, ok := d.Next(); ok != (d.State(0) != Off) {
				t.Errorf("%v, %s: there is a next one: %v", state, event, ok)
			}
		}
	}
}

// An action of a script.
type action struct {
	at      int64
	kind    int
	target  uint32
	id      uint32
	refresh uint32
	time    uint64
}

// The kinds of actions.
const (
	create = iota
	destroy
	setRefresh
	setOn
	setOff
	kinds
)

func (a action) do(d *Targets, now int64) abi.Status {
	switch a.kind {
	case create:
		return d.Create(now, a.target, a.id, a.time)
	case destroy: // what is due goes with it, so it must be collected before
		return d.Destroy(a.target, a.id)
	case setRefresh:
		return d.SetRefresh(now, a.target, a.refresh)
	default:
		return d.SetOn(now, a.target, a.kind == setOn)
	}
}

func script(r *rand.Rand, end int64) []action {
	list := make([]action, 40)
	for i := range list {
		a := action{at: r.Int64N(end), kind: r.IntN(kinds), target: r.Uint32N(2), id: r.Uint32N(6)}
		if r.IntN(3) == 0 {
			a.kind = create
		}
		a.refresh = rates[2+r.IntN(len(rates)-4)]
		a.time = r.Uint64N(span/100/uint64(a.refresh) + 1)
		list[i] = a
	}
	slices.SortStableFunc(list, func(a, b action) int { return cmp.Compare(a.at, b.at) })
	return list
}

// play runs a script, with Advance at every step of next, and returns everything that
// fired and every status.
func play(list []action, end int64, next func(now int64) int64) (fired []Fired, statuses []abi.Status) {
	d := New(begin, modelRates...)
	now := int64(0)
	for step := next(0); ; {
		if len(list) > 0 && list[0].at <= step {
			now = list[0].at
			fired = append(fired, d.Advance(begin+now)...)
			statuses = append(statuses, list[0].do(d, begin+now))
			list = list[1:]
			continue
		}
		if step >= end {
			return append(fired, d.Advance(begin+end)...), statuses
		}
		now = step
		fired = append(fired, d.Advance(begin+now)...)
		step = next(now)
	}
}

// Over any partition of a span of time, the same firings come out.
func TestPartitionsAgree(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	const end = 250_000_000 // fewer than MaxLate intervals of the fastest rate that is used
	for round := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, round))
		list := script(r, end)
		whole, statuses := play(list, end, func(int64) int64 { return end })
		for name, next := range map[string]func(now int64) int64{
			"microseconds": func(now int64) int64 { return now + 1 + r.Int64N(200_000) },
			"milliseconds": func(now int64) int64 { return now + 1 + r.Int64N(50_000_000) },
		} {
			parts, again := play(list, end, next)
			if !slices.Equal(parts, whole) || !slices.Equal(statuses, again) {
				t.Fatalf("seed %d, round %d, steps of %s:\n%v\nin one step:\n%v", seed, round, name, parts, whole)
			}
		}
		if slow := model(list, end); !slices.Equal(slow, whole) {
			t.Fatalf("seed %d, round %d: %v\n%v\nthe model says\n%v", seed, round, list, whole, slow)
		}
	}
}

// Actions alone, without Advance between them, lose nothing either.
func TestActionsAloneLoseNothing(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	const end = 250_000_000
	for round := range uint64(300) {
		list := slices.DeleteFunc(script(rand.New(rand.NewPCG(seed, round)), end), func(a action) bool { return a.kind == destroy })
		d := New(begin, modelRates...)
		for _, a := range list {
			a.do(d, begin+a.at)
		}
		if got, want := d.Advance(begin+end), model(list, end); !slices.Equal(got, want) {
			t.Fatalf("seed %d, round %d: %v\n%v\nthe model says\n%v", seed, round, list, got, want)
		}
	}
}

// Whenever Next says, something fires, and never before.
func TestNextIsExact(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	const end = 250_000_000
	for round := range uint64(100) {
		list := script(rand.New(rand.NewPCG(seed, round)), end)
		d := New(begin, modelRates...)
		for {
			at, ok := d.Next()
			if ok && at <= d.now { // due by now: switched on a whole interval ahead of it
				d.Advance(at)
				continue
			}
			if len(list) > 0 && (!ok || begin+list[0].at < at) {
				list[0].do(d, begin+list[0].at)
				list = list[1:]
				continue
			}
			if !ok || at > begin+end {
				break
			}
			if early := d.Advance(at - 1); len(early) != 0 {
				t.Fatalf("seed %d, round %d: before %d: %v", seed, round, at, early)
			}
			if got := d.Advance(at); len(got) == 0 || got[0].At != at {
				t.Fatalf("seed %d, round %d: at %d: %v", seed, round, at, got)
			}
		}
	}
}
