// Package display keeps the video present targets of an adapter: when their
// vertical syncs are, and the notifications that fire before them.
//
// It is a function of its inputs. Every call that needs the time is given it, in
// nanoseconds of the caller's clock; nothing here has a timer. Next says when
// Advance has to be called; Advance called late gives the same firings.
//
// A vertical sync is computed from its number, never from the one before it, so
// nothing drifts: with r thousandths of a hertz, r intervals take 1000 seconds to
// the nanosecond. Only where the rate changes or a target is switched on does the
// count start again, at a whole nanosecond.
//
// Nothing here locks: a Targets belongs to whoever made it.
//
// Source: objects.md §5.6, gpu.md §10; choices: OQ-14, OQ-61.
package display

import (
	"cmp"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
)

// Limits.
const (
	// MaxNotifications is how many notifications the targets of an adapter have
	// together.
	MaxNotifications = 1024
	// MaxLate is how many firings of one notification wait to be collected. When
	// there are more, because the machine slept, one firing stands for all of them.
	MaxLate = 64
	// MinRefresh and MaxRefresh bound a refresh rate, in thousandths of a hertz.
	MinRefresh, MaxRefresh = 1_000, 1_000_000
)

// A Fired is a notification that fired: once for each vertical sync of its target.
type Fired struct {
	At     int64  // when, in nanoseconds of the clock
	Target uint32 // number of the target
	ID     uint32 // number of the notification
	Count  uint64 // how many firings this stands for: 1, or more after MaxLate; At is the last one's
}

// Targets are the video present targets of one adapter.
type Targets struct {
	now   int64 // the latest time that was given
	all   []target
	count int     // notifications of all targets
	due   []Fired // what fired up to now and was not collected yet
	spare []Fired // what the last Advance returned
}

// New makes targets 0, 1, … with these refresh rates in thousandths of a hertz, from
// MinRefresh to MaxRefresh each. They are on; their first vertical sync is one
// interval after now.
func New(now int64, refresh ...uint32) *Targets {
	t := &Targets{now: now, all: make([]target, len(refresh))}
	for i, r := range refresh {
		if !validRefresh(r) {
			panic("display: a refresh rate is out of range")
		}
		t.all[i] = target{id: uint32(i), beat: beat{now, int64(r)}, state: Steady}
	}
	return t
}

func validRefresh(r uint32) bool { return r >= MinRefresh && r <= MaxRefresh }

// Create adds a notification to a target. It fires time units of 100 ns before each
// vertical sync, for the first time after now: 0 is at the vertical sync, a whole
// interval at the one before. When the rate later rises so far that time is longer
// than an interval, the notification fires at the vertical sync before, until the
// rate falls again.
//
// INVALID_PARAMETER: there is no such target, time is longer than an interval of the
// rate that was set last, or the target has a notification with this id. NO_MEMORY:
// there are MaxNotifications.
func (t *Targets) Create(now int64, target, id uint32, time uint64) abi.Status {
	d := t.find(target)
	if d == nil || time > uint64(span/(100*d.refresh())) || d.notification(id) >= 0 {
		return abi.StatusInvalidParameter
	}
	if t.count == MaxNotifications {
		return abi.StatusNoMemory
	}
	t.reach(now)
	n := notification{id: id, lead: 100 * int64(time)}
	if d.state != Off {
		d.aim(&n, d.last(t.now, n.lead)+1)
	}
	d.notes = append(d.notes, n)
	t.count++
	return abi.StatusSuccess
}

// Destroy takes a notification away. Its firings that were not collected are lost.
// INVALID_PARAMETER: there is none with this id on this target.
func (t *Targets) Destroy(target, id uint32) abi.Status {
	d := t.find(target)
	if d == nil {
		return abi.StatusInvalidParameter
	}
	i := d.notification(id)
	if i < 0 {
		return abi.StatusInvalidParameter
	}
	d.notes = slices.Delete(d.notes, i, i+1)
	t.count--
	t.due = slices.DeleteFunc(t.due, func(f Fired) bool { return f.Target == target && f.ID == id })
	return abi.StatusSuccess
}

