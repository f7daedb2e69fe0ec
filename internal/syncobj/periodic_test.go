package syncobj

import (
	"fmt"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// Every state with every event of PeriodicMonitoredFence's own; a wait for 1 stands
// from the start.
func TestPeriodicStatesAndEvents(t *testing.T) {
	events := []string{"notify", "lose", "drop last"}
	want := map[string]string{
		"Live/notify":    "Live 1 released",
		"Live/lose":      "Lost max released",
		"Live/drop last": "Gone 0 released",
		"Lost/notify":    "Lost max released",
		"Lost/lose":      "Lost max released",
		"Lost/drop last": "Gone max released",
		"Gone/notify":    "Gone 0 released",
		"Gone/lose":      "(a bug of ours)",
		"Gone/drop last": "(a bug of ours)",
	}
	table(t, []State{Live, Lost, Gone}, events, want, func(s State, ev string) string {
		if s == Gone && ev != "notify" {
			return "(a bug of ours)"
		}
		f, m, w := new(MonitoredFence), new(strictMemory), new(Wakes)
		m.cell.Init(0)
		f.Init(0, m)
		periodic := Periodic(f)
		wt, k, e := new(wait.Wait), new(sink), new(wait.Entry)
		wt.Init(k, 1)
		e.Reset(wt, 0, 1)
		f.Enlist(e)
		switch s {
		case Lost:
			f.Lose(w)
		case Gone:
			f.Unref(w)
			w.Run()
		}
		switch ev {
		case "notify":
			periodic.Notify(1, w)
		case "lose":
			f.Lose(w)
		case "drop last":
			f.Unref(w)
		}
		got := f.State().String() + " " + fmt.Sprint(m.cell.Value())
		if m.cell.Value() == Max {
			got = f.State().String() + " max"
		}
		if k.n > 0 {
			got += " released"
		}
		return got
	})
}

// strictMemory is nobody's business once it was freed.
type strictMemory struct{ memory }

func (m *strictMemory) View() page.View {
	if m.freed > 0 {
		panic("a look at memory that was freed")
	}
	return m.memory.View()
}

// The value starts at 0 and grows by one with every notification (OQ-14), by more when
// several come at once.
func TestPeriodicCounts(t *testing.T) {
	fence, m := new(MonitoredFence), new(memory)
	m.cell.Init(0)
	fence.Init(0, m)
	m.cell.WantLocal() // somebody sleeps
	f := Periodic(fence)
	if f.Kind() != abi.PeriodicMonitoredFence {
		t.Errorf("it is a %v", f.Kind())
	}
	for n := range uint64(5) {
		if f.Value() != n {
			t.Fatalf("value %d after %d notifications", f.Value(), n)
		}
		var w Wakes
		f.Notify(1, &w)
		if w.Run(); m.woken != int(n)+1 {
			t.Fatalf("sleepers woken %d times after %d notifications", m.woken, n+1)
		}
	}
	if f.Notify(3, new(Wakes)); f.Value() != 8 {
		t.Errorf("value %d after three more at once", f.Value())
	}
}
