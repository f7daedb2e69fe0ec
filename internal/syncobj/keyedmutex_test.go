package syncobj

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// Every state with every event, as in the comment of KeyedMutex. The last release was
// with key 0; thread 1 of process A owns an Owned mutex, and a thread of B waits for
// key 7.
func TestKeyedMutexStatesAndEvents(t *testing.T) {
	owner, other, mate := Thread{"A", 1}, Thread{"B", 1}, Thread{"A", 2}
	events := []string{
		"acquire", "acquire another key", "acquire as owner", "release", "release key waited for",
		"release by another", "release by a mate", "owner's thread ends", "owner's process ends",
		"another thread ends", "another process ends", "drop last",
	}
	const none, bug = "(cannot be)", "(a bug of ours)"
	want := map[string]string{
		"Free/acquire":                     "Owned success",
		"Free/acquire another key":         "Free pending",
		"Free/acquire as owner":            none,
		"Free/release":                     none,
		"Free/release key waited for":      none,
		"Free/release by another":          "Free refused",
		"Free/release by a mate":           "Free refused",
		"Free/owner's thread ends":         none,
		"Free/owner's process ends":        none,
		"Free/another thread ends":         "Free success",
		"Free/another process ends":        "Free success",
		"Free/drop last":                   "Gone success, waiter abandoned",
		"Owned/acquire":                    "Owned pending",
		"Owned/acquire another key":        "Owned pending",
		"Owned/acquire as owner":           "Owned refused",
		"Owned/release":                    "Free success",
		"Owned/release key waited for":     "Owned success, waiter success",
		"Owned/release by another":         "Owned refused",
		"Owned/release by a mate":          "Owned refused",
		"Owned/owner's thread ends":        "Abandoned success, waiter abandoned",
		"Owned/owner's process ends":       "Abandoned success, waiter abandoned",
		"Owned/another thread ends":        "Owned success",
		"Owned/another process ends":       "Owned success",
		"Owned/drop last":                  "Gone success, waiter abandoned",
		"Abandoned/acquire":                "Abandoned abandoned, waiter abandoned",
		"Abandoned/acquire another key":    "Abandoned abandoned, waiter abandoned",
		"Abandoned/acquire as owner":       none,
		"Abandoned/release":                none,
		"Abandoned/release key waited for": none,
		"Abandoned/release by another":     "Abandoned abandoned, waiter abandoned",
		"Abandoned/release by a mate":      "Abandoned abandoned, waiter abandoned",
		"Abandoned/owner's thread ends":    none,
		"Abandoned/owner's process ends":   none,
		"Abandoned/another thread ends":    "Abandoned success, waiter abandoned",
		"Abandoned/another process ends":   "Abandoned success, waiter abandoned",
		"Abandoned/drop last":              "Gone success, waiter abandoned",
		"Gone/acquire":                     "Gone abandoned, waiter abandoned",
		"Gone/acquire another key":         "Gone abandoned, waiter abandoned",
		"Gone/acquire as owner":            none,
		"Gone/release":                     none,
		"Gone/release key waited for":      none,
		"Gone/release by another":          "Gone abandoned, waiter abandoned",
		"Gone/release by a mate":           "Gone abandoned, waiter abandoned",
		"Gone/owner's thread ends":         none,
		"Gone/owner's process ends":        none,
		"Gone/another thread ends":         "Gone success, waiter abandoned",
		"Gone/another process ends":        "Gone success, waiter abandoned",
		"Gone/drop last":                   bug,
	}
	ownersOnly := []string{"acquire as owner", "release", "release key waited for", "owner's thread ends", "owner's process ends"}
	answers := map[abi.Status]string{
		abi.StatusSuccess: "success", abi.StatusPending: "pending",
		abi.StatusAbandoned: "abandoned", abi.StatusInvalidParameter: "refused",
	}
	table(t, []State{Free, Owned, Abandoned, Gone}, events, want, func(s State, ev string) string {
		switch {
		case s != Owned && slices.Contains(ownersOnly, ev):
			return none
		case s == Gone && ev == "drop last":
			return bug
		}
		k := new(KeyedMutex)
		k.Init(0, nil)
		turn, end := newTurn(k, other, 7, 0)
		if s == Owned || s == Abandoned {
			k.Acquire(owner, 0, 0)
		}
		switch s {
		case Abandoned:
			k.EndThread(owner)
		case Gone:
			k.Unref(nil)
		}
		if k.State() != s {
			t.Fatalf("starts %v, want %v", k.State(), s)
		}
		st := abi.StatusSuccess
		switch ev {
		case "acquire":
			st = k.Acquire(mate, 0, 0)
		case "acquire another key":
			st = k.Acquire(mate, 5, 0)
		case "acquire as owner":
			st = k.Acquire(owner, 0, 0)
		case "release":
			st = k.Release(owner, 3, 11, nil)
		case "release key waited for":
			st = k.Release(owner, 7, 11, nil)
		case "release by another":
			st = k.Release(other, 7, 11, nil)
		case "release by a mate":
			st = k.Release(mate, 7, 11, nil)
		case "owner's thread ends":
			k.EndThread(owner)
		case "owner's process ends":
			k.EndProcess("A")
		case "another thread ends":
			k.EndThread(mate)
		case "another process ends":
			k.EndProcess("C")
		case "drop last":
			k.Unref(nil)
		}
		got := k.State().String() + " " + answers[st]
		if !turn.Wait.Pending() {
			got += ", waiter " + answers[turn.Wait.Status()]
		}
		if end.n > 1 {
			got += " again"
		}
		return got
	})
}

