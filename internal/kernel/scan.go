package kernel

import (
	"slices"
	"sync"

	"github.com/dxgsync/dxgsync/internal/syncobj"
)

// A local object is the word that the GPU sees of a fence (vidmm.Word). What a GPU
// stores there is in memory at once; waiters hear of it when the kernel scans, which an
// interrupt asks for.

// Load implements vidmm.Word.
func (l *local) Load() uint64 { return l.fence.Backing().View().Cell.Value() }

// Raise implements vidmm.Word. A page that asks is the kernel's to change.
func (l *local) Raise(v uint64) bool {
	if _, ask := l.fence.Backing().View().Cell.Raise(v); ask {
		return false
	}
	l.device.adapter.wrote(l)
	return true
}

// Replace implements vidmm.Word: the GPU may store any value (objects.md §4.2-8), but
// only the kernel lowers one. The lock is held.
func (l *local) Replace(v uint64) {
	l.fence.Store(v, &l.device.process.k.fx.wakes)
	l.device.adapter.wrote(l)
}

// written are the fences that a GPU has stored to since the last scan.
type written struct {
	mu      sync.Mutex
	list    []*local
	natives []*nativeOn
}

// taken empties a list that a lock guards.
func taken[T any](mu *sync.Mutex, list *[]T) []T {
	mu.Lock()
	defer mu.Unlock()
	all := *list
	*list = nil
	return all
}

// wrote notes that a GPU has stored to a fence. With or without the kernel's lock.
func (a *Adapter) wrote(l *local) {
	if l.written.Swap(true) {
		return
	}
	a.written.mu.Lock()
	a.written.list = append(a.written.list, l)
	a.written.mu.Unlock()
}

// wrote is the same for a native fence, through an address that it is known by as one. Who
// finds it written already interrupts perhaps, and whoever wrote it does not: so it is in
// the list when it says that it is written.
func (o *nativeOn) wrote() {
	if o.written.Load() {
		return
	}
	w := &o.adapter.written
	w.mu.Lock()
	if !o.written.Swap(true) {
		w.natives = append(w.natives, o)
	}
	w.mu.Unlock()
}

// forgetWritten drops those of the list that are gone, once they are most of it: what a GPU
// stores to without a word may never be scanned. The lock is held.
func (a *Adapter) forgetWritten() {
	const few = 64
	w := &a.written
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.natives) > few+2*len(a.natives) {
		w.natives = slices.DeleteFunc(w.natives, func(o *nativeOn) bool { return a.natives[o.dxg] != o })
	}
}

// scanNatives looks at every native fence that a GPU of the adapter has stored to.
func (k *Kernel) scanNatives(a *Adapter) {
	for _, o := range taken(&a.written.mu, &a.written.natives) {
		o.written.Store(false)
		o.look()
	}
}

// look releases whom the value satisfies that the adapter's GPU has stored.
func (o *nativeOn) look() {
	f := o.native.fence
	if f.State() == syncobj.Gone {
		return
	}
	f.MonitoredFence.Look(&o.adapter.kernel.fx.wakes)
	if !o.native.told() {
		o.native.stored(nil, o.adapter)
	}
}

// scan looks at every fence that a GPU of the adapter has stored to, and releases whom
// the values satisfy. The lock is held. Source: gpu.md §6, objects.md §4.2-6.
func (k *Kernel) scan(a *Adapter) {
	for _, l := range taken(&a.written.mu, &a.written.list) {
		l.written.Store(false) // before the look, which sees whatever was stored until then
		// It may be gone, or another's since: looking at one too many does no harm.
		if l.fence.State() != syncobj.Gone {
			l.fence.Look(&k.fx.wakes)
		}
	}
}
