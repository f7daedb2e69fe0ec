package wait

import (
	"context"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// A fence is a cell with its gate, on the heap or in a page.
type fence struct {
	view page.View
	gate Gate
	hub  *Hub
}

func heapFence() *fence {
	f := &fence{view: page.View{Cell: new(page.Cell)}}
	f.view.Cell.Init(0)
	f.gate.Init(f.view, nil)
	return f
}

func pageFence(t *testing.T, h *Hub) *fence {
	t.Helper()
	mem, err := page.NewPage()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(mem.CloseFD)
	f := &fence{view: mem.View(), hub: h}
	f.view.Reset(0)
	f.gate.Init(f.view, h)
	return f
}

func newHub(t *testing.T) *Hub {
	t.Helper()
	t.Setenv("DXGSYNC_BACKSTOP", "off")
	bells, err := page.CreateBells()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bells.Memory().CloseFD)
	return NewHub(bells, 1)
}

// signal signals as another process does: it knows bells only.
func (f *fence) signal(v uint64) {
	want, _ := f.view.Cell.Raise(v)
	if f.hub == nil {
		if want != 0 {
			f.gate.Look()
		}
		return
	}
	f.view.WakeSlots(want, f.hub.bells, 0)
}

// wait waits for all of the fences to reach v.
func wait(ctx context.Context, v uint64, fs ...*fence) abi.Status {
	s := Get(len(fs), len(fs))
	defer s.Put()
	var hub *Hub
	for i, f := range fs {
		s.Entries[i].Reset(&s.Wait, i, v)
		f.gate.Enlist(&s.Entries[i])
		hub = f.hub
	}
	st := s.Block(ctx, hub)
	for i, f := range fs {
		f.gate.Withdraw(&s.Entries[i])
	}
	return st
}

func (f *fence) wantIdle(t *testing.T) {
	t.Helper()
	if n := f.gate.Len(); n != 0 {
		t.Errorf("%d entries left", n)
	}
	f.gate.Look() // a heap cell's bit stays until somebody looks
	if want, _ := f.view.Cell.Raise(f.view.Cell.Value()); want != 0 {
		t.Errorf("want word %#x of an idle fence", want)
	}
}

var bg = context.Background()

func TestEnlistOnHeapAndPage(t *testing.T) {
	for name, f := range map[string]*fence{"heap": heapFence(), "page": pageFence(t, newHub(t))} {
		t.Run(name, func(t *testing.T) {
			s := Get(3, 1)
			for i, target := range []uint64{5, 3, 9} {
				s.Entries[i].Reset(&s.Wait, i, target)
				if v := f.gate.Enlist(&s.Entries[i]); v != Enlisted {
					t.Fatalf("enlist: verdict %d", v)
				}
			}
			if want, _ := f.view.Cell.Raise(0); want == 0 {
				t.Error("the memory does not say that somebody waits")
			}
			f.view.Cell.Raise(2)
			if f.gate.Look() || !s.Pending() {
				t.Error("a look below every target ended something")
			}
			f.view.Cell.Raise(3)
			if !f.gate.Look() || s.Pending() || s.First() != 1 || s.Status() != abi.StatusSuccess {
				t.Errorf("pending %v, first %d, status %v", s.Pending(), s.First(), s.Status())
			}
			for i := range s.Entries {
				f.gate.Withdraw(&s.Entries[i])
			}
			s.Put()
			f.wantIdle(t)
		})
	}
}

