package host

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Driven is what has something to do at a time: the kernel.
type Driven interface {
	// Next says when: on the clock of Now in nanoseconds, and on that of Time in units
	// of 100 ns; math.MaxInt64 for never.
	Next() (steady, wall int64)
	// Tick does what is due.
	Tick()
}

var (
	started = time.Now()
	booted  = sinceBoot()
)

// sinceBoot is CLOCK_MONOTONIC at started, by the best of some looks at both clocks.
func sinceBoot() (at int64) {
	best := int64(math.MaxInt64)
	for range 16 {
		var ts unix.Timespec
		before := int64(time.Since(started))
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // cannot fail
		after := int64(time.Since(started))
		if after-before < best {
			best, at = after-before, ts.Nano()-(before+after)/2
		}
	}
	return at
}

// Now is the steady clock: CLOCK_MONOTONIC in nanoseconds, so that programs can compare
// it with theirs.
func Now() int64 { return booted + int64(time.Since(started)) } // no system call, unlike clock_gettime in package unix

// ntEpoch is 1970 in NT's time.
const ntEpoch = 116444736000000000

// Time is the system's time as NT has it: units of 100 ns since 1601.
func Time() int64 { return time.Now().UnixNano()/100 + ntEpoch }

// A drive calls Tick when something is due, and when the system's time was set. It has
// goroutines from when somebody first asks. The zero drive drives nothing.
type drive struct {
	driven       Driven
	once         sync.Once
	asked        atomic.Bool  // since Next was last called
	awake        atomic.Bool  // run looks at asked before it sleeps
	armed        atomic.Int64 // when the alarm goes off; 0: nobody knows
	ticking      sync.Mutex
	ended        atomic.Bool
	steady, wall *Alarm // nil, both, if they could not be made
	done         sync.WaitGroup
}

// Drive makes d do what it has to do at its times, until Stop. Call it once, before
// anything is done with d.
func (h *Host) Drive(d Driven) { h.drive.driven = d }

// Alarm tells that the next moment may have come nearer.
func (h *Host) Alarm() { h.drive.ask() }

// Due has the caller do what is due, unless somebody is doing it.
func (h *Host) Due() { h.drive.due() }

func (d *drive) due() {
	if d.driven == nil || !d.ticking.TryLock() {
		d.ask()
		return
	}
	d.driven.Tick()
	steady, wall := d.driven.Next()
	d.ticking.Unlock()
	// What is left is for the alarm, unless that goes off before it.
	if armed := d.armed.Load(); steady != math.MaxInt64 && (armed == 0 || steady < armed) || wall != math.MaxInt64 {
		d.ask()
	}
}

func (d *drive) ask() {
	if d.driven == nil || d.asked.Swap(true) {
		return
	}
	d.once.Do(d.start)
	if d.steady != nil && !d.awake.Load() {
		d.steady.Set(0)
	}
}

// start makes the alarms. Without them a goroutine looks every millisecond: nothing
// that is due may be lost because this process is short of descriptors.
func (d *drive) start() {
	steady, err := NewAlarm()
	if err != nil {
		d.done.Go(d.poll)
		return
	}
	wall, err := newWallAlarm()
	if err != nil {
		_ = steady.Close()
		d.done.Go(d.poll)
		return
	}
	d.steady, d.wall = steady, wall
	d.done.Go(d.run)
	d.done.Go(func() {
		for wall.Wait() == nil {
			steady.Set(0)
		}
	})
}

func (d *drive) run() {
	wallSet := false
	for d.steady.Wait() == nil {
		d.awake.Store(true)
		d.armed.Store(0)
		for d.work(&wallSet) {
			d.awake.Store(true)
			runtime.Gosched() // others may have become able to run
		}
	}
}

// atOnce is how soon something is due that it is not worth to set an alarm for: two
// system calls and a way through the poller. A GPU that looks at its doorbells all the
// time is due again so soon.
const atOnce = 2_000

// work does what is due and sets the alarms for what is next. True: there is more at once.
func (d *drive) work(wallSet *bool) (more bool) {
	d.ticking.Lock()
	d.driven.Tick()
	d.asked.Store(false) // whoever asks from now on is heard below
	steady, wall := d.driven.Next()
	d.ticking.Unlock()
	if steady <= Now()+atOnce && !d.ended.Load() {
		return true
	}
	if *wallSet {
		d.wall.Clear()
	}
	if *wallSet = wall != math.MaxInt64; *wallSet {
		d.wall.setAt(min(max(wall-ntEpoch, 0), math.MaxInt64/100) * 100)
	}
	if steady != math.MaxInt64 {
		d.steady.Set(time.Duration(steady - Now()))
		d.armed.Store(steady)
	}
	d.awake.Store(false)
	return d.asked.Load()
}

func (d *drive) poll() {
	for !d.ended.Load() {
		time.Sleep(time.Millisecond)
		d.asked.Store(false)
		d.ticking.Lock()
		d.driven.Tick()
		d.ticking.Unlock()
	}
}

// stop ends the drive.
func (d *drive) stop() {
	d.once.Do(func() {})
	d.ended.Store(true)
	if d.steady != nil {
		_ = d.steady.Close()
		_ = d.wall.Close()
	}
	d.done.Wait()
}
