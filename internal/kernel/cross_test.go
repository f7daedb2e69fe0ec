package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// Every row of native-fence.md §7, and those between: who waits and who signals, in which
// way, on adapters that have native fences or not, with the fence made on either side. Three
// processes have it; the third only looks.
func TestCrossAdapter(t *testing.T) {
	all := []fencing{noFences, nativeFences, directFences}
	for _, first := range all {
		for _, second := range all {
			for creator := range 2 {
				t.Run(fmt.Sprintf("%s and %s, made by %d", first, second, creator), func(t *testing.T) {
					r := newCrossRig(t, first, second)
					waiter, signaller, third := r.side(0), r.side(1), r.side(0)
					sides := []*side{waiter, signaller}
					fd := sides[creator].create()
					sides[1-creator].open(fd, 0)
					third.open(fd, 0)
					v := uint64(0)
					for _, wait := range waiter.ways() {
						for _, signal := range signaller.ways() {
							for round := range 3 {
								v += 2
								r.cross(fmt.Sprintf("%s waits, %s signals, round %d", wait, signal, round), waiter, signaller, third, wait, signal, v)
							}
						}
					}
				})
			}
		}
	}
}

func (r *crossRig) cross(name string, waiter, signaller, third *side, wait, signal way, v uint64) {
	r.t.Helper()
	ended := waiter.wait(wait, v)
	r.run(1_000_000)
	signaller.signal(signal, v-1)
	r.run(1_000_000)
	if ended() {
		r.t.Errorf("%s: it ended at %d of %d", name, v-1, v)
	}
	before := r.gpus[1].interrupts
	signaller.signal(signal, v)
	r.run(1_000_000)
	if !ended() {
		r.t.Fatalf("%s: stuck", name)
	}
	for _, s := range []*side{waiter, signaller, third} {
		if got := s.value(s.stream.p, s.fence); got != v {
			r.t.Errorf("%s: a process sees %d, want %d", name, got, v)
		}
	}
	if signal != byGPU {
		return
	}
	// A GPU interrupts with each signal, unless it can tell the other by itself.
	want := 1
	if r.gpus[0].Caps().Has(ddi.DirectSignal) && r.gpus[1].Caps().Has(ddi.DirectSignal) && wait == byGPU {
		want = 0
	}
	if got := r.gpus[1].interrupts - before; got != want {
		r.t.Errorf("%s: %d interrupts, want %d", name, got, want)
	}
}

// What a GPU of one adapter waits for ends when the device of another is lost that could have
// signalled it, and does not when that could not.
func TestCrossAdapterLoss(t *testing.T) {
	for _, native := range []fencing{nativeFences, directFences} {
		for _, c := range []struct {
			name  string
			other fencing
			flags abi.SyncObjectFlags // of the side that is lost
			lost  bool
		}{
			{"both native", native, 0, true},
			{"lost where there are none", noFences, 0, true},
			{"lost side waits only", native, abi.SyncObjectNoSignal, false},
			{"lost side keeps its hands off", native, abi.SyncObjectNoSignalMaxValueOnTdr, false},
		} {
			r := newCrossRig(t, native, c.other)
			waiter, other, third := r.side(0), r.side(1), r.side(0)
			fd := waiter.create()
			other.open(fd, c.flags)
			third.open(fd, 0)
			var waits []func() bool
			for _, by := range []way{byCPU, byGPU} {
				waits = append(waits, waiter.wait(by, 5), third.wait(by, 6))
			}
			r.run(1_000_000)
			r.ok(markAsError(other.stream.p, other.stream.d))
			r.run(1_000_000)
			for i, ended := range waits {
				if ended() != c.lost {
					t.Errorf("%s, %s: wait %d has ended: %v", native, c.name, i, ended())
				}
			}
			want := uint64(0)
			if c.lost {
				want = math.MaxUint64
			}
			if v := third.value(third.stream.p, third.fence); v != want {
				t.Errorf("%s, %s: the value is %d, want %d", native, c.name, v, want)
			}
			if c.lost {
				continue
			}
			third.signal(byCPU, 6)
			r.run(1_000_000)
			for i, ended := range waits {
				if !ended() {
					t.Errorf("%s, %s: wait %d is stuck", native, c.name, i)
				}
			}
		}
	}
}