func TestLoweredFenceIsTheKernels(t *testing.T) {
	f := heapFence()
	before := Get(2, 2)
	for i, target := range []uint64{4, 6} {
		before.Entries[i].Reset(&before.Wait, i, target)
		f.gate.Enlist(&before.Entries[i])
	}
	f.view.Cell.Raise(5)
	f.view.Lower(1, func(uint64) {})
	f.gate.Look()
	if !before.Entries[0].Met() || before.Entries[1].Met() {
		t.Error("who waited before the lowering has seen the peak, and no more")
	}
	after := Get(1, 1)
	after.Entries[0].Reset(&after.Wait, 0, 3)
	if v := f.gate.Enlist(&after.Entries[0]); v != Kernel {
		t.Errorf("enlist after a lowering: verdict %d", v)
	}
	if s, v := f.gate.Enter(3); s != nil || v != Kernel {
		t.Errorf("enter after a lowering: verdict %d", v)
	}
	f.view.Cell.Raise(6)
	f.gate.Look()
	if before.Pending() {
		t.Error("the second entry was not met")
	}
}

func TestShutAndClose(t *testing.T) {
	for _, st := range []abi.Status{abi.StatusSuccess, abi.StatusDeviceRemoved} {
		f := heapFence()
		s, _ := f.gate.Enter(math.MaxUint64)
		f.gate.Shut(st)
		if s.Pending() || s.Status() != st {
			t.Errorf("shut with %v: pending %v, %v", st, s.Pending(), s.Status())
		}
		late := Get(1, 1)
		late.Entries[0].Reset(&late.Wait, 0, 1)
		if v := f.gate.Enlist(&late.Entries[0]); v != Shut || late.Status() != st {
			t.Errorf("enlist in a shut gate: verdict %d, %v", v, late.Status())
		}
		f.gate.Exit(s)
		f.wantIdle(t)
	}
	f := pageFence(t, newHub(t))
	s, _ := f.gate.Enter(7)
	f.gate.Close()
	if !s.Pending() {
		t.Error("a closed gate keeps those within")
	}
	f.view.SetGone()
	f.gate.Look()
	if s.Pending() {
		t.Error("with the object gone everybody goes")
	}
}

// Who waits for a heap cell is told why it went, by whoever makes it go.
func TestHeapCellGoes(t *testing.T) {
	f := heapFence()
	s, _ := f.gate.Enter(7)
	f.view.SetGone()
	f.gate.Look()
	if !s.Pending() {
		t.Error("a wait ended before its reason was known")
	}
	f.gate.Shut(abi.StatusDeviceRemoved)
	if s.Pending() || s.Status() != abi.StatusDeviceRemoved {
		t.Errorf("pending %v, %v", s.Pending(), s.Status())
	}
}

// When all slots of a page are taken, the kernel must decide.
func TestNoSlotLeft(t *testing.T) {
	f := pageFence(t, newHub(t))
	var slots []int
	for {
		slot, ok := f.view.Claim(99)
		if !ok {
			break
		}
		slots = append(slots, slot)
	}
	if s, v := f.gate.Enter(1); s != nil || v != Kernel {
		t.Errorf("verdict %d", v)
	}
	f.view.Leave(slots[30])
	s, v := f.gate.Enter(1)
	if v != Enlisted {
		t.Fatalf("verdict %d with a free slot", v)
	}
	f.view.Cell.Raise(1)
	if f.gate.Serve() != 30 || s.Pending() {
		t.Error("the waiter was not served")
	}
	f.gate.Exit(s)
}

// Thousands of goroutines wait for values of pages that another process signals;
// whoever leads hands over, and the lead is handed on.
func TestHubHandsOver(t *testing.T) {
	h := newHub(t)
	fs := []*fence{pageFence(t, h), pageFence(t, h), pageFence(t, h)}
	const waiting, top = 3000, 50
	var wg sync.WaitGroup
	for i := range waiting {
		wg.Go(func() {
			f, v := fs[i%len(fs)], uint64(1+i%top)
			if st := wait(bg, v, f); st != abi.StatusSuccess || f.view.Cell.Value() < v {
				t.Errorf("wait for %d ended at %d: %v", v, f.view.Cell.Value(), st)
			}
		})
	}
	for v := uint64(1); v <= top; v++ {
		for _, f := range fs {
			f.signal(v)
		}
		runtime.Gosched()
	}
	wg.Wait()
	for _, f := range fs {
		f.wantIdle(t)
	}
	if h.leader != nil || h.first != nil || h.last != nil || len(h.gates) != 0 {
		t.Error("the hub keeps somebody")
	}
}

