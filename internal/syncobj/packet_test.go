package syncobj

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Every state with every event, as in the comment of Packet, for a packet on each
// kind and for one on two objects of which the second comes.
func TestPacketStatesAndEvents(t *testing.T) {
	states := []PacketState{Queued, Waiting, Ready, Withdrawn}
	want := map[string]string{
		"Queued/start":         "Waiting",
		"Queued/start met":     "Ready told 1",
		"Queued/comes":         "Queued",
		"Queued/gone":          "Queued",
		"Queued/withdraw":      "Withdrawn",
		"Waiting/start":        "panic",
		"Waiting/start met":    "panic",
		"Waiting/comes":        "Ready told 1",
		"Waiting/gone":         "Ready told 1",
		"Waiting/withdraw":     "Withdrawn",
		"Ready/start":          "panic",
		"Ready/start met":      "panic",
		"Ready/comes":          "Ready told 1",
		"Ready/gone":           "Ready told 1",
		"Ready/withdraw":       "Ready told 1",
		"Withdrawn/start":      "panic",
		"Withdrawn/start met":  "panic",
		"Withdrawn/comes":      "Withdrawn",
		"Withdrawn/gone":       "Withdrawn",
		"Withdrawn/withdraw":   "Withdrawn",
		"Queued/late start":    "Ready told 1", // the object went before the packet looked
		"Waiting/late start":   "panic",
		"Ready/late start":     "panic",
		"Withdrawn/late start": "panic",
	}
	events := []string{"start", "start met", "comes", "gone", "withdraw", "late start"}
	if len(want) != len(states)*len(events) {
		t.Fatalf("the table has %d pairs", len(want))
	}
	for _, kind := range []string{"mutex", "semaphore", "fence", "monitored", "mutex and semaphore", "monitored twice"} {
		for _, s := range states {
			for _, ev := range events {
				name := s.String() + "/" + ev
				if got := packetEvent(kind, s, ev); got != want[name] {
					t.Errorf("%s: %s: %s; want %s", kind, name, got, want[name])
				}
			}
		}
	}
}

func packetEvent(kind string, s PacketState, ev string) (got string) {
	var objects []Object
	add := func(o Object) { objects = append(objects, o) }
	mutex, semaphore, fence := new(Mutex), new(Semaphore), new(Fence)
	mutex.Init(0, true)
	semaphore.Init(0, 1, 0)
	fence.Init(0, 0)
	monitored := func() Object {
		f := new(MonitoredFence)
		f.Init(0, new(memory))
		return f
	}
	switch kind {
	case "mutex":
		add(mutex)
	case "semaphore":
		add(semaphore)
	case "fence":
		add(fence)
	case "monitored":
		add(monitored())
	case "mutex and semaphore":
		mutex.Init(0, false)
		add(mutex)
		add(semaphore)
	case "monitored twice":
		add(monitored())
		add(monitored())
		objects[0].Signal(7, false, new(Wakes))
	}
	missing := objects[len(objects)-1]
	points := make([]Point, len(objects))
	for i, o := range objects {
		points[i] = Point{o, 7}
	}
	r, p, w := new(ready), new(Packet), new(Wakes)
	p.Init(1, r, points)
	switch s {
	case Waiting:
		p.Start()
	case Ready:
		p.Start()
		missing.Signal(7, false, w)
	case Withdrawn:
		p.Start()
		p.Withdraw()
	}
	if p.State() != s {
		return "starts " + p.State().String()
	}
	defer func() {
		if recover() != nil {
			got = "panic"
		}
	}()
	switch ev {
	case "start":
		p.Start()
	case "start met":
		missing.Signal(7, false, w)
		p.Start()
	case "comes":
		missing.Signal(7, false, w)
	case "gone":
		missing.Unref(w)
	case "late start":
		missing.Unref(w)
		p.Start()
	case "withdraw":
		p.Withdraw()
		missing.Signal(7, false, w)
	}
	got = p.State().String()
	if n := len(r.packets); n > 0 {
		got += fmt.Sprint(" told ", n)
	}
	for _, o := range objects {
		if n, _ := o.Waiters(); n > 0 && p.State() != Waiting && o.State() != Gone {
			got += " still in line"
		}
	}
	return got
}

// A mutex that is free stays free for others while a packet lacks something else, and
// is taken in one step with it.
func TestPacketTakesAllOrNothing(t *testing.T) {
	var r ready
	var w Wakes
	m, s := new(Mutex), new(Semaphore)
	m.Init(0, false)
	s.Init(0, 0, 0)
	both := r.on(1, m, s)
	if m.State() != Available {
		t.Fatal("a packet that waits has taken the mutex")
	}
	one := r.on(2, m) // behind both in line, which cannot proceed
	if one.State() != Ready {
		t.Fatal("a packet that lacks something else holds up the mutex")
	}
	s.Signal(0, false, &w)
	if s.State() == Empty || both.State() != Waiting {
		t.Fatal("the count was taken without the mutex")
	}
	m.Signal(0, false, &w)
	if both.State() != Ready || s.State() != Empty || m.State() != Owned {
		t.Fatalf("packet %v, semaphore %v, mutex %v", both.State(), s.State(), m.State())
	}
}

