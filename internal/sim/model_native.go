package sim

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
)

// Native fences: what drivers are to know of them. The monitored value follows from who
// waits; a driver is told of it in its turn, and then the value is looked at again.
// Source: native-fence.md §5, §7.

// A mOn is a native fence on one adapter.
type mOn struct {
	object    *mObject
	adapter   *mAdapter
	kmd       uint64 // the driver's side, for programs
	opens     int    // local objects, and what packets may use of them
	wanted    uint64 // monitored value
	monitored uint64 // that the driver was told
	asked     told   // in its turn
	must      told   // what the driver has to have heard since the last comparison
	value     uint64 // the last one of toldValue
}

// told is what a driver hears of a fence.
type told uint8

const (
	toldValue told = 1 << iota
	toldNotice
	toldSignaled
	toldMonitored
	toldAnyway // what nobody needs, but takes its turn
)

// interruptKind is how a GPU tells of a native fence.
type interruptKind uint8

const (
	namesFences interruptKind = iota
	namesNothing
	namesLegacy     // nothing, and monitored fences too
	saysLater       // together with the next one
	interruptKinds  // how many
	noWait          = lossMax
	everyInterrupts = 0
)

func (o *mObject) crosses() bool { return o.flags&abi.SyncObjectCrossAdapter != 0 }

// told says whether GPUs interrupt only if somebody waits.
func (o *mObject) told() bool { return !o.crosses() || !o.slow }

// kick is what GPUs hear of each other.
func (on *mOn) kick() {
	for _, other := range on.object.on {
		if other != on && on.object.crosses() && on.adapter.direct() && other.adapter.direct() {
			other.must |= toldNotice
		}
	}
}

// find is the fence on an adapter, nil: it is not there.
func (o *mObject) find(a *mAdapter) *mOn {
	for _, on := range o.on {
		if on.adapter == a {
			return on
		}
	}
	return nil
}

// place puts a fence on an adapter, if it is not there; fresh: it was not.
func (m *model) place(o *mObject, a *mAdapter) (on *mOn, fresh bool) {
	o.native = true
	if on = o.find(a); on == nil {
		fresh = true
		on = &mOn{object: o, adapter: a, monitored: noWait}
		if !o.slow && !a.direct() {
			o.slow = true
			m.rearm(o)
			m.settle() // the new driver does not know the fence yet
		}
		if !o.told() {
			on.monitored = everyInterrupts
		}
		on.wanted = m.wants(o)
		o.on = append(o.on, on)
		a.natives = append(a.natives, on)
	}
	on.opens++
	if on.monitored != on.wanted {
		m.askDriver(on, toldMonitored)
	}
	if o.lost {
		m.askDriver(on, toldSignaled)
	}
	return on, fresh
}

// leave ends one use on the adapter.
func (on *mOn) leave() {
	if on.opens--; on.opens > 0 {
		return
	}
	is := func(x *mOn) bool { return x == on }
	on.object.on = slices.DeleteFunc(slices.Clone(on.object.on), is)
	on.adapter.natives = slices.DeleteFunc(on.adapter.natives, is)
	on.adapter.held = slices.DeleteFunc(on.adapter.held, is)
}

// wants is the monitored value: less than what the first one waits for.
func (m *model) wants(o *mObject) uint64 {
	if !o.told() {
		return everyInterrupts
	}
	lowest := uint64(noWait)
	list := m.waitsFor(o)
	if m.starting != nil {
		for _, p := range m.starting.points {
			if p.object == o && p.in && !p.met {
				list = append(list, p)
			}
		}
	}
	for _, p := range list {
		if p.target > 0 {
			lowest = min(lowest, p.target-1)
		}
	}
	return lowest
}

// rearm decides on the monitored value.
func (m *model) rearm(o *mObject) {
	for _, on := range o.on {
		if v := m.wants(o); v != on.wanted {
			on.wanted = v
			m.askDriver(on, toldMonitored)
		}
	}
}

// askDriver has a driver told of something in its turn.
func (m *model) askDriver(on *mOn, what told) {
	a := on.adapter
	if on.asked == 0 {
		if len(a.tell) == 0 {
			m.call(a, func() { m.tell(a) })
		}
		a.tell = append(a.tell, on)
	}
	on.asked |= what
}

func (m *model) askAll(o *mObject, what told) {
	for _, on := range o.on {
		m.askDriver(on, what)
	}
}

// stored tells of a new value: the driver of one adapter that a CPU has stored it, others
// that somebody else has.
func (m *model) stored(o *mObject, by, but *mAdapter) {
	for _, on := range o.on {
		switch on.adapter {
		case but:
		case by:
			m.askDriver(on, toldValue)
		default:
			m.askDriver(on, toldNotice)
		}
	}
}

