// Package softgpu is the GPU in software: a driver, as package ddi wants it, made from
// an adapter profile. Its first rooms are its video present targets and the CPU
// events that it signals on request.
//
// It has no goroutine and no timer: targets advance when the kernel calls Advance.
// What a person or a test does to the hardware (SetRefresh, SetOn, SignalCpuEvent)
// are methods of their own beside those of the contract, not for use inside callbacks.
//
// Lock order:
//
//	GPU.calling  (held during callbacks, so that Destroy calls can wait for them)
//	  GPU.mu     (never held during a callback)
package softgpu

import (
	"maps"
	"slices"
	"sync"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/display"
)

// MaxCpuEvents is how many CPU events a GPU takes. Further ones are refused with
// NO_MEMORY.
const MaxCpuEvents = 1 << 16

// periodicFirst is the first driver model with periodic frame notifications
// (objects.md §1.1).
const periodicFirst abi.WDDM = 2200

// A GPU is the driver of one adapter. Its methods may be called by any number of
// goroutines, but for Advance, which one at a time may call.
type GPU struct {
	ddi.Refusals // of what it cannot do yet

	caps    ddi.Caps
	refresh []uint32 // of the targets at the start

	calling sync.Mutex // callbacks of this GPU are under way

	mu      sync.Mutex
	cb      ddi.Callbacks // nil: not started, or stopped
	targets *display.Targets
	notes   map[ddi.Notification]note
	events  map[ddi.KmdCpuEvent]ddi.DxgCpuEvent
	handle  uint64 // the last that was given out
}

var _ ddi.Driver = (*GPU)(nil)

// A note is where a notification is.
type note struct{ target, id uint32 }

// New makes the GPU that a validated profile describes. It can signal CPU events if
// the profile has the feature KMD_SIGNAL_CPU_EVENT, and notify before vertical syncs
// if it is of WDDM 2.2 or later and has a display.
func New(p *adapter.Profile) *GPU {
	g := &GPU{notes: map[ddi.Notification]note{}, events: map[ddi.KmdCpuEvent]ddi.DxgCpuEvent{}}
	for _, d := range p.Displays {
		g.refresh = append(g.refresh, d.Refresh)
	}
	if p.Features.Has(abi.FeatureKMDSignalCPUEvent) {
		g.caps |= ddi.SignalCpuEvent
	}
	if p.WDDM >= periodicFirst && len(p.Displays) > 0 {
		g.caps |= ddi.PeriodicFrameNotification
	}
	return g
}

// StartDevice switches the displays on.
func (g *GPU) StartDevice(cb ddi.Callbacks) abi.Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cb = cb
	g.targets = display.New(cb.Now(), g.refresh...)
	return abi.StatusSuccess
}

// StopDevice switches everything off. It waits for callbacks under way.
func (g *GPU) StopDevice() {
	g.calling.Lock()
	defer g.calling.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cb = nil
	clear(g.notes)
	clear(g.events)
}

// Caps says what the profile gave.
func (g *GPU) Caps() ddi.Caps { return g.caps }

// Advance reports the notifications that fired up to now.
func (g *GPU) Advance(now int64) {
	g.calling.Lock()
	defer g.calling.Unlock()
	g.mu.Lock()
	cb := g.cb
	if cb == nil {
		g.mu.Unlock()
		return
	}
	fired := g.targets.Advance(now)
	g.mu.Unlock()
	for _, f := range fired {
		cb.NotifyInterrupt(ddi.PeriodicMonitoredFenceSignaled{VidPnTargetID: f.Target, NotificationID: f.ID, Count: f.Count})
	}
}

// Next is the next notification.
func (g *GPU) Next() (at int64, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cb == nil {
		return 0, false
	}
	return g.targets.Next()
}

// newHandle gives out a handle. The caller holds mu.
func (g *GPU) newHandle() uint64 {
	g.handle++
	return g.handle
}