// newTurn enlists a thread and says how its wait ends.
func newTurn(k *KeyedMutex, t Thread, key uint64, room int) (*Turn, *sink) {
	turn, end := &Turn{Wait: new(wait.Wait), Thread: t, Key: key, Room: room}, new(sink)
	turn.Wait.Init(end, 1)
	k.Enlist(turn)
	return turn, end
}

// A release answers the next acquire with its fence value; the first one is 0.
func TestKeyedMutexFence(t *testing.T) {
	a, b := Thread{"A", 1}, Thread{"B", 1}
	k := new(KeyedMutex)
	k.Init(9, nil)
	if st := k.Acquire(a, 0, 0); st != abi.StatusPending {
		t.Fatalf("key 0 when the initial one is 9: %v", st)
	}
	if st := k.Acquire(a, 9, 0); st != 0 || k.Fence() != 0 {
		t.Fatalf("acquire with the initial key: %v, fence %d", st, k.Fence())
	}
	_, end := newTurn(k, b, 1, 0)
	k.Release(a, 1, 42, nil)
	who, ok := k.Owner()
	if end.n != 1 || end.st != 0 || !ok || who != b || k.Fence() != 42 || k.Key() != 1 {
		t.Fatalf("ended %d times with %v; owner %v, fence %d, key %d", end.n, end.st, who, k.Fence(), k.Key())
	}
}

// Who was ended but not yet withdrawn is passed over.
func TestKeyedMutexPassesOverTheEnded(t *testing.T) {
	a := Thread{"A", 1}
	k := new(KeyedMutex)
	k.Init(0, nil)
	k.Acquire(a, 0, 0)
	late, _ := newTurn(k, Thread{"B", 1}, 1, 0)
	_, next := newTurn(k, Thread{"B", 2}, 1, 0)
	late.Wait.End(abi.StatusTimeout)
	k.Release(a, 1, 0, nil)
	if who, _ := k.Owner(); who.ID != 2 || next.n != 1 || k.Waiters() != 0 {
		t.Fatalf("owner %v, %d wait", who, k.Waiters())
	}
}

// Private runtime data at open, acquire and release. Source: calls.md §7; OQ-29.
func TestKeyedMutexData(t *testing.T) {
	a, b, c := Thread{"A", 1}, Thread{"B", 1}, Thread{"C", 1}
	k := new(KeyedMutex)
	k.Init(0, nil)
	for _, size := range []int{0, 1, 4096} {
		if st := k.CheckOpen(size); st != 0 {
			t.Errorf("open with %d bytes of a mutex without data: %v", size, st)
		}
	}
	k.Open(nil)
	mine := []byte("four")
	k.Open(mine)
	mine[0] = 'x'
	if string(k.Data()) != "four" {
		t.Fatalf("adopted %q", k.Data())
	}
	for size, want := range map[int]abi.Status{0: 0, 4: 0, 3: abi.StatusInvalidParameter, 5: abi.StatusInvalidParameter} {
		if st := k.CheckOpen(size); st != want {
			t.Errorf("open with %d bytes of a mutex with 4: %v, want %v", size, st, want)
		}
	}
	k.Open([]byte("FOUR"))
	if string(k.Data()) != "four" {
		t.Fatal("an open replaced the data")
	}
	if st := k.Acquire(a, 0, 3); st != abi.StatusInvalidParameter || k.State() != Free {
		t.Fatalf("room for 3 of 4 bytes: %v, %v", st, k.State())
	}
	if st := k.Acquire(a, 0, 5); st != 0 {
		t.Fatalf("room for 5: %v", st)
	}
	// Data that grew while a thread waited: it gets none of it, and not the mutex.
	_, small := newTurn(k, b, 1, 4)
	_, none := newTurn(k, c, 1, 0)
	k.Release(a, 1, 0, []byte("longer"))
	if small.st != abi.StatusInvalidParameter || none.st != 0 || none.n != 1 {
		t.Fatalf("waiters ended with %v and %v", small.st, none.st)
	}
	if string(k.Data()) != "longer" {
		t.Fatalf("release left %q", k.Data())
	}
	k.Release(c, 0, 0, nil)
	if string(k.Data()) != "longer" {
		t.Fatal("a release without data changed it")
	}
}

