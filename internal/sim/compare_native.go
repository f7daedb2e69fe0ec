package sim

import (
	"github.com/dxgsync/dxgsync/ddi"
)

// compareNatives compares what a driver has been told of native fences.
func (w *World) compareNatives(p *puppet, a *mAdapter) {
	if len(p.natives) != len(a.natives) {
		w.differ("the driver of adapter %d has %d native fences, in the model %d", a.index, len(p.natives), len(a.natives))
		return
	}
	locals := 0
	for _, on := range a.natives {
		locals += on.opens
		n := p.natives[ddi.KmdNativeFence(on.kmd)]
		if n == nil || n.opens != on.opens || n.monitored != on.monitored {
			w.differ("native fence %d of adapter %d is %+v, in the model %d times open, monitored value %d", on.kmd, a.index, n, on.opens, on.monitored)
			return
		}
		if missed := on.must &^ n.heard(); missed != 0 {
			w.differ("the driver of adapter %d has not been told of native fence %d: %d of %d", a.index, on.kmd, missed, on.must)
		}
		if on.must&toldValue != 0 && !n.lost && n.value != on.value {
			w.differ("the driver of adapter %d was told that native fence %d is %d, in the model %d", a.index, on.kmd, n.value, on.value)
		}
		if over := on.object.lost || on.object.gone; n.lost != over {
			w.differ("the driver of adapter %d was told that native fence %d is always signalled: %v, in the model %v", a.index, on.kmd, n.lost, over)
		}
		if n.at != 0 && !on.object.gone {
			system := p.cb.SystemMemory()
			v, f := system.Load64(0, n.at)
			if mval, g := system.Load64(0, n.mval); f != nil || g != nil || v != on.object.see() || mval != on.monitored {
				w.differ("in the system process of adapter %d native fence %d is %d (%v), monitored value %d (%v), in the model %d and %d", a.index, on.kmd, v, f, mval, g, on.object.see(), on.monitored)
			}
		}
		on.must, n.told = 0, 0
	}
	if locals != len(p.locals) {
		w.differ("the driver of adapter %d has %d local objects of native fences, in the model %d", a.index, len(p.locals), locals)
	}
}

// heard is what a driver knows: that a fence is lost says all, and a value says more than
// that there is one.
func (n *puppetNative) heard() told {
	switch {
	case n.lost:
		return toldSignaled | toldValue | toldNotice
	case n.told&toldValue != 0:
		return n.told | toldNotice
	}
	return n.told
}
