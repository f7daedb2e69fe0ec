package host

import (
	"math"
	"sync"
	"testing"
)

// driven is due at moments that a test gives it, and tells when it was called.
type driven struct {
	mu           sync.Mutex
	steady, wall int64
	ticks        chan int64
}

func (d *driven) due(steady, wall int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.steady, d.wall = steady, wall
}

func (d *driven) Next() (steady, wall int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.steady, d.wall
}

// Tick does what is due, on either clock, and says so.
func (d *driven) Tick() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := Now(); d.steady <= now {
		d.steady = math.MaxInt64
		d.ticks <- now
	}
	if now := Time(); d.wall <= now {
		d.wall = math.MaxInt64
		d.ticks <- now
	}
}

// What is due is done then and not before, on both clocks, however often one asks.
func TestDrive(t *testing.T) {
	d := &driven{steady: math.MaxInt64, wall: math.MaxInt64, ticks: make(chan int64, 2)}
	var h Host
	h.Drive(d)
	defer h.drive.stop()
	for i := range 20 {
		at := Now() + int64(i)*100_000
		d.due(at, math.MaxInt64)
		h.Alarm()
		h.Alarm()
		if got := <-d.ticks; got < at {
			t.Fatalf("done %d ns early", at-got)
		}
		at = Time() + int64(i)*1000
		d.due(math.MaxInt64, at)
		h.Alarm()
		if got := <-d.ticks; got < at {
			t.Fatalf("done %d00 ns early", at-got)
		}
	}
}

// Many who ask at once, each for a moment nearer than the one before: none is forgotten.
func TestDriveHammer(t *testing.T) {
	d := &driven{steady: math.MaxInt64, wall: math.MaxInt64, ticks: make(chan int64, 2)}
	var h Host
	h.Drive(d)
	defer h.drive.stop()
	for range 500 {
		var asking sync.WaitGroup
		d.due(Now()+1_000_000_000_000, math.MaxInt64)
		for range 4 {
			asking.Go(h.Alarm)
		}
		asking.Go(func() {
			d.due(Now(), math.MaxInt64)
			h.Alarm()
		})
		<-d.ticks
		asking.Wait()
	}
}

// A host that drives nothing, or never had to, ends all the same.
func TestDriveNothing(t *testing.T) {
	var h Host
	h.Alarm()
	h.drive.stop()
	h = Host{}
	h.Drive(&driven{steady: math.MaxInt64, wall: math.MaxInt64})
	h.drive.stop()
}

// Who says that something is due does it, and what comes later is not forgotten.
func TestDue(t *testing.T) {
	d := &driven{steady: math.MaxInt64, wall: math.MaxInt64, ticks: make(chan int64, 2)}
	var h Host
	h.Drive(d)
	defer h.drive.stop()
	for i := range 100 {
		d.due(Now(), math.MaxInt64)
		h.Due()
		if i == 0 && len(d.ticks) != 1 { // later an alarm may be at it
			t.Fatalf("%d ticks when Due has returned", len(d.ticks))
		}
		<-d.ticks
		at := Now() + int64(i%7)*50_000
		d.due(at, math.MaxInt64)
		h.Due()
		if got := <-d.ticks; got < at {
			t.Fatalf("done %d ns early", at-got)
		}
	}
}

// The same while the alarm goes off, too.
func TestDueHammer(t *testing.T) {
	d := &driven{steady: math.MaxInt64, wall: math.MaxInt64, ticks: make(chan int64, 8)}
	var h Host
	h.Drive(d)
	defer h.drive.stop()
	for i := range 2000 {
		var asking sync.WaitGroup
		d.due(Now()+int64(i%5)*10_000, math.MaxInt64)
		asking.Go(h.Alarm)
		asking.Go(h.Due)
		asking.Go(h.Due)
		<-d.ticks
		asking.Wait()
	}
}
