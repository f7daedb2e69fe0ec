package syncobj

import (
	"fmt"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// memory is a cell that counts what is asked of it.
type memory struct {
	cell         page.Cell
	woken, freed int
}

func (m *memory) View() page.View { return page.View{Cell: &m.cell} }
func (m *memory) WakeAll()        { m.woken++ }
func (m *memory) Free()           { m.freed++ }

type sink struct {
	n  int
	st abi.Status
}

func (s *sink) Ended(_ *wait.Wait, st abi.Status) { s.n++; s.st = st }

// fixture is a fence at 5 in one of the states, with a wait for 7.
func fixture(s State) (*MonitoredFence, *memory, *sink, *wait.Entry) {
	m, f := new(memory), new(MonitoredFence)
	m.cell.Init(5)
	f.Init(abi.SyncObjectShared|abi.SyncObjectNtSecuritySharing, m)
	w, k, e := new(wait.Wait), new(sink), new(wait.Entry)
	w.Init(k, 1)
	e.Reset(w, 0, 7)
	f.Enlist(e)
	if s == Lost {
		f.Lose(new(Wakes))
	}
	return f, m, k, e
}

// Every state with every event: the table in the comment of MonitoredFence.
func TestStatesAndEvents(t *testing.T) {
	events := []struct {
		name string
		run  func(*MonitoredFence, *Wakes) abi.Status
	}{
		{"signal above", func(f *MonitoredFence, w *Wakes) abi.Status { return judged(f, 7, false, w) }},
		{"signal equal", func(f *MonitoredFence, w *Wakes) abi.Status { return judged(f, f.Value(), false, w) }},
		{"signal below", func(f *MonitoredFence, w *Wakes) abi.Status { return judged(f, 2, false, w) }},
		{"rewind", func(f *MonitoredFence, w *Wakes) abi.Status { return judged(f, 2, true, w) }},
		{"signal max", func(f *MonitoredFence, w *Wakes) abi.Status { return judged(f, Max, false, w) }},
		{"look", func(f *MonitoredFence, w *Wakes) abi.Status { f.Look(w); return 0 }},
		{"lose", func(f *MonitoredFence, w *Wakes) abi.Status { f.Lose(w); return 0 }},
		{"last reference", func(f *MonitoredFence, w *Wakes) abi.Status { f.Unref(w); return 0 }},
	}
	want := map[string]string{
		"Live/signal above":   "success Live 7 released",
		"Live/signal equal":   "success Live 5",
		"Live/signal below":   "refused Live 5",
		"Live/rewind":         "success Live 2",
		"Live/signal max":     "success Live max released",
		"Live/look":           "success Live 5",
		"Live/lose":           "success Lost max released",
		"Live/last reference": "success Gone 5 released freed",
		"Lost/signal above":   "refused Lost max released",
		"Lost/signal equal":   "success Lost max released",
		"Lost/signal below":   "refused Lost max released",
		"Lost/rewind":         "success Lost max released",
		"Lost/signal max":     "success Lost max released",
		"Lost/look":           "success Lost max released",
		"Lost/lose":           "success Lost max released",
		"Lost/last reference": "success Gone max released freed",
	}
	for _, s := range []State{Live, Lost} {
		for _, ev := range events {
			f, m, k, _ := fixture(s)
			var w Wakes
			got := "success"
			if st := ev.run(f, &w); st == abi.StatusInvalidParameter {
				got = "refused"
			}
			w.Run()
			got += " " + f.State().String() + " "
			if v := f.Value(); v == Max {
				got += "max"
			} else {
				got += fmt.Sprint(v)
			}
			if k.n > 0 {
				got += " released"
			}
			if m.freed > 0 {
				got += " freed"
			}
			if name := s.String() + "/" + ev.name; got != want[name] {
				t.Errorf("%s: %s; want %s", name, got, want[name])
			}
			if k.n > 1 {
				t.Errorf("%s/%s: the wait ended %d times", s, ev.name, k.n)
			}
		}
	}
}

func judged(f *MonitoredFence, v uint64, rewind bool, w *Wakes) abi.Status {
	if st := f.Judge(f.Value(), v, rewind); !st.OK() {
		return st
	}
	f.Signal(v, rewind, w)
	return abi.StatusSuccess
}

// A value stored in memory between the wait's look and the kernel's arming is not
// missed, and one that is lowered later releases whom it satisfied.
func TestLookAfterArmingAndBeforeLowering(t *testing.T) {
	f, m, k, e := fixture(Live)
	m.cell.Raise(8) // by a process, which has not rung yet
	var w Wakes
	f.Signal(1, true, &w)
	if k.n != 1 || f.Value() != 1 {
		t.Fatalf("rewind over a reached target: ended %d times, value %d", k.n, f.Value())
	}
	late := new(wait.Entry)
	late.Reset(e.Wait, 0, 1)
	lw, ls := new(wait.Wait), new(sink)
	lw.Init(ls, 1)
	late.Reset(lw, 0, 1)
	f.Enlist(late)
	if ls.n != 1 {
		t.Fatal("a wait for a reached value must end when it is enlisted")
	}
}

// The monitored value on the page follows the lowest kernel-side wait.
func TestPageIsToldTheLowestWait(t *testing.T) {
	f, m, _, seven := fixture(Live)
	add := func(target uint64) *wait.Entry {
		w, e := new(wait.Wait), new(wait.Entry)
		w.Init(new(sink), 1)
		e.Reset(w, 0, target)
		f.Enlist(e)
		return e
	}
	check := func(mval uint64, wants bool) {
		t.Helper()
		if got := m.cell.Monitored(); got != mval || m.cell.WantsKernel() != wants {
			t.Fatalf("page says %d (kernel wants news: %v), want %d (%v)", got, m.cell.WantsKernel(), mval, wants)
		}
	}
	check(6, true)
	six := add(6)
	check(5, true)
	f.Withdraw(six)
	check(6, true)
	f.Withdraw(seven)
	check(page.MvalNone, false)
	nine := add(9)
	check(8, true)
	f.Meet(nine)
	if !nine.Met() || nine.Wait.Pending() {
		t.Fatal("Meet must end the wait")
	}
	check(page.MvalNone, false)
}
