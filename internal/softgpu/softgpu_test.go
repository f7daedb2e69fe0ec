package softgpu

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/display"
)

// A fakeKernel notes what the driver calls. Its clock is set by hand.
type fakeKernel struct {
	ddi.Callbacks // nil: the rest is not called
	now           int64
	rearmed       int
	signals       []ddi.DxgCpuEvent
	answer        abi.Status // of SignalEvent
	interrupts    []ddi.Interrupt
	during        func() // inside NotifyInterrupt
	fenceless     bool   // the system has no native fences
	os            ddi.NativeFenceOSCaps
	system        ddi.AddressSpace
	taken         []ddi.KmdHwQueue // whose doorbells the driver took
}

func (k *fakeKernel) SignalEvent(e ddi.DxgCpuEvent) abi.Status {
	k.signals = append(k.signals, e)
	return k.answer
}

func (k *fakeKernel) NotifyInterrupt(i ddi.Interrupt) {
	k.interrupts = append(k.interrupts, i)
	if k.during != nil {
		k.during()
	}
}

func (k *fakeKernel) Now() int64 { return k.now }

func (k *fakeKernel) IsFeatureEnabled(abi.FeatureID) bool { return !k.fenceless }

func (k *fakeKernel) NativeFenceOSCaps() ddi.NativeFenceOSCaps { return k.os }
func (k *fakeKernel) SystemMemory() ddi.AddressSpace           { return k.system }

func (k *fakeKernel) Rearm() { k.rearmed++ }

func profile(t *testing.T, change func(p *adapter.Profile)) *adapter.Profile {
	t.Helper()
	p, err := adapter.Load("neutral")
	if err != nil {
		t.Fatal(err)
	}
	p.Displays = append(p.Displays, p.Displays[0])
	p.Displays[0].Refresh, p.Displays[1].Refresh = 50_000, 100_000
	if change != nil {
		change(p)
	}
	return p
}

func started(t *testing.T) (*GPU, *fakeKernel) {
	t.Helper()
	k := &fakeKernel{now: 1e9}
	g := New(profile(t, nil))
	must(t, g.StartDevice(k))
	return g, k
}

func must(t *testing.T, s abi.Status) {
	t.Helper()
	if s != abi.StatusSuccess {
		t.Fatal(s)
	}
}

func TestCapsFollowTheProfile(t *testing.T) {
	both := ddi.SignalCpuEvent | ddi.PeriodicFrameNotification | ddi.UserModeSubmission
	for _, c := range []struct {
		name   string
		change func(p *adapter.Profile)
		want   ddi.Caps
	}{
		{"neutral", func(*adapter.Profile) {}, both | ddi.NativeGpuFence},
		{"queue interrupts", func(p *adapter.Profile) { p.NativeFence.Interrupt = adapter.InterruptQueue }, both | ddi.NativeGpuFence | ddi.OptimizedNativeFenceSignaledInterrupt},
		{"direct signal", func(p *adapter.Profile) { p.NativeFence.DirectSignal = true }, both | ddi.NativeGpuFence | ddi.DirectSignal},
		{"no hardware queues", func(p *adapter.Profile) { p.HwScheduling.Enabled = false }, both &^ ddi.UserModeSubmission},
		{"feature off", func(p *adapter.Profile) { p.Features = 0 }, ddi.PeriodicFrameNotification},
		{"no display", func(p *adapter.Profile) { p.Displays = nil }, ddi.SignalCpuEvent | ddi.NativeGpuFence | ddi.UserModeSubmission},
		{"WDDM 2.9", func(p *adapter.Profile) { p.WDDM, p.Features = 2900, 0 }, ddi.PeriodicFrameNotification},
		{"WDDM 2.2", func(p *adapter.Profile) { p.WDDM, p.Features = 2200, 0 }, ddi.PeriodicFrameNotification},
		{"WDDM 2.1", func(p *adapter.Profile) { p.WDDM, p.Features = 2100, 0 }, 0},
	} {
		p := profile(t, c.change)
		g := New(p)
		must(t, g.StartDevice(&fakeKernel{}))
		want := c.want | ddi.PerEngineReset | ddi.ReportsRead
		if p.HwScheduling.Enabled {
			want |= ddi.HwScheduling
		}
		if g.Caps() != want {
			t.Errorf("%s: %v, want %v", c.name, g.Caps(), want)
		}
		h, s := g.CreateCpuEvent(0, 1)
		if want := c.want.Has(ddi.SignalCpuEvent); (s == abi.StatusSuccess) != want || !want && s != abi.StatusNotSupported || (h != 0) != want {
			t.Errorf("%s: CreateCpuEvent: %d, %v", c.name, h, s)
		}
		n, s := g.CreatePeriodicFrameNotification(ddi.CreatePeriodicFrameNotificationArgs{})
		if want := c.want.Has(ddi.PeriodicFrameNotification); (s == abi.StatusSuccess) != want || !want && s != abi.StatusNotSupported || (n != 0) != want {
			t.Errorf("%s: CreatePeriodicFrameNotification: %d, %v", c.name, n, s)
		}
	}
}

