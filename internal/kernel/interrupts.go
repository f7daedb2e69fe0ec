package kernel

import (
	"math"

	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// NotifyInterrupt takes an interrupt. One for something that is gone, or that is not
// made yet, is ignored. What the driver is to be asked because of it is asked after
// Advance has returned.
func (c callbacks) NotifyInterrupt(i ddi.Interrupt) {
	k := c.kernel
	k.lock()
	defer k.unlockInside()
	s := c.sched
	if s == nil || c.stopped {
		return
	}
	switch i := i.(type) {
	case ddi.PeriodicMonitoredFenceSignaled:
		if n := c.notices[i.NotificationID]; n != nil {
			n.fence.Notify(max(i.Count, 1), &k.fx.wakes)
		}
		return
	case ddi.DmaRead:
		s.Read(i)
		return
	case ddi.SuspendContextCompleted:
		s.Suspended(i)
		return
	case ddi.GpuEngineTimeout:
		s.EngineTimeout(i)
		return
	case ddi.GpuEngineStateChange:
		c.engineState(i)
		return
	case ddi.NativeFenceSignaled:
		k.nativeSignaled(c.Adapter, i)
		s.Progress()
		return
	case ddi.MonitoredFenceSignaled:
		k.scan(c.Adapter)
		k.scanNatives(c.Adapter) // of which some are written as monitored ones, too
		s.Progress()
		return
	}
	// Whatever else comes, values of fences may have been written before it.
	k.scan(c.Adapter)
	k.scanNatives(c.Adapter)
	switch i := i.(type) {
	case ddi.DmaCompleted:
		s.Completed(i)
	case ddi.DmaPreempted:
		s.Preempted(i)
	case ddi.DmaFaulted:
		s.Faulted(i)
	case ddi.DmaPageFaulted:
		s.PageFaulted(i)
	case ddi.HwQueuePageFaulted:
		s.HwPageFaulted(i)
	}
	s.Progress()
}

// nativeSignaled looks at the fences that an interrupt names, or at all that may have been
// signalled. One that names a fence that was destroyed is a fault of the driver, for
// people to hear of. Source: native-fence.md §6.
func (k *Kernel) nativeSignaled(a *Adapter, i ddi.NativeFenceSignaled) {
	if i.EvaluateLegacyMonitoredFences {
		k.scan(a)
	}
	if i.Fences == nil || a.driver.Caps().Has(ddi.OptimizedNativeFenceSignaledInterrupt) {
		k.scanNatives(a) // what was stored through the kernel's own addresses
		a.readLogsOf(i.HwQueue)
		return
	}
	for _, dxg := range i.Fences {
		if o := a.natives[dxg]; o != nil {
			o.look()
		} else {
			a.note(incident{code: vidsch.SchedulerInternalError, engine: i.Engine.String()})
		}
	}
	a.readLogsOf(0)
}

// settle does what packets of all adapters can do without a GPU. The lock is held.
func (k *Kernel) settle() (asks bool) {
	for busy := true; busy; {
		busy = false
		for _, a := range k.adapters {
			if a.sched.Busy() {
				a.sched.Run()
				busy = true
			}
		}
	}
	for _, a := range k.adapters {
		asks = asks || a.sched.Asks()
	}
	return asks
}

// drain makes the calls of drivers that the schedulers have decided on, those of one
// adapter in order and one at a time. Without the lock, and not inside a callback.
func (k *Kernel) drain() {
	due, ahead := false, false
	for _, a := range k.adapters {
		if !a.drain() {
			continue
		}
		k.lock()
		ahead = ahead || a.sched.Next() != math.MaxInt64
		k.unlockInside()
		if at, busy := a.driver.Next(); busy {
			due, ahead = due || at <= k.now(), true
		}
	}
	switch {
	case k.ticking.Load() || !ahead: // who ticks asks for what is next anyway
	case due:
		k.host.Due()
	default:
		k.host.Alarm()
	}
}

// drain reports whether anything was asked.
func (a *Adapter) drain() (asked bool) {
	k := a.kernel
	a.asking.Lock()
	for {
		k.lock()
		k.settle()
		calls := a.sched.Take()
		k.unlockInside()
		if len(calls) == 0 {
			break
		}
		asked = true
		for _, call := range calls {
			call(a.driver)
		}
	}
	a.asking.Unlock()
	return asked
}