// tell is the turn of a driver.
func (m *model) tell(a *mAdapter) {
	list := a.tell
	a.tell = nil
	var again []*mOn
	for _, on := range list {
		what := on.asked
		on.asked = 0
		if on.opens == 0 {
			continue
		}
		if what&toldValue != 0 {
			on.value = on.object.see()
		}
		on.must |= what & (toldValue | toldNotice | toldSignaled)
		if what&toldMonitored != 0 && on.monitored != on.wanted {
			if v := a.overtakes; v != nil {
				m.overtake(on, *v)
			}
			on.monitored = on.wanted
			again = append(again, on)
		}
	}
	if len(again) > 0 {
		a.overtakes = nil
	}
	for _, on := range again {
		m.lookOn(on)
	}
}

// overtake is the signal of a GPU that does not know the new monitored value yet.
func (m *model) overtake(on *mOn, v uint64) {
	o, a := on.object, on.adapter
	if v < o.see() || v > on.monitored || !m.writable(on) {
		return
	}
	if !o.lost {
		o.value = v
	}
	if !slices.Contains(a.wroteNative, on) {
		a.wroteNative = append(a.wroteNative, on)
	}
}

// writable reports whether programs may have GPUs store to a fence through some address.
func (m *model) writable(on *mOn) bool {
	for _, p := range m.procs {
		for _, d := range slices.Concat(p.devices, p.destroyed) {
			locals := slices.Clone(d.locals)
			for _, r := range d.remnants {
				locals = append(locals, r.local)
			}
			if !p.dead && slices.ContainsFunc(locals, func(l *mLocal) bool { return l.on == on && l.signal }) {
				return true
			}
		}
	}
	return false
}

// lookOn looks at a fence that a GPU may have stored to, and tells other GPUs.
func (m *model) lookOn(on *mOn) {
	o := on.object
	if o.gone {
		return
	}
	m.look(o)
	if !o.told() {
		m.stored(o, nil, on.adapter)
	}
}

// lookAnyway is a look at a fence because of something else.
func (m *model) lookAnyway(o *mObject) {
	m.look(o)
	if o.crosses() {
		m.askAll(o, toldAnyway)
	}
}

// scanNatives looks at the native fences that a GPU has stored to.
func (m *model) scanNatives(a *mAdapter) {
	list := a.wroteNative
	a.wroteNative = nil
	for _, on := range list {
		m.lookOn(on)
	}
}

// scanAll is what nearly all interrupts ask for.
func (m *model) scanAll(a *mAdapter) {
	m.scan(a)
	m.scanNatives(a)
}

// interrupts says whether a GPU interrupts for a value, by chance without a reason.
func (m *model) interrupts(on *mOn, v uint64) bool { return v > on.monitored || m.spurious }

// nativeInterrupt is the interrupt of a GPU that has signalled fences.
func (m *model) nativeInterrupt(a *mAdapter, kind interruptKind) {
	held := a.held
	a.held = nil
	switch kind {
	case namesLegacy:
		m.scan(a)
		m.scanNatives(a)
	case namesNothing:
		m.scanNatives(a)
	default:
		for _, on := range held {
			m.lookOn(on)
		}
	}
	m.progress(a)
}

// hold keeps a fence for the next interrupt.
func (on *mOn) hold() {
	if a := on.adapter; !slices.Contains(a.held, on) {
		a.held = append(a.held, on)
	}
}

func (m *model) canNative(d *mDevice) bool { return d.adapter.native() }

// nativeDevice finds a device on an adapter with native fences.
func (m *model) nativeDevice(p *mProc, hDevice abi.Handle) (*mDevice, abi.Status) {
	d := m.device(p, hDevice)
	switch {
	case d == nil:
		return nil, invalid
	case !m.canNative(d):
		return nil, abi.StatusNotSupported
	}
	return d, abi.StatusSuccess
}

func (m *model) createNative(p *mProc, hDevice abi.Handle) abi.Status {
	d, st := m.nativeDevice(p, hDevice)
	if !st.OK() {
		return st
	}
	return d.usable()
}

func (m *model) openNative(p *mProc, hDevice abi.Handle, fd int) abi.Status {
	d, st := m.nativeDevice(p, hDevice)
	if !st.OK() {
		return st
	}
	s := m.shares[fd]
	if s == nil {
		return abi.StatusInvalidHandle
	}
	o := s.object
	if !o.inMemory() || o.adapter != d.adapter && !o.crosses() || o.kind == abi.MonitoredFence && o.adapter == d.adapter {
		return invalid
	}
	return d.usable()
}
