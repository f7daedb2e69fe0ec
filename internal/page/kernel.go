package page

// The kernel's side. All of it runs under the kernel's lock, except WakeAll.

// Arm asks signallers to tell the kernel of every value above mval, and returns the
// value read after that: a signaller that missed the request stored its value
// before this read.
func (v View) Arm(mval uint64) (value uint64) {
	v.Cell.mval.Store(mval)
	v.Cell.want.Or(WantKernel)
	return v.Cell.value.Load()
}

// Disarm takes the request back.
func (v View) Disarm() {
	v.Cell.mval.Store(MvalNone)
	v.Cell.want.And(^uint64(WantKernel))
}

// SetAsk says that the page decides nothing any more. Nobody needs to be woken: who
// sleeps in a slot began before, and goes on by the value, which the kernel raises and
// wakes for as holders did. One who has just looked at the flags may still store a
// value, or take a slot; he began before, too.
func (v View) SetAsk() { v.Cell.flags.Or(Ask) }

// SetRequest says that the kernel has to hear of every signal, and of every wait that is
// not over at once. As with SetAsk, nobody needs to be woken.
func (v View) SetRequest() { v.Cell.flags.Or(Request) }

// Raise makes to the value unless that is higher already, whatever the page says.
func (v View) Raise(to uint64) {
	for cur := v.Cell.value.Load(); cur < to && !v.Cell.value.CompareAndSwap(cur, to); {
		cur = v.Cell.value.Load()
	}
}

// RaiseOnly is Raise that reports whether it did, or found the very value: false for a
// higher one.
func (v View) RaiseOnly(to uint64) bool {
	for {
		cur := v.Cell.value.Load()
		if cur >= to {
			return cur == to
		}
		if v.Cell.value.CompareAndSwap(cur, to) {
			return true
		}
	}
}

// Lower makes to the value though it is higher. judge is called with each value that
// is about to go, at least once, and must end every kernel-side wait that it
// satisfies: nobody can see it afterwards. Sleepers that were there before the first
// lowering see it in the peak. The caller then arms again for what it still waits
// for and wakes all sleepers.
func (v View) Lower(to uint64, judge func(cur uint64)) {
	for {
		cur := v.Cell.value.Load()
		judge(cur)
		if cur > v.Cell.peak.Load() {
			v.Cell.peak.Store(cur)
		}
		v.Cell.flags.Or(Lowered)
		if v.Cell.value.CompareAndSwap(cur, to) {
			return
		}
	}
}

// Saturate makes the value the highest there is: whoever was to signal is lost. The
// caller wakes all sleepers afterwards.
func (v View) Saturate() { v.Cell.value.Store(1<<64 - 1) }

// Drown is what the watcher of a process whose kernel died does to the pages that it
// can write: they are saturated, and whoever asks instead of believing that learns why.
func (v View) Drown() {
	v.SetAsk()
	v.Saturate()
}

// SetGone says that the object was destroyed. The caller wakes all sleepers
// afterwards.
func (v View) SetGone() { v.Cell.flags.Or(Gone) }

// WakeAll makes every sleeper look. Numbers in slots that are no bells are passed by.
func (v View) WakeAll(bells *Bells) {
	if want := v.Cell.want.Load(); want&wantSlots != 0 {
		v.WakeSlots(want, bells, 0)
	}
}

// Sweep cleans up after the death of a process that could write the cell: it frees
// the slots that hold bells for which dead is true and makes every other sleeper
// look, because the dead may have stored a value and woken nobody. The caller judges
// the kernel-side waits by the value. Bell numbers of the dead may be used again
// only after all its cells were swept.
func (v View) Sweep(dead func(bell uint32) bool, bells *Bells) {
	for i := range v.Slots {
		s := v.slot(i)
		switch b := s.Load(); {
		case b == 0:
		case dead(b):
			// As in Leave. Nobody else changes a slot that is taken.
			v.Cell.want.And(^(uint64(1) << i))
			s.CompareAndSwap(b, 0)
		default:
			bells.Ring(b)
		}
	}
}
