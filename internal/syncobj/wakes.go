package syncobj

// Wakes collects what must happen after the kernel's lock is dropped: sleepers to
// wake, events to set and to close, memory to free. The zero Wakes is empty. Most operations
// concern one fence, which costs no allocation.
type Wakes struct {
	look, free   Backing // the first of each
	looks, frees []Backing
	events       []eventDue
}

type eventDue struct {
	event Event
	set   bool // else it is closed
}

// Add asks for b's sleepers to be woken.
func (w *Wakes) Add(b Backing) {
	switch n := len(w.looks); {
	case w.look == nil:
		w.look = b
	case w.look == b || n > 0 && w.looks[n-1] == b:
	default:
		w.looks = append(w.looks, b)
	}
}

// Free asks for b to be freed, after all wakes.
func (w *Wakes) Free(b Backing) {
	if w.free == nil {
		w.free = b
		return
	}
	w.frees = append(w.frees, b)
}

// Set asks for e to be set.
func (w *Wakes) Set(e Event) { w.events = append(w.events, eventDue{e, true}) }

// Close asks for e to be closed, after it was set as often as was asked before.
func (w *Wakes) Close(e Event) { w.events = append(w.events, eventDue{e, false}) }

// Run does it all. Call it without the lock.
func (w *Wakes) Run() {
	if w.look != nil {
		w.look.WakeAll()
	}
	for _, b := range w.looks {
		b.WakeAll()
	}
	for _, e := range w.events {
		if e.set {
			e.event.Set()
		} else {
			e.event.Close()
		}
	}
	if w.free != nil {
		w.free.Free()
	}
	for _, b := range w.frees {
		b.Free()
	}
}

// Empty reports whether there is nothing to do.
func (w *Wakes) Empty() bool { return w.look == nil && w.free == nil && len(w.events) == 0 }
