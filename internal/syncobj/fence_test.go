package syncobj

import (
	"fmt"
	"testing"

	"github.com/dxgsync/dxgsync/internal/wait"
)

// Every state with every event, as in the comment of Fence. The fence is at 5 and a
// wait for 7 stands from the start; "enlist" adds one for 9, "enlist met" one for 5.
func TestFenceStatesAndEvents(t *testing.T) {
	events := []string{
		"signal above", "signal equal", "signal below", "rewind", "rewind up", "signal max",
		"enlist", "enlist met", "withdraw", "lose", "drop last",
	}
	want := map[string]string{
		"Live/signal above": "Live 7 released",
		"Live/signal equal": "Live 5",
		"Live/signal below": "Live 5",
		"Live/rewind":       "Live 2",
		"Live/rewind up":    "Live 7 released",
		"Live/signal max":   "Live max released",
		"Live/enlist":       "Live 5 waits",
		"Live/enlist met":   "Live 5 met",
		"Live/withdraw":     "Live 5 withdrawn",
		"Live/lose":         "Lost max released",
		"Live/drop last":    "Gone 5 released",
		"Gone/drop last":    "(a bug of ours)",
	}
	for _, ev := range events {
		for _, s := range []State{Lost, Gone} {
			value := map[State]string{Lost: "Lost max released", Gone: "Gone 5 released"}[s]
			if ev == "enlist" || ev == "enlist met" {
				value += " met"
			}
			if s == Lost && ev == "drop last" {
				value = "Gone max released"
			}
			if _, ok := want[s.String()+"/"+ev]; !ok {
				want[s.String()+"/"+ev] = value
			}
		}
	}
	table(t, []State{Live, Lost, Gone}, events, want, func(s State, ev string) string {
		if s == Gone && ev == "drop last" {
			return "(a bug of ours)"
		}
		f, w := new(Fence), new(Wakes)
		f.Init(0, 5)
		enlist := func(target uint64) (*wait.Entry, *sink) {
			w, k, e := new(wait.Wait), new(sink), new(wait.Entry)
			w.Init(k, 1)
			e.Reset(w, 0, target)
			f.Enlist(e)
			return e, k
		}
		e, k := enlist(7)
		switch s {
		case Lost:
			f.Lose(w)
		case Gone:
			f.Unref(w)
		}
		var late *sink
		switch ev {
		case "signal above":
			f.Signal(7, false, w)
		case "signal equal":
			f.Signal(5, false, w)
		case "signal below":
			f.Signal(2, false, w)
		case "rewind":
			f.Signal(2, true, w)
		case "rewind up":
			f.Signal(7, true, w)
		case "signal max":
			f.Signal(Max, false, w)
		case "enlist":
			_, late = enlist(9)
		case "enlist met":
			_, late = enlist(5)
		case "withdraw":
			f.Withdraw(e)
		case "lose":
			f.Lose(w)
		case "drop last":
			f.Unref(w)
		}
		got := f.State().String() + " " + fmt.Sprint(f.Value())
		if f.Value() == Max {
			got = f.State().String() + " max"
		}
		in, _ := f.Waiters()
		switch {
		case k.n == 1:
			got += " released"
		case k.n > 1:
			got += " released again"
		case in == 0:
			got += " withdrawn"
		}
		switch {
		case late != nil && late.n == 1:
			got += " met"
		case late != nil && in == 2:
			got += " waits"
		}
		return got
	})
}
