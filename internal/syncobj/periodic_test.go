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
	events := []string{"notify", "judge", "signal", "lose", "drop last"}
	want := map[string]string{
		"Live/notify":    "Live 1 released",
		"Live/judge":     "Live 0 denied",
		"Live/signal":    "Live 0",
		"Live/lose":      "Lost max released",
		"Live/drop last": "Gone 0 released",
		"Lost/notify":    "Lost max released",
		"Lost/judge":     "Lost max released denied",
		"Lost/signal":    "Lost max released",
		"Lost/lose":      "Lost max released",
		"Lost/drop last": "Gone max released",
		"Gone/notify":    "Gone 0 released",
		"Gone/judge":     "(a bug of ours)",
		"Gone/signal":    "(a bug of ours)",
		"Gone/lose":      "(a bug of ours)",
		"Gone/drop last": "(a bug of ours)",
	}
	table(t, []State{Live, Lost, Gone}, events, want, func(s State, ev string) string {
		if s == Gone && ev != "notify" {
			return "(a bug of ours)"
		}
		f, m, w := new(PeriodicMonitoredFence), new(strictMemory), new(Wakes)
		m.cell.Init(0)
		f.Init(0, m)
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
		st := abi.StatusSuccess
		switch ev {
		case "notify":
			f.Notify(w)
		case "judge":
			st = f.Judge(f.Value(), 7, true)
		case "signal":
			f.Signal(7, true, w)
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
		if st == abi.StatusAccessDenied {
			got += " denied"
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

// The value starts at 0 and grows by one with every notification (OQ-14).
func TestPeriodicCounts(t *testing.T) {
	f, m := new(PeriodicMonitoredFence), new(memory)
	m.cell.Init(0)
	f.Init(0, m)
	for n := range uint64(5) {
		if f.Value() != n {
			t.Fatalf("value %d after %d notifications", f.Value(), n)
		}
		var w Wakes
		f.Notify(&w)
		if w.Run(); m.woken != int(n)+1 {
			t.Fatalf("sleepers woken %d times after %d notifications", m.woken, n+1)
		}
	}
}
