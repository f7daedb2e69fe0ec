package syncobj

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// turn is one turn of 32 bits.
const turn = 1 << 32

// narrowFence is a fence with 32-bit storage.
func narrowFence(initial uint64) (*MonitoredFence, *memory) {
	m, f := new(memory), new(MonitoredFence)
	m.cell.Init(initial)
	f.Init(0, m)
	f.Narrow()
	return f, m
}

// gpu is a GPU that writes the word.
func (m *memory) gpu(word uint32) {
	for old := m.cell.Low(); !m.View().ReplaceLow(old, word); old = m.cell.Low() {
	}
}

// Every state with every event, for a fence at 2^32+5 with a wait for 2^32+7.
func TestNarrowStatesAndEvents(t *testing.T) {
	signal := func(v uint64, rewind bool) func(*MonitoredFence, *memory, *Wakes) abi.Status {
		return func(f *MonitoredFence, _ *memory, w *Wakes) abi.Status { return judged(f, v, rewind, w) }
	}
	write := func(word uint32) func(*MonitoredFence, *memory, *Wakes) abi.Status {
		return func(f *MonitoredFence, m *memory, w *Wakes) abi.Status {
			m.gpu(word)
			f.Look(w)
			return 0
		}
	}
	store := func(v uint64) func(*MonitoredFence, *memory, *Wakes) abi.Status {
		return func(f *MonitoredFence, _ *memory, w *Wakes) abi.Status {
			f.Store(v, w)
			return 0
		}
	}
	for _, ev := range []struct {
		name       string
		run        func(*MonitoredFence, *memory, *Wakes) abi.Status
		live, lost string
	}{
		{"signal above", signal(turn+7, false), "success 2^32+7 7 released", "refused"},
		{"signal equal", signal(turn+5, false), "success 2^32+5 5", "refused"},
		{"signal below", signal(turn+2, false), "refused 2^32+5 5", "refused"},
		{"rewind", signal(turn+2, true), "success 2^32+2 2", "success"},
		{"rewind a turn", signal(turn-1, true), "success 2^32-1 4294967295", "success"},
		{"signal next turn", signal(2*turn+1, false), "refused 2^32+5 5", "refused"},
		{"signal farthest", signal(turn+5+MaxDistance, false), "success 2^32+2147483652 2147483652 released", "refused"},
		{"signal too far", signal(turn+6+MaxDistance, false), "refused 2^32+5 5", "refused"},
		{"rewind farthest", signal(turn+5-MaxDistance, true), "success 2^32-2147483642 2147483654", "success"},
		{"rewind too far", signal(turn+4-MaxDistance, true), "refused 2^32+5 5", "success"},
		{"signal max", signal(Max, false), "refused 2^32+5 5", "success"},
		{"GPU above", write(7), "success 2^32+7 7 released", "success"},
		{"GPU below", write(2), "success 2^32+2 2", "success"},
		{"GPU wraps down", write(math.MaxUint32), "success 2^32-1 4294967295", "success"},
		{"store above", store(7), "success 2^32+7 7 released", "success"},
		{"store 64 bits", store(9*turn + 2), "success 2^32+2 2", "success"},
		{"look", func(f *MonitoredFence, _ *memory, w *Wakes) abi.Status { f.Look(w); return 0 }, "success 2^32+5 5", "success"},
	} {
		for _, lost := range []bool{false, true} {
			f, m := narrowFence(turn + 5)
			w, k, e := new(wait.Wait), new(sink), new(wait.Entry)
			w.Init(k, 1)
			e.Reset(w, 0, turn+7)
			f.Enlist(e)
			want := ev.live
			if lost {
				f.Lose(new(Wakes))
				want = ev.lost + " max 4294967295 over released"
			}
			var wakes Wakes
			got := "success"
			if st := ev.run(f, m, &wakes); st == abi.StatusInvalidParameter {
				got = "refused"
			}
			switch v := f.Value(); {
			case v == Max:
				got += " max"
			default:
				got += fmt.Sprintf(" 2^32%+d", int64(v)-turn)
			}
			got += fmt.Sprint(" ", m.cell.Value())
			if m.cell.Over() {
				got += " over"
			}
			if k.n == 1 {
				got += " released"
			}
			if got != want {
				t.Errorf("%s, lost %v: %s; want %s", ev.name, lost, got, want)
			}
		}
	}
}

