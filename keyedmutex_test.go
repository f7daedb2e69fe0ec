package dxgsync

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

func newMutex(t testing.TB, s *Session, opts KeyedMutexOptions) *KeyedMutex {
	t.Helper()
	m, err := s.NewKeyedMutex(opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func openMutex(t testing.TB, s *Session, m *KeyedMutex, opts KeyedMutexOptions) *KeyedMutex {
	t.Helper()
	o, err := s.OpenSharedKeyedMutex(m.SharedHandle(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func wantFence(t testing.TB, what string, fence uint64, err error, v uint64) {
	t.Helper()
	if fence != v || err != nil {
		t.Fatalf("%s: fence %d, %v; want %d", what, fence, err, v)
	}
}

// turns returns how many threads wait for keyed mutexes in the kernel of a session.
func turns(s *Session) int {
	n := 0
	for _, p := range kernelOf(s).Snapshot().Processes {
		n += p.Waits
	}
	return n
}

func waitTurns(s *Session, n int) {
	for turns(s) < n {
		runtime.Gosched()
	}
}

// idle fails unless every line that was ever taken is back, and nothing is owned or
// waited for.
func idle(t testing.TB, s *Session) {
	t.Helper()
	if n := turns(s); n != 0 {
		t.Errorf("%d waits left", n)
	}
	if len(s.holds) != 0 {
		t.Errorf("%d mutexes held", len(s.holds))
	}
	if n := linesOut(s); n != 0 {
		t.Errorf("%d lines are not back", n)
	}
}

// counted holds how many lines each session has got, from countLines on.
var counted sync.Map

// countLines begins to count. The session must have no line yet.
func countLines(t testing.TB, s *Session) {
	n := new(atomic.Int64)
	counted.Store(s, n)
	t.Cleanup(func() { counted.Delete(s) })
	l := s.door.lines()
	more := l.more
	l.more = func() (first, count uint32, st abi.Status) {
		first, count, st = more()
		n.Add(int64(count))
		return first, count, st
	}
}

// linesOut counts the lines that are not in the session's stock.
func linesOut(s *Session) int {
	l := s.door.lines()
	l.mu.Lock()
	defer l.mu.Unlock()
	n, _ := counted.Load(s)
	return int(n.(*atomic.Int64).Load()) - len(l.free)
}

func TestKeyedMutexPasses(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		s := d.s
		countLines(t, s)
		m := newMutex(t, s, KeyedMutexOptions{Key: 7})
		o := openMutex(t, s, m, KeyedMutexOptions{})
		want(t, "another key", second(m.TryAcquire(0)), abi.StatusTimeout)
		fence, err := m.Acquire(bg, 7)
		wantFence(t, "first", fence, err, 0)
		want(t, "as owner", second(m.TryAcquire(7)), abi.StatusTimeout)
		want(t, "other view", second(o.TryAcquire(7)), abi.StatusTimeout)
		want(t, "release by another", o.Release(7, 1), abi.StatusInvalidParameter)
		want(t, "release", m.Release(3, 5), nil)
		want(t, "release again", m.Release(3, 5), abi.StatusInvalidParameter)
		want(t, "old key", second(o.TryAcquire(7)), abi.StatusTimeout)
		fence, err = o.TryAcquire(3)
		wantFence(t, "try", fence, err, 5)
		want(t, "release", o.Release(3, 6), nil)
		over, cancel := context.WithCancel(bg)
		cancel()
		fence, err = m.Acquire(over, 3)
		wantFence(t, "free, and a context that is over", fence, err, 6)
		want(t, "owned, and a context that is over", second(o.Acquire(over, 3)), context.Canceled)
		want(t, "release", m.Release(3, 6), nil)
		idle(t, s)
	})
}

// Two goroutines, each with its key, on one view or on two.
func TestKeyedMutexTurns(t *testing.T) {
	for _, views := range []int{1, 2} {
		doors(t, func(t *testing.T, d *Device) {
			s := d.s
			countLines(t, s)
			ms := []*KeyedMutex{newMutex(t, s, KeyedMutexOptions{})}
			ms = append(ms, ms[0])
			if views == 2 {
				ms[1] = openMutex(t, s, ms[0], KeyedMutexOptions{})
			}
			const laps = 200
			total := 0
			var wg sync.WaitGroup
			for i, m := range ms {
				wg.Go(func() {
					me, other := uint64(i), uint64(1-i)
					for lap := range uint64(laps) {
						fence, err := m.Acquire(bg, me)
						if turn := 2*lap + me; err != nil || fence != turn {
							t.Errorf("turn %d: fence %d, %v", turn, fence, err)
						}
						total++
						if err := m.Release(other, fence+1); err != nil {
							t.Errorf("release: %v", err)
						}
					}
				})
			}
			wg.Wait()
			if total != 2*laps {
				t.Errorf("%d turns", total)
			}
			idle(t, s)
		})
	}
}

func TestKeyedMutexRefused(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		s := d.s
		want(t, "flags", second(s.NewKeyedMutex(KeyedMutexOptions{Flags: 2})), abi.StatusInvalidParameter)
		want(t, "handle 0", second(s.OpenSharedKeyedMutex(0, KeyedMutexOptions{})), abi.StatusInvalidParameter)
		m := newMutex(t, s, KeyedMutexOptions{Data: []byte("abc")})
		want(t, "local handle", second(s.OpenSharedKeyedMutex(m.Handle(), KeyedMutexOptions{})), abi.StatusInvalidParameter)
		for _, data := range []string{"ab", "abcd"} {
			want(t, "data", second(s.OpenSharedKeyedMutex(m.SharedHandle(), KeyedMutexOptions{Data: []byte(data)})), abi.StatusInvalidParameter)
		}
		if nt := newMutex(t, s, KeyedMutexOptions{Flags: abi.KeyedMutexNtSecuritySharing}); nt.SharedHandle() != 0 {
			t.Errorf("shared handle %#x", nt.SharedHandle())
		}
		want(t, "length", m.SetData([]byte("ab")), abi.StatusInvalidParameter)
		want(t, "close", m.Close(), nil)
		want(t, "gone", second(s.OpenSharedKeyedMutex(m.SharedHandle(), KeyedMutexOptions{})), abi.StatusInvalidParameter)
		for what, err := range map[string]error{
			"acquire": second(m.Acquire(bg, 0)), "try": second(m.TryAcquire(0)), "release": m.Release(0, 0),
			"set": m.SetData([]byte("xyz")), "close": m.Close(),
		} {
			want(t, what, err, ErrClosed)
		}
		m = newMutex(t, s, KeyedMutexOptions{})
		want(t, "close session", s.Close(), nil)
		for what, err := range map[string]error{
			"new": second(s.NewKeyedMutex(KeyedMutexOptions{})), "acquire": second(m.Acquire(bg, 0)), "release": m.Release(0, 0), "close": m.Close(),
		} {
			want(t, what, err, ErrClosed)
		}
	})
}

func TestKeyedMutexData(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		s := d.s
		bare := newMutex(t, s, KeyedMutexOptions{})
		m := openMutex(t, s, bare, KeyedMutexOptions{Data: []byte("one")}) // adopted
		o := openMutex(t, s, bare, KeyedMutexOptions{Data: []byte("???")})
		pass := func(m *KeyedMutex, found, left string) {
			t.Helper()
			want(t, "acquire", second(m.Acquire(bg, 0)), nil)
			if string(m.Data()) != found {
				t.Errorf("found %q, want %q", m.Data(), found)
			}
			if left != "" {
				want(t, "set", m.SetData([]byte(left)), nil)
			}
			want(t, "release", m.Release(0, 0), nil)
		}
		pass(o, "one", "two")
		pass(bare, "", "")
		pass(m, "two", "")
		pass(o, "two", "six")
		want(t, "too soon", m.SetData([]byte("???")), nil)
		want(t, "acquire", second(o.Acquire(bg, 0)), nil)
		done := make(chan struct{})
		go func() { pass(m, "six", ""); close(done) }() // fetched after a wait
		waitTurns(s, 1)
		want(t, "release", o.Release(0, 0), nil)
		<-done
		pass(o, "six", "")
		// Another program's runtime may leave more than fits.
		want(t, "acquire", second(o.Acquire(bg, 0)), nil)
		rec := abi.ReleaseKeyedMutex2{HKeyedMutex: o.Handle()}
		want(t, "raw release", failure(s.ReleaseKeyedMutex2(&rec, []byte("seven"))), nil)
		want(t, "longer data", second(m.TryAcquire(0)), abi.StatusInvalidParameter)
		pass(bare, "", "")
	})
}

