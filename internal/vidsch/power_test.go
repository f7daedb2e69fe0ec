package vidsch

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

func (w *world) SetPowerState(s ddi.PowerState) { w.say("%v", s) }

// Everything comes off the GPU before it goes to D3, nothing is given to it there, and
// everything goes on in D0.
func TestPower(t *testing.T) {
	w := newWorld(t, ddi.PerEngineReset|ddi.HwScheduling, TDR{})
	w.used("u")
	soft := w.context("s", 1)
	soft.buf(0x10)
	hard := w.s.NewDevice("h", 1, false).NewContext(ddi.Engine{NodeOrdinal: 2}, 2, false, true, "h").
		NewHwQueue(9, false, 4, func() uint64 { return 0 }, nil, "h")
	hard.Submit(Buffer{Address: 0x20, Progress: 1})
	w.want("submit 1.10#1", "submit hw 9.20=1")
	w.s.Wake() // it is
	w.want()
	w.s.Sleep()
	w.s.Sleep()
	w.want("suspend 1#1", "preempt 1.0#1", "suspend 2#1")
	soft.buf(0x11)
	hard.Submit(Buffer{Address: 0x21, Progress: 2})
	w.off(1)
	w.preempted(1, 1, 0)
	w.want()
	w.s.Suspended(ddi.SuspendContextCompleted{Context: 2, ContextSuspendFence: 1})
	w.want("D3")
	w.context("late", 2).buf(0x30)
	w.pass(100 * second)
	w.want()
	w.s.Wake()
	w.want("D0", "resume 1", "submit 1.10#2 again", "resume 2", "submit 2.30#1", "submit 1.11#3", "submit hw 9.21=2")
}

func TestPowerComesBackOnTheWay(t *testing.T) {
	w := newWorld(t, ddi.HwScheduling, TDR{})
	w.used("u")
	w.s.Sleep()
	w.want("suspend 1#1")
	w.s.Wake()
	w.off(1)
	w.want("resume 1")
	w.suspends = abi.StatusSuccess // at once
	w.s.Sleep()
	w.want("suspend 1#2", "D3")
	w.s.Stop()
	w.s.Wake()
	w.want() // a stopped adapter stays where it is
}