// What a submission is told: only loss satisfies a wait for Max, and it may always wait.
func TestNarrowDistance(t *testing.T) {
	f, m := narrowFence(10)
	g, _, _, _ := fixture(Live)
	for _, c := range []struct {
		v              uint64
		signal, target bool
	}{
		{0, true, true},
		{10 + MaxDistance, true, true},
		{11 + MaxDistance, false, false},
		{turn, false, false},
		{Max - 1, false, false},
		{Max, false, true},
	} {
		if f.CheckDistance(c.v).OK() != c.signal || f.CheckTarget(c.v).OK() != c.target {
			t.Errorf("%#x: signal %v, wait %v", c.v, f.CheckDistance(c.v), f.CheckTarget(c.v))
		}
		if !g.CheckDistance(c.v).OK() || !g.CheckTarget(c.v).OK() {
			t.Errorf("%#x is too far for 64 bits", c.v)
		}
	}
	m.gpu(MaxDistance)
	if !f.CheckDistance(turn - 3).OK() {
		t.Error("the distance is not from what the GPU wrote last")
	}
	f.Lose(new(Wakes))
	if !f.CheckDistance(0).OK() || !f.CheckTarget(1<<60).OK() {
		t.Error("a lost fence is near everything")
	}
}

// Below 0 and above the last there is nothing, and the way back is the same.
func TestNarrowEnds(t *testing.T) {
	for _, c := range []struct {
		at     uint64
		word   uint32
		beyond uint64
	}{{3, math.MaxUint32 - 8, 0}, {Max - 3, 8, Max - 1}} {
		f, m := narrowFence(c.at)
		m.gpu(c.word)
		if f.Value() != c.beyond {
			t.Errorf("%#x written to %#x is %#x", c.at, c.word, f.Value())
		}
		m.gpu(uint32(c.at))
		if f.Value() != c.at {
			t.Errorf("%#x comes back as %#x", c.at, f.Value())
		}
	}
}

// The page of a fence with 32-bit storage asks from the beginning, and is never armed.
func TestNarrowPage(t *testing.T) {
	f, m := narrowFence(5*turn + 9)
	w, e := new(wait.Wait), new(wait.Entry)
	w.Init(new(sink), 1)
	e.Reset(w, 0, 6*turn)
	f.Enlist(e)
	if !m.cell.Asks() || m.cell.Value() != 9 || m.cell.WantsKernel() || m.cell.Lowered() {
		t.Errorf("asks %v, value %d, wants the kernel %v, lowered %v", m.cell.Asks(), m.cell.Value(), m.cell.WantsKernel(), m.cell.Lowered())
	}
}

// Against a model that counts in whole numbers: whatever is signalled, rewound and
// written in whatever order, the value is right, memory shows its low half, and a wait
// ends when it is first seen reached.
func TestNarrowAgainstModel(t *testing.T) { rapid.Check(t, checkNarrow) }

func checkNarrow(t *rapid.T) {
	value := rapid.Uint64Range(1<<40, 1<<62).Draw(t, "initial") // far from where counting ends
	f, m := narrowFence(value)
	type waiting struct {
		target uint64
		sink   *sink
		over   bool
	}
	var waits []*waiting
	step := func(t *rapid.T, least int64) uint64 {
		return value + uint64(rapid.Int64Range(least, MaxDistance).Draw(t, "step"))
	}
	t.Repeat(map[string]func(*rapid.T){
		"signal": func(t *rapid.T) {
			v := step(t, -MaxDistance)
			rewind := rapid.Bool().Draw(t, "rewind")
			refused := v < value && !rewind
			if st := judged(f, v, rewind, new(Wakes)); st.OK() == refused {
				t.Fatalf("%#x to %#x: %v", value, v, st)
			}
			if !refused {
				value = v
			}
		},
		"packet": func(t *rapid.T) {
			v := rapid.Uint64Range(turn, 1<<62).Draw(t, "value")
			f.Signal(v, false, new(Wakes))
			value = max(value, v)
		},
		"GPU": func(t *rapid.T) {
			value = step(t, -MaxDistance-1)
			m.gpu(uint32(value))
			f.Look(new(Wakes))
		},
		"wait": func(t *rapid.T) {
			k := &waiting{target: step(t, -MaxDistance), sink: new(sink)}
			w, e := new(wait.Wait), new(wait.Entry)
			w.Init(k.sink, 1)
			e.Reset(w, 0, k.target)
			f.Enlist(e)
			waits = append(waits, k)
		},
		"": func(t *rapid.T) {
			if f.Value() != value || m.cell.Value() != value%turn {
				t.Fatalf("value %#x, memory %#x; want %#x", f.Value(), m.cell.Value(), value)
			}
			for _, k := range waits {
				k.over = k.over || value >= k.target
				if k.over != (k.sink.n == 1) {
					t.Fatalf("a wait for %#x at %#x ended %d times", k.target, value, k.sink.n)
				}
			}
		},
	})
}