// Fences latch one by one: a value that was reached and rewound counts (OQ-26), and
// one that was reached and rewound before the packet came to the head does not
// (OQ-12).
func TestPacketLatchesFences(t *testing.T) {
	var r ready
	var w Wakes
	f, g := new(MonitoredFence), new(MonitoredFence)
	f.Init(0, new(memory))
	g.Init(0, new(memory))
	rewound := new(Packet)
	rewound.Init(1, &r, []Point{{f, 3}})
	p := r.packet(1, Point{f, 3}, Point{g, 3})
	f.Signal(3, false, &w)
	f.Signal(1, true, &w)
	rewound.Start()
	g.Signal(3, false, &w)
	if p.State() != Ready || rewound.State() != Waiting {
		t.Errorf("packets are %v and %v", p.State(), rewound.State())
	}
}

func TestPacketOnWhatNobodyWaitsFor(t *testing.T) {
	n := new(CPUNotification)
	n.Init(0, new(event))
	defer func() {
		if recover() == nil {
			t.Error("a packet waits for a CPU notification")
		}
	}()
	new(Packet).Init(1, new(ready), []Point{{n, 0}})
}

// A line of packets against a model that knows one rule: after every event the oldest
// waiting packet that can have everything takes it, and then the next.
func TestPacketsAgainstModel(t *testing.T) { rapid.Check(t, checkPackets) }

type stockModel struct {
	left, most int
	gone       bool
	last       int // owner
	object     Object
}

type packetModel struct {
	names  []int // of objects
	owner  int
	packet *Packet
}

func checkPackets(t *rapid.T) {
	const owners = 3
	var (
		r       ready
		w       Wakes
		stocks  []*stockModel
		waiting []*packetModel // oldest first
		want    []*Packet      // ready, in order
	)
	for i := range rapid.IntRange(1, 3).Draw(t, "mutexes") {
		m := new(Mutex)
		m.Init(0, i == 1)
		stocks = append(stocks, &stockModel{left: 1 - i&1, most: 1, object: m})
	}
	for range rapid.IntRange(0, 2).Draw(t, "semaphores") {
		most := rapid.IntRange(1, 3).Draw(t, "maximum")
		left := rapid.IntRange(0, most).Draw(t, "initial")
		s := new(Semaphore)
		s.Init(0, uint32(most), uint32(left))
		stocks = append(stocks, &stockModel{left: left, most: most, object: s})
	}
	pick := func(t *rapid.T) int { return rapid.IntRange(0, len(stocks)-1).Draw(t, "object") }
	can := func(p *packetModel) bool {
		for i, s := range stocks {
			n := 0
			for _, name := range p.names {
				if name == i {
					n++
				}
			}
			if !s.gone && n > s.left {
				return false
			}
		}
		return true
	}
	settle := func() {
		for i := 0; i < len(waiting); i++ {
			if p := waiting[i]; can(p) {
				for _, name := range p.names {
					stocks[name].left--
					stocks[name].last = p.owner
				}
				want = append(want, p.packet)
				waiting = slices.Delete(waiting, i, i+1)
				i = -1
			}
		}
	}
	give := func(s *stockModel) {
		if !s.gone && s.left < s.most {
			s.left++
			s.last = 0
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"wait": func(t *rapid.T) {
			p := &packetModel{owner: rapid.IntRange(1, owners).Draw(t, "owner"), packet: new(Packet)}
			var points []Point
			var objects []Object
			for range rapid.IntRange(1, 4).Draw(t, "points") {
				i := pick(t)
				p.names = append(p.names, i)
				objects = append(objects, stocks[i].object)
				points = append(points, Point{Object: stocks[i].object})
			}
			if !CheckWait(objects).OK() {
				t.Skip("would wait for ever")
			}
			p.packet.Init(p.owner, &r, points)
			p.packet.Start()
			waiting = append(waiting, p)
		},
		"signal": func(t *rapid.T) {
			s := stocks[pick(t)]
			s.object.Signal(0, false, &w)
			give(s)
		},
		"lose": func(t *rapid.T) {
			// As a device is lost: its packets first.
			owner := rapid.IntRange(1, owners).Draw(t, "owner")
			waiting = slices.DeleteFunc(waiting, func(p *packetModel) bool {
				if p.owner == owner {
					p.packet.Withdraw()
				}
				return p.owner == owner
			})
			for _, s := range stocks {
				m, ok := s.object.(*Mutex)
				if !ok {
					continue
				}
				m.Lose(owner)
				if s.last == owner {
					give(s)
				}
				settle()
			}
		},
		"withdraw": func(t *rapid.T) {
			if len(waiting) == 0 {
				t.Skip()
			}
			i := rapid.IntRange(0, len(waiting)-1).Draw(t, "packet")
			waiting[i].packet.Withdraw()
			waiting = slices.Delete(waiting, i, i+1)
		},
		"drop": func(t *rapid.T) {
			s := stocks[pick(t)]
			if s.gone || rapid.IntRange(0, 4).Draw(t, "really") > 0 {
				t.Skip()
			}
			s.object.Unref(&w)
			s.gone = true
		},
		"": func(t *rapid.T) {
			settle()
			if !slices.Equal(r.packets, want) {
				t.Fatalf("%d packets are ready, want %d, or in another order", len(r.packets), len(want))
			}
			for _, p := range waiting {
				if p.packet.State() != Waiting {
					t.Fatalf("a packet that waits is %v", p.packet.State())
				}
			}
			for i, s := range stocks {
				if s.gone {
					continue
				}
				if left := s.object.(consumable).supply().left; int(left) != s.left {
					t.Fatalf("object %d has %d left, want %d", i, left, s.left)
				}
				n := 0
				for _, p := range waiting {
					if slices.Contains(p.names, i) {
						n++
					}
				}
				if in, _ := s.object.Waiters(); in != n {
					t.Fatalf("object %d has %d in line, want %d", i, in, n)
				}
			}
		},
	})
}