// A mutex whose owner's view is closed, or destroyed, is abandoned for those who wait
// and for all who come.
func TestKeyedMutexAbandoned(t *testing.T) {
	for what, end := range map[string]func(m *KeyedMutex) error{
		"close": (*KeyedMutex).Close,
		"destroy": func(m *KeyedMutex) error {
			return failure(m.s.DestroyKeyedMutex(&abi.DestroyKeyedMutex{HKeyedMutex: m.handle}))
		},
	} {
		doors(t, func(t *testing.T, d *Device) {
			s := d.s
			countLines(t, s)
			m := newMutex(t, s, KeyedMutexOptions{})
			o := openMutex(t, s, m, KeyedMutexOptions{})
			want(t, "acquire", second(m.Acquire(bg, 0)), nil)
			done := make(chan error)
			for key := range uint64(2) {
				go func() { done <- second(o.Acquire(bg, key)) }()
			}
			waitTurns(s, 2)
			want(t, what, end(m), nil)
			want(t, "wait", <-done, abi.StatusAbandoned)
			want(t, "wait", <-done, abi.StatusAbandoned)
			want(t, "acquire", second(o.Acquire(bg, 0)), abi.StatusAbandoned)
			want(t, "try", second(o.TryAcquire(0)), abi.StatusAbandoned)
			want(t, "release", o.Release(0, 0), abi.StatusAbandoned)
			idle(t, s)
			want(t, "close", o.Close(), nil)
		})
	}
}

