package kernel

import (
	"fmt"
	"os"
	"testing"

	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/explore"
)

// exploreAll is set in the environment to explore programs that take minutes, too.
const exploreAll = "DXGSYNC_EXPLORE"

// toExplore reports whether a program is to be explored that is long, or not.
func toExplore(long bool) bool { return !long || os.Getenv(exploreAll) != "" }

// An order is a small program for the two values. least is how many states it has at least.
type order struct {
	name    string
	engines [][]uint64 // what each signals
	waits   []uint64   // by CPUs; the first may be withdrawn, if it does not stay
	signal  uint64     // by a CPU; 0: none
	stays   bool
	alarm   bool // the alarm has a thread of its own
	long    bool // only with exploreAll
	least   int
}

func (o order) program(t testing.TB, profile *adapter.Profile, named bool, wrong spoil) func(r *explore.Run) {
	return func(r *explore.Run) {
		var d *enginesDriver
		w := newNativeWorld(t, r, profile, func(w *nativeWorld) ddi.Driver {
			d = &enginesDriver{world: w, named: named}
			return d
		})
		w.spoil = wrong
		w.state = func() string { return fmt.Sprint(d.pending, d.running) }
		for i, goal := range o.waits {
			w.wait(goal, i == 0 && !o.stays)
		}
		if o.signal > 0 {
			w.signal(o.signal)
		}
		for _, values := range o.engines {
			d.engine(values...)
		}
		d.isr()
		if o.alarm {
			w.ticker()
		}
	}
}

// explored runs a program in every order and checks that it was worth it.
func explored(t *testing.T, least int, program func(r *explore.Run)) {
	t.Helper()
	stats, err := explore.All(program)
	t.Logf("%+v", stats)
	if err != nil {
		t.Error(err)
	}
	if stats.States < least || stats.Runs < stats.States {
		t.Errorf("%+v, but there are %d states", stats, least)
	}
}

// Engines that are goroutines of their own, one register of interrupts, and the kernel: in
// no order is a wait stuck, does one end early, is an interrupt lost, or does one come
// without a reason.
func TestNativeOrdersOfEngines(t *testing.T) {
	profile := nativeProfile(t, nil)
	for _, o := range []order{
		{name: "one of each", engines: [][]uint64{{1}}, waits: []uint64{1}, alarm: true, least: 280},
		{name: "two signals", engines: [][]uint64{{1, 2}}, waits: []uint64{2}, least: 120},
		{name: "two waits", engines: [][]uint64{{2}}, waits: []uint64{2, 1}, least: 850},
		{name: "two engines", engines: [][]uint64{{1}, {2}}, waits: []uint64{2}, least: 820},
		{name: "a CPU signals", engines: [][]uint64{{1}}, waits: []uint64{1}, signal: 2, least: 1200},
		{name: "two of each", engines: [][]uint64{{1}, {2}}, waits: []uint64{1, 2}, least: 11_000},
		{name: "four signals", engines: [][]uint64{{1, 3}, {2, 4}}, waits: []uint64{2}, long: true, least: 9000},
		{name: "four signals and two waits", engines: [][]uint64{{1, 3}, {2, 4}}, waits: []uint64{4, 2}, long: true, least: 9000},
		{name: "two of each, and the alarm", engines: [][]uint64{{1}, {2}}, waits: []uint64{1, 2}, alarm: true, long: true, least: 36_000},
	} {
		for _, named := range []bool{true, false} {
			if !toExplore(o.long || o.least > 5000 && (raced || !named)) {
				continue
			}
			t.Run(fmt.Sprintf("%s/named=%v", o.name, named), func(t *testing.T) {
				explored(t, o.least, o.program(t, profile, named, ""))
			})
		}
	}
}

// Every step that is done wrong is found.
func TestNativeOrdersOfEnginesNeedEachStep(t *testing.T) {
	profile := nativeProfile(t, nil)
	one := order{engines: [][]uint64{{1}}, waits: []uint64{1}}
	two := order{engines: [][]uint64{{1, 2}}, waits: []uint64{2, 1}}
	for _, c := range []struct {
		wrong spoil
		order order
		named bool
		finds string
	}{
		{"no look", one, true, "the wait for 1 is stuck"},
		{"update too late", order{engines: one.engines, waits: one.waits, stays: true}, true, "the wait for 1 is stuck"},
		{"check first", one, true, "the wait for 1 is stuck"},
		{"too far", two, true, "the wait for 2 is stuck"},
		{"off by one", one, true, "the wait for 1 is stuck"},
		{"no check", one, true, "the GPU interrupts for 1, above 0, and nobody waits"},
		{"collapsed away", two, true, "the wait for"},
		{"nobody named", one, false, "an interrupt was lost"},
	} {
		c.wrong.found(t, c.order.program(t, profile, c.named, c.wrong), c.finds)
	}
}

