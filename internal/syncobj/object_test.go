package syncobj

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// Every kind is an object, and says which.
func TestKinds(t *testing.T) {
	const flags = abi.SyncObjectShared | abi.SyncObjectNtSecuritySharing
	mem := new(memory)
	m, s, f := new(Mutex), new(Semaphore), new(Fence)
	n, v, p := new(CPUNotification), new(MonitoredFence), new(MonitoredFence)
	m.Init(flags, false)
	s.Init(flags, 0, 0)
	f.Init(flags, 0)
	n.Init(flags, new(event))
	v.Init(flags, mem)
	p.Init(flags, mem)
	Periodic(p)
	want := map[abi.SyncObjectType]Object{
		abi.SynchronizationMutex:   m,
		abi.Semaphore:              s,
		abi.Fence:                  f,
		abi.CPUNotification:        n,
		abi.MonitoredFence:         v,
		abi.PeriodicMonitoredFence: p,
	}
	for k, o := range want {
		if o.Kind() != k || o.CreateFlags() != flags {
			t.Errorf("a %v says that it is a %v with %v", k, o.Kind(), o.CreateFlags())
		}
		if in, out := o.Waiters(); in != 0 || out != 0 {
			t.Errorf("a new %v has %d and %d waiters", k, in, out)
		}
		var w Wakes
		o.Ref()
		o.Unref(&w)
		if o.State() == Gone {
			t.Errorf("a %v is gone with a reference left", k)
		}
		o.Unref(&w)
		if o.State() != Gone {
			t.Errorf("a %v is %v without references", k, o.State())
		}
	}
}

// table runs every state with every event and compares: run starts in the named
// state, lets the event happen and says what came of it. want must have each pair,
// by "state/event", and nothing else.
func table(t *testing.T, states []State, events []string, want map[string]string, run func(s State, event string) string) {
	t.Helper()
	for _, s := range states {
		for _, ev := range events {
			name := s.String() + "/" + ev
			w, ok := want[name]
			if !ok {
				t.Errorf("%s: the table does not say", name)
				continue
			}
			if got := run(s, ev); got != w {
				t.Errorf("%s: %s; want %s", name, got, w)
			}
		}
	}
	if n := len(states) * len(events); len(want) != n {
		t.Errorf("the table has %d pairs, want %d", len(want), n)
	}
}

// ready is a packet sink that remembers who was ready, in order.
type ready struct{ packets []*Packet }

func (r *ready) Ready(p *Packet) { r.packets = append(r.packets, p) }

// packet starts a packet that waits for objects.
func (r *ready) packet(owner any, points ...Point) *Packet {
	p := new(Packet)
	p.Init(owner, r, points)
	p.Start()
	return p
}

func (r *ready) on(owner any, objects ...Object) *Packet {
	points := make([]Point, len(objects))
	for i, o := range objects {
		points[i].Object = o
	}
	return r.packet(owner, points...)
}

// event is a CPU event that counts.
type event struct{ sets, closes int }

func (e *event) Set()   { e.sets++ }
func (e *event) Close() { e.closes++ }
