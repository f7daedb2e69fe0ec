package syncobj

import (
	"fmt"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// Every state with every event, as in the comment of CPUNotification, for objects
// that packets signal and for those that the driver signals.
func TestCPUNotificationStatesAndEvents(t *testing.T) {
	for _, flags := range []abi.SyncObjectFlags{0, abi.SyncObjectSignalByKmd} {
		want := map[string]string{
			"Live/packet signal": "Live set 1 closed 0",
			"Live/driver signal": "Live set 0 closed 0",
			"Live/drop last":     "Gone set 0 closed 1",
			"Gone/packet signal": "Gone set 0 closed 1",
			"Gone/driver signal": "Gone set 0 closed 1",
			"Gone/drop last":     "(a bug of ours)",
		}
		if flags != 0 {
			want["Live/packet signal"], want["Live/driver signal"] = want["Live/driver signal"], want["Live/packet signal"]
		}
		table(t, []State{Live, Gone}, []string{"packet signal", "driver signal", "drop last"}, want, func(s State, ev string) string {
			if s == Gone && ev == "drop last" {
				return "(a bug of ours)"
			}
			n, e, w := new(CPUNotification), new(event), new(Wakes)
			n.Init(flags, e)
			if s == Gone {
				n.Unref(w)
			}
			switch ev {
			case "packet signal":
				n.Signal(0, false, w)
			case "driver signal":
				n.Notify(w)
			case "drop last":
				n.Unref(w)
			}
			if e.sets+e.closes > 0 {
				t.Errorf("%v/%s: the event was touched under the lock", s, ev)
			}
			if due := n.State() == Gone || n.ByDriver() == (ev == "driver signal"); w.Empty() == due {
				t.Errorf("%v/%s: something to do: %v", s, ev, !w.Empty())
			}
			w.Run()
			return fmt.Sprintf("%v set %d closed %d", n.State(), e.sets, e.closes)
		})
	}
}

// A signal that was collected before the object went sets the event before it is
// closed.
func TestCPUNotificationSetsBeforeClose(t *testing.T) {
	n, e, w := new(CPUNotification), new(lastSet), new(Wakes)
	n.Init(0, e)
	n.Signal(0, false, w)
	n.Unref(w)
	w.Run()
	if e.sets != 1 || e.afterClose {
		t.Errorf("set %d times, after close: %v", e.sets, e.afterClose)
	}
}

// lastSet is an event that remembers whether it was set after it was closed.
type lastSet struct {
	event
	afterClose bool
}

func (e *lastSet) Set() {
	e.event.Set()
	e.afterClose = e.closes > 0
}
