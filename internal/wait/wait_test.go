package wait

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// recorder is a sink that remembers how often and how it was told.
type recorder struct {
	n  atomic.Int32
	st abi.Status
}

func (r *recorder) Ended(_ *Wait, st abi.Status) {
	r.n.Add(1)
	r.st = st
}

func newWait(need int, targets ...uint64) (*Wait, *recorder, []Entry) {
	w, r := new(Wait), new(recorder)
	w.Init(r, need)
	es := make([]Entry, len(targets))
	for i, t := range targets {
		es[i].Reset(w, i, t)
	}
	return w, r, es
}

// Every order of meeting three entries, for every number needed: the wait ends
// exactly with the entry that completes the number, once.
func TestMeetInEveryOrder(t *testing.T) {
	orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	for need := 1; need <= 3; need++ {
		for _, order := range orders {
			w, r, es := newWait(need, 1, 1, 1)
			for n, i := range order {
				es[i].Meet()
				es[i].Meet() // latched: counts once
				if over := n+1 >= need; over != !w.Pending() {
					t.Fatalf("need %d order %v: after %d entries pending=%v", need, order, n+1, w.Pending())
				}
			}
			if r.n.Load() != 1 || r.st != abi.StatusSuccess {
				t.Fatalf("need %d order %v: sink told %d times, %v", need, order, r.n.Load(), r.st)
			}
			if w.First() != order[need-1] {
				t.Fatalf("need %d order %v: ended by %d", need, order, w.First())
			}
		}
	}
}

func TestEndBeatsMeetAndStays(t *testing.T) {
	w, r, es := newWait(1, 5)
	if !w.End(abi.StatusDeviceRemoved) || w.End(abi.StatusSuccess) {
		t.Fatal("End must win once")
	}
	es[0].Meet()
	if r.n.Load() != 1 || r.st != abi.StatusDeviceRemoved || w.First() != -1 {
		t.Fatalf("told %d times with %v, first %d", r.n.Load(), r.st, w.First())
	}
}

func TestWithdrawnTellsNobody(t *testing.T) {
	w, r, es := newWait(1, 5)
	if !w.Withdrawn() || w.Withdrawn() || w.End(0) {
		t.Fatal("one winner only")
	}
	es[0].Meet()
	if r.n.Load() != 0 {
		t.Fatal("a withdrawn wait told its sink")
	}
}

// Many goroutines race to end one wait: one wins.
func TestOneWinner(t *testing.T) {
	for range 200 {
		w, r, es := newWait(1, 1, 1, 1, 1)
		var wg sync.WaitGroup
		var wins atomic.Int32
		for i := range es {
			wg.Go(func() { es[i].Meet() })
			wg.Go(func() {
				if w.End(abi.StatusCancelled) {
					wins.Add(1)
				}
			})
		}
		wg.Wait()
		if r.n.Load() != 1 || wins.Load() > 1 {
			t.Fatalf("told %d times, %d ends won", r.n.Load(), wins.Load())
		}
	}
}

// The heap against a plain list: pushes, removals, pops by value.
func TestHeapAgainstList(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		var h Heap
		model := map[*Entry]bool{}
		for range 300 {
			switch rng.IntN(4) {
			case 0, 1:
				e := &Entry{Target: rng.Uint64N(50)}
				h.Push(e)
				model[e] = true
			case 2:
				for e := range model {
					if !h.Remove(e) || h.Remove(e) {
						t.Fatal("an entry leaves once")
					}
					delete(model, e)
					break
				}
			case 3:
				v := rng.Uint64N(60)
				prev := uint64(0)
				for e := h.Pop(v); e != nil; e = h.Pop(v) {
					if e.Target > v || e.Target < prev || !model[e] {
						t.Fatalf("popped %d for %d after %d", e.Target, v, prev)
					}
					prev = e.Target
					delete(model, e)
				}
				for e := range model {
					if e.Target <= v {
						t.Fatalf("%d stayed behind a pop of %d", e.Target, v)
					}
				}
			}
			if h.Len() != len(model) {
				t.Fatalf("Len %d, want %d", h.Len(), len(model))
			}
			if lowest, ok := h.Lowest(); ok {
				for e := range model {
					if e.Target < lowest {
						t.Fatalf("Lowest %d, but %d waits", lowest, e.Target)
					}
				}
			}
		}
	}
}
