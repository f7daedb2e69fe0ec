package page

import "math"

// The cell of a fence with 32-bit storage has its value in the low half of the word,
// which GPUs write, too; the high half is 0. Such a page asks from the beginning, so that
// only the kernel's side knows more: all of this runs under the kernel's lock.

// Low returns the low half of the value.
func (c *Cell) Low() uint32 { return uint32(c.value.Load()) }

// ReplaceLow makes to the low half and 0 the high one. false: the low half is not old,
// or somebody wrote it just now, and nothing was done.
func (v View) ReplaceLow(old, to uint32) bool {
	cur := v.Cell.value.Load()
	return uint32(cur) == old && v.Cell.value.CompareAndSwap(cur, uint64(to))
}

// SaturateLow is Saturate: the highest value of 32 bits, and a word that it is for good.
func (v View) SaturateLow() {
	v.Cell.flags.Or(Over)
	v.Cell.value.Store(math.MaxUint32)
}
