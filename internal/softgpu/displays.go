package softgpu

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// A note is where a notification is.
type note struct{ target, id uint32 }

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

// adjust changes something and has the kernel ask for the next moment again.
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