// What ends a wait besides the mutex.
func TestKeyedMutexWaitEnds(t *testing.T) {
	reason := errReason{}
	for what, c := range map[string]struct {
		end  func(s *Session, o *KeyedMutex, cancel context.CancelCauseFunc) error
		want error
	}{
		"context": {func(_ *Session, _ *KeyedMutex, cancel context.CancelCauseFunc) error { cancel(reason); return nil }, reason},
		"view":    {func(_ *Session, o *KeyedMutex, _ context.CancelCauseFunc) error { return o.Close() }, ErrClosed},
		"session": {func(s *Session, _ *KeyedMutex, _ context.CancelCauseFunc) error { return s.Close() }, ErrClosed},
	} {
		doors(t, func(t *testing.T, d *Device) {
			s := d.s
			countLines(t, s)
			m := newMutex(t, s, KeyedMutexOptions{})
			o := openMutex(t, s, m, KeyedMutexOptions{})
			want(t, "acquire", second(m.Acquire(bg, 0)), nil)
			ctx, cancel := context.WithCancelCause(bg)
			defer cancel(nil)
			done := make(chan error)
			go func() { done <- second(o.Acquire(ctx, 0)) }()
			waitTurns(s, 1)
			want(t, what, c.end(s, o, cancel), nil)
			want(t, "wait", <-done, c.want)
			if what != "session" {
				want(t, "release", m.Release(0, 0), nil)
				want(t, "acquire", second(m.TryAcquire(0)), nil)
				want(t, "release", m.Release(0, 0), nil)
				idle(t, s)
			}
		})
	}
}

// Both levels are one: what one acquires the other releases.
func TestKeyedMutexRaw(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		s := d.s
		countLines(t, s)
		m := newMutex(t, s, KeyedMutexOptions{Data: []byte("abc")})
		h := m.Handle()
		ask := abi.AcquireKeyedMutex{HKeyedMutex: h}
		want(t, "raw acquire", failure(s.AcquireKeyedMutex(&ask, nil)), nil)
		again := abi.AcquireKeyedMutex2{HKeyedMutex: h}
		poll, soon, past := int64(0), int64(-1), int64(1)
		for _, timeout := range []*int64{&poll, &soon, &past} {
			want(t, "timeout", failure(s.AcquireKeyedMutex2(&again, timeout, nil)), abi.StatusTimeout)
		}
		want(t, "release", m.Release(1, 4), nil)
		room := make([]byte, 4)
		again.Key = 1
		want(t, "raw acquire 2", failure(s.AcquireKeyedMutex2(&again, nil, room)), nil)
		if again.FenceValue != 4 || !slices.Equal(room, []byte("abc\x00")) {
			t.Errorf("fence %d, data %q", again.FenceValue, room)
		}
		done := make(chan struct{})
		go func() {
			fence, err := m.Acquire(bg, 2)
			if fence != 9 || err != nil {
				t.Errorf("fence %d, %v", fence, err)
			}
			close(done)
		}()
		waitTurns(s, 1)
		want(t, "raw release", failure(s.ReleaseKeyedMutex(&abi.ReleaseKeyedMutex{HKeyedMutex: h, Key: 2, FenceValue: 9})), nil)
		<-done
		want(t, "release", m.Release(0, 0), nil)
		want(t, "no handle", failure(s.AcquireKeyedMutex(&abi.AcquireKeyedMutex{HKeyedMutex: h + 1}, nil)), abi.StatusInvalidParameter)
		want(t, "no handle", failure(s.ReleaseKeyedMutex(&abi.ReleaseKeyedMutex{HKeyedMutex: h + 1})), abi.StatusInvalidParameter)
		idle(t, s)
	})
}

