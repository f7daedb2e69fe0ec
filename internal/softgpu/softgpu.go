// Package softgpu is the GPU in software: a driver, as package ddi wants it, made from
// an adapter profile. It executes the command buffers of package cmdbuf on one engine
// for each node and physical adapter, has the profile's video present targets, and
// signals CPU events on request.
//
// It has no goroutine and no timer: engines and targets go on when the kernel calls
// Advance. What a person or a test does to the hardware (Hang, PageFault, SetRefresh,
// SignalCpuEvent and so on) are methods of their own beside those of the contract, not
// for use inside callbacks.
//
// Lock order:
//
//	GPU.calling  (held during callbacks and accesses to memory, so that Destroy and
//	              Reset calls can wait for them)
//	  GPU.mu     (never held during a callback or an access to memory)
//	    peers.mu (only what is in peers is done under it)
package softgpu

import (
	"sync"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/display"
)

// periodicFirst is the first driver model with periodic frame notifications
// (objects.md §1.1).
const periodicFirst abi.WDDM = 2200

// A GPU is the driver of one adapter. Its methods may be called by any number of
// goroutines, but for Advance, which one at a time may call.
type GPU struct {
	// What the profile says. It does not change.
	caps       ddi.Caps // but for native fences, which StartDevice adds
	native     adapter.NativeFenceOptions
	fencing    bool     // native fences are enabled
	refresh    []uint32 // of the targets at the start
	clock      uint64   // ticks per second
	dependents []uint64 // by node: the nodes that its reset disturbs, itself among them
	foreign    adapter.ForeignCommands
	faults     adapter.Faults
	narrow     bool // fences are in 32-bit storage

	calling sync.Mutex // callbacks and accesses of this GPU are under way; guards scratch
	scratch [chunk]byte

	mu       sync.Mutex
	cb       ddi.Callbacks // nil: not started, or stopped
	now      int64         // of the latest Advance
	engines  []*engine     // by engine ordinal, then node; the list does not change
	down     bool          // between ResetFromTimeout and RestartFromTimeout
	refusing bool          // resets of engines
	devices  map[ddi.KmdDevice]*space
	spaces   map[ddi.AddressSpace]*space
	contexts map[ddi.KmdContext]*context
	queues   map[ddi.KmdHwQueue]*hwQueue
	targets  *display.Targets
	notes    map[ddi.Notification]note
	events   map[ddi.KmdCpuEvent]ddi.DxgCpuEvent
	handle   uint64 // the last that was given out

	os     ddi.NativeFenceOSCaps
	system ddi.AddressSpace // of the system process; as os, it changes only at the start
	fences map[ddi.KmdNativeFence]*nativeFence
	locals map[ddi.KmdLocalNativeFence]*view
	late   []*nativeFence // to be named in interrupts, but not by a command
	waited uint64         // WAITs that stalled so far
	peers  peers

	doorbells
	asleep bool // in D3
}

var (
	_ ddi.Driver     = (*GPU)(nil)
	_ ddi.PeerDriver = (*GPU)(nil)
)

