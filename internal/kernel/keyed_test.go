package kernel

import (
	"testing"
)

// Timers fire in order of time, whatever order they were set in, and not after they
// were cleared.
func TestTimers(t *testing.T) {
	k := newRig(t).k
	var fired []int64
	timers := make([]timer, 100)
	for i := range timers {
		at := int64(i * 37 % 100)
		k.set(&timers[i], moment{at: at, set: true}, func() { fired = append(fired, at) })
	}
	for i := range timers {
		if i%3 == 0 {
			timers[i].clear()
		}
	}
	for now := range int64(100) {
		for tm := k.steady.pop(now); tm != nil; tm = k.steady.pop(now) {
			tm.due()
		}
	}
	if len(fired) != 66 {
		t.Fatalf("%d fired", len(fired))
	}
	for i := 1; i < len(fired); i++ {
		if fired[i] <= fired[i-1] {
			t.Errorf("%d fired after %d", fired[i], fired[i-1])
		}
	}
}