func TestCpuEvents(t *testing.T) {
	g, k := started(t)
	a, s := g.CreateCpuEvent(0, 70)
	must(t, s)
	b, s := g.CreateCpuEvent(0, 80)
	must(t, s)
	if a == 0 || a == b || !slices.Equal(g.CpuEvents(), []ddi.KmdCpuEvent{a, b}) {
		t.Fatalf("handles %d and %d, listed as %v", a, b, g.CpuEvents())
	}
	must(t, g.SignalCpuEvent(b))
	must(t, g.SignalCpuEvent(a))
	k.answer = abi.StatusInvalidParameter // the kernel's answer goes through
	if s := g.SignalCpuEvent(a); s != k.answer {
		t.Errorf("the kernel says %v, the signal %v", k.answer, s)
	}
	if !slices.Equal(k.signals, []ddi.DxgCpuEvent{80, 70, 70}) {
		t.Errorf("signalled %v", k.signals)
	}
	k.signals = nil
	must(t, g.DestroyCpuEvent(a))
	for name, s := range map[string]abi.Status{
		"signal after destroy": g.SignalCpuEvent(a), "second destroy": g.DestroyCpuEvent(a),
		"signal of none": g.SignalCpuEvent(0), "destroy of none": g.DestroyCpuEvent(0),
	} {
		if s != abi.StatusInvalidParameter {
			t.Errorf("%s: %v", name, s)
		}
	}
	if len(k.signals) != 0 {
		t.Errorf("signals after destroy: %v", k.signals)
	}
}

func TestCpuEventsAreBounded(t *testing.T) {
	g, _ := started(t)
	for range MaxCpuEvents {
		_, s := g.CreateCpuEvent(0, 1)
		must(t, s)
	}
	if _, s := g.CreateCpuEvent(0, 1); s != abi.StatusNoMemory {
		t.Errorf("one too many: %v", s)
	}
}

// drive lets the kernel's timer run until end and returns the moments of interrupts.
func drive(g *GPU, k *fakeKernel, end int64) (at []int64) {
	for {
		next, ok := g.Next()
		if !ok || next > end {
			k.now = end
			return at
		}
		k.now = next
		before := len(k.interrupts)
		g.Advance(next)
		for range len(k.interrupts) - before {
			at = append(at, next-1e9)
		}
	}
}

func TestPeriodicFrameNotifications(t *testing.T) {
	g, k := started(t)
	if at, ok := g.Next(); ok {
		t.Errorf("nothing was asked for, and next is %d", at)
	}
	create := func(target uint32, time uint64, id uint32) ddi.Notification {
		h, s := g.CreatePeriodicFrameNotification(ddi.CreatePeriodicFrameNotificationArgs{VidPnTargetID: target, Time: time, NotificationID: id})
		must(t, s)
		return h
	}
	slow := create(0, 50_000, 7) // 50 Hz, 5 ms before
	fast := create(1, 0, 8)      // 100 Hz
	if slow == 0 || slow == fast {
		t.Fatalf("handles %d and %d", slow, fast)
	}
	if at := drive(g, k, 1e9+20e6); !slices.Equal(at, []int64{10e6, 15e6, 20e6}) {
		t.Errorf("interrupts at %v", at)
	}
	want := []ddi.Interrupt{
		ddi.PeriodicMonitoredFenceSignaled{VidPnTargetID: 1, NotificationID: 8, Count: 1},
		ddi.PeriodicMonitoredFenceSignaled{VidPnTargetID: 0, NotificationID: 7, Count: 1},
		ddi.PeriodicMonitoredFenceSignaled{VidPnTargetID: 1, NotificationID: 8, Count: 1},
	}
	if !slices.Equal(k.interrupts, want) {
		t.Errorf("interrupts %v, want %v", k.interrupts, want)
	}
	must(t, g.DestroyPeriodicFrameNotification(fast))
	if s := g.DestroyPeriodicFrameNotification(fast); s != abi.StatusInvalidParameter {
		t.Errorf("second destroy: %v", s)
	}
	if at := drive(g, k, 1e9+60e6); !slices.Equal(at, []int64{35e6, 55e6}) {
		t.Errorf("interrupts at %v", at)
	}
	// A clock that stood still for an hour.
	k.interrupts, k.now = nil, k.now+3600e9
	g.Advance(k.now)
	if !slices.Equal(k.interrupts, []ddi.Interrupt{ddi.PeriodicMonitoredFenceSignaled{NotificationID: 7, Count: 180_000}}) {
		t.Errorf("after an hour: %v", k.interrupts)
	}
}

