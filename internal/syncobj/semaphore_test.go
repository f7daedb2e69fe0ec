package syncobj

import (
	"fmt"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// Every state with every event, as in the comment of Semaphore, for a maximum of 3.
// Empty has a packet in line.
func TestSemaphoreStatesAndEvents(t *testing.T) {
	counts := map[State]uint32{Empty: 0, Available: 1, Full: 3, Gone: 0}
	want := map[string]string{
		"Empty/wait":          "Empty 0 waits",
		"Empty/signal":        "Empty 0 handed over",
		"Empty/drop last":     "Gone handed over",
		"Available/wait":      "Empty 0 proceeds",
		"Available/signal":    "Available 2",
		"Available/drop last": "Gone",
		"Full/wait":           "Available 2 proceeds",
		"Full/signal":         "Full 3",
		"Full/drop last":      "Gone",
		"Gone/wait":           "Gone proceeds",
		"Gone/signal":         "Gone",
		"Gone/drop last":      "(a bug of ours)",
	}
	table(t, []State{Empty, Available, Full, Gone}, []string{"wait", "signal", "drop last"}, want, func(s State, ev string) string {
		if s == Gone && ev == "drop last" {
			return "(a bug of ours)"
		}
		o, r, w := new(Semaphore), new(ready), new(Wakes)
		o.Init(0, 3, counts[s])
		var next, late *Packet
		switch s {
		case Empty:
			next = r.on(1, o)
		case Gone:
			o.Unref(w)
		}
		if o.State() != s {
			t.Fatalf("starts %v, want %v", o.State(), s)
		}
		switch ev {
		case "wait":
			late = r.on(2, o)
		case "signal":
			o.Signal(0, false, w)
		case "drop last":
			o.Unref(w)
		}
		got := o.State().String()
		if n, _ := o.Count(); o.State() != Gone {
			got += fmt.Sprint(" ", n)
		}
		switch {
		case late != nil && late.State() == Ready:
			got += " proceeds"
		case late != nil:
			got += " waits"
		case next != nil && next.State() == Ready:
			got += " handed over"
		}
		return got
	})
}

// Source: OQ-10.
func TestSemaphoreCounts(t *testing.T) {
	for _, c := range []struct {
		maximum, initial uint32
		st               abi.Status
	}{
		{0, 0, abi.StatusSuccess},
		{0, 1, abi.StatusInvalidParameter},
		{1, 1, abi.StatusSuccess},
		{1, 2, abi.StatusInvalidParameter},
		{Unlimited, Unlimited, abi.StatusSuccess},
	} {
		if st := CheckSemaphore(c.maximum, c.initial); st != c.st {
			t.Errorf("maximum %d, initial %d: %v, want %v", c.maximum, c.initial, st, c.st)
		}
	}
	var s Semaphore
	s.Init(0, 0, 0)
	if _, most := s.Count(); most != Unlimited {
		t.Errorf("a maximum of 0 means %d", most)
	}
	s.Init(0, Unlimited, Unlimited)
	if s.Signal(0, false, nil); s.State() != Full || s.left != Unlimited {
		t.Errorf("signal at the maximum: %v, count %d", s.State(), s.left)
	}
}
