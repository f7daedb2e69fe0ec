package wait

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// A Gate keeps the goroutines of this process that wait for one fence, lowest
// target first, and tells the fence's memory that somebody does. A signal that
// finds the want word set calls Look, which wakes exactly those whose target was
// reached.
//
// Lock order: Gate.mu, then Hub.mu.
type Gate struct {
	mu   sync.Mutex
	heap Heap
	view page.View
	hub  *Hub // watches the memory; nil: it is a heap cell of this process
	// low is at most the lowest target, so that the hub can pass by without the
	// lock. Not kept for a heap cell.
	low   atomic.Uint64
	armed bool       // the memory says that this gate has waiters
	slot  int        // the slot that it claimed, for mapped memory
	shut  bool       // nobody may enter any more
	why   abi.Status // of a shut gate: what its waiters were told
	spare *Sleeper   // for the next goroutine that waits here alone
	index int        // its place in Hub.gates; guarded by Hub.mu
}

// A Verdict says what became of an entry that was to be enlisted.
type Verdict uint8

// Verdicts.
const (
	Enlisted Verdict = iota // it is in the gate, or has been met already
	Kernel                  // this memory cannot decide the wait: ask the kernel
	Shut                    // the gate was shut; the wait has ended
)

// Init makes g the gate of the fence whose value is in view. hub is nil for a
// heap cell.
func (g *Gate) Init(view page.View, hub *Hub) {
	g.view, g.hub = view, hub
	g.slot, g.index = -1, -1
	g.low.Store(math.MaxUint64)
}

// Enlist adds e, the entry of a Sleeper's wait, and looks at the value once
// more. Unless it answers Enlisted, e is in no gate.
func (g *Gate) Enlist(e *Entry) Verdict {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		g.end(e)
		return Shut
	}
	if g.asks() || !g.arm() {
		return Kernel
	}
	g.heap.Push(e)
	if g.hub != nil && e.Target < g.low.Load() {
		g.low.Store(e.Target)
	}
	g.release(g.reached())
	return Enlisted
}

// asks reports whether the kernel must judge a wait that begins to wait now: the page
// says so, or the fence was lowered once, and its page shows only the latest value. Waits
// that began before go on here, see reached.
func (g *Gate) asks() bool { return g.view.Cell.Requests() || g.view.Cell.Lowered() }

// Enter begins a wait for v alone: Get, Reset and Enlist in one. A nil Sleeper
// with Enlisted means that v has been reached. Exit ends what Enter began.
func (g *Gate) Enter(v uint64) (*Sleeper, Verdict) {
	g.mu.Lock()
	if g.shut || g.asks() || !g.arm() {
		g.mu.Unlock()
		return nil, Kernel // the long way finds out what it was
	}
	s := g.spare
	if s == nil || !s.resting() {
		s = Get(1, 1)
		if g.spare == nil {
			s.kept = true
			g.spare = s
		}
	} else {
		s.Init(s, 1)
	}
	e := &s.one[0]
	e.Reset(&s.Wait, 0, v)
	g.heap.Push(e)
	if g.hub != nil && v < g.low.Load() {
		g.low.Store(v)
	}
	g.release(g.reached())
	g.mu.Unlock()
	return s, Enlisted
}

// Exit takes s, which Enter gave, out of the gate and gives it back.
func (g *Gate) Exit(s *Sleeper) {
	if s.First() != 0 {
		g.Withdraw(&s.one[0])
	}
	s.Put()
}

// Withdraw takes e out if it is still in. Afterwards nobody refers to it.
func (g *Gate) Withdraw(e *Entry) {
	g.mu.Lock()
	if g.heap.Remove(e) {
		g.settle()
	}
	g.mu.Unlock()
}

// Look reads the value and meets every entry that it satisfies. It reports
// whether there were any.
func (g *Gate) Look() bool {
	g.mu.Lock()
	any := g.release(g.reached())
	if !any && g.armed && g.heap.Len() == 0 {
		g.disarm() // a heap cell's waiters leave the bit to the next signal
	}
	g.mu.Unlock()
	return any
}

// pass is Look for a look at many gates: it takes the lock only when the value
// or a loss calls for it.
func (g *Gate) pass() bool {
	c := g.view.Cell
	if c.Value() < g.low.Load() && !c.Lowered() && !c.Gone() {
		return false
	}
	return g.Look()
}

// Serve is Look for a signaller of this process, who needs not ring for these
// waiters then: it returns the slot that stood for them, -1 for none.
func (g *Gate) Serve() (slot int) {
	g.mu.Lock()
	slot = g.slot
	g.release(g.reached())
	g.mu.Unlock()
	return slot
}

// Close lets no entry in any more, but leaves those within until the object that
// the memory belongs to is gone.
func (g *Gate) Close() {
	g.mu.Lock()
	g.shut = true
	g.mu.Unlock()
}

// Shut ends the gate: no entry may come any more, and those within are met as
// if their value had been reached (st success) or end their waits with st.
func (g *Gate) Shut(st abi.Status) {
	g.mu.Lock()
	if !g.shut {
		g.shut, g.why = true, st
	}
	for e := g.heap.Pop(math.MaxUint64); e != nil; e = g.heap.Pop(math.MaxUint64) {
		g.end(e)
	}
	g.settle()
	if g.armed {
		g.disarm()
	}
	g.mu.Unlock()
}

// end tells an entry why there is nothing to wait for here.
func (g *Gate) end(e *Entry) {
	if g.why == abi.StatusSuccess {
		e.Meet()
	} else {
		e.Wait.End(g.why)
	}
}

// reached is the highest value that any entry of this gate may claim to have
// seen: entries began before the first lowering, so what the fence was lowered
// from counts for them; and with the object gone everything does.
func (g *Gate) reached() uint64 {
	c := g.view.Cell
	v := c.Value()
	if c.Gone() && g.hub != nil {
		return math.MaxUint64 // of a heap cell, Shut is about to say why
	}
	if c.Lowered() {
		v = max(v, c.Peak())
	}
	return v
}

func (g *Gate) release(v uint64) (any bool) {
	for e := g.heap.Pop(v); e != nil; e = g.heap.Pop(v) {
		any = true
		e.Meet()
	}
	if any {
		g.settle()
	}
	return any
}

// settle follows a removal: low is put right, and an empty gate leaves its slot.
// The bit of a heap cell stays until a signal finds nobody: the next waiter is
// likely to come before.
func (g *Gate) settle() {
	if g.hub == nil {
		return
	}
	low, ok := g.heap.Lowest()
	if !ok {
		low = math.MaxUint64
		if g.armed {
			g.disarm()
		}
	}
	g.low.Store(low)
}

// arm makes the memory say that this process waits; false when it cannot.
func (g *Gate) arm() bool {
	if g.armed {
		return true
	}
	if g.hub == nil {
		g.view.Cell.WantLocal()
		g.armed = true
		return true
	}
	slot, ok := g.view.Claim(g.hub.bell)
	if !ok {
		return false
	}
	if !g.hub.add(g) {
		g.view.Leave(slot)
		return false
	}
	g.slot, g.armed = slot, true
	return true
}

func (g *Gate) disarm() {
	g.armed = false
	if g.hub == nil {
		g.view.Cell.UnwantLocal()
		return
	}
	g.hub.remove(g)
	g.view.Leave(g.slot)
	g.slot = -1
}

// Len returns how many entries wait.
func (g *Gate) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.heap.Len()
}