// CreateCpuEvent takes a CPU event.
func (g *GPU) CreateCpuEvent(_ ddi.KmdDevice, event ddi.DxgCpuEvent) (ddi.KmdCpuEvent, abi.Status) {
	if !g.caps.Has(ddi.SignalCpuEvent) {
		return 0, abi.StatusNotSupported
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.events) == MaxCpuEvents {
		return 0, abi.StatusNoMemory
	}
	h := ddi.KmdCpuEvent(g.newHandle())
	g.events[h] = event
	return h, abi.StatusSuccess
}

// DestroyCpuEvent gives it back. It waits for a signal under way.
func (g *GPU) DestroyCpuEvent(event ddi.KmdCpuEvent) abi.Status {
	g.calling.Lock()
	defer g.calling.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.events[event]; !ok {
		return abi.StatusInvalidParameter
	}
	delete(g.events, event)
	return abi.StatusSuccess
}

// CreatePeriodicFrameNotification adds a notification to a target.
func (g *GPU) CreatePeriodicFrameNotification(args ddi.CreatePeriodicFrameNotificationArgs) (ddi.Notification, abi.Status) {
	if !g.caps.Has(ddi.PeriodicFrameNotification) {
		return 0, abi.StatusNotSupported
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.targets.Create(g.cb.Now(), args.VidPnTargetID, args.NotificationID, args.Time); s != abi.StatusSuccess {
		return 0, s
	}
	h := ddi.Notification(g.newHandle())
	g.notes[h] = note{args.VidPnTargetID, args.NotificationID}
	return h, abi.StatusSuccess
}

// DestroyPeriodicFrameNotification takes it away. It waits for interrupts under way.
func (g *GPU) DestroyPeriodicFrameNotification(h ddi.Notification) abi.Status {
	g.calling.Lock()
	defer g.calling.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	n, ok := g.notes[h]
	if !ok {
		return abi.StatusInvalidParameter
	}
	delete(g.notes, h)
	return g.targets.Destroy(n.target, n.id)
}

// SignalCpuEvent has the driver decide to signal an event. Its result is that of
// the callback SignalEvent. INVALID_PARAMETER: there is no such event here (any
// more).
func (g *GPU) SignalCpuEvent(event ddi.KmdCpuEvent) abi.Status {
	g.calling.Lock()
	defer g.calling.Unlock()
	g.mu.Lock()
	e, ok := g.events[event]
	cb := g.cb
	g.mu.Unlock()
	if !ok {
		return abi.StatusInvalidParameter
	}
	return cb.SignalEvent(e)
}

// CpuEvents lists the events that are here, in order of creation.
func (g *GPU) CpuEvents() []ddi.KmdCpuEvent {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.events))
}

// SetRefresh gives a target another refresh rate, in thousandths of a hertz, from its
// next vertical sync on. INVALID_PARAMETER: there is no such target, or the rate is
// not one (display.MinRefresh to display.MaxRefresh). DEVICE_NOT_READY: the GPU is
// not started.
func (g *GPU) SetRefresh(target, refresh uint32) abi.Status {
	return g.adjust(func(now int64) abi.Status { return g.targets.SetRefresh(now, target, refresh) })
}

// SetOn switches a target on or off. INVALID_PARAMETER: there is no such target.
// DEVICE_NOT_READY: the GPU is not started.
func (g *GPU) SetOn(target uint32, on bool) abi.Status {
	return g.adjust(func(now int64) abi.Status { return g.targets.SetOn(now, target, on) })
}

// adjust changes the targets and has the kernel ask for the next moment again.
func (g *GPU) adjust(f func(now int64) abi.Status) abi.Status {
	g.calling.Lock()
	defer g.calling.Unlock()
	g.mu.Lock()
	cb := g.cb
	if cb == nil {
		g.mu.Unlock()
		return abi.StatusDeviceNotReady
	}
	s := f(cb.Now())
	g.mu.Unlock()
	if s == abi.StatusSuccess {
		cb.Rearm()
	}
	return s
}
