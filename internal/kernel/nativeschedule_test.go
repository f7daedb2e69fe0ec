package kernel

import (
	"math"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// nobody is the monitored value when no CPU waits.
const nobody = math.MaxUint64

// A schedule is one native fence and its GPU, whose steps are taken by hand: the
// schedules of native-fence.md §5.3, each by its name. That no other order hurts either is
// for TestNativeOrdersOfEngines.
type schedule struct {
	*nativeRig
	p      *Process
	d, h   abi.Handle
	driver *nativeDriver
	va     uint64 // of the current value
	dxg    ddi.DxgNativeFence
}

func newSchedule(t *testing.T) *schedule {
	s := &schedule{nativeRig: newNativeRig(t, "native")}
	s.p = s.process()
	s.d = s.device(s.p, 0)
	s.driver = s.drivers[0]
	s.h = s.made(s.p, s.d, 0).HSyncObject
	s.va, s.dxg = s.driver.opened.CurrentValueGpuVa, s.driver.created.Fence
	return s
}

// wait has a CPU wait for a value.
func (s *schedule) wait(v uint64) *memEvent {
	s.t.Helper()
	fd, e := s.event()
	s.ok(waitEvent(s.p, s.d, 0, fd, handles(s.h), values(v)))
	return e
}

// store and above are what an engine does with the two values, interrupt what the driver
// does with all fences that it has found.
func (s *schedule) store(v uint64) {
	s.t.Helper()
	if f := spaceOf(s.rig, s.p).Store64(0, s.va, v); f != nil {
		s.t.Fatal(f)
	}
}

func (s *schedule) above(v uint64) bool { return v > s.monitored() }

func (s *schedule) monitored() uint64 {
	s.t.Helper()
	m, f := spaceOf(s.rig, s.p).Load64(0, s.driver.opened.MonitoredValueGpuVa)
	if f != nil {
		s.t.Fatal(f)
	}
	return m
}

func (s *schedule) interrupt(fences ...ddi.DxgNativeFence) {
	s.driver.cb.NotifyInterrupt(ddi.NativeFenceSignaled{Fences: fences})
	s.k.Tick()
}

// found checks that the engine sees a value above the monitored one, and interrupts.
func (s *schedule) found(v uint64) {
	s.t.Helper()
	if !s.above(v) {
		s.t.Fatal("no interrupt")
	}
	s.interrupt(s.dxg)
}

// below checks that it sees none.
func (s *schedule) below(v uint64) {
	s.t.Helper()
	if s.above(v) {
		s.t.Error("an interrupt for nobody")
	}
}

// want checks who was released, and the monitored value.
func (s *schedule) want(when string, monitored uint64, sets int, waits ...*memEvent) {
	s.t.Helper()
	for i, e := range waits {
		if e.sets != sets {
			s.t.Errorf("%s: wait %d was released %d times, want %d", when, i, e.sets, sets)
		}
	}
	if m := s.monitored(); m != monitored {
		s.t.Errorf("%s: the monitored value is %d, want %d", when, int64(m), int64(monitored))
	}
}

func TestScheduleWaitBeforeTheStore(t *testing.T) {
	s := newSchedule(t)
	e := s.wait(5)
	s.want("listed", 4, 0, e)
	s.store(5)
	s.want("stored", 4, 0, e)
	s.found(5)
	s.want("interrupted", nobody, 1, e)
}

func TestScheduleWaitBetweenStoreAndCheck(t *testing.T) {
	s := newSchedule(t)
	s.store(5)
	e := s.wait(5)
	s.want("satisfied at once", nobody, 1, e)
	s.below(5)
}

func TestScheduleWaitBehindTheCheck(t *testing.T) {
	s := newSchedule(t)
	s.store(5)
	s.below(5)
	s.want("satisfied at once", nobody, 1, s.wait(5))
}

// The wait is on the list, the driver does not know it yet, and the engine does all it
// does: only the look behind the update sees that.
func TestScheduleSignalBeforeTheUpdate(t *testing.T) {
	s := newSchedule(t)
	s.driver.inside = func(call string) {
		if call == "monitored" && s.monitored() == nobody {
			s.driver.inside = nil
			s.store(5)
			s.below(5)
		}
	}
	s.want("looked", nobody, 1, s.wait(5))
}

// The engine stores before the driver knows and checks when it does: the look is faster,
// and the interrupt finds nothing.
func TestScheduleUpdateBetweenStoreAndCheck(t *testing.T) {
	s := newSchedule(t)
	stored, interrupts := false, false
	s.driver.inside = func(call string) {
		switch {
		case call != "monitored":
		case !stored:
			stored = true
			s.store(5)
		default: // of the update after the look
			s.driver.inside = nil
			interrupts = s.above(5)
		}
	}
	e := s.wait(5)
	s.want("looked", nobody, 1, e)
	if !interrupts {
		t.Fatal("the engine did not see the monitored value")
	}
	s.interrupt(s.dxg)
	s.want("interrupted", nobody, 1, e)
}

func TestScheduleTwoWaitsOutOfOrder(t *testing.T) {
	s := newSchedule(t)
	late, early := s.wait(7), s.wait(3)
	s.want("both", 2, 0, late, early)
	s.store(3)
	s.found(3)
	s.want("the lower one", 6, 1, early)
	s.want("the higher one waits", 6, 0, late)
	s.store(6)
	s.below(6)
	s.store(7)
	s.found(7)
	s.want("both", nobody, 1, early, late)
}

// A CPU's signal ends the lowest wait while the GPU's signal for the next one has been
// stored and not checked: the monitored value rises, but not above that.
func TestScheduleLowestLeavesWhileASignalIsInFlight(t *testing.T) {
	s := newSchedule(t)
	low, high := s.wait(3), s.wait(7)
	s.ok(signal(s.p, s.d, 0, handles(s.h), values(3)))
	s.want("the lowest left", 6, 1, low)
	s.store(7)
	s.want("stored", 6, 0, high)
	s.found(7)
	s.want("interrupted", nobody, 1, low, high)
}

// The same with the store inside the update that raises the value: also behind that the
// kernel looks.
func TestScheduleSignalInsideARaise(t *testing.T) {
	s := newSchedule(t)
	low, high := s.wait(3), s.wait(7)
	s.driver.inside = func(call string) {
		if call == "monitored" {
			s.driver.inside = nil
			s.store(7)
		}
	}
	s.ok(signal(s.p, s.d, 0, handles(s.h), values(3)))
	s.want("looked", nobody, 1, low, high)
	s.below(7)
}

// One interrupt for two signals of one fence, and for signals of two fences that it names
// both, or none of.
func TestScheduleCollapsed(t *testing.T) {
	for _, named := range []bool{true, false} {
		s := newSchedule(t)
		a, b := s.wait(1), s.wait(2)
		g := s.made(s.p, s.d, 0)
		other, name := s.driver.opened.CurrentValueGpuVa, s.driver.created.Fence
		fd, c := s.event()
		s.ok(waitEvent(s.p, s.d, 0, fd, handles(g.HSyncObject), values(1)))
		s.store(1)
		s.store(2)
		if f := spaceOf(s.rig, s.p).Store64(0, other, 1); f != nil {
			t.Fatal(f)
		}
		if a.sets+b.sets+c.sets != 0 {
			t.Error("released without an interrupt")
		}
		if named {
			s.interrupt(s.dxg, name)
		} else {
			s.interrupt()
		}
		s.want("one interrupt", nobody, 1, a, b, c)
	}
}

// An interrupt that names nobody may come for nothing, twice, and too late.
func TestScheduleNobodyNamed(t *testing.T) {
	s := newSchedule(t)
	s.interrupt()
	e := s.wait(2)
	s.store(1)
	s.interrupt()
	s.want("not yet", 1, 0, e)
	s.store(2)
	s.interrupt()
	s.interrupt()
	s.want("released", nobody, 1, e)
}
