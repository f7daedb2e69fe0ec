package sim

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// Native fences of a puppet. A buffer's signal interrupts if its value is above the
// monitored value, in the manner that the program chooses.

// A puppetNative is a native fence.
type puppetNative struct {
	dxg       ddi.DxgNativeFence
	at, mval  uint64 // in the system process; 0 without that
	peers     ddi.Peers
	monitored uint64
	opens     int
	lost      bool
	progress  bool   // of a hardware queue: nobody else signals it
	told      told   // since the last comparison
	value     uint64 // the last one of toldValue
}

// A puppetLocal is a local object of one.
type puppetLocal struct {
	fence    ddi.KmdNativeFence
	space    ddi.AddressSpace
	va, mval uint64
}

func (p *puppet) NativeFenceCaps() ddi.NativeFenceCaps { return p.nativeCaps }

func (p *puppet) CreateNativeFence(args ddi.CreateNativeFenceArgs) (ddi.KmdNativeFence, abi.Status) {
	for _, n := range p.natives {
		if n.dxg == args.Fence {
			return 0, p.blame("CreateNativeFence(%d): there is one", args.Fence)
		}
	}
	at, mval := args.CurrentValueSystemProcessGpuVa, args.MonitoredValueSystemProcessGpuVa
	if mapped := p.nativeCaps.MapToGpuSystemProcess; (at != 0) != mapped || (mval != 0) != mapped {
		return 0, p.blame("CreateNativeFence(%d) at %#x and %#x of the system process", args.Fence, at, mval)
	}
	h := ddi.KmdNativeFence(p.handle())
	p.natives[h] = &puppetNative{dxg: args.Fence, at: at, mval: mval, peers: args.Peers}
	p.lastNative = uint64(h)
	p.trace.say("create native fence %d", h)
	return h, abi.StatusSuccess
}

func (p *puppet) OpenNativeFence(args ddi.OpenNativeFenceArgs) (ddi.KmdLocalNativeFence, abi.Status) {
	n, space := p.natives[args.Fence], p.devices[args.Device]
	if n == nil || space == nil {
		return 0, p.blame("OpenNativeFence(%d, %d): there is no such fence or device", args.Fence, args.Device)
	}
	mval, f := space.Load64(0, args.MonitoredValueGpuVa)
	if f != nil {
		return 0, p.blame("OpenNativeFence(%d): the monitored value is not mapped", args.Fence)
	}
	if n.opens == 0 {
		n.monitored = mval
	}
	n.opens++
	h := ddi.KmdLocalNativeFence(p.handle())
	p.locals[h] = &puppetLocal{args.Fence, space, args.CurrentValueGpuVa, args.MonitoredValueGpuVa}
	p.trace.say("open native fence %d as %d", args.Fence, h)
	return h, abi.StatusSuccess
}

func (p *puppet) CloseNativeFence(h ddi.KmdLocalNativeFence) abi.Status {
	l := p.locals[h]
	if l == nil {
		return p.blame("CloseNativeFence(%d): there is none", h)
	}
	p.trace.say("close native fence %d", h)
	delete(p.locals, h)
	p.natives[l.fence].opens--
	return abi.StatusSuccess
}

func (p *puppet) DestroyNativeFence(h ddi.KmdNativeFence) abi.Status {
	n := p.natives[h]
	if n == nil || n.opens > 0 {
		return p.blame("DestroyNativeFence(%d): there is none, or it is open", h)
	}
	p.trace.say("destroy native fence %d", h)
	p.held = slices.DeleteFunc(p.held, func(o ddi.DxgNativeFence) bool { return o == n.dxg })
	delete(p.natives, h)
	return abi.StatusSuccess
}

func (p *puppet) UpdateMonitoredValues(updates []ddi.MonitoredValueUpdate) {
	for _, u := range updates {
		n := p.natives[u.Fence]
		if n == nil || n.monitored == u.Value {
			p.blame("UpdateMonitoredValues of %d to %d: there is none, or it is that already", u.Fence, u.Value)
			continue
		}
		if p.overtakes != nil && !n.progress {
			p.overtake(u.Fence, n, *p.overtakes)
		}
		p.trace.say("monitored value of %d: %d", u.Fence, u.Value)
		n.monitored = u.Value
		u.MonitoredValue.Store(u.Value)
	}
	p.overtakes = nil
}

// overtake has a GPU signal a fence when it does not know the new monitored value yet, and
// does not interrupt by the old one.
func (p *puppet) overtake(h ddi.KmdNativeFence, n *puppetNative, v uint64) {
	for _, l := range p.locals {
		if now, f := l.space.Load64(0, l.va); l.fence != h || f != nil || v < now || v > n.monitored {
			continue
		}
		if l.space.Store64(0, l.va, v) == nil {
			p.trace.say("%d is stored to %d before that", v, h)
			return
		}
	}
}

func (p *puppet) UpdateCurrentValuesFromCpu(updates []ddi.CurrentValueUpdate, flags ddi.CurrentValueFlags) {
	for _, u := range updates {
		n := p.natives[u.Fence]
		if n == nil {
			p.blame("UpdateCurrentValuesFromCpu(%d): there is none", u.Fence)
			continue
		}
		p.trace.say("told of %d: value %d, flags %d", u.Fence, u.Value, flags)
		switch flags {
		case 0:
			n.told |= toldValue
			n.value = u.Value
		case ddi.NotificationOnly:
			n.told |= toldNotice
		case ddi.AlwaysSignaled:
			n.told |= toldSignaled
			n.lost = true
		default:
			p.blame("UpdateCurrentValuesFromCpu with flags %d", flags)
		}
	}
}

// KickNativeFence implements ddi.PeerDriver.
func (p *puppet) KickNativeFence(fence ddi.DxgNativeFence) abi.Status {
	for h, n := range p.natives {
		if n.dxg == fence {
			p.trace.say("kicked for %d", h)
			n.told |= toldNotice
			return abi.StatusSuccess
		}
	}
	return abi.StatusInvalidParameter
}

// nativeAt finds the native fence that an address space shows at an address.
func (p *puppet) nativeAt(space ddi.AddressSpace, va uint64) (*puppetLocal, *puppetNative) {
	for _, l := range p.locals {
		if l.space == space && l.va == va {
			return l, p.natives[l.fence]
		}
	}
	return nil, nil
}

// told tells of a signal, if somebody is to hear of it.
func (p *puppet) signaled(engine ddi.Engine, l *puppetLocal, n *puppetNative, v uint64) ddi.Interrupt {
	mval, f := l.space.Load64(engine.EngineOrdinal, l.mval)
	if f != nil || mval != n.monitored {
		p.blame("the monitored value of fence %d is %d, and the driver was told %d", l.fence, mval, n.monitored)
		return nil
	}
	if n.peers != nil {
		n.peers.Kick(n.dxg)
	}
	if v <= mval && !p.spurious {
		return nil
	}
	if !slices.Contains(p.held, n.dxg) {
		p.held = append(p.held, n.dxg)
	}
	if p.kind == saysLater {
		return nil
	}
	return p.tellHeld(engine)
}

// tellHeld is the interrupt for all fences that were signalled since the last one.
func (p *puppet) tellHeld(engine ddi.Engine) ddi.Interrupt {
	i := ddi.NativeFenceSignaled{Engine: engine}
	switch p.kind {
	case namesNothing:
	case namesLegacy:
		i.EvaluateLegacyMonitoredFences = true
	default:
		i.Fences = p.held
	}
	p.held = nil
	return i
}
