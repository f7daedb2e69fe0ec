package suite

import (
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/dxgsync/dxgsync/internal/kernel"
)

// A Clock is a kernel's clock that stands still until somebody moves it. The zero clock
// is at the beginning of its world.
type Clock struct{ now atomic.Int64 }

// beginning is the system's time when a world begins: 1 January 2000, in units of
// 100 ns since 1601.
const beginning = 125_911_584_000_000_000

// Now is the steady clock, in nanoseconds since the beginning.
func (c *Clock) Now() int64 { return c.now.Load() }

// Time is the system's time, in units of 100 ns since 1601. Nobody sets it.
func (c *Clock) Time() int64 { return beginning + c.Now()/100 }

// maxRounds bounds how often something may be due at one moment: a buffer that is done
// lets the next begin.
const maxRounds = 10_000

// advance moves the clock from one moment at which something is due to the next, and has
// the kernel do it.
func (c *Clock) advance(k *kernel.Kernel, d time.Duration) error {
	end := c.Now() + int64(d)
	if end < c.Now() {
		return errors.New("the clock does not reach so far")
	}
	for rounds := 0; ; rounds++ {
		at := due(k)
		if at > end {
			break
		}
		if at > c.Now() {
			c.now.Store(at)
			rounds = 0
		}
		if rounds > maxRounds {
			return errors.New("what was due is due again and again, though the clock was told")
		}
		k.Tick()
	}
	c.now.Store(end)
	k.Tick()
	return nil
}

// due is when the kernel has something to do, on the steady clock.
func due(k *kernel.Kernel) int64 {
	steady, wall := k.Next()
	if since := wall - beginning; since <= math.MaxInt64/100 {
		steady = min(steady, since*100)
	}
	return steady
}
