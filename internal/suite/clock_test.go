package suite

import (
	"math"
	"testing"
	"time"

	"github.com/dxgsync/dxgsync/internal/adapter"
)

// A world's clock stands still, moves as far as it is told, and stops at what is due on
// the way.
func TestClock(t *testing.T) {
	p, err := adapter.Load("neutral")
	if err != nil {
		t.Fatal(err)
	}
	clock := new(Clock)
	m, err := newMachine(WorldSpec{Profiles: []*adapter.Profile{p}, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	if clock.Now() != 0 || clock.Time() != beginning {
		t.Errorf("it begins at %d, %d", clock.Now(), clock.Time())
	}
	for _, d := range []time.Duration{time.Nanosecond, time.Millisecond, time.Hour} {
		before := clock.Now()
		if err := m.Advance(d); err != nil || clock.Now() != before+int64(d) || clock.Time() != beginning+clock.Now()/100 {
			t.Errorf("after %v it is %d, %d: %v", d, clock.Now(), clock.Time(), err)
		}
	}
	if err := m.Advance(math.MaxInt64); err == nil {
		t.Error("it went beyond the end of time")
	}
	if err := m.close(); err != nil {
		t.Error(err)
	}
}

func TestMachineClockIsNotMoved(t *testing.T) {
	m, err := newMachine(WorldSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Advance(time.Second) == nil {
		t.Error("the machine's clock was moved")
	}
	if err := m.close(); err != nil {
		t.Error(err)
	}
}

// beginning is the date that the document names.
func TestBeginning(t *testing.T) {
	since := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix() - time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	if since*10_000_000 != beginning {
		t.Errorf("it is %d", since*10_000_000)
	}
}
