package display

// A target is one video present target.
//
//	state    SetRefresh            vertical sync    SetOn(true)        SetOn(false)
//	Off      new rate              (none)           → Steady, from now nothing
//	Steady   → Turning; same       nothing          nothing            → Off
//	         rate: nothing
//	Turning  newest rate counts;   → Steady, with   nothing            → Off, with
//	         old rate: → Steady    the new rate                        the new rate
//
// Vertical syncs are numbered from 1 since the beat began.
type target struct {
	id    uint32
	state State
	beat  beat
	turn  int64 // Turning: the vertical sync with which the rate changes
	rate  int64 // Turning: the rate from there on
	notes []notification
}

// State is the state of a target.
type State uint8

// The states of a target.
const (
	Off     State = iota // no vertical syncs
	Steady               // one rate
	Turning              // another rate from the next vertical sync on
)

func (s State) String() string { return [...]string{"Off", "Steady", "Turning"}[s] }

// A notification fires before each vertical sync. While its target is off, next and
// at mean nothing.
type notification struct {
	id   uint32
	lead int64  // how long before, in nanoseconds
	next int64  // the vertical sync before which it fires next
	at   int64  // when that is
	late uint64 // how many of its firings wait to be collected
}

// setRefresh changes the rate, at now.
func (d *target) setRefresh(now, rate int64) {
	switch {
	case d.state == Off:
		d.beat.rate = rate
		return
	case rate == d.beat.rate:
		d.state = Steady
	default:
		d.state, d.rate = Turning, rate
		d.turn = d.beat.after(now)
	}
	for i := range d.notes {
		d.aim(&d.notes[i], d.notes[i].next)
	}
}

// switchOn begins a beat at now.
func (d *target) switchOn(now int64) {
	if d.state != Off {
		return
	}
	d.state, d.beat.start = Steady, now
	for i := range d.notes {
		d.aim(&d.notes[i], 1)
	}
}

// switchOff ends the beat. What was due stays so.
func (d *target) switchOff() {
	if d.state == Turning {
		d.beat.rate = d.rate
	}
	d.state = Off
}

// pass tells that it is now: a change of rate that lies behind begins a new beat.
// Everything up to now must have fired, so no notification is aimed at the past.
func (d *target) pass(now int64) {
	if d.state != Turning || d.beat.vsync(d.turn) > now {
		return
	}
	d.beat = d.turned()
	d.state = Steady
	for i := range d.notes {
		d.notes[i].next -= d.turn
	}
}

// turned is the beat behind the change of rate.
func (d *target) turned() beat { return beat{d.beat.vsync(d.turn), d.rate} }

// refresh is the rate that was set last.
func (d *target) refresh() int64 {
	if d.state == Turning {
		return d.rate
	}
	return d.beat.rate
}

// vsync is when vertical sync k is.
func (d *target) vsync(k int64) int64 {
	if d.state == Turning && k > d.turn {
		return d.turned().vsync(k - d.turn)
	}
	return d.beat.vsync(k)
}

// after is the number of the first vertical sync behind now.
func (d *target) after(now int64) int64 {
	if d.state == Turning && now >= d.beat.vsync(d.turn) {
		return d.turn + d.turned().after(now)
	}
	return d.beat.after(now)
}

// instant is when a notification with this lead fires for vertical sync k: not
// before the vertical sync before it, however short the interval became.
func (d *target) instant(k, lead int64) int64 { return max(d.vsync(k)-lead, d.vsync(k-1)) }

// last is the last vertical sync whose instant is not behind now.
func (d *target) last(now, lead int64) int64 {
	k := d.after(now) // its instant may have come, that of the next one cannot
	if d.instant(k, lead) > now {
		k--
	}
	return k
}

// aim makes vertical sync k the next of n.
func (d *target) aim(n *notification, k int64) { n.next, n.at = k, d.instant(k, n.lead) }

// notification is where the notification with this id is, -1 when there is none.
func (d *target) notification(id uint32) int {
	for i := range d.notes {
		if d.notes[i].id == id {
			return i
		}
	}
	return -1
}