// The mutex against a model: never two owners, nobody who could have it waits, and
// each key is served first come first served.
func TestKeyedMutexAgainstModel(t *testing.T) { rapid.Check(t, checkKeyedMutex) }

type turnModel struct {
	thread Thread
	key    uint64
	turn   *Turn
	end    *sink
}

func checkKeyedMutex(t *rapid.T) {
	var (
		k       KeyedMutex
		owner   *Thread
		key     uint64
		dead    bool
		waiting []*turnModel
	)
	k.Init(0, nil)
	thread := func(t *rapid.T) Thread {
		return Thread{rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "process"), rapid.Uint64Range(1, 2).Draw(t, "thread")}
	}
	waits := func(th Thread) bool {
		return slices.ContainsFunc(waiting, func(w *turnModel) bool { return w.thread == th })
	}
	withdraw := func(gone func(Thread) bool) {
		waiting = slices.DeleteFunc(waiting, func(w *turnModel) bool {
			if gone(w.thread) {
				w.turn.Wait.Withdrawn()
				k.Withdraw(w.turn)
			}
			return gone(w.thread)
		})
	}
	abandon := func() {
		dead, owner = true, nil
		for _, w := range waiting {
			if w.end.n != 1 || w.end.st != abi.StatusAbandoned {
				t.Fatalf("a waiter was not told that the mutex is abandoned: %v", w.end.st)
			}
		}
		waiting = nil
	}
	t.Repeat(map[string]func(*rapid.T){
		"acquire": func(t *rapid.T) {
			th, want := thread(t), rapid.Uint64Range(0, 2).Draw(t, "key")
			if waits(th) {
				t.Skip("it waits")
			}
			st := k.Acquire(th, want, 0)
			expect := abi.StatusPending
			switch {
			case dead:
				expect = abi.StatusAbandoned
			case owner != nil && *owner == th:
				expect = abi.StatusInvalidParameter
			case owner == nil && want == key:
				expect, owner = abi.StatusSuccess, &th
			}
			if st != expect {
				t.Fatalf("acquire: %v, want %v", st, expect)
			}
			if st == abi.StatusPending {
				turn, end := newTurn(&k, th, want, 0)
				waiting = append(waiting, &turnModel{th, want, turn, end})
			}
		},
		"release": func(t *rapid.T) {
			th, next := thread(t), rapid.Uint64Range(0, 2).Draw(t, "key")
			if owner != nil && rapid.Bool().Draw(t, "by the owner") {
				th = *owner
			}
			st := k.Release(th, next, 0, nil)
			switch {
			case dead:
				if st != abi.StatusAbandoned {
					t.Fatalf("release when abandoned: %v", st)
				}
			case owner == nil || *owner != th:
				if st != abi.StatusInvalidParameter {
					t.Fatalf("release by another: %v", st)
				}
			default:
				owner, key = nil, next
				for i, w := range waiting {
					if w.key != key {
						continue
					}
					owner = &w.thread
					waiting = slices.Delete(waiting, i, i+1)
					if w.end.n != 1 || w.end.st != abi.StatusSuccess {
						t.Fatalf("the first in line ended %d times", w.end.n)
					}
					break
				}
			}
		},
		"withdraw": func(t *rapid.T) {
			th := thread(t)
			withdraw(func(w Thread) bool { return w == th })
		},
		"thread ends": func(t *rapid.T) {
			th := thread(t)
			if rapid.IntRange(0, 3).Draw(t, "really") > 0 {
				t.Skip()
			}
			withdraw(func(w Thread) bool { return w == th })
			k.EndThread(th)
			if owner != nil && *owner == th {
				abandon()
			}
		},
		"process ends": func(t *rapid.T) {
			p := thread(t).Process
			if rapid.IntRange(0, 3).Draw(t, "really") > 0 {
				t.Skip()
			}
			withdraw(func(w Thread) bool { return w.Process == p })
			k.EndProcess(p)
			if owner != nil && owner.Process == p {
				abandon()
			}
		},
		"": func(t *rapid.T) {
			who, ok := k.Owner()
			if ok != (owner != nil) || ok && who != *owner {
				t.Fatalf("owner %v %v, want %v", who, ok, owner)
			}
			if k.Waiters() != len(waiting) || (k.State() == Abandoned) != dead {
				t.Fatalf("%d wait, want %d; %v", k.Waiters(), len(waiting), k.State())
			}
			for _, w := range waiting {
				if w.end.n != 0 {
					t.Fatalf("a thread that waits for key %d was told %v", w.key, w.end.st)
				}
				if owner == nil && w.key == key {
					t.Fatal("a thread waits for a free mutex with its key")
				}
			}
		},
	})
}
