package sim

import "slices"

// outstanding reports whether a command buffer of the device up to a number is not complete.
func (d *mDevice) outstanding(last uint64) bool {
	for _, c := range d.contexts {
		for _, q := range c.queues {
			if slices.ContainsFunc(q.pending, func(p *mPacket) bool { return p.run != nil && p.number <= last }) ||
				slices.ContainsFunc(q.flying, func(r *mRun) bool { return !r.dead && r.number <= last }) {
				return true
			}
		}
	}
	return false
}

// used reports whether a packet may still use the address.
func (r *mRemnant) used() bool { return r.local.device.outstanding(r.last) }

// abandon leaves the address of a fence that is being destroyed to packets that are
// queued. It is no reason for the fence to stay. Source: objects.md §5.5.
func (m *model) abandon(l *mLocal) {
	d := l.device
	if l.va == 0 || !d.outstanding(d.numbers) || l.proc.dead {
		return
	}
	if l.on != nil {
		l.on.opens++
	}
	d.remnants = append(d.remnants, &mRemnant{local: l, last: d.numbers})
}

// endRemnants gives up what no packet uses any more.
func (m *model) endRemnants(a *mAdapter) {
	for _, p := range m.procs {
		for _, d := range slices.Concat(p.devices, p.destroyed) {
			if d.adapter == a {
				d.remnants = slices.DeleteFunc(d.remnants, func(r *mRemnant) bool {
					if r.used() {
						return false
					}
					if r.local.on != nil {
						r.local.on.leave()
					}
					return true
				})
			}
		}
		p.destroyed = slices.DeleteFunc(p.destroyed, func(d *mDevice) bool { return len(d.remnants) == 0 })
	}
}