// SetRefresh gives a target another refresh rate, in thousandths of a hertz. The
// interval that runs ends as it would have; those behind it are of the new rate. A
// target that is off has it from when it is switched on. INVALID_PARAMETER: there
// is no such target, or the rate is not within MinRefresh to MaxRefresh.
func (t *Targets) SetRefresh(now int64, target, refresh uint32) abi.Status {
	d := t.find(target)
	if d == nil || !validRefresh(refresh) {
		return abi.StatusInvalidParameter
	}
	t.reach(now)
	d.setRefresh(t.now, int64(refresh))
	return abi.StatusSuccess
}

// SetOn switches a target on or off. While it is off, none of its notifications
// fires. Switched on, it has its first vertical sync one interval later.
// INVALID_PARAMETER: there is no such target.
func (t *Targets) SetOn(now int64, target uint32, on bool) abi.Status {
	d := t.find(target)
	if d == nil {
		return abi.StatusInvalidParameter
	}
	t.reach(now)
	if on {
		d.switchOn(t.now)
	} else {
		d.switchOff()
	}
	return abi.StatusSuccess
}

// State returns the state of a target, Off when there is no such target.
func (t *Targets) State(target uint32) State {
	if d := t.find(target); d != nil {
		return d.state
	}
	return Off
}

// Refresh returns the rate of a target that was set last, in thousandths of a hertz;
// 0 when there is no such target.
func (t *Targets) Refresh(target uint32) uint32 {
	if d := t.find(target); d != nil {
		return uint32(d.refresh())
	}
	return 0
}

// Advance returns what fired up to now and was not returned before, in order of time,
// then target, then notification. The list is valid until the next Advance. A now
// that lies before an earlier one counts as that one.
func (t *Targets) Advance(now int64) []Fired {
	t.reach(now)
	fired := t.due
	t.due, t.spare = t.spare[:0], fired
	for i := range t.all {
		for j := range t.all[i].notes {
			t.all[i].notes[j].late = 0
		}
	}
	slices.SortFunc(fired, func(a, b Fired) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Target, b.Target), cmp.Compare(a.ID, b.ID))
	})
	return fired
}

// Next returns when something fires that Advance has not returned yet, which may lie
// in the past; false when nothing will before another call changes that.
func (t *Targets) Next() (at int64, ok bool) {
	for _, f := range t.due {
		if !ok || f.At < at {
			at, ok = f.At, true
		}
	}
	for i := range t.all {
		d := &t.all[i]
		if d.state == Off {
			continue
		}
		for _, n := range d.notes {
			if !ok || n.at < at {
				at, ok = n.at, true
			}
		}
	}
	return at, ok
}

func (t *Targets) find(id uint32) *target {
	if uint64(id) >= uint64(len(t.all)) {
		return nil
	}
	return &t.all[id]
}

// reach moves the targets to now; what fires on the way becomes due.
func (t *Targets) reach(now int64) {
	t.now = max(t.now, now)
	for i := range t.all {
		if d := &t.all[i]; d.state != Off {
			for j := range d.notes {
				if n := &d.notes[j]; n.at <= t.now {
					t.fire(d, n)
				}
			}
			d.pass(t.now)
		}
	}
}

// fire makes everything due that n fires up to now, and aims n at what follows.
func (t *Targets) fire(d *target, n *notification) {
	last := d.last(t.now, n.lead)
	f := Fired{Target: d.id, ID: n.id, Count: uint64(last - n.next + 1)}
	if n.late += f.Count; n.late > MaxLate {
		// One for all: those that wait, and the new ones.
		t.due = slices.DeleteFunc(t.due, func(w Fired) bool {
			if w.Target != f.Target || w.ID != f.ID {
				return false
			}
			f.Count += w.Count
			return true
		})
		f.At = d.instant(last, n.lead)
		t.due = append(t.due, f)
	} else {
		for k := n.next; k <= last; k++ {
			t.due = append(t.due, Fired{d.instant(k, n.lead), d.id, n.id, 1})
		}
	}
	d.aim(n, last+1)
}