// New makes the GPU that a validated profile describes. It can signal CPU events if
// the profile has the feature KMD_SIGNAL_CPU_EVENT, notify before vertical syncs if it
// is of WDDM 2.2 or later and has a display, reset engines alone with SupportPerEngineTDR,
// has hardware queues if hw_scheduling is enabled, and doorbells if USER_MODE_SUBMISSION is.
func New(p *adapter.Profile) *GPU {
	g := &GPU{
		caps:     ddi.ReportsRead,
		clock:    p.GpuClock,
		foreign:  p.ForeignCommands,
		faults:   p.Faults,
		narrow:   !p.Caps.Has(adapter.Support64BitAtomics),
		refusing: p.Faults.ResetEngine == adapter.Fail,
		native:   p.NativeFence,
		fencing:  p.NativeFences(),
		devices:  map[ddi.KmdDevice]*space{},
		spaces:   map[ddi.AddressSpace]*space{},
		fences:   map[ddi.KmdNativeFence]*nativeFence{},
		locals:   map[ddi.KmdLocalNativeFence]*view{},
		peers:    peers{fences: map[ddi.DxgNativeFence]*nativeFence{}},
		contexts: map[ddi.KmdContext]*context{},
		queues:   map[ddi.KmdHwQueue]*hwQueue{},
		notes:    map[ddi.Notification]note{},
		events:   map[ddi.KmdCpuEvent]ddi.DxgCpuEvent{},
	}
	if g.clock == 0 {
		g.clock = adapter.DefaultGpuClock
	}
	g.doorbells.init(p.Doorbells)
	for _, d := range p.Displays {
		g.refresh = append(g.refresh, d.Refresh)
	}
	for o := range p.PhysicalAdapters {
		for n, node := range p.Nodes {
			g.engines = append(g.engines, &engine{
				name:    ddi.Engine{NodeOrdinal: uint32(n), EngineOrdinal: uint32(o)},
				release: node.Flags&adapter.RingBufferFenceRelease != 0,
			})
		}
	}
	for i, node := range p.Nodes {
		mask := uint64(1) << i
		for _, d := range node.DependentNodes {
			mask |= 1 << d
		}
		g.dependents = append(g.dependents, mask)
	}
	for c, has := range map[ddi.Caps]bool{
		ddi.SignalCpuEvent:            p.Features.Has(abi.FeatureKMDSignalCPUEvent),
		ddi.PeriodicFrameNotification: p.WDDM >= periodicFirst && len(p.Displays) > 0,
		ddi.PerEngineReset:            p.Caps.Has(adapter.SupportPerEngineTDR),
		ddi.HwScheduling:              p.HwScheduling.Enabled,
		ddi.UserModeSubmission:        p.SubmitsFromUserMode(),
	} {
		if has {
			g.caps |= c
		}
	}
	return g
}

// StartDevice switches everything on, native fences if profile and system have them.
func (g *GPU) StartDevice(cb ddi.Callbacks) abi.Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cb = cb
	g.now = cb.Now()
	g.targets = display.New(g.now, g.refresh...)
	g.startFences()
	return abi.StatusSuccess
}

// StopDevice switches everything off. It waits for callbacks under way.
func (g *GPU) StopDevice() {
	g.calling.Lock()
	defer g.calling.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cb = nil
	for _, e := range g.engines {
		e.clear()
	}
	clear(g.devices)
	clear(g.contexts)
	clear(g.queues)
	g.doorbells.clear()
	clear(g.notes)
	clear(g.events)
	g.stopFences()
}

// Caps says what the profile gave, and since the start what the system has.
func (g *GPU) Caps() ddi.Caps { return g.caps }

// Advance lets the engines work up to now, within bounds, and then reports the
// notifications that fired: DMA interrupts come before those of displays, as with
// DxgkCbNotifyInterrupt.
func (g *GPU) Advance(now int64) {
	g.calling.Lock()
	defer g.calling.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cb == nil || now < g.now {
		return
	}
	g.now = now
	g.interruptLate()
	g.poll(now)
	g.work(now)
	for _, f := range g.targets.Advance(now) {
		g.notify(ddi.PeriodicMonitoredFenceSignaled{VidPnTargetID: f.Target, NotificationID: f.ID, Count: f.Count})
	}
}

// Next is when an engine or a notification is due, whichever comes first.
func (g *GPU) Next() (at int64, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cb == nil {
		return 0, false
	}
	if len(g.late) > 0 {
		return g.now, true
	}
	at, ok = g.targets.Next()
	if moment, due := g.moment((*engine).always); due && (!ok || moment < at) {
		at, ok = moment, true
	}
	if look, due := g.nextLook(); due && (!ok || look < at) {
		at, ok = look, true
	}
	return at, ok
}

// notify reports an interrupt. The caller holds calling and mu, which is dropped
// meanwhile.
func (g *GPU) notify(i ddi.Interrupt) {
	cb := g.cb
	g.mu.Unlock()
	defer g.mu.Lock()
	cb.NotifyInterrupt(i)
}

// newHandle gives out a handle. The caller holds mu.
func (g *GPU) newHandle() uint64 {
	g.handle++
	return g.handle
}
