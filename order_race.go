//go:build race

package dxgsync

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// order shows the race detector what a fence or a stream orders: what happened before a
// signal happened before the return of a wait. The detector cannot see that in memory
// that is mapped, nor what the GPU's side does between.
type order struct {
	word atomic.Uint64

	mu     sync.Mutex
	before map[*order]struct{} // whose releases come before this one's acquires
}

func (o *order) release() { o.word.Add(1) }

func (o *order) acquire() { o.acquireOnce(map[*order]bool{}) }

func (o *order) acquireOnce(seen map[*order]bool) {
	seen[o] = true
	o.word.Load()
	o.mu.Lock()
	before := slices.Collect(maps.Keys(o.before))
	o.mu.Unlock()
	for _, b := range before {
		if !seen[b] {
			b.acquireOnce(seen)
		}
	}
}

// follow says that acquires of o come after releases of before: the kernel or a GPU
// passes them on.
func (o *order) follow(before *order) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.before == nil {
		o.before = map[*order]struct{}{}
	}
	o.before[before] = struct{}{}
}
