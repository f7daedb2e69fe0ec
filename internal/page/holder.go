package page

import "math/bits"

// Raise signals v: it makes v the value unless that is higher already. ask means that
// the page says so, or that the value was above v when looked at first: nothing was
// done, and the signal is the kernel's to judge. Otherwise want is the want word as read after the
// store: 0, and the signal is complete; else its slots are to be woken (WakeSlots),
// and the kernel may want to hear of it (WantsNews).
//
// A value that others raise beyond v meanwhile makes v count as the earlier signal,
// so a batch that was checked cannot fail half-way. The want word is read then too:
// whoever stored that value may have died before it looked.
func (c *Cell) Raise(v uint64) (want uint64, ask bool) {
	cur := c.value.Load()
	if v < cur || c.Requests() {
		return 0, true
	}
	for cur < v && !c.value.CompareAndSwap(cur, v) {
		cur = c.value.Load()
	}
	return c.want.Load(), false
}

// WakeSlots makes the sleepers look whose slots are in want, a want word that was
// read after the value was stored. own is the caller's bell, which is not rung; 0
// rings all.
func (v View) WakeSlots(want uint64, bells *Bells, own uint32) {
	want &= wantSlots
	if v.Slots < PageSlots {
		want &= 1<<v.Slots - 1
	}
	for ; want != 0; want &= want - 1 {
		if b := v.slot(bits.TrailingZeros64(want)).Load(); b != 0 && b != own {
			bells.Ring(b)
		}
	}
}

// WantsNews reports, after a Raise that returned want, whether the kernel has to
// be asked to look: it waits for a value that has been reached. The value is read
// again rather than taken from the caller. Higher, it is another signaller's whom we
// help; lower, the kernel lowered it and judged what was there before.
func (c *Cell) WantsNews(want uint64) bool {
	return want&WantKernel != 0 && c.value.Load() > c.mval.Load()
}

// Claim takes a free slot for a sleeper on bell and says so in the want word; ok is
// false when there is none. The slot comes first: a claimer that dies between the
// two can be found by its bell number. The caller must look at the value afterwards.
func (v View) Claim(bell uint32) (slot int, ok bool) {
	for i := range v.Slots {
		if s := v.slot(i); s.Load() == 0 && s.CompareAndSwap(0, bell) {
			v.Cell.want.Or(1 << i)
			return i, true
		}
	}
	return -1, false
}

// Leave gives a claimed slot back. The want bit goes first: the other way round, the
// next claimer's bit would be erased.
func (v View) Leave(slot int) {
	v.Cell.want.And(^(uint64(1) << slot))
	v.slot(slot).Store(0)
}

// Satisfied reports whether a wait for target that began before the value was first
// lowered has been satisfied since. Later waits on such a fence are the kernel's.
// The order of the reads matters: the kernel stores peak and Lowered before it
// lowers the value.
func (c *Cell) Satisfied(target uint64) bool {
	return c.value.Load() >= target || c.Lowered() && c.peak.Load() >= target
}

// WantLocal says in a heap cell that goroutines of this process wait, so that a
// signaller looks for them. The caller must look at the value afterwards.
func (c *Cell) WantLocal() { c.want.Or(WantLocal) }

// UnwantLocal takes WantLocal back.
func (c *Cell) UnwantLocal() { c.want.And(^uint64(WantLocal)) }