// A softOrder is a program for the software GPU.
type softOrder struct {
	name    string
	packets []packetOf // in the order in which they are submitted
	waits   []uint64   // by CPUs; the first may be withdrawn, if it does not stay
	signal  uint64     // by a CPU; 0: none
	stays   bool
	long    bool
	least   int
}

func (o softOrder) program(t testing.TB, profile *adapter.Profile, wrong spoil) func(r *explore.Run) {
	return func(r *explore.Run) {
		var d *softDriver
		w := newNativeWorld(t, r, profile, func(w *nativeWorld) ddi.Driver {
			d = newSoftDriver(w, profile)
			return d
		})
		d.start(2)
		w.spoil = wrong
		for i, goal := range o.waits {
			w.wait(goal, i == 0 && !o.stays)
		}
		if o.signal > 0 {
			w.signal(o.signal)
		}
		d.gpu(o.packets)
	}
}

func signalOf(node int, v uint64) packetOf { return packetOf{node: node, value: v} }
func waitOf(node int, v uint64) packetOf   { return packetOf{node: node, value: v, waits: true} }

// The same with the software GPU, in all forms of its interrupts, and with a wait of its
// own that a CPU or another engine ends.
func TestNativeOrdersOfSoftGPU(t *testing.T) {
	for _, form := range []adapter.NativeInterrupt{adapter.InterruptArray, adapter.InterruptAny, adapter.InterruptQueue, adapter.InterruptLegacy} {
		profile := nativeProfile(t, func(p *adapter.Profile) { p.NativeFence.Interrupt = form })
		for _, o := range []softOrder{
			{name: "one of each", packets: []packetOf{signalOf(0, 1)}, waits: []uint64{1}, least: 55},
			{name: "the GPU waits for a CPU", packets: []packetOf{waitOf(0, 1)}, signal: 1, least: 15},
			{name: "all wait", packets: []packetOf{waitOf(0, 2), signalOf(1, 2)}, waits: []uint64{2}, signal: 1, least: 1100},
			{name: "two of each", packets: []packetOf{signalOf(0, 1), signalOf(1, 2)}, waits: []uint64{1, 2}, least: 800},
			{name: "values that go back", packets: []packetOf{signalOf(0, 2), signalOf(1, 1), signalOf(0, 3)}, waits: []uint64{3}, least: 130},
			{name: "four signals", packets: []packetOf{signalOf(0, 1), signalOf(1, 2), signalOf(0, 3), signalOf(1, 4)}, waits: []uint64{2, 4}, long: form != adapter.InterruptArray, least: 1200},
			{name: "all of all", packets: []packetOf{waitOf(0, 3), signalOf(1, 1), signalOf(1, 2), signalOf(1, 4)}, waits: []uint64{2, 4}, signal: 3, long: true, least: 1200},
		} {
			if !toExplore(o.long || raced && form != adapter.InterruptArray && o.least > 100) {
				continue
			}
			t.Run(fmt.Sprintf("%v/%s", form, o.name), func(t *testing.T) {
				explored(t, o.least, o.program(t, profile, ""))
			})
		}
	}
}

func TestNativeOrdersOfSoftGPUNeedEachStep(t *testing.T) {
	any := func(p *adapter.Profile) { p.NativeFence.Interrupt = adapter.InterruptAny }
	plain := func(p *adapter.Profile) { p.NativeFence.OptimizedDefault = false }
	one := softOrder{packets: []packetOf{signalOf(0, 1)}, waits: []uint64{1}}
	two := softOrder{packets: []packetOf{signalOf(0, 1), signalOf(1, 2)}, waits: []uint64{2, 1}}
	for _, c := range []struct {
		wrong  spoil
		order  softOrder
		change func(p *adapter.Profile)
		finds  string
	}{
		{"no look", one, plain, "the wait for 1 is stuck"},
		{"update too late", softOrder{packets: one.packets, waits: one.waits, stays: true}, plain, "the wait for 1 is stuck"},
		{"check first", one, plain, "the wait for 1 is stuck"},
		{"too far", two, plain, "the wait for 2 is stuck"},
		{"off by one", one, plain, "the wait for 1 is stuck"},
		{"no check", one, plain, "the GPU interrupts for 1, above 0, and nobody waits"},
		{"nobody named", one, any, "the wait for 1 is stuck"},
		{"no kick", softOrder{packets: []packetOf{waitOf(0, 1)}, signal: 1}, plain, "a wait of the GPU for 1 is stuck"},
	} {
		c.wrong.found(t, c.order.program(t, nativeProfile(t, c.change), c.wrong), c.finds)
	}
	// A driver that checks by itself makes up for a kernel that does not look.
	if _, err := explore.All(one.program(t, nativeProfile(t, nil), "no look")); err != nil {
		t.Error(err)
	}
}
