package syncobj

import (
	"math"

	"github.com/dxgsync/dxgsync/abi"
)

// MaxDistance is how far the value of a wait or a signal may be from the value of a
// fence with 32-bit storage. Source: objects.md §4.3.
const MaxDistance = 0x7FFFFFFF

// A narrow value is that of a fence with 32-bit storage: 32 bits are in memory, where
// GPUs raise them and let them wrap around, and the kernel counts the turns. Of two words
// that follow each other the second is taken for the nearer of the two values that it can
// stand for, and half a turn away for the lower.
// Source: objects.md §4.3; OQ-13.
type narrow struct {
	word  uint32 // as memory was last seen
	turns int64  // of 2^32; negative when memory was written down from below
}

func narrowAt(v uint64) narrow { return narrow{uint32(v), int64(v >> 32)} }

// see takes note of the word in memory.
func (n *narrow) see(word uint32) {
	switch up := int32(word-n.word) > 0; {
	case up && word < n.word:
		n.turns++
	case !up && word > n.word:
		n.turns--
	}
	n.word = word
}

// value is the whole one. Beyond either end of 64 bits, where only a GPU out of bounds
// gets, it is the last on this side that is no loss.
func (n *narrow) value() uint64 {
	switch {
	case n.turns < 0:
		return 0
	case n.turns > math.MaxUint32:
		return Max - 1
	}
	return uint64(n.turns)<<32 | uint64(n.word)
}

// Narrow makes f, which was just made, a fence with 32-bit storage: its memory shows the
// low half of what it showed, and nobody but the kernel believes it.
func (f *MonitoredFence) Narrow() {
	view := f.back.View()
	n := narrowAt(view.Cell.Value())
	f.narrow = &n
	view.SetAsk()
	view.ReplaceLow(n.word, n.word)
}

// Wide is SUCCESS for a fence whose whole value is in memory, INVALID_PARAMETER for one with
// 32-bit storage.
func (f *MonitoredFence) Wide() abi.Status {
	if f.narrow != nil {
		return abi.StatusInvalidParameter
	}
	return abi.StatusSuccess
}

// near says whether v may be named when the value is cur.
func (f *MonitoredFence) near(cur, v uint64) bool {
	return f.narrow == nil || f.state == Lost || max(cur, v)-min(cur, v) <= MaxDistance
}

// CheckDistance says what the submission of a signal to v is answered: SUCCESS, or
// INVALID_PARAMETER when the storage has 32 bits and v is too far away from the value.
// Source: objects.md §4.3; OQ-13.
func (f *MonitoredFence) CheckDistance(v uint64) abi.Status {
	if f.narrow != nil && !f.near(f.Value(), v) {
		return abi.StatusInvalidParameter
	}
	return abi.StatusSuccess
}

// CheckTarget is CheckDistance for a wait: one for Max, which only loss satisfies, is
// always accepted.
func (f *MonitoredFence) CheckTarget(v uint64) abi.Status {
	if v == Max {
		return abi.StatusSuccess
	}
	return f.CheckDistance(v)
}

// Store is what a GPU writes where the value is: any value, of which 32-bit storage takes
// the low half.
func (f *MonitoredFence) Store(v uint64, wakes *Wakes) {
	if f.narrow == nil {
		f.Signal(v, true, wakes)
		return
	}
	view := f.back.View()
	for f.state == Live && !view.ReplaceLow(view.Cell.Low(), uint32(v)) {
	}
	f.Look(wakes)
}

// signalNarrow is Signal. A GPU may write while we do.
func (f *MonitoredFence) signalNarrow(v uint64, rewind bool, wakes *Wakes) {
	for cur := f.Value(); v > cur || rewind && v < cur; cur = f.Value() {
		f.release(cur) // whoever the old value satisfies, before it goes
		if f.back.View().ReplaceLow(f.narrow.word, uint32(v)) {
			*f.narrow = narrowAt(v)
			break
		}
	}
	f.Look(wakes)
}
