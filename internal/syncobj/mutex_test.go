package syncobj

import "testing"

// Every state with every event, as in the comment of Mutex. Owned has a packet in
// line, of owner 3, behind owner 1 who has the mutex.
func TestMutexStatesAndEvents(t *testing.T) {
	events := []string{"wait", "signal", "lose owner", "lose another", "drop last"}
	want := map[string]string{
		"Available/wait":         "Owned proceeds",
		"Available/signal":       "Available",
		"Available/lose owner":   "Available",
		"Available/lose another": "Available",
		"Available/drop last":    "Gone",
		"Owned/wait":             "Owned waits",
		"Owned/signal":           "Owned handed over",
		"Owned/lose owner":       "Owned handed over",
		"Owned/lose another":     "Owned",
		"Owned/drop last":        "Gone handed over",
		"Gone/wait":              "Gone proceeds",
		"Gone/signal":            "Gone",
		"Gone/lose owner":        "Gone",
		"Gone/lose another":      "Gone",
		"Gone/drop last":         "(a bug of ours)",
	}
	table(t, []State{Available, Owned, Gone}, events, want, func(s State, ev string) string {
		if s == Gone && ev == "drop last" {
			return "(a bug of ours)"
		}
		m, r, w := new(Mutex), new(ready), new(Wakes)
		m.Init(0, false)
		var next, late *Packet
		switch s {
		case Owned:
			r.on(1, m)
			next = r.on(3, m)
		case Gone:
			m.Unref(w)
		}
		if m.State() != s {
			t.Fatalf("starts %v, want %v", m.State(), s)
		}
		switch ev {
		case "wait":
			late = r.on(2, m)
		case "signal":
			m.Signal(0, false, w)
		case "lose owner":
			m.Lose(1)
		case "lose another":
			m.Lose(2)
		case "drop last":
			m.Unref(w)
		}
		got := m.State().String()
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

func TestMutexSignalled(t *testing.T) {
	m, r := new(Mutex), new(ready)
	m.Init(0, true)
	if m.State() != Owned {
		t.Fatal("an initially owned mutex is ", m.State())
	}
	// Nobody acquired it, so no loss frees it; not even of nobody.
	if m.Lose(nil); m.State() != Owned {
		t.Fatal("loss freed a mutex that nobody acquired")
	}
	m.Signal(0, false, nil)
	m.Signal(0, false, nil) // counts nothing
	first, second := r.on(1, m), r.on(2, m)
	if first.State() != Ready || second.State() != Waiting {
		t.Fatalf("two signals let in %v and %v", first.State(), second.State())
	}
	// After the hand-over the second is the one whose loss counts.
	m.Signal(0, false, nil)
	if m.Lose(1); m.State() != Owned {
		t.Fatal("the loss of an earlier owner freed the mutex")
	}
	if m.Lose(2); m.State() != Available {
		t.Fatal("the loss of the last owner must free the mutex")
	}
}