// Many goroutines on a few views, with contexts that end at any moment: never two
// owners, no grant lost, nothing left.
func TestHammerKeyedMutex(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		const views, workers, rounds, keys = 4, 16, 60, 3
		s := d.s
		countLines(t, s)
		ms := []*KeyedMutex{newMutex(t, s, KeyedMutexOptions{})}
		for len(ms) < views {
			ms = append(ms, openMutex(t, s, ms[0], KeyedMutexOptions{}))
		}
		var inside atomic.Int32
		var taken, given atomic.Int64 // acquires by workers, and their last fence
		count := uint64(0)            // guarded by the mutex
		var wg, rest sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(w), 2))
				for range rounds {
					m, key := ms[rng.IntN(views)], rng.Uint64N(keys)
					ctx, cancel := context.WithCancel(bg)
					yields := rng.IntN(60) - 10
					if yields < 0 {
						cancel()
					}
					rest.Go(func() {
						for range yields {
							runtime.Gosched()
						}
						cancel()
					})
					fence, err := m.Acquire(ctx, key)
					cancel()
					if err != nil {
						if err != context.Canceled {
							t.Errorf("acquire: %v", err)
						}
						continue
					}
					if inside.Add(1) != 1 {
						t.Error("two owners")
					}
					if fence != count {
						t.Errorf("fence %d, want %d", fence, count)
					}
					count++
					taken.Add(1)
					given.Store(int64(count))
					inside.Add(-1)
					if err := m.Release(rng.Uint64N(keys), fence+1); err != nil {
						t.Errorf("release: %v", err)
					}
				}
			})
		}
		wg.Wait()
		rest.Wait()
		if taken.Load() == 0 {
			t.Error("nobody got it")
		}
		idle(t, s)
		// It is free, for one of the keys, with the last owner's fence.
		got := false
		for key := range uint64(keys) {
			fence, err := ms[0].TryAcquire(key)
			if err == nil {
				got = true
				wantFence(t, "at the end", fence, err, uint64(given.Load()))
				break
			}
			want(t, "at the end", err, abi.StatusTimeout)
		}
		if !got {
			t.Error("a grant was lost")
		}
	})
}

// Views closed while grants arrive: what a view got too late goes to the next.
func TestHammerKeyedMutexClose(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		s := d.s
		countLines(t, s)
		m := newMutex(t, s, KeyedMutexOptions{})
		for range 150 {
			o := openMutex(t, s, m, KeyedMutexOptions{})
			want(t, "acquire", second(m.Acquire(bg, 0)), nil)
			var wg sync.WaitGroup
			wg.Go(func() {
				switch err := second(o.Acquire(bg, 0)); err {
				case nil:
					// Closed since, it would be abandoned: so hand it on first.
					if err := o.Release(0, 0); err != nil && err != ErrClosed {
						t.Errorf("release: %v", err)
					}
				case ErrClosed:
				default:
					t.Errorf("acquire: %v", err)
				}
			})
			waitTurns(s, 1)
			wg.Go(func() { _ = m.Release(0, 0) })
			wg.Go(func() { _ = o.Close() })
			wg.Wait()
			if second(m.TryAcquire(0)) == abi.StatusAbandoned { // o was closed as the owner
				want(t, "close", m.Close(), nil)
				m = newMutex(t, s, KeyedMutexOptions{})
				continue
			}
			want(t, "release", m.Release(0, 0), nil)
		}
		idle(t, s)
	})
}

// Owners are bounded: who comes too many is told, and finds room when one has gone.
func TestKeyedMutexOwnersAreBounded(t *testing.T) {
	s := openDevice(t).s
	countLines(t, s)
	var ms []*KeyedMutex
	for {
		m := newMutex(t, s, KeyedMutexOptions{})
		_, err := m.Acquire(bg, 0)
		if len(ms) > ownLines {
			t.Fatalf("%d owners", len(ms))
		}
		if err == nil {
			ms = append(ms, m)
			continue
		}
		want(t, "too many", err, abi.StatusNoMemory)
		want(t, "release", ms[0].Release(0, 0), nil)
		want(t, "acquire", second(m.Acquire(bg, 0)), nil)
		want(t, "close", m.Close(), nil)
		break
	}
	for _, m := range ms[1:] {
		want(t, "release", m.Release(0, 0), nil)
	}
	idle(t, s)
}
