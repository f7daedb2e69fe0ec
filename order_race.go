//go:build race

package dxgsync

import "sync/atomic"

// order shows the race detector what the fence orders: what happened before a
// signal happened before the return of a wait. The detector cannot see that in
// memory that is mapped.
type order struct{ word atomic.Uint64 }

func (o *order) release() { o.word.Add(1) }
func (o *order) acquire() { o.word.Load() }
