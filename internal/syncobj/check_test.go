package syncobj

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// What may be together in one packet. Source: objects.md §5.3, §5.4, §8; OQ-7, OQ-25.
func TestChecks(t *testing.T) {
	m, m2, s, f := new(Mutex), new(Mutex), new(Semaphore), new(Fence)
	n, kmd, v, p := new(CPUNotification), new(CPUNotification), new(MonitoredFence), Periodic(new(MonitoredFence))
	m.Init(0, false)
	m2.Init(0, false)
	s.Init(0, 2, 0)
	f.Init(0, 0)
	n.Init(0, new(event))
	kmd.Init(abi.SyncObjectSignalByKmd, new(event))
	v.Init(0, new(memory))
	p.Init(0, new(memory))
	for _, c := range []struct {
		name         string
		objects      []Object
		wait, signal bool
	}{
		{"nothing", nil, false, false},
		{"mutex", []Object{m}, true, true},
		{"two mutexes", []Object{m, m2}, true, true},
		{"one mutex twice", []Object{m, s, m}, false, true},
		{"semaphore", []Object{s}, true, true},
		{"semaphore up to its maximum", []Object{s, m, s}, true, true},
		{"semaphore beyond its maximum", []Object{s, s, s}, false, true},
		{"fence", []Object{f}, true, true},
		{"fence twice", []Object{f, f}, false, false},
		{"fence and mutex", []Object{f, m}, false, false},
		{"mutex and fence", []Object{m, f}, false, false},
		{"fence and monitored fence", []Object{f, v}, false, false},
		{"monitored fence and fence", []Object{v, f}, false, false},
		{"monitored fence", []Object{v}, true, true},
		{"monitored fence twice", []Object{v, v}, true, true},
		{"monitored and periodic fence", []Object{v, p}, true, true},
		{"monitored fence and mutex", []Object{v, m}, false, false},
		{"semaphore and monitored fence", []Object{s, v}, false, false},
		{"CPU notification", []Object{n}, false, true},
		{"CPU notification behind a mutex", []Object{m, n}, false, true},
		{"CPU notification behind a monitored fence", []Object{v, n}, false, false},
		{"CPU notification of the driver", []Object{kmd}, false, false},
		{"CPU notification of the driver behind another", []Object{n, kmd}, false, false},
	} {
		if st := CheckWait(c.objects); st.OK() != c.wait || !st.OK() && st != abi.StatusInvalidParameter {
			t.Errorf("%s: wait %v, want %v", c.name, st, c.wait)
		}
		if st := CheckSignal(c.objects); st.OK() != c.signal || !st.OK() && st != abi.StatusInvalidParameter {
			t.Errorf("%s: signal %v, want %v", c.name, st, c.signal)
		}
	}
}
