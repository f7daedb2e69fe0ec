package ddi_test

import (
	"fmt"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// A pulse is a whole driver: it signals the one CPU event that it takes once a
// second, and has no display. No two calls of this example come at once, so it has
// no lock.
type pulse struct {
	ddi.Refusals
	cb    ddi.Callbacks
	event ddi.DxgCpuEvent // 0: none
	next  int64           // when it is signalled again
}

const second = 1_000_000_000

func (p *pulse) StartDevice(cb ddi.Callbacks) abi.Status {
	p.cb = cb
	return abi.StatusSuccess
}

func (p *pulse) StopDevice()    {}
func (p *pulse) Caps() ddi.Caps { return ddi.SignalCpuEvent }

func (p *pulse) CreateCpuEvent(_ ddi.KmdDevice, event ddi.DxgCpuEvent) (ddi.KmdCpuEvent, abi.Status) {
	if p.event != 0 {
		return 0, abi.StatusNoMemory
	}
	p.event, p.next = event, p.cb.Now()+second
	return 1, abi.StatusSuccess
}

func (p *pulse) DestroyCpuEvent(event ddi.KmdCpuEvent) abi.Status {
	if event != 1 || p.event == 0 {
		return abi.StatusInvalidParameter
	}
	p.event = 0
	return abi.StatusSuccess
}

func (p *pulse) Advance(now int64) {
	for p.event != 0 && p.next <= now {
		p.next += second
		p.cb.SignalEvent(p.event)
	}
}

func (p *pulse) Next() (int64, bool) { return p.next, p.event != 0 }

// A world stands for the kernel. Its time goes as fast as somebody can read.
type world struct {
	ddi.Callbacks // nil: the rest is not called

	now int64
}

func (w *world) Now() int64                    { return w.now }
func (w *world) Rearm()                        {}
func (w *world) NotifyInterrupt(ddi.Interrupt) {}
func (w *world) SignalEvent(e ddi.DxgCpuEvent) abi.Status {
	fmt.Printf("%d s: event %d\n", w.now/second, e)
	return abi.StatusSuccess
}

func ExampleDriver() {
	var driver ddi.Driver = &pulse{}
	w := &world{}
	driver.StartDevice(w)
	event, _ := driver.CreateCpuEvent(0, 42)
	for range 3 {
		w.now, _ = driver.Next()
		driver.Advance(w.now)
	}
	fmt.Println(driver.DestroyCpuEvent(event).Name())
	driver.StopDevice()
	// Output:
	// 1 s: event 42
	// 2 s: event 42
	// 3 s: event 42
	// STATUS_SUCCESS
}
