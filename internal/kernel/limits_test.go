package kernel

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// The objects that pending waits name are counted, and counted off however a wait
// ends.
func TestPointsAreCounted(t *testing.T) {
	r := newRig(t)
	r.k.limits.Points = 4
	p := r.process()
	d := r.device(p, 0)
	f, other := r.fence(p, d, 0, 0), r.fence(p, d, 0, 0)
	wait := func(value uint64, hs ...abi.Handle) abi.Status {
		t.Helper()
		ev, _ := r.event()
		vs := make([]uint64, len(hs))
		for i := range vs {
			vs[i] = value
		}
		return waitEvent(p, d, 0, ev, handles(hs...), values(vs...))
	}
	full := func(when string) {
		t.Helper()
		if st := wait(9, f, f, other); st != abi.StatusSuccess {
			t.Errorf("%s, three: %v", when, st)
		}
		if st := wait(9, f, other); st != abi.StatusNoMemory {
			t.Errorf("%s, two more: %v", when, st)
		}
		if st := wait(1, f); st != abi.StatusSuccess {
			t.Errorf("%s, one more: %v", when, st)
		}
		if p.points != 4 {
			t.Errorf("%s: %d points", when, p.points)
		}
	}
	full("at first")
	signal(p, d, 0, handles(f, other), values(9, 9))
	signal(p, d, abi.SignalAllowFenceRewind, handles(f, other), values(0, 0))
	full("after a signal")
	destroy(p, f) // ends the wait for it alone; the other wants other too
	if p.points != 3 {
		t.Errorf("after a destruction: %d points", p.points)
	}
	do(p, 0x19, &abi.DestroyDevice{HDevice: d}, nil)
	if p.points != 0 {
		t.Errorf("after the device: %d points", p.points)
	}
}

// One user cannot use up the NT handles.
func TestNTHandlesOfOneUser(t *testing.T) {
	r := newRig(t)
	r.k.limits.NTHandles = 8
	fill := func(uid uint32) (made int, keys []object.Key) {
		p, st := r.k.Attach(ProcessInfo{PID: 1, UID: uid})
		if !st.OK() {
			t.Fatal(st)
		}
		f := r.fence(p, r.device(p, 0), shareable, 0)
		for {
			fd, st := r.share(p, f, object.GenericAll)
			if st == abi.StatusNoMemory {
				return made, keys
			}
			if !st.OK() {
				t.Fatal(st)
			}
			made++
			keys = append(keys, r.host.files[fd].(object.Key))
		}
	}
	greedy, keys := fill(1)
	modest, _ := fill(2)
	if greedy != 6 || modest != 2 {
		t.Errorf("%d and %d NT handles, want 6 and 2", greedy, modest)
	}
	for _, key := range keys {
		r.k.NTClosed(key)
	}
	if again, _ := fill(1); again != 6 {
		t.Errorf("%d NT handles afterwards, want 6", again)
	}
}

// docs/protocol-wire.md has every limit with its default.
func TestDocumentedLimits(t *testing.T) {
	text, err := os.ReadFile("../../docs/protocol-wire.md")
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.ValueOf(Limits{}.withDefaults())
	for i := range v.NumField() {
		if row := fmt.Sprintf("| %s | %d |", v.Type().Field(i).Name, v.Field(i).Int()); !strings.Contains(string(text), row) {
			t.Errorf("the page has no row %q", row)
		}
	}
}