func TestNotificationsRefused(t *testing.T) {
	g, _ := started(t)
	for _, c := range []struct {
		args ddi.CreatePeriodicFrameNotificationArgs
		want abi.Status
	}{
		{ddi.CreatePeriodicFrameNotificationArgs{VidPnTargetID: 2}, abi.StatusInvalidParameter},
		{ddi.CreatePeriodicFrameNotificationArgs{VidPnTargetID: 0, Time: 200_001}, abi.StatusInvalidParameter},
		{ddi.CreatePeriodicFrameNotificationArgs{VidPnTargetID: 1, Time: 100_001}, abi.StatusInvalidParameter},
		{ddi.CreatePeriodicFrameNotificationArgs{VidPnTargetID: 1, Time: 100_000}, abi.StatusSuccess},
	} {
		if _, s := g.CreatePeriodicFrameNotification(c.args); s != c.want {
			t.Errorf("%+v: %v, want %v", c.args, s, c.want)
		}
	}
	for id := range uint32(display.MaxNotifications - 1) {
		_, s := g.CreatePeriodicFrameNotification(ddi.CreatePeriodicFrameNotificationArgs{NotificationID: id + 1})
		must(t, s)
	}
	if _, s := g.CreatePeriodicFrameNotification(ddi.CreatePeriodicFrameNotificationArgs{NotificationID: 1 << 20}); s != abi.StatusNoMemory {
		t.Errorf("one too many: %v", s)
	}
}

func TestTargetsCanBeAdjusted(t *testing.T) {
	g, k := started(t)
	_, s := g.CreatePeriodicFrameNotification(ddi.CreatePeriodicFrameNotificationArgs{})
	must(t, s)
	drive(g, k, 1e9+25e6)
	must(t, g.SetRefresh(0, 200_000))
	if at := drive(g, k, 1e9+52e6); !slices.Equal(at, []int64{40e6, 45e6, 50e6}) {
		t.Errorf("faster: %v", at)
	}
	must(t, g.SetOn(0, false))
	if at := drive(g, k, 1e9+100e6); len(at) != 0 {
		t.Errorf("off: %v", at)
	}
	must(t, g.SetOn(0, true))
	if at := drive(g, k, 1e9+110e6); !slices.Equal(at, []int64{105e6, 110e6}) {
		t.Errorf("on: %v", at)
	}
	if k.rearmed != 3 {
		t.Errorf("the kernel was told %d times, want 3", k.rearmed)
	}
	if g.SetRefresh(2, 60_000) != abi.StatusInvalidParameter || g.SetRefresh(0, 1) != abi.StatusInvalidParameter || g.SetOn(2, true) != abi.StatusInvalidParameter || k.rearmed != 3 {
		t.Error("an unknown target or rate was taken")
	}
}

func TestNothingHappensOutsideStartAndStop(t *testing.T) {
	k := &fakeKernel{}
	g := New(profile(t, nil))
	quiet := func(when string) {
		t.Helper()
		if g.SetOn(0, true) != abi.StatusDeviceNotReady || g.SetRefresh(0, 60_000) != abi.StatusDeviceNotReady {
			t.Errorf("%s: the targets could be adjusted", when)
		}
		g.Advance(1e12)
		if at, ok := g.Next(); ok || len(k.interrupts)+len(k.signals)+k.rearmed != 0 {
			t.Errorf("%s: next %d, interrupts %v, signals %v, rearmed %d", when, at, k.interrupts, k.signals, k.rearmed)
		}
	}
	quiet("before")
	must(t, g.StartDevice(k))
	_, s := g.CreatePeriodicFrameNotification(ddi.CreatePeriodicFrameNotificationArgs{})
	must(t, s)
	e, s := g.CreateCpuEvent(0, 1)
	must(t, s)
	g.StopDevice()
	if s := g.SignalCpuEvent(e); s != abi.StatusInvalidParameter {
		t.Errorf("signal after the stop: %v", s)
	}
	quiet("after")
}

// Destroy comes back behind the callbacks that are under way.
func TestDestroyWaitsForCallbacks(t *testing.T) {
	g, k := started(t)
	h, s := g.CreatePeriodicFrameNotification(ddi.CreatePeriodicFrameNotificationArgs{})
	must(t, s)
	var left atomic.Bool
	var other sync.WaitGroup
	k.during = func() {
		other.Go(func() {
			if s := g.DestroyPeriodicFrameNotification(h); s != abi.StatusSuccess || !left.Load() {
				t.Errorf("destroyed: %v, while a callback was under way", s)
			}
		})
		// A create need not wait.
		_, s := g.CreateCpuEvent(0, 1)
		if s != abi.StatusSuccess {
			t.Error(s)
		}
		for range 1000 {
			runtime.Gosched()
		}
		left.Store(true)
	}
	g.Advance(1e9 + 20e6)
	other.Wait()
	k.during = nil
	g.Advance(2e9)
	if len(k.interrupts) != 1 {
		t.Errorf("interrupts after destroy: %v", k.interrupts[1:])
	}
}