// A storm of contexts that end while values arrive.
func TestHubCancels(t *testing.T) {
	h := newHub(t)
	a, b := pageFence(t, h), pageFence(t, h)
	for v := uint64(1); v <= 300; v++ {
		ctx, cancel := context.WithCancel(bg)
		var wg sync.WaitGroup
		for i := range 8 {
			c := ctx
			if i%2 == 0 {
				c = bg
			}
			wg.Go(func() {
				if st := wait(c, v, a, b); st != abi.StatusSuccess && (c == bg || st != abi.StatusCancelled) {
					t.Errorf("wait ended with %v", st)
				}
			})
		}
		wg.Go(func() { a.signal(v) })
		wg.Go(cancel)
		wg.Go(func() { b.signal(v) })
		wg.Wait()
	}
	a.wantIdle(t)
	b.wantIdle(t)
}

func TestHubLost(t *testing.T) {
	h := newHub(t)
	f := pageFence(t, h)
	w := Get(1, 1)
	w.Entries[0].Reset(&w.Wait, 0, 0)
	h.bells.Issue(2)
	watch := &Watch{Line: 2, Entry: &w.Entries[0]}
	h.Watch(watch)
	done := make(chan abi.Status)
	for range 20 {
		go func() { done <- wait(bg, 5, f) }()
	}
	for f.gate.Len() < 20 {
		runtime.Gosched()
	}
	h.Lose(abi.StatusDeviceRemoved)
	for range 20 {
		if st := <-done; st != abi.StatusDeviceRemoved {
			t.Errorf("wait ended with %v", st)
		}
	}
	if w.Pending() || w.Status() != abi.StatusDeviceRemoved || h.Unwatch(watch) {
		t.Error("the watch has not ended")
	}
	late := Get(1, 1)
	late.Entries[0].Reset(&late.Wait, 0, 0)
	h.Watch(&Watch{Line: 3, Entry: &late.Entries[0]})
	if late.Pending() {
		t.Error("a watch on a lost hub must end at once")
	}
}

// The kernel's answers come through tickets, in any order with cancels.
func TestWatch(t *testing.T) {
	h := newHub(t)
	s := Get(3, 2)
	var watches []*Watch
	for i := range s.Entries {
		s.Entries[i].Reset(&s.Wait, i, 0)
		line := uint32(10 + i)
		h.bells.Issue(line)
		watches = append(watches, &Watch{Line: line, Entry: &s.Entries[i]})
		h.Watch(watches[i])
	}
	h.Settle(watches[0], abi.StatusSuccess)
	go h.bells.EndTicket(12, uint32(abi.StatusSuccess), h.bell)
	if st := s.Block(bg, h); st != abi.StatusSuccess || s.First() != 2 {
		t.Errorf("ended with %v by %d", st, s.First())
	}
	if h.Unwatch(watches[0]) || !h.Unwatch(watches[1]) || h.Unwatch(watches[2]) {
		t.Error("only the second report is still to come")
	}
	s.Put()
}

// A signaller that was stopped between its store and its rings leaves the leader, and
// through him the followers, to the timer.
func TestLeaderIsLookedInOn(t *testing.T) {
	hub := newHub(t)
	hub.nap = time.Millisecond
	first, second := pageFence(t, hub), pageFence(t, hub)
	done := make(chan abi.Status, 2)
	for _, f := range []*fence{first, second} {
		go func() { done <- wait(context.Background(), 3, f) }()
	}
	for first.gate.Len()+second.gate.Len() < 2 {
		runtime.Gosched()
	}
	for _, f := range []*fence{first, second} {
		f.view.Cell.Raise(3)
		if st := <-done; st != abi.StatusSuccess {
			t.Error(st)
		}
	}
	first.wantIdle(t)
	second.wantIdle(t)
}