// Two GPUs signal each other directly until a third comes that cannot be told so; then every
// signal interrupts, and the third hears of it.
func TestCrossAdapterFallsBack(t *testing.T) {
	r := newCrossRig(t, directFences, directFences, nativeFences)
	one, two, three := r.side(0), r.side(1), r.side(2)
	fd := one.create()
	two.open(fd, 0)
	before := one.wait(byGPU, 2)
	two.signal(byGPU, 1)
	r.run(1_000_000)
	if n := r.gpus[1].interrupts; n != 0 {
		t.Errorf("%d interrupts between GPUs that need none", n)
	}
	three.open(fd, 0)
	late := three.wait(byGPU, 2)
	r.run(1_000_000)
	r.gpus[1].interrupts = 0 // the value may be above the new monitored one
	two.signal(byGPU, 2)
	r.run(1_000_000)
	if !before() || !late() {
		t.Errorf("ended: %v, and of the third %v", before(), late())
	}
	if n := r.gpus[1].interrupts; n != 1 {
		t.Errorf("%d interrupts", n)
	}
	r.ok(destroy(three.stream.p, three.fence))
	r.run(1_000_000)
	two.signal(byGPU, 3)
	r.run(1_000_000)
	if n := r.gpus[1].interrupts; n != 2 {
		t.Errorf("%d interrupts after the third has gone: it stays so", n)
	}
	rows := r.crossing()
	for _, n := range rows {
		if n.Direct || n.Monitored != 0 {
			t.Errorf("%+v", n)
		}
	}
	if len(rows) != 2 {
		t.Errorf("%d adapters have it", len(rows))
	}
}

// A signal that was there before a GPU could be told of it is seen when it begins to wait.
func TestCrossAdapterKicksWhileOpening(t *testing.T) {
	r := newCrossRig(t, directFences, directFences)
	one, two := r.side(0), r.side(1)
	fd := one.create()
	one.signal(byGPU, 1) // is told nobody
	r.run(1_000_000)
	two.open(fd, 0)
	ended := two.wait(byGPU, 1)
	r.run(1_000_000)
	if !ended() {
		t.Error("stuck")
	}
	// Both go, in the middle of signals.
	one.signal(byGPU, 2)
	r.ok(destroy(two.stream.p, two.fence))
	one.signal(byGPU, 3)
	r.run(1_000_000)
	one.signal(byGPU, 4)
	r.ok(destroy(one.stream.p, one.fence))
	r.run(1_000_000)
	if n := len(r.crossing()); n != 0 {
		t.Errorf("%d are left", n)
	}
}

// A GPU tells its peers while they come and go.
func TestKickHammer(t *testing.T) {
	r := newCrossRig(t, directFences, directFences)
	one, two := r.side(0), r.side(1)
	fd := one.create()
	var here *nativeOn
	for _, o := range r.k.adapters[0].natives {
		if o.native.crosses() {
			here = o
		}
	}
	stop, done := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				done <- n
				return
			default:
				here.ring().Kick(here.dxg)
			}
		}
	}()
	for range 200 {
		two.open(fd, 0)
		ended := two.wait(byGPU, 0)
		r.run(100_000)
		if !ended() {
			t.Fatal("stuck")
		}
		r.ok(destroy(two.stream.p, two.fence))
		r.run(100_000)
	}
	close(stop)
	if n := <-done; n == 0 {
		t.Error("nobody was told")
	}
	if n := len(r.crossing()); n != 1 {
		t.Errorf("%d adapters have it", n)
	}
}
