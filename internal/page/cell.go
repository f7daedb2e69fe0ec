package page

import (
	"math/bits"
	"sync/atomic"
)

// Sizes, in bytes and in numbers.
const (
	CellSize  = 64       // of a cell
	CellSlots = 6        // slots of a cell in a slab
	PageSize  = 4096     // of a page of its own, which has one cell, at offset 0
	PageSlots = 62       // slots of such a page
	SlabSize  = 64 << 10 // of a slab
	SlabCells = SlabSize / CellSize
)

// Bits of the want word. Bit i below 62 says that slot i has a sleeper.
const (
	WantKernel = 1 << 63 // the kernel wants to hear of values above the monitored one
	WantLocal  = 1 << 62 // goroutines of this process wait; only in heap cells, never in mapped memory
	wantSlots  = WantLocal - 1
)

// Bits of the flags word. All are set by the kernel and never cleared.
const (
	Lowered = 1 << 0 // the value was lowered at least once
	Gone    = 1 << 1 // the object was destroyed; nobody raises the value any more
	Ask     = 1 << 2 // this page decides nothing that begins from now on: ask the kernel
	Over    = 1 << 3 // lost, for good: every value is reached, whatever the value says
	Request = 1 << 4 // ask the kernel for every signal, and for a wait unless the value is reached
)

// MvalNone is the monitored value when no kernel-side wait exists.
const MvalNone = 1<<64 - 1

// A Cell is the memory of one fence, the same in a page of its own, in a slab and
// on the Go heap. The C library and other processes know this layout.
//
//	0x00 value  what the application sees; holders raise it, only the kernel lowers it
//	0x08 want   who is to be told of a new value
//	0x10 mval   lowest value that the kernel waits for, minus 1; written by the kernel
//	0x18 peak   highest value it was ever lowered from; written by the kernel
//	0x20 flags  Lowered, Gone, Ask, Over, Request; written by the kernel
//	0x28 slots  bell numbers of sleepers, 0 = free; continued behind the cell in a page of its own
type Cell struct {
	value atomic.Uint64
	want  atomic.Uint64
	mval  atomic.Uint64
	peak  atomic.Uint64
	flags atomic.Uint32
	_     uint32
	slots [CellSlots]atomic.Uint32
}

// Init makes a zero cell that of a fence with value v. Nobody else may see it yet.
func (c *Cell) Init(v uint64) {
	if v != 0 {
		c.value.Store(v)
	}
	c.mval.Store(MvalNone)
}

// Value returns the value.
func (c *Cell) Value() uint64 { return c.value.Load() }

// Monitored returns the monitored value: MvalNone, or one below the lowest value
// that the kernel waits for.
func (c *Cell) Monitored() uint64 { return c.mval.Load() }

// Peak returns the highest value from which the value was ever lowered.
func (c *Cell) Peak() uint64 { return c.peak.Load() }

// Lowered reports whether the value was ever lowered.
func (c *Cell) Lowered() bool { return c.flags.Load()&Lowered != 0 }

// Gone reports whether the object was destroyed.
func (c *Cell) Gone() bool { return c.flags.Load()&Gone != 0 }

// Asks reports whether signals and waits that begin now are the kernel's: the page
// must neither be written nor believed. Who sleeps in a slot stays there.
func (c *Cell) Asks() bool { return c.flags.Load()&Ask != 0 }

// Requests reports whether signals that begin now are the kernel's, and waits that have to
// wait: the page must not be written. Unless it asks, its value may be believed.
func (c *Cell) Requests() bool { return c.flags.Load()&(Ask|Request) != 0 }

// Over reports whether the fence was lost with a value that does not show it: one of
// 32 bits.
func (c *Cell) Over() bool { return c.flags.Load()&Over != 0 }

// Wanted reports whether anybody has asked to hear of a new value. It counts after the
// value was stored.
func (c *Cell) Wanted() bool { return c.want.Load() != 0 }

// WantsKernel reports whether the kernel wants to hear of signals.
func (c *Cell) WantsKernel() bool { return c.want.Load()&WantKernel != 0 }

// A View is a cell with its slots. Holding a View of mapped memory keeps the memory
// mapped; holding its Cell alone does not.
type View struct {
	Cell  *Cell
	Slots int // 0 for a heap cell, CellSlots, or PageSlots
	mem   *Memory
}

// Sleepers returns how many slots say that they have a sleeper.
func (v View) Sleepers() int { return bits.OnesCount64(v.Cell.want.Load() & wantSlots) }

// Reset makes the cell, whatever it held, that of a new fence with value val.
// Nobody else may be using it.
func (v View) Reset(val uint64) {
	c := v.Cell
	c.want.Store(0)
	c.peak.Store(0)
	c.flags.Store(0)
	for i := range v.Slots {
		v.slot(i).Store(0)
	}
	c.mval.Store(MvalNone)
	c.value.Store(val)
}
