package kernel

import "math"

// A moment is when something is due: on the steady clock, or on the system's time,
// which people set. The zero moment is never.
type moment struct {
	at   int64 // Config.Now in nanoseconds, or Config.Time in units of 100 ns
	wall bool
	set  bool
}

// A timer is something due at a moment. The zero timer is not set.
type timer struct {
	at   int64
	seat int // in its heap, plus 1; 0 = in none
	heap *timers
	due  func()
}

// timers is a heap of timers, earliest first.
type timers []*timer

// set makes t due; it must not be set. What is due runs under the kernel's lock.
func (k *Kernel) set(t *timer, m moment, due func()) {
	t.at, t.due, t.heap = m.at, due, &k.steady
	if m.wall {
		t.heap = &k.wall
	}
	*t.heap = append(*t.heap, t)
	t.heap.up(len(*t.heap) - 1)
	if t.seat == 1 {
		k.fx.alarm = true
	}
}

// clear makes t not due any more.
func (t *timer) clear() {
	if t.seat == 0 {
		return
	}
	h := t.heap
	i, last := t.seat-1, len(*h)-1
	moved := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	t.seat = 0
	if i != last {
		(*h)[i] = moved
		h.down(i)
		h.up(i)
	}
}

// pop takes out the earliest timer if it is due at now.
func (h *timers) pop(now int64) *timer {
	if len(*h) == 0 || (*h)[0].at > now {
		return nil
	}
	t := (*h)[0]
	t.clear()
	return t
}

func (h timers) put(i int, t *timer) {
	h[i] = t
	t.seat = i + 1
}

func (h timers) up(i int) {
	t := h[i]
	for ; i > 0 && h[(i-1)/2].at > t.at; i = (i - 1) / 2 {
		h.put(i, h[(i-1)/2])
	}
	h.put(i, t)
}

func (h timers) down(i int) {
	t := h[i]
	for {
		c := 2*i + 1
		if c+1 < len(h) && h[c+1].at < h[c].at {
			c++
		}
		if c >= len(h) || h[c].at >= t.at {
			break
		}
		h.put(i, h[c])
		i = c
	}
	h.put(i, t)
}

// Next says when Tick has something to do: steady on the clock of Config.Now in
// nanoseconds, wall on that of Config.Time in units of 100 ns; math.MaxInt64 when
// there is nothing. Host.Alarm tells that it may have come nearer.
func (k *Kernel) Next() (steady, wall int64) {
	steady, wall = math.MaxInt64, math.MaxInt64
	k.lock()
	if len(k.steady) > 0 {
		steady = k.steady[0].at
	}
	if len(k.wall) > 0 {
		wall = k.wall[0].at
	}
	for _, a := range k.adapters {
		steady = min(steady, a.sched.Next())
	}
	k.unlock()
	for _, a := range k.adapters {
		if at, ok := a.driver.Next(); ok {
			steady = min(steady, at)
		}
	}
	return steady, wall
}

// Tick does what is due by now: it ends waits whose time is up and lets the drivers
// do what they do at a time. Whoever drives the kernel calls it at Next, and when the
// system's time was set.
func (k *Kernel) Tick() {
	k.ticking.Store(true)
	for _, a := range k.adapters {
		a.driver.Advance(k.now())
	}
	k.ticking.Store(false)
	k.drain()
	k.lock()
	defer k.unlock()
	for _, a := range k.adapters {
		k.scan(a)
		a.sched.Progress()
		a.sched.Tick()
	}
	for now := k.now(); ; {
		t := k.steady.pop(now)
		if t == nil {
			break
		}
		t.due()
	}
	for now := k.time(); ; {
		t := k.wall.pop(now)
		if t == nil {
			break
		}
		t.due()
	}
}

// untilNT is the moment that an NT timeout means: none for a nil one, else in units of
// 100 ns, negative from now, positive since 1601. Zero and the past: now is true.
// Source: calls.md §7 (page of D3DKMT_ACQUIREKEYEDMUTEX).
func (k *Kernel) untilNT(timeout *int64) (m moment, now bool) {
	switch {
	case timeout == nil:
		return moment{}, false
	case *timeout > 0:
		return moment{at: *timeout, wall: true, set: true}, *timeout <= k.time()
	case *timeout == 0:
		return moment{}, true
	}
	const most = math.MaxInt64 / 100
	ticks := -max(*timeout, -most)
	return moment{at: satAdd(k.now(), ticks*100), set: true}, false
}

func satAdd(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
